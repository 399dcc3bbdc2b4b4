/* SPDX-License-Identifier: Apache-2.0 */
/* The list that something shown is: places in it, its bytes, pages of it. */
#include "tools/shown_internal.h"
#include "tools/shown_kept.h"

#include <stdlib.h>

/* ---- places ---------------------------------------------------------------------------------- */

/* The first bit that is set at `from` or behind it; `count` when none is. */
static size_t next_bit(const uint64_t *bits, size_t count, size_t from)
{
    size_t w = from / HUB_MASK_WORD_BITS;
    if (from >= count) {
        return count;
    }
    uint64_t word = bits[w] & ~UINT64_C(0) << (from % HUB_MASK_WORD_BITS);
    while (word == 0) {
        if (++w == hub_mask_words(count)) {
            return count;
        }
        word = bits[w];
    }
    return w * HUB_MASK_WORD_BITS + (size_t)__builtin_ctzll(word);
}

/* The first entry behind `from` that is not shown, `most` of them at most. */
static size_t end_of_run(const hub_shown_part *part, size_t from, size_t most)
{
    size_t count = part->section->count;
    const uint64_t *bits = part->bits;
    size_t end = count - from < most ? count : from + most;
    if (part->count == count) {
        return end;
    }
    size_t w = from / HUB_MASK_WORD_BITS;
    uint64_t clear = ~bits[w] & ~UINT64_C(0) << (from % HUB_MASK_WORD_BITS);
    size_t words = hub_mask_words(end);
    while (clear == 0 && ++w < words) {
        clear = ~bits[w];
    }
    size_t at = clear != 0 ? w * HUB_MASK_WORD_BITS + (size_t)__builtin_ctzll(clear) : end;
    return at < end ? at : end;
}

/* Move to the next entry that is shown. False at the end. A part that is shown whole takes as long as
 * another one: else what a call of an unknown name takes would tell that something is hidden. */
static bool settle(const hub_shown *shown, hub_shown_place *place)
{
    while (place->part < shown->part_count) {
        const hub_shown_part *part = shown->parts[place->part];
        if (part->section != NULL) {
            place->entry = next_bit(part->bits, part->section->count, place->entry);
            if (place->entry < part->section->count) {
                return true;
            }
        }
        place->part++;
        place->entry = 0;
    }
    return false;
}

const hub_entry *hub_shown_next(const hub_shown *shown, hub_shown_place *place)
{
    return settle(shown, place) ? &shown->parts[place->part]->section->entries[place->entry++]
                                : NULL;
}

/* Whether all of a part comes before or at that canonical id. */
static bool is_before(const hub_section *section, hub_str canonical)
{
    return section == NULL || section->count == 0 ||
           hub_str_cmp(section->entries[section->count - 1].canonical, canonical) <= 0;
}

