/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/active/manager.h"

#include "base/log.h"
#include "hub/active/lists.h"
#include "hub/active/operation.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/notifier.h"
#include "hub/notices/subscription.h"

#include <stdlib.h>

struct hub_manager {
    hub_profile *profile;    /* NULL: it has not begun, or has ended */
    hub_operation *enabling; /* NULL: none in progress */
    hub_operation *disables; /* those that wait for it, in order */
};

static hub_orchestrator *hub_of(const hub_manager *manager)
{
    return hub_profile_hub(manager->profile);
}

/* ---- enabling -------------------------------------------------------------------------------- */

size_t hub_manager_active_count(const hub_manager *manager)
{
    size_t count;
    const hub_source *sources =
        hub_exposure_sources(hub_profile_exposure(manager->profile), &count);
    size_t active = 0;
    for (size_t i = 0; i < count; i++) {
        active += !sources[i].bare;
    }
    return active;
}

static hub_err fail_enabled(hub_str key, hub_error *reterr)
{
    return hub_fail(reterr, HUB_EEXIST, "toolset \"" HUB_STR_FMT "\" is already enabled",
                    HUB_STR_ARG(key));
}

/* Step 2: is it inactive, and do the policies of hub and profile agree? Nothing is touched. */
static hub_err admit(const hub_manager *manager, hub_str key, size_t active, hub_error *reterr)
{
    const hub_policy_rules *rules[] = {&hub_settings_of(hub_of(manager))->policy,
                                       &hub_profile_settings_of(manager->profile)->policy};
    if (hub_exposure_source(hub_profile_exposure(manager->profile), key) != NULL) {
        return fail_enabled(key, reterr);
    }
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < sizeof rules / sizeof rules[0]; i++) {
        err = hub_policy_admit_toolset(rules[i], key, active, reterr);
    }
    return err;
}

static void finish_enabling(hub_operation *operation);

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    hub_operation_item *item = (hub_operation_item *)waiter;
    hub_operation *operation = item->operation;
    hub_manager_result *result = &operation->results[item - operation->items];
    if (err != HUB_OK) {
        result->err = hub_fail(&result->why, err, "toolset \"%s\" cannot be reached: " HUB_STR_FMT,
                               hub_toolset_key(item->toolset), HUB_STR_ARG(reason));
    }
    item->waiting = false;
    if (--operation->waiting == 0 && !operation->held) {
        finish_enabling(operation);
    }
}

/* Steps 1 to 3 for one toolset: find it, admit it, make its instance. */
static void use_item(hub_operation *operation, size_t at, size_t active)
{
    const hub_manager *manager = operation->manager;
    hub_manager_result *result = &operation->results[at];
    hub_toolset *toolset = NULL;
    if (hub_operation_repeats(operation, at)) {
        result->err = fail_enabled(result->toolset, &result->why);
        return;
    }
    result->err = hub_operation_find(operation, at, hub_of(manager), &toolset, &result->why);
    if (result->err == HUB_OK) {
        result->err = admit(manager, result->toolset, active, &result->why);
    }
    if (result->err == HUB_OK) {
        result->err = hub_toolset_use(toolset, &result->why);
    }
    if (result->err == HUB_OK) {
        operation->items[at].toolset = toolset;
    }
}

static bool is_to_ask(const hub_toolset *toolset)
{
    return hub_discovery_is_unknown(toolset) && !hub_discovery_is_asked(toolset);
}

/* Ask for the catalog of a toolset that is in use. */
static void ask_item(hub_operation_item *item, hub_discovery_run *run)
{
    item->waiter.on_known = on_known;
    item->waiting = true;
    item->operation->waiting++;
    hub_discovery_call_for(item->toolset);
    hub_discovery_want(item->toolset, &item->waiter, run);
}

static size_t count_exposed(const hub_shown *tools, const hub_toolset *toolset)
{
    size_t count = 0;
    hub_shown_place at = {.part = 0};
    for (const hub_entry *entry = hub_shown_next(tools, &at); entry != NULL;
         entry = hub_shown_next(tools, &at)) {
        count += entry->owner == toolset;
    }
    return count;
}

/* Wait no longer for those that have not answered. */
static void stop_waiting(hub_operation *operation)
{
    for (size_t i = 0; i < operation->count; i++) {
        hub_operation_item *item = &operation->items[i];
        if (item->waiting) {
            hub_discovery_unwait(item->toolset, &item->waiter);
            item->waiting = false;
            operation->results[i].is_starting = true;
        }
    }
}

