/* SPDX-License-Identifier: Apache-2.0 */
/* The station of catalogs: when the others of this folder are told of what. */
#include "hub/catalogs/catalogs_internal.h"
#include "hub/catalogs/parking.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

#include <stdlib.h>

toolset_catalogs *hub_catalogs_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_CATALOGS_STATION);
}

hub_catalogs *hub_catalogs_with(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_CATALOGS_STATION);
}

audience_catalogs *hub_catalogs_in(const hub_audience *audience)
{
    return hub_audience_part(audience, &HUB_CATALOGS_STATION);
}

void hub_discovery_ended(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        hub_audience *next;
        for (hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = next) {
            next = hub_audience_next(at); /* it may go with its last request */
            hub_parking_wake(at);
        }
    }
}

void hub_discovery_recall(hub_toolset *toolset)
{
    hub_catalog_cache_recall(toolset);
}

void hub_discovery_forget_file(hub_toolset *toolset)
{
    hub_catalog_cache_forget(toolset);
    hub_shared_forget(toolset);
}

bool hub_discovery_settle(hub_orchestrator *hub)
{
    return hub_catalog_cache_settle(hub_catalogs_with(hub)->cache);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Whether somebody has to find out whether the server still has what is called. */
static bool wants_toolset(const hub_toolset *toolset)
{
    return hub_catalogs_of(toolset)->is_recalled;
}

static hub_verdict hand_over(hub_call *call, hub_handover *handover)
{
    if (hub_call_is_of_tool(call)) {
        call_catalogs *part = hub_call_part_of(call, &HUB_CATALOGS_STATION);
        part->promised =
            hub_str_dup(handover->way->name); /* without it the server says so itself */
    }
    return HUB_GO_ON;
}

static void end_call(hub_call *call, const hub_outcome *outcome)
{
    (void)outcome;
    hub_parking_end(call);
}

static void drop_call(hub_call *call)
{
    call_catalogs *part = hub_call_find_part(call, &HUB_CATALOGS_STATION);
    if (part != NULL) {
        free(part->promised);
    }
}

/* ---- toolsets -------------------------------------------------------------------------------- */

static void stop_asking(hub_toolset *toolset)
{
    hub_catalogs_of(toolset)->was_asked = hub_discovery_stop(toolset);
}

static void begin_anew(hub_toolset *toolset)
{
    hub_discovery_forget_failure(toolset);
}

static void go_on(hub_toolset *toolset)
{
    bool was_asked = hub_catalogs_of(toolset)->was_asked;
    if (hub_toolset_settings_of(toolset)->is_isolated &&
        hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL) {
        hub_discovery_ask_anew(toolset, NULL, NULL); /* another program, another catalog */
    } else if (was_asked && hub_discovery_is_pending(toolset)) {
        hub_discovery_want(toolset, NULL, NULL);
    } else if (was_asked) {
        hub_discovery_tell(toolset, HUB_OK, HUB_STR_EMPTY);
        hub_discovery_ended(hub_toolset_hub(toolset));
    }
}

/* One that is known from the disk: the store may have a newer one. */
static void look(hub_toolset *toolset)
{
    if (hub_catalogs_of(toolset)->is_recalled) {
        hub_shared_look(toolset);
    }
}

static void tell_disabled(hub_toolset *toolset)
{
    hub_discovery_tell(toolset, HUB_EUNAVAILABLE, HUB_STR("the toolset was disabled"));
    if (hub_catalogs_of(toolset)->was_asked) {
        hub_discovery_ended(hub_toolset_hub(toolset)); /* nobody need wait for it any more */
    }
}

static void take_list(hub_toolset *toolset, hub_kind kind)
{
    const hub_binding *binding = hub_toolset_binding(toolset);
    (void)kind;
    if (binding != NULL && hub_binding_is_deferred(binding)) {
        hub_discovery_take(toolset);
    }
}

static void take_capabilities(hub_toolset *toolset)
{
    hub_catalogs_of(toolset)->told_no_room = false;
}

static void forget(hub_toolset *toolset)
{
    hub_discovery_forget_file(toolset);
    hub_catalogs_of(toolset)->learned_at_ms = 0;
    hub_catalogs_of(toolset)->is_recalled = false;
}

static void end_toolset(hub_toolset *toolset)
{
    hub_assert(hub_catalogs_of(toolset)->waiters == NULL);
    hub_discovery_forget_failure(toolset);
    hub_discovery_forget_file(toolset);
}

/* ---- the hub --------------------------------------------------------------------------------- */

static hub_err begin_hub(hub_orchestrator *hub, hub_error *reterr)
{
    hub_discovery_init(hub);
    hub_catalogs *part = hub_catalogs_with(hub);
    return hub_catalog_cache_create(hub, &part->cache) == HUB_OK &&
                   hub_shared_create(hub, hub_discovery_sought, &part->shared) == HUB_OK
               ? HUB_OK
               : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

static void end_hub(hub_orchestrator *hub)
{
    ev_timer_stop(hub_loop(hub), &hub_catalogs_with(hub)->refresh);
    hub_shared_stop(hub_catalogs_with(hub)->shared);
}

static void drop_hub(hub_orchestrator *hub)
{
    hub_catalog_cache_destroy(hub_catalogs_with(hub)->cache);
    hub_shared_destroy(hub_catalogs_with(hub)->shared);
}

static hub_station_place place;

const hub_station HUB_CATALOGS_STATION = {
    .name = "catalogs",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_catalogs),
              [HUB_PART_AUDIENCE] = sizeof(audience_catalogs),
              [HUB_PART_TOOLSET] = sizeof(toolset_catalogs),
              [HUB_PART_CALL] = sizeof(call_catalogs)},
    .wants_toolset = wants_toolset,
    .hand_over = hand_over,
    .end = end_call,
    .drop = drop_call,
    .hub_begins = begin_hub,
    .hub_ends = end_hub,
    .hub_drops = drop_hub,
    .session_moved = hub_parking_move,
    .toolset_begins = hub_discovery_init_toolset,
    .toolset_linked = hub_catalog_cache_recall,
    .toolset_rebinds = stop_asking,
    .toolset_begins_anew = begin_anew,
    .toolset_bound = look,
    .toolset_rebound = go_on,
    .toolset_unbound = stop_asking,
    .toolset_idle = tell_disabled,
    .toolset_listed = take_list,
    .toolset_can = take_capabilities,
    .toolset_forgotten = forget,
    .toolset_ends = end_toolset,
};
