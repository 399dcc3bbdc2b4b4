/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/active/choice.h"

#include "base/cause.h"
#include "base/log.h"
#include "hub/active/manager_internal.h"
#include "hub/active/release.h"
#include "hub/catalogs/parking.h"
#include "hub/notices/notifier.h"
#include "hub/notices/subscription.h"

#include <stdlib.h>

hub_selection *hub_choice_of(const hub_manager *manager)
{
    return manager->selection;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

const char *const *hub_choice_kept(const hub_manager *manager, size_t *ret_count)
{
    *ret_count = manager->kept_count;
    return (const char *const *)manager->kept;
}

static size_t find_kept(const hub_manager *manager, hub_str key)
{
    size_t at = 0;
    while (at < manager->kept_count && !hub_str_is(key, manager->kept[at])) {
        at++;
    }
    return at;
}

size_t hub_choice_places(const hub_audience *audience)
{
    const hub_manager *manager = hub_manager_of(audience);
    size_t count = manager->kept_count;
    if (manager->selection == NULL) {
        (void)hub_exposure_sources(hub_audience_exposure(audience), &count);
    }
    return count;
}

hub_str hub_choice_enabled_at(const hub_audience *audience, size_t place)
{
    const hub_manager *manager = hub_manager_of(audience);
    if (manager->selection != NULL) {
        return hub_str_of(manager->kept[place]);
    }
    size_t count;
    const hub_source *const *sources =
        hub_exposure_sources(hub_audience_exposure(audience), &count);
    return sources[place]->bare ? HUB_STR_EMPTY : sources[place]->toolset;
}

bool hub_choice_enables(const hub_audience *audience, hub_str toolset)
{
    const hub_manager *manager = hub_manager_of(audience);
    return manager->selection != NULL
               ? find_kept(manager, toolset) < manager->kept_count
               : hub_exposure_source(hub_audience_exposure(audience), toolset) != NULL;
}

hub_err hub_choice_keep(hub_manager *manager, hub_str toolset)
{
    if (find_kept(manager, toolset) < manager->kept_count) {
        return HUB_OK;
    }
    char **grown = realloc(manager->kept, (manager->kept_count + 1) * sizeof(char *));
    if (grown == NULL) {
        return HUB_ENOMEM;
    }
    manager->kept = grown;
    grown[manager->kept_count] = hub_str_dup(toolset);
    if (grown[manager->kept_count] == NULL) {
        return HUB_ENOMEM;
    }
    manager->kept_count++;
    return HUB_OK;
}

static void drop_kept(hub_manager *manager)
{
    for (size_t i = 0; i < manager->kept_count; i++) {
        free(manager->kept[i]);
    }
    free(manager->kept);
    manager->kept = NULL;
    manager->kept_count = 0;
}

/* What is active is what is enabled: nothing was chosen until now. */
static hub_err keep_active(hub_manager *manager)
{
    size_t count;
    const hub_source *const *sources =
        hub_exposure_sources(hub_audience_exposure(manager->audience), &count);
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        err = sources[i]->bare ? HUB_OK : hub_choice_keep(manager, sources[i]->toolset);
    }
    if (err != HUB_OK) {
        drop_kept(manager);
    }
    return err;
}

/* Find an item's toolset, and its place among those that are kept: kept_count when it is not. */
static size_t find_item(hub_operation *operation, size_t at)
{
    hub_manager *manager = operation->manager;
    hub_manager_result *result = &operation->results[at];
    hub_toolset *toolset = NULL;
    result->is_kept = true;
    result->err = hub_operation_find(operation, at, manager->audience, &toolset, &result->why);
    return find_kept(manager, result->toolset);
}

void choice_enable_kept(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    for (size_t i = 0; i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        result->is_unchanged = find_item(operation, i) < manager->kept_count;
        if (result->err == HUB_OK && !result->is_unchanged) {
            result->err =
                manager_admit(manager, result->toolset, manager->kept_count, &result->why);
        }
        if (result->err == HUB_OK && hub_choice_keep(manager, result->toolset) != HUB_OK) {
            result->err = hub_fail(&result->why, HUB_ENOMEM, "out of memory");
        }
    }
}

