/* SPDX-License-Identifier: Apache-2.0 */
/* What an exposure shows: sections of its base, and masks. */
#include "tools/exposure_internal.h"

#include <stdlib.h>

/* Tools may name resources. */
static const hub_kind ORDER[HUB_KINDS] = {HUB_KIND_RESOURCE, HUB_KIND_TEMPLATE, HUB_KIND_PROMPT,
                                          HUB_KIND_TOOL};

static const char *const NAME_WORDS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = "tool name",
    [HUB_KIND_RESOURCE] = "resource URI",
    [HUB_KIND_TEMPLATE] = "resource template",
    [HUB_KIND_PROMPT] = "prompt name",
};

/* ---- masks ----------------------------------------------------------------------------------- */

exposure_masks *exposure_masks_create(size_t count)
{
    exposure_masks *masks = calloc(1, sizeof *masks + count * sizeof masks->of[0]);
    if (masks != NULL) {
        masks->refs = 1;
        masks->count = count;
    }
    return masks;
}

exposure_masks *exposure_masks_veil(exposure_masks *whole, const void *filter, size_t count)
{
    exposure_masks *masks = whole->veils;
    while (masks != NULL && (masks->filter != filter || masks->count != count)) {
        masks = masks->next_veil;
    }
    if (masks != NULL) {
        masks->refs++;
        return masks;
    }
    masks = exposure_masks_create(count);
    if (masks != NULL) {
        masks->filter = filter;
        masks->whole = whole;
        masks->next_veil = whole->veils;
        whole->veils = masks;
        whole->refs++;
    }
    return masks;
}

/* Of a veil: nobody looks through it any more. */
static void unlink_veil(exposure_masks *masks)
{
    exposure_masks **link = &masks->whole->veils;
    while (*link != masks) {
        link = &(*link)->next_veil;
    }
    *link = masks->next_veil;
}

void exposure_masks_unref(exposure_masks *masks)
{
    while (masks != NULL && --masks->refs == 0) {
        exposure_masks *whole = masks->whole;
        if (whole != NULL) {
            unlink_veil(masks);
        }
        for (size_t i = 0; i < masks->count; i++) {
            hub_section_unref(masks->of[i].section);
            free(masks->of[i].bits);
        }
        free(masks);
        masks = whole;
    }
}

static bool is_open(const hub_policy_rules *policy)
{
    return policy == NULL ||
           (policy->filter_count == 0 && !policy->read_only && !policy->deny_destructive);
}

static hub_filter_subject subject_of(const hub_source *source)
{
    return (hub_filter_subject){.toolset = source->toolset,
                                .has_overrides = source->has_overrides,
                                .tags = source->tags,
                                .category = source->category,
                                .trusts_tags = source->trusts_tags};
}

/* `own`: what is shown of the hub's own toolset. */
static bool passes(const hub_exposure *exposure, const hub_catalog *own, const hub_source *source,
                   const hub_item *tool)
{
    if (!exposure_is_seen(exposure, source, HUB_KIND_TOOL, tool)) {
        return false;
    }
    if (source->bare) {
        return own != NULL && hub_catalog_find(own, tool->name) != NULL;
    }
    hub_filter_subject subject = subject_of(source);
    for (size_t i = 0; i < 2; i++) {
        const hub_policy_rules *policy = exposure->rules.policies[i];
        if (policy != NULL && !hub_policy_exposes(policy, &subject, tool)) {
            return false;
        }
    }
    return true;
}

bool hub_exposure_exposes(const hub_exposure *exposure, const hub_source *source,
                          const hub_item *tool)
{
    if (source->bare) {
        return exposure_is_seen(exposure, source, HUB_KIND_TOOL, tool);
    }
    bool is_left_out =
        (source->tools_allow != NULL && source->tools_allow->set &&
         !hub_names_match(source->tools_allow, tool->name)) ||
        (source->tools_deny != NULL && hub_names_match(source->tools_deny, tool->name));
    return !is_left_out && passes(exposure, NULL, source, tool);
}

