/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/exposure.h"

#include "tools/exposure_internal.h"
#include "tools/mapped_uri.h"
#include "tools/template_routes.h"

#include <stdlib.h>

/* The most rivals for a name that an answer names. */
enum { RIVALS_SHOWN = 8 };

/* ---- which toolsets are active --------------------------------------------------------------- */

static void free_active(exposure_active *active)
{
    hub_catalog_unref(active->own);
    hub_selection_unref(active->selection);
    exposure_masks_unref(active->picked);
    free(active->sources);
    free(active->places);
    *active = (exposure_active){.count = 0};
}

/* A copy with room for `extra` more. */
static hub_err copy_active(const hub_base *base, const exposure_active *from, size_t extra,
                           exposure_active *ret_copy, hub_error *reterr)
{
    exposure_active copy = {.sources = calloc(from->count + extra + 1, sizeof(hub_source *)),
                            .places = calloc(base->slot_count + 1, sizeof *copy.places)};
    if (copy.sources == NULL || copy.places == NULL) {
        free_active(&copy);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (; copy.count < from->count; copy.count++) {
        copy.sources[copy.count] = from->sources[copy.count];
    }
    copy.own = from->own != NULL ? hub_catalog_ref(from->own) : NULL;
    copy.selection = hub_selection_ref(from->selection);
    copy.picked = from->picked;
    if (copy.picked != NULL) {
        copy.picked->refs++;
    }
    if (from->places != NULL) {
        memcpy(copy.places, from->places, base->slot_count * sizeof *copy.places);
    }
    *ret_copy = copy;
    return HUB_OK;
}

/* Add a toolset to those that are active; there is room for it. */
static hub_err add_source(const hub_base *base, exposure_active *active, const hub_source *source,
                          hub_error *reterr)
{
    uint32_t slot = base_find_slot(base, source->toolset);
    if (slot == base->slot_count) {
        return hub_fail(reterr, HUB_ENOTFOUND, "there is no toolset \"" HUB_STR_FMT "\"",
                        HUB_STR_ARG(source->toolset));
    }
    if (active->places[slot] != 0) {
        return hub_fail(reterr, HUB_EEXIST, "toolset \"" HUB_STR_FMT "\" is already enabled",
                        HUB_STR_ARG(source->toolset));
    }
    hub_source *own = &base->slots[slot].active; /* all exposures have the same of it */
    *own = *source;
    memset(own->lists, 0, sizeof own->lists); /* the base has them */
    active->sources[active->count++] = own;
    if (source->bare && source->lists[HUB_KIND_TOOL] != NULL) {
        hub_catalog_unref(active->own);
        active->own = hub_catalog_ref(source->lists[HUB_KIND_TOOL]); /* the base has more */
    }
    active->places[slot] = (uint16_t)active->count;
    return HUB_OK;
}

static hub_err add_sources(const hub_base *base, exposure_active *active, const hub_source *sources,
                           size_t count, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        err = add_source(base, active, &sources[i], reterr);
    }
    return err;
}

/* Add toolsets and a selection to those without one; after a failure there is nothing left. */
static hub_err fill(const hub_base *base, exposure_active *active, const hub_source *sources,
                    size_t count, hub_selection *selection, hub_error *reterr)
{
    hub_err err = add_sources(base, active, sources, count, reterr);
    if (err == HUB_OK && exposure_select(active, base->slot_count, selection) != HUB_OK) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (err != HUB_OK) {
        free_active(active);
    }
    return err;
}

