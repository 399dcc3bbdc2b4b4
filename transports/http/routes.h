/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guards and the table of routes. Each request passes, in this order: Host and Origin (403),
 * authentication (401, 400, 429), path (404), method (405), content type (415), accepted types
 * (406), length (411); only then its body is read. What decides is the exact path: nothing is
 * decoded, and what is not in the table is unknown, also with a slash more. Liveness and readiness
 * ask nobody who they are; a CORS preflight cannot say it. Thread: [loop].
 * spec: MCP 2026-07-28 basic/transports/streamable-http, Security & Endpoint; RFC 9110 section 15
 */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "http/internal.h"

/* A request's head has come: fill the rest of the task. False when it has been answered already;
 * then its body is not wanted. */
bool hub_http_routes_admit(hub_http_task *task);

/* Serve an admitted request whose body has come. It is answered, or its connection waits. */
void hub_http_routes_serve(const hub_http_task *task);

#endif
