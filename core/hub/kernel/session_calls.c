/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/session_calls.h"

#include "base/map.h"
#include "hub/kernel/hub.h"
#include "hub/limits/rates.h"

bool hub_session_has_place(const hub_session *session)
{
    return session->call_count < session->profile->hub->settings->limits.calls_per_session &&
           hub_rates_has_place(session);
}

static hub_call **bucket_of(hub_session *session, hub_str client_id)
{
    return &session->calls_by_id[hub_map_hash(client_id.ptr, client_id.len) % HUB_SESSION_BUCKETS];
}

void hub_call_join(hub_call *call, hub_session *session)
{
    call->bucket = bucket_of(session, call->client_id);
    call->bucket_next = *call->bucket;
    *call->bucket = call;
    call->session = session;
    call->session_prev = NULL;
    call->session_next = session->calls;
    if (session->calls != NULL) {
        session->calls->session_prev = call;
    }
    session->calls = call;
    if (!call->is_carrier) { /* nobody waits for that */
        session->call_count++;
        hub_rates_call_began(session->account);
    }
}

void hub_call_part(hub_call *call)
{
    hub_session *session = call->session;
    if (session == NULL) {
        return;
    }
    hub_call **bucket = call->bucket;
    while (*bucket != call) {
        bucket = &(*bucket)->bucket_next;
    }
    *bucket = call->bucket_next;
    if (call->session_prev != NULL) {
        call->session_prev->session_next = call->session_next;
    } else {
        session->calls = call->session_next;
    }
    if (call->session_next != NULL) {
        call->session_next->session_prev = call->session_prev;
    }
    if (!call->is_carrier) {
        session->call_count--;
        hub_rates_call_ended(session->account);
    }
    call->session = NULL;
}

hub_call *hub_call_find_client(hub_session *session, hub_str client_id)
{
    hub_call *call = *bucket_of(session, client_id);
    while (call != NULL && !hub_str_eq(call->client_id, client_id)) {
        call = call->bucket_next;
    }
    return call;
}
