/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/manager.h"

#include "base/log.h"
#include "hub/hub.h"
#include "tools/naming.h"

#include <stdlib.h>

/* One toolset of an operation. */
typedef struct operation_item {
    hub_catalog_waiter waiter; /* first: a waiter is its item */
    struct toolset_op *operation;
    hub_toolset *toolset; /* in use by this operation unless NULL */
    bool waiting;
} operation_item;

/* An enable in progress, or a disable that waits. */
typedef struct toolset_op {
    struct toolset_op *next;
    hub_manager *manager;
    hub_manager_on_done *on_done;
    void *ctx;
    ev_timer timeout;
    size_t waiting;
    bool preparing; /* items are still being looked at */
    size_t count;
    operation_item *items;
    hub_manager_result *results;
    char *names; /* the toolset names, copied */
} toolset_op;

struct hub_manager {
    hub_profile *profile;
    toolset_op *enabling; /* NULL: none in progress */
    toolset_op *disables; /* those that wait for it, in order */
    bool is_static;
};

static hub_orchestrator *hub_of(const hub_manager *manager)
{
    return manager->profile->hub;
}

/* ---- operations -------------------------------------------------------------------------------- */

static void free_operation(toolset_op *operation)
{
    ev_timer_stop(hub_of(operation->manager)->loop, &operation->timeout);
    free(operation->items);
    free(operation->results);
    free(operation->names);
    free(operation);
}

static toolset_op *make_operation(hub_manager *manager, const hub_str *toolsets, size_t count,
                                 hub_manager_on_done *on_done, void *ctx)
{
    toolset_op *made = calloc(1, sizeof *made);
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += toolsets[i].len;
    }
    if (made == NULL) {
        return NULL;
    }
    made->manager = manager;
    made->on_done = on_done;
    made->ctx = ctx;
    made->count = count;
    made->items = calloc(count + 1, sizeof *made->items);
    made->results = calloc(count + 1, sizeof *made->results);
    made->names = malloc(bytes);
    ev_timer_init(&made->timeout, NULL, 0., 0.);
    if (made->items == NULL || made->results == NULL || made->names == NULL) {
        free_operation(made);
        return NULL;
    }
    char *at = made->names;
    for (size_t i = 0; i < count; i++) {
        hub_str name = hub_str_trim(toolsets[i]);
        memcpy(at, name.len > 0 ? name.ptr : "", name.len);
        made->results[i].toolset = (hub_str){.ptr = at, .len = name.len};
        made->items[i].operation = made;
        at += name.len;
    }
    return made;
}

/* ---- enabling ----------------------------------------------------------------------------------- */

size_t hub_manager_active_count(const hub_manager *manager)
{
    size_t count;
    const hub_source *sources = hub_registry_sources(manager->profile->registry, &count);
    size_t active = 0;
    for (size_t i = 0; i < count; i++) {
        active += !sources[i].bare;
    }
    return active;
}

static hub_err fail_unknown(const hub_orchestrator *hub, hub_str key, hub_error *reterr)
{
    const char **keys = calloc(hub->toolset_count + 1, sizeof *keys);
    hub_str nearest = HUB_STR_EMPTY;
    if (keys != NULL) {
        for (size_t i = 0; i < hub->toolset_count; i++) {
            keys[i] = hub->toolsets[i]->settings->key;
        }
        nearest = hub_str_nearest(key, keys);
        free(keys);
    }
    if (nearest.len > 0) {
        return hub_fail(reterr, HUB_ENOTFOUND,
                        "unknown toolset \"" HUB_STR_FMT "\"; did you mean \"" HUB_STR_FMT "\"?",
                        HUB_STR_ARG(key), HUB_STR_ARG(nearest));
    }
    return hub_fail(reterr, HUB_ENOTFOUND,
                    "unknown toolset \"" HUB_STR_FMT "\": list_toolsets names them all",
                    HUB_STR_ARG(key));
}

