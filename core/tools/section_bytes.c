/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/section_bytes.h"

#include "wire/json.h"

#include <stdlib.h>

/* What clients call the resource that a tool names (a raw string); the empty span when that is what
 * the tool calls it, too. */
static hub_str exposed_uri(const hub_section *resources, hub_str raw)
{
    hub_buf uri;
    hub_str exposed = HUB_STR_EMPTY;
    hub_buf_init(&uri, raw.len);
    if (hub_json_decode(raw, &uri) == HUB_OK) {
        size_t at = hub_section_find_own(resources, hub_buf_str(&uri));
        if (at < resources->count && resources->forms[at] == HUB_FORM_MAPPED) {
            exposed = resources->entries[at].exposed;
        }
    }
    hub_buf_fini(&uri);
    return exposed;
}

/* A value that is not written as the toolset gave it, or whose place has to be known. */
typedef struct replacement {
    hub_str raw;  /* slice of the definition */
    hub_str text; /* a string instead; empty: it stays */
} replacement;

enum { MOST_REPLACEMENTS = 2 + HUB_ITEM_UI_URIS };

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

/* `ret_output` gets where the member is that some revisions do without. */
static void add_definition(const hub_entry *entry, const hub_section *resources, hub_buf *out,
                           hub_section_output *ret_output)
{
    const hub_item *item = entry->item;
    const char *at = item->json.ptr;
    replacement list[MOST_REPLACEMENTS];
    size_t count = 0;
    if (!hub_str_eq(entry->exposed, item->name)) {
        insert(list, &count, item->name_json, entry->exposed);
    }
    for (size_t i = 0; resources != NULL && i < HUB_ITEM_UI_URIS; i++) {
        hub_str exposed =
            item->ui_uris[i].len > 0 ? exposed_uri(resources, item->ui_uris[i]) : HUB_STR_EMPTY;
        if (exposed.len > 0) {
            insert(list, &count, item->ui_uris[i], exposed);
        }
    }
    if (item->valid != item->valid_without_output) {
        insert(list, &count, item->output_member, HUB_STR_EMPTY);
    }
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(out, hub_str_between(at, list[i].raw.ptr));
        at = list[i].raw.ptr + list[i].raw.len;
        if (list[i].text.len > 0) {
            hub_json_add_string(out, list[i].text);
        } else {
            ret_output->begin = out->len;
            hub_buf_add(out, list[i].raw);
            ret_output->end = out->len;
        }
    }
    hub_buf_add(out, hub_str_between(at, item->json.ptr + item->json.len));
}

/* About how many bytes that will be. */
static size_t guess_bytes(const hub_section *section)
{
    size_t bytes = 1;
    for (size_t i = 0; i < section->count; i++) {
        const hub_entry *entry = &section->entries[i];
        if (entry->exposed.len > 0) {
            bytes += entry->item->json.len + entry->exposed.len + 1;
        }
    }
    return bytes;
}

hub_err hub_section_serialise(hub_section *section)
{
    hub_buf bytes;
    hub_buf_init(&bytes, SIZE_MAX / 4);
    if (hub_buf_reserve(&bytes, guess_bytes(section)) == NULL) {
        return HUB_ENOMEM;
    }
    for (size_t i = 0; i < section->count; i++) {
        hub_entry *entry = &section->entries[i];
        if (entry->exposed.len == 0) {
            continue;
        }
        hub_buf_add_char(&bytes, ',');
        entry->begin = bytes.len;
        hub_section_output output = {.entry = i};
        add_definition(entry, section->resources, &bytes, &output);
        if (output.end > 0) {
            section->outputs[section->output_count++] = output;
        }
        entry->end = bytes.len;
    }
    if (!hub_buf_ok(&bytes)) {
        hub_buf_fini(&bytes);
        return HUB_ENOMEM;
    }
    char *fitted = realloc(bytes.ptr, bytes.len + 1); /* for as long as the toolset is there */
    section->bytes = fitted != NULL ? fitted : bytes.ptr;
    section->len = bytes.len;
    return fitted != NULL ? HUB_OK : HUB_ENOMEM;
}
