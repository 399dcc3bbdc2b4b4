/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index over tools: which of them a text in plain words means. Ranked by Okapi BM25 over weighted
 * words (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009): a word of a tool's
 * name counts as three of its description, one of an argument as half of one.
 *
 * An index is built once and then never changed, so it can be built beside the loop. It has no
 * opinion on who may see what: each query is asked with a function that says so, and gives no scores
 * away, which would tell of tools that are hidden.
 *
 * Thread: a builder and a hub_search_words are one thread's at a time; an index is anybody's.
 */
#ifndef HUB_SEARCH_INDEX_H
#define HUB_SEARCH_INDEX_H

#include "search/words.h"

typedef struct hub_search_builder hub_search_builder;
typedef struct hub_search_index hub_search_index;

/* What is known of a tool. All borrowed for the time of the call; each may be empty. */
typedef struct hub_search_tool {
    hub_str name;       /* its own */
    hub_str definition; /* checked JSON, of which title, description and arguments are read */
    hub_str tags;       /* separated by anything */
    hub_str toolset;    /* key, title, description, instructions: their first
                           HUB_LIMIT_SEARCH_TOOLSET_BYTES count */
} hub_search_tool;

/* For `tools` tools, at most HUB_LIMIT_SEARCH_TOOLS. How many words of each count depends on it: of
 * all together, HUB_LIMIT_SEARCH_POSTINGS do. NULL when out of memory. */
hub_search_builder *hub_search_builder_create(size_t tools);
void hub_search_builder_destroy(hub_search_builder *builder); /* NULL is fine */

/* The next tool; the first is number 0. Of one tool HUB_LIMIT_SEARCH_WORDS_PER_TOOL different words
 * count at most, the name's first. After an error the builder can only be destroyed.
 * errors:  HUB_ELIMIT (more tools than were announced), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_search_builder_add(hub_search_builder *builder,
                                              const hub_search_tool *tool);

/* The index of what was added, after which the builder is empty.
 * owns:    *ret_index, destroy it with hub_search_index_destroy
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_search_builder_finish(hub_search_builder *builder,
                                                 hub_search_index **ret_index);

void hub_search_index_destroy(hub_search_index *index); /* NULL is fine */

size_t hub_search_index_count(const hub_search_index *index); /* tools */
size_t hub_search_index_bytes(const hub_search_index *index); /* of memory */

/* Whether the one who asks may see a tool. Asked only of tools that would be told. */
typedef bool hub_search_may_see(void *ctx, uint32_t tool);

/* The tools that `text` means, best first; equal ones in the order in which they were added. Of the
 * text HUB_LIMIT_SEARCH_QUERY_WORDS different words count. `may_see` NULL: all.
 * `*count`: in: how many `tools` has room for, at most HUB_LIMIT_SEARCH_RESULTS are used; out: how
 * many were found.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_search_query(const hub_search_index *index, hub_search_words *words,
                                        hub_str text, hub_search_may_see *may_see, void *ctx,
                                        uint32_t *tools, size_t *count);

#endif
