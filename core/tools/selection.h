/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A selection: tools of any toolsets, by their canonical ids, each with the digest of the definition
 * that was meant, or without. What an exposure shows of tools may be narrowed to one (exposure.h).
 * Immutable and reference-counted. Thread: [loop].
 */
#ifndef HUB_TOOLS_SELECTION_H
#define HUB_TOOLS_SELECTION_H

#include "base/digest.h"
#include "base/err.h"
#include "tools/catalog.h"

typedef struct hub_selected {
    hub_str toolset;
    hub_str tool;
    bool has_digest;
    unsigned char digest[HUB_DIGEST_BYTES]; /* definition_digest.h */
} hub_selected;

typedef struct hub_selection hub_selection;

/* Items are copied, and sorted by toolset and tool; of several for one tool the first counts.
 * owns:    *ret_selection, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_selection_create(const hub_selected *items, size_t count,
                                            hub_selection **ret_selection);
hub_selection *hub_selection_ref(hub_selection *selection); /* NULL is fine */
void hub_selection_unref(hub_selection *selection);         /* NULL is fine */

size_t hub_selection_count(const hub_selection *selection);
const hub_selected *hub_selection_at(const hub_selection *selection, size_t at); /* borrowed */

/* What is selected of that name, or NULL. */
const hub_selected *hub_selection_find(const hub_selection *selection, hub_str toolset,
                                       hub_str tool);

/* Whether a tool of a toolset's catalog is what was meant by it: of that name, and with that digest.
 * Without memory it is not. */
bool hub_selected_is(const hub_selected *selected, hub_catalog *catalog, const hub_item *tool);

/* The places of the tools of a toolset: the first, and that behind the last. */
size_t hub_selection_range(const hub_selection *selection, hub_str toolset, size_t *ret_end);

/* The toolsets that it draws on: the first (`after` empty), and the next; empty: that was the last. */
hub_str hub_selection_next_toolset(const hub_selection *selection, hub_str after);

#endif
