/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guards, and the table of MCP's own routes; what is not in it is looked up among the faces
 * (face_table.h). Each request passes, in this order: Host and Origin (403), authentication (401,
 * 400, 429), path (404), method (405), content type (415), accepted types (406), length (411, 413);
 * only then its body is read. Which of them apply is a matter of what the path needs (web/face.h):
 * routes of MCP, and paths that nobody has, need a caller. What decides is the exact path: nothing
 * is decoded, and what is in no table is unknown, also with a slash more. A CORS preflight cannot
 * say who it is, and is not asked. Thread: [loop].
 * spec: MCP 2026-07-28 basic/transports/streamable-http, Security & Endpoint; RFC 9110 section 15
 */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "http/internal.h"

/* A request's head has come: fill the rest of the task. False when it has been answered already;
 * then its body is not wanted. */
bool hub_http_routes_admit(hub_http_task *task);

/* Find the route of a request for a session that is there: those that begin one are not for replicas. */
bool hub_http_routes_find_session_route(hub_http_task *task);

/* Who is asking, or NULL: a request of a path that asks nobody is judged now, and a credential that
 * is not valid counts as a guess. Borrowed for the call. */
const char *hub_http_routes_identify(const hub_http_task *task);

/* Whether faces leave MCP its own paths.
 * errors:  HUB_ECOLLISION, the text names face and path */
HUB_MUST_CHECK hub_err hub_http_routes_check_faces(const hub_web_served *faces, size_t count,
                                                   hub_error *reterr);

/* Serve an admitted request whose body has come. It is answered, or its connection waits. */
void hub_http_routes_serve(const hub_http_task *task);

#endif
