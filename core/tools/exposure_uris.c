/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a URI that several active toolsets offer. */
#include "base/limits.h"
#include "tools/exposure_internal.h"
#include "tools/mapped_uri.h"

#include <stdlib.h>

/* An entry that is not the only one with its URI. */
typedef struct contender {
    const base_claim *claim;
    const hub_item *item;
    uint32_t place; /* of its toolset, as in exposure_active */
    hub_form form;
    char *mapped;  /* its URI with the toolset in it */
    hub_str taken; /* what it is exposed as */
    UT_hash_handle hh;
} contender;

typedef struct contest {
    hub_exposure *exposure;
    const exposure_active *active;
    const base_change *change;
    hub_kind kind;
    const hub_shown_part *parts;
    contender *all;
    size_t count;
    size_t cap;
    contender *taken; /* uthash over taken */
} contest;

/* Whether what has it is shown: what is hidden takes no URI from anybody. */
static bool is_shown(const contest *c, const base_claim *claim)
{
    const hub_shown_part *part = &c->parts[claim->slot];
    return part->section != NULL && hub_mask_has(part->bits, claim->entry);
}

static size_t count_shown(const contest *c, const base_name *name)
{
    size_t count = 0;
    for (const base_claim *at = name->claims; at != NULL; at = at->next) {
        count += is_shown(c, at);
    }
    return count;
}

static hub_err add(contest *c, const base_claim *claim)
{
    const hub_section *section = c->parts[claim->slot].section;
    if (c->count == c->cap) {
        size_t cap = 2 * c->cap + 16;
        contender *grown = realloc(c->all, cap * sizeof *grown);
        if (grown == NULL) {
            return HUB_ENOMEM;
        }
        c->all = grown;
        c->cap = cap;
    }
    hub_buf mapped;
    hub_buf_init(&mapped, SIZE_MAX / 4);
    const hub_item *item = section->entries[claim->entry].item;
    hub_mapped_uri_add(c->exposure->base->slots[claim->slot].source.toolset, item->name, &mapped);
    char *text = hub_buf_take(&mapped);
    hub_buf_fini(&mapped);
    if (text == NULL) {
        return HUB_ENOMEM;
    }
    c->all[c->count++] = (contender){
        .claim = claim, .item = item, .place = c->active->places[claim->slot], .mapped = text};
    return HUB_OK;
}

/* Those whose URI others have, too; and those whose URI is what another one's would be with its
 * toolset in it. */
static hub_err collect(contest *c)
{
    const hub_base *base = c->exposure->base;
    hub_err err = HUB_OK;
    for (uint32_t slot = 0; slot < base->slot_count; slot++) {
        const hub_section *section = c->parts[slot].section;
        const base_claim *claims = base_next_claims(base, c->change, slot, c->kind);
        if (section == NULL || base->slots[slot].lists[c->kind].shared_count == 0) {
            continue;
        }
        for (size_t i = 0; err == HUB_OK && i < section->count; i++) {
            if (claims[i].name != NULL && is_shown(c, &claims[i]) &&
                count_shown(c, claims[i].name) > 1) {
                err = add(c, &claims[i]);
            }
        }
    }
    for (size_t i = 0; err == HUB_OK && i < c->count; i++) {
        const base_name *name = base_find_name(base, c->kind, hub_str_of(c->all[i].mapped));
        if (name == NULL || count_shown(c, name) != 1) {
            continue;
        }
        const base_claim *claim = name->claims;
        while (!is_shown(c, claim)) {
            claim = claim->next;
        }
        err = add(c, claim);
    }
    return err;
}

/* contest.active, for qsort: native toolsets have been given places before all others. */
static int by_claim(const void *a, const void *b)
{
    const contender *left = a;
    const contender *right = b;
    if (left->place != right->place) {
        return left->place < right->place ? -1 : 1;
    }
    return left->claim->entry < right->claim->entry ? -1 : 1;
}

