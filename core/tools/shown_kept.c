/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/shown_kept.h"

#include "base/limits.h"

#include <stdlib.h>
#include <utlist.h>

struct hub_shown_kept {
    unsigned refs; /* of who uses it, and of `pages` */
    hub_shown *of; /* NULL: it is kept no more */
    hub_shown_kept *next_of_shown;
    hub_shown_kept *prev; /* of all, … */
    hub_shown_kept *next;
    hub_shown_place from;
    size_t limit;
    const hub_entry *last;
    bool is_end;
    size_t len;
    char *bytes;
};

struct hub_kept_pages {
    unsigned refs;
    size_t bytes;
    hub_shown_kept *pages; /* … who was asked for last first */
};

hub_kept_pages *hub_kept_pages_create(void)
{
    hub_kept_pages *kept = calloc(1, sizeof *kept);
    if (kept != NULL) {
        kept->refs = 1;
    }
    return kept;
}

hub_kept_pages *hub_kept_pages_ref(hub_kept_pages *kept)
{
    kept->refs++;
    return kept;
}

void hub_kept_pages_unref(hub_kept_pages *kept)
{
    if (kept != NULL && --kept->refs == 0) {
        free(kept); /* what is shown keeps nothing without its table, which has gone before */
    }
}

size_t hub_kept_pages_bytes(const hub_kept_pages *kept)
{
    return kept->bytes;
}

void shown_kept_release(hub_shown_kept *page)
{
    if (page != NULL && --page->refs == 0) {
        free(page->bytes);
        free(page);
    }
}

/* What a page takes in memory. */
static size_t size_of(size_t len)
{
    return sizeof(hub_shown_kept) + len;
}

static void drop(hub_kept_pages *kept, hub_shown_kept *page)
{
    LL_DELETE2(page->of->kept, page, next_of_shown);
    DL_DELETE(kept->pages, page);
    kept->bytes -= size_of(page->len);
    page->of = NULL;
    shown_kept_release(page);
}

void shown_kept_drop(hub_shown *shown)
{
    while (shown->kept != NULL) {
        drop(shown->table->kept, shown->kept);
    }
}

/* Lend it. */
static void use(hub_shown_kept *page, hub_shown_page *ret_page)
{
    page->refs++;
    ret_page->spans[0] = (hub_str){.ptr = page->bytes, .len = page->len};
    ret_page->span_count = 1;
    ret_page->last = page->last;
    ret_page->is_end = page->is_end;
    ret_page->kept = page;
    hub_buf_init(&ret_page->joined, 0);
}

bool shown_kept_find(const hub_shown *shown, hub_shown_place from, size_t limit,
                     hub_shown_page *ret_page)
{
    hub_shown_kept *page = shown->kept;
    while (page != NULL && (page->from.part != from.part || page->from.entry != from.entry ||
                            page->limit != limit)) {
        page = page->next_of_shown;
    }
    if (page == NULL) {
        return false;
    }
    hub_kept_pages *kept = shown->table->kept;
    if (kept->pages != page) {
        DL_DELETE(kept->pages, page);
        DL_PREPEND(kept->pages, page);
    }
    use(page, ret_page);
    return true;
}

void shown_kept_add(hub_shown *shown, hub_shown_place from, size_t limit, hub_shown_page *page)
{
    hub_kept_pages *kept = shown->table != NULL ? shown->table->kept : NULL;
    size_t len = page->joined.len;
    size_t size = size_of(len);
    if (kept == NULL || size > HUB_LIMIT_KEPT_PAGES_BYTES) {
        return;
    }
    hub_shown_kept *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return; /* the page is whole without */
    }
    char *shrunk = realloc(page->joined.ptr, len); /* it was made with room to grow */
    *made = (hub_shown_kept){.refs = 1,
                             .of = shown,
                             .from = from,
                             .limit = limit,
                             .last = page->last,
                             .is_end = page->is_end,
                             .len = len,
                             .bytes = shrunk != NULL ? shrunk : page->joined.ptr};
    while (size > HUB_LIMIT_KEPT_PAGES_BYTES - kept->bytes) {
        drop(kept, kept->pages->prev); /* the last */
    }
    LL_PREPEND2(shown->kept, made, next_of_shown);
    DL_PREPEND(kept->pages, made);
    kept->bytes += size;
    use(made, page);
}
