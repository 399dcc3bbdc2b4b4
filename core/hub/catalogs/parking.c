/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/parking.h"

#include "base/limits.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"

#include <stdlib.h>
#include <utlist.h>

bool hub_parking_is_useful(const hub_audience *audience, bool patient)
{
    size_t count;
    const hub_source *sources = hub_exposure_sources(hub_audience_exposure(audience), &count);
    for (size_t i = 0; i < count; i++) {
        const hub_toolset *toolset = sources[i].bare ? NULL : sources[i].owner;
        if (toolset != NULL && hub_discovery_is_pending(toolset) &&
            (patient || !hub_discovery_is_late(toolset))) {
            return true;
        }
    }
    return false;
}

static parked **list_of(const parked *one)
{
    audience_catalogs *in = hub_catalogs_in(hub_session_audience(hub_call_session(one->call)));
    return &in->waiting[one->is_patient];
}

/* It waits no more. owns: the result, the request's bytes */
static char *take_out(parked *one)
{
    char *bytes = one->bytes;
    parked **list = list_of(one);
    hub_call_stop_waiting(one->call);
    DL_DELETE(*list, one);
    hub_session_release(hub_call_session(one->call), one->len);
    one->handle = NULL;
    one->bytes = NULL;
    return bytes;
}

void hub_parking_end(hub_call *call)
{
    call_catalogs *part = hub_call_find_part(call, &HUB_CATALOGS_STATION);
    if (part != NULL && part->parked.handle != NULL) {
        free(take_out(&part->parked));
    }
}

/* Take a parked request up again, with what is known by now: it does not wait twice. */
static void resume(parked *one)
{
    hub_call *call = one->call;
    hub_request_handler *handle = one->handle;
    hub_str text = {.ptr = one->bytes, .len = one->len};
    char *bytes = take_out(one);
    hub_message message;
    if (hub_message_scan(text, &message, NULL) == HUB_OK) {
        hub_request_resume(call, &message, handle);
    } else { /* it was scanned before: there is no memory for it now */
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    }
    free(bytes);
}

/* Nobody waits any longer for the catalogs that a list has waited for. */
static void note_wait(const hub_audience *audience)
{
    size_t count;
    const hub_source *sources = hub_exposure_sources(hub_audience_exposure(audience), &count);
    for (size_t i = 0; i < count; i++) {
        hub_toolset *toolset = sources[i].bare ? NULL : sources[i].owner;
        if (toolset != NULL && hub_discovery_is_pending(toolset)) {
            hub_discovery_note_wait(toolset);
        }
    }
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    call_catalogs *part = hub_call_find_part(call, &HUB_CATALOGS_STATION);
    hub_audience *audience = hub_session_audience(hub_call_session(call));
    if (!part->parked.is_patient) {
        note_wait(audience);
    }
    resume(&part->parked);
    hub_parking_wake(audience);
}

static void wait(hub_call *call, const hub_request *request, char *bytes, bool patient)
{
    const hub_orchestrator *hub = hub_session_hub(request->session);
    call_catalogs *part = hub_call_part_of(call, &HUB_CATALOGS_STATION);
    part->parked = (parked){.call = call,
                            .handle = request->handle,
                            .bytes = bytes,
                            .len = request->message->whole.len,
                            .is_patient = patient};
    parked **list = list_of(&part->parked);
    DL_APPEND(*list, &part->parked);
    hub_call_wait(call, hub_settings_of(hub)->limits.discover_timeout_ms, on_time);
}

void hub_parking_add(const hub_request *request, bool patient)
{
    hub_session *session = request->session;
    hub_str whole = request->message->whole;
    if (!hub_session_hold(session, whole.len)) {
        hub_respond_refusal(request, HUB_ELIMIT);
        return;
    }
    hub_call *call = hub_request_begin(request);
    char *bytes = call != NULL ? hub_str_dup(whole) : NULL;
    if (bytes == NULL) {
        hub_session_release(session, whole.len);
        if (call != NULL) {
            hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        }
        return;
    }
    wait(call, request, bytes, patient);
    hub_audience *audience = hub_session_audience(session);
    hub_discovery_ask(audience, request->message->at[HUB_M_META]);
    hub_parking_wake(audience);
}

void hub_parking_move(hub_session *session, hub_audience *from)
{
    for (int patient = 0; patient <= 1; patient++) {
        parked **to = &hub_catalogs_in(hub_session_audience(session))->waiting[patient];
        parked **list = &hub_catalogs_in(from)->waiting[patient];
        parked *one;
        parked *next;
        DL_FOREACH_SAFE(*list, one, next)
        {
            if (hub_call_session(one->call) == session) {
                DL_DELETE(*list, one);
                DL_APPEND(*to, one);
            }
        }
    }
}

void hub_parking_wake(hub_audience *audience)
{
    for (int patient = 0; patient <= 1; patient++) {
        const audience_catalogs *in = hub_catalogs_in(audience);
        bool is_over = in->waiting[patient] != NULL && !hub_parking_is_useful(audience, patient);
        while (is_over && in->waiting[patient] != NULL) {
            resume(in->waiting[patient]);
        }
    }
}