/* Make places say who comes first: native toolsets, in their order, then the others. */
static void rank(contest *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (!c->active->sources[c->all[i].place - 1]->native) {
            c->all[i].place += (uint32_t)c->active->count;
        }
    }
}

static bool take(contest *c, contender *who, hub_form form, hub_str uri)
{
    contender *holder = NULL;
    HASH_FIND(hh, c->taken, uri.ptr, (unsigned)uri.len, holder);
    if (holder != NULL || uri.len > HUB_LIMIT_URI_BYTES) {
        return false;
    }
    who->form = form;
    who->taken = uri;
    return true;
}

static hub_err decide(contest *c)
{
    rank(c);
    if (c->count > 0) {
        qsort(c->all, c->count, sizeof *c->all, by_claim);
    }
    for (size_t i = 0; i < c->count; i++) {
        contender *who = &c->all[i];
        if (!take(c, who, HUB_FORM_PLAIN, who->item->name) &&
            !take(c, who, HUB_FORM_MAPPED, hub_str_of(who->mapped))) {
            who->form = HUB_FORM_NOBODY;
            continue;
        }
        HASH_ADD_KEYPTR(hh, c->taken, who->taken.ptr, (unsigned)who->taken.len, who);
        if (!hub_map_has_taken(&who->hh)) {
            return HUB_ENOMEM;
        }
    }
    return HUB_OK;
}

/* Have a part show another section, of the same entries: of these what it shows so far, as far as it
 * has a name there. */
static hub_err show_variant(const contest *c, uint32_t slot, const uint8_t *forms,
                            hub_shown_part *part, exposure_own *own)
{
    size_t words = hub_mask_words(part->section->count);
    own->bits = calloc(words + 1, sizeof *own->bits);
    hub_err err = own->bits != NULL ? exposure_get_variant(c->exposure, slot, part->section, forms,
                                                           NULL, &own->section)
                                    : HUB_ENOMEM;
    for (size_t w = 0; err == HUB_OK && w < words; w++) {
        own->bits[w] = part->bits[w] & own->section->named[w];
    }
    if (err == HUB_OK) {
        *part = (hub_shown_part){.section = own->section, .bits = own->bits};
    }
    return err;
}

/* Replace the section of a slot where one of its entries is not plain. */
static hub_err apply(const contest *c, uint32_t slot, hub_shown_part *part, exposure_own *own)
{
    const hub_section *section = part->section;
    uint8_t *forms = NULL;
    hub_err err = HUB_OK;
    for (size_t i = 0; i < c->count; i++) {
        const contender *who = &c->all[i];
        if (who->claim->slot != slot || who->form == HUB_FORM_PLAIN) {
            continue;
        }
        if (forms == NULL) {
            forms = malloc(section->count);
            if (forms == NULL) {
                return HUB_ENOMEM;
            }
            memcpy(forms, section->forms, section->count);
        }
        forms[who->claim->entry] = (uint8_t)who->form;
    }
    if (forms != NULL) {
        err = show_variant(c, slot, forms, part, own);
    }
    free(forms);
    return err;
}

hub_err exposure_part_uris(hub_exposure *exposure, const exposure_active *active,
                           const base_change *change, hub_kind kind, hub_shown_part *parts,
                           exposure_own *own)
{
    contest c = {
        .exposure = exposure, .active = active, .change = change, .kind = kind, .parts = parts};
    hub_err err = collect(&c);
    if (err == HUB_OK) {
        err = decide(&c);
    }
    for (uint32_t slot = 0; err == HUB_OK && c.count > 0 && slot < exposure->base->slot_count;
         slot++) {
        if (parts[slot].section != NULL) {
            err = apply(&c, slot, &parts[slot], &own[slot]);
        }
    }
    HASH_CLEAR(hh, c.taken);
    for (size_t i = 0; i < c.count; i++) {
        free(c.all[i].mapped);
    }
    free(c.all);
    return err;
}
