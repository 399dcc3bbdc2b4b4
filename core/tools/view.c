/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/view.h"

#include "base/buf.h"
#include "base/limits.h"
#include "tools/naming.h"
#include "tools/route.h"
#include "tools/template_routes.h"
#include "tools/view_serialise.h"

#include <stdlib.h>

enum { SUFFIX_ROOM_BYTES = 16 };

static const char *const NAME_WORDS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = "tool name",
    [HUB_KIND_RESOURCE] = "resource URI",
    [HUB_KIND_TEMPLATE] = "resource template",
    [HUB_KIND_PROMPT] = "prompt name",
};

typedef struct view_builder {
    hub_view *view;
    const hub_view_rules *rules;
    hub_view_on_left_out *on_left_out;
    void *ctx;
    hub_error *reterr;
    hub_buf names; /* reserved in one piece: spans into it stay valid */
} view_builder;

/* ---- collecting ------------------------------------------------------------------------------ */

static bool is_uri(hub_kind kind)
{
    return kind == HUB_KIND_RESOURCE || kind == HUB_KIND_TEMPLATE;
}

static size_t count_items(hub_kind kind, const hub_source *sources, size_t count)
{
    size_t items = 0;
    for (size_t i = 0; i < count; i++) {
        items += sources[i].lists[kind] != NULL ? sources[i].lists[kind]->count : 0;
    }
    return items;
}

/* Bytes that the canonical and exposed names of everything can take. */
static size_t names_room(hub_kind kind, const hub_source *sources, size_t count)
{
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        const hub_catalog *catalog = sources[i].lists[kind];
        for (size_t t = 0; catalog != NULL && t < catalog->count; t++) {
            bytes += 3 * (sources[i].toolset.len + catalog->items[t].name.len + SUFFIX_ROOM_BYTES);
        }
    }
    return bytes;
}

static void collect(view_builder *builder, const hub_source *source, size_t order)
{
    hub_view *view = builder->view;
    hub_catalog *catalog = source->lists[view->kind];
    view->catalogs[view->catalog_count++] = hub_catalog_ref(catalog);
    for (size_t t = 0; t < catalog->count; t++) {
        const hub_item *item = &catalog->items[t];
        if (view->kind == HUB_KIND_TOOL && !hub_view_exposes(builder->rules, source, item)) {
            continue;
        }
        size_t begin = builder->names.len;
        hub_naming_canonical(source->toolset, item->name, &builder->names);
        view->entries[view->count++] = (hub_view_entry){
            .canonical = hub_str_from(hub_buf_str(&builder->names), begin),
            .item = item,
            .owner = source->owner,
            .order = order,
            .native = source->native,
            .bare = source->bare,
            .fresh = source->fresh,
        };
    }
}

static int by_canonical(const void *a, const void *b)
{
    const hub_view_entry *left = a;
    const hub_view_entry *right = b;
    return hub_str_cmp(left->canonical, right->canonical);
}

/* Rank for naming: the hub's own tools, then native ones, then those of upstreams. */
static int rank(const hub_view_entry *entry)
{
    return entry->bare ? 0 : entry->native ? 1 : 2;
}

/* Who is named before whom, and so keeps a name that both would get: by rank, then by the order in
 * which the toolsets became active. What has happened before, and whose catalog came first, does
 * not matter. */
static int by_claim(const void *a, const void *b)
{
    const hub_view_entry *left = a;
    const hub_view_entry *right = b;
    if (rank(left) != rank(right)) {
        return rank(left) < rank(right) ? -1 : 1;
    }
    if (left->order != right->order) {
        return left->order < right->order ? -1 : 1;
    }
    return hub_str_cmp(left->canonical, right->canonical);
}

/* ---- naming ---------------------------------------------------------------------------------- */

static hub_str toolset_of(const hub_view_entry *entry)
{
    return (hub_str){.ptr = entry->canonical.ptr,
                     .len = entry->canonical.len - entry->item->name.len - 1};
}

static hub_str make_name(view_builder *builder, const hub_view_entry *entry, bool suffixed)
{
    hub_kind kind = builder->view->kind;
    if (entry->bare || (is_uri(kind) && !suffixed)) {
        return entry->item->name;
    }
    size_t begin = builder->names.len;
    if (is_uri(kind)) {
        hub_route_add_mapped(toolset_of(entry), entry->item->name, &builder->names);
        return hub_str_from(hub_buf_str(&builder->names), begin);
    }
    (suffixed ? hub_naming_expose_suffixed
              : hub_naming_expose)(builder->rules->naming, toolset_of(entry), entry->item->name,
                                   builder->rules->max_name_bytes, &builder->names);
    return hub_str_from(hub_buf_str(&builder->names), begin);
}