hub_shown_place hub_shown_after(const hub_shown *shown, hub_str canonical)
{
    hub_shown_place place = {.part = 0};
    while (place.part < shown->part_count &&
           is_before(shown->parts[place.part]->section, canonical)) {
        place.part++;
    }
    if (place.part < shown->part_count) {
        place.entry = hub_section_after(shown->parts[place.part]->section, canonical);
    }
    return place;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Whether the two go on with the same part, from its beginning; then go on behind it. */
static bool skip_same(const hub_shown *a, hub_shown_place *of_a, const hub_shown *b,
                      hub_shown_place *of_b)
{
    const hub_shown_part *left = a->parts[of_a->part];
    const hub_shown_part *right = b->parts[of_b->part];
    size_t first = next_bit(left->bits, left->section->count, 0);
    if (of_a->entry != first || of_b->entry != first || !shown_same_part(left, right)) {
        return false;
    }
    of_a->part++;
    of_b->part++;
    of_a->entry = 0;
    of_b->entry = 0;
    return true;
}

/* What of an entry's definition is listed: the two pieces beside what is cut out. */
typedef struct listed {
    hub_str pieces[2];
} listed;

/* The output to cut out of an entry, or NULL. */
static const hub_section_output *cut_of(const hub_shown_part *part, size_t entry)
{
    return part->cut != NULL && hub_mask_has(part->cut, entry)
               ? hub_section_output_from(part->section, entry)
               : NULL;
}

static listed listed_of(const hub_shown_part *part, size_t at)
{
    const hub_section *section = part->section;
    const hub_entry *entry = &section->entries[at];
    const hub_section_output *cut = cut_of(part, at);
    if (cut == NULL) {
        return (listed){{hub_section_definition(section, entry), HUB_STR_EMPTY}};
    }
    return (listed){{hub_str_between(section->bytes + entry->begin, section->bytes + cut->begin),
                     hub_str_between(section->bytes + cut->end, section->bytes + entry->end)}};
}

static bool same_listed(listed a, listed b)
{
    const listed *wide = a.pieces[0].len < b.pieces[0].len ? &b : &a;
    const listed *other = wide == &a ? &b : &a;
    size_t len = other->pieces[0].len;
    size_t more = wide->pieces[0].len - len;
    return a.pieces[0].len + a.pieces[1].len == b.pieces[0].len + b.pieces[1].len &&
           memcmp(wide->pieces[0].ptr, other->pieces[0].ptr, len) == 0 &&
           hub_str_eq(hub_str_from(wide->pieces[0], len),
                      (hub_str){.ptr = other->pieces[1].ptr, .len = more}) &&
           hub_str_eq(wide->pieces[1], hub_str_from(other->pieces[1], more));
}

bool hub_shown_equal(const hub_shown *a, const hub_shown *b)
{
    hub_shown_place of_a = {.part = 0};
    hub_shown_place of_b = {.part = 0};
    if (a == b || a->count != b->count) {
        return a == b;
    }
    while (settle(a, &of_a) && settle(b, &of_b)) {
        if (skip_same(a, &of_a, b, &of_b)) {
            continue;
        }
        if (!same_listed(listed_of(a->parts[of_a.part], of_a.entry++),
                         listed_of(b->parts[of_b.part], of_b.entry++))) {
            return false;
        }
    }
    return !settle(b, &of_b); /* where one ends, the other does: they have as many */
}

uint8_t hub_shown_news(hub_shown *before, hub_shown *now)
{
    bool differ = !hub_shown_equal(before, now);
    uint8_t news = 0;
    for (unsigned i = 0; i < HUB_REVISIONS; i++) {
        hub_shown *was = hub_shown_in(before, (hub_revision)i);
        hub_shown *is = hub_shown_in(now, (hub_revision)i);
        bool is_whole = was == before && is == now;
        if (is_whole ? differ : !hub_shown_equal(was, is)) {
            news |= HUB_REVISION_BIT(i);
        }
    }
    return news;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* There are too many pieces: go on with a copy of all of them. */
static void join(hub_shown_page *page)
{
    for (size_t i = 0; i < page->span_count; i++) {
        hub_buf_add(&page->joined, page->spans[i]);
    }
    page->span_count = 0;
}

static void add_span(hub_shown_page *page, hub_str span)
{
    hub_str *last = page->span_count > 0 ? &page->spans[page->span_count - 1] : NULL;
    if (last != NULL && last->ptr + last->len == span.ptr) {
        last->len += span.len;
        return;
    }
    if (page->span_count == HUB_SHOWN_SPANS) {
        join(page);
    }
    page->spans[page->span_count++] = span;
}

/* Add the entries from `from` to `to`, which are neighbours, and what is between them. */
static void add_run(hub_shown_page *page, const hub_shown_part *part, size_t from, size_t to)
{
    const hub_section *section = part->section;
    bool is_first = page->span_count == 0 && page->joined.len == 0;
    size_t begin = section->entries[from].begin - (is_first ? 0 : 1); /* with its comma */
    const hub_section_output *output =
        part->cut != NULL ? hub_section_output_from(section, from) : NULL;
    const hub_section_output *end =
        output != NULL ? section->outputs + section->output_count : NULL;
    for (; output != end && output->entry < to; output++) {
        if (hub_mask_has(part->cut, output->entry)) {
            add_span(page, hub_str_between(section->bytes + begin, section->bytes + output->begin));
            begin = output->end;
        }
    }
    add_span(page, hub_str_between(section->bytes + begin,
                                   section->bytes + section->entries[to - 1].end));
}

/* Collect the spans of a page, and copy those that are too many. */
static void put_together(const hub_shown *shown, hub_shown_place from, size_t limit,
                         hub_shown_page *page)
{
    page->span_count = 0;
    page->last = NULL;
    page->kept = NULL;
    hub_buf_init(&page->joined, SIZE_MAX / 4);
    while (limit > 0 && settle(shown, &from)) {
        const hub_shown_part *part = shown->parts[from.part];
        const hub_section *section = part->section;
        size_t end = end_of_run(part, from.entry, limit);
        add_run(page, part, from.entry, end);
        page->last = &section->entries[end - 1];
        limit -= end - from.entry;
        from.entry = end;
    }
    page->is_end = !settle(shown, &from);
    if (page->joined.len > 0) {
        join(page);
        page->spans[page->span_count++] = hub_buf_str(&page->joined);
    }
}

hub_err hub_shown_take(hub_shown *shown, hub_shown_place from, size_t limit,
                       hub_shown_page *ret_page)
{
    if (shown->kept != NULL && shown_kept_find(shown, from, limit, ret_page)) {
        ret_page->of = shown;
        return HUB_OK;
    }
    put_together(shown, from, limit, ret_page); /* it is large: not copied */
    ret_page->of = shown;
    if (!hub_buf_ok(&ret_page->joined)) {
        hub_shown_page_fini(ret_page);
        return HUB_ENOMEM;
    }
    if (ret_page->joined.len > 0) {
        shown_kept_add(shown, from, limit, ret_page);
    }
    return HUB_OK;
}

void hub_shown_page_fini(hub_shown_page *page)
{
    hub_buf_fini(&page->joined);
    shown_kept_release(page->kept);
}

/* Take over what a page needs to live on. What it was is empty, and stays usable until its end. */
static void *hold_page(void *owner)
{
    hub_shown_page *page = owner;
    hub_shown_page *held = malloc(sizeof *held);
    if (held != NULL) {
        *held = *page;
        (void)hub_shown_ref(held->of);
        hub_buf_init(&page->joined, 0);
        page->kept = NULL;
    }
    return held;
}

static void release_page(void *held)
{
    hub_shown_page *page = held;
    hub_shown *of = page->of;
    hub_shown_page_fini(page);
    hub_shown_unref(of);
    free(page);
}

hub_lent hub_shown_page_lend(hub_shown_page *page)
{
    return (hub_lent){.spans = page->spans,
                      .span_count = page->span_count,
                      .hold = hold_page,
                      .release = release_page,
                      .owner = page};
}
