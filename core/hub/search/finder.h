/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indices over the tools of bases (search/index.h), so that clients can look for tools by words. One
 * for each base that somebody searches, made when it is first needed, and again when a search finds
 * that the base has other sections by now. It is made on a thread of its own: definitions never
 * change, so that thread reads them where they are, and who searches meanwhile waits for it.
 *
 * An index knows all tools that are known, whoever may see them: each search says which ones count.
 *
 * Thread: [loop].
 */
#ifndef HUB_HUB_SEARCH_FINDER_H
#define HUB_HUB_SEARCH_FINDER_H

#include "hub/kernel/station.h"
#include "tools/exposure.h"

extern const hub_station HUB_FINDER_STATION;

typedef struct hub_finder_index hub_finder_index;

/* A tool as it was when the index was made: its toolset may have another section by now. */
typedef struct hub_finder_tool {
    hub_str toolset;
    const hub_entry *entry;
    size_t toolset_number; /* tools of one toolset have the same, below hub_finder_toolsets */
} hub_finder_tool;

/* `arguments` and `index` are borrowed for the time of the call. */
typedef void hub_finder_on_ready(hub_call *call, hub_str arguments, const hub_finder_index *index);

/* Call `on_ready` with an index over the tools of the base that the call's session sees: now or, if it
 * has to be made, later, if the call still is there. NULL as the index: it could not be made.
 * errors:  HUB_ENOMEM, HUB_ELIMIT (too many are waiting) */
HUB_MUST_CHECK hub_err hub_finder_ask(hub_call *call, hub_str arguments,
                                      hub_finder_on_ready *on_ready);

/* How many toolsets it has. */
size_t hub_finder_toolsets(const hub_finder_index *index);

/* Whether a tool counts in a search. */
typedef bool hub_finder_may_see(void *ctx, const hub_finder_tool *tool);

/* The tools that `text` means, best first: see hub_search_query. What they point to is borrowed from
 * the index.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_finder_query(const hub_finder_index *index, hub_str text,
                                        hub_finder_may_see *may_see, void *ctx,
                                        hub_finder_tool *tools, size_t *count);

#endif
