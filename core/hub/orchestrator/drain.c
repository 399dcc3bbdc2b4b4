/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/orchestrator/drain.h"

#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/notices/listen.h"

void hub_drain_announce(hub_orchestrator *hub)
{
    hub_note_leaving(hub);
}

void hub_drain_begin(hub_orchestrator *hub)
{
    if (hub_is_stopping(hub)) {
        return;
    }
    hub_note_stopping(hub);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        hub_session *session = hub_profile_sessions(hub_profile_at(hub, i));
        for (; session != NULL; session = hub_session_next(session)) {
            hub_listen_close_all(session, true);
        }
    }
}

/* `listener`: NULL for all. */
static size_t count_owed(const hub_orchestrator *hub, const void *listener)
{
    size_t owed = 0;
    if (hub_call_count(hub_calls_of(hub)) == 0) {
        return 0;
    }
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_session *session = hub_profile_sessions(hub_profile_at(hub, i));
             session != NULL; session = hub_session_next(session)) {
            if (listener == NULL || hub_session_listener(session) == listener) {
                owed += hub_session_in_flight(session);
            }
        }
    }
    return owed;
}

size_t hub_drain_owed(const hub_orchestrator *hub)
{
    return count_owed(hub, NULL);
}

size_t hub_drain_owed_at(const hub_orchestrator *hub, const void *listener)
{
    return count_owed(hub, listener);
}

void hub_drain_abort_all(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (hub_session *session = hub_profile_sessions(hub_profile_at(hub, i)); session != NULL;
             session = hub_session_next(session)) {
            hub_session_abort(session);
        }
    }
}