static hub_err add_to_index(hub_view *view, hub_view_entry *entry, hub_str exposed)
{
    entry->exposed = exposed;
    HASH_ADD_KEYPTR(hh, view->index, entry->exposed.ptr, (unsigned)entry->exposed.len, entry);
    return hub_map_has_taken(&entry->hh) ? HUB_OK : HUB_ENOMEM;
}

/* Whether an item is left out where another one has its name: an upstream's before a native one. A
 * URI leads back to its own toolset, whatever stands in front of it. */
static bool yields_to(const view_builder *builder, const hub_view_entry *entry,
                      const hub_view_entry *holder)
{
    return !is_uri(builder->view->kind) && !entry->native && (holder->bare || holder->native);
}

/* As much of a name as a report shows: a URI may be long. */
static hub_str shown(hub_str name)
{
    enum { SHOWN_BYTES = 200 };
    return (hub_str){.ptr = name.ptr, .len = name.len < SHOWN_BYTES ? name.len : SHOWN_BYTES};
}

static hub_err report_collision(view_builder *builder, const hub_view_entry *entry,
                                const hub_view_entry *holder, hub_str exposed)
{
    hub_buf text;
    hub_buf_init(&text, 1024);
    hub_buf_printf(&text,
                   "%s \"" HUB_STR_FMT "\" of \"" HUB_STR_FMT "\" is taken by \"" HUB_STR_FMT "\"",
                   NAME_WORDS[builder->view->kind], HUB_STR_ARG(shown(exposed)),
                   HUB_STR_ARG(shown(entry->canonical)), HUB_STR_ARG(shown(holder->canonical)));
    hub_err err = hub_buf_ok(&text) ? HUB_OK : text.failed;
    bool is_fatal = (entry->fresh || holder->fresh) && !is_uri(builder->view->kind) &&
                    !yields_to(builder, entry, holder);
    if (err == HUB_OK && is_fatal) {
        err =
            hub_fail(builder->reterr, HUB_ECOLLISION, HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    } else if (err == HUB_OK) {
        hub_buf_add(&text, HUB_STR("; it is left out"));
        builder->on_left_out(builder->ctx, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    return err;
}

/* Give an entry its exposed name; one that cannot have any keeps an empty name. */
static hub_err name_entry(view_builder *builder, hub_view_entry *entry)
{
    hub_str exposed = make_name(builder, entry, false);
    const hub_view_entry *holder = hub_view_find(builder->view, exposed);
    bool is_uri_kind = is_uri(builder->view->kind);
    if (holder != NULL && !yields_to(builder, entry, holder) && !entry->bare &&
        (is_uri_kind || builder->rules->naming != HUB_NAMING_NONE)) {
        hub_str other = make_name(builder, entry, true);
        if (!is_uri_kind || other.len <= HUB_LIMIT_URI_BYTES) {
            exposed = other;
            holder = hub_view_find(builder->view, exposed);
        }
    }
    if (!hub_buf_ok(&builder->names)) {
        return builder->names.failed;
    }
    if (holder != NULL) {
        return report_collision(builder, entry, holder, exposed);
    }
    return add_to_index(builder->view, entry, exposed);
}

static hub_err name_entries(view_builder *builder)
{
    hub_view *view = builder->view;
    hub_err err = HUB_OK;
    qsort(view->entries, view->count, sizeof *view->entries, by_claim);
    for (size_t i = 0; err == HUB_OK && i < view->count; i++) {
        err = name_entry(builder, &view->entries[i]);
    }
    return err;
}

/* Entries without a name are gone; the index holds pointers, so it is made anew. */
static hub_err put_in_order(hub_view *view)
{
    size_t kept = 0;
    HASH_CLEAR(hh, view->index);
    qsort(view->entries, view->count, sizeof *view->entries, by_canonical);
    for (size_t i = 0; i < view->count; i++) {
        if (view->entries[i].exposed.len > 0) {
            view->entries[kept++] = view->entries[i];
        }
    }
    view->count = kept;
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < kept; i++) {
        err = add_to_index(view, &view->entries[i], view->entries[i].exposed);
    }
    return err;
}

/* ---- building -------------------------------------------------------------------------------- */

hub_err hub_view_build(hub_kind kind, const hub_source *sources, size_t count,
                       const hub_view_rules *rules, const hub_view *resources,
                       hub_view_on_left_out *on_left_out, void *ctx, hub_view **ret_view,
                       hub_error *reterr)
{
    hub_view *view = calloc(1, sizeof *view);
    if (view == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    view->refs = 1;
    view->kind = kind;
    view_builder builder = {
        .view = view, .rules = rules, .on_left_out = on_left_out, .ctx = ctx, .reterr = reterr};
    size_t room = names_room(kind, sources, count);
    hub_buf_init(&builder.names, room);
    view->entries = calloc(count_items(kind, sources, count) + 1, sizeof *view->entries);
    view->catalogs = calloc(count + 1, sizeof(hub_catalog *));
    hub_err err = HUB_ENOMEM;
    if (view->entries != NULL && view->catalogs != NULL &&
        hub_buf_reserve(&builder.names, room) != NULL) {
        for (size_t i = 0; i < count; i++) {
            if (sources[i].lists[kind] != NULL) {
                collect(&builder, &sources[i], i);
            }
        }
        err = name_entries(&builder);
    }
    view->names = builder.names.ptr;
    if (err == HUB_OK) {
        err = put_in_order(view);
    }
    if (err == HUB_OK) {
        err = hub_view_serialise(view, resources);
    }
    if (err != HUB_OK) {
        hub_view_unref(view);
        return err == HUB_ECOLLISION ? err : hub_fail(reterr, err, "%s", hub_err_text(err));
    }
    *ret_view = view;
    return HUB_OK;
}

bool hub_view_exposes(const hub_view_rules *rules, const hub_source *source, const hub_item *tool)
{
    if (source->bare) {
        return true; /* the hub's own tools are not subject to filters */
    }
    if (source->tools_allow != NULL && source->tools_allow->set &&
        !hub_names_match(source->tools_allow, tool->name)) {
        return false;
    }
    if (source->tools_deny != NULL && hub_names_match(source->tools_deny, tool->name)) {
        return false;
    }
    hub_filter_subject subject = {
        .toolset = source->toolset, .tags = source->tags, .category = source->category};
    for (size_t i = 0; i < 2; i++) {
        if (rules->policies[i] != NULL && !hub_policy_exposes(rules->policies[i], &subject, tool)) {
            return false;
        }
    }
    return true;
}

hub_view *hub_view_ref(hub_view *view)
{
    view->refs++;
    return view;
}

void hub_view_unref(hub_view *view)
{
    if (view == NULL || --view->refs > 0) {
        return;
    }
    HASH_CLEAR(hh, view->index);
    for (size_t i = 0; i < view->catalog_count; i++) {
        hub_catalog_unref(view->catalogs[i]);
    }
    hub_template_routes_destroy(view->routes);
    free(view->catalogs);
    free(view->entries);
    free(view->names);
    free(view->bytes);
    free(view);
}

const hub_view_entry *hub_view_find(const hub_view *view, hub_str exposed)
{
    hub_view_entry *found = NULL;
    HASH_FIND(hh, view->index, exposed.ptr, (unsigned)exposed.len, found);
    return found;
}

int hub_view_by_claim(const hub_view_entry *left, const hub_view_entry *right)
{
    return by_claim(left, right);
}

size_t hub_view_after(const hub_view *view, hub_str canonical)
{
    size_t low = 0;
    size_t high = view->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hub_str_cmp(view->entries[middle].canonical, canonical) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const hub_view_entry *hub_view_find_own(const hub_view *view, hub_str toolset, hub_str name)
{
    const hub_view_entry *found = NULL;
    hub_buf canonical;
    hub_buf_init(&canonical, toolset.len + name.len + 1);
    hub_naming_canonical(toolset, name, &canonical);
    size_t after = hub_buf_ok(&canonical) ? hub_view_after(view, hub_buf_str(&canonical)) : 0;
    if (after > 0 && hub_str_eq(view->entries[after - 1].canonical, hub_buf_str(&canonical))) {
        found = &view->entries[after - 1];
    }
    hub_buf_fini(&canonical);
    return found;
}

hub_str hub_view_slice(const hub_view *view, size_t from, size_t count)
{
    if (count == 0 || from >= view->count) {
        return HUB_STR_EMPTY;
    }
    size_t last = from + count > view->count ? view->count - 1 : from + count - 1;
    return hub_str_between(view->bytes + view->entries[from].begin,
                           view->bytes + view->entries[last].end);
}

bool hub_view_equal(const hub_view *a, const hub_view *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->bytes, b->bytes, a->len) == 0);
}
