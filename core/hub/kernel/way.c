/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/way.h"

#include "hub/kernel/binding.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/objects.h"
#include "tools/definition.h"

#include <stdlib.h>

/* ---- which stations -------------------------------------------------------------------------- */

/* Whether the client is shown the tool without its outputSchema because its revision does not allow
 * what that says. */
static bool lacks_output(const hub_call *call, const hub_item *item)
{
    hub_revision revision = call->context.revision;
    return item != NULL && revision != HUB_REVISION_NONE &&
           (item->structured & HUB_REVISION_BIT(revision)) == 0;
}

/* What this call has that a station may react to. */
static unsigned triggers_of(const hub_call *call, const hub_way *way)
{
    const hub_message *message = way->message;
    unsigned triggers = lacks_output(call, way->item) ? HUB_ON_OUTPUT : 0;
    if (message->at[HUB_M_TASK].len > 0) {
        triggers |= HUB_ON_TASK;
    }
    if (message->at[HUB_M_REQUEST_STATE].len + message->at[HUB_M_INPUT_RESPONSES].len > 0) {
        triggers |= HUB_ON_STATE;
    }
    if (call->context.era == HUB_ERA_MODERN) {
        triggers |= call->context.capabilities.len > 2 ? HUB_ON_CAPABLE : 0;
        triggers |= call->context.log_level.len > 0 ? HUB_ON_LEVEL : 0;
    }
    return triggers;
}

static hub_station_mask wanted(const hub_call *call, const hub_way *way)
{
    return way->toolset->hub->wanted | way->toolset->wanted |
           hub_stations_triggered(triggers_of(call, way));
}

/* The gate's station, if a call that has just come need not visit it. */
static hub_station_mask passed_by(const hub_call *call, const hub_way *way)
{
    const hub_gate *gate = way->toolset->hub->gate;
    return gate != NULL && call->session != NULL && call->used == 0 && gate->is_open(call, way)
               ? gate->station->place->bit
               : 0;
}

/* Nobody has judged it: if its client is asked something, it is judged by its names when that is
 * back. Each call of a toolset that can ask comes past here: two copies, and no more. */
static void keep_names(hub_call *call, const hub_way *way)
{
    if (call->was_let_by && call->context.capabilities.len > 2 &&
        hub_binding_may_ask(call->binding) &&
        way->name.len + way->name_json.len <= sizeof call->names) {
        memcpy(call->names, way->name.ptr, way->name.len);
        memcpy(call->names + way->name.len, way->name_json.ptr, way->name_json.len);
        call->name_len = (uint16_t)way->name.len;
        call->name_json_len = (uint16_t)way->name_json.len;
    }
}

void hub_call_note_asked(hub_call *call)
{
    HUB_IS(call, CALL);
    const hub_gate *gate = call->session != NULL ? call->session->profile->hub->gate : NULL;
    if (gate != NULL && call->name_json_len > 0) {
        gate->asked(call);
    }
}

/* It is held: it is judged when it goes on, also if it was not when it came. */
static void note_held(hub_call *call, const hub_way *way)
{
    const hub_gate *gate = way->toolset->hub->gate;
    if (gate != NULL && call->session != NULL &&
        ((call->begun | call->used) & gate->station->place->bit) == 0) {
        call->begun |= gate->station->place->bit;
        gate->held(call, way);
    }
}

/* ---- to the instance ------------------------------------------------------------------------- */

static void deliver(hub_call *call, const hub_way *way)
{
    const hub_toolset *toolset = way->toolset;
    const hub_settings *settings = toolset->hub->settings;
    hub_binding *binding = toolset->binding;
    hub_assert(binding != NULL && binding->instance != NULL);
    hub_str params = way->message->at[HUB_M_PARAMS];
    hub_handover handover = {
        .way = way,
        .request =
            {
                .struct_size = sizeof handover.request,
                .flags = call->context.progress_token.len > 0 ? PATCHBAY_WANTS_PROGRESS : 0,
                .tool = way->name,
                .args_json = way->arguments,
                .meta_json = way->message->at[HUB_M_META],
                .method = way->message->method,
                .params_json = params.len > 0 ? params : HUB_STR("{}"),
                .name_json = way->name_json,
            },
    };
    hub_call_bind(call, binding, !way->is_aside);
    keep_names(call, way);
    for (hub_station_mask left = call->begun; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctzll(left));
        if (station->hand_over != NULL && station->hand_over(call, &handover) != HUB_GO_ON) {
            return;
        }
    }
    hub_call_set_deadline(
        call, way->timeout_ms > 0 ? way->timeout_ms : toolset->settings->call_timeout_ms,
        settings->limits.call_ceiling_ms);
    handover.request.deadline_ms = hub_call_deadline_ms(call, call->begin_ms);
    hub_instance_call(binding->instance, call->id, &handover.request);
}

