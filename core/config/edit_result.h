/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an edit of a document (edit.h) has changed what it should, and nothing else. Pure
 * functions, any thread.
 */
#ifndef HUB_CONFIG_EDIT_RESULT_H
#define HUB_CONFIG_EDIT_RESULT_H

#include "config/edit.h"

/* The child of a map or list that a step of a path leads to, or NULL. */
const hub_node *hub_edit_child_at(const hub_node *node, const char *step);

/* Whether `new` is `old` with that value at the path; `value` NULL: with nothing there. `old` may be
 * NULL: there was nothing. */
bool hub_edit_is_as_wanted(const hub_node *old, const hub_node *new, const hub_edit_path *path,
                           const hub_node *value);

#endif
