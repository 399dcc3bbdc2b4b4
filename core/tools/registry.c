/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/registry.h"

#include <stdlib.h>

struct hub_registry {
    hub_view_rules rules;
    hub_view_on_left_out *on_left_out;
    void *ctx;
    hub_source *sources;
    size_t count;
    hub_view *views[HUB_KINDS];
    uint64_t serial; /* of the newest view */
};

/* Tools may name resources. */
static const hub_kind BUILD_ORDER[HUB_KINDS] = {HUB_KIND_RESOURCE, HUB_KIND_TEMPLATE,
                                                HUB_KIND_PROMPT, HUB_KIND_TOOL};

static void ref_lists(const hub_source *source)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        if (source->lists[kind] != NULL) {
            (void)hub_catalog_ref(source->lists[kind]);
        }
    }
}

static void unref_lists(const hub_source *source)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_catalog_unref(source->lists[kind]);
    }
}

/* A copy of the sources with room for `extra` more; each list gets a reference. */
static hub_source *copy_sources(const hub_registry *registry, size_t extra)
{
    hub_source *copy = calloc(registry->count + extra + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < registry->count; i++) {
        copy[i] = registry->sources[i];
        ref_lists(&copy[i]);
    }
    return copy;
}

static void free_sources(hub_source *sources, size_t count)
{
    for (size_t i = 0; sources != NULL && i < count; i++) {
        unref_lists(&sources[i]);
    }
    free(sources);
}

/* The next list of that kind among sources, from *at on, which then stands behind it; or NULL. */
static const hub_catalog *next_list(const hub_source *sources, size_t count, hub_kind kind,
                                    size_t *at)
{
    while (*at < count) {
        const hub_catalog *list = sources[(*at)++].lists[kind];
        if (list != NULL) {
            return list;
        }
    }
    return NULL;
}

/* Whether the current view of that kind is made of the very lists that `sources` have. */
static bool is_current(const hub_registry *registry, hub_kind kind, const hub_source *sources,
                       size_t count)
{
    size_t old_at = 0;
    size_t new_at = 0;
    const hub_catalog *list;
    do {
        list = next_list(registry->sources, registry->count, kind, &old_at);
        if (list != next_list(sources, count, kind, &new_at)) {
            return false;
        }
    } while (list != NULL);
    return registry->views[kind] != NULL;
}

static bool has_uis(const hub_source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sources[i].lists[HUB_KIND_TOOL] != NULL && sources[i].lists[HUB_KIND_TOOL]->has_uis) {
            return true;
        }
    }
    return false;
}

/* Build the views of `sources` and, when that works, make all of it current. Takes `sources`. */
static hub_err swap_in(hub_registry *registry, hub_source *sources, size_t count, hub_error *reterr)
{
    hub_view *views[HUB_KINDS] = {NULL};
    hub_err err = HUB_OK;
    for (int i = 0; err == HUB_OK && i < HUB_KINDS; i++) {
        hub_kind kind = BUILD_ORDER[i];
        bool shows_resources = kind == HUB_KIND_TOOL && has_uis(sources, count);
        const hub_view *resources = shows_resources ? views[HUB_KIND_RESOURCE] : NULL;
        if (is_current(registry, kind, sources, count) &&
            (!shows_resources || resources == registry->views[HUB_KIND_RESOURCE])) {
            views[kind] = hub_view_ref(registry->views[kind]);
        } else {
            err = hub_view_build(kind, sources, count, &registry->rules, resources,
                                 registry->on_left_out, registry->ctx, &views[kind], reterr);
        }
    }
    if (err != HUB_OK) {
        for (int kind = 0; kind < HUB_KINDS; kind++) {
            hub_view_unref(views[kind]);
        }
        free_sources(sources, count);
        return err;
    }
    for (size_t i = 0; i < count; i++) {
        sources[i].fresh = false;
    }
    free_sources(registry->sources, registry->count);
    registry->sources = sources;
    registry->count = count;
    registry->serial++;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        if (views[kind] != registry->views[kind]) {
            views[kind]->serial = registry->serial;
        }
        hub_view_unref(registry->views[kind]);
        registry->views[kind] = views[kind];
    }
    return HUB_OK;
}

static size_t index_of(const hub_source *sources, size_t count, hub_str toolset)
{
    size_t i = 0;
    while (i < count && !hub_str_eq(sources[i].toolset, toolset)) {
        i++;
    }
    return i;
}

