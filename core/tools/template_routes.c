/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/template_routes.h"

#include "base/log.h"
#include "tools/uri_template.h"

#include <stdlib.h>

/* The templates of one toolset. */
typedef struct group {
    const hub_view_entry *const *entries; /* as they are in the sets, the best claim first */
    const void *owner;
    hub_uri_templates *own;     /* all of them, by the URIs that the toolset has */
    hub_uri_templates *exposed; /* without those that go by another URI (route.h); may be `own` */
    bool is_told;               /* that they cost too much */
} group;

struct hub_template_routes {
    const hub_view_entry **entries; /* by claim; those that go by another URI last in each group */
    size_t group_count;
    group groups[];
};

static bool is_mapped(const hub_view_entry *entry)
{
    return !hub_str_eq(entry->exposed, entry->item->name);
}

static int by_group(const void *a, const void *b)
{
    const hub_view_entry *left = *(const hub_view_entry *const *)a;
    const hub_view_entry *right = *(const hub_view_entry *const *)b;
    bool is_same = left->native == right->native && left->order == right->order;
    if (is_same && is_mapped(left) != is_mapped(right)) {
        return is_mapped(left) ? 1 : -1;
    }
    return hub_view_by_claim(left, right);
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

/* The entries are sorted: those of one owner stand together. */
static hub_err make_groups(hub_template_routes *routes, size_t count)
{
    hub_err err = HUB_OK;
    for (size_t from = 0, to; err == HUB_OK && from < count; from = to) {
        group *next = &routes->groups[routes->group_count++];
        *next = (group){.entries = routes->entries + from, .owner = routes->entries[from]->owner};
        for (to = from + 1; to < count && routes->entries[to]->owner == next->owner;) {
            to++;
        }
        err = compile(next, to - from);
    }
    return err;
}

static size_t count_owners(const hub_template_routes *routes, size_t count)
{
    size_t owners = 0;
    for (size_t i = 0; i < count; i++) {
        owners += i == 0 || routes->entries[i]->owner != routes->entries[i - 1]->owner;
    }
    return owners;
}

static hub_err create(const hub_view *view, hub_template_routes **ret_routes)
{
    hub_template_routes *routes = calloc(1, sizeof *routes);
    hub_template_routes *grown = NULL;
    hub_err err = HUB_ENOMEM;
    if (routes == NULL || (routes->entries = calloc(view->count + 1, sizeof(void *))) == NULL) {
        goto out;
    }
    for (size_t i = 0; i < view->count; i++) {
        routes->entries[i] = &view->entries[i];
    }
    qsort(routes->entries, view->count, sizeof *routes->entries, by_group);
    size_t owners = count_owners(routes, view->count);
    grown = realloc(routes, sizeof *routes + owners * sizeof routes->groups[0]);
    if (grown == NULL) {
        goto out;
    }
    routes = grown;
    err = make_groups(routes, view->count);
out:
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
    const hub_view_entry *first = of->entries[0];
    hub_str toolset = first->canonical; /* with a colon and the name behind it */
    toolset.len -= first->item->name.len + 1;
    if (!of->is_told) {
        of->is_told = true;
        hub_log(HUB_LOG_WARNING, "resource.templates_too_costly", HUB_F_STR("toolset", toolset),
                HUB_F_TEXT("reason", "its resource templates take too many steps to match: a URI "
                                     "that would take more belongs to none of them"));
    }
}

hub_err hub_template_routes_find(hub_view *templates, const void *owner, hub_str uri, size_t *steps,
                                 const hub_view_entry **ret_entry)
{
    hub_uri prepared;
    *ret_entry = NULL;
    if (templates->count == 0 || !hub_uri_init(&prepared, uri)) {
        return HUB_OK;
    }
    hub_template_routes *routes = templates->routes;
    hub_err err = routes == NULL ? create(templates, &routes) : HUB_OK;
    if (err != HUB_OK) {
        return err;
    }
    templates->routes = routes;
    size_t most = 0;
    for (int is_lax = 0; is_lax <= 1 && *ret_entry == NULL; is_lax++) {
        for (size_t i = 0; i < routes->group_count; i++) {
            group *of = &routes->groups[i];
            if (owner != NULL && of->owner != owner) {
                continue;
            }
            hub_uri_match match = hub_uri_templates_find(owner != NULL ? of->own : of->exposed,
                                                         &prepared, is_lax != 0);
            if (match.is_cut) {
                tell_cut(of);
            }
            if (match.is_found && (*ret_entry == NULL || match.literals > most)) {
                *ret_entry = of->entries[match.place];
                most = match.literals;
            }
            if (steps != NULL) {
                *steps += match.steps;
            }
        }
    }
    return HUB_OK;
}
