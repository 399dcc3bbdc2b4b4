/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: which toolset keys are valid, how a tool's exposed name is spelt (base.h decides who gets
 * it), and how a `server__tool` reference in a manifest or on the command line is split.
 * The way back from an exposed name to its tool is always the base's table, never parsing. Pure
 * functions, any thread.
 */
#ifndef HUB_TOOLS_NAMING_H
#define HUB_TOOLS_NAMING_H

#include "base/buf.h"
#include "tools/rules.h"

/* The toolset of the hub's own meta-tools. */
#define HUB_META_TOOLSET "_meta"

/* How the names of a base are made (base.h). */
typedef struct hub_naming_rule {
    hub_naming naming;
    size_t max_name_bytes;
} hub_naming_rule;

/* Check a toolset key: [a-z][a-z0-9_-]{0,63} without "__" and without '_' at its end, so that
 * `prefix` and `dot` give no two toolsets one name; `_meta` is reserved.
 * errors:  HUB_EINVAL with a sentence that says what is wrong */
HUB_MUST_CHECK hub_err hub_naming_check_key(hub_str key, hub_error *reterr);

/* What names of tools are made of (MCP server/tools, Tool Names). */
bool hub_naming_is_char(char c);

/* Append the exposed name of a tool, at most `max_bytes` long: a longer one is cut and ends in '_'
 * and eight hex digits of a hash of its canonical id. A tool that carries the prefix already is not
 * prefixed twice. */
void hub_naming_expose(hub_naming naming, hub_str toolset, hub_str tool, size_t max_bytes,
                       hub_buf *out);

/* The same, with the hash suffix whatever the length: for tools that would share a name. */
void hub_naming_expose_suffixed(hub_naming naming, hub_str toolset, hub_str tool, size_t max_bytes,
                                hub_buf *out);

/* Whether a tool of the toolset could have that exposed name: its key and the separator begin it, as
 * far as it was not cut. With `none`, always: the key is not in the name. */
bool hub_naming_may_be(const hub_naming_rule *rule, hub_str toolset, hub_str exposed);

/* Append the key as it begins the names of a mode: in `flat`, with '_' for '-'. */
void hub_naming_add_key(hub_naming naming, hub_str toolset, hub_buf *out);

/* Append the canonical id "toolset:tool". */
void hub_naming_canonical(hub_str toolset, hub_str tool, hub_buf *out);

/* Split a reference at its first "__". HUB_EINVAL for "__tool", "server__" and names without "__".
 */
HUB_MUST_CHECK hub_err hub_naming_split(hub_str reference, hub_str *ret_toolset, hub_str *ret_tool);

#endif
