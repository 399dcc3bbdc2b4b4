/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/shown.h"

#include "tools/template_routes.h"

#include <stdlib.h>

enum { WORD_BITS = 64 };

/* ---- one of equals --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

static uint64_t digest_of(hub_kind kind, const hub_shown_part *parts, size_t count)
{
    uint64_t sum = mix(count, (uint64_t)kind);
    for (size_t i = 0; i < count; i++) {
        sum = mix(sum, (uint64_t)(uintptr_t)parts[i].section);
        for (size_t w = 0; parts[i].section != NULL && w < hub_mask_words(parts[i].section->count);
             w++) {
            sum = mix(sum, parts[i].bits[w]);
        }
    }
    return sum;
}

static bool same_part(const hub_shown_part *a, const hub_shown_part *b)
{
    return a->section == b->section &&
           (a->section == NULL || a->bits == b->bits ||
            memcmp(a->bits, b->bits, hub_mask_words(a->section->count) * sizeof *a->bits) == 0);
}

static bool same_parts(const hub_shown *shown, hub_kind kind, const hub_shown_part *parts,
                       size_t count)
{
    size_t i = 0;
    while (shown->kind == kind && shown->part_count == count && i < count &&
           same_part(&shown->parts[i], &parts[i])) {
        i++;
    }
    return shown->kind == kind && shown->part_count == count && i == count;
}

static size_t count_bits(const uint64_t *bits, size_t words)
{
    size_t count = 0;
    for (size_t w = 0; w < words; w++) {
        count += (size_t)__builtin_popcountll(bits[w]);
    }
    return count;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Parts and masks are copied, all into one piece of memory. */
static hub_shown *make(hub_kind kind, const hub_shown_part *parts, size_t count)
{
    size_t words = 0;
    for (size_t i = 0; i < count; i++) {
        words += parts[i].section != NULL ? hub_mask_words(parts[i].section->count) : 0;
    }
    size_t part_bytes = count * sizeof *parts;
    hub_shown *shown = calloc(1, sizeof *shown + part_bytes + words * sizeof(uint64_t));
    if (shown == NULL) {
        return NULL;
    }
    shown->refs = 1;
    shown->kind = kind;
    shown->part_count = count;
    shown->parts = (hub_shown_part *)(shown + 1);
    uint64_t *bits = (uint64_t *)(shown->parts + count);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].section == NULL) {
            continue;
        }
        size_t own = hub_mask_words(parts[i].section->count);
        memcpy(bits, parts[i].bits, own * sizeof *bits);
        size_t set = count_bits(bits, own);
        shown->count += set;
        shown->parts[i] = (hub_shown_part){
            .section = hub_section_ref(parts[i].section), .bits = bits, .count = set};
        bits += own;
    }
    return shown;
}

hub_err hub_shown_get(hub_shown_table *table, hub_kind kind, const hub_shown_part *parts,
                      size_t part_count, hub_shown **ret_shown)
{
    uint64_t digest = digest_of(kind, parts, part_count);
    hub_shown *known = NULL;
    HASH_FIND(hh, table->first, &digest, sizeof digest, known);
    if (known != NULL && same_parts(known, kind, parts, part_count)) {
        *ret_shown = hub_shown_ref(known);
        return HUB_OK;
    }
    hub_shown *shown = make(kind, parts, part_count);
    if (shown == NULL) {
        return HUB_ENOMEM;
    }
    shown->digest = digest;
    if (known == NULL) { /* of two with one digest, the second is just not found again */
        HASH_ADD(hh, table->first, digest, sizeof shown->digest, shown);
        if (!hub_map_has_taken(&shown->hh)) {
            hub_shown_unref(shown);
            return HUB_ENOMEM;
        }
        shown->table = table;
    }
    *ret_shown = shown;
    return HUB_OK;
}

hub_err hub_shown_narrow(hub_shown *shown, hub_shown_keeps *keeps, void *ctx, hub_shown **ret_shown)
{
    hub_shown_table none = {.first = NULL};
    hub_shown *copy = make(shown->kind, shown->parts, shown->part_count);
    if (copy == NULL) {
        return HUB_ENOMEM;
    }
    uint64_t *bits = (uint64_t *)(copy->parts + copy->part_count); /* those of its parts */
    for (size_t i = 0; i < copy->part_count; i++) {
        const hub_section *section = copy->parts[i].section;
        for (size_t e = 0; section != NULL && e < section->count; e++) {
            if (hub_mask_has(bits, e) && !keeps(ctx, &section->entries[e])) {
                bits[e / WORD_BITS] &= ~(UINT64_C(1) << (e % WORD_BITS));
            }
        }
        bits += section != NULL ? hub_mask_words(section->count) : 0;
    }
    hub_shown_table *table = shown->table != NULL ? shown->table : &none;
    hub_err err = hub_shown_get(table, copy->kind, copy->parts, copy->part_count, ret_shown);
    hub_shown_unref(copy);
    hub_shown_table_fini(&none);
    return err;
}

