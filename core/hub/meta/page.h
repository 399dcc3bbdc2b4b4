/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of the lists that tools of the hub's own answer with: what is asked for by `query`, `limit`
 * and `cursor`, within bounds of entries, of bytes, and of steps taken for the query.
 *
 *     hub_meta_page asked = {.name = {"list_tools"}};
 *     hub_meta_page_begin(&asked, call, arguments, 100, out, reterr)
 *     hub_meta_page_open(&asked, "tools");
 *     for each, in the order of its place:
 *         hub_meta_page_is_behind(&asked, place), hub_meta_page_goes_to(&asked, place),
 *         it matches: hub_meta_page_entry(&asked), then the entry is appended
 *     hub_meta_page_close(&asked);
 *     hub_meta_page_fini(&asked);
 *
 * Thread: [loop].
 */
#ifndef HUB_HUB_META_PAGE_H
#define HUB_HUB_META_PAGE_H

#include "hub/kernel/sight.h"
#include "hub/meta/cursor.h"
#include "hub/meta/meta_tool.h"

/* The name of a list as cursors have it: describe_toolset has one for each toolset. */
typedef struct hub_meta_list_name {
    char text[32 + HUB_LIMIT_TOOLSET_KEY_BYTES];
} hub_meta_list_name;

/* A list that is asked for, and its page as it grows. */
typedef struct hub_meta_page {
    const hub_orchestrator *hub;
    hub_sight sight;
    hub_meta_list_name name;
    hub_buf query; /* decoded; `words` point into it */
    hub_str words[HUB_LIMIT_QUERY_WORDS];
    size_t word_count;
    size_t limit;
    hub_cursor_text cursor;
    hub_str after; /* the page begins behind this place; empty: at the beginning */
    hub_buf *out;
    size_t begin;   /* of the page within `out` */
    size_t listed;  /* entries of the page */
    uint32_t steps; /* taken for the query */
    bool is_full;
    char last[HUB_CURSOR_BYTES]; /* the place that was looked at last */
    size_t last_len;
} hub_meta_page;

/* Read query, limit and cursor, for a list whose pages have that many entries unless it is said. Its
 * name is set. Whatever comes of it, hub_meta_page_fini.
 * errors:  HUB_EINVAL (a cursor that is not this list's, a query that is too long), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_meta_page_begin(hub_meta_page *asked, hub_call *call, hub_str arguments,
                                           size_t usual, hub_buf *out, hub_error *reterr);
void hub_meta_page_fini(hub_meta_page *asked);

/* A bit for each word of the query; and, of those with a bit in `missing`, which are not in the text
 * either: what matches lacks none. */
unsigned hub_meta_page_words(const hub_meta_page *asked);
unsigned hub_meta_page_miss(hub_meta_page *asked, hub_str text, unsigned missing);

/* The list begins, a member of the object in `out` … */
void hub_meta_page_open(hub_meta_page *asked, const char *key);
/* … a place lies behind the cursor … */
bool hub_meta_page_is_behind(const hub_meta_page *asked, hub_str place);
/* … the page has room for what comes there, which is then the last one that was looked at … */
bool hub_meta_page_goes_to(hub_meta_page *asked, hub_str place);
/* … an entry comes … */
void hub_meta_page_entry(hub_meta_page *asked);
/* … and it ends, with `nextCursor` when there is more. */
void hub_meta_page_close(hub_meta_page *asked);

/* The description of a tool, decoded, one line of at most so many bytes. */
void hub_meta_page_add_tool_text(const hub_item *tool, size_t max_bytes, hub_buf *text);

/* Whether the query is about a tool: its name for clients, its description. */
bool hub_meta_page_matches_tool(hub_meta_page *asked, const hub_entry *entry, hub_buf *scratch);

#endif
