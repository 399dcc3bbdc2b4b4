/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/drain.h"

#include "hub/hub.h"
#include "hub/listen.h"

void hub_drain_begin(hub_orchestrator *hub)
{
    if (hub->stopping) {
        return;
    }
    hub->stopping = true;
    for (size_t i = 0; i < hub->profile_count; i++) {
        for (hub_session *session = hub->profiles[i]->sessions; session != NULL;
             session = session->next) {
            hub_listen_close_all(session, true);
        }
    }
}

size_t hub_drain_owed(const hub_orchestrator *hub)
{
    size_t owed = 0;
    if (hub_call_count(hub->calls) == 0) {
        return 0;
    }
    for (size_t i = 0; i < hub->profile_count; i++) {
        for (const hub_session *session = hub->profiles[i]->sessions; session != NULL;
             session = session->next) {
            owed += session->call_count;
        }
    }
    return owed;
}

void hub_session_abort(hub_session *session)
{
    while (session->calls != NULL) {
        hub_call_abort(session->calls, PATCHBAY_UNAVAILABLE,
                       HUB_STR("the hub is shutting down: try again"));
    }
}

void hub_drain_abort_all(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub->profile_count; i++) {
        for (hub_session *session = hub->profiles[i]->sessions; session != NULL;
             session = session->next) {
            hub_session_abort(session);
        }
    }
}