/* No policy hides what is no tool, but a veil may. */
static bool lets_through(const hub_exposure *exposure, const hub_catalog *own,
                         const hub_source *source, hub_kind kind, const hub_item *item)
{
    return kind == HUB_KIND_TOOL ? passes(exposure, own, source, item)
                                 : exposure_is_seen(exposure, source, kind, item);
}

static bool has_masks(const hub_exposure *exposure, hub_kind kind)
{
    return kind == HUB_KIND_TOOL || exposure->filter.shows != NULL;
}

_Static_assert(HUB_KIND_TOOL == 0, "the masks of tools come first");

static exposure_mask *mask_of(const hub_exposure *exposure, hub_kind kind, uint32_t slot)
{
    return &exposure->masks->of[(size_t)kind * exposure->base->slot_count + slot];
}

static bool is_masked(const hub_exposure *exposure, const hub_source *source, hub_kind kind)
{
    return exposure->filter.shows != NULL ||
           (kind == HUB_KIND_TOOL && (source->bare || !is_open(exposure->rules.policies[0]) ||
                                      !is_open(exposure->rules.policies[1])));
}

static void drop_mask(exposure_mask *mask)
{
    hub_section_unref(mask->section);
    free(mask->bits);
    *mask = (exposure_mask){.section = NULL};
}

/* The mask of a section, which is kept for the next time; NULL: out of memory. */
static const uint64_t *get_mask(hub_exposure *exposure, const hub_catalog *own,
                                const hub_source *source, uint32_t slot, hub_section *section)
{
    if (!is_masked(exposure, source, section->kind)) {
        return section->named;
    }
    exposure_mask *mask = mask_of(exposure, section->kind, slot);
    if (mask->section == section) {
        return mask->bits;
    }
    drop_mask(mask);
    mask->bits = calloc(hub_mask_words(section->count) + 1, sizeof *mask->bits);
    if (mask->bits == NULL) {
        return NULL;
    }
    mask->section = hub_section_ref(section);
    for (size_t i = 0; i < section->count; i++) {
        if (hub_mask_has(section->named, i) &&
            lets_through(exposure, own, source, section->kind, section->entries[i].item)) {
            hub_mask_set(mask->bits, i);
        }
    }
    return mask->bits;
}

hub_err exposure_select(exposure_active *active, size_t slot_count, hub_selection *selection)
{
    if (selection != NULL) {
        active->picked = exposure_masks_create(slot_count);
        if (active->picked == NULL) {
            return HUB_ENOMEM;
        }
        active->selection = hub_selection_ref(selection);
    }
    return HUB_OK;
}

/* What the selection leaves of a mask of tools; kept for the next time. NULL: out of memory. */
static const uint64_t *pick(const exposure_active *active, const hub_source *source, uint32_t slot,
                            hub_section *section, const uint64_t *bits)
{
    if (active->selection == NULL || section->kind != HUB_KIND_TOOL || source->bare) {
        return bits;
    }
    exposure_mask *mask = &active->picked->of[slot];
    if (mask->section == section) {
        return mask->bits;
    }
    drop_mask(mask);
    mask->bits = calloc(hub_mask_words(section->count) + 1, sizeof *mask->bits);
    if (mask->bits == NULL) {
        return NULL;
    }
    mask->section = hub_section_ref(section);
    size_t end;
    for (size_t i = hub_selection_range(active->selection, source->toolset, &end); i < end; i++) {
        const hub_selected *selected = hub_selection_at(active->selection, i);
        size_t at = hub_section_find_own(section, selected->tool);
        if (at < section->count && hub_mask_has(bits, at) &&
            hub_selected_is(selected, section->catalog, section->entries[at].item)) {
            hub_mask_set(mask->bits, at);
        }
    }
    return mask->bits;
}

/* What of a kind of a toolset is shown or, while it is not active, would be. */
static bool get_part(hub_exposure *exposure, hub_str toolset, hub_kind kind,
                     hub_shown_part *ret_part)
{
    const hub_base *base = exposure->base;
    uint32_t slot = base_find_slot(base, toolset);
    if (slot == base->slot_count || base->slots[slot].lists[kind].section == NULL) {
        return false;
    }
    const hub_source *active = hub_exposure_source(exposure, toolset);
    hub_section *section = base->slots[slot].lists[kind].section;
    const uint64_t *bits =
        get_mask(exposure, exposure->active.own,
                 active != NULL ? active : &base->slots[slot].source, slot, section);
    *ret_part = (hub_shown_part){.section = section, .bits = bits};
    for (size_t i = 0; bits != NULL && i < hub_mask_words(section->count); i++) {
        ret_part->count += (size_t)__builtin_popcountll(bits[i]);
    }
    return bits != NULL;
}

