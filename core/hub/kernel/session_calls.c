/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a session: who has a place, by which ids they are found, when they come and go. */
#include "hub/kernel/session.h"

#include "base/limits.h"
#include "hub/kernel/call_kept.h"
#include "hub/kernel/call_table.h"
#include "hub/kernel/client.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/principal.h"

size_t hub_session_in_flight(const hub_session *session)
{
    return session->call_count;
}

hub_call *hub_session_calls(const hub_session *session)
{
    return session->calls;
}

size_t hub_session_client_in_flight(const hub_session *session)
{
    return session->client != NULL ? hub_client_in_flight(session->client) : session->call_count;
}

bool hub_session_has_place(const hub_session *session)
{
    const hub_limits *limits = &session->profile->hub->settings->limits;
    uint32_t most = limits->calls_per_principal;
    return hub_session_client_in_flight(session) < limits->calls_per_session &&
           (most == 0 || hub_principal_in_flight(session->principal) < most);
}

bool hub_session_hold(hub_session *session, size_t bytes)
{
    HUB_IS(session, SESSION);
    char text[HUB_WHOSE_BYTES];
    hub_err err;
    if (bytes == 0) {
        return true;
    }
    if (session->held_bytes > 0) { /* its peer may be another one by now */
        err = hub_share_more(session->held, bytes);
    } else {
        err = hub_pool_take(&session->profile->hub->held, hub_session_whose(session, text), bytes,
                            &session->held);
    }
    session->held_bytes += err == HUB_OK ? bytes : 0;
    return err == HUB_OK;
}

void hub_session_release(hub_session *session, size_t bytes)
{
    hub_assert(session->held_bytes >= bytes);
    session->held_bytes -= bytes;
    hub_share_give(session->held, bytes);
    session->held = session->held_bytes > 0 ? session->held : NULL;
}

void hub_call_join(hub_call *call, hub_session *session)
{
    hub_assert(call->session == NULL);
    hub_assert(session->calls == NULL || session->calls->session_prev == NULL);
    call->session = session;
    hub_call_table_add(call);
    call->session_prev = NULL;
    call->session_next = session->calls;
    if (session->calls != NULL) {
        session->calls->session_prev = call;
    }
    session->calls = call;
    if (!call->is_unasked) {
        session->call_count++;
        hub_principal_call_began(session->principal);
        if (session->client != NULL) {
            hub_client_call_began(session->client);
        }
    }
}

void hub_call_part(hub_call *call)
{
    hub_session *session = call->session;
    if (session == NULL) {
        return;
    }
    hub_call_table_remove(call);
    if (call->session_prev != NULL) {
        hub_assert(call->session_prev->session_next == call);
        call->session_prev->session_next = call->session_next;
    } else {
        hub_assert(session->calls == call);
        session->calls = call->session_next;
    }
    if (call->session_next != NULL) {
        hub_assert(call->session_next->session_prev == call);
        call->session_next->session_prev = call->session_prev;
    }
    if (!call->is_unasked) {
        hub_assert(session->call_count > 0);
        session->call_count--;
        hub_principal_call_ended(session->principal);
        if (session->client != NULL) {
            hub_client_call_ended(session->client);
        }
    }
    call->session = NULL;
}

void hub_session_set_holding(hub_session *session, const hub_station *station, bool is_holding)
{
    HUB_IS(session, SESSION);
    hub_assert(station->holds_id != NULL);
    hub_station_mask bit = station->place->bit;
    session->holding = is_holding ? session->holding | bit : session->holding & ~bit;
}

bool hub_session_has_request(const hub_session *session, hub_str client_id)
{
    for (hub_station_mask left = session->holding; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctzll(left));
        if (station->holds_id(session, client_id)) {
            return true;
        }
    }
    return hub_session_find_call(session, client_id) != NULL;
}

hub_call *hub_session_find_call(const hub_session *session, hub_str client_id)
{
    if (session->calls == NULL) { /* mostly, and then no hash has to be made of the id */
        return NULL;
    }
    return hub_call_table_find(session->profile->hub->calls, session, client_id);
}
