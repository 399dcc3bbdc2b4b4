/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/base.h"

#include "tools/base_internal.h"
#include "tools/exposure_internal.h"
#include "tools/shown_kept.h"

#include <stdlib.h>

/* ---- slots ----------------------------------------------------------------------------------- */

/* As canonical ids compare: the key with ':' behind it. */
static int compare_keys(hub_str a, hub_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;
    if (order != 0 || a.len == b.len) {
        return order;
    }
    return a.len < b.len ? (':' < b.ptr[len] ? -1 : 1) : (a.ptr[len] < ':' ? -1 : 1);
}

static int by_key(const void *a, const void *b)
{
    const base_slot *left = a;
    const base_slot *right = b;
    return compare_keys(left->source.toolset, right->source.toolset);
}

uint32_t base_find_slot(const hub_base *base, hub_str toolset)
{
    size_t low = 0;
    size_t high = base->slot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys(base->slots[middle].source.toolset, toolset);
        if (order == 0) {
            return (uint32_t)middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)base->slot_count;
}

hub_section_plan base_plan(const hub_base *base, uint32_t slot, hub_kind kind)
{
    const hub_source *source = &base->slots[slot].source;
    return (hub_section_plan){.rule = base->rule,
                              .kind = kind,
                              .toolset = source->toolset,
                              .owner = source->owner,
                              .bare = source->bare};
}

static int by_text(const void *a, const void *b)
{
    const char *const *left = a;
    const char *const *right = b;
    return hub_str_cmp(hub_str_of(*left), hub_str_of(*right));
}

/* The keys as names begin with them. */
static hub_err make_prefixes(hub_base *base)
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    for (size_t i = 0; i < base->slot_count; i++) {
        hub_naming_add_key(base->rule.naming, base->slots[i].source.toolset, &text);
        hub_buf_add_char(&text, '\0');
    }
    base->prefix_bytes = text.ptr;
    base->prefixes = calloc(base->slot_count + 1, sizeof(char *));
    if (!hub_buf_ok(&text) || base->prefixes == NULL) {
        return HUB_ENOMEM;
    }
    char *at = text.ptr;
    for (size_t i = 0; i < base->slot_count; i++) {
        base->prefixes[i] = at;
        at += strlen(at) + 1;
    }
    if (base->slot_count > 0) {
        qsort(base->prefixes, base->slot_count, sizeof(char *), by_text);
    }
    return HUB_OK;
}

static hub_err make_slots(hub_base *base, const hub_source *toolsets, size_t count,
                          hub_error *reterr)
{
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += toolsets[i].toolset.len;
    }
    base->slots = calloc(count + 1, sizeof *base->slots);
    base->key_bytes = malloc(bytes);
    if (base->slots == NULL || base->key_bytes == NULL) {
        return HUB_ENOMEM;
    }
    char *key = base->key_bytes;
    for (size_t i = 0; i < count; i++) {
        hub_source *source = &base->slots[i].source;
        *source = toolsets[i]; /* its lists for the moment, too */
        memcpy(key, source->toolset.ptr, source->toolset.len);
        source->toolset.ptr = key;
        key += source->toolset.len;
    }
    base->slot_count = count;
    if (count > 0) {
        qsort(base->slots, count, sizeof *base->slots, by_key);
    }
    for (size_t i = 1; i < count; i++) {
        if (by_key(&base->slots[i - 1], &base->slots[i]) == 0) {
            return hub_fail(reterr, HUB_EEXIST, "two toolsets are called \"" HUB_STR_FMT "\"",
                            HUB_STR_ARG(base->slots[i].source.toolset));
        }
    }
    return make_prefixes(base);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool is_same_list(const hub_catalog *a, const hub_catalog *b)
{
    return a == b || hub_catalog_is(a, (hub_str){.ptr = b->bytes, .len = b->len}, &b->rules);
}

/* The section that the toolset has in the base before, if its list is still the same. */
static hub_section *find_previous(const hub_base *previous, const hub_source *source, hub_kind kind)
{
    uint32_t slot = previous != NULL ? base_find_slot(previous, source->toolset) : 0;
    if (previous == NULL || slot == previous->slot_count) {
        return NULL;
    }
    hub_section *section = previous->slots[slot].lists[kind].section;
    bool serves = section != NULL && is_same_list(section->catalog, source->lists[kind]);
    return serves ? section : NULL;
}