void choice_disable_kept(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    for (size_t i = 0; i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        size_t at = find_item(operation, i);
        result->is_unchanged = at == manager->kept_count;
        if (result->err == HUB_OK && !result->is_unchanged) {
            free(manager->kept[at]);
            manager->kept_count--;
            memmove(&manager->kept[at], &manager->kept[at + 1],
                    (manager->kept_count - at) * sizeof(char *));
        }
    }
}

hub_err choice_copy(hub_manager *manager, const hub_manager *from)
{
    hub_err err = HUB_OK;
    manager->selection = hub_selection_ref(from->selection);
    for (size_t i = 0; err == HUB_OK && i < from->kept_count; i++) {
        err = hub_choice_keep(manager, hub_str_of(from->kept[i]));
    }
    return err;
}

bool choice_is_same(const hub_manager *a, const hub_manager *b)
{
    bool is = a->selection == b->selection && a->kept_count == b->kept_count;
    for (size_t i = 0; is && i < a->kept_count; i++) {
        is = find_kept(b, hub_str_of(a->kept[i])) < b->kept_count;
    }
    return is;
}

void choice_fini(hub_manager *manager)
{
    drop_kept(manager);
    hub_selection_unref(manager->selection);
    manager->selection = NULL;
}

/* ---- exchanging what is active --------------------------------------------------------------- */

static bool is_fatal(hub_err err)
{
    return err != HUB_OK && err != HUB_ENOTFOUND && err != HUB_EDENIED;
}

bool choice_has_failed(const hub_operation *operation)
{
    bool has = false;
    for (size_t i = 0; !has && i < operation->count; i++) {
        has = is_fatal(operation->results[i].err);
    }
    return has;
}

static void give_back(const hub_operation *operation)
{
    for (size_t i = 0; i < operation->count; i++) {
        if (operation->items[i].is_used) {
            hub_toolset_unuse(operation->items[i].toolset);
        }
    }
}

/* The toolsets that are active now; free the list. */
static hub_toolset **list_active(const hub_manager *manager, size_t *ret_count)
{
    size_t count;
    const hub_source *const *sources =
        hub_exposure_sources(hub_audience_exposure(manager->audience), &count);
    hub_toolset **toolsets = calloc(count + 1, sizeof(hub_toolset *));
    *ret_count = 0;
    for (size_t i = 0; toolsets != NULL && i < count; i++) {
        if (!sources[i]->bare) {
            toolsets[(*ret_count)++] = sources[i]->owner;
        }
    }
    return toolsets;
}

/* The audience used them; what is active now is used by the operation. */
static void release_before(hub_manager *manager, hub_toolset *const *before, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (hub_audience_has(manager->audience, before[i])) {
            hub_toolset_unuse(before[i]);
        } else {
            hub_discovery_log_removed(before[i]);
            hub_release_toolset(manager->audience, before[i]);
        }
    }
}

static size_t count_shown(const hub_exposure *exposure, const hub_toolset *toolset)
{
    const hub_shown *tools = hub_exposure_shown(exposure, HUB_KIND_TOOL);
    size_t count = 0;
    for (size_t i = 0; i < tools->part_count; i++) {
        const hub_section *section = tools->parts[i]->section;
        count += section != NULL && section->owner == toolset ? tools->parts[i]->count : 0;
    }
    return count;
}

static void welcome(hub_operation *operation)
{
    const hub_audience *audience = operation->manager->audience;
    for (size_t i = 0; i < operation->count; i++) {
        const hub_operation_item *item = &operation->items[i];
        if (item->is_used && operation->results[i].err == HUB_OK) {
            operation->results[i].tool_count =
                count_shown(hub_audience_exposure(audience), item->toolset);
            hub_subscription_wake(audience, item->toolset);
        } else if (item->is_used) {
            hub_toolset_unuse(item->toolset);
        }
    }
}

