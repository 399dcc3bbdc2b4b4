/* SPDX-License-Identifier: Apache-2.0 */
#include "config/lock_change.h"

#include "hub/kernel/toolset.h"
#include "tools/pin.h"
#include "tools/section.h"
#include "wire/json.h"

/* ---- what there is --------------------------------------------------------------------------- */

static bool keep(hub_arena *arena, hub_str text, hub_str *ret_copy)
{
    *ret_copy = (hub_str){.ptr = hub_arena_strdup(arena, text), .len = text.len};
    return ret_copy->ptr != NULL;
}

/* False: out of memory. */
static bool add_item(hub_arena *arena, const hub_item *item, hub_buf *scratch,
                     hub_lock_entry *entry)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    return hub_pin_digest(item->original, scratch, hex) == HUB_OK &&
           keep(arena, item->name, &entry->name) && keep(arena, hub_str_of(hex), &entry->digest) &&
           keep(arena, hub_buf_str(scratch), &entry->definition);
}

static bool gather_list(hub_arena *arena, const hub_catalog *list, hub_lock_list *ret_list)
{
    hub_buf scratch;
    hub_buf_init(&scratch, SIZE_MAX / 4);
    size_t count = list != NULL ? list->count : 0;
    ret_list->items = hub_arena_array(arena, count, sizeof *ret_list->items);
    bool is_kept = ret_list->items != NULL;
    for (size_t i = 0; is_kept && i < count; i++) {
        is_kept = add_item(arena, &list->items[i], &scratch, &ret_list->items[i]);
    }
    hub_buf_fini(&scratch);
    ret_list->count = is_kept ? count : 0;
    (void)hub_lock_sort(ret_list); /* a catalog has each name once */
    return is_kept;
}

static bool gather_instructions(hub_arena *arena, const char *text, hub_lock_entry *entry)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_buf json;
    if (text == NULL) {
        return true;
    }
    hub_buf_init(&json, SIZE_MAX / 4);
    hub_json_add_string(&json, hub_str_of(text));
    hub_pin_digest_text(hub_str_of(text), hex);
    bool is_kept = hub_buf_ok(&json) && keep(arena, hub_str_of(hex), &entry->digest) &&
                   keep(arena, hub_buf_str(&json), &entry->definition);
    hub_buf_fini(&json);
    return is_kept;
}

