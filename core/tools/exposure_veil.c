/* SPDX-License-Identifier: Apache-2.0 */
/* What of an exposure somebody may see. */
#include "tools/exposure_internal.h"

#include <stdlib.h>

/* Exposures that were numbered apart. [loop] */
static uint64_t numbered;

enum { SERIAL_BITS = 32 };

void exposure_number_apart(hub_exposure *exposure)
{
    uint64_t first = ++numbered << SERIAL_BITS;
    exposure->serial += first;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        for (int revision = 0; revision < HUB_REVISIONS; revision++) {
            exposure->serials[kind][revision] += first;
        }
    }
}

/* Whether anything of a toolset may be seen. What is not known yet may turn out to be seen. */
static bool has_something(const hub_exposure *exposure, const hub_exposure_filter *filter,
                          const hub_source *source)
{
    const hub_base *base = exposure->base;
    uint32_t slot = base_find_slot(base, source->toolset);
    bool is_known = false;
    for (int at = 0; at < HUB_KINDS; at++) {
        const hub_section *section = base_next_section(base, NULL, slot, (hub_kind)at);
        for (size_t i = 0; section != NULL && i < section->count; i++) {
            is_known = true;
            if (filter->shows(filter->ctx, source, (hub_kind)at, section->entries[i].item)) {
                return true;
            }
        }
    }
    return !is_known && filter->may_show(filter->ctx, source);
}

/* The toolsets of an exposure that the filter leaves something of; free it. */
static hub_err list_sources(const hub_exposure *exposure, const hub_exposure_filter *filter,
                            const hub_source ***ret_sources, size_t *ret_count)
{
    const hub_source **sources = calloc(exposure->active.count + 1, sizeof(hub_source *));
    size_t count = 0;
    if (sources == NULL) {
        return HUB_ENOMEM;
    }
    for (size_t i = 0; i < exposure->active.count; i++) {
        if (has_something(exposure, filter, exposure->active.sources[i])) {
            sources[count++] = exposure->active.sources[i];
        }
    }
    *ret_sources = sources;
    *ret_count = count;
    return HUB_OK;
}

/* Whether a veil has just these toolsets of its base, in this order, of the hub's own the same, and
 * the same selection. */
static bool is_up_to_date(const hub_exposure *veil, const hub_exposure *exposure,
                          const hub_source *const *sources, size_t count)
{
    bool is = veil->base == exposure->base && veil->active.count == count &&
              veil->active.selection == exposure->active.selection;
    for (size_t i = 0; is && i < count; i++) {
        is = veil->active.sources[i] == sources[i] &&
             (!sources[i]->bare || veil->active.own == exposure->active.own);
    }
    return is;
}

static hub_err make(const hub_exposure *exposure, const hub_exposure_filter *filter,
                    const hub_source *const *sources, size_t count, hub_exposure **ret_veil)
{
    hub_exposure *veil = NULL;
    hub_err err =
        hub_exposure_create(exposure->base, &exposure->rules, NULL, 0, NULL, NULL, &veil, NULL);
    if (err != HUB_OK) {
        return err;
    }
    veil->filter = *filter;
    exposure_masks_unref(veil->masks); /* nothing is in them yet */
    veil->masks =
        exposure_masks_veil(exposure->masks, filter->ctx, HUB_KINDS * exposure->base->slot_count);
    err = veil->masks != NULL ? exposure_begin_veil(veil, &exposure->active, sources, count)
                              : HUB_ENOMEM;
    if (err != HUB_OK) {
        hub_exposure_destroy(veil);
        return err;
    }
    *ret_veil = veil;
    return HUB_OK;
}

/* Kept apart: whoever looks at something comes past it, and it is rarely needed. */
__attribute__((noinline)) static hub_err follow(hub_exposure *exposure, hub_exposure *veil,
                                                const hub_exposure_filter *filter,
                                                hub_exposure **ret_veil)
{
    const hub_source **sources = NULL;
    hub_exposure *next = NULL;
    size_t count = 0;
    hub_err err = list_sources(exposure, filter, &sources, &count);
    if (err == HUB_OK && (veil == NULL || !is_up_to_date(veil, exposure, sources, count))) {
        err = make(exposure, filter, sources, count, &next);
    }
    free(sources);
    if (err != HUB_OK) {
        return err;
    }
    if (veil == NULL) {
        exposure_number_apart(next);
        next->next_veil = exposure->veils;
        exposure->veils = veil = next;
    } else if (next != NULL) {
        hub_exposure_replace(veil, next);
    }
    veil->followed = exposure->changes;
    *ret_veil = veil;
    return HUB_OK;
}

hub_err hub_exposure_veil(hub_exposure *exposure, const hub_exposure_filter *filter,
                          hub_exposure **ret_veil)
{
    hub_exposure *veil = exposure->veils;
    while (veil != NULL && veil->filter.ctx != filter->ctx) {
        veil = veil->next_veil;
    }
    if (veil == NULL || veil->followed != exposure->changes) {
        return follow(exposure, veil, filter, ret_veil);
    }
    *ret_veil = veil;
    return HUB_OK;
}

void hub_exposure_drop_veils(hub_exposure *exposure)
{
    for (exposure_variant *at = exposure->variants; at != NULL; at = at->hh.next) {
        hub_exposure_drop_veils(at->exposure);
    }
    while (exposure->veils != NULL) {
        hub_exposure *veil = exposure->veils;
        exposure->veils = veil->next_veil;
        hub_exposure_destroy(veil);
    }
}
