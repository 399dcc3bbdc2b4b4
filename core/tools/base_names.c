/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a base: names, who wants them, and which ones an item can have at all. */
#include "tools/base_internal.h"

#include <stdlib.h>

enum { NAME_ROOM_BYTES = 1024 };

/* ---- the index ------------------------------------------------------------------------------- */

base_name *base_find_name(const hub_base *base, hub_kind kind, hub_str text)
{
    base_name *found = NULL;
    HASH_FIND(hh, base->names[kind], text.ptr, (unsigned)text.len, found);
    return found;
}

static base_name *add_name(hub_base *base, hub_kind kind, hub_str text, hub_str toolset,
                           hub_str own)
{
    size_t first_len = base_is_uri(kind) ? 0 : toolset.len + 1 + own.len;
    base_name *name = calloc(1, sizeof *name + text.len + first_len);
    if (name == NULL) {
        return NULL;
    }
    name->len = text.len;
    memcpy(name->text, text.ptr, text.len);
    if (first_len > 0) {
        name->first = name->text + text.len;
        name->first_len = first_len;
        memcpy(name->first, toolset.ptr, toolset.len);
        name->first[toolset.len] = ':';
        memcpy(name->first + toolset.len + 1, own.ptr, own.len);
    }
    HASH_ADD_KEYPTR(hh, base->names[kind], name->text, (unsigned)name->len, name);
    if (!hub_map_has_taken(&name->hh)) {
        free(name);
        return NULL;
    }
    base->gone_count[kind]++; /* until somebody wants it */
    return name;
}

base_name *base_get_name(hub_base *base, hub_kind kind, hub_str text, hub_str toolset, hub_str own,
                         bool *ret_is_new)
{
    base_name *name = base_find_name(base, kind, text);
    *ret_is_new = name == NULL;
    return name != NULL ? name : add_name(base, kind, text, toolset, own);
}

void base_free_name(hub_base *base, hub_kind kind, base_name *name)
{
    HASH_DEL(base->names[kind], name);
    base->gone_count[kind]--;
    if (name->owns_first) {
        free(name->first);
    }
    free(name);
}

bool base_is_first(const base_name *name, hub_str toolset, hub_str own)
{
    return name->first_len == toolset.len + 1 + own.len &&
           memcmp(name->first, toolset.ptr, toolset.len) == 0 && name->first[toolset.len] == ':' &&
           memcmp(name->first + toolset.len + 1, own.ptr, own.len) == 0;
}

/* Of URIs: an entry has become the only one with its URI, or is it no longer. */
static void count_shared(hub_base *base, hub_kind kind, const base_claim *claim, bool is_shared)
{
    base_list *list = &base->slots[claim->slot].lists[kind];
    list->shared_count = is_shared ? list->shared_count + 1 : list->shared_count - 1;
}

void base_link(hub_base *base, hub_kind kind, base_name *name, base_claim *claim)
{
    base_claim *others = name->claims;
    claim->name = name;
    claim->prev = NULL;
    claim->next = others;
    name->claims = claim;
    if (others == NULL) {
        base->gone_count[kind]--;
        return;
    }
    others->prev = claim;
    count_shared(base, kind, claim, true);
    if (others->next == NULL) {
        count_shared(base, kind, others, true);
    }
}

void base_unlink(hub_base *base, hub_kind kind, base_claim *claim)
{
    base_name *name = claim->name;
    if (name->claims->next != NULL) {
        count_shared(base, kind, claim, false);
    }
    if (claim->prev != NULL) {
        claim->prev->next = claim->next;
    } else {
        name->claims = claim->next;
    }
    if (claim->next != NULL) {
        claim->next->prev = claim->prev;
    }
    if (name->claims == NULL) {
        base->gone_count[kind]++;
    } else if (name->claims->next == NULL) {
        count_shared(base, kind, name->claims, false);
    }
}

static bool has_all_toolsets(const hub_base *base, const hub_base *of)
{
    size_t i = 0;
    while (i < of->slot_count &&
           base_find_slot(base, of->slots[i].source.toolset) < base->slot_count) {
        i++;
    }
    return i == of->slot_count;
}

