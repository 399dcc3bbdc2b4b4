/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing one value of a YAML or JSON document and nothing else: comments, order, quotes and layout
 * of all the rest stay, byte for byte. What comes out is read again and compared with what went in:
 * if anything but that one value differs, nothing comes out. Pure functions, any thread.
 */
#ifndef HUB_CONFIG_EDIT_H
#define HUB_CONFIG_EDIT_H

#include "config/node.h"

enum { HUB_EDIT_MAX_STEPS = 16 };

/* The way to a value: keys of maps, and numbers (from 0) of what a list has. */
typedef struct hub_edit_path {
    const char *steps[HUB_EDIT_MAX_STEPS];
    size_t count;
} hub_edit_path;

/* Give the path that value. Maps on the way that are not there are made; lists grow by nothing.
 * `name` is what messages call the document, and its ending says the language. `ret_old` (may be
 * NULL) is the root before the change, in the arena. An empty document is an empty map.
 * owns:    what is appended to `out` is the document; `value` is read during the call only
 * errors:  HUB_EPARSE, HUB_EINVAL (a step leads into text), HUB_ENOTFOUND (no such place in a list),
 *          HUB_ESTATE (its layout is one that cannot be changed in place), HUB_ELIMIT, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_edit_put(const char *name, hub_str text, const hub_edit_path *path,
                                    const hub_node *value, hub_arena *arena, hub_buf *out,
                                    hub_error *reterr);

/* Take the path's value away, with its key and a comment on its line. errors: as above;
 * HUB_ENOTFOUND (there is no such value) */
HUB_MUST_CHECK hub_err hub_edit_remove(const char *name, hub_str text, const hub_edit_path *path,
                                       hub_arena *arena, hub_buf *out, hub_error *reterr);

/* ---- for edit.c: values as text ---------------------------------------------------------------- */

/* How a document writes. */
typedef struct hub_edit_layout {
    bool is_json;
    bool has_tabs;   /* lines begin with tabs, not with spaces */
    unsigned step;   /* of them for one level */
    const char *eol; /* "\n" or "\r\n" */
} hub_edit_layout;

/* Append what a line begins with. */
void hub_edit_add_indent(hub_buf *out, const hub_edit_layout *layout, unsigned indent);

/* Append a value on one line, as JSON, or as YAML in brackets. */
void hub_edit_add_flow(hub_buf *out, const hub_edit_layout *layout, const hub_node *value);

/* Append what follows `key:` at that indentation of the key: a space and the value, or lines. */
void hub_edit_add_block(hub_buf *out, const hub_edit_layout *layout, const hub_node *value,
                        unsigned indent);

/* Append a key of a map. */
void hub_edit_add_key(hub_buf *out, const hub_edit_layout *layout, const char *key);

/* Append a map, in JSON: one member a line, where it has any. */
void hub_edit_add_lines(hub_buf *out, const hub_edit_layout *layout, const hub_node *value,
                        unsigned indent);

#endif
