/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP transport: streamable HTTP of both eras at /mcp and /mcp/PROFILE, HTTP+SSE (2024-11-05)
 * at /sse and /messages, WebSocket at /ws and /ws/PROFILE, and the faces that it is given. Links
 * come from net/, requests are read by request.h and chunked.h, guards (Host, Origin, bearer token)
 * stand before every route. Thread: [loop].
 * spec: MCP 2026-07-28 basic/transports/streamable-http; 2025-11-25 basic/transports; 2024-11-05
 * basic/transports; RFC 9110, 9112
 */
#ifndef TRANSPORTS_HTTP_SERVER_H
#define TRANSPORTS_HTTP_SERVER_H

#include "hub/kernel/settings.h"
#include "hub/kernel/transport.h"
#include "net/net.h"
#include "web/face.h"

typedef struct hub_http_server hub_http_server;
typedef struct hub_http_replicas hub_http_replicas;

/* What a listener serves. */
typedef struct hub_http_home {
    hub_net *net;
    hub_orchestrator *hub;
    const hub_web_served *faces; /* beside MCP; the array is borrowed for the call */
    size_t face_count;
    hub_http_replicas *replicas; /* NULL: the hub has no others */
    bool is_replica;             /* what listens is for the others */
} hub_http_home;

/* What the listeners of a hub share that has other replicas (hub/replicas), before the first of them is
 * opened. Of `home` net and hub are read.
 * owns:    *ret_replicas, until all listeners are closed: hub_http_replicas_destroy
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_http_replicas_create(const hub_http_home *home,
                                                hub_http_replicas **ret_replicas);
void hub_http_replicas_destroy(hub_http_replicas *replicas); /* NULL is fine */

/* Serve the hub on one listener. `settings`, which `listen` is of, are held.
 * owns:    *ret_server, close it with hub_http_server_close
 * errors:  those of hub_net_listen; HUB_EDENIED (the address is not loopback and nobody has to
 *          authenticate: the text names --insecure); HUB_EINVAL, HUB_ECOLLISION (the faces: see
 *          hub_http_face_table_create); HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_http_server_open(const hub_http_home *home, const hub_settings *settings,
                                            const hub_listen_settings *listen,
                                            hub_http_server **ret_server, hub_error *reterr);

/* Other settings from now on: who may come, with which Host, Origin and token, how many and for how
 * long. Who came by a token that is no more is told to go. The address stays; with TLS, certificate
 * and key are read anew.
 * errors:  HUB_EINVAL (certificate or key: the ones before stay, everything else is as told),
 *          HUB_ENOMEM (nothing has changed) */
HUB_MUST_CHECK hub_err hub_http_server_reload(hub_http_server *server, const hub_settings *settings,
                                              const hub_listen_settings *listen, hub_error *reterr);

/* The hub is about to end: each connection ends with the next answer that it is given, so that whoever is at
 * its other end opens the next one elsewhere. */
void hub_http_server_leave(hub_http_server *server);

/* Have sessions move that may live at another replica as well: those that are idle now. Called again when
 * something has happened.
 * returns: how many are still here */
size_t hub_http_server_move(hub_http_server *server);

/* The hub is at its end (hub/orchestrator/drain.h), or the listener is: accept no more. Connections that are
 * there get their answers, and may still bring answers and notifications; each ends with the next
 * answer that it is given, be it one that refuses new work. */
void hub_http_server_drain(hub_http_server *server);

/* Whether something that was sent waits for its peer to take it. */
bool hub_http_server_owes(const hub_http_server *server);

/* Accept no more, and let go of what is idle; event streams have been ended by
 * hub_orchestrator_stop. */
void hub_http_server_stop(hub_http_server *server);

/* Ends every session and connection. After hub_orchestrator_stop; NULL is fine. */
void hub_http_server_close(hub_http_server *server);

/* Connections that still have something to send. */
size_t hub_http_server_busy(const hub_http_server *server);

/* "http://127.0.0.1:8787/mcp"; lives as long as the server. */
const char *hub_http_server_url(const hub_http_server *server);

#endif
