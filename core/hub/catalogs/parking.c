/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/parking.h"

#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/router/router.h"

#include <stdlib.h>

bool hub_parking_is_useful(const hub_profile *profile, bool patient)
{
    size_t count;
    const hub_source *sources = hub_registry_sources(profile->registry, &count);
    for (size_t i = 0; i < count; i++) {
        const hub_toolset *toolset = sources[i].bare ? NULL : sources[i].owner;
        if (toolset != NULL && hub_toolset_is_pending(toolset) && (patient || !toolset->is_late)) {
            return true;
        }
    }
    return false;
}

static hub_parked *list_of(const hub_call *call)
{
    hub_profile *profile = call->session->profile;
    return call->patient ? &profile->parked_patient : &profile->parked;
}

static void append(hub_call *call)
{
    hub_parked *list = list_of(call);
    call->park_prev = list->last;
    if (list->last != NULL) {
        list->last->park_next = call;
    } else {
        list->first = call;
    }
    list->last = call;
    call->parked = true;
    call->session->held_bytes += call->held_len;
}

void hub_parking_remove(hub_call *call)
{
    hub_parked *list = list_of(call);
    if (call->park_prev != NULL) {
        call->park_prev->park_next = call->park_next;
    } else {
        list->first = call->park_next;
    }
    if (call->park_next != NULL) {
        call->park_next->park_prev = call->park_prev;
    } else {
        list->last = call->park_prev;
    }
    call->parked = false;
    call->session->held_bytes -= call->held_len;
}

/* Take a parked request up again: as if it had come now, but it will not wait twice. */
static void resume(hub_call *call)
{
    hub_session *session = call->session;
    hub_port *port = call->port;
    char *held = call->held;
    hub_str bytes = {.ptr = held, .len = call->held_len};
    hub_str headers = {.ptr = held + bytes.len, .len = call->context.headers.len};
    call->held = NULL;
    hub_call_drop(call);
    hub_router_resume(session, port, bytes, headers);
    free(held);
}

/* Nobody waits any longer for the catalogs that a list has waited for. */
static void note_wait(hub_profile *profile)
{
    size_t count;
    const hub_source *sources = hub_registry_sources(profile->registry, &count);
    for (size_t i = 0; i < count; i++) {
        hub_toolset *toolset = sources[i].bare ? NULL : sources[i].owner;
        if (toolset != NULL && hub_toolset_is_pending(toolset)) {
            hub_toolset_note_wait(toolset);
        }
    }
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    hub_profile *profile = call->session->profile;
    if (!call->patient) {
        note_wait(profile);
    }
    resume(call);
    hub_parking_wake(profile);
}

/* The request, and behind it the headers that are to be forwarded with it. */
static char *hold(hub_str bytes, hub_str headers)
{
    char *held = malloc(bytes.len + headers.len);
    if (held != NULL) {
        memcpy(held, bytes.ptr, bytes.len);
        if (headers.len > 0) {
            memcpy(held + bytes.len, headers.ptr, headers.len);
        }
    }
    return held;
}

void hub_parking_add(const hub_request *request, bool patient)
{
    hub_session *session = request->session;
    hub_profile *profile = session->profile;
    hub_orchestrator *hub = profile->hub;
    hub_str bytes = request->message->whole;
    hub_call *call;
    if (session->held_bytes + bytes.len > HUB_LIMIT_CLIENT_QUEUE_BYTES) {
        hub_respond_refusal(request, HUB_ELIMIT);
        return;
    }
    hub_err err = hub_call_begin(hub->calls, session, request->port, request->message->at[HUB_M_ID],
                                 &request->context, &call);
    if (err != HUB_OK) {
        hub_respond_refusal(request, err);
        return;
    }
    call->held = hold(bytes, request->context.headers);
    if (call->held == NULL) {
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        return;
    }
    call->held_len = bytes.len;
    call->patient = patient;
    append(call);
    ev_timer_init(&call->deadline, on_deadline, hub->settings->limits.discover_timeout_ms / 1000.,
                  0.);
    call->deadline.data = call;
    ev_timer_start(hub->loop, &call->deadline);
    hub_discovery_ask(profile, request->message->at[HUB_M_META]);
    hub_parking_wake(profile);
}

static void wake(hub_profile *profile, const hub_parked *list, bool patient)
{
    if (list->first == NULL || hub_parking_is_useful(profile, patient)) {
        return;
    }
    while (list->first != NULL) {
        resume(list->first);
    }
}

void hub_parking_wake(hub_profile *profile)
{
    wake(profile, &profile->parked, false);
    wake(profile, &profile->parked_patient, true);
}
