/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of one list of a base: which names are claimed by whom, and the sections that come of it.
 * The index is changed at once, with a record of how to undo it; sections are made beside those that
 * are there.
 */
#include "base/limits.h"
#include "tools/base_internal.h"

#include <stdlib.h>

enum { UNDOS_PER_CLAIM = 6, NAME_ROOM_BYTES = 2048 };

/* ---- room ------------------------------------------------------------------------------------ */

/* Room for `extra` more elements of that size. False: out of memory. */
static bool make_room(void **items, size_t count, size_t *cap, size_t extra, size_t size)
{
    if (*cap - count >= extra) {
        return true;
    }
    size_t wanted = 2 * *cap + extra;
    void *grown = realloc(*items, wanted * size);
    if (grown == NULL) {
        return false;
    }
    *items = grown;
    *cap = wanted;
    return true;
}

static bool reserve_undo(base_change *change)
{
    void *items = change->undo;
    bool done = make_room(&items, change->undo_count, &change->undo_cap, UNDOS_PER_CLAIM,
                          sizeof *change->undo);
    change->undo = items;
    return done;
}

static void note(base_change *change, base_undo undo)
{
    change->undo[change->undo_count++] = undo;
}

static bool wait_for_name(base_change *change, uint32_t slot, uint32_t entry, hub_form form)
{
    void *items = change->waiting;
    bool done =
        make_room(&items, change->waiting_count, &change->waiting_cap, 1, sizeof *change->waiting);
    change->waiting = items;
    if (done) {
        change->waiting[change->waiting_count++] =
            (base_waiting){.slot = slot, .entry = entry, .form = form};
    }
    return done;
}

/* ---- sections that become others ------------------------------------------------------------- */

static base_touched *find_touched(const base_change *change, uint32_t slot)
{
    for (size_t i = 0; i < change->touched_count; i++) {
        if (change->touched[i].slot == slot) {
            return &change->touched[i];
        }
    }
    return NULL;
}