bool base_copy_names(hub_base *base, const hub_base *from)
{
    bool is_whole = has_all_toolsets(base, from);
    for (int k = 0; k < HUB_KINDS; k++) {
        hub_kind kind = (hub_kind)k;
        const base_name *old = base_is_uri(kind) ? NULL : from->names[kind];
        for (; old != NULL; old = old->hh.next) {
            hub_str first = {.ptr = old->first, .len = old->first_len};
            size_t colon = hub_str_find(first, HUB_STR(":"));
            hub_str toolset = {.ptr = first.ptr, .len = colon};
            uint32_t slot = base_find_slot(base, toolset);
            if (slot == base->slot_count) {
                continue;
            }
            base_name *name = add_name(base, kind, (hub_str){.ptr = old->text, .len = old->len},
                                       toolset, hub_str_from(first, colon + 1));
            if (name == NULL) {
                return false;
            }
            name->rank = base_rank(base, &base->slots[slot]);
            name->is_contested = is_whole && old->is_contested;
        }
    }
    return true;
}

/* ---- which names an item can have ------------------------------------------------------------ */

/* How many keys begin names with exactly that. */
static size_t count_prefix(const hub_base *base, hub_str text)
{
    size_t low = 0;
    size_t high = base->slot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hub_str_cmp(hub_str_of(base->prefixes[middle]), text) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t count = 0;
    while (low + count < base->slot_count && hub_str_is(text, base->prefixes[low + count])) {
        count++;
    }
    return count;
}

/* Whether the name begins with the key of another toolset and the separator behind it. `own` is how
 * the toolset's own key begins names. */
static bool is_of_another(const hub_base *base, hub_str name, hub_str own, hub_str separator)
{
    for (size_t at = 1; at + separator.len <= name.len; at++) {
        hub_str begin = {.ptr = name.ptr, .len = at};
        if (hub_str_starts(hub_str_from(name, at), separator) &&
            count_prefix(base, begin) > (hub_str_eq(begin, own) ? 1u : 0u)) {
            return true;
        }
    }
    return false;
}

static bool is_left_out(const base_slot *slot, const hub_item *item)
{
    const hub_source *source = &slot->source;
    return !source->bare &&
           ((source->tools_allow != NULL && source->tools_allow->set &&
             !hub_names_match(source->tools_allow, item->name)) ||
            (source->tools_deny != NULL && hub_names_match(source->tools_deny, item->name)));
}

/* With `flat` and `none`: the plain form, unless another toolset's names could be like it. */
static hub_form form_beside_others(const hub_base *base, const base_slot *slot,
                                   const hub_item *item, hub_buf *scratch)
{
    hub_naming naming = base->rule.naming;
    if (slot->source.varies && naming == HUB_NAMING_NONE) {
        return HUB_FORM_PREFIXED;
    }
    hub_buf_clear(scratch);
    hub_naming_add_key(naming, slot->source.toolset, scratch);
    size_t key_len = scratch->len;
    hub_naming_expose(naming, slot->source.toolset, item->shown, NAME_ROOM_BYTES, scratch);
    hub_str own = {.ptr = scratch->ptr, .len = key_len};
    hub_str name = hub_str_from(hub_buf_str(scratch), key_len);
    bool is_flat = naming == HUB_NAMING_FLAT;
    if (!is_of_another(base, name, own, is_flat ? HUB_STR("_") : HUB_STR("__"))) {
        return HUB_FORM_PLAIN;
    }
    return is_flat ? HUB_FORM_SUFFIXED : HUB_FORM_PREFIXED;
}

hub_form base_first_form(const hub_base *base, const base_slot *slot, hub_kind kind,
                         const hub_item *item, hub_buf *scratch)
{
    hub_naming naming = base->rule.naming;
    bool is_hidden = item->override != NULL && item->override->is_hidden;
    if (kind == HUB_KIND_TOOL && (is_hidden || is_left_out(slot, item))) {
        return HUB_FORM_ABSENT;
    }
    if (item->is_withheld && base_is_uri(kind)) {
        return HUB_FORM_ABSENT; /* of URIs, others may have it */
    }
    if (slot->source.bare || base_is_uri(kind) ||
        (naming != HUB_NAMING_FLAT && naming != HUB_NAMING_NONE)) {
        return HUB_FORM_PLAIN;
    }
    return form_beside_others(base, slot, item, scratch);
}

hub_form base_next_form(const hub_base *base, const base_slot *slot, hub_form form)
{
    if (slot->source.bare || form == HUB_FORM_SUFFIXED) {
        return HUB_FORM_NOBODY;
    }
    return base->rule.naming == HUB_NAMING_NONE && form == HUB_FORM_PLAIN ? HUB_FORM_PREFIXED
                                                                          : HUB_FORM_SUFFIXED;
}

uint8_t base_rank(const hub_base *base, const base_slot *slot)
{
    if (slot->source.bare) {
        return 0;
    }
    return slot->source.native && base->rule.naming == HUB_NAMING_NONE ? 1 : 2;
}
