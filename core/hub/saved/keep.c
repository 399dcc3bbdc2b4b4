/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/saved/keep.h"

#include "base/arena.h"
#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "wire/json.h"

#include <stdlib.h>

const hub_state_kind HUB_SAVED_KIND = {.name = "toolset"};

const char *hub_saved_origin_name(hub_saved_origin origin)
{
    static const char *const NAMES[] = {
        [HUB_SAVED_OWN] = "own", [HUB_SAVED_OF_ALL] = "shared", [HUB_SAVED_FIXED] = "manifest"};
    return NAMES[origin];
}

/* ---- one ------------------------------------------------------------------------------------- */

typedef struct search {
    hub_orchestrator *hub;
    hub_saved_origin origin; /* where it is looked for now */
    hub_saved_on_found *on_found;
    void *ctx;
    hub_error why; /* that the store cannot be used; code HUB_OK: it can */
    char *principal;
    char *name;
} search;

static void tell(search *wanted, const hub_saved_found *found)
{
    wanted->on_found(wanted->ctx, found);
    free(wanted->principal);
    free(wanted->name);
    free(wanted);
}

static void tell_failure(search *wanted, hub_err err, const char *why)
{
    tell(wanted, &(hub_saved_found){.err = err, .why = why});
}

static void tell_document(search *wanted, hub_str document, uint64_t version)
{
    hub_error why = {.text = ""};
    hub_saved *saved = NULL;
    hub_saved_found found = {.why = "", .origin = wanted->origin, .version = version};
    found.err = hub_saved_read(hub_str_of(wanted->name), document, &saved, &why);
    if (found.err != HUB_OK) {
        found.err = found.err == HUB_ENOMEM ? HUB_ENOMEM : HUB_EINVAL;
        hub_error_prefix(&why, "saved toolset \"%s\"", wanted->name);
        found.why = why.text;
    }
    found.saved = saved;
    tell(wanted, &found);
    hub_saved_destroy(saved);
}

static const hub_saved_settings *find_fixed(const hub_orchestrator *hub, const char *name)
{
    const hub_settings *settings = hub_settings_of(hub);
    for (size_t i = 0; i < settings->saved_count; i++) {
        if (strcmp(settings->saved[i].name, name) == 0) {
            return &settings->saved[i];
        }
    }
    return NULL;
}

static void look_in_settings(search *wanted)
{
    const hub_saved_settings *fixed = find_fixed(wanted->hub, wanted->name);
    wanted->origin = HUB_SAVED_FIXED;
    if (fixed != NULL) {
        tell_document(wanted, hub_str_of(fixed->document), 0);
    } else if (wanted->why.code != HUB_OK) {
        hub_error why = wanted->why;
        tell_failure(wanted, why.code, why.text);
    } else {
        hub_error why;
        (void)hub_fail(&why, HUB_ENOTFOUND,
                       "there is no saved toolset \"%s\": list-saved-toolsets names them all",
                       wanted->name);
        tell_failure(wanted, HUB_ENOTFOUND, why.text);
    }
}

static void look_in_store(search *wanted);

static void on_got(void *ctx, const hub_state_result *result)
{
    search *wanted = ctx;
    if (result->err == HUB_OK) {
        tell_document(wanted, result->records[0].document, result->records[0].version);
    } else if (result->err == HUB_ENOTFOUND && wanted->origin == HUB_SAVED_OWN) {
        wanted->origin = HUB_SAVED_OF_ALL;
        look_in_store(wanted);
    } else {
        if (result->err != HUB_ENOTFOUND) {
            (void)hub_fail(&wanted->why, result->err, "%s", result->why);
        }
        look_in_settings(wanted);
    }
}