/* Add the toolsets that may be added: all in one step, or, if one cannot be, one by one. */
static void add_sources(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    hub_exposure *exposure = hub_profile_exposure(manager->profile);
    size_t active = hub_manager_active_count(manager);
    size_t count = 0;
    hub_source *sources = calloc(operation->count + 1, sizeof *sources);
    for (size_t i = 0; i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        if (result->err == HUB_OK) { /* the world may have changed while catalogs were asked for */
            result->err = admit(manager, result->toolset, active + count, &result->why);
        }
        if (result->err == HUB_OK && sources != NULL) {
            sources[count++] = hub_toolset_source(operation->items[i].toolset);
        }
    }
    bool done = sources != NULL && hub_exposure_add(exposure, sources, count, NULL) == HUB_OK;
    free(sources);
    for (size_t i = 0; !done && i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        if (result->err == HUB_OK) {
            hub_source source = hub_toolset_source(operation->items[i].toolset);
            result->err = hub_exposure_add(exposure, &source, 1, &result->why);
        }
    }
}

/* Steps 4 and 5: register the tools, or give the toolsets back. */
static void commit(hub_operation *operation)
{
    const hub_exposure *exposure = hub_profile_exposure(operation->manager->profile);
    add_sources(operation);
    for (size_t i = 0; i < operation->count; i++) {
        hub_toolset *toolset = operation->items[i].toolset;
        hub_manager_result *result = &operation->results[i];
        if (result->err == HUB_OK) {
            result->tool_count =
                count_exposed(hub_exposure_shown(exposure, HUB_KIND_TOOL), toolset);
            hub_subscription_wake(operation->manager->profile, toolset);
        } else if (toolset != NULL) {
            hub_toolset_unuse(toolset);
        }
    }
}

static void log_result(const hub_manager_result *result, const char *done)
{
    if (result->err == HUB_OK) {
        hub_log(HUB_LOG_INFO, done, HUB_F_STR("toolset", result->toolset),
                HUB_F_INT("tools", result->tool_count));
    } else {
        hub_log(HUB_LOG_WARNING, "toolset.refused", HUB_F_STR("toolset", result->toolset),
                HUB_F_TEXT("reason", result->why.text));
    }
}

static void run_disable(hub_operation *operation);

/* Run the disables that waited for the enabling. */
static void run_waiting(hub_manager *manager)
{
    while (manager->disables != NULL && manager->enabling == NULL) {
        hub_operation *next = manager->disables;
        manager->disables = next->next;
        run_disable(next);
    }
}

static void finish_enabling(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    bool changed = false;
    operation->held = true;
    stop_waiting(operation);
    commit(operation);
    for (size_t i = 0; i < operation->count; i++) {
        log_result(&operation->results[i], "toolset.enabled");
        changed = changed || operation->results[i].err == HUB_OK;
    }
    manager->enabling = NULL;
    if (changed) {
        hub_discovery_log_registry(hub_of(manager), HUB_STR_EMPTY);
        hub_notifier_changed(hub_notifier_of(manager->profile), true);
    }
    hub_operation_done(operation);
    run_waiting(manager);
}

static void on_timeout(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    finish_enabling(timer->data);
}

