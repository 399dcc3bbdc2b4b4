/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Router: from a scanned message to whoever answers it. One table of methods says which dialect has
 * which method and which function handles it: a new MCP method is a line there. tools/call looks up
 * the binding in the caller's view, takes a place, and hands the call to the module.
 * Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, server/discover, basic/patterns/subscriptions and
 * cancellation; 2025-11-25 basic/lifecycle
 */
#ifndef HUB_HUB_ROUTER_ROUTER_H
#define HUB_HUB_ROUTER_ROUTER_H

#include "hub/kernel/call.h"
#include "hub/kernel/respond.h"

struct hub_toolset;

/* Handle a request or a notification of a session. */
void hub_router_request(hub_session *session, hub_port *port, const hub_message *message);
void hub_router_notification(hub_session *session, const hub_message *message);

/* Hand an admitted call to the module of an active toolset, as soon as that has a place for it:
 * `name` is the toolset's own name (or URI) of what the request is for, `name_json` the value in
 * its params that says it. */
void hub_router_dispatch(hub_call *call, struct hub_toolset *toolset, hub_str name,
                         hub_str name_json, const hub_message *message);

/* The same, at once. */
void hub_router_hand_over(hub_call *call, struct hub_toolset *toolset, hub_str name,
                          hub_str name_json, const hub_message *message);

/* Handle a request that was parked, with the `headers` of its context: it does not wait again. */
void hub_router_resume(hub_session *session, hub_port *port, hub_str bytes, hub_str headers);

#endif
