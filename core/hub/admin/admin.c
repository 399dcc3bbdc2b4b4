/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/admin/admin.h"

#include "hub/admin/events_internal.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/way.h"

#include <stdlib.h>

hub_admin_part *hub_admin_part_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_ADMIN_STATION);
}

void hub_admin_set(hub_orchestrator *hub, const hub_administrator *administrator, void *ctx)
{
    hub_admin_part *part = hub_admin_part_of(hub);
    part->administrator = administrator;
    part->ctx = ctx;
}

void hub_admin_set_reader(hub_orchestrator *hub, hub_admin_read *read, void *ctx)
{
    hub_admin_part *part = hub_admin_part_of(hub);
    part->read = read;
    part->read_ctx = ctx;
}

hub_admin_read *hub_admin_reader_of(const hub_orchestrator *hub, void **ret_ctx)
{
    const hub_admin_part *part = hub_admin_part_of(hub);
    *ret_ctx = part->read_ctx;
    return part->read;
}

void hub_admin_respond(const hub_request *request)
{
    const hub_admin_part *part = hub_admin_part_of(hub_session_hub(request->session));
    if (part->administrator != NULL) {
        part->administrator->serve(part->ctx, request);
        return;
    }
    hub_respond_error(request, HUB_RPC_METHOD_NOT_FOUND,
                      HUB_STR("Method not found: " HUB_ADMIN_METHOD), HUB_STR_EMPTY);
}

void hub_admin_on_end(hub_call *call, void (*on_end)(void *ctx), void *ctx)
{
    hub_admin_call *part = hub_call_part_of(call, &HUB_ADMIN_STATION);
    part->on_end = on_end;
    part->ctx = ctx;
}

/* ---- the station ----------------------------------------------------------------------------- */

static bool wants_hub(const hub_orchestrator *hub)
{
    return hub_events_are_kept(hub);
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    return way->is_aside ? HUB_PASS : hub_events_call_begun(call, way);
}

static void end(hub_call *call, const hub_outcome *outcome)
{
    hub_admin_call *part = hub_call_find_part(call, &HUB_ADMIN_STATION);
    if (part == NULL) {
        return;
    }
    if (part->event_number > 0) {
        hub_events_call_ended(call, outcome);
    }
    void (*on_end)(void *ctx) = part->on_end;
    part->on_end = NULL;
    if (on_end != NULL) {
        on_end(part->ctx);
    }
}

static void drop(hub_call *call)
{
    hub_admin_call *part = hub_call_find_part(call, &HUB_ADMIN_STATION);
    if (part != NULL) {
        free(part->what);
        part->what = NULL;
    }
}

static hub_err begin_hub(hub_orchestrator *hub, hub_error *reterr)
{
    return hub_events_create(hub, &hub_admin_part_of(hub)->events, reterr);
}

static void drop_hub(hub_orchestrator *hub)
{
    hub_admin_part *part = hub_admin_part_of(hub);
    hub_events_destroy(part->events);
    part->events = NULL;
}

static hub_station_place place;

const hub_station HUB_ADMIN_STATION = {
    .name = "admin",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_admin_part), [HUB_PART_CALL] = sizeof(hub_admin_call)},
    .wants_hub = wants_hub,
    .begin = begin,
    .end = end,
    .drop = drop,
    .hub_begins = begin_hub,
    .hub_drops = drop_hub,
};