/* ---- past the stations ----------------------------------------------------------------------- */

/* Go on with the stations `left`. A station may put another toolset in the place of this one; whose
 * stations those are that follow is decided then. */
static void go_on(hub_call *call, hub_way *way, hub_station_mask left)
{
    const hub_toolset *toolset = way->toolset;
    while (left != 0) {
        unsigned at = (unsigned)__builtin_ctzll(left);
        const hub_station *station = hub_stations_at(at);
        left &= left - 1;
        call->begun |= station->place->bit;
        call->at = at;
        if (station->begin == NULL) {
            continue;
        }
        hub_verdict verdict = station->begin(call, way);
        if (verdict == HUB_HOLD) {
            note_held(call, way);
        }
        if (verdict == HUB_PASS) {
            call->begun &= ~station->place->bit;
        } else if (verdict != HUB_GO_ON) {
            return;
        }
        if (way->toolset != toolset) {
            toolset = way->toolset;
            left = at + 1 < HUB_STATIONS_MOST ? wanted(call, way) & ~(hub_station_mask)0 << (at + 1)
                                              : 0;
        }
    }
    if (way->toolset->answer != NULL) {
        way->toolset->answer(call, way);
    } else {
        deliver(call, way);
    }
}

void hub_call_send(hub_call *call, hub_way *way)
{
    HUB_IS(call, CALL);
    hub_assert(call->binding == NULL && call->begun == 0);
    call->may_ask =
        call->context.era == HUB_ERA_MODERN &&
        (call->is_tool_call || call->is_reading || hub_str_is(way->message->method, "prompts/get"));
    hub_station_mask passed = passed_by(call, way);
    call->was_let_by = passed != 0;
    go_on(call, way, wanted(call, way) & ~passed);
}

/* ---- holding --------------------------------------------------------------------------------- */

hub_kept_way *hub_way_keep(const hub_way *way)
{
    hub_assert(way->toolset != NULL && way->message != NULL);
    hub_str message = way->message->whole;
    hub_kept_way *kept = malloc(sizeof *kept + message.len + way->name.len);
    if (kept != NULL) {
        char *at = kept->text;
        kept->way = *way;
        kept->way.item = NULL; /* the catalog may be another one by then */
        kept->way.message = NULL;
        kept->message = hub_str_put(&at, message);
        kept->way.name = hub_str_put(&at, way->name);
        kept->way.name_json = hub_str_moved(way->name_json, message, kept->message.ptr);
        kept->way.arguments = hub_str_moved(way->arguments, message, kept->message.ptr);
    }
    return kept;
}

size_t hub_kept_way_bytes(const hub_kept_way *kept)
{
    return kept->message.len + kept->way.name.len;
}

void hub_call_send_from(hub_call *call, const hub_station *station, const hub_kept_way *kept)
{
    hub_message message;
    HUB_IS(call, CALL);
    hub_assert(call->at == station->place->index);
    if (hub_message_scan(kept->message, &message, NULL) == HUB_OK) {
        hub_way way = kept->way;
        way.message = &message;
        if (station->place->index + 1 < HUB_STATIONS_MOST) {
            go_on(call, &way,
                  wanted(call, &way) & ~(hub_station_mask)0 << (station->place->index + 1));
        }
    } else { /* it was scanned before: there is no memory for it now */
        hub_call_fail(call, PATCHBAY_UNAVAILABLE, HUB_STR("out of memory"));
    }
}

void hub_call_visit(hub_call *call, const hub_station *station)
{
    HUB_IS(call, CALL);
    if (call->begun != 0 && call->binding == NULL) {
        call->begun |= station->place->bit;
    }
}

bool hub_call_client_returns(hub_call *call)
{
    HUB_IS(call, CALL);
    const hub_gate *gate = call->session != NULL ? call->session->profile->hub->gate : NULL;
    hub_station_mask left = call->begun | call->used;
    left |= gate != NULL ? gate->station->place->bit : 0;
    for (; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctzll(left));
        if (station->client_returns != NULL && station->client_returns(call) != HUB_GO_ON) {
            return false;
        }
    }
    return true;
}

void hub_call_hand_over_again(hub_call *call, patchbay_request *request)
{
    HUB_IS(call, CALL);
    call->is_idle = false;
    call->is_ending = false; /* another outcome will come */
    hub_call_touch(call);
    hub_instance_call(call->binding->instance, call->id, request);
}