/* Make the toolsets active, which are taken; without memory nothing has changed. */
static hub_err swap_in(hub_exposure *exposure, exposure_active *active, hub_error *reterr)
{
    hub_err err = exposure_prepare(exposure, active, NULL);
    if (err != HUB_OK) {
        exposure_abandon(exposure);
        free_active(active);
        return hub_fail(reterr, err, "%s", hub_err_text(err));
    }
    free_active(&exposure->active);
    exposure->active = *active;
    exposure_commit(exposure);
    return HUB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void join(hub_exposure *exposure)
{
    exposure->prev = NULL;
    exposure->next = exposure->base->exposures;
    if (exposure->next != NULL) {
        exposure->next->prev = exposure;
    }
    exposure->base->exposures = exposure;
}

static void part(hub_exposure *exposure)
{
    if (exposure->prev != NULL) {
        exposure->prev->next = exposure->next;
    } else {
        exposure->base->exposures = exposure->next;
    }
    if (exposure->next != NULL) {
        exposure->next->prev = exposure->prev;
    }
}

hub_err hub_exposure_create(hub_base *base, const hub_exposure_rules *rules,
                            const hub_source *sources, size_t count,
                            hub_exposure_on_left_out *on_left_out, void *ctx,
                            hub_exposure **ret_exposure, hub_error *reterr)
{
    static const exposure_active NONE = {.count = 0};
    hub_exposure *exposure = calloc(1, sizeof *exposure);
    if (exposure == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    exposure->base = hub_base_ref(base);
    exposure->rules = *rules;
    exposure->rules.selection = NULL; /* it is what is active that has it */
    exposure->on_left_out = on_left_out;
    exposure->ctx = ctx;
    join(exposure);
    exposure_active active = {.count = 0};
    exposure->masks = exposure_masks_create(base->slot_count);
    hub_err err = exposure->masks != NULL ? copy_active(base, &NONE, count, &active, reterr)
                                          : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    if (err == HUB_OK) {
        err = fill(base, &active, sources, count, rules->selection, reterr);
    }
    if (err == HUB_OK) {
        err = swap_in(exposure, &active, reterr);
    }
    if (err != HUB_OK) {
        hub_exposure_destroy(exposure);
        return err;
    }
    *ret_exposure = exposure;
    return HUB_OK;
}

hub_err hub_exposure_copy(const hub_exposure *exposure, hub_exposure **ret_copy)
{
    hub_exposure *copy = calloc(1, sizeof *copy);
    if (copy == NULL) {
        return HUB_ENOMEM;
    }
    hub_assert(exposure->filter.shows == NULL); /* the masks of a veil are its own */
    copy->base = hub_base_ref(exposure->base);
    copy->rules = exposure->rules;
    copy->on_left_out = exposure->on_left_out;
    copy->ctx = exposure->ctx;
    join(copy);
    copy->masks = exposure->masks;
    copy->masks->refs++;
    hub_err err = copy_active(exposure->base, &exposure->active, 0, &copy->active, NULL);
    if (err != HUB_OK) {
        hub_exposure_destroy(copy);
        return err;
    }
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        copy->shown[kind] = hub_shown_ref(exposure->shown[kind]);
    }
    memcpy(copy->serials, exposure->serials, sizeof copy->serials);
    copy->serial = exposure->serial;
    *ret_copy = copy;
    return HUB_OK;
}

void hub_exposure_destroy(hub_exposure *exposure)
{
    if (exposure == NULL) {
        return;
    }
    part(exposure);
    exposure_drop_variants(exposure);
    hub_exposure_drop_veils(exposure);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown_unref(exposure->shown[kind]);
    }
    exposure_masks_unref(exposure->masks);
    free_active(&exposure->active);
    hub_base_unref(exposure->base);
    free(exposure);
}

void hub_exposure_replace(hub_exposure *exposure, hub_exposure *next)
{
    exposure_drop_variants(exposure); /* what they borrow may go */
    hub_exposure_drop_veils(exposure);
    part(exposure);
    part(next);
    hub_exposure old = *exposure;
    *exposure = *next;
    *next = old;
    exposure->next_veil = old.next_veil;
    exposure->changes = old.changes + 1;
    join(exposure);
    join(next);
    exposure->serial = old.serial;
    memcpy(exposure->serials, old.serials, sizeof exposure->serials);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        exposure_count_news(exposure, (hub_kind)kind, old.shown[kind]);
    }
    hub_exposure_destroy(next);
}

/* ---- enabling and disabling ------------------------------------------------------------------ */

/* Let the base have the lists of toolsets that become active. */
static hub_err tell_base(hub_base *base, const hub_source *sources, size_t count, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; i < count; i++) {
        for (int kind = 0; err == HUB_OK && !sources[i].bare && kind < HUB_KINDS; kind++) {
            err = hub_base_update(base, sources[i].toolset, (hub_kind)kind, sources[i].lists[kind],
                                  reterr);
        }
    }
    return err;
}

