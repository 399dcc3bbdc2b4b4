/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/template_routes.h"

#include "base/log.h"
#include "tools/uri_template.h"

#include <stdlib.h>

/* The templates of one toolset. */
typedef struct group {
    const hub_entry *const *entries; /* those that go by another URI (mapped_uri.h) last */
    const void *owner;
    size_t part;                /* of what is shown */
    hub_uri_templates *own;     /* all of them, by the URIs that the toolset has */
    hub_uri_templates *exposed; /* without those that go by another URI; may be `own` */
    bool is_told;               /* that they cost too much */
} group;

struct hub_template_routes {
    const hub_entry **entries; /* in groups */
    size_t group_count;
    group groups[];
};

static bool is_mapped(const hub_entry *entry)
{
    return !hub_str_eq(entry->exposed, entry->item->name);
}

static hub_err compile(group *of, size_t count)
{
    size_t exposed = 0;
    hub_str *texts = calloc(count + 1, sizeof *texts);
    if (texts == NULL) {
        return HUB_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        texts[i] = of->entries[i]->item->name;
        exposed += !is_mapped(of->entries[i]);
    }
    hub_err err = hub_uri_templates_create(texts, count, &of->own);
    of->exposed = of->own;
    if (err == HUB_OK && exposed < count) {
        of->exposed = NULL;
        err = hub_uri_templates_create(texts, exposed, &of->exposed);
    }
    free(texts);
    return err;
}

static size_t add_entries(const hub_shown_part *part, bool mapped, const hub_entry **out)
{
    size_t count = 0;
    for (size_t i = 0; i < part->section->count; i++) {
        const hub_entry *entry = &part->section->entries[i];
        if (hub_mask_has(part->bits, i) && is_mapped(entry) == mapped) {
            out[count++] = entry;
        }
    }
    return count;
}

static hub_err make_groups(hub_template_routes *routes, const hub_shown *shown)
{
    hub_err err = HUB_OK;
    const hub_entry **entries = routes->entries;
    for (size_t i = 0; err == HUB_OK && i < shown->part_count; i++) {
        const hub_shown_part *part = shown->parts[i];
        if (part->section == NULL || part->count == 0) {
            continue;
        }
        group *next = &routes->groups[routes->group_count++];
        *next = (group){.entries = entries, .owner = part->section->owner, .part = i};
        entries += add_entries(part, false, entries);
        entries += add_entries(part, true, entries);
        err = compile(next, (size_t)(entries - next->entries));
    }
    return err;
}

static hub_err create(const hub_shown *shown, hub_template_routes **ret_routes)
{
    hub_template_routes *routes =
        calloc(1, sizeof *routes + shown->part_count * sizeof routes->groups[0]);
    if (routes == NULL) {
        return HUB_ENOMEM;
    }
    routes->entries = calloc(shown->count + 1, sizeof *routes->entries);
    hub_err err = routes->entries != NULL ? make_groups(routes, shown) : HUB_ENOMEM;
    if (err != HUB_OK) {
        hub_template_routes_destroy(routes);
        return err;
    }
    *ret_routes = routes;
    return HUB_OK;
}

void hub_template_routes_destroy(hub_template_routes *routes)
{
    if (routes == NULL) {
        return;
    }
    for (size_t i = 0; i < routes->group_count; i++) {
        group *of = &routes->groups[i];
        if (of->exposed != of->own) {
            hub_uri_templates_destroy(of->exposed);
        }
        hub_uri_templates_destroy(of->own);
    }
    free(routes->entries);
    free(routes);
}

static void tell_cut(group *of)
{
    const hub_entry *first = of->entries[0];
    hub_str toolset = first->canonical; /* with a colon and the name behind it */
    toolset.len -= first->item->name.len + 1;
    if (!of->is_told) {
        of->is_told = true;
        hub_log(HUB_LOG_WARNING, "resource.templates_too_costly", HUB_F_STR("toolset", toolset),
                HUB_F_TEXT("reason", "its resource templates take too many steps to match: a URI "
                                     "that would take more belongs to none of them"));
    }
}

/* The groups that may have the URI are asked, in one of the two ways. */
typedef struct search {
    const hub_uri *uri;
    const void *owner;
    hub_template_is_before *is_before;
    const void *ctx;
    const group *best; /* NULL: none has it */
    hub_uri_match match;
    size_t steps;
} search;

static void ask_group(search *in, group *of, bool is_lax)
{
    hub_uri_match match =
        hub_uri_templates_find(in->owner != NULL ? of->own : of->exposed, in->uri, is_lax);
    in->steps += match.steps;
    if (match.is_cut) {
        tell_cut(of);
    }
    if (!match.is_found || (in->best != NULL && match.literals < in->match.literals)) {
        return;
    }
    if (in->best == NULL || match.literals > in->match.literals ||
        in->is_before(in->ctx, of->part, in->best->part)) {
        in->best = of;
        in->match = match;
    }
}

hub_err hub_template_routes_find(hub_shown *templates, const void *owner, hub_str uri,
                                 hub_template_is_before *is_before, const void *ctx, size_t *steps,
                                 const hub_entry **ret_entry)
{
    hub_uri prepared;
    *ret_entry = NULL;
    if (templates->count == 0 || !hub_uri_init(&prepared, uri)) {
        return HUB_OK;
    }
    if (templates->routes == NULL) {
        hub_err err = create(templates, &templates->routes);
        if (err != HUB_OK) {
            return err;
        }
    }
    hub_template_routes *routes = templates->routes;
    search in = {.uri = &prepared, .owner = owner, .is_before = is_before, .ctx = ctx};
    for (int is_lax = 0; is_lax <= 1 && in.best == NULL; is_lax++) {
        for (size_t i = 0; i < routes->group_count; i++) {
            if (owner == NULL || routes->groups[i].owner == owner) {
                ask_group(&in, &routes->groups[i], is_lax != 0);
            }
        }
    }
    *ret_entry = in.best != NULL ? in.best->entries[in.match.place] : NULL;
    if (steps != NULL) {
        *steps += in.steps;
    }
    return HUB_OK;
}