/* Make the toolsets that an operation uses those that are active, with its selection. */
static hub_err exchange(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    size_t before_count = 0;
    size_t count = 0;
    hub_toolset **before = list_active(manager, &before_count);
    hub_source *sources = calloc(operation->count + 1, sizeof *sources);
    hub_err err = before != NULL && sources != NULL
                      ? HUB_OK
                      : hub_fail(&operation->why, HUB_ENOMEM, "out of memory");
    for (size_t i = 0; err == HUB_OK && i < operation->count; i++) {
        if (operation->items[i].is_used && operation->results[i].err == HUB_OK) {
            sources[count++] = hub_toolset_source(operation->items[i].toolset);
        }
    }
    if (err == HUB_OK) {
        err = hub_exposure_choose(hub_audience_exposure(manager->audience), sources, count,
                                  operation->selection, &operation->why);
    }
    if (err == HUB_OK) {
        welcome(operation);
        if (manager->is_resting) {
            hub_release_all(manager->audience);
        } else {
            release_before(manager, before, before_count);
        }
        hub_parking_review(manager->audience);
    }
    free(sources);
    free(before);
    return err;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Whether the choice as a whole may be made. */
static hub_err judge(hub_operation *operation)
{
    size_t admitted = 0;
    hub_err err = HUB_ENOTFOUND;
    hub_error why = {.code = HUB_ENOTFOUND, .text = "it has no tools"};
    for (size_t i = 0; i < operation->count; i++) {
        const hub_manager_result *result = &operation->results[i];
        if (operation->items[i].is_used && result->err == HUB_OK) {
            manager_admit_again(operation, i, admitted);
        }
        admitted += result->err == HUB_OK && operation->items[i].is_used;
        if (result->err != HUB_OK && (i == 0 || is_fatal(result->err)) && !is_fatal(err)) {
            err = result->err;
            why = result->why;
        }
    }
    bool may = operation->is_asked ? admitted > 0 && !is_fatal(err) : true;
    return may ? HUB_OK : hub_fail(&operation->why, err, "%s", why.text);
}

/* Whether a toolset is one of several that are wanted, or none of them is. */
bool choice_commit(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    bool is_first = manager->selection == NULL;
    operation->err = judge(operation);
    if (operation->err == HUB_OK && is_first && keep_active(manager) != HUB_OK) {
        operation->err = hub_fail(&operation->why, HUB_ENOMEM, "out of memory");
    } else if (operation->err == HUB_OK) {
        operation->err = exchange(operation);
        if (operation->err != HUB_OK && is_first) {
            drop_kept(manager);
        }
    }
    if (operation->err != HUB_OK) {
        give_back(operation);
        return false;
    }
    hub_selection_unref(manager->selection);
    manager->selection = hub_selection_ref(operation->selection);
    return true;
}

/* An operation on the toolsets that a selection draws on. */
static hub_err create(hub_manager *manager, hub_selection *selection, hub_choice_on_done *on_done,
                      void *ctx, hub_operation **ret_operation, hub_error *reterr)
{
    size_t count = 0;
    hub_str key = HUB_STR_EMPTY;
    hub_operation *made = NULL;
    hub_str *keys = calloc(hub_selection_count(selection) + 1, sizeof *keys);
    if (keys != NULL) {
        while ((key = hub_selection_next_toolset(selection, key)).len > 0) {
            keys[count++] = key;
        }
        made = hub_operation_create(manager, manager->audience, keys, count, NULL, ctx);
    }
    free(keys);
    if (made == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    made->on_chosen = on_done;
    made->selection = hub_selection_ref(selection);
    *ret_operation = made;
    return HUB_OK;
}

hub_err hub_choice_make(hub_manager *manager, hub_selection *selection, hub_str meta,
                        hub_choice_on_done *on_done, void *ctx, hub_error *reterr)
{
    hub_operation *operation = NULL;
    hub_err err = create(manager, selection, on_done, ctx, &operation, reterr);
    return err == HUB_OK ? manager_begin(manager, operation, meta, reterr) : err;
}

static void log_skipped(const hub_operation *operation)
{
    for (size_t i = 0; i < operation->count; i++) {
        if (operation->results[i].err != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "toolset.skipped",
                    HUB_F_STR("toolset", operation->results[i].toolset),
                    HUB_F_TEXT("reason", operation->results[i].why.text), HUB_F_BY);
        }
    }
}

void choice_run_now(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    bool was_resting = manager->is_resting;
    operation->is_asked = false;
    manager_wake(manager);
    manager_use_now(operation, 0);
    if (choice_commit(operation)) {
        manager_ask_eager(operation);
        log_skipped(operation);
    }
    manager_rest_again(manager, was_resting);
    hub_operation_done(operation);
}

hub_err hub_choice_make_now(hub_manager *manager, hub_selection *selection,
                            hub_choice_on_done *on_done, void *ctx, hub_error *reterr)
{
    hub_operation *operation = NULL;
    hub_err err = create(manager, selection, on_done, ctx, &operation, reterr);
    if (err == HUB_OK) {
        manager_run_or_queue(manager, operation, HUB_STR_EMPTY);
    }
    return err;
}

/* ---- the end of a choice --------------------------------------------------------------------- */

hub_err hub_choice_end(hub_manager *manager, hub_str meta, hub_choice_on_done *on_done, void *ctx,
                       hub_error *reterr)
{
    hub_operation *operation = hub_operation_create(manager, manager->audience, NULL, 0, NULL, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    operation->on_chosen = on_done;
    manager_run_or_queue(manager, operation, meta);
    return HUB_OK;
}

/* An operation on what is kept, in place of one that only says that it is to be made. */
static hub_operation *create_end(const hub_operation *wish)
{
    hub_manager *manager = wish->manager;
    hub_str *keys = calloc(manager->kept_count + 1, sizeof *keys);
    hub_operation *made = NULL;
    for (size_t i = 0; keys != NULL && i < manager->kept_count; i++) {
        keys[i] = hub_str_of(manager->kept[i]);
    }
    if (keys != NULL) {
        made = hub_operation_create(manager, wish->audience, keys, manager->kept_count, NULL,
                                    wish->ctx);
    }
    free(keys);
    if (made != NULL) {
        made->on_chosen = wish->on_chosen;
        memcpy(made->trace, wish->trace, sizeof made->trace);
    }
    return made;
}

static void end_choice(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    bool was_resting = manager->is_resting;
    manager_wake(manager);
    manager_use_now(operation, 0);
    operation->err = exchange(operation);
    if (operation->err != HUB_OK) {
        give_back(operation);
    } else {
        choice_fini(manager);
        manager_ask_eager(operation);
        hub_discovery_log_registry(hub_audience_hub(manager->audience),
                                   hub_str_of(operation->trace));
        hub_notifier_changed(hub_notifier_of(manager->audience), true);
    }
    manager_rest_again(manager, was_resting);
    for (size_t i = 0; operation->err == HUB_OK && i < operation->count; i++) {
        hub_operation_log(operation, i, "toolset.enabled");
    }
}

void choice_run_end(hub_operation *operation)
{
    if (operation->manager->selection == NULL) {
        hub_operation_done(operation); /* there is nothing to end */
        return;
    }
    hub_operation *end = create_end(operation);
    if (end == NULL) {
        operation->err = hub_fail(&operation->why, HUB_ENOMEM, "out of memory");
        hub_operation_done(operation);
        return;
    }
    (void)hub_cause_set(end->by); /* who ran this sets it again */
    hub_operation_destroy(operation);
    end_choice(end);
    hub_operation_done(end);
}
