/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client's connection: reads requests from a link and answers them, strictly one after the
 * other. What a client sends ahead is held back until the answer has been given. Whoever answers
 * a request later than it came is a responder: it is told when the peer has gone. A connection
 * that waits for its next request costs no buffer. Thread: [loop].
 *
 * connection.c reads and keeps the deadlines, answer.c writes; the fields are theirs.
 * spec: RFC 9112 sections 9.3 (persistence), 9.3.2 (pipelining), 9.6 (tear-down)
 */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include "http/auth.h"
#include "http/forwarded.h"
#include "net/deadline.h"
#include "http/response.h"
#include "hub/kernel/transport.h"
#include "issuers/issuers.h"
#include "net/link.h"

typedef struct hub_http_connection hub_http_connection;
struct hub_http_server;
struct hub_http_incoming;
struct hub_http_greeted;

/* Told from the loop. */
typedef struct hub_http_responder {
    /* The peer has gone before the answer was complete, or may not have it any more: the connection
     * is not to be touched. */
    void (*on_gone)(void *ctx);
    /* Nothing has been written for sse_comment_ms: an event stream is to begin, so that nobody on
     * the way gives up. */
    void (*on_quiet)(void *ctx);
} hub_http_responder;

struct hub_http_connection {
    hub_deadline deadline;  /* in the list of the server that says what it waits for */
    hub_deadline expiring;  /* while an answer is awaited by a credential that expires */
    hub_identity *identity; /* who has sent it; NULL: nobody was asked. A reference */
    hub_identity *shown;    /* by its certificate; NULL: none was asked for. A reference */
    struct hub_http_server *server;
    hub_link *link;
    hub_http_connection *next; /* all of the server */
    hub_http_connection *prev;
    struct hub_http_incoming *incoming; /* a request that has begun to come, else NULL */
    hub_buf held;                       /* came before its turn */
    char *origin;                       /* of the request in work, when there is one */
    hub_http_forwarded forwarded;       /* what a proxy says of the request in work */
    char *metadata;            /* where the metadata of what is asked for is; NULL: nowhere */
    hub_issuers_waiter judged; /* while the token of a request is verified */
    struct hub_http_greeted *greeted; /* peer_gate.c: of a replica that has said who it is */
    hub_client *client; /* whose requests without a session come over it; held, or NULL */
    const hub_http_responder *responder;
    void *responder_ctx;
    bool reading;     /* read_requests is at work */
    bool busy;        /* a request is being answered, or its token is being verified */
    bool was_judged;  /* it has been: no more is waited for */
    bool closing;     /* the link has been closed, or is another's */
    bool handed_over; /* the link is another's */
    bool keep_alive;  /* of the request in work */
    bool asks_nobody; /* the request in work needs no credential */
    bool is_head;
    bool is_1_0;
    bool streaming; /* events are being sent */
    bool relaying;  /* another replica's answer is being sent as it comes */
};

/* The address of whoever sent the request in work, without port: of caps and the log. */
const char *hub_http_connection_peer(const hub_http_connection *connection);

/* Whether the client spoke TLS, be it to a proxy. */
bool hub_http_connection_is_secure(const hub_http_connection *connection);

/* hub_net_on_link: `ctx` is the server. */
void hub_http_connection_accept(void *ctx, hub_link *link);

/* Go on with a connection whose answer was completed outside of its own reading. */
void hub_http_connection_resume(hub_http_connection *connection);

/* The server stops: let go of a connection that waits for a request; others close when they have
 * been answered. */
void hub_http_connection_stop(hub_http_connection *connection);

/* The server ends: its responder is told, the link is closed at once, it is freed. */
void hub_http_connection_destroy(hub_http_connection *connection);

/* Leave the link to its new owner; to be called while its request is served. */
void hub_http_connection_hand_over(hub_http_connection *connection);

/* The request in work will be answered later, by this responder, which must outlive that. */
void hub_http_connection_wait(hub_http_connection *connection, const hub_http_responder *responder,
                              void *ctx);

/* Whether a request has been let in whose body is still to come. */
bool hub_http_connection_is_in_body(const hub_http_connection *connection);

/* Close at once; what has begun to come is forgotten. */
void hub_http_connection_drop(hub_http_connection *connection);

/* Answer what has begun to come, and close. */
void hub_http_connection_refuse(hub_http_connection *connection, int status, const char *reason);

/* ---- late.c ---------------------------------------------------------------------------------- */

/* Look for connections that are late, once per tick. */
void hub_http_connections_check(struct hub_http_server *server, uint64_t now_ms);

/* ---- expiry.c -------------------------------------------------------------------------------- */

/* An answer is awaited: not for longer than the credential is good for. */
void hub_http_expiry_watch(hub_http_connection *connection);

/* Look for credentials whose time is up, once per tick. */
void hub_http_expiry_check(struct hub_http_server *server);

/* ---- answer.c -------------------------------------------------------------------------------- */

typedef struct hub_http_answer {
    int status;
    const hub_http_header *headers; /* at most HUB_HTTP_ANSWER_HEADERS, beside the usual ones */
    size_t header_count;
    const char *type;     /* media type of the body; NULL: there is none */
    const hub_str *parts; /* of the body, at most HUB_HTTP_ANSWER_PARTS */
    size_t count;
} hub_http_answer;

enum { HUB_HTTP_ANSWER_HEADERS = 8, HUB_HTTP_ANSWER_PARTS = 32 };

#define HUB_HTTP_JSON "application/json"

/* Answer the request in work. After a failure the connection ends by itself.
 * errors:  those of hub_link_write */
hub_err hub_http_answer_whole(hub_http_connection *connection, const hub_http_answer *answer);

/* Answer with a status and nothing else. */
void hub_http_answer_status(hub_http_connection *connection, int status);

/* Answer with a JSON-RPC error that has no id (MCP allows it as the body of a refusal), and a
 * further header unless its name is empty. */
void hub_http_answer_refusal(hub_http_connection *connection, int status, hub_http_header header,
                             const char *reason);

/* Answer with this JSON-RPC error object. `id` is raw or empty; no further header when its name is
 * empty. */
void hub_http_answer_rpc(hub_http_connection *connection, int status, hub_http_header header,
                         hub_str id, hub_str error);

/* Answer with a JSON-RPC error. `id` is raw or empty, `data` raw or empty. */
void hub_http_answer_error(hub_http_connection *connection, int status, hub_str id, int code,
                           hub_str message, hub_str data);

/* Answer what is not HTTP, or comes too late, and close. */
void hub_http_answer_last(hub_http_connection *connection, int status, const char *reason);

/* Begin an event stream, with further headers. Then events, then the end of the response.
 * errors:  those of hub_link_write */
hub_err hub_http_answer_stream(hub_http_connection *connection, const hub_http_header *headers,
                               size_t header_count);
hub_err hub_http_answer_event(hub_http_connection *connection, const hub_http_event *event);
hub_err hub_http_answer_written(hub_http_connection *connection, hub_str events); /* beforehand */
/* An answer that another replica has written: its head with the empty line, what follows as it comes, and
 * its end. `closes`: it says that no other answer follows on this connection.
 * errors:  those of hub_link_write */
hub_err hub_http_answer_raw_head(hub_http_connection *connection, hub_str head);
hub_err hub_http_answer_raw(hub_http_connection *connection, hub_str bytes);
void hub_http_answer_raw_end(hub_http_connection *connection, bool closes);

void hub_http_answer_comment(hub_http_connection *connection);
void hub_http_answer_end(hub_http_connection *connection);

#endif
