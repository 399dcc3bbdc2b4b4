/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/parking.h"

#include "hub/catalogs/parking_internal.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"

#include <stdlib.h>
#include <utlist.h>

/* ---- one of them ----------------------------------------------------------------------------- */

bool parking_has_waited(const hub_request *request)
{
    return request->call != NULL &&
           hub_call_find_part(request->call, &HUB_CATALOGS_STATION) != NULL;
}

parked *parking_begin(const hub_request *request, size_t extra_bytes)
{
    hub_session *session = request->session;
    hub_str whole = request->message->whole;
    if (!hub_session_hold(session, whole.len + extra_bytes)) {
        hub_respond_refusal(request, HUB_ELIMIT);
        return NULL;
    }
    hub_call *call = hub_request_begin(request);
    char *bytes = call != NULL ? hub_str_dup(whole) : NULL;
    if (bytes == NULL) {
        hub_session_release(session, whole.len + extra_bytes);
        if (call != NULL) {
            hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        }
        return NULL;
    }
    call_catalogs *part = hub_call_part_of(call, &HUB_CATALOGS_STATION);
    part->parked = (parked){.call = call,
                            .handle = request->handle,
                            .bytes = bytes,
                            .len = whole.len,
                            .held = whole.len + extra_bytes};
    return &part->parked;
}

void parking_enter(parked *one, parked **list)
{
    one->list = list;
    DL_APPEND(*list, one);
}

/* It waits no more. owns: the result, the request's bytes */
static char *take_out(parked *one)
{
    char *bytes = one->bytes;
    hub_call_stop_waiting(one->call);
    parking_forget_waits(one);
    DL_DELETE(*one->list, one);
    hub_session_release(hub_call_session(one->call), one->held);
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

void parking_resume(parked *one)
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

void parking_resume_all(audience_catalogs *in)
{
    while (in->going != NULL) {
        parking_resume(in->going);
    }
}

void parking_move(parked *one, parked **list)
{
    DL_DELETE(*one->list, one);
    parking_enter(one, list);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Whether a list of these has to wait. */
static bool is_useful(const hub_exposure *exposure)
{
    size_t count;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    for (size_t i = 0; i < count; i++) {
        const hub_toolset *toolset = sources[i]->bare ? NULL : sources[i]->owner;
        if (toolset != NULL && hub_discovery_is_pending(toolset) &&
            !hub_discovery_is_late(toolset)) {
            return true;
        }
    }
    return false;
}

/* Nobody waits any longer for the catalogs that a list has waited for. */
static void note_wait(const hub_exposure *exposure)
{
    size_t count;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    for (size_t i = 0; i < count; i++) {
        hub_toolset *toolset = sources[i]->bare ? NULL : sources[i]->owner;
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
    note_wait(hub_session_exposure(hub_call_session(call)));
    parking_resume(&part->parked);
    hub_parking_wake(audience);
}

bool hub_parking_list(const hub_request *request)
{
    if (parking_has_waited(request) || !is_useful(hub_session_exposure(request->session))) {
        return false;
    }
    hub_audience *audience = hub_session_audience(request->session);
    parked *one = parking_begin(request, 0);
    if (one != NULL) {
        const hub_settings *settings = hub_settings_of(hub_audience_hub(audience));
        parking_enter(one, &hub_catalogs_in(audience)->lists);
        hub_call_wait(one->call, settings->limits.discover_timeout_ms, on_time);
        hub_discovery_ask(request->session, request->message->at[HUB_M_META]);
        hub_parking_wake(audience);
    }
    return true;
}

void hub_parking_move(hub_session *session, hub_audience *from)
{
    audience_catalogs *to = hub_catalogs_in(hub_session_audience(session));
    audience_catalogs *in = hub_catalogs_in(from);
    parked **lists[][2] = {
        {&in->lists, &to->lists}, {&in->awaiting, &to->awaiting}, {&in->going, &to->going}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        parked *one;
        parked *next;
        DL_FOREACH_SAFE(*lists[i][0], one, next)
        {
            if (hub_call_session(one->call) == session) {
                parking_move(one, lists[i][1]);
            }
        }
    }
}

void hub_parking_wake(hub_audience *audience)
{
    audience_catalogs *in = hub_catalogs_in(audience);
    const hub_exposure *looked_at = NULL;
    bool is_over = false;
    parked *next;
    for (parked *one = in->lists; one != NULL; one = next) { /* mostly, they all see the same */
        const hub_exposure *exposure = hub_session_exposure(hub_call_session(one->call));
        next = one->next;
        is_over = exposure == looked_at ? is_over : !is_useful(exposure);
        looked_at = exposure;
        if (is_over) {
            parking_move(one, &in->going);
        }
    }
    parking_resume_all(in);
}
