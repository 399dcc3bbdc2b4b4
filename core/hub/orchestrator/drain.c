/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/orchestrator/drain.h"

#include "hub/kernel/hub.h"
#include "hub/notices/listen.h"

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

/* `listener`: NULL for all. */
static size_t count_owed(const hub_orchestrator *hub, const void *listener)
{
    size_t owed = 0;
    if (hub_call_count(hub->calls) == 0) {
        return 0;
    }
    for (size_t i = 0; i < hub->profile_count; i++) {
        for (const hub_session *session = hub->profiles[i]->sessions; session != NULL;
             session = session->next) {
            if (listener == NULL || session->listener == listener) {
                owed += session->call_count;
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
