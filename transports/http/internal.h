/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP transport's own structs, as its files share them; nobody outside includes it (the
 * outside sees server.h). Who owns whom:
 *
 *   hub_http_server         one per listener
 *     hub_http_connection   each client's link; finds its responder, does not own it
 *     hub_http_session      legacy sessions, in a table by id (legacy.h)
 *       hub_http_stream     their event streams: ports of the hub; may be without a connection
 *     exchange              a modern request in work: port and hub session in one (modern.c)
 *     upgraded link         a WebSocket; it owns itself and says when it has ended (upgrade.c)
 *
 * A port is told of its last message from within the hub, which may not be re-entered then. What
 * has to follow (closing a hub session, reading the next request) is left to the loop: the thing
 * joins a list, and hub_http_server_soon sees to it that the list is looked at. Thread: [loop].
 */
#ifndef HTTP_INTERNAL_H
#define HTTP_INTERNAL_H

#include "base/clock.h"
#include "http/auth.h"
#include "http/certificates.h"
#include "http/connection.h"
#include "http/face_table.h"
#include "http/failures.h"
#include "http/origin.h"
#include "http/server.h"
#include "http/session_table.h"
#include "websocket/websocket.h"

#include <time.h>

struct hub_http_upgraded;

struct hub_http_server {
    hub_net *net;
    hub_orchestrator *hub;
    const hub_settings *settings;
    const hub_listen_settings *listen;
    hub_listener *listener;
    char *url;
    hub_str *names; /* that `allowed` points into */
    char *literal;  /* the address as a Host */
    hub_http_origins allowed;
    hub_http_face_table *faces;
    hub_http_failures *failures;
    hub_issuers *issuers;
    hub_http_certificates *certificates;
    hub_session_table *sessions;
    hub_http_replicas *replicas;  /* NULL: the hub has no others; replicas.h … */
    struct hub_http_server *next; /* … of them */
    bool is_replica;              /* it is the listener of the others */
    struct hub_http_upgraded *upgraded;
    hub_websockets *websockets;
    hub_net_tick tick;

    hub_http_connection *connections;
    /* What connections wait for, each list with one duration. */
    hub_deadlines fresh; /* the first request: header_ms */
    hub_deadlines heads; /* the rest of a head: header_ms */
    hub_deadlines bodies;
    hub_deadlines idle;  /* another request: idle_ms */
    hub_deadlines quiet; /* something to write: sse_comment_ms */
    /* Those that wait for an answer with a credential that expires; looked through every second. */
    hub_deadlines expiring;
    time_t expiring_s;

    /* Left to the loop. */
    ev_timer soon; /* never started, only fed */
    hub_deadlines resumed;
    hub_deadlines ended_exchanges;
    hub_deadlines ended_streams;

    struct hub_http_incoming *spare; /* connection.c: the record of a request, for the next one */
    hub_buf head;                    /* answer.c: of an answer, while it is made */

    uint64_t logged_ms; /* when a refusal was logged last */
    uint32_t unlogged;  /* … and how many have not been since */

    char date[40]; /* for the Date header, of this second */
    time_t date_s;
    bool leaving;  /* each connection ends with its next answer … */
    bool draining; /* … and nobody new is taken */
    bool stopping;
    bool closed;
};

/* A request on its way through the routes. Spans are borrowed for the call. */
typedef struct hub_http_task {
    hub_http_connection *connection;
    struct hub_http_server *server;
    const hub_http_request *request;
    const struct hub_http_route *route; /* of MCP; NULL: a face's */
    const hub_http_place *place;        /* of a face, … */
    const hub_http_face_row *row;       /* … and who answers there */
    size_t max_body_bytes;
    hub_str profile;        /* empty: the default one */
    hub_identity *identity; /* who is asking: the connection's; NULL: nobody was asked */
    hub_str body;
    hub_str early; /* what came behind the request: for upgrades */
    bool is_later; /* not admitted yet: its token is being verified */
} hub_http_task;

/* ---- reloading ------------------------------------------------------------------------------- */

/* End what goes on by credentials that the server's settings do not have any more. */
void hub_http_connections_recheck(hub_http_server *server); /* expiry.c */
void hub_http_sessions_recheck(hub_http_server *server);    /* legacy.c */
void hub_http_upgraded_recheck(hub_http_server *server);    /* upgrade.c */

/* Have the loop look at resumed, ended_exchanges and ended_streams. */
void hub_http_server_soon(hub_http_server *server);

/* Whether the server can be freed, which its last upgraded link may have to do. */
void hub_http_server_free_if_done(hub_http_server *server);

/* Whether an address, as hub_link_peer has it, or the name localhost is this machine's own. */
bool hub_http_is_loopback(const char *address);

/* The value of a header, or the empty span. */
hub_str hub_http_value(const hub_http_request *request, const char *name);

/* Append the value of a header, its lines joined by commas (RFC 9110, section 5.3). False when
 * there is none. */
bool hub_http_add_value(const hub_http_request *request, hub_str name, hub_buf *value);

/* The name of the profile, "" for the default one. False when there can be no such profile. */
enum { HUB_HTTP_PROFILE_BYTES = 128 };
bool hub_http_task_profile(const hub_http_task *task, char ret_name[HUB_HTTP_PROFILE_BYTES + 1]);

/* Begin a session of the hub for the request's principal and profile, or answer why not. With a
 * client it is for this request alone. */
hub_session *hub_http_task_begin_session(const hub_http_task *task, const char *transport,
                                         hub_client *client, hub_port *port);

/* All that a principal sends from the connection's peer is one client: limits hold for it. The
 * connection's own; NULL when out of memory. */
hub_client *hub_http_connection_client(hub_http_connection *connection,
                                       const hub_identity *identity);

/* The header that says after how many seconds (at least 1) to try again; `text` holds its value. */
typedef struct hub_http_retry_text {
    char digits[11];
} hub_http_retry_text;
hub_http_header hub_http_retry_after(uint32_t seconds, hub_http_retry_text *text);

/* Whether the hub takes no new work any more: then the request with this id (empty: unknown) is
 * answered with 503 and a JSON-RPC error that says to try again. */
bool hub_http_task_is_late(const hub_http_task *task, hub_str id);
void hub_http_answer_late(hub_http_connection *connection, hub_str id);

/* Answer why hub_session_create failed. */
void hub_http_task_refuse_session(const hub_http_task *task, hub_err err, const hub_error *why);

/* ---- the routes, each in its file ------------------------------------------------------------ */

void hub_http_serve_mcp(const hub_http_task *task); /* mcp.c */
void hub_http_serve_sse(const hub_http_task *task); /* sse_2024.c */
void hub_http_serve_messages(const hub_http_task *task);
void hub_http_serve_upgrade(const hub_http_task *task); /* upgrade.c */

#endif
