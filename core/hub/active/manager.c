/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/active/manager.h"

#include "base/cause.h"
#include "base/loop.h"
#include "hub/active/lists.h"
#include "hub/active/manager_internal.h"
#include "hub/active/release.h"
#include "hub/catalogs/discovery.h"
#include "hub/catalogs/discovery_run.h"
#include "hub/catalogs/parking.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/notifier.h"

#include <stdlib.h>

size_t hub_manager_active_count(const hub_manager *manager)
{
    return hub_exposure_active_count(hub_audience_exposure(manager->audience));
}

/* ---- disabling ------------------------------------------------------------------------------- */

/* Find the active toolsets of an operation; returns their keys, which the caller frees. */
static hub_str *find_active(hub_operation *operation, size_t *ret_count)
{
    hub_manager *manager = operation->manager;
    hub_str *keys = calloc(operation->count + 1, sizeof *keys);
    size_t count = 0;
    for (size_t i = 0; keys != NULL && i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        hub_toolset *toolset;
        result->err = hub_operation_find(operation, i, manager->audience, &toolset, &result->why);
        if (result->err != HUB_OK) {
            continue;
        }
        result->is_unchanged =
            hub_operation_repeats(operation, i) || !manager_has(manager, result->toolset);
        if (result->is_unchanged) {
            continue;
        }
        operation->items[i].toolset = toolset;
        keys[count++] = result->toolset;
    }
    *ret_count = count;
    return keys;
}

static void run_disable(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    if (manager->selection != NULL) {
        choice_disable_kept(operation);
        hub_operation_done(operation);
        return;
    }
    hub_error why = {.code = HUB_ENOMEM, .text = "out of memory"};
    size_t count = 0;
    hub_str *keys = find_active(operation, &count);
    hub_err err = HUB_ENOMEM;
    if (keys != NULL) {
        err = hub_exposure_remove(hub_audience_exposure(manager->audience), keys, count, &why);
    }
    free(keys);
    for (size_t i = 0; i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        bool is_meant = result->err == HUB_OK && !result->is_unchanged;
        if (is_meant && err != HUB_OK) {
            result->err = err;
            result->why = why;
        } else if (is_meant) {
            hub_discovery_log_removed(operation->items[i].toolset);
            hub_release_toolset(manager->audience, operation->items[i].toolset);
        }
        hub_operation_log(operation, i, "toolset.disabled");
    }
    if (err == HUB_OK && count > 0) {
        hub_parking_review(manager->audience);
        hub_discovery_log_registry(manager_hub(manager), hub_str_of(operation->trace));
        hub_notifier_changed(hub_notifier_of(manager->audience), true);
    }
    hub_operation_done(operation);
}

/* ---- one operation at a time ----------------------------------------------------------------- */

static void run(hub_operation *operation)
{
    const char *before = hub_cause_set(operation->by);
    if (manager_is_choice(operation) && operation->selection != NULL) {
        choice_run_now(operation);
    } else if (manager_is_choice(operation)) {
        choice_run_end(operation);
    } else {
        run_disable(operation);
    }
    (void)hub_cause_set(before);
}

/* Run what waited for the operation that has ended. */
static void run_waiting(hub_manager *manager)
{
    while (manager->waiting != NULL && manager->enabling == NULL) {
        hub_operation *next = manager->waiting;
        manager->waiting = next->next;
        run(next);
    }
}

void manager_run_or_queue(hub_manager *manager, hub_operation *operation, hub_str meta)
{
    hub_discovery_keep_trace(hub_trace_id_in(meta), operation->trace);
    operation->is_asked = true;
    operation->asker = manager->asker;
    if (manager->enabling == NULL) {
        run(operation);
        return;
    }
    hub_operation **end = &manager->waiting;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = operation;
}

static void finish_enabling(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    const char *before = hub_cause_set(operation->by);
    operation->held = true;
    manager_stop_waiting(operation);
    bool changed =
        manager_is_choice(operation) ? choice_commit(operation) : manager_register_all(operation);
    manager->enabling = NULL;
    if (changed && !operation->has_asked) {
        hub_discovery_log_registry(manager_hub(manager), hub_str_of(operation->trace));
    }
    if (changed) {
        hub_notifier_changed(hub_notifier_of(manager->audience), true);
    }
    hub_operation_done(operation);
    (void)hub_cause_set(before);
    run_waiting(manager);
}

