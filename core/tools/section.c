/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/section.h"

#include "tools/mapped_uri.h"
#include "tools/section_bytes.h"

#include <stdlib.h>

/* The most that a name has besides the toolset's key and the item's own name. */
enum { NAME_ROOM_BYTES = 32 };

static bool is_uri(hub_kind kind)
{
    return kind == HUB_KIND_RESOURCE || kind == HUB_KIND_TEMPLATE;
}

/* ---- names ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const hub_item *const *left = a;
    const hub_item *const *right = b;
    return hub_str_cmp((*left)->name, (*right)->name);
}

const hub_item **hub_section_sort(const hub_catalog *catalog)
{
    const hub_item **order = calloc(catalog->count + 1, sizeof(const hub_item *));
    for (size_t i = 0; order != NULL && i < catalog->count; i++) {
        order[i] = &catalog->items[i];
    }
    if (order != NULL && catalog->count > 0) {
        qsort(order, catalog->count, sizeof(const hub_item *), by_name);
    }
    return order;
}

void hub_section_add_name(const hub_section_plan *plan, const hub_item *item, hub_form form,
                          hub_buf *out)
{
    hub_naming naming = plan->rule.naming;
    size_t max = plan->rule.max_name_bytes;
    if (form == HUB_FORM_MAPPED) {
        hub_mapped_uri_add(plan->toolset, item->name, out);
    } else if (plan->bare || is_uri(plan->kind)) {
        hub_buf_add(out, item->name);
    } else if (form == HUB_FORM_PLAIN) {
        hub_naming_expose(naming, plan->toolset, item->shown, max, out);
    } else {
        naming = naming == HUB_NAMING_NONE ? HUB_NAMING_PREFIX : naming;
        (form == HUB_FORM_SUFFIXED ? hub_naming_expose_suffixed : hub_naming_expose)(
            naming, plan->toolset, item->shown, max, out);
    }
}

static bool has_name(hub_form form)
{
    return form != HUB_FORM_ABSENT && form != HUB_FORM_NOBODY;
}

/* Bytes that the canonical and exposed names of everything can take. */
static size_t names_room(const hub_section_plan *plan)
{
    size_t bytes = 1;
    for (size_t i = 0; i < plan->catalog->count; i++) {
        size_t id = plan->toolset.len + plan->order[i]->name.len + plan->order[i]->shown.len;
        bool is_own = is_uri(plan->kind) && plan->forms[i] != HUB_FORM_MAPPED;
        bytes += id + 1 + (is_own ? 0 : id + NAME_ROOM_BYTES);
    }
    return bytes;
}

static hub_str added(const hub_buf *out, size_t begin)
{
    return hub_str_from(hub_buf_str(out), begin);
}

static hub_err make_entries(hub_section *section, const hub_section_plan *plan)
{
    hub_buf names; /* reserved in one piece: spans into it stay valid */
    size_t room = names_room(plan);
    hub_buf_init(&names, room);
    if (hub_buf_reserve(&names, room) == NULL) {
        return HUB_ENOMEM;
    }
    section->names = names.ptr;
    for (size_t i = 0; i < section->count; i++) {
        hub_entry *entry = &section->entries[i];
        hub_form form = (hub_form)plan->forms[i];
        size_t begin = names.len;
        entry->item = plan->order[i];
        entry->owner = plan->owner;
        hub_naming_canonical(plan->toolset, entry->item->name, &names);
        entry->canonical = added(&names, begin);
        if (!has_name(form) || entry->item->is_withheld) {
            continue; /* a name of what is withheld goes to nobody else meanwhile */
        }
        begin = names.len;
        if (is_uri(plan->kind) && form == HUB_FORM_PLAIN) {
            entry->exposed = entry->item->name;
        } else {
            hub_section_add_name(plan, entry->item, form, &names);
            entry->exposed = added(&names, begin);
        }
        hub_mask_set(section->named, i);
        section->named_count++;
        section->mapped_count += form == HUB_FORM_MAPPED;
        section->has_app_tools =
            section->has_app_tools || (entry->item->hints & HUB_TOOL_FOR_APPS) != 0;
    }
    return names.failed;
}

/* ---- revisions ------------------------------------------------------------------------------- */

