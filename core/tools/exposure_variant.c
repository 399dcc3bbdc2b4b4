/* SPDX-License-Identifier: Apache-2.0 */
/* What of an exposure somebody sees for whom some toolsets are others. */
#include "tools/exposure_internal.h"

#include <stdlib.h>

static exposure_variant *find(const hub_exposure *exposure, const void *ctx)
{
    exposure_variant *variant = NULL;
    HASH_FIND_PTR(exposure->variants, &ctx, variant);
    return variant;
}

hub_exposure *hub_exposure_find_variant(const hub_exposure *exposure, const void *ctx,
                                        uint64_t version)
{
    const exposure_variant *variant = find(exposure, ctx);
    bool is_current = variant != NULL && variant->version == version &&
                      variant->followed == exposure->changes &&
                      variant->followed_base == exposure->base->changes;
    return is_current ? variant->exposure : NULL;
}

/* ---- making one ------------------------------------------------------------------------------ */

static const hub_source *find_other(const hub_exposure_others *others, hub_str toolset)
{
    for (size_t i = 0; i < others->count; i++) {
        if (hub_str_eq(others->sources[i].toolset, toolset)) {
            return &others->sources[i];
        }
    }
    return NULL;
}

/* All toolsets of the base, with their lists; free it. */
static hub_source *list_all(const hub_base *base, const hub_exposure_others *others)
{
    hub_source *sources = calloc(base->slot_count + 1, sizeof *sources);
    for (size_t i = 0; sources != NULL && i < base->slot_count; i++) {
        const base_slot *slot = &base->slots[i];
        const hub_source *other = find_other(others, slot->source.toolset);
        sources[i] = other != NULL ? *other : slot->source;
        for (int kind = 0; other == NULL && kind < HUB_KINDS; kind++) {
            const hub_section *section = slot->lists[kind].section;
            sources[i].lists[kind] = section != NULL ? section->catalog : NULL;
        }
    }
    return sources;
}

/* Those that are active, as they became so; free it. */
static hub_source *list_active(const hub_exposure *exposure, const hub_exposure_others *others)
{
    const exposure_active *active = &exposure->active;
    hub_source *sources = calloc(active->count + 1, sizeof *sources);
    for (size_t i = 0; sources != NULL && i < active->count; i++) {
        const hub_source *other = find_other(others, active->sources[i]->toolset);
        sources[i] = other != NULL ? *other : *active->sources[i];
        if (sources[i].bare) {
            sources[i].lists[HUB_KIND_TOOL] = active->own;
        }
    }
    return sources;
}

static hub_err make(const hub_exposure *exposure, const hub_exposure_others *others,
                    hub_exposure **ret_next)
{
    const hub_base *of = exposure->base;
    hub_exposure_rules rules = exposure->rules;
    hub_source *all = list_all(of, others);
    hub_source *active = list_active(exposure, others);
    hub_base *base = NULL;
    hub_err err = all != NULL && active != NULL
                      ? hub_base_create(&of->rule, all, of->slot_count, of, &base, NULL)
                      : HUB_ENOMEM;
    if (err == HUB_OK) {
        rules.selection = exposure->active.selection;
        err = hub_exposure_create(base, &rules, active, exposure->active.count,
                                  exposure->on_left_out, exposure->ctx, ret_next, NULL);
    }
    hub_base_unref(base);
    free(all);
    free(active);
    return err;
}

static exposure_variant *add(hub_exposure *exposure, const void *ctx)
{
    exposure_variant *variant = calloc(1, sizeof *variant);
    if (variant == NULL) {
        return NULL;
    }
    variant->ctx = ctx;
    HASH_ADD_PTR(exposure->variants, ctx, variant);
    if (!hub_map_has_taken(&variant->hh)) {
        free(variant);
        return NULL;
    }
    return variant;
}

static void drop(hub_exposure *exposure, exposure_variant *variant)
{
    HASH_DEL(exposure->variants, variant);
    hub_exposure_destroy(variant->exposure);
    free(variant);
}

hub_err hub_exposure_get_variant(hub_exposure *exposure, const hub_exposure_others *others,
                                 hub_exposure **ret_variant)
{
    hub_exposure *current = hub_exposure_find_variant(exposure, others->ctx, others->version);
    if (current != NULL) {
        *ret_variant = current;
        return HUB_OK;
    }
    exposure_variant *variant = find(exposure, others->ctx);
    hub_exposure *next = NULL;
    hub_err err = make(exposure, others, &next);
    if (err == HUB_OK && variant == NULL && (variant = add(exposure, others->ctx)) == NULL) {
        hub_exposure_destroy(next);
        err = HUB_ENOMEM;
    }
    if (err != HUB_OK) {
        return err;
    }
    if (variant->exposure == NULL) {
        exposure_number_apart(next);
        variant->exposure = next;
    } else {
        hub_exposure_replace(variant->exposure, next);
    }
    variant->version = others->version;
    variant->followed = exposure->changes;
    variant->followed_base = exposure->base->changes;
    *ret_variant = variant->exposure;
    return HUB_OK;
}

void hub_exposure_drop_variant(hub_exposure *exposure, const void *ctx)
{
    exposure_variant *variant = find(exposure, ctx);
    if (variant != NULL) {
        drop(exposure, variant);
    }
}

void exposure_drop_variants(hub_exposure *exposure)
{
    while (exposure->variants != NULL) {
        drop(exposure, exposure->variants);
    }
}
