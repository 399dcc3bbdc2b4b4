/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an exposure shows of one kind of things: sections, and of each a mask with a bit for each
 * entry that is shown. Immutable and reference-counted, and small: definitions and names stay in
 * the sections, so a page of a list is a run of spans over them; and what is shown of a section is
 * there once, so that a list is a pointer for each toolset. Several exposures of one base that show
 * the same have the same one.
 *
 * A client is shown what may be listed in the revision that it speaks (definition.h): the same
 * sections with narrower masks, and a second mask for the tools whose outputSchema is cut out of the
 * page. Mostly everything is valid in all revisions; then these lists are that very one.
 *
 * Thread: [loop].
 */
#ifndef HUB_TOOLS_SHOWN_H
#define HUB_TOOLS_SHOWN_H

#include "base/lent.h"
#include "base/map.h"
#include "tools/section.h"

/* One toolset's part: its section (NULL: nothing is shown), and a bit for each entry. */
typedef struct hub_shown_part {
    hub_section *section;
    const uint64_t *bits;
    const uint64_t *cut; /* entries that are shown without their outputSchema; NULL: none */
    size_t count;        /* of bits that are set; hub_shown_get counts them */
} hub_shown_part;

/* Pages that are kept (shown_kept.h): all of a base, and one. */
typedef struct hub_kept_pages hub_kept_pages;
typedef struct hub_shown_kept hub_shown_kept;

/* All that live of a base, and all parts of them, so that equal ones are one. They are not kept by
 * it. */
typedef struct hub_shown_table {
    struct hub_shown *first;
    struct shown_piece *pieces;
    hub_kept_pages *kept; /* borrowed; NULL: pages are not kept */
} hub_shown_table;

/* Of so many names it is kept where they lead. */
enum { HUB_SHOWN_RECENT = 8 };

typedef struct hub_shown {
    unsigned refs;
    hub_kind kind;
    size_t count;                 /* entries that are shown */
    const hub_shown_part **parts; /* in order of canonical id; never NULL */
    size_t part_count;
    bool has_app_tools;                 /* a section has some: HUB_TOOL_FOR_APPS */
    bool is_narrowed;                   /* `narrowed` is made */
    uint64_t digest;                    /* of sections and masks */
    hub_shown_table *table;             /* NULL: it is in none */
    struct hub_template_routes *routes; /* of templates: template_routes.h; NULL before */
    hub_shown_kept *kept;               /* pages */
    /* What is left in each revision, which it holds; NULL: all of it. */
    struct hub_shown *narrowed[HUB_REVISIONS];
    /* Entries of tools and prompts that were found by their names last: hub_shown_recent. */
    const hub_entry *recent[HUB_SHOWN_RECENT];
    UT_hash_handle hh;
} hub_shown;

/* The one that shows these parts, as they are valid in any revision: one that is there, or a new
 * one. Their `cut` is NULL. They are read during the call only. `before` is what was shown until now
 * (NULL: nothing): parts that stay are found in it.
 * owns:    *ret_shown, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_shown_get(hub_shown_table *table, hub_kind kind,
                                     const hub_shown_part *parts, size_t part_count,
                                     const hub_shown *before, hub_shown **ret_shown);

/* What of it may be listed in a revision; HUB_REVISION_NONE: in any. Borrowed from `shown`, which is
 * not what this has returned before. */
static inline hub_shown *hub_shown_in(hub_shown *shown, hub_revision revision)
{
    return shown->narrowed[revision] != NULL ? shown->narrowed[revision] : shown;
}

/* Where the entry that has a name is kept once it was looked up; NULL, or the entry of another name: it is
 * not. A list never changes and holds its entries, so whoever finds the name there need look no further. */
static inline const hub_entry **hub_shown_recent(hub_shown *shown, hub_str exposed)
{
    size_t last = exposed.len > 0 ? (unsigned char)exposed.ptr[exposed.len - 1] : 0;
    return &shown->recent[(exposed.len + last) % HUB_SHOWN_RECENT];
}

/* Whether an item is to be shown. */
typedef bool hub_shown_keeps(void *ctx, const hub_entry *entry);

/* Those of its entries that `keeps` says: for masks that depend on who asks, or how.
 * owns:    *ret_shown, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_shown_narrow(hub_shown *shown, hub_shown_keeps *keeps, void *ctx,
                                        hub_shown **ret_shown);

/* The table is no more; what was in it may live on. */
void hub_shown_table_fini(hub_shown_table *table);

hub_shown *hub_shown_ref(hub_shown *shown);
void hub_shown_unref(hub_shown *shown); /* NULL is fine */

/* Whether both list the same bytes. Sections that both show alike cost nothing. */
bool hub_shown_equal(const hub_shown *a, const hub_shown *b);

/* The revisions (HUB_REVISION_BIT) in which they do not; the bit of HUB_REVISION_NONE is that of both
 * as they are. */
uint8_t hub_shown_news(hub_shown *before, hub_shown *now);

/* A place in the list. Zeros: the beginning. */
typedef struct hub_shown_place {
    size_t part;
    size_t entry;
} hub_shown_place;

/* The entry at that place, or the next one, and go on behind it; NULL at the end. */
const hub_entry *hub_shown_next(const hub_shown *shown, hub_shown_place *place);

/* The place behind an entry that is or was there. */
hub_shown_place hub_shown_after(const hub_shown *shown, hub_str canonical);

/* The most spans that a page is made of. */
#define HUB_SHOWN_SPANS 12

/* A page of a list. */
typedef struct hub_shown_page {
    hub_str spans[HUB_SHOWN_SPANS]; /* one behind the other, the definitions with commas between */
    size_t span_count;
    const hub_entry *last; /* NULL: the page is empty */
    bool is_end;           /* nothing comes behind it */
    hub_buf joined;        /* what had to be copied, because it lies in too many pieces; … */
    hub_shown_kept *kept;  /* … or who has it */
    hub_shown *of;         /* borrowed */
} hub_shown_page;

/* The page of at most `limit` entries from a place on. Release it with hub_shown_page_fini, before
 * what is shown.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_shown_take(hub_shown *shown, hub_shown_place from, size_t limit,
                                      hub_shown_page *ret_page);
void hub_shown_page_fini(hub_shown_page *page);

/* Lend its spans: whoever holds them holds what is shown. The page stays the caller's. */
hub_lent hub_shown_page_lend(hub_shown_page *page);

#endif