static hub_err read_validity(hub_section *section)
{
    uint8_t all = HUB_REVISIONS_EVERY;
    size_t outputs = 0;
    section->valid = HUB_REVISIONS_EVERY;
    for (size_t i = 0; i < section->count; i++) {
        const hub_item *item = section->entries[i].item;
        all &= item->valid;
        outputs += item->valid != item->valid_without_output;
        section->valid &= hub_mask_has(section->named, i) ? item->valid : HUB_REVISIONS_EVERY;
    }
    if (all == HUB_REVISIONS_EVERY) {
        return HUB_OK;
    }
    section->validity = malloc(section->count * sizeof *section->validity);
    section->outputs = calloc(outputs + 1, sizeof *section->outputs);
    for (size_t i = 0; section->validity != NULL && i < section->count; i++) {
        const hub_item *item = section->entries[i].item;
        section->validity[i] = (hub_section_validity){
            .valid = item->valid, .valid_without_output = item->valid_without_output};
    }
    return section->validity != NULL && section->outputs != NULL ? HUB_OK : HUB_ENOMEM;
}

/* ---- one of several -------------------------------------------------------------------------- */

static bool is_same(const hub_section *section, const hub_section_plan *plan)
{
    return section->catalog == plan->catalog && section->owner == plan->owner &&
           section->resources == plan->resources &&
           (section->count == 0 || memcmp(section->forms, plan->forms, section->count) == 0);
}

hub_section *hub_section_find_same(const hub_section_list *list, hub_section *current,
                                   const hub_section_plan *plan)
{
    if (current != NULL && is_same(current, plan)) {
        return current;
    }
    hub_section *section = list->first;
    while (section != NULL && !is_same(section, plan)) {
        section = section->next;
    }
    return section;
}

static void join(hub_section_list *list, hub_section *section)
{
    section->at = &list->first;
    section->next = list->first;
    if (section->next != NULL) {
        section->next->at = &section->next;
    }
    list->first = section;
}

static void part(hub_section *section)
{
    if (section->at != NULL) {
        *section->at = section->next;
        if (section->next != NULL) {
            section->next->at = section->at;
        }
        section->at = NULL;
        section->next = NULL;
    }
}

void hub_section_list_fini(hub_section_list *list)
{
    while (list->first != NULL) {
        part(list->first);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static hub_err fill(hub_section *section, const hub_section_plan *plan)
{
    size_t count = plan->catalog->count;
    section->entries = calloc(count + 1, sizeof *section->entries);
    section->forms = malloc(count + 1);
    section->named = calloc(hub_mask_words(count) + 1, sizeof *section->named);
    if (section->entries == NULL || section->forms == NULL || section->named == NULL) {
        return HUB_ENOMEM;
    }
    section->count = count;
    memcpy(section->forms, plan->forms, count);
    hub_err err = make_entries(section, plan);
    err = err == HUB_OK ? read_validity(section) : err;
    return err == HUB_OK ? hub_section_serialise(section) : err;
}

hub_err hub_section_create(hub_section_list *list, const hub_section_plan *plan,
                           hub_section_counts *counts, hub_section **ret_section)
{
    hub_section *section = calloc(1, sizeof *section);
    if (section == NULL) {
        return HUB_ENOMEM;
    }
    section->refs = 1;
    section->kind = plan->kind;
    section->owner = plan->owner;
    section->catalog = hub_catalog_ref(plan->catalog);
    section->resources = plan->resources != NULL ? hub_section_ref(plan->resources) : NULL;
    hub_err err = fill(section, plan);
    if (err != HUB_OK) {
        hub_section_unref(section);
        return err;
    }
    join(list, section);
    counts->built++;
    counts->definitions += section->named_count;
    counts->bytes += section->len;
    *ret_section = section;
    return HUB_OK;
}

hub_section *hub_section_ref(hub_section *section)
{
    section->refs++;
    return section;
}

void hub_section_unref(hub_section *section)
{
    if (section == NULL || --section->refs > 0) {
        return;
    }
    part(section);
    hub_catalog_unref(section->catalog);
    hub_section_unref(section->resources);
    free(section->entries);
    free(section->forms);
    free(section->named);
    free(section->validity);
    free(section->outputs);
    free(section->bytes);
    free(section->names);
    free(section);
}

/* ---- finding --------------------------------------------------------------------------------- */

size_t hub_section_after(const hub_section *section, hub_str canonical)
{
    size_t low = 0;
    size_t high = section->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hub_str_cmp(section->entries[middle].canonical, canonical) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const hub_section_output *hub_section_output_from(const hub_section *section, size_t entry)
{
    size_t low = 0;
    size_t high = section->output_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (section->outputs[middle].entry < entry) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < section->output_count ? &section->outputs[low] : NULL;
}

size_t hub_section_find_own(const hub_section *section, hub_str name)
{
    size_t low = 0;
    size_t high = section->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = hub_str_cmp(section->entries[middle].item->name, name);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return section->count;
}
