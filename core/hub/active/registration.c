/* SPDX-License-Identifier: Apache-2.0 */
/* Steps 4 and 5 for the toolsets of an operation: their tools become those of the audience. */
#include "hub/active/manager_internal.h"

#include "hub/kernel/audience.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/subscription.h"

#include <stdlib.h>

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

/* Add the toolsets that may be added, those that have answered first: all in one step, or, if one
 * cannot be, one by one. */
static void add_sources(hub_operation *operation)
{
    hub_manager *manager = operation->manager;
    hub_exposure *exposure = hub_audience_exposure(manager->audience);
    size_t active = hub_manager_active_count(manager);
    size_t count = 0;
    hub_source *sources = calloc(operation->count + 1, sizeof *sources);
    for (size_t turn = 0; turn < 2 * operation->count; turn++) {
        size_t at = turn % operation->count;
        hub_manager_result *result = &operation->results[at];
        bool is_turn = result->is_down == (turn >= operation->count);
        if (!is_turn || result->err != HUB_OK || !operation->items[at].is_used) {
            continue;
        }
        manager_admit_again(operation, at, active + count);
        if (result->err == HUB_OK && sources != NULL) {
            sources[count++] = hub_toolset_source(operation->items[at].toolset);
        }
    }
    bool done = sources != NULL && hub_exposure_add(exposure, sources, count, NULL) == HUB_OK;
    free(sources);
    for (size_t i = 0; !done && i < operation->count; i++) {
        hub_manager_result *result = &operation->results[i];
        if (result->err == HUB_OK && operation->items[i].is_used) {
            hub_source source = hub_toolset_source(operation->items[i].toolset);
            result->err = hub_exposure_add(exposure, &source, 1, &result->why);
        }
    }
}

/* Steps 4 and 5: register the tools, or give the toolsets back. */
void manager_register(hub_operation *operation)
{
    const hub_exposure *exposure = hub_audience_exposure(operation->manager->audience);
    add_sources(operation);
    for (size_t i = 0; i < operation->count; i++) {
        const hub_operation_item *item = &operation->items[i];
        hub_manager_result *result = &operation->results[i];
        if (result->err == HUB_OK) {
            result->tool_count =
                count_exposed(hub_exposure_shown(exposure, HUB_KIND_TOOL), item->toolset);
        }
        if (result->err == HUB_OK && item->is_used) {
            hub_subscription_wake(operation->manager->audience, item->toolset);
        } else if (item->is_used) {
            hub_toolset_unuse(item->toolset);
        } else {
            hub_operation_follow_first(operation, i);
        }
    }
}

/* Whether any toolset has become active. */
bool manager_register_all(hub_operation *operation)
{
    bool changed = false;
    manager_register(operation);
    for (size_t i = 0; i < operation->count; i++) {
        hub_operation_log(operation, i, "toolset.enabled");
        changed = changed || (operation->items[i].is_used && operation->results[i].err == HUB_OK);
    }
    return changed;
}
