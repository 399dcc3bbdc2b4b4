/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a call as people type them: NAME=VALUE, and NAME:=JSON. */
#ifndef HUB_CLI_CALL_ARGUMENTS_H
#define HUB_CLI_CALL_ARGUMENTS_H

#include "base/buf.h"

/* Whether a word of the command line is one. */
bool cli_is_argument(const char *word);

/* Append an object of all words. `schema` is the tool's inputSchema, or empty: where it wants no text
 * and the value is JSON of what it wants, the value is that; else it is text.
 * errors:  HUB_EINVAL (a name twice, no JSON behind ":="), HUB_ELIMIT, HUB_ENOMEM */
HUB_MUST_CHECK hub_err cli_make_arguments(const char *const *words, size_t count, hub_str schema,
                                          hub_buf *out, hub_error *reterr);

#endif
