/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of the handshake revisions, and their event streams. A session has a stream of its own
 * (number 0: what belongs to no request; opened by GET) and one per POST with requests. A stream
 * outlives its connection: what is sent meanwhile waits in the session's event store, and a GET
 * with Last-Event-ID goes on with it. A POST stream ends with the last of its answers, or when its
 * requests have been cancelled; hanging up cancels nothing.
 *
 * An answer that nothing came before is one JSON object (or array, for a batch) instead of a
 * stream. Event ids are "STREAM-SEQUENCE". Thread: [loop].
 *
 * legacy.c has the sessions and what clients ask of them, legacy_stream.c the streams.
 * spec: MCP 2025-11-25 basic/transports, Streamable HTTP; 2025-03-26 for batches
 */
#ifndef HTTP_LEGACY_H
#define HTTP_LEGACY_H

#include "http/internal.h"
#include "http/replay.h"
#include "wire/message.h"

typedef struct hub_http_session hub_http_session;
typedef struct hub_http_stream hub_http_stream;

struct hub_http_stream {
    hub_port port; /* first: a port is its stream */
    hub_deadline ended;
    hub_http_session *session;
    hub_http_stream *next; /* POST streams of the session */
    hub_http_stream *prev;
    hub_http_connection *connection; /* NULL: nobody is connected */
    uint32_t number;
    uint64_t sequence;  /* of its latest event */
    uint64_t delivered; /* stream 0: the latest event that was written to a connection */
    size_t pending;     /* answers still to come */
    uint32_t retry_s;   /* the longest that an answer of a batch says to wait; 0: none does */
    hub_str ids;        /* of the requests: a JSON array, behind the struct */
    const hub_http_request *request; /* while the hub takes what came with it, else NULL */
    hub_buf answers;                 /* of a batch: collected, comma-separated */
    bool is_batch;
    bool initializes; /* its answer carries Mcp-Session-Id */
    bool has_ids;     /* the client has seen an event id: it can come back */
    bool inside;      /* the hub is at work on its requests and may not be re-entered */
    bool done;        /* all has been said */
};

struct hub_http_session {
    hub_session_entry entry; /* first: an entry is its session */
    hub_http_server *server;
    hub_session *hub;
    char *profile;
    bool is_sse_2024;
    hub_http_stream own;
    hub_http_stream *streams;
    uint32_t last_number;
    size_t answered; /* requests, over its life */
    hub_replay replay;
    /* Of one that moves, or has (moving.h): */
    struct hub_state_op *moving;           /* it is being recorded; NULL: it is not */
    struct hub_http_moving_wait *awaiting; /* requests that wait for that */
    struct hub_http_remaking *remaking;    /* what has made it anew here; NULL: its client did */
    bool is_recorded;                      /* the store has a record of it */
    unsigned tries;                        /* to record it, that failed … */
    uint64_t again_ms;                     /* … and when there is the next; monotonic */
    bool stays;                            /* it could not be recorded */
};

/* ---- legacy.c -------------------------------------------------------------------------------- */

/* A session for the task's principal and profile, in the table, with its creator as its user; NULL
 * with an answer given. */
hub_http_session *hub_http_session_create(const hub_http_task *task, bool is_sse_2024);

/* The same with an id that is given. */
hub_http_session *hub_http_session_create_as(const hub_http_task *task, bool is_sse_2024,
                                             const char *id);

/* End it and everything in it. */
void hub_http_session_destroy(hub_http_session *session);

/* The session of this id, if it is the principal's and of this kind; else NULL. */
hub_http_session *hub_http_session_find(const hub_http_task *task, hub_str id, bool is_sse_2024);

/* End sessions that have been idle for too long. */
void hub_http_sessions_check(hub_http_server *server, uint64_t now_ms);

/* Hand a notification or a response to the session. */
void hub_http_session_tell(hub_http_session *session, const hub_message *message);

/* ---- legacy_stream.c ------------------------------------------------------------------------- */

extern const hub_port_ops HUB_HTTP_STREAM_PORT;

/* A stream for the requests `ids` (a JSON array; copied) of a POST. NULL when out of memory. */
hub_http_stream *hub_http_stream_create(hub_http_session *session, hub_http_connection *connection,
                                        hub_str ids, size_t pending);
void hub_http_stream_destroy(hub_http_stream *stream);

/* The session's own stream has this connection, which is its user. */
void hub_http_stream_open(hub_http_session *session, hub_http_connection *connection);

/* Open the session's own stream on this connection, or go on with one behind `after` (NULL: with
 * what has not been delivered). An earlier connection of it ends. False when there is no such
 * stream, or nothing is left of it. */
bool hub_http_stream_attach(hub_http_session *session, hub_http_connection *connection,
                            const hub_event_id *after);

/* A request of this raw id will not be answered any more: it was cancelled. */
void hub_http_stream_cancelled(hub_http_session *session, hub_str id);

/* Free the streams that ended within the hub. From the loop. */
void hub_http_streams_reap(hub_http_server *server);

#endif
