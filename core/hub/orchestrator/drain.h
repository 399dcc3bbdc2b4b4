/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a hub that lets its clients finish. Between hub_drain_begin and hub_orchestrator_stop
 * nothing new is taken, and what is under way may end: calls are answered, may ask their clients,
 * report progress, and be cancelled. Who waits, how long, and for what besides is its caller's
 * business; the loop has to run meanwhile. Thread: [loop].
 */
#ifndef HUB_HUB_ORCHESTRATOR_DRAIN_H
#define HUB_HUB_ORCHESTRATOR_DRAIN_H

#include "hub/kernel/transport.h"

/* Say that the hub is about to stop (hub_orchestrator_is_ready), and serve everybody all the same. */
void hub_drain_announce(hub_orchestrator *hub);

/* Take no more: sessions are refused (HUB_ESTATE), and requests with a JSON-RPC error
 * (HUB_RPC_SHUTTING_DOWN) whose data says that it is worth trying again. Open subscriptions end
 * with their result: nothing will change any more. Twice is once.
 * spec: MCP 2026-07-28 basic/patterns/subscriptions, Graceful Closure */
void hub_drain_begin(hub_orchestrator *hub);

/* How many calls have clients that wait for them; none of the hub's own. */
size_t hub_drain_owed(const hub_orchestrator *hub);

/* The same of those clients alone that came in there (hub_session_options). */
size_t hub_drain_owed_at(const hub_orchestrator *hub, const void *listener);

/* No longer can be waited for: hub_session_abort for every session. */
void hub_drain_abort_all(hub_orchestrator *hub);

#endif