hub_err hub_registry_create_with(const hub_view_rules *rules, const hub_source *sources,
                                 size_t count, hub_view_on_left_out *on_left_out, void *ctx,
                                 hub_registry **ret_registry, hub_error *reterr)
{
    hub_registry *registry = calloc(1, sizeof *registry);
    hub_source *copy = calloc(count + 1, sizeof *copy);
    if (registry == NULL || copy == NULL) {
        free(registry);
        free(copy);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    registry->rules = *rules;
    registry->on_left_out = on_left_out;
    registry->ctx = ctx;
    for (size_t i = 0; i < count; i++) {
        copy[i] = sources[i];
        ref_lists(&copy[i]);
    }
    hub_err err = swap_in(registry, copy, count, reterr);
    if (err != HUB_OK) {
        free(registry);
        return err;
    }
    *ret_registry = registry;
    return HUB_OK;
}

hub_err hub_registry_create(const hub_view_rules *rules, hub_view_on_left_out *on_left_out,
                            void *ctx, hub_registry **ret_registry)
{
    return hub_registry_create_with(rules, NULL, 0, on_left_out, ctx, ret_registry, NULL);
}

void hub_registry_replace(hub_registry *registry, hub_registry *next)
{
    hub_registry old = *registry;
    *registry = *next;
    registry->serial = old.serial + 1;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        bool is_news = !hub_view_equal(old.views[kind], registry->views[kind]);
        registry->views[kind]->serial = is_news ? registry->serial : old.views[kind]->serial;
    }
    *next = old;
    hub_registry_destroy(next);
}

void hub_registry_destroy(hub_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_view_unref(registry->views[kind]);
    }
    free_sources(registry->sources, registry->count);
    free(registry);
}

hub_err hub_registry_add(hub_registry *registry, const hub_source *sources, size_t count,
                         hub_error *reterr)
{
    hub_source *next = copy_sources(registry, count);
    if (next == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    size_t next_count = registry->count;
    for (size_t i = 0; i < count; i++) {
        if (index_of(next, next_count, sources[i].toolset) < next_count) {
            free_sources(next, next_count);
            return hub_fail(reterr, HUB_EEXIST, "toolset \"" HUB_STR_FMT "\" is already enabled",
                            HUB_STR_ARG(sources[i].toolset));
        }
        next[next_count] = sources[i];
        next[next_count].fresh = true;
        ref_lists(&sources[i]);
        next_count++;
    }
    return swap_in(registry, next, next_count, reterr);
}

hub_err hub_registry_remove(hub_registry *registry, const hub_str *toolsets, size_t count,
                            hub_error *reterr)
{
    hub_source *next = copy_sources(registry, 0);
    if (next == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    size_t next_count = registry->count;
    for (size_t i = 0; i < count; i++) {
        size_t at = index_of(next, next_count, toolsets[i]);
        if (at == next_count) {
            free_sources(next, next_count);
            return hub_fail(reterr, HUB_ENOTFOUND, "toolset \"" HUB_STR_FMT "\" is not enabled",
                            HUB_STR_ARG(toolsets[i]));
        }
        unref_lists(&next[at]);
        memmove(&next[at], &next[at + 1], (next_count - at - 1) * sizeof *next);
        next_count--;
    }
    return swap_in(registry, next, next_count, reterr);
}

hub_err hub_registry_update(hub_registry *registry, hub_str toolset, hub_kind kind,
                            hub_catalog *catalog, hub_error *reterr)
{
    size_t at = index_of(registry->sources, registry->count, toolset);
    if (at == registry->count) {
        return hub_fail(reterr, HUB_ENOTFOUND, "toolset \"" HUB_STR_FMT "\" is not enabled",
                        HUB_STR_ARG(toolset));
    }
    hub_source *next = copy_sources(registry, 0);
    if (next == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_catalog_unref(next[at].lists[kind]);
    next[at].lists[kind] = catalog != NULL ? hub_catalog_ref(catalog) : NULL;
    return swap_in(registry, next, registry->count, reterr);
}

bool hub_registry_exposes(const hub_registry *registry, const hub_source *source,
                          const hub_item *tool)
{
    return hub_view_exposes(&registry->rules, source, tool);
}

hub_view *hub_registry_view(const hub_registry *registry)
{
    return registry->views[HUB_KIND_TOOL];
}

hub_view *hub_registry_view_of(const hub_registry *registry, hub_kind kind)
{
    return registry->views[kind];
}

const hub_source *hub_registry_sources(const hub_registry *registry, size_t *ret_count)
{
    *ret_count = registry->count;
    return registry->sources;
}

const hub_source *hub_registry_find(const hub_registry *registry, hub_str toolset)
{
    size_t at = index_of(registry->sources, registry->count, toolset);
    return at < registry->count ? &registry->sources[at] : NULL;
}
