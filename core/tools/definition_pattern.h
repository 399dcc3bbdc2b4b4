/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which regular expressions JavaScript compiles with its flag `u`, under which the SDK 1.x compiles
 * each `pattern` of an outputSchema. That flag is strict: `\-` outside of brackets, `[\w-.]` and
 * `{` by itself are errors. Internal to definition*.c.
 */
#ifndef HUB_TOOLS_DEFINITION_PATTERN_H
#define HUB_TOOLS_DEFINITION_PATTERN_H

#include "base/str.h"

/* Whether the text of a raw string is such an expression. Denies a few that are: with more than one
 * named group, with \k, with groups more than 63 deep, with a Unicode property that is no general
 * category. Linear in the bytes. */
bool hub_definition_is_pattern(hub_str raw);

#endif