static hub_err fill_kind(hub_base *base, hub_kind kind, const hub_base *previous)
{
    base_change change;
    hub_err err = base_change_begin(&change, base, kind);
    for (uint32_t i = 0; err == HUB_OK && i < base->slot_count; i++) {
        const hub_source *source = &base->slots[i].source;
        if (source->lists[kind] != NULL) {
            hub_section *section = find_previous(previous, source, kind);
            err = base_change_set(
                &change, i, section != NULL ? section->catalog : source->lists[kind], section);
        }
    }
    if (err == HUB_OK) {
        err = base_change_make(&change);
    }
    (err == HUB_OK ? base_change_commit : base_change_undo)(&change);
    return err;
}

/* Before one of its exposures is changed, too: all of them, or none. */
static hub_err update(hub_base *base, uint32_t slot, hub_kind kind, hub_catalog *list)
{
    base_change change;
    hub_err err = base_change_begin(&change, base, kind);
    if (err == HUB_OK) {
        err = base_change_set(&change, slot, list, NULL);
    }
    if (err == HUB_OK) {
        err = base_change_make(&change);
    }
    hub_exposure *last = NULL; /* that has been prepared */
    for (hub_exposure *at = base->exposures; err == HUB_OK && at != NULL; at = at->next) {
        err = exposure_is_concerned(at, &change) ? exposure_prepare(at, &at->active, &change)
                                                 : HUB_OK;
        last = at;
    }
    if (err != HUB_OK) {
        for (hub_exposure *at = base->exposures; last != NULL && at != last->next; at = at->next) {
            exposure_abandon(at);
        }
        base_change_undo(&change);
        return err;
    }
    for (hub_exposure *at = base->exposures; at != NULL; at = at->next) {
        exposure_forget_masks(at, &change);
    }
    base_change_commit(&change);
    base->changes++;
    for (hub_exposure *at = base->exposures; at != NULL; at = at->next) {
        exposure_commit(at);
    }
    return HUB_OK;
}

hub_err hub_base_update(hub_base *base, hub_str toolset, hub_kind kind, hub_catalog *list,
                        hub_error *reterr)
{
    uint32_t slot = base_find_slot(base, toolset);
    if (slot == base->slot_count) {
        return hub_fail(reterr, HUB_ENOTFOUND, "there is no toolset \"" HUB_STR_FMT "\"",
                        HUB_STR_ARG(toolset));
    }
    const hub_section *section = base->slots[slot].lists[kind].section;
    bool is_same =
        list == NULL ? section == NULL : section != NULL && is_same_list(section->catalog, list);
    hub_err err = is_same ? HUB_OK : update(base, slot, kind, list);
    return err == HUB_OK ? HUB_OK : hub_fail(reterr, err, "%s", hub_err_text(err));
}

/* ---- life ------------------------------------------------------------------------------------ */

bool hub_base_has(const hub_base *base, hub_str toolset)
{
    return base_find_slot(base, toolset) < base->slot_count;
}

size_t hub_base_count(const hub_base *base)
{
    return base->slot_count;
}

const hub_source *hub_base_source_at(const hub_base *base, size_t at)
{
    return &base->slots[at].source;
}

hub_section *hub_base_section_at(const hub_base *base, size_t at, hub_kind kind)
{
    return base->slots[at].lists[kind].section;
}

const hub_entry *hub_base_find(const hub_base *base, hub_kind kind, hub_str exposed)
{
    const base_name *name = base_find_name(base, kind, exposed);
    const base_claim *holder = name != NULL ? name->holder : NULL;
    const hub_section *section =
        holder != NULL ? base->slots[holder->slot].lists[kind].section : NULL;
    return section != NULL ? &section->entries[holder->entry] : NULL;
}

bool hub_base_has_rule(const hub_base *base, const hub_naming_rule *rule)
{
    return base->rule.naming == rule->naming && base->rule.max_name_bytes == rule->max_name_bytes;
}

/* Pages of its lists are kept beside those of the base that it was made out of. */
static hub_err share_pages(hub_base *base, const hub_base *previous)
{
    base->pages = previous != NULL ? hub_kept_pages_ref(previous->pages) : hub_kept_pages_create();
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        base->shown[kind].kept = base->pages;
    }
    return base->pages != NULL ? HUB_OK : HUB_ENOMEM;
}