/* Steps 1 and 2: is the name good, and does the policy agree? Nothing is touched. */
static hub_err admit(const hub_manager *manager, hub_str key, size_t active, hub_toolset **ret_toolset,
                     hub_error *reterr)
{
    const hub_orchestrator *hub = hub_of(manager);
    if (key.len == 0) {
        return hub_fail(reterr, HUB_EINVAL, "the name of a toolset is empty");
    }
    hub_toolset *toolset = hub_find_toolset(hub, key);
    if (toolset == NULL) {
        return fail_unknown(hub, key, reterr);
    }
    if (hub_registry_find(manager->profile->registry, key) != NULL) {
        return hub_fail(reterr, HUB_EEXIST, "toolset \"" HUB_STR_FMT "\" is already enabled",
                        HUB_STR_ARG(key));
    }
    hub_err err = hub_policy_admit_toolset(&hub->settings->policy, key, active, reterr);
    if (err == HUB_OK) {
        err = hub_policy_admit_toolset(&manager->profile->settings->policy, key, active, reterr);
    }
    *ret_toolset = toolset;
    return err;
}

/* Whether an earlier item of the operation is the same toolset. */
static bool is_repeated(const toolset_op *operation, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (operation->items[i].toolset != NULL &&
            hub_str_eq(operation->results[i].toolset, operation->results[at].toolset)) {
            return true;
        }
    }
    return false;
}

static void finish_enabling(toolset_op *operation);

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    operation_item *item = (operation_item *)waiter;
    toolset_op *operation = item->operation;
    hub_manager_result *result = &operation->results[item - operation->items];
    if (err != HUB_OK) {
        result->err = hub_fail(&result->why, err, "toolset \"%s\" cannot be reached: " HUB_STR_FMT,
                               item->toolset->settings->key, HUB_STR_ARG(reason));
    }
    item->waiting = false;
    if (--operation->waiting == 0 && !operation->preparing) {
        finish_enabling(operation);
    }
}

/* Steps 1 to 3 for one toolset: admit it, make its instance, ask for its catalog. */
static void prepare_item(toolset_op *operation, size_t at, size_t active)
{
    operation_item *item = &operation->items[at];
    hub_manager_result *result = &operation->results[at];
    hub_toolset *toolset = NULL;
    if (is_repeated(operation, at)) {
        result->err = hub_fail(&result->why, HUB_EEXIST,
                               "toolset \"" HUB_STR_FMT "\" is already enabled",
                               HUB_STR_ARG(result->toolset));
        return;
    }
    result->err = admit(operation->manager, result->toolset, active, &toolset, &result->why);
    if (result->err == HUB_OK) {
        result->err = hub_toolset_use(toolset, &result->why);
    }
    if (result->err != HUB_OK) {
        return;
    }
    item->toolset = toolset;
    item->waiter.on_known = on_known;
    item->waiting = true;
    operation->waiting++;
    hub_toolset_discover(toolset, &item->waiter);
}

