/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a call: its outcome goes back past its stations, and then it is completed, once. */
#include "hub/kernel/call.h"

#include "base/limits.h"
#include "hub/kernel/call_kept.h"
#include "hub/kernel/call_table.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/toolset.h"

/* A place of the toolset is free: those of its stations hear of it that see its calls. */
static void tell_place(hub_toolset *toolset)
{
    for (hub_station_mask left = toolset->wanted; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctzll(left));
        if (station->place_is_free != NULL) {
            station->place_is_free(toolset);
        }
    }
}

static void unlink_binding(hub_call *call)
{
    hub_binding *binding = call->binding;
    if (binding == NULL) {
        return;
    }
    if (call->binding_prev != NULL) {
        hub_assert(call->binding_prev->binding_next == call);
        call->binding_prev->binding_next = call->binding_next;
    } else {
        hub_assert(binding->calls == call);
        binding->calls = call->binding_next;
    }
    if (call->binding_next != NULL) {
        hub_assert(call->binding_next->binding_prev == call);
        call->binding_next->binding_prev = call->binding_prev;
    }
    call->binding = NULL;
    if (call->takes_place) {
        hub_assert(binding->places > 0);
        binding->places--;
        tell_place(binding->toolset);
    }
    hub_binding_call_ended(binding);
}

void hub_call_send_away(hub_call *call, const hub_outcome *outcome)
{
    HUB_IS(call, CALL);
    hub_assert(call->session != NULL && call->on_outcome == NULL);
    hub_call_part(call);
    hub_respond_outcome(call, outcome);
    call->port = NULL;
}

void hub_call_unbind(hub_call *call)
{
    HUB_IS(call, CALL);
    hub_call_stop_waiting(call);
    unlink_binding(call);
}

/* Tell its stations that it ends, and take it out of every list; its spans stay valid until
 * hub_call_release. */
static void detach(hub_call *call, const hub_outcome *outcome)
{
    hub_call_stop_waiting(call);
    for (hub_station_mask left = call->begun | call->used; left != 0;) {
        unsigned row = HUB_STATIONS_MOST - 1 - (unsigned)__builtin_clzll(left);
        const hub_station *station = hub_stations_at(row);
        left &= ~station->place->bit;
        if (station->end != NULL) {
            station->end(call, outcome);
        }
    }
    hub_call_part(call);
    unlink_binding(call);
}

void hub_call_release(hub_call *call)
{
    hub_assert(call->session == NULL && call->binding == NULL);
    for (hub_station_mask left = call->begun | call->used; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctzll(left));
        if (station->drop != NULL) {
            station->drop(call);
        }
    }
    hub_call_forget_kept(call);
    hub_call_give_slot_back(call);
}

/* The last step: whoever asked has the answer. */
static void complete(hub_call *call, const hub_outcome *outcome)
{
    const hub_session *session = call->session;
    hub_assert(session != NULL || call->on_outcome != NULL);
    detach(call, outcome);
    if (call->on_outcome != NULL) {
        call->on_outcome(call->ctx, outcome);
    } else if (!session->closing) {
        hub_respond_outcome(call, outcome);
    }
    hub_call_release(call);
}

static bool is_of_older_client(const hub_call *call)
{
    return call->is_tool_call && call->context.era == HUB_ERA_LEGACY &&
           call->context.revision != HUB_REVISION_NONE;
}

/* Which stations an outcome passes: those that the call was begun at or that have state with it, and
 * those that react to what it is. */
static hub_station_mask passed_by(const hub_call *call, const hub_outcome *outcome)
{
    unsigned triggers = 0;
    if (call->on_outcome != NULL) {
        return call->used;
    }
    if (outcome->status == PATCHBAY_RPC_ERROR) {
        triggers = HUB_ON_RPC_ERROR;
    } else if (outcome->is_partial) {
        triggers = HUB_ON_TYPED;
    } else if (outcome->has_type && is_of_older_client(call)) {
        triggers = HUB_ON_OUTPUT;
    }
    return call->begun | call->used |
           (call->binding != NULL ? hub_stations_triggered(triggers) : 0);
}