/* The forms of a section that loses a name are to be changed: make a copy of them. */
static base_touched *touch(base_change *change, uint32_t slot)
{
    base_touched *touched = find_touched(change, slot);
    if (touched != NULL) {
        return touched;
    }
    const hub_section *section = change->base->slots[slot].lists[change->kind].section;
    touched = &change->touched[change->touched_count];
    *touched = (base_touched){.slot = slot, .catalog = section->catalog};
    touched->order = calloc(section->count + 1, sizeof(const hub_item *));
    touched->forms = malloc(section->count + 1);
    if (touched->order == NULL || touched->forms == NULL) {
        free(touched->order);
        free(touched->forms);
        return NULL;
    }
    for (size_t i = 0; i < section->count; i++) {
        touched->order[i] = section->entries[i].item;
    }
    memcpy(touched->forms, section->forms, section->count);
    change->touched_count++;
    return touched;
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* The claim of an entry; the first of a new list has its place there. */
static base_claim *make_claim(base_touched *touched, uint32_t slot, uint32_t entry, hub_form form)
{
    base_claim *claim = touched->claims != NULL ? &touched->claims[entry] : NULL;
    if (claim == NULL || claim->name != NULL) {
        claim = calloc(1, sizeof *claim);
        if (claim == NULL) {
            return NULL;
        }
        claim->next_more = touched->more;
        touched->more = claim;
    }
    claim->slot = slot;
    claim->entry = entry;
    claim->form = (uint8_t)form;
    return claim;
}

static void set_holder(base_change *change, base_name *name, base_claim *claim)
{
    note(change, (base_undo){.what = UNDO_HOLDER, .name = name, .claim = name->holder});
    name->holder = claim;
}

/* Take the name from who has it: it needs another one. */
static bool evict(base_change *change, base_name *name)
{
    const base_claim *holder = name->holder;
    if (holder == NULL) {
        return true;
    }
    const base_slot *slot = &change->base->slots[holder->slot];
    hub_form next = base_next_form(change->base, slot, (hub_form)holder->form);
    if (touch(change, holder->slot) == NULL ||
        !wait_for_name(change, holder->slot, holder->entry, next)) {
        return false;
    }
    set_holder(change, name, NULL);
    return true;
}

/* The name is from now on that tool's, which comes before who had it. */
static bool take_over(base_change *change, base_name *name, base_claim *claim, hub_str toolset,
                      hub_str own, uint8_t rank)
{
    hub_buf first;
    hub_buf_init(&first, toolset.len + own.len + 1);
    hub_naming_canonical(toolset, own, &first);
    if (!hub_buf_ok(&first) || !evict(change, name)) {
        hub_buf_fini(&first);
        return false;
    }
    note(change, (base_undo){.what = UNDO_FIRST,
                             .name = name,
                             .first = name->first,
                             .first_len = name->first_len,
                             .owned_first = name->owns_first,
                             .was_contested = name->is_contested,
                             .rank = name->rank});
    name->first = first.ptr;
    name->first_len = first.len;
    name->owns_first = true;
    name->is_contested = false;
    name->rank = rank;
    set_holder(change, name, claim);
    return true;
}

/* Decide whether a claim gets its name; `*ret_has` says so. False: out of memory. */
static bool settle(base_change *change, base_name *name, base_claim *claim, hub_str own,
                   bool *ret_has)
{
    const base_slot *slot = &change->base->slots[claim->slot];
    hub_str toolset = slot->source.toolset;
    uint8_t rank = base_rank(change->base, slot);
    *ret_has = false;
    if (base_is_first(name, toolset, own)) {
        if (!name->is_contested) {
            set_holder(change, name, claim);
            *ret_has = true;
        }
        return true;
    }
    if (rank > name->rank) {
        return true;
    }
    if (rank < name->rank) {
        *ret_has = true;
        return take_over(change, name, claim, toolset, own, rank);
    }
    if (!evict(change, name)) {
        return false;
    }
    if (!name->is_contested) {
        note(change, (base_undo){.what = UNDO_CONTEST, .name = name});
        name->is_contested = true;
    }
    return true;
}

/* Claim the name of that form. */
static bool claim_form(base_change *change, base_touched *touched, uint32_t entry, hub_form form,
                       bool *ret_has)
{
    hub_base *base = change->base;
    uint32_t slot = touched->slot;
    const hub_item *item = touched->order[entry];
    hub_str toolset = base->slots[slot].source.toolset;
    hub_section_plan plan = base_plan(base, slot, change->kind);
    hub_buf_clear(&change->text);
    hub_section_add_name(&plan, item, form, &change->text);
    if (!hub_buf_ok(&change->text) || !reserve_undo(change)) {
        return false;
    }
    base_claim *claim = make_claim(touched, slot, entry, form);
    bool is_new = false;
    base_name *name = claim != NULL ? base_get_name(base, change->kind, hub_buf_str(&change->text),
                                                    toolset, item->name, &is_new)
                                    : NULL;
    if (name == NULL) {
        return false;
    }
    if (is_new) {
        name->rank = base_rank(base, &base->slots[slot]);
        note(change, (base_undo){.what = UNDO_CREATE, .name = name});
    }
    note(change, (base_undo){.what = UNDO_LINK, .claim = claim});
    base_link(base, change->kind, name, claim);
    *ret_has = true;
    return base_is_uri(change->kind) || settle(change, name, claim, item->name, ret_has);
}

/* Give an entry the first name from that form on that it can have. */
static bool name_entry(base_change *change, const base_waiting *waiting)
{
    base_touched *touched = find_touched(change, waiting->slot);
    const base_slot *slot = &change->base->slots[waiting->slot];
    hub_form form = waiting->form;
    bool has = form == HUB_FORM_ABSENT || form == HUB_FORM_NOBODY;
    while (!has) {
        if (!claim_form(change, touched, waiting->entry, form, &has)) {
            return false;
        }
        form = has ? form : base_next_form(change->base, slot, form);
        has = has || form == HUB_FORM_NOBODY;
    }
    touched->forms[waiting->entry] = (uint8_t)form;
    return true;
}

static bool name_waiting(base_change *change)
{
    for (size_t i = 0; i < change->waiting_count; i++) { /* more may come meanwhile */
        base_waiting waiting = change->waiting[i];
        if (!name_entry(change, &waiting)) {
            return false;
        }
    }
    return true;
}

/* ---- the list that is asked for -------------------------------------------------------------- */

static bool release(base_change *change, base_claim *claim)
{
    if (claim->name == NULL) {
        return true;
    }
    if (!reserve_undo(change)) {
        return false;
    }
    if (claim->name->holder == claim) {
        set_holder(change, claim->name, NULL);
    }
    note(change, (base_undo){.what = UNDO_UNLINK, .claim = claim});
    base_unlink(change->base, change->kind, claim);
    return true;
}

/* Give back the names of the list that was there. */
static bool release_names(base_change *change, const base_list *list)
{
    size_t count = list->section != NULL ? list->section->count : 0;
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        done = release(change, &list->claims[i]);
    }
    for (base_claim *more = list->more; done && more != NULL; more = more->next_more) {
        done = release(change, more);
    }
    return done;
}

static bool add_list(base_change *change, base_touched *touched, hub_catalog *catalog)
{
    const base_slot *slot = &change->base->slots[touched->slot];
    touched->catalog = catalog;
    touched->order = hub_section_sort(catalog);
    touched->forms = calloc(catalog->count + 1, 1);
    touched->claims = calloc(catalog->count + 1, sizeof *touched->claims);
    bool done = touched->order != NULL && touched->forms != NULL && touched->claims != NULL;
    for (uint32_t i = 0; done && i < catalog->count; i++) {
        hub_form form =
            base_first_form(change->base, slot, change->kind, touched->order[i], &change->text);
        done = hub_buf_ok(&change->text) && wait_for_name(change, touched->slot, i, form);
    }
    return done;
}

