/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view_serialise.h"

#include "tools/naming.h"
#include "wire/json.h"

static hub_str toolset_of(const hub_view_entry *entry)
{
    return (hub_str){.ptr = entry->canonical.ptr,
                     .len = entry->canonical.len - entry->item->name.len - 1};
}

/* What clients call the resource that a tool names (a raw string); the empty span when that is what
 * the tool calls it, too. */
static hub_str exposed_uri(const hub_view_entry *tool, const hub_view *resources, hub_str raw)
{
    hub_buf uri;
    hub_str exposed = HUB_STR_EMPTY;
    hub_buf_init(&uri, raw.len);
    if (hub_json_decode(raw, &uri) == HUB_OK) {
        const hub_view_entry *resource =
            hub_view_find_own(resources, toolset_of(tool), hub_buf_str(&uri));
        if (resource != NULL && !hub_str_eq(resource->exposed, resource->item->name)) {
            exposed = resource->exposed;
        }
    }
    hub_buf_fini(&uri);
    return exposed;
}

/* A value that is not written as the toolset gave it. */
typedef struct replacement {
    hub_str raw;  /* slice of the definition */
    hub_str text; /* instead */
} replacement;

enum { MOST_REPLACEMENTS = 1 + HUB_ITEM_UI_URIS };

/* Put one where it belongs among those before it. */
static void insert(replacement *list, size_t *count, hub_str raw, hub_str text)
{
    size_t at = (*count)++;
    while (at > 0 && list[at - 1].raw.ptr > raw.ptr) {
        list[at] = list[at - 1];
        at--;
    }
    list[at] = (replacement){.raw = raw, .text = text};
}

static void add_definition(const hub_view_entry *entry, const hub_view *resources, hub_buf *out)
{
    const hub_item *item = entry->item;
    const char *at = item->json.ptr;
    replacement list[MOST_REPLACEMENTS];
    size_t count = 0;
    if (!hub_str_eq(entry->exposed, item->name)) {
        insert(list, &count, item->name_json, entry->exposed);
    }
    for (size_t i = 0; resources != NULL && i < HUB_ITEM_UI_URIS; i++) {
        hub_str exposed = item->ui_uris[i].len > 0 ? exposed_uri(entry, resources, item->ui_uris[i])
                                                   : HUB_STR_EMPTY;
        if (exposed.len > 0) {
            insert(list, &count, item->ui_uris[i], exposed);
        }
    }
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(out, hub_str_between(at, list[i].raw.ptr));
        hub_json_add_string(out, list[i].text);
        at = list[i].raw.ptr + list[i].raw.len;
    }
    hub_buf_add(out, hub_str_between(at, item->json.ptr + item->json.len));
}

hub_err hub_view_serialise(hub_view *view, const hub_view *resources)
{
    hub_buf bytes;
    hub_buf_init(&bytes, SIZE_MAX / 4);
    for (size_t i = 0; i < view->count; i++) {
        hub_view_entry *entry = &view->entries[i];
        if (i > 0) {
            hub_buf_add_char(&bytes, ',');
        }
        entry->begin = bytes.len;
        add_definition(entry, resources, &bytes);
        entry->end = bytes.len;
    }
    if (!hub_buf_ok(&bytes)) {
        hub_buf_fini(&bytes);
        return HUB_ENOMEM;
    }
    view->bytes = bytes.ptr;
    view->len = bytes.len;
    return HUB_OK;
}