static void leave(hub_shown *shown)
{
    if (shown->table != NULL) {
        HASH_DEL(shown->table->first, shown);
        shown->table = NULL;
    }
}

void hub_shown_table_fini(hub_shown_table *table)
{
    while (table->first != NULL) {
        leave(table->first);
    }
}

hub_shown *hub_shown_ref(hub_shown *shown)
{
    shown->refs++;
    return shown;
}

void hub_shown_unref(hub_shown *shown)
{
    if (shown == NULL || --shown->refs > 0) {
        return;
    }
    leave(shown);
    hub_template_routes_destroy(shown->routes);
    for (size_t i = 0; i < shown->part_count; i++) {
        hub_section_unref(shown->parts[i].section);
    }
    free(shown);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The first bit that is set at `from` or behind it; `count` when none is. */
static size_t next_bit(const uint64_t *bits, size_t count, size_t from)
{
    size_t w = from / WORD_BITS;
    if (from >= count) {
        return count;
    }
    uint64_t word = bits[w] & ~UINT64_C(0) << (from % WORD_BITS);
    while (word == 0) {
        if (++w == hub_mask_words(count)) {
            return count;
        }
        word = bits[w];
    }
    return w * WORD_BITS + (size_t)__builtin_ctzll(word);
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
    size_t w = from / WORD_BITS;
    uint64_t clear = ~bits[w] & ~UINT64_C(0) << (from % WORD_BITS);
    size_t words = hub_mask_words(end);
    while (clear == 0 && ++w < words) {
        clear = ~bits[w];
    }
    size_t at = clear != 0 ? w * WORD_BITS + (size_t)__builtin_ctzll(clear) : end;
    return at < end ? at : end;
}

/* Move to the next entry that is shown. False at the end. */
static bool settle(const hub_shown *shown, hub_shown_place *place)
{
    while (place->part < shown->part_count) {
        const hub_shown_part *part = &shown->parts[place->part];
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
    return settle(shown, place) ? &shown->parts[place->part].section->entries[place->entry++]
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
           is_before(shown->parts[place.part].section, canonical)) {
        place.part++;
    }
    if (place.part < shown->part_count) {
        place.entry = hub_section_after(shown->parts[place.part].section, canonical);
    }
    return place;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Whether the two go on with the same part, from its beginning; then go on behind it. */
static bool skip_same(const hub_shown *a, hub_shown_place *of_a, const hub_shown *b,
                      hub_shown_place *of_b)
{
    const hub_shown_part *left = &a->parts[of_a->part];
    const hub_shown_part *right = &b->parts[of_b->part];
    size_t first = next_bit(left->bits, left->section->count, 0);
    if (of_a->entry != first || of_b->entry != first || !same_part(left, right)) {
        return false;
    }
    of_a->part++;
    of_b->part++;
    of_a->entry = 0;
    of_b->entry = 0;
    return true;
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
        const hub_section *left = a->parts[of_a.part].section;
        const hub_section *right = b->parts[of_b.part].section;
        if (!hub_str_eq(hub_section_definition(left, &left->entries[of_a.entry++]),
                        hub_section_definition(right, &right->entries[of_b.entry++]))) {
            return false;
        }
    }
    return !settle(b, &of_b); /* where one ends, the other does: they have as many */
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

hub_err hub_shown_take(const hub_shown *shown, hub_shown_place from, size_t limit,
                       hub_shown_page *ret_page)
{
    hub_shown_page *page = ret_page; /* it is large: not copied */
    page->span_count = 0;
    page->last = NULL;
    hub_buf_init(&page->joined, SIZE_MAX / 4);
    while (limit > 0 && settle(shown, &from)) {
        const hub_shown_part *part = &shown->parts[from.part];
        const hub_section *section = part->section;
        size_t end = end_of_run(part, from.entry, limit);
        const char *begin = section->bytes + section->entries[from.entry].begin;
        page->last = &section->entries[end - 1];
        bool is_first = page->span_count == 0 && page->joined.len == 0;
        add_span(page, hub_str_between(is_first ? begin : begin - 1, /* its comma */
                                       section->bytes + page->last->end));
        limit -= end - from.entry;
        from.entry = end;
    }
    page->is_end = !settle(shown, &from);
    if (page->joined.len > 0) {
        join(page);
        page->spans[page->span_count++] = hub_buf_str(&page->joined);
    }
    if (!hub_buf_ok(&page->joined)) {
        hub_shown_page_fini(page);
        return HUB_ENOMEM;
    }
    return HUB_OK;
}

void hub_shown_page_fini(hub_shown_page *page)
{
    hub_buf_fini(&page->joined);
}
