/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/route.h"

#include "tools/template_routes.h"

#define UI_SCHEME "ui://"

static const struct {
    hub_str lead;   /* stands in front of the toolset's key, which ends at a slash */
    hub_str scheme; /* of the URIs that are written so, and taken off them; empty: any other */
} FORMS[] = {
    {{.ptr = UI_SCHEME "patchbay.", .len = sizeof UI_SCHEME "patchbay." - 1},
     {.ptr = UI_SCHEME, .len = sizeof UI_SCHEME - 1}},
    {{.ptr = "patchbay:", .len = 9}, {.ptr = "", .len = 0}},
};

enum { FORM_COUNT = sizeof FORMS / sizeof FORMS[0] };

void hub_route_add_mapped(hub_str toolset, hub_str uri, hub_buf *out)
{
    size_t form = 0;
    while (!hub_str_starts(uri, FORMS[form].scheme)) {
        form++; /* the last one takes all */
    }
    hub_buf_add(out, FORMS[form].lead);
    hub_buf_add(out, toolset);
    hub_buf_add_char(out, '/');
    hub_buf_add(out, hub_str_from(uri, FORMS[form].scheme.len));
}

/* Take a URI that has a toolset in it apart: who is meant, or NULL, and its own URI. */
static const hub_source *read_mapped(const hub_registry *registry, hub_str uri, hub_buf *own_uri)
{
    for (size_t form = 0; form < FORM_COUNT; form++) {
        if (!hub_str_starts(uri, FORMS[form].lead)) {
            continue;
        }
        hub_str rest = hub_str_from(uri, FORMS[form].lead.len);
        const char *slash = memchr(rest.ptr, '/', rest.len);
        if (slash != NULL) {
            hub_buf_add(own_uri, FORMS[form].scheme);
            hub_buf_add(own_uri, hub_str_between(slash + 1, rest.ptr + rest.len));
            return hub_registry_find(registry, hub_str_between(rest.ptr, slash));
        }
    }
    return NULL;
}

/* The template that a URI belongs to; without memory, the buffer says so. */
static const hub_view_entry *find_template(hub_view *templates, const void *owner, hub_str uri,
                                           hub_buf *own_uri)
{
    const hub_view_entry *entry = NULL;
    hub_err err = hub_template_routes_find(templates, owner, uri, NULL, &entry);
    if (err != HUB_OK) {
        own_uri->failed = err;
    }
    return entry;
}

const hub_view_entry *hub_route_resource(const hub_registry *registry, hub_str uri,
                                         hub_buf *own_uri)
{
    const hub_view *resources = hub_registry_view_of(registry, HUB_KIND_RESOURCE);
    hub_view *templates = hub_registry_view_of(registry, HUB_KIND_TEMPLATE);
    const hub_source *source = read_mapped(registry, uri, own_uri);
    const hub_view_entry *entry = NULL;
    if (source != NULL && hub_buf_ok(own_uri)) {
        hub_str own = hub_buf_str(own_uri);
        entry = hub_view_find_own(resources, source->toolset, own);
        entry = entry != NULL ? entry : find_template(templates, source->owner, own, own_uri);
    }
    if (entry == NULL && hub_buf_ok(own_uri)) {
        hub_buf_clear(own_uri);
        hub_buf_add(own_uri, uri);
        entry = hub_view_find(resources, uri);
        entry = entry != NULL ? entry : find_template(templates, NULL, uri, own_uri);
    }
    return entry;
}
