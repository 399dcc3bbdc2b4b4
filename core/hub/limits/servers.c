/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/servers.h"

#include "base/clock.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/isolation.h"
#include "hub/kernel/toolset.h"
#include "hub/limits/queue.h"
#include "modules/process.h"

#include <string.h>

/* What mcp_upstream is asked to do: stop the server, if it is idle. Answered at once. */
#define REST_METHOD "patchbay/rest"

enum {
    REST_MS = 1000,
    MOST_TRIES = 64, /* of servers that do not stop: for one start */
};

/* With a toolset. */
typedef struct toolset_servers {
    uint64_t used_us; /* when the last call of it ended; 0: none did */
    uint64_t tried;   /* in which search for a place it was asked last */
} toolset_servers;

/* With the hub. */
typedef struct servers {
    uint64_t searches;
} servers;

static toolset_servers *within(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_SERVERS_STATION);
}

size_t hub_servers_running(const hub_orchestrator *hub)
{
    return hub_process_servers(hub_processes_of(hub));
}

/* Whether the server may be asked to stop, as far as the hub knows. */
static bool is_idle(const hub_toolset *toolset)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    const hub_capabilities *can = hub_toolset_capabilities(toolset);
    const hub_binding *binding = hub_toolset_binding(toolset);
    bool is_ours = settings->is_isolated || strcmp(settings->module, HUB_ISOLATION_MODULE) == 0;
    return is_ours && binding != NULL && hub_toolset_state(toolset) == PATCHBAY_STATE_READY &&
           hub_toolset_health_of(toolset)->pid != 0 && hub_binding_calls(binding) == NULL &&
           hub_queue_count(toolset) == 0 && !can->runs_tasks && !can->extends_tasks;
}

/* The idle one that was used least recently, of those that were not asked in this search. */
static hub_toolset *find_idle(const hub_orchestrator *hub, uint64_t search)
{
    hub_toolset *found = NULL;
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_toolset *toolset = hub_toolset_at(hub, i);
        if (within(toolset)->tried != search && is_idle(toolset) &&
            (found == NULL || within(toolset)->used_us < within(found)->used_us)) {
            found = toolset;
        }
    }
    return found;
}

static void on_outcome(void *ctx, const hub_outcome *outcome)
{
    (void)ctx; /* whether it has stopped is seen */
    (void)outcome;
}

static void ask_to_rest(hub_toolset *toolset)
{
    patchbay_request request = {
        .args_json = HUB_STR("{}"), .method = HUB_STR(REST_METHOD), .params_json = HUB_STR("{}")};
    hub_call *call;
    hub_err err = hub_toolset_request(toolset, &request, REST_MS, on_outcome, NULL, &call);
    (void)err; /* then it has not stopped */
}

hub_err hub_servers_admit(void *ctx, const char *toolset, hub_error *reterr)
{
    hub_orchestrator *hub = ctx;
    servers *all = hub_hub_part(hub, &HUB_SERVERS_STATION);
    size_t most = hub_settings_of(hub)->limits.running_servers;
    uint64_t search = ++all->searches;
    if (most == 0) {
        return HUB_OK;
    }
    for (int tries = 0; hub_servers_running(hub) >= most && tries < MOST_TRIES; tries++) {
        hub_toolset *idle = find_idle(hub, search);
        if (idle == NULL) {
            break;
        }
        within(idle)->tried = search;
        ask_to_rest(idle);
    }
    return hub_servers_running(hub) < most
               ? HUB_OK
               : hub_fail(reterr, HUB_ELIMIT,
                          "cannot start the server of toolset \"%s\": as many run as "
                          "limits.running_servers allows (%zu), and none of them is idle; it is "
                          "tried again",
                          toolset, hub_servers_running(hub));
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    return hub_settings_of(hub)->limits.running_servers > 0;
}

static void end(hub_call *call, const struct hub_outcome *outcome)
{
    (void)outcome;
    const hub_toolset *toolset = hub_call_toolset(call);
    if (toolset != NULL) {
        within(toolset)->used_us = hub_clock_turn_us();
    }
}

static hub_station_place place;

const hub_station HUB_SERVERS_STATION = {
    .name = "servers",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(servers), [HUB_PART_TOOLSET] = sizeof(toolset_servers)},
    .wants_toolset = wants_toolset,
    .end = end,
};