bool hub_exposure_tools_of(hub_exposure *exposure, hub_str toolset, hub_shown_part *ret_part)
{
    return get_part(exposure, toolset, HUB_KIND_TOOL, ret_part);
}

size_t hub_exposure_count(hub_exposure *exposure, hub_str toolset, hub_kind kind)
{
    hub_shown_part part = {.count = 0};
    return get_part(exposure, toolset, kind, &part) ? part.count : 0;
}

/* Whether a toolset has anything that filters do not apply to, and that a veil lets through. */
static bool has_others(const hub_exposure *exposure, const base_slot *slot)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        const hub_section *section = slot->lists[kind].section;
        for (size_t i = 0; kind != HUB_KIND_TOOL && section != NULL && i < section->count; i++) {
            if (exposure_is_seen(exposure, &slot->source, (hub_kind)kind,
                                 section->entries[i].item)) {
                return true;
            }
        }
    }
    return false;
}

static bool has_known_others(const base_slot *slot)
{
    bool has = false;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        const hub_section *section = slot->lists[kind].section;
        has = has || (kind != HUB_KIND_TOOL && section != NULL && section->count > 0);
    }
    return has;
}

/* Whether some tool could be exposed of a toolset that has none, or of which none is known. */
bool hub_exposure_may_expose(const hub_exposure *exposure, const hub_source *source)
{
    bool may =
        source->tools_allow == NULL || !source->tools_allow->set || source->tools_allow->count > 0;
    hub_filter_subject subject = subject_of(source);
    may = may && (source->tools_deny == NULL || !hub_names_have(source->tools_deny, HUB_STR("*")));
    for (size_t i = 0; i < 2; i++) {
        const hub_policy_rules *policy = exposure->rules.policies[i];
        may = may && (policy == NULL || hub_policy_may_expose(policy, &subject));
    }
    return may;
}

bool hub_exposure_may_tell_of(hub_exposure *exposure, hub_str toolset)
{
    const hub_base *base = exposure->base;
    uint32_t at = base_find_slot(base, toolset);
    const base_slot *slot = at < base->slot_count ? &base->slots[at] : NULL;
    if (slot == NULL || slot->source.bare) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        const hub_policy_rules *policy = exposure->rules.policies[i];
        if (policy != NULL && !hub_policy_allows_toolset(policy, toolset)) {
            return false;
        }
    }
    hub_shown_part tools = {.section = NULL};
    bool has_tools = hub_exposure_tools_of(exposure, toolset, &tools) && tools.section->count > 0;
    if (has_others(exposure, slot)) {
        return true;
    }
    if (has_tools || (exposure->filter.shows != NULL && has_known_others(slot))) {
        return has_tools && tools.count > 0;
    }
    return hub_exposure_may_expose(exposure, &slot->source) &&
           (exposure->filter.may_show == NULL ||
            exposure->filter.may_show(exposure->filter.ctx, &slot->source));
}

void exposure_forget_masks(hub_exposure *exposure, const base_change *change)
{
    for (size_t i = 0; has_masks(exposure, change->kind) && i < change->touched_count; i++) {
        exposure_mask *mask = mask_of(exposure, change->kind, change->touched[i].slot);
        if (mask->section != change->touched[i].section) {
            drop_mask(mask);
        }
    }
    exposure_masks *picked = change->kind == HUB_KIND_TOOL ? exposure->active.picked : NULL;
    for (size_t i = 0; picked != NULL && i < change->touched_count; i++) {
        exposure_mask *mask = &picked->of[change->touched[i].slot];
        if (mask->section != change->touched[i].section) {
            drop_mask(mask);
        }
    }
}