/* Places that were kept for servers that cannot be reached go to those that had none. */
static bool gives_places(hub_operation *operation)
{
    size_t down = 0;
    bool is_wanted = false;
    for (size_t i = 0; i < operation->count; i++) {
        down += operation->items[i].is_used && operation->results[i].is_down;
        is_wanted = is_wanted || operation->results[i].err == HUB_ELIMIT;
    }
    bool is_more = down > operation->down;
    operation->down = down;
    return is_more && is_wanted && !manager_is_choice(operation);
}

void manager_all_known(hub_operation *operation)
{
    operation->held = true;
    while (operation->waiting == 0 && gives_places(operation)) {
        manager_use_items(operation);
    }
    operation->held = false;
    if (operation->waiting == 0) {
        finish_enabling(operation);
    }
}

static void on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    finish_enabling(timer->data);
}

void hub_manager_ask_as(hub_manager *manager, uint64_t session)
{
    manager->asker = session;
}

hub_err manager_begin(hub_manager *manager, hub_operation *operation, hub_str meta,
                      hub_error *reterr)
{
    hub_orchestrator *hub = manager_hub(manager);
    if (manager->enabling != NULL) {
        hub_operation_destroy(operation);
        return hub_fail(reterr, HUB_EBUSY,
                        "registration operation in progress: try again when it "
                        "has ended");
    }
    manager->enabling = operation;
    hub_discovery_keep_trace(hub_trace_id_in(meta), operation->trace);
    operation->is_asked = true;
    operation->asker = manager->asker;
    operation->held = true;
    manager_use_items(operation);
    ev_timer_init(&operation->timeout, on_timeout, 0., 0.);
    operation->timeout.data = operation;
    hub_loop_start_timer(hub_loop(hub), &operation->timeout,
                         hub_settings_of(hub)->limits.discover_timeout_ms / 1000.);
    if (manager_is_choice(operation) && choice_has_failed(operation)) {
        finish_enabling(operation); /* whatever the others would answer */
    } else if (operation->waiting == 0) {
        manager_all_known(operation);
    } else {
        operation->held = false;
    }
    return HUB_OK;
}

/* ---- what is asked for ----------------------------------------------------------------------- */

