/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/shown.h"

#include "tools/shown_internal.h"
#include "tools/template_routes.h"

#include <stdlib.h>

/* ---- one of equals --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

static size_t words_of(const hub_shown_part *part)
{
    return part->section != NULL ? hub_mask_words(part->section->count) : 0;
}

static uint64_t digest_of(hub_kind kind, const hub_shown_part *parts, size_t count)
{
    uint64_t sum = mix(count, (uint64_t)kind);
    for (size_t i = 0; i < count; i++) {
        size_t words = words_of(&parts[i]);
        sum = mix(sum, (uint64_t)(uintptr_t)parts[i].section);
        for (size_t w = 0; w < words; w++) {
            sum = mix(sum, parts[i].bits[w]);
        }
        for (size_t w = 0; parts[i].cut != NULL && w < words; w++) {
            sum = mix(sum, parts[i].cut[w]);
        }
    }
    return sum;
}

/* Masks of as many words. */
static bool same_bits(const uint64_t *a, const uint64_t *b, size_t words)
{
    return a == b || (a != NULL && b != NULL && memcmp(a, b, words * sizeof *a) == 0);
}

bool shown_same_part(const hub_shown_part *a, const hub_shown_part *b)
{
    return a->section == b->section && same_bits(a->bits, b->bits, words_of(a)) &&
           same_bits(a->cut, b->cut, words_of(a));
}

static bool same_parts(const hub_shown *shown, hub_kind kind, const hub_shown_part *parts,
                       size_t count)
{
    size_t i = 0;
    while (shown->kind == kind && shown->part_count == count && i < count &&
           shown_same_part(&shown->parts[i], &parts[i])) {
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
        words += words_of(&parts[i]) * (parts[i].cut != NULL ? 2 : 1);
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
        size_t own = words_of(&parts[i]);
        memcpy(bits, parts[i].bits, own * sizeof *bits);
        size_t set = count_bits(bits, own);
        shown->count += set;
        shown->parts[i] = (hub_shown_part){
            .section = hub_section_ref(parts[i].section), .bits = bits, .count = set};
        bits += own;
        if (parts[i].cut != NULL) {
            memcpy(bits, parts[i].cut, own * sizeof *bits);
            shown->parts[i].cut = bits;
            bits += own;
        }
    }
    return shown;
}

/* The one that is there, or a new one. */
static hub_err get_equal(hub_shown_table *table, hub_kind kind, const hub_shown_part *parts,
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

/* Narrow a part to a revision, in `room` for two masks. Returns what is left of the room. */
static uint64_t *narrow_part(hub_shown_part *part, uint8_t revision, uint64_t *room)
{
    const hub_section *section = part->section;
    size_t words = words_of(part);
    uint64_t *bits = room;
    uint64_t *cut = room + words;
    memcpy(bits, part->bits, words * sizeof *bits);
    part->bits = bits;
    for (size_t e = 0; e < section->count; e++) {
        const hub_section_validity *of = &section->validity[e];
        if ((of->valid & revision) != 0 || !hub_mask_has(bits, e)) {
            continue;
        }
        if ((of->valid_without_output & revision) != 0) {
            hub_mask_set(cut, e);
            part->cut = cut;
        } else {
            hub_mask_clear(bits, e);
        }
    }
    return room + 2 * words;
}

static hub_err narrow_to(hub_shown_table *table, const hub_shown *shown, uint8_t revision,
                         hub_shown **ret_shown)
{
    size_t words = 0;
    for (size_t i = 0; i < shown->part_count; i++) {
        words += 2 * words_of(&shown->parts[i]);
    }
    hub_err err = HUB_ENOMEM;
    hub_shown_part *parts = calloc(shown->part_count + 1, sizeof *parts);
    uint64_t *room = calloc(words + 1, sizeof *room);
    if (parts != NULL && room != NULL) {
        uint64_t *left = room;
        memcpy(parts, shown->parts, shown->part_count * sizeof *parts);
        for (size_t i = 0; i < shown->part_count; i++) {
            if (parts[i].section != NULL && (parts[i].section->valid & revision) == 0) {
                left = narrow_part(&parts[i], revision, left);
            }
        }
        err = get_equal(table, shown->kind, parts, shown->part_count, ret_shown);
    }
    free(parts);
    free(room);
    return err;
}

/* Make what is left in each revision. */
static hub_err narrow_all(hub_shown_table *table, hub_shown *shown)
{
    uint8_t valid = HUB_REVISIONS_EVERY;
    for (size_t i = 0; i < shown->part_count; i++) {
        valid &=
            shown->parts[i].section != NULL ? shown->parts[i].section->valid : HUB_REVISIONS_EVERY;
    }
    for (unsigned revision = 1; revision < HUB_REVISIONS; revision++) {
        hub_shown *narrowed = NULL;
        if ((valid & HUB_REVISION_BIT(revision)) != 0) {
            continue;
        }
        hub_err err = narrow_to(table, shown, HUB_REVISION_BIT(revision), &narrowed);
        if (err != HUB_OK) {
            return err;
        }
        if (narrowed == shown) { /* what is not valid is not shown in any */
            hub_shown_unref(narrowed);
            narrowed = NULL;
        }
        hub_shown_unref(shown->narrowed[revision]); /* of an attempt that failed later */
        shown->narrowed[revision] = narrowed;
    }
    shown->is_narrowed = true;
    return HUB_OK;
}

hub_err hub_shown_get(hub_shown_table *table, hub_kind kind, const hub_shown_part *parts,
                      size_t part_count, hub_shown **ret_shown)
{
    hub_shown *shown = NULL;
    hub_err err = get_equal(table, kind, parts, part_count, &shown);
    if (err == HUB_OK && !shown->is_narrowed) {
        err = narrow_all(table, shown);
    }
    if (err != HUB_OK) {
        hub_shown_unref(shown);
        return err;
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
    for (size_t i = 0; i < copy->part_count; i++) {
        const hub_section *section = copy->parts[i].section;
        uint64_t *bits = (uint64_t *)(uintptr_t)copy->parts[i].bits; /* of this copy */
        for (size_t e = 0; section != NULL && e < section->count; e++) {
            if (hub_mask_has(bits, e) && !keeps(ctx, &section->entries[e])) {
                hub_mask_clear(bits, e);
            }
        }
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
    for (size_t i = 0; i < HUB_REVISIONS; i++) {
        hub_shown_unref(shown->narrowed[i]);
    }
    for (size_t i = 0; i < shown->part_count; i++) {
        hub_section_unref(shown->parts[i].section);
    }
    free(shown);
}
