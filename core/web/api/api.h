/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The administration API, /api/v1: what the command line can show or do on a running hub. Its routes
 * are one table (route.h, routes.c), of which the OpenAPI document is made. The same routes answer
 * over HTTP, on listeners with `api: true` or `ui: true`, and as the MCP method "patchbay/api" (hub/admin/admin.h),
 * which is how commands ask, and what a Unix socket has.
 *
 * Rights are those of the request's credential: a route is for any caller, who sees and does what is
 * its own, for the scope admin:read, or for admin. The operator (the hub's own user, or root, on a
 * Unix socket) has all of them. What is executed cannot be changed here. Thread: [loop].
 */
#ifndef HUB_WEB_API_API_H
#define HUB_WEB_API_API_H

#include "hub/kernel/types.h"
#include "web/face.h"

typedef struct hub_api hub_api;

/* The API of a hub, which it outlives no longer than until hub_api_destroy.
 * owns:    *ret_api
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_api_create(hub_orchestrator *hub, hub_api **ret_api, hub_error *reterr);

/* Those who read events are let go of. Before the hub ends, after the listeners; NULL is fine. */
void hub_api_destroy(hub_api *api);

/* The hub stops: event streams end, so that nobody waits for their connections. */
void hub_api_stop(hub_api *api);

/* The sessions of browsers with it. */
struct hub_api_sessions *hub_api_sessions_of(hub_api *api);

/* Its instance is the hub_api. */
extern const hub_web_face HUB_WEB_API;

#endif