static hub_err make_section(base_change *change, base_touched *touched)
{
    hub_base *base = change->base;
    base_list *list = &base->slots[touched->slot].lists[change->kind];
    hub_section_plan plan = base_plan(base, touched->slot, change->kind);
    plan.catalog = touched->catalog;
    plan.order = touched->order;
    plan.forms = touched->forms;
    hub_section *same = hub_section_find_same(&list->sections, touched->previous, &plan);
    if (same != NULL) {
        touched->section = hub_section_ref(same);
        return HUB_OK;
    }
    return hub_section_create(&list->sections, &plan, &base->counts, &touched->section);
}

hub_err base_change_begin(base_change *change, hub_base *base, hub_kind kind)
{
    *change = (base_change){.base = base, .kind = kind};
    hub_buf_init(&change->text, HUB_LIMIT_URI_BYTES + NAME_ROOM_BYTES);
    change->touched = calloc(base->slot_count + 1, sizeof *change->touched);
    return change->touched != NULL ? HUB_OK : HUB_ENOMEM;
}

hub_err base_change_set(base_change *change, uint32_t slot, hub_catalog *list,
                        hub_section *previous)
{
    base_touched *touched = &change->touched[change->touched_count++];
    *touched = (base_touched){.slot = slot, .is_new = true, .previous = previous};
    bool done = release_names(change, &change->base->slots[slot].lists[change->kind]) &&
                (list == NULL || add_list(change, touched, list));
    return done ? HUB_OK : HUB_ENOMEM;
}

hub_err base_change_make(base_change *change)
{
    hub_err err = name_waiting(change) ? HUB_OK : HUB_ENOMEM;
    for (size_t i = 0; err == HUB_OK && i < change->touched_count; i++) {
        if (change->touched[i].catalog != NULL) {
            err = make_section(change, &change->touched[i]);
        }
    }
    return err;
}

/* ---- its end --------------------------------------------------------------------------------- */

static void free_more(base_claim *more)
{
    while (more != NULL) {
        base_claim *next = more->next_more;
        free(more);
        more = next;
    }
}

static void free_change(base_change *change)
{
    for (size_t i = 0; i < change->touched_count; i++) {
        free(change->touched[i].order);
        free(change->touched[i].forms);
    }
    free(change->touched);
    free(change->waiting);
    free(change->undo);
    hub_buf_fini(&change->text);
    base_sweep_names(change->base, change->kind);
}

void base_change_commit(base_change *change)
{
    for (size_t i = 0; i < change->undo_count; i++) {
        if (change->undo[i].what == UNDO_FIRST && change->undo[i].owned_first) {
            free(change->undo[i].first);
        }
    }
    for (size_t i = 0; i < change->touched_count; i++) {
        base_touched *touched = &change->touched[i];
        base_list *list = &change->base->slots[touched->slot].lists[change->kind];
        hub_section_unref(list->section);
        list->section = touched->section;
        if (touched->is_new) {
            free(list->claims);
            free_more(list->more);
            list->claims = touched->claims;
            list->more = touched->more;
            continue;
        }
        while (touched->more != NULL) {
            base_claim *claim = touched->more;
            touched->more = claim->next_more;
            claim->next_more = list->more;
            list->more = claim;
        }
    }
    free_change(change);
}

static void undo_one(base_change *change, const base_undo *undo)
{
    base_name *name = undo->name;
    switch (undo->what) {
    case UNDO_CREATE:
        base_free_name(change->base, change->kind, name);
        break;
    case UNDO_LINK:
        base_unlink(change->base, change->kind, undo->claim);
        break;
    case UNDO_UNLINK:
        base_link(change->base, change->kind, undo->claim->name, undo->claim);
        break;
    case UNDO_HOLDER:
        name->holder = undo->claim;
        break;
    case UNDO_CONTEST:
        name->is_contested = false;
        break;
    case UNDO_FIRST:
        if (name->owns_first) {
            free(name->first);
        }
        name->first = undo->first;
        name->first_len = undo->first_len;
        name->owns_first = undo->owned_first;
        name->is_contested = undo->was_contested;
        name->rank = undo->rank;
        break;
    }
}

void base_change_undo(base_change *change)
{
    while (change->undo_count > 0) {
        undo_one(change, &change->undo[--change->undo_count]);
    }
    for (size_t i = 0; i < change->touched_count; i++) {
        hub_section_unref(change->touched[i].section);
        free(change->touched[i].claims);
        free_more(change->touched[i].more);
    }
    free_change(change);
}

hub_section *base_next_section(const hub_base *base, const base_change *change, uint32_t slot,
                               hub_kind kind)
{
    const base_touched *touched =
        change != NULL && change->kind == kind ? find_touched(change, slot) : NULL;
    return touched != NULL ? touched->section : base->slots[slot].lists[kind].section;
}

const base_claim *base_next_claims(const hub_base *base, const base_change *change, uint32_t slot,
                                   hub_kind kind)
{
    const base_touched *touched =
        change != NULL && change->kind == kind ? find_touched(change, slot) : NULL;
    return touched != NULL && touched->is_new ? touched->claims
                                              : base->slots[slot].lists[kind].claims;
}
