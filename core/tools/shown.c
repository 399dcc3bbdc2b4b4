/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/shown.h"

#include "tools/shown_internal.h"
#include "tools/shown_kept.h"
#include "tools/template_routes.h"

#include <stdlib.h>

/* ---- what is shown of a section -------------------------------------------------------------- */

/* What lists show of one section, once for all of them. */
typedef struct shown_piece {
    hub_shown_part part; /* first: lists point to it. Its masks are behind all this */
    unsigned refs;
    uint64_t digest;
    hub_shown_table *table; /* NULL: it is in none */
    UT_hash_handle hh;
    uint64_t words[];
} shown_piece;

static const hub_shown_part NOTHING = {.section = NULL};

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

static size_t words_of(const hub_shown_part *part)
{
    return part->section != NULL ? hub_mask_words(part->section->count) : 0;
}

static uint64_t digest_of_part(const hub_shown_part *part)
{
    size_t words = words_of(part);
    uint64_t sum = mix(words, (uint64_t)(uintptr_t)part->section);
    for (size_t w = 0; w < words; w++) {
        sum = mix(sum, part->bits[w]);
    }
    for (size_t w = 0; part->cut != NULL && w < words; w++) {
        sum = mix(sum, part->cut[w]);
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
    return a == b || (a->section == b->section && same_bits(a->bits, b->bits, words_of(a)) &&
                      same_bits(a->cut, b->cut, words_of(a)));
}

static size_t count_bits(const uint64_t *bits, size_t words)
{
    size_t count = 0;
    for (size_t w = 0; w < words; w++) {
        count += (size_t)__builtin_popcountll(bits[w]);
    }
    return count;
}

static void leave_pieces(shown_piece *piece)
{
    if (piece->table != NULL) {
        HASH_DEL(piece->table->pieces, piece);
        piece->table = NULL;
    }
}

static void unref_part(const hub_shown_part *part)
{
    shown_piece *piece = (shown_piece *)(uintptr_t)part;
    if (part == &NOTHING || part == NULL || --piece->refs > 0) {
        return;
    }
    leave_pieces(piece);
    hub_section_unref(piece->part.section);
    free(piece);
}

static shown_piece *make_piece(const hub_shown_part *part)
{
    size_t words = words_of(part);
    size_t bytes = words * sizeof(uint64_t);
    shown_piece *piece = calloc(1, sizeof *piece + (part->cut != NULL ? 2 : 1) * bytes);
    if (piece == NULL) {
        return NULL;
    }
    piece->refs = 1;
    piece->part = (hub_shown_part){.section = hub_section_ref(part->section),
                                   .bits = piece->words,
                                   .count = count_bits(part->bits, words)};
    memcpy(piece->words, part->bits, bytes);
    if (part->cut != NULL) {
        memcpy(piece->words + words, part->cut, bytes);
        piece->part.cut = piece->words + words;
    }
    return piece;
}

/* `known`, where it is that part of the table, with a reference; or NULL. */
static const hub_shown_part *keep_part(const hub_shown_table *table, const hub_shown_part *known,
                                       const hub_shown_part *part)
{
    if (known->section == NULL || !shown_same_part(known, part)) {
        return NULL;
    }
    shown_piece *piece = (shown_piece *)(uintptr_t)known;
    if (piece->table != table) {
        return NULL;
    }
    piece->refs++;
    return known;
}

/* The part that is there, or a new one; with a reference. NULL: out of memory. */
static const hub_shown_part *get_part(hub_shown_table *table, const hub_shown_part *part)
{
    if (part->section == NULL) {
        return &NOTHING;
    }
    uint64_t digest = digest_of_part(part);
    shown_piece *known = NULL;
    HASH_FIND(hh, table->pieces, &digest, sizeof digest, known);
    if (known != NULL && shown_same_part(&known->part, part)) {
        known->refs++;
        return &known->part;
    }
    shown_piece *piece = make_piece(part);
    if (piece == NULL) {
        return NULL;
    }
    piece->digest = digest;
    if (known == NULL) { /* of two with one digest, the second is just not found again */
        HASH_ADD(hh, table->pieces, digest, sizeof piece->digest, piece);
        if (!hub_map_has_taken(&piece->hh)) {
            unref_part(&piece->part);
            return NULL;
        }
        piece->table = table;
    }
    return &piece->part;
}

/* ---- one of equals --------------------------------------------------------------------------- */

static bool same_parts(const hub_shown *shown, const hub_shown *other)
{
    size_t i = 0;
    if (shown->kind != other->kind || shown->part_count != other->part_count) {
        return false;
    }
    while (i < shown->part_count && shown_same_part(shown->parts[i], other->parts[i])) {
        i++;
    }
    return i == shown->part_count;
}

static void destroy(hub_shown *shown)
{
    for (size_t i = 0; i < shown->part_count; i++) {
        unref_part(shown->parts[i]);
    }
    free(shown);
}

/* `before` (NULL: none): most parts are its own, and need not be looked up. */
static hub_shown *make(hub_shown_table *table, hub_kind kind, const hub_shown_part *parts,
                       size_t count, const hub_shown *before)
{
    bool has_before = before != NULL && before->part_count == count;
    hub_shown *shown = calloc(1, sizeof *shown + count * sizeof *shown->parts);
    if (shown == NULL) {
        return NULL;
    }
    shown->refs = 1;
    shown->kind = kind;
    shown->part_count = count;
    shown->parts = (const hub_shown_part **)(shown + 1);
    shown->digest = mix(count, (uint64_t)kind);
    for (size_t i = 0; i < count; i++) {
        shown->parts[i] = has_before ? keep_part(table, before->parts[i], &parts[i]) : NULL;
        if (shown->parts[i] == NULL) {
            shown->parts[i] = get_part(table, &parts[i]);
        }
        if (shown->parts[i] == NULL) {
            destroy(shown);
            return NULL;
        }
        shown->count += shown->parts[i]->count;
        shown->has_app_tools =
            shown->has_app_tools || (parts[i].section != NULL && parts[i].section->has_app_tools);
        shown->digest = mix(shown->digest, (uint64_t)(uintptr_t)shown->parts[i]);
    }
    return shown;
}

/* The one that is there, or a new one. */
static hub_err get_equal(hub_shown_table *table, hub_kind kind, const hub_shown_part *parts,
                         size_t part_count, const hub_shown *before, hub_shown **ret_shown)
{
    hub_shown *shown = make(table, kind, parts, part_count, before);
    if (shown == NULL) {
        return HUB_ENOMEM;
    }
    hub_shown *known = NULL;
    HASH_FIND(hh, table->first, &shown->digest, sizeof shown->digest, known);
    if (known != NULL && same_parts(known, shown)) {
        destroy(shown);
        *ret_shown = hub_shown_ref(known);
        return HUB_OK;
    }
    if (known == NULL) { /* of two with one digest, the second is just not found again */
        HASH_ADD(hh, table->first, digest, sizeof shown->digest, shown);
        if (!hub_map_has_taken(&shown->hh)) {
            destroy(shown);
            return HUB_ENOMEM;
        }
        shown->table = table;
    }
    *ret_shown = shown;
    return HUB_OK;
}

/* ---- revisions ------------------------------------------------------------------------------- */

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

static size_t count_words(const hub_shown *shown)
{
    size_t words = 0;
    for (size_t i = 0; i < shown->part_count; i++) {
        words += words_of(shown->parts[i]);
    }
    return words;
}

static hub_err narrow_to(hub_shown_table *table, const hub_shown *shown, uint8_t revision,
                         hub_shown **ret_shown)
{
    hub_err err = HUB_ENOMEM;
    hub_shown_part *parts = calloc(shown->part_count + 1, sizeof *parts);
    uint64_t *room = calloc(2 * count_words(shown) + 1, sizeof *room);
    if (parts != NULL && room != NULL) {
        uint64_t *left = room;
        for (size_t i = 0; i < shown->part_count; i++) {
            parts[i] = *shown->parts[i];
            if (parts[i].section != NULL && (parts[i].section->valid & revision) == 0) {
                left = narrow_part(&parts[i], revision, left);
            }
        }
        err = get_equal(table, shown->kind, parts, shown->part_count, shown, ret_shown);
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
        const hub_section *section = shown->parts[i]->section;
        valid &= section != NULL ? section->valid : HUB_REVISIONS_EVERY;
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
                      size_t part_count, const hub_shown *before, hub_shown **ret_shown)
{
    hub_shown *shown = NULL;
    hub_err err = get_equal(table, kind, parts, part_count, before, &shown);
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

/* Copy a part with those of its bits that `keeps` says, in `bits`. Returns what is behind them. */
static uint64_t *keep_some(const hub_shown_part *part, hub_shown_keeps *keeps, void *ctx,
                           uint64_t *bits, hub_shown_part *ret_part)
{
    const hub_section *section = part->section;
    for (size_t e = 0; section != NULL && e < section->count; e++) {
        if (hub_mask_has(part->bits, e) && keeps(ctx, &section->entries[e])) {
            hub_mask_set(bits, e);
        }
    }
    *ret_part = (hub_shown_part){.section = part->section, .bits = bits, .cut = part->cut};
    return bits + words_of(part);
}

hub_err hub_shown_narrow(hub_shown *shown, hub_shown_keeps *keeps, void *ctx, hub_shown **ret_shown)
{
    hub_shown_table none = {.first = NULL};
    hub_shown_table *table = shown->table != NULL ? shown->table : &none;
    hub_err err = HUB_ENOMEM;
    hub_shown_part *parts = calloc(shown->part_count + 1, sizeof *parts);
    uint64_t *room = calloc(count_words(shown) + 1, sizeof *room);
    if (parts != NULL && room != NULL) {
        uint64_t *left = room;
        for (size_t i = 0; i < shown->part_count; i++) {
            left = keep_some(shown->parts[i], keeps, ctx, left, &parts[i]);
        }
        err = hub_shown_get(table, shown->kind, parts, shown->part_count, shown, ret_shown);
    }
    free(parts);
    free(room);
    hub_shown_table_fini(&none);
    return err;
}

static void leave(hub_shown *shown)
{
    if (shown->table != NULL) {
        shown_kept_drop(shown);
        HASH_DEL(shown->table->first, shown);
        shown->table = NULL;
    }
}

void hub_shown_table_fini(hub_shown_table *table)
{
    while (table->first != NULL) {
        leave(table->first);
    }
    while (table->pieces != NULL) {
        leave_pieces(table->pieces);
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
    destroy(shown);
}