/* ---- sections that are this exposure's ------------------------------------------------------- */

hub_err exposure_get_variant(hub_exposure *exposure, uint32_t slot, const hub_section *from,
                             const uint8_t *forms, hub_section *resources,
                             hub_section **ret_section)
{
    hub_base *base = exposure->base;
    hub_section_list *list = &base->slots[slot].lists[from->kind].sections;
    hub_section_plan plan = base_plan(base, slot, from->kind);
    plan.catalog = from->catalog;
    plan.forms = forms;
    plan.resources = resources;
    hub_section *same = hub_section_find_same(list, NULL, &plan);
    if (same != NULL) {
        *ret_section = hub_section_ref(same);
        return HUB_OK;
    }
    const hub_item **order = calloc(from->count + 1, sizeof(const hub_item *));
    if (order == NULL) {
        return HUB_ENOMEM;
    }
    for (size_t i = 0; i < from->count; i++) {
        order[i] = from->entries[i].item;
    }
    plan.order = order;
    hub_err err = hub_section_create(list, &plan, &base->counts, ret_section);
    free(order);
    return err;
}

/* Tools whose user interface is a resource that clients know by another URI say so. */
static hub_err name_interfaces(hub_exposure *exposure, hub_shown_part *parts, exposure_own *own)
{
    hub_err err = HUB_OK;
    for (uint32_t slot = 0; err == HUB_OK && slot < exposure->base->slot_count; slot++) {
        hub_section *section = parts[slot].section;
        hub_section *resources = exposure->prepared[HUB_KIND_RESOURCE]->parts[slot]->section;
        if (section == NULL || !section->catalog->has_uis || resources == NULL ||
            resources->mapped_count == 0) {
            continue;
        }
        hub_section *variant = NULL;
        err = exposure_get_variant(exposure, slot, section, section->forms, resources, &variant);
        if (err == HUB_OK) {
            parts[slot].section = variant; /* of the same entries: the mask fits */
            own[slot].section = variant;
        }
    }
    return err;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static hub_err make_parts(hub_exposure *exposure, const exposure_active *active,
                          const base_change *change, hub_kind kind, hub_shown_part *parts)
{
    const hub_base *base = exposure->base;
    for (uint32_t slot = 0; slot < base->slot_count; slot++) {
        hub_section *section =
            active->places[slot] != 0 ? base_next_section(base, change, slot, kind) : NULL;
        if (section == NULL) {
            continue;
        }
        const hub_source *source = active->sources[active->places[slot] - 1];
        parts[slot].section = section;
        parts[slot].bits = get_mask(exposure, active->own, source, slot, section);
        if (parts[slot].bits != NULL) {
            parts[slot].bits = pick(active, source, slot, section, parts[slot].bits);
        }
        if (parts[slot].bits == NULL) {
            return HUB_ENOMEM;
        }
    }
    return HUB_OK;
}

static hub_err prepare_kind(hub_exposure *exposure, const exposure_active *active,
                            const base_change *change, hub_kind kind)
{
    size_t count = exposure->base->slot_count;
    hub_shown_part *parts = calloc(count + 1, sizeof *parts);
    exposure_own *own = calloc(count + 1, sizeof *own);
    hub_err err = parts != NULL && own != NULL ? make_parts(exposure, active, change, kind, parts)
                                               : HUB_ENOMEM;
    if (err == HUB_OK && base_is_uri(kind)) {
        err = exposure_part_uris(exposure, active, change, kind, parts, own);
    } else if (err == HUB_OK && kind == HUB_KIND_TOOL) {
        err = name_interfaces(exposure, parts, own);
    }
    if (err == HUB_OK) {
        err = hub_shown_get(&exposure->base->shown[kind], kind, parts, count, exposure->shown[kind],
                            &exposure->prepared[kind]);
    }
    for (size_t i = 0; own != NULL && i < count; i++) {
        hub_section_unref(own[i].section);
        free(own[i].bits);
    }
    free(parts);
    free(own);
    return err;
}

/* Whether a change of the base concerns that kind; tools name resources. */
static bool is_concerned(const base_change *change, hub_kind kind)
{
    return change == NULL || change->kind == kind ||
           (kind == HUB_KIND_TOOL && change->kind == HUB_KIND_RESOURCE);
}

bool exposure_is_concerned(const hub_exposure *exposure, const base_change *change)
{
    bool is_shown = false;
    for (size_t i = 0; !is_shown && i < change->touched_count; i++) {
        is_shown = exposure->active.places[change->touched[i].slot] != 0;
    }
    return is_shown;
}

hub_err exposure_prepare(hub_exposure *exposure, const exposure_active *active,
                         const base_change *change)
{
    hub_err err = HUB_OK;
    for (int i = 0; err == HUB_OK && i < HUB_KINDS; i++) {
        hub_kind kind = ORDER[i];
        if (is_concerned(change, kind)) {
            err = prepare_kind(exposure, active, change, kind);
        } else {
            exposure->prepared[kind] = hub_shown_ref(exposure->shown[kind]);
        }
    }
    return err;
}

void exposure_abandon(hub_exposure *exposure)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown_unref(exposure->prepared[kind]);
        exposure->prepared[kind] = NULL;
    }
}