hub_err hub_exposure_add(hub_exposure *exposure, const hub_source *sources, size_t count,
                         hub_error *reterr)
{
    hub_base *base = exposure->base;
    exposure_active active;
    hub_err err = copy_active(base, &exposure->active, count, &active, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = add_sources(base, &active, sources, count, reterr);
    if (err == HUB_OK) {
        err = tell_base(base, sources, count, reterr);
    }
    if (err != HUB_OK) {
        free_active(&active);
        return err;
    }
    return swap_in(exposure, &active, reterr);
}

/* What is active of the hub's own, with room for `extra` more. */
static hub_err copy_own(const hub_base *base, const exposure_active *from, size_t extra,
                        exposure_active *ret_copy, hub_error *reterr)
{
    static const exposure_active NONE = {.count = 0};
    exposure_active copy;
    hub_err err = copy_active(base, &NONE, extra + 1, &copy, reterr);
    for (size_t i = 0; err == HUB_OK && i < from->count; i++) {
        if (from->sources[i]->bare) {
            copy.sources[copy.count++] = from->sources[i];
            copy.places[base_find_slot(base, from->sources[i]->toolset)] = (uint16_t)copy.count;
            copy.own = from->own != NULL ? hub_catalog_ref(from->own) : NULL;
        }
    }
    if (err == HUB_OK) {
        *ret_copy = copy;
    }
    return err;
}

hub_err hub_exposure_choose(hub_exposure *exposure, const hub_source *sources, size_t count,
                            hub_selection *selection, hub_error *reterr)
{
    hub_base *base = exposure->base;
    exposure_active active;
    hub_err err = copy_own(base, &exposure->active, count, &active, reterr);
    if (err == HUB_OK) {
        err = fill(base, &active, sources, count, selection, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    err = tell_base(base, sources, count, reterr);
    if (err != HUB_OK) {
        free_active(&active);
        return err;
    }
    return swap_in(exposure, &active, reterr);
}

hub_selection *hub_exposure_selection(const hub_exposure *exposure)
{
    return exposure->active.selection;
}

hub_err exposure_begin_veil(hub_exposure *veil, const exposure_active *of,
                            const hub_source *const *sources, size_t count)
{
    exposure_active active;
    hub_err err = copy_active(veil->base, &veil->active, count, &active, NULL);
    if (err != HUB_OK) {
        return err;
    }
    for (size_t i = 0; i < count; i++) {
        active.sources[active.count++] = sources[i];
        active.places[base_find_slot(veil->base, sources[i]->toolset)] = (uint16_t)active.count;
        if (sources[i]->bare && of->own != NULL) {
            active.own = hub_catalog_ref(of->own);
        }
    }
    err = exposure_select(&active, veil->base->slot_count, of->selection);
    if (err != HUB_OK) {
        free_active(&active);
        return err;
    }
    return swap_in(veil, &active, NULL);
}

/* Keep no room for what has been taken out. */
static void trim(exposure_active *active)
{
    const hub_source **less = realloc(active->sources, (active->count + 1) * sizeof(hub_source *));
    active->sources = less != NULL ? less : active->sources;
}

static void take_out(exposure_active *active, uint32_t slot, size_t slot_count)
{
    uint16_t place = active->places[slot];
    const hub_source **at = &active->sources[place - 1];
    if ((*at)->bare) {
        hub_catalog_unref(active->own);
        active->own = NULL;
    }
    memmove(at, at + 1, (active->count - place) * sizeof(hub_source *));
    active->count--;
    active->places[slot] = 0;
    for (size_t i = 0; i < slot_count; i++) {
        active->places[i] = (uint16_t)(active->places[i] - (active->places[i] > place));
    }
}

hub_err hub_exposure_remove(hub_exposure *exposure, const hub_str *toolsets, size_t count,
                            hub_error *reterr)
{
    const hub_base *base = exposure->base;
    exposure_active active;
    hub_err err = copy_active(base, &exposure->active, 0, &active, reterr);
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        uint32_t slot = base_find_slot(base, toolsets[i]);
        if (slot < base->slot_count && active.places[slot] != 0) {
            take_out(&active, slot, base->slot_count);
            continue;
        }
        free_active(&active);
        return hub_fail(reterr, HUB_ENOTFOUND, "toolset \"" HUB_STR_FMT "\" is not enabled",
                        HUB_STR_ARG(toolsets[i]));
    }
    if (err != HUB_OK) {
        return err;
    }
    trim(&active);
    return swap_in(exposure, &active, reterr);
}

/* ---- what it has ----------------------------------------------------------------------------- */

hub_base *hub_exposure_base(const hub_exposure *exposure)
{
    return exposure->base;
}

const hub_source *const *hub_exposure_sources(const hub_exposure *exposure, size_t *ret_count)
{
    *ret_count = exposure->active.count;
    return exposure->active.sources;
}

size_t hub_exposure_active_count(const hub_exposure *exposure)
{
    size_t count = 0;
    for (size_t i = 0; i < exposure->active.count; i++) {
        count += !exposure->active.sources[i]->bare;
    }
    return count;
}

hub_catalog *hub_exposure_own_tools(const hub_exposure *exposure)
{
    return exposure->active.own;
}

const hub_source *hub_exposure_source(const hub_exposure *exposure, hub_str toolset)
{
    uint32_t slot = base_find_slot(exposure->base, toolset);
    uint32_t place = slot < exposure->base->slot_count ? exposure->active.places[slot] : 0;
    return place != 0 ? exposure->active.sources[place - 1] : NULL;
}

hub_shown *hub_exposure_shown(const hub_exposure *exposure, hub_kind kind)
{
    return exposure->shown[kind];
}

hub_err hub_exposure_get_own_shown(const hub_exposure *exposure, hub_shown **ret_shown)
{
    const hub_shown *shown = exposure->shown[HUB_KIND_TOOL];
    uint32_t slot = base_find_slot(exposure->base, HUB_STR(HUB_META_TOOLSET));
    hub_shown_part *parts = calloc(shown->part_count + 1, sizeof *parts);
    if (parts == NULL) {
        return HUB_ENOMEM;
    }
    if (slot < shown->part_count) {
        parts[slot] = *shown->parts[slot];
    }
    hub_err err = hub_shown_get(&exposure->base->shown[HUB_KIND_TOOL], HUB_KIND_TOOL, parts,
                                shown->part_count, shown, ret_shown);
    free(parts);
    return err;
}

uint64_t hub_exposure_serial(const hub_exposure *exposure, hub_revision revision, hub_kind kind)
{
    return exposure->serials[kind][revision];
}

uint64_t hub_exposure_newest_serial(const hub_exposure *exposure)
{
    return exposure->serial;
}

/* ---- finding --------------------------------------------------------------------------------- */

static hub_shown *shown_in(const hub_exposure *exposure, hub_revision revision, hub_kind kind)
{
    return hub_shown_in(exposure->shown[kind], revision);
}

/* The entry of a claim, if it is shown. */
static const hub_entry *get_shown(const hub_shown *shown, const base_claim *claim)
{
    const hub_shown_part *part = shown->parts[claim->slot];
    bool is_shown = part->section != NULL && hub_mask_has(part->bits, claim->entry);
    return is_shown ? &part->section->entries[claim->entry] : NULL;
}

/* Who has a URI: that one of the toolsets that have it which is shown by it. */
static const hub_entry *find_uri(const hub_exposure *exposure, hub_revision revision, hub_kind kind,
                                 const base_name *name, hub_str exposed)
{
    const hub_shown *shown = shown_in(exposure, revision, kind);
    const hub_entry *entry = NULL;
    for (const base_claim *at = name != NULL ? name->claims : NULL; at != NULL; at = at->next) {
        entry = get_shown(shown, at);
        if (entry != NULL && hub_str_eq(entry->exposed, exposed)) {
            return entry;
        }
    }
    hub_str toolset;
    hub_buf own;
    hub_buf_init(&own, exposed.len + 1);
    entry = hub_mapped_uri_read(exposed, &toolset, &own) && hub_buf_ok(&own)
                ? hub_exposure_find_own(exposure, revision, kind, toolset, hub_buf_str(&own))
                : NULL;
    hub_buf_fini(&own);
    return entry != NULL && hub_str_eq(entry->exposed, exposed) ? entry : NULL;
}

const hub_entry *hub_exposure_find(const hub_exposure *exposure, hub_revision revision,
                                   hub_kind kind, hub_str exposed)
{
    if (base_is_uri(kind)) {
        const base_name *uri = base_find_name(exposure->base, kind, exposed);
        return find_uri(exposure, revision, kind, uri, exposed);
    }
    hub_shown *shown = shown_in(exposure, revision, kind);
    const hub_entry **recent = hub_shown_recent(shown, exposed);
    if (*recent != NULL && hub_str_eq((*recent)->exposed, exposed)) {
        return *recent;
    }
    const base_name *name = base_find_name(exposure->base, kind, exposed);
    const hub_entry *entry =
        name != NULL && name->holder != NULL ? get_shown(shown, name->holder) : NULL;
    *recent = entry != NULL ? entry : *recent;
    return entry;
}

hub_str hub_exposure_tool_definition(const hub_exposure *exposure, hub_revision revision,
                                     hub_str exposed)
{
    const hub_entry *entry = hub_exposure_find(exposure, revision, HUB_KIND_TOOL, exposed);
    if (entry == NULL) {
        return HUB_STR_EMPTY;
    }
    uint32_t slot = base_find_name(exposure->base, HUB_KIND_TOOL, exposed)->holder->slot;
    return hub_section_definition(exposure->shown[HUB_KIND_TOOL]->parts[slot]->section, entry);
}

const hub_entry *hub_exposure_find_own(const hub_exposure *exposure, hub_revision revision,
                                       hub_kind kind, hub_str toolset, hub_str name)
{
    uint32_t slot = base_find_slot(exposure->base, toolset);
    if (slot == exposure->base->slot_count) {
        return NULL;
    }
    const hub_shown_part *part = shown_in(exposure, revision, kind)->parts[slot];
    size_t at = part->section != NULL ? hub_section_find_own(part->section, name) : 0;
    bool is_shown =
        part->section != NULL && at < part->section->count && hub_mask_has(part->bits, at);
    return is_shown ? &part->section->entries[at] : NULL;
}

/* Of parts that show something: their toolsets are active. */
static bool is_before(const void *ctx, size_t part, size_t other)
{
    const exposure_active *active = ctx;
    return exposure_is_before(active, active->places[part], active->places[other]);
}

hub_err hub_exposure_match(const hub_exposure *exposure, hub_revision revision, const void *owner,
                           hub_str uri, const hub_entry **ret_entry)
{
    return hub_template_routes_find(shown_in(exposure, revision, HUB_KIND_TEMPLATE), owner, uri,
                                    is_before, &exposure->active, NULL, ret_entry);
}

size_t hub_exposure_add_rivals(const hub_exposure *exposure, hub_revision revision, hub_kind kind,
                               hub_str name, hub_buf *out)
{
    const hub_shown *shown = shown_in(exposure, revision, kind);
    const base_name *known = base_find_name(exposure->base, kind, name);
    const hub_entry *rivals[RIVALS_SHOWN];
    size_t count = 0;
    for (const base_claim *at = known != NULL ? known->claims : NULL;
         at != NULL && count < RIVALS_SHOWN; at = at->next) {
        const hub_entry *entry = get_shown(shown, at);
        size_t place = count;
        if (entry == NULL) {
            continue;
        }
        for (; place > 0 && hub_str_cmp(rivals[place - 1]->canonical, entry->canonical) > 0;
             place--) {
            rivals[place] = rivals[place - 1];
        }
        rivals[place] = entry;
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(out, i == 0 ? HUB_STR_EMPTY : i == count - 1 ? HUB_STR(" or ") : HUB_STR(", "));
        hub_buf_add(out, rivals[i]->exposed);
    }
    return count;
}

/* The configured key that is in a name or a URI; empty: it says none. */
static hub_str named_key(const hub_base *base, hub_kind kind, hub_str exposed)
{
    hub_str key = HUB_STR_EMPTY;
    hub_str rest;
    hub_buf own;
    hub_buf_init(&own, exposed.len + 1);
    bool is_named = base_is_uri(kind) ? hub_mapped_uri_read(exposed, &key, &own)
                                      : hub_naming_split(exposed, &key, &rest) == HUB_OK;
    hub_buf_fini(&own);
    return is_named && hub_base_has(base, key) ? key : HUB_STR_EMPTY;
}

bool hub_exposure_may_show(const hub_exposure *exposure, const hub_source *source, hub_kind kind,
                           hub_str exposed, bool *ret_is_named)
{
    const hub_base *base = exposure->base;
    bool has_key = !base_is_uri(kind) && base->rule.naming != HUB_NAMING_NONE;
    *ret_is_named = has_key;
    if (kind == HUB_KIND_TOOL && !hub_exposure_may_expose(exposure, source)) {
        return false;
    }
    if (has_key || exposed.len == 0) {
        return has_key ? hub_naming_may_be(&base->rule, source->toolset, exposed)
                       : base_is_uri(kind);
    }
    hub_str key = named_key(base, kind, exposed);
    *ret_is_named = key.len > 0;
    if (key.len > 0) {
        return hub_str_eq(key, source->toolset);
    }
    if (source->varies && !base_is_uri(kind)) {
        return false; /* its names have its key */
    }
    const base_name *name = base_is_uri(kind) ? NULL : base_find_name(base, kind, exposed);
    return name == NULL || name->claims == NULL; /* what is known is decided */
}

bool hub_exposure_would_show(const hub_exposure *exposure, const hub_source *source, hub_kind kind,
                             hub_str exposed)
{
    const hub_base *base = exposure->base;
    const base_name *name = base_is_uri(kind) ? NULL : base_find_name(base, kind, exposed);
    const base_claim *holder = name != NULL ? name->holder : NULL;
    if (holder == NULL || !hub_str_eq(base->slots[holder->slot].source.toolset, source->toolset)) {
        return false;
    }
    const hub_section *section = base->slots[holder->slot].lists[kind].section;
    const hub_item *item = section->entries[holder->entry].item;
    return exposure_is_seen(exposure, source, kind, item) &&
           (kind != HUB_KIND_TOOL || hub_exposure_exposes(exposure, source, item));
}