hub_err hub_lock_gather(const hub_toolset *toolset, hub_arena *arena, hub_lock_toolset *ret_now)
{
    const char *origin = hub_toolset_settings_of(toolset)->origin;
    hub_lock_toolset *into = ret_now;
    *into = (hub_lock_toolset){.key = HUB_STR_EMPTY};
    bool is_kept =
        keep(arena, hub_str_of(hub_toolset_key(toolset)), &into->key) &&
        keep(arena, hub_str_of(origin != NULL ? origin : ""), &into->origin) &&
        gather_instructions(arena, hub_toolset_about(toolset)->instructions, &into->instructions) &&
        gather_list(arena, hub_toolset_list(toolset, HUB_KIND_TOOL), &into->tools) &&
        gather_list(arena, hub_toolset_list(toolset, HUB_KIND_PROMPT), &into->prompts);
    return is_kept ? HUB_OK : HUB_ENOMEM;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_same(const hub_lock_entry *a, const hub_lock_entry *b)
{
    return hub_str_eq(a->digest, b->digest);
}

static void compare_lists(hub_str key, const char *what, const hub_lock_list *old,
                          const hub_lock_list *now, hub_lock_on_change *on_change, void *ctx)
{
    size_t i = 0;
    size_t k = 0;
    while (i < old->count || k < now->count) {
        int order = i == old->count   ? 1
                    : k == now->count ? -1
                                      : hub_str_cmp(old->items[i].name, now->items[k].name);
        const hub_lock_entry *left = order <= 0 ? &old->items[i++] : NULL;
        const hub_lock_entry *right = order >= 0 ? &now->items[k++] : NULL;
        if (left == NULL || right == NULL || !is_same(left, right)) {
            on_change(ctx, key, what, left, right);
        }
    }
}

static const hub_lock_entry *said(const hub_lock_entry *entry)
{
    return entry->digest.len > 0 ? entry : NULL;
}

void hub_lock_compare(const hub_lock_toolset *old, const hub_lock_toolset *now,
                      hub_lock_on_change *on_change, void *ctx)
{
    static const hub_lock_toolset NONE = {.key = {.ptr = NULL}};
    hub_str key = old != NULL ? old->key : now->key;
    old = old != NULL ? old : &NONE;
    now = now != NULL ? now : &NONE;
    if (!hub_str_eq(old->origin, now->origin)) {
        const hub_lock_entry before = {.definition = old->origin};
        const hub_lock_entry after = {.definition = now->origin};
        on_change(ctx, key, "origin", old->origin.len > 0 ? &before : NULL,
                  now->origin.len > 0 ? &after : NULL);
    }
    if (!is_same(&old->instructions, &now->instructions)) {
        on_change(ctx, key, "instructions", said(&old->instructions), said(&now->instructions));
    }
    compare_lists(key, "tool", &old->tools, &now->tools, on_change, ctx);
    compare_lists(key, "prompt", &old->prompts, &now->prompts, on_change, ctx);
}

/* ---- approving ------------------------------------------------------------------------------- */

/* The toolset of the lock that is made; nothing of the old one is changed. */
typedef struct approval {
    const hub_lock_scope *of;
    hub_lock_on_change *on_change;
    void *ctx;
    size_t count;
    hub_lock_toolset *toolset;
    hub_arena *arena;
    bool is_short_of_memory;
} approval;

bool hub_lock_scope_has(const hub_lock_scope *of, const char *what, const hub_lock_entry *old,
                        const hub_lock_entry *now)
{
    const hub_lock_entry *either = now != NULL ? now : old;
    bool is_item = strcmp(what, "tool") == 0 || strcmp(what, "prompt") == 0;
    if (of->spares_origin && strcmp(what, "origin") == 0) {
        return false;
    }
    if (of->tool.len > 0 && !(is_item && hub_str_eq(either->name, of->tool))) {
        return false;
    }
    return of->digest.len == 0 || hub_str_eq(of->digest, now != NULL ? now->digest : HUB_STR_EMPTY);
}

/* A list with another entry of that name, or without (`now` is NULL). */
static bool replace_entry(approval *to, hub_lock_list *list, hub_str name,
                          const hub_lock_entry *now)
{
    hub_lock_list made = {.items = hub_arena_array(to->arena, list->count + 1, sizeof *made.items)};
    if (made.items == NULL) {
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (!hub_str_eq(list->items[i].name, name)) {
            made.items[made.count++] = list->items[i];
        }
    }
    if (now != NULL) {
        made.items[made.count++] = *now;
    }
    (void)hub_lock_sort(&made); /* each is there once */
    *list = made;
    return true;
}

static void take(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                 const hub_lock_entry *now)
{
    approval *to = ctx;
    const hub_lock_entry none = {.name = HUB_STR_EMPTY};
    if (!hub_lock_scope_has(to->of, what, old, now)) {
        return;
    }
    to->count++;
    if (strcmp(what, "origin") == 0) {
        to->toolset->origin = now != NULL ? now->definition : HUB_STR_EMPTY;
    } else if (strcmp(what, "instructions") == 0) {
        to->toolset->instructions = now != NULL ? *now : none;
    } else if (!replace_entry(
                   to, strcmp(what, "tool") == 0 ? &to->toolset->tools : &to->toolset->prompts,
                   now != NULL ? now->name : old->name, now)) {
        to->is_short_of_memory = true;
    }
    to->on_change(to->ctx, toolset, what, old, now);
}

hub_err hub_lock_approve(const hub_lock *old, const hub_lock *now, const hub_lock_scope *of,
                         hub_arena *arena, hub_lock_on_change *on_change, void *ctx,
                         hub_lock *ret_lock)
{
    approval to = {.of = of, .on_change = on_change, .ctx = ctx, .arena = arena};
    hub_lock made = {.toolsets =
                         hub_arena_array(arena, old->count + now->count, sizeof *made.toolsets)};
    size_t i = 0;
    size_t k = 0;
    while (made.toolsets != NULL && (i < old->count || k < now->count)) {
        int order = i == old->count   ? 1
                    : k == now->count ? -1
                                      : hub_str_cmp(old->toolsets[i].key, now->toolsets[k].key);
        const hub_lock_toolset *before = order <= 0 ? &old->toolsets[i++] : NULL;
        const hub_lock_toolset *after = order >= 0 ? &now->toolsets[k++] : NULL;
        to.toolset = &made.toolsets[made.count];
        *to.toolset = before != NULL ? *before : (hub_lock_toolset){.key = after->key};
        size_t count = to.count;
        if (after != NULL) {
            hub_lock_compare(before, after, take, &to);
        }
        made.count += before != NULL || to.count > count;
    }
    *ret_lock = made;
    return made.toolsets != NULL && !to.is_short_of_memory ? HUB_OK : HUB_ENOMEM;
}