/* ---- what is left out ------------------------------------------------------------------------ */

/* As much of a name as a report shows: a URI may be long. */
static hub_str shown(hub_str name)
{
    enum { SHOWN_BYTES = 200 };
    return (hub_str){.ptr = name.ptr, .len = name.len < SHOWN_BYTES ? name.len : SHOWN_BYTES};
}

static void report(const hub_exposure *exposure, uint32_t slot, const hub_section *section,
                   const hub_entry *entry)
{
    hub_section_plan plan = base_plan(exposure->base, slot, section->kind);
    hub_buf name;
    hub_buf text;
    hub_buf_init(&name, SIZE_MAX / 4);
    hub_buf_init(&text, 1024);
    hub_section_add_name(&plan, entry->item, HUB_FORM_PLAIN, &name);
    if (hub_buf_ok(&name)) {
        hub_buf_printf(&text,
                       "%s \"" HUB_STR_FMT "\" of \"" HUB_STR_FMT
                       "\" is another's, and so is what it could be called instead; it is left out",
                       NAME_WORDS[section->kind], HUB_STR_ARG(shown(hub_buf_str(&name))),
                       HUB_STR_ARG(shown(entry->canonical)));
    }
    if (hub_buf_ok(&name) && hub_buf_ok(&text)) {
        exposure->on_left_out(exposure->ctx, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    hub_buf_fini(&name);
}

/* Report what a section that was not shown before leaves out. */
static void report_left_out(const hub_exposure *exposure, const hub_shown *before,
                            const hub_shown *now)
{
    for (uint32_t slot = 0; exposure->on_left_out != NULL && slot < now->part_count; slot++) {
        const hub_section *section = now->parts[slot]->section;
        if (section == NULL || section->named_count == section->count ||
            (before != NULL && before->parts[slot]->section == section)) {
            continue;
        }
        for (size_t i = 0; i < section->count; i++) {
            if (section->forms[i] == HUB_FORM_NOBODY) {
                report(exposure, slot, section, &section->entries[i]);
            }
        }
    }
}

void exposure_count_news(hub_exposure *exposure, hub_kind kind, hub_shown *before)
{
    uint8_t news = before != NULL ? hub_shown_news(before, exposure->shown[kind]) : UINT8_MAX;
    for (int revision = HUB_REVISIONS; revision-- > 0;) {
        if ((news & HUB_REVISION_BIT(revision)) != 0) {
            exposure->serials[kind][revision] = ++exposure->serial;
        }
    }
}

void exposure_commit(hub_exposure *exposure)
{
    for (int i = 0; i < HUB_KINDS; i++) {
        hub_shown *before = exposure->shown[i];
        hub_shown *now = exposure->prepared[i];
        if (now == NULL) { /* the change was none of its toolsets' */
            continue;
        }
        exposure->changes++;
        exposure->shown[i] = now;
        exposure->prepared[i] = NULL;
        exposure_count_news(exposure, (hub_kind)i, before);
        if (before != now) {
            report_left_out(exposure, before, now);
        }
        hub_shown_unref(before);
    }
}