static void look_in_store(search *wanted)
{
    hub_state_id id = {.kind = &HUB_SAVED_KIND,
                       .owner = wanted->origin == HUB_SAVED_OWN ? hub_str_of(wanted->principal)
                                                                : HUB_SAVED_SHARED,
                       .key = hub_str_of(wanted->name)};
    hub_err err = hub_state_get(hub_store_of(wanted->hub), &id, on_got, wanted, NULL, &wanted->why);
    if (err != HUB_OK) {
        look_in_settings(wanted);
    }
}

static void find(hub_orchestrator *hub, hub_str principal, hub_str name, bool is_fixed,
                 hub_saved_on_found *on_found, void *ctx)
{
    hub_error why = {.text = "out of memory"};
    hub_err err = hub_saved_check_name(name, &why);
    search *wanted = err == HUB_OK ? calloc(1, sizeof *wanted) : NULL;
    if (wanted != NULL) {
        wanted->hub = hub;
        wanted->origin = principal.len > 0 ? HUB_SAVED_OWN : HUB_SAVED_OF_ALL;
        wanted->on_found = on_found;
        wanted->ctx = ctx;
        wanted->principal = hub_str_dup(principal);
        wanted->name = hub_str_dup(name);
    }
    if (wanted == NULL) {
        on_found(ctx, &(hub_saved_found){.err = err != HUB_OK ? err : HUB_ENOMEM, .why = why.text});
    } else if (wanted->principal == NULL || wanted->name == NULL) {
        tell_failure(wanted, HUB_ENOMEM, "out of memory");
    } else if (is_fixed) {
        look_in_settings(wanted);
    } else {
        look_in_store(wanted);
    }
}

void hub_saved_find(hub_orchestrator *hub, hub_str principal, hub_str name,
                    hub_saved_on_found *on_found, void *ctx)
{
    find(hub, principal, name, false, on_found, ctx);
}