hub_err hub_base_create(const hub_naming_rule *rule, const hub_source *toolsets, size_t count,
                        const hub_base *previous, hub_base **ret_base, hub_error *reterr)
{
    hub_base *base = calloc(1, sizeof *base);
    if (base == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    base->refs = 1;
    base->rule = *rule;
    previous = previous != NULL && hub_base_has_rule(previous, rule) ? previous : NULL;
    hub_err err = make_slots(base, toolsets, count, reterr);
    if (err == HUB_OK && previous != NULL) {
        err = base_copy_names(base, previous) ? HUB_OK : HUB_ENOMEM;
    }
    if (err == HUB_OK) {
        err = share_pages(base, previous);
    }
    for (int kind = 0; err == HUB_OK && kind < HUB_KINDS; kind++) {
        err = fill_kind(base, (hub_kind)kind, previous);
    }
    for (size_t i = 0; i < base->slot_count; i++) {
        memset(base->slots[i].source.lists, 0, sizeof base->slots[i].source.lists);
    }
    if (err != HUB_OK) {
        hub_base_unref(base);
        return err == HUB_EEXIST ? err : hub_fail(reterr, err, "%s", hub_err_text(err));
    }
    *ret_base = base;
    return HUB_OK;
}

hub_base *hub_base_ref(hub_base *base)
{
    base->refs++;
    return base;
}

static void free_list(base_list *list)
{
    while (list->more != NULL) {
        base_claim *next = list->more->next_more;
        free(list->more);
        list->more = next;
    }
    free(list->claims);
    hub_section_unref(list->section);
    hub_section_list_fini(&list->sections);
}

void hub_base_unref(hub_base *base)
{
    if (base == NULL || --base->refs > 0) {
        return;
    }
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown_table_fini(&base->shown[kind]);
        while (base->names[kind] != NULL) {
            base_free_name(base, (hub_kind)kind, base->names[kind]);
        }
        for (size_t i = 0; i < base->slot_count; i++) {
            free_list(&base->slots[i].lists[kind]);
        }
    }
    hub_kept_pages_unref(base->pages);
    free(base->slots);
    free(base->key_bytes);
    free(base->prefixes);
    free(base->prefix_bytes);
    free(base);
}

/* ---- what is known of it --------------------------------------------------------------------- */

const hub_section_counts *hub_base_counts(const hub_base *base)
{
    return &base->counts;
}

size_t hub_base_name_count(const hub_base *base, hub_kind kind)
{
    return HASH_COUNT(base->names[kind]);
}

size_t hub_base_kept_bytes(const hub_base *base)
{
    return hub_kept_pages_bytes(base->pages);
}

/* Append the canonical ids of those who want a name, in their order. Returns how many they are. */
static size_t add_wanted_by(const hub_base *base, hub_kind kind, const base_name *name,
                            hub_buf *out)
{
    size_t count = 0;
    hub_str last = HUB_STR_EMPTY;
    for (;;) {
        hub_str next = HUB_STR_EMPTY;
        for (const base_claim *at = name->claims; at != NULL; at = at->next) {
            const hub_section *section = base->slots[at->slot].lists[kind].section;
            hub_str id = section->entries[at->entry].canonical;
            if (hub_str_cmp(id, last) > 0 && (next.len == 0 || hub_str_cmp(id, next) < 0)) {
                next = id;
            }
        }
        if (next.len == 0) {
            return count;
        }
        hub_buf_add(out, count++ > 0 ? HUB_STR(", ") : HUB_STR_EMPTY);
        hub_buf_add(out, next);
        last = next;
    }
}

bool hub_base_list_contested(const hub_base *base, hub_base_on_contested *on_contested, void *ctx)
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        for (const base_name *name = base->names[kind]; name != NULL; name = name->hh.next) {
            hub_buf_clear(&text);
            if (name->is_contested && add_wanted_by(base, (hub_kind)kind, name, &text) > 1 &&
                hub_buf_ok(&text)) {
                on_contested(ctx, (hub_kind)kind, (hub_str){.ptr = name->text, .len = name->len},
                             hub_buf_str(&text));
            }
        }
    }
    bool done = text.failed != HUB_ENOMEM;
    hub_buf_fini(&text);
    return done;
}