hub_err hub_manager_enable(hub_manager *manager, const hub_str *toolsets, size_t count,
                           hub_str meta, hub_manager_on_done *on_done, void *ctx, hub_error *reterr)
{
    hub_operation *operation =
        hub_operation_create(manager, manager->audience, toolsets, count, on_done, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (manager->selection == NULL || manager->enabling != NULL) {
        return manager_begin(manager, operation, meta, reterr);
    }
    operation->is_asked = true;
    operation->asker = manager->asker;
    choice_enable_kept(operation);
    hub_operation_done(operation);
    return HUB_OK;
}

hub_err hub_manager_disable(hub_manager *manager, const hub_str *toolsets, size_t count,
                            hub_str meta, hub_manager_on_done *on_done, void *ctx,
                            hub_error *reterr)
{
    hub_operation *operation =
        hub_operation_create(manager, manager->audience, toolsets, count, on_done, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    manager_run_or_queue(manager, operation, meta);
    return HUB_OK;
}

void hub_manager_hurry(hub_manager *manager)
{
    while (manager->enabling != NULL) {
        finish_enabling(manager->enabling);
    }
}

/* ---- at once --------------------------------------------------------------------------------- */

static void rest(hub_audience *audience)
{
    hub_manager_of(audience)->is_resting = true;
    hub_release_all(audience);
}

static void wake(hub_audience *audience)
{
    hub_manager *manager = hub_manager_of(audience);
    manager->is_resting = manager->is_resting && !hub_release_undo(audience);
}

void manager_wake(hub_manager *manager)
{
    wake(manager->audience);
}

void manager_rest_again(hub_manager *manager, bool was_resting)
{
    if (was_resting && !manager->is_resting) {
        rest(manager->audience);
    }
}

bool hub_manager_is_resting(const hub_manager *manager)
{
    return manager->is_resting;
}

bool hub_manager_is_busy(const hub_manager *manager)
{
    return manager->enabling != NULL || manager->waiting != NULL;
}

hub_err hub_manager_activate(hub_manager *manager, const hub_str *toolsets, size_t count,
                             hub_manager_on_done *on_done, void *ctx, hub_error *reterr)
{
    hub_operation *operation =
        hub_operation_create(manager, manager->audience, toolsets, count, on_done, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (manager->selection != NULL) {
        choice_enable_kept(operation);
        hub_operation_done(operation);
        return HUB_OK;
    }
    bool was_resting = manager->is_resting;
    wake(manager->audience);
    manager_use_now(operation, hub_manager_active_count(manager));
    manager_register(operation);
    manager_ask_eager(operation);
    manager_rest_again(manager, was_resting);
    hub_operation_done(operation);
    return HUB_OK;
}

/* ---- begin and end --------------------------------------------------------------------------- */

hub_manager *hub_manager_of(const hub_audience *audience)
{
    return hub_audience_part(audience, &HUB_ACTIVE_STATION);
}

/* What it sees from the beginning is in use by it, too. */
static hub_err begin(hub_audience *audience, const hub_audience *from)
{
    size_t count; /* the exposure is a copy of its exposure */
    const hub_source *const *sources =
        hub_exposure_sources(hub_audience_exposure(audience), &count);
    hub_manager_of(audience)->audience = audience;
    for (size_t i = 0; i < count; i++) {
        if (!sources[i]->bare) {
            hub_toolset_share(sources[i]->owner);
        }
    }
    return from != NULL ? choice_copy(hub_manager_of(audience), hub_manager_of(from)) : HUB_OK;
}

/* Whether two audiences have chosen the same. */
static bool same_choice(const hub_exposure *a, const hub_exposure *b)
{
    size_t count;
    size_t other;
    const hub_source *const *sources = hub_exposure_sources(a, &count);
    (void)hub_exposure_sources(b, &other);
    bool same = count == other;
    for (size_t i = 0; same && i < count; i++) {
        same = hub_exposure_source(b, sources[i]->toolset) != NULL;
    }
    return same;
}

/* Something is under way, or the choice is another than the profile's. */
static bool matters(const hub_audience *audience)
{
    const hub_manager *manager = hub_manager_of(audience);
    const hub_audience *own = hub_profile_audience(hub_audience_profile(audience));
    return manager->enabling != NULL || manager->waiting != NULL ||
           !choice_is_same(manager, hub_manager_of(own)) ||
           !same_choice(hub_audience_exposure(audience), hub_audience_exposure(own));
}

/* End an operation without its effect: give back what it holds, and say so. */
static void abandon(hub_operation *operation)
{
    operation->held = true;
    for (size_t i = 0; i < operation->count; i++) {
        hub_operation_item *item = &operation->items[i];
        hub_manager_result *result = &operation->results[i];
        if (item->waiting) {
            hub_discovery_unwait(item->toolset, &item->waiter);
        }
        if (item->is_used) {
            hub_toolset_unuse(item->toolset);
        }
        if (result->err == HUB_OK) {
            result->err = hub_fail(&result->why, HUB_ESTATE, "the hub is shutting down");
        }
    }
    operation->err = hub_fail(&operation->why, HUB_ESTATE, "the hub is shutting down");
    hub_operation_done(operation);
}

/* What is in progress or waits is abandoned: it fails with HUB_ESTATE. */
static void end(hub_audience *audience)
{
    hub_manager *manager = hub_manager_of(audience);
    if (manager->audience == NULL) {
        return;
    }
    if (manager->enabling != NULL) {
        abandon(manager->enabling);
    }
    while (manager->waiting != NULL) {
        hub_operation *next = manager->waiting->next;
        abandon(manager->waiting);
        manager->waiting = next;
    }
    if (!manager->is_resting) {
        hub_release_all(audience);
    }
    choice_fini(manager);
    manager->audience = NULL;
}

static hub_station_place place;

const hub_station HUB_ACTIVE_STATION = {
    .name = "active",
    .place = &place,
    .bytes = {[HUB_PART_AUDIENCE] = sizeof(hub_manager)},
    .audience_begins = begin,
    .audience_matters = matters,
    .audience_left = rest,
    .audience_returns = wake,
    .audience_ends = end,
    .toolset_listed = hub_active_take_list,
    .toolset_recalled = hub_active_take_lists,
    .toolset_forgotten = hub_active_take_lists,
};