/* Take an outcome back, from those of the stations `left` that are before row `before`. */
static void answer(hub_call *call, const hub_outcome *given, unsigned before)
{
    hub_outcome outcome = *given;
    call->is_ending = true;
    hub_station_mask left = passed_by(call, given);
    while ((left = before < HUB_STATIONS_MOST ? left & (((hub_station_mask)1 << before) - 1)
                                              : left) != 0) {
        unsigned row = HUB_STATIONS_MOST - 1 - (unsigned)__builtin_clzll(left);
        const hub_station *station = hub_stations_at(row);
        before = row;
        call->at = row;
        if (station->answer != NULL && station->answer(call, &outcome) != HUB_GO_ON) {
            return; /* held, or it goes another way */
        }
    }
    complete(call, &outcome);
}

void hub_call_finish(hub_call *call, const hub_outcome *outcome)
{
    HUB_IS(call, CALL);
    if (call->is_ending) { /* what is on its way back goes on with this instead */
        answer(call, outcome, call->at);
    } else {
        answer(call, outcome, HUB_STATIONS_MOST);
    }
}

void hub_call_finish_from(hub_call *call, const hub_station *station, const hub_outcome *outcome)
{
    HUB_IS(call, CALL);
    hub_assert(call->at == station->place->index && call->is_ending);
    answer(call, outcome, station->place->index);
}

static void fail(hub_call *call, int32_t status, hub_str text, bool is_refused)
{
    hub_outcome outcome = {.status = status, .json = text, .is_refused = is_refused};
    hub_call_finish(call, &outcome);
}

void hub_call_fail(hub_call *call, int32_t status, hub_str text)
{
    fail(call, status, text, false);
}

void hub_call_refuse(hub_call *call, int32_t status, hub_str text)
{
    fail(call, status, text, true);
}

static void fail_rpc(hub_call *call, int code, hub_str message, bool is_refused)
{
    hub_buf error;
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_dialect_add_error(&error, code, message, HUB_STR_EMPTY);
    if (hub_buf_ok(&error)) {
        fail(call, PATCHBAY_RPC_ERROR, hub_buf_str(&error), is_refused);
    } else {
        fail(call, PATCHBAY_FAILED, message, is_refused);
    }
    hub_buf_fini(&error);
}

void hub_call_fail_rpc(hub_call *call, int code, hub_str message)
{
    fail_rpc(call, code, message, false);
}

void hub_call_refuse_rpc(hub_call *call, int code, hub_str message)
{
    fail_rpc(call, code, message, true);
}

void hub_call_refuse_overload(hub_call *call, hub_str limit, hub_str text, uint32_t wait_ms)
{
    hub_buf data;
    hub_buf error;
    hub_buf_init(&data, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_respond_add_overload(&data, limit, wait_ms);
    hub_dialect_add_error(&error, HUB_RPC_OVERLOADED, text,
                          hub_buf_ok(&data) ? hub_buf_str(&data) : HUB_STR_EMPTY);
    if (call->session != NULL) {
        call->session->profile->hub->refused++;
    }
    if (hub_buf_ok(&error)) {
        fail(call, PATCHBAY_RPC_ERROR, hub_buf_str(&error), true);
    } else {
        fail(call, PATCHBAY_UNAVAILABLE, text, true);
    }
    hub_buf_fini(&error);
    hub_buf_fini(&data);
}

/* End a call that somebody may be working on: with `outcome` for the client, or without a word. */
static void end_early(hub_call *call, const hub_outcome *outcome)
{
    HUB_IS(call, CALL);
    hub_binding *binding = call->is_idle ? NULL : call->binding;
    uint64_t id = call->id;
    if (binding != NULL) {
        binding->in_flight++; /* a retired binding is not closed before it knows */
    }
    if (outcome != NULL) {
        hub_call_finish(call, outcome);
    } else {
        detach(call, NULL);
        hub_call_release(call);
    }
    if (binding != NULL) {
        hub_binding_cancel(binding, id);
        hub_binding_call_ended(binding);
    }
}

void hub_call_abort(hub_call *call, int32_t status, hub_str text)
{
    hub_outcome outcome = {.status = status, .json = text};
    end_early(call, &outcome);
}

void hub_call_drop(hub_call *call)
{
    end_early(call, NULL);
}