void hub_saved_find_fixed(hub_orchestrator *hub, hub_str principal, hub_str name,
                          hub_saved_on_found *on_found, void *ctx)
{
    find(hub, principal, name, true, on_found, ctx);
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef struct gathering {
    hub_orchestrator *hub;
    hub_arena *arena;
    hub_saved_line *lines;
    size_t count;
    size_t room;
    hub_saved_origin origin; /* what is being listed */
    char *principal;
    hub_saved_on_list *on_list;
    void *ctx;
    hub_error why; /* code HUB_OK: the store was read */
} gathering;

enum { LINES_BYTES = 4 * 1024 * 1024 }; /* of names and descriptions */

/* By name; of one name, in the order in which they are looked for. */
static int compare(const void *a, const void *b)
{
    const hub_saved_line *left = a;
    const hub_saved_line *right = b;
    int order = hub_str_cmp(left->name, right->name);
    return order != 0 ? order : (int)left->origin - (int)right->origin;
}

static void finish(gathering *all)
{
    size_t kept = 0;
    if (all->count > 0) {
        qsort(all->lines, all->count, sizeof *all->lines, compare);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (kept == 0 || !hub_str_eq(all->lines[kept - 1].name, all->lines[i].name)) {
            all->lines[kept++] = all->lines[i];
        }
    }
    all->on_list(all->ctx, all->why.code, all->why.code != HUB_OK ? all->why.text : "", all->lines,
                 kept);
    hub_arena_destroy(all->arena);
    free(all->lines);
    free(all->principal);
    free(all);
}

static hub_str keep_text(gathering *all, hub_str text)
{
    char *copy = hub_arena_strdup(all->arena, text);
    return (hub_str){.ptr = copy, .len = copy != NULL ? text.len : 0};
}

/* `document` is JSON that was checked. */
static bool add_line(gathering *all, hub_str name, hub_str document, uint64_t record)
{
    if (all->count == all->room) {
        size_t room = 2 * all->room + 16;
        hub_saved_line *grown = realloc(all->lines, room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        all->lines = grown;
        all->room = room;
    }
    hub_buf text;
    hub_buf_init(&text, 8 * HUB_LIMIT_SAVED_DESCRIPTION_CHARS);
    hub_saved_line *line = &all->lines[all->count];
    *line = (hub_saved_line){.name = keep_text(all, name),
                             .tool_count = hub_json_count(hub_json_get(document, HUB_STR("tools"))),
                             .version = 1,
                             .record = record,
                             .origin = all->origin};
    (void)hub_json_to_u64(hub_json_get(document, HUB_STR("version")), &line->version);
    if (hub_json_decode(hub_json_get(document, HUB_STR("description")), &text) == HUB_OK) {
        line->description = keep_text(all, hub_buf_str(&text));
    }
    hub_buf_clear(&text);
    if (hub_json_decode(hub_json_get(document, HUB_STR("createdAt")), &text) == HUB_OK) {
        line->created_at = keep_text(all, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    all->count++;
    return line->name.ptr != NULL;
}

static bool add_fixed(gathering *all)
{
    const hub_settings *settings = hub_settings_of(all->hub);
    bool good = true;
    all->origin = HUB_SAVED_FIXED;
    for (size_t i = 0; good && i < settings->saved_count; i++) {
        good = add_line(all, hub_str_of(settings->saved[i].name),
                        hub_str_of(settings->saved[i].document), 0);
    }
    return good;
}

/* The last; with a failure, of the store or of memory. */
static void end_list(gathering *all)
{
    if (!add_fixed(all)) {
        (void)hub_fail(&all->why, HUB_ENOMEM, "out of memory");
    }
    finish(all);
}

static void list_page(gathering *all, hub_str after);

static void on_page(void *ctx, const hub_state_result *result)
{
    gathering *all = ctx;
    bool good = result->err == HUB_OK;
    if (!good) {
        (void)hub_fail(&all->why, result->err, "%s", result->why);
    }
    for (size_t i = 0; good && i < result->count; i++) {
        good = add_line(all, result->records[i].key, result->records[i].document,
                        result->records[i].version);
        if (!good) {
            (void)hub_fail(&all->why, HUB_ENOMEM, "out of memory");
        }
    }
    if (good && result->has_more && result->count > 0) {
        list_page(all, all->lines[all->count - 1].name);
    } else if (good && all->origin == HUB_SAVED_OWN) {
        all->origin = HUB_SAVED_OF_ALL;
        list_page(all, HUB_STR_EMPTY);
    } else {
        end_list(all);
    }
}

static void list_page(gathering *all, hub_str after)
{
    hub_str owner = all->origin == HUB_SAVED_OWN ? hub_str_of(all->principal) : HUB_SAVED_SHARED;
    hub_state_range range = {
        .kind = &HUB_SAVED_KIND, .owner = owner, .after_owner = owner, .after_key = after};
    if (hub_state_list(hub_store_of(all->hub), &range, on_page, all, NULL, &all->why) != HUB_OK) {
        end_list(all);
    }
}

void hub_saved_list(hub_orchestrator *hub, hub_str principal, hub_saved_on_list *on_list, void *ctx)
{
    gathering *all = calloc(1, sizeof *all);
    if (all != NULL) {
        all->arena = hub_arena_create(LINES_BYTES);
        all->principal = hub_str_dup(principal);
    }
    if (all == NULL || all->arena == NULL || all->principal == NULL) {
        if (all != NULL) {
            hub_arena_destroy(all->arena);
            free(all->principal);
        }
        free(all);
        on_list(ctx, HUB_ENOMEM, "out of memory", NULL, 0);
        return;
    }
    all->hub = hub;
    all->on_list = on_list;
    all->ctx = ctx;
    all->origin = principal.len > 0 ? HUB_SAVED_OWN : HUB_SAVED_OF_ALL;
    list_page(all, HUB_STR_EMPTY);
}

const hub_saved_line *hub_saved_line_find(const hub_saved_line *lines, size_t count, hub_str name)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = hub_str_cmp(lines[middle].name, name);
        if (order == 0) {
            return &lines[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}
