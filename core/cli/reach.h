/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaching for every toolset: whether it can be had, whatever the profiles make of it, and what it
 * offers. For the command line, on a hub that was not started. Thread: [loop].
 */
#ifndef HUB_CLI_REACH_H
#define HUB_CLI_REACH_H

#include "base/buf.h"
#include "hub/kernel/types.h"

/* What became of a toolset: what it offers ("7 tools, 1 prompt") when `err` is HUB_OK, else why it
 * cannot be had. `key` and `text` are borrowed. `took_ms`: from the start of it to its answer. */
typedef void hub_reach_on_found(void *ctx, const char *key, hub_err err, hub_str text,
                                uint64_t took_ms);

/* Start all toolsets that are switched on, or `only` that one (NULL: all), at once, run the loop until each has answered or
 * limits.discover_timeout_ms have passed, and report each in the order of their keys: HUB_EDENIED
 * (switched off), HUB_EUNAVAILABLE (not reached), those of hub_toolset_use (its configuration is
 * wrong).
 * errors:  HUB_ENOMEM: nothing is reported */
HUB_MUST_CHECK hub_err hub_reach_all(hub_orchestrator *hub, const char *only,
                                     hub_reach_on_found *on_found, void *ctx);

/* Append the keys of the toolsets whose servers are starting, or have not told yet what they offer,
 * separated by ", ". Returns how many there are. */
size_t hub_reach_add_waiting(const hub_orchestrator *hub, hub_buf *out);

#endif
