/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of lists that had to be put together out of many pieces, kept for who asks for them next: a
 * list through a mask with many holes costs then what a list without costs. A page belongs to what
 * is shown (shown.h), which equal exposures share, and which is never changed, only replaced: so all
 * who see the same have one page, and it goes when they see something else. All pages of a base, and
 * of those that were made out of it for one principal each, have at most
 * HUB_LIMIT_KEPT_PAGES_BYTES; those that nobody has asked for the longest go first.
 *
 * Thread: [loop].
 */
#ifndef HUB_TOOLS_SHOWN_KEPT_H
#define HUB_TOOLS_SHOWN_KEPT_H

#include "tools/shown.h"

/* NULL: out of memory. */
hub_kept_pages *hub_kept_pages_create(void);
hub_kept_pages *hub_kept_pages_ref(hub_kept_pages *kept);
void hub_kept_pages_unref(hub_kept_pages *kept); /* NULL is fine; pages that are used live on */

/* How many bytes they take, with what says which page it is. */
size_t hub_kept_pages_bytes(const hub_kept_pages *kept);

/* ---- for shown_pages.c and shown.c ----------------------------------------------------------- */

/* Whether there is that page; then it is `*ret_page`, a reference. */
bool shown_kept_find(const hub_shown *shown, hub_shown_place from, size_t limit,
                     hub_shown_page *ret_page);

/* Keep what a page that was put together is made of, if it is not too large, and there is memory.
 * What it is made of is then as shown_kept_find has it. */
void shown_kept_add(hub_shown *shown, hub_shown_place from, size_t limit, hub_shown_page *page);

/* A page is used no more. */
void shown_kept_release(hub_shown_kept *page);

/* Nothing of what is shown is kept any more. */
void shown_kept_drop(hub_shown *shown);

#endif