/* Steps 4 and 5 for one toolset: register its tools, or give it back. */
static void commit_item(toolset_op *operation, size_t at)
{
    operation_item *item = &operation->items[at];
    hub_manager_result *result = &operation->results[at];
    if (item->toolset == NULL) {
        return;
    }
    if (item->waiting) {
        hub_toolset_unwait(item->toolset, &item->waiter);
        result->is_starting = true;
    }
    if (result->err == HUB_OK) {
        hub_source source = hub_toolset_source(item->toolset);
        result->err =
            hub_registry_add(operation->manager->profile->registry, &source, 1, &result->why);
        result->tool_count = source.catalog != NULL ? source.catalog->count : 0;
    }
    if (result->err != HUB_OK) {
        hub_toolset_unuse(item->toolset);
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

static void run_disable(toolset_op *operation);

/* Run the disables that waited for the enabling. */
static void run_waiting(hub_manager *manager)
{
    while (manager->disables != NULL && manager->enabling == NULL) {
        toolset_op *next = manager->disables;
        manager->disables = next->next;
        run_disable(next);
    }
}

static void finish_enabling(toolset_op *operation)
{
    hub_manager *manager = operation->manager;
    bool changed = false;
    for (size_t i = 0; i < operation->count; i++) {
        commit_item(operation, i);
        log_result(&operation->results[i], "toolset.enabled");
        changed = changed || operation->results[i].err == HUB_OK;
    }
    manager->enabling = NULL;
    if (changed) {
        hub_notifier_changed(manager->profile->notifier, false);
    }
    operation->on_done(operation->ctx, operation->results, operation->count);
    free_operation(operation);
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
        return hub_fail(reterr, HUB_EBUSY, "registration operation in progress: try again when it "
                                           "has ended");
    }
    toolset_op *operation = make_operation(manager, toolsets, count, on_done, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    manager->enabling = operation;
    operation->preparing = true;
    size_t active = hub_manager_active_count(manager);
    for (size_t i = 0; i < count; i++) {
        prepare_item(operation, i, active);
        active += operation->results[i].err == HUB_OK;
    }
    operation->preparing = false;
    if (operation->waiting == 0) {
        finish_enabling(operation);
        return HUB_OK;
    }
    const hub_orchestrator *hub = hub_of(manager);
    ev_timer_init(&operation->timeout, on_timeout,
                  hub->settings->limits.discover_timeout_ms / 1000., 0.);
    operation->timeout.data = operation;
    ev_timer_start(hub->loop, &operation->timeout);
    return HUB_OK;
}

/* ---- disabling ---------------------------------------------------------------------------------- */

static void run_disable(toolset_op *operation)
{
    hub_manager *manager = operation->manager;
    bool changed = false;
    for (size_t i = 0; i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        hub_toolset *toolset = hub_find_toolset(hub_of(manager), result->toolset);
        if (toolset == NULL) {
            result->err = fail_unknown(hub_of(manager), result->toolset, &result->why);
        } else {
            result->err = hub_registry_remove(manager->profile->registry, &result->toolset, 1,
                                              &result->why);
        }
        if (result->err == HUB_OK) {
            hub_toolset_unuse(toolset);
            changed = true;
        }
        log_result(result, "toolset.disabled");
    }
    if (changed) {
        hub_notifier_changed(manager->profile->notifier, false);
    }
    operation->on_done(operation->ctx, operation->results, operation->count);
    free_operation(operation);
}

hub_err hub_manager_disable(hub_manager *manager, const hub_str *toolsets, size_t count,
                            hub_manager_on_done *on_done, void *ctx, hub_error *reterr)
{
    toolset_op *operation = make_operation(manager, toolsets, count, on_done, ctx);
    if (operation == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (manager->enabling == NULL) {
        run_disable(operation);
        return HUB_OK;
    }
    struct toolset_op **end = &manager->disables;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = operation;
    return HUB_OK;
}

/* ---- start and end ------------------------------------------------------------------------------- */

/* Make one toolset active without waiting for its catalog. */
static hub_err start_toolset(hub_manager *manager, hub_str key, hub_error *reterr)
{
    hub_toolset *toolset = NULL;
    hub_err err = admit(manager, key, hub_manager_active_count(manager), &toolset, reterr);
    if (err == HUB_OK) {
        err = hub_toolset_use(toolset, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    hub_source source = hub_toolset_source(toolset);
    err = hub_registry_add(manager->profile->registry, &source, 1, reterr);
    if (err != HUB_OK) {
        hub_toolset_unuse(toolset);
        return err;
    }
    if (!toolset->settings->lazy) {
        hub_toolset_discover(toolset, NULL);
    }
    return HUB_OK;
}

static bool start_or_log(hub_manager *manager, hub_str key)
{
    hub_error why = {.code = HUB_OK};
    if (start_toolset(manager, key, &why) == HUB_OK) {
        return true;
    }
    hub_log(HUB_LOG_WARNING, "toolset.skipped", HUB_F_STR("toolset", key),
            HUB_F_TEXT("reason", why.text));
    return false;
}

/* Start every toolset that is switched on; with `only_active`, those marked active. */
static size_t start_all(hub_manager *manager, bool only_active)
{
    const hub_orchestrator *hub = hub_of(manager);
    size_t started = 0;
    for (size_t i = 0; i < hub->toolset_count; i++) {
        const hub_toolset_settings *settings = hub->toolsets[i]->settings;
        if (settings->enabled && (settings->active || !only_active)) {
            started += start_or_log(manager, hub_str_of(settings->key));
        }
    }
    return started;
}

static size_t start_listed(hub_manager *manager, const hub_names *names)
{
    size_t started = 0;
    if (names->count == 1 && strcmp(names->items[0], "ALL") == 0) {
        return start_all(manager, false);
    }
    for (size_t i = 0; i < names->count; i++) {
        started += start_or_log(manager, hub_str_trim(hub_str_of(names->items[i])));
    }
    return started;
}

hub_err hub_manager_start(hub_manager *manager, hub_error *reterr)
{
    const hub_profile_settings *settings = manager->profile->settings;
    switch (settings->startup) {
    case HUB_STARTUP_STATIC:
        manager->is_static = true;
        if (start_listed(manager, &settings->toolsets) == 0) {
            return hub_fail(reterr, HUB_EINVAL,
                            "profile \"%s\": static start-up needs at least one usable toolset",
                            settings->name);
        }
        break;
    case HUB_STARTUP_DYNAMIC:
        if (settings->toolsets.count > 0) {
            hub_log(HUB_LOG_WARNING, "startup.ignored",
                    HUB_F_TEXT("reason", "dynamic start-up ignores the listed toolsets"));
        }
        break;
    case HUB_STARTUP_DEFAULT:
        (void)start_all(manager, true);
        break;
    }
    hub_notifier_settle(manager->profile->notifier);
    return HUB_OK;
}

void hub_manager_adopt(hub_manager *manager, hub_str toolset)
{
    const hub_profile_settings *settings = manager->profile->settings;
    bool takes_all = settings->startup == HUB_STARTUP_DEFAULT ||
                     (settings->toolsets.count == 1 && strcmp(settings->toolsets.items[0], "ALL") == 0);
    if (takes_all && start_or_log(manager, toolset)) {
        hub_notifier_changed(manager->profile->notifier, false);
    }
}

hub_err hub_manager_create(hub_profile *profile, hub_manager **ret_manager)
{
    hub_manager *manager = calloc(1, sizeof *manager);
    if (manager == NULL) {
        return HUB_ENOMEM;
    }
    manager->profile = profile;
    *ret_manager = manager;
    return HUB_OK;
}

/* Give back what an abandoned operation holds. */
static void abandon(toolset_op *operation)
{
    for (size_t i = 0; i < operation->count; i++) {
        operation_item *item = &operation->items[i];
        if (item->waiting) {
            hub_toolset_unwait(item->toolset, &item->waiter);
        }
        if (item->toolset != NULL) {
            hub_toolset_unuse(item->toolset);
        }
    }
    free_operation(operation);
}

void hub_manager_destroy(hub_manager *manager)
{
    if (manager == NULL) {
        return;
    }
    if (manager->enabling != NULL) {
        abandon(manager->enabling);
    }
    while (manager->disables != NULL) {
        toolset_op *next = manager->disables->next;
        free_operation(manager->disables);
        manager->disables = next;
    }
    size_t count;
    const hub_source *sources = hub_registry_sources(manager->profile->registry, &count);
    for (size_t i = 0; i < count; i++) {
        if (!sources[i].bare) {
            hub_toolset_unuse(sources[i].owner);
        }
    }
    free(manager);
}

bool hub_manager_is_static(const hub_manager *manager)
{
    return manager->is_static;
}
