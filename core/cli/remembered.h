/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that a command has not asked, since what they offer is remembered. Thread: [loop].
 */
#ifndef HUB_CLI_REMEMBERED_H
#define HUB_CLI_REMEMBERED_H

#include "cli/cli.h"

/* How many toolsets of the profile (NULL: the default one) are active with a catalog that is older
 * than `elapsed_ms`, the time since the command began. `ret_oldest_ms`: the age of the oldest. */
size_t cli_remembered_count(cli_local *local, const char *profile, uint64_t elapsed_ms,
                            uint64_t *ret_oldest_ms);

/* Ask the servers of these toolsets what they offer now, until `is_enough` says so or each has
 * answered or failed.
 * blocks:  yes, for limits.discover_timeout at most */
void cli_remembered_ask(cli_local *local, const char *profile, uint64_t elapsed_ms,
                        bool (*is_enough)(void *ctx), void *ctx);

#endif
