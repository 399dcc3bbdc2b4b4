/* SPDX-License-Identifier: Apache-2.0 */
/* Steps 1 to 3 for the toolsets of an operation: found, admitted, used, and asked what they offer. */
#include "hub/active/manager_internal.h"

#include "hub/catalogs/discovery.h"
#include "hub/catalogs/discovery_run.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"

bool manager_has(const hub_manager *manager, hub_str key)
{
    return hub_exposure_source(hub_audience_exposure(manager->audience), key) != NULL;
}

/* Step 2: do the policies of hub and profile agree? Nothing is touched. */
hub_err manager_admit(const hub_manager *manager, hub_str key, size_t active, hub_error *reterr)
{
    return hub_profile_admits(hub_audience_profile(manager->audience), key, active, reterr);
}

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    hub_operation_item *item = (hub_operation_item *)waiter;
    hub_operation *operation = item->operation;
    hub_manager_result *result = &operation->results[item - operation->items];
    if (err != HUB_OK) {
        (void)hub_fail(&result->why, err, HUB_STR_FMT, HUB_STR_ARG(reason));
        result->is_down = true;
    }
    item->waiting = false;
    if (--operation->waiting == 0 && !operation->held) {
        manager_all_known(operation);
    }
}

/* Steps 1 to 3 for one toolset: find it, admit it, make its instance. */
static void use_item(hub_operation *operation, size_t at, size_t active)
{
    const hub_manager *manager = operation->manager;
    hub_manager_result *result = &operation->results[at];
    hub_toolset *toolset = NULL;
    result->err = hub_operation_find(operation, at, manager->audience, &toolset, &result->why);
    if (result->err != HUB_OK) {
        return;
    }
    result->is_unchanged = hub_operation_repeats(operation, at) ||
                           (!manager_is_choice(operation) && manager_has(manager, result->toolset));
    if (!result->is_unchanged) {
        result->err = manager_admit(manager, result->toolset, active, &result->why);
    }
    if (!result->is_unchanged && result->err == HUB_OK) {
        result->err = hub_toolset_use(toolset, &result->why);
        operation->items[at].is_used = result->err == HUB_OK;
    }
    if (result->err == HUB_OK) {
        operation->items[at].toolset = toolset;
    }
}

/* Whether an item takes one of the places that max_active counts. */
static bool takes_place(const hub_operation *operation, size_t at)
{
    const hub_manager_result *result = &operation->results[at];
    return result->err == HUB_OK && !result->is_unchanged && !result->is_down;
}

/* Whether it is to be asked what it offers: nobody knows, or it has failed since. */
static bool is_to_ask(const hub_operation *operation, size_t at)
{
    const hub_operation_item *item = &operation->items[at];
    bool is_tried_again = !item->is_used || manager_is_choice(operation);
    return operation->results[at].err == HUB_OK && !hub_operation_repeats(operation, at) &&
           (hub_discovery_is_unknown(item->toolset) ||
            (is_tried_again && hub_discovery_has_failed(item->toolset)));
}

/* Use those of an operation that were not used yet, or had no place, and ask them. */
void manager_use_items(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    size_t active = manager_is_choice(operation) ? 0 : hub_manager_active_count(manager);
    size_t unknown = 0;
    bool is_first = !operation->has_begun;
    operation->has_begun = true;
    for (size_t i = 0; i < operation->count; i++) {
        active += takes_place(operation, i) && operation->items[i].is_used;
    }
    for (size_t i = 0; i < operation->count; i++) {
        operation->items[i].is_new = is_first || operation->results[i].err == HUB_ELIMIT;
        if (operation->items[i].is_new) {
            use_item(operation, i, active);
            active += operation->items[i].is_used;
            unknown +=
                is_to_ask(operation, i) && !hub_discovery_is_asked(operation->items[i].toolset);
        }
    }
    hub_discovery_run *run =
        hub_discovery_begin_traced(manager_hub(manager), unknown, hub_str_of(operation->trace));
    operation->has_asked = operation->has_asked || run != NULL;
    for (size_t i = 0; i < operation->count; i++) {
        hub_operation_item *item = &operation->items[i];
        if (item->is_new && is_to_ask(operation, i)) {
            item->waiter.on_known = on_known;
            item->waiting = true;
            operation->waiting++;
            hub_discovery_try(item->toolset, &item->waiter, run);
        }
    }
    hub_discovery_asked(run);
}

/* Wait no longer for those that have not answered. */
void manager_stop_waiting(hub_operation *operation)
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

void manager_admit_again(hub_operation *operation, size_t at, size_t active)
{
    hub_manager_result *result = &operation->results[at];
    hub_error why;
    hub_toolset *toolset = NULL;
    result->err = hub_operation_find(operation, at, operation->manager->audience, &toolset, &why);
    if (result->err != HUB_OK) { /* its catalog is known now: nothing of it may be seen */
        result->why = why;
        result->is_down = false;
        return;
    }
    hub_err err = manager_admit(operation->manager, result->toolset, active, &why);
    if (err != HUB_OK && result->is_down) {
        hub_error down = result->why;
        result->err = hub_fail(&result->why, err, "toolset \"%s\" cannot be reached: %s; %s",
                               hub_toolset_key(toolset), down.text, why.text);
    } else if (err != HUB_OK) {
        result->err = err;
        result->why = why;
    }
    result->is_down = result->is_down && err == HUB_OK;
}

void manager_use_now(hub_operation *operation, size_t active)
{
    for (size_t i = 0; i < operation->count; i++) {
        use_item(operation, i, active);
        active += operation->items[i].is_used;
    }
}

static bool is_eager(const hub_operation *operation, size_t at)
{
    const hub_toolset *toolset = operation->items[at].toolset;
    return operation->items[at].is_used && operation->results[at].err == HUB_OK &&
           !hub_toolset_settings_of(toolset)->lazy && hub_discovery_is_due(toolset);
}

/* Ask those that are not to wait for somebody who needs them. */
void manager_ask_eager(hub_operation *operation)
{
    size_t count = 0;
    for (size_t i = 0; i < operation->count; i++) {
        count += is_eager(operation, i);
    }
    hub_discovery_run *run =
        hub_discovery_begin(manager_hub(operation->manager), count, HUB_STR_EMPTY);
    for (size_t i = 0; i < operation->count; i++) {
        if (is_eager(operation, i)) {
            hub_discovery_wake(operation->items[i].toolset, run);
        }
    }
    hub_discovery_asked(run);
}