hub_err hub_manager_enable(hub_manager *manager, const hub_str *toolsets, size_t count,
                           hub_manager_on_done *on_done, void *ctx, hub_error *reterr)
{
    if (manager->enabling != NULL) {
        return hub_fail(reterr, HUB_EBUSY,
                        "registration operation in progress: try again when it "
                        "has ended");
    }
    hub_operation *operation =
        hub_operation_create(manager, hub_loop(hub_of(manager)), toolsets, count, on_done, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    manager->enabling = operation;
    operation->held = true;
    size_t active = hub_manager_active_count(manager);
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++) {
        use_item(operation, i, active);
        if (operation->results[i].err == HUB_OK) {
            active++;
            unknown += is_to_ask(operation->items[i].toolset);
        }
    }
    hub_discovery_run *run = hub_discovery_begin(hub_of(manager), unknown, HUB_STR_EMPTY);
    for (size_t i = 0; i < count; i++) {
        if (operation->results[i].err == HUB_OK) {
            ask_item(&operation->items[i], run);
        }
    }
    hub_discovery_asked(run);
    operation->held = false;
    if (operation->waiting == 0) {
        finish_enabling(operation);
        return HUB_OK;
    }
    const hub_orchestrator *hub = hub_of(manager);
    ev_timer_init(&operation->timeout, on_timeout,
                  hub_settings_of(hub)->limits.discover_timeout_ms / 1000., 0.);
    operation->timeout.data = operation;
    ev_timer_start(hub_loop(hub), &operation->timeout);
    return HUB_OK;
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
        result->err = hub_operation_find(operation, i, hub_of(manager), &toolset, &result->why);
        if (result->err != HUB_OK) {
            continue;
        }
        if (hub_operation_repeats(operation, i) ||
            hub_exposure_source(hub_profile_exposure(manager->profile), result->toolset) == NULL) {
            result->err =
                hub_fail(&result->why, HUB_ENOTFOUND, "toolset \"" HUB_STR_FMT "\" is not enabled",
                         HUB_STR_ARG(result->toolset));
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
    hub_error why = {.code = HUB_ENOMEM, .text = "out of memory"};
    size_t count = 0;
    hub_str *keys = find_active(operation, &count);
    hub_err err = HUB_ENOMEM;
    if (keys != NULL) {
        err = hub_exposure_remove(hub_profile_exposure(manager->profile), keys, count, &why);
    }
    free(keys);
    for (size_t i = 0; i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        if (result->err == HUB_OK && err != HUB_OK) {
            result->err = err;
            result->why = why;
        } else if (result->err == HUB_OK) {
            hub_discovery_log_removed(operation->items[i].toolset);
            hub_toolset_unuse(operation->items[i].toolset);
        }
        log_result(result, "toolset.disabled");
    }
    if (err == HUB_OK && count > 0) {
        hub_discovery_log_registry(hub_of(manager), HUB_STR_EMPTY);
        hub_notifier_changed(hub_notifier_of(manager->profile), true);
    }
    hub_operation_done(operation);
}

hub_err hub_manager_disable(hub_manager *manager, const hub_str *toolsets, size_t count,
                            hub_manager_on_done *on_done, void *ctx, hub_error *reterr)
{
    hub_operation *operation =
        hub_operation_create(manager, hub_loop(hub_of(manager)), toolsets, count, on_done, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (manager->enabling == NULL) {
        run_disable(operation);
        return HUB_OK;
    }
    hub_operation **end = &manager->disables;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = operation;
    return HUB_OK;
}

void hub_manager_hurry(hub_manager *manager)
{
    while (manager->enabling != NULL) {
        finish_enabling(manager->enabling);
    }
}

/* ---- at once --------------------------------------------------------------------------------- */

static bool is_eager(const hub_operation *operation, size_t at)
{
    const hub_toolset *toolset = operation->items[at].toolset;
    return operation->results[at].err == HUB_OK && !hub_toolset_settings_of(toolset)->lazy &&
           hub_discovery_is_due(toolset);
}

/* Ask those that are not to wait for somebody who needs them. */
static void ask_eager(hub_operation *operation)
{
    size_t count = 0;
    for (size_t i = 0; i < operation->count; i++) {
        count += is_eager(operation, i);
    }
    hub_discovery_run *run = hub_discovery_begin(hub_of(operation->manager), count, HUB_STR_EMPTY);
    for (size_t i = 0; i < operation->count; i++) {
        if (is_eager(operation, i)) {
            hub_discovery_wake(operation->items[i].toolset, run);
        }
    }
    hub_discovery_asked(run);
}

hub_err hub_manager_activate(hub_manager *manager, const hub_str *toolsets, size_t count,
                             hub_manager_on_done *on_done, void *ctx, hub_error *reterr)
{
    hub_operation *operation =
        hub_operation_create(manager, hub_loop(hub_of(manager)), toolsets, count, on_done, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    size_t active = hub_manager_active_count(manager);
    for (size_t i = 0; i < count; i++) {
        use_item(operation, i, active);
        active += operation->results[i].err == HUB_OK;
    }
    commit(operation);
    ask_eager(operation);
    hub_operation_done(operation);
    return HUB_OK;
}

/* ---- begin and end --------------------------------------------------------------------------- */

hub_manager *hub_manager_of(const hub_profile *profile)
{
    return hub_profile_part(profile, &HUB_ACTIVE_STATION);
}

static hub_err begin(hub_profile *profile)
{
    hub_manager_of(profile)->profile = profile;
    return HUB_OK;
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
        if (item->toolset != NULL) {
            hub_toolset_unuse(item->toolset);
        }
        if (result->err == HUB_OK) {
            result->err = hub_fail(&result->why, HUB_ESTATE, "the hub is shutting down");
        }
    }
    hub_operation_done(operation);
}

/* What is in progress or waits is abandoned: it fails with HUB_ESTATE. */
static void end(hub_profile *profile)
{
    hub_manager *manager = hub_manager_of(profile);
    if (manager->profile == NULL) {
        return;
    }
    if (manager->enabling != NULL) {
        abandon(manager->enabling);
    }
    while (manager->disables != NULL) {
        hub_operation *next = manager->disables->next;
        abandon(manager->disables);
        manager->disables = next;
    }
    size_t count;
    const hub_source *sources = hub_exposure_sources(hub_profile_exposure(profile), &count);
    for (size_t i = 0; i < count; i++) {
        if (!sources[i].bare) {
            hub_toolset_unuse(sources[i].owner);
        }
    }
    manager->profile = NULL;
}

static hub_station_place place;

const hub_station HUB_ACTIVE_STATION = {
    .name = "active",
    .place = &place,
    .bytes = {[HUB_PART_PROFILE] = sizeof(hub_manager)},
    .profile_begins = begin,
    .profile_ends = end,
    .toolset_listed = hub_active_take_list,
    .toolset_recalled = hub_active_take_lists,
    .toolset_forgotten = hub_active_take_lists,
};
