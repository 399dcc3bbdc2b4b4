/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is reached over HTTP: streamable HTTP of both eras, and HTTP+SSE of 2024-11-05. One
 * instance is one server. What is said is the business of mcp_upstream_core; this is how.
 *
 *   plugin.c          the module's table: create, call, cancel, destroy
 *   config.c          its configuration: a server entry with a `url`, as in any `mcpServers` file
 *   channel.c         the channel: what the core wants done
 *   exchange.c        one message on its way: its request, from start to end
 *   answer.c          what came back: status, head, JSON or an event stream
 *   resume.c          streams that broke, taken up again (legacy)
 *   session.c         sessions of legacy servers: lost, renewed, ended; their stream
 *   old_transport.c   HTTP+SSE: one stream for all answers, and where to post
 *   http_client.c     libcurl on the hub's loop
 *   sse_reader.c      event streams        header_value.c   values of headers
 *   tool_headers.c    x-mcp-header         url.c            origins
 *
 * spec: MCP 2026-07-28 basic/transports/streamable-http; 2025-11-25 and 2024-11-05 basic/transports
 * Thread: [loop], all of it. Nothing here blocks.
 */
#ifndef MCP_REMOTE_H
#define MCP_REMOTE_H

#include "http_client.h"
#include "sse_reader.h"
#include "tool_headers.h"
#include "../mcp_upstream/upstream.h"

#define REMOTE_CONNECT_MS       5000        /* to reach the server, unless configured */
#define REMOTE_MESSAGE_BYTES    (16u << 20) /* of a message of the server */
#define REMOTE_ERROR_BYTES      (64u << 10) /* of what comes with a status that is an error */
#define REMOTE_EXCHANGES        4096        /* under way at a time */
#define REMOTE_SESSION_ID_BYTES 1024        /* longer ones are no ids */
#define REMOTE_EVENT_ID_BYTES   4096        /* longer ones are not taken up from */
#define REMOTE_REDIRECTS        3           /* of one request, within the origin */
#define REMOTE_RESUMES          5           /* in a row that brought nothing */
#define REMOTE_RETRY_MS         1000        /* before a stream is taken up, unless it says */
#define REMOTE_RETRY_MOST_MS    60000       /* whatever it says, and however often it failed */
#define REMOTE_LINGER_MS        1000        /* for the end of a stream that was answered */
#define REMOTE_REFUSED_MS       (5 * 60000) /* before a refused credential is shown again */

typedef struct mcp_remote mcp_remote;

/* The server entry, as configured. All owned; NULL: not given. */
typedef struct remote_config {
    char *url;
    char *headers; /* lines, as http_client wants them */
    char *ca;
    char *certificate;
    char *key;
    char *protocol;
    uint32_t connect_timeout_ms;
    uint64_t startup_ms;
    int is_sse; /* type: sse */
} remote_config;

typedef enum exchange_kind {
    EXCHANGE_REQUEST, /* a POST that is answered */
    EXCHANGE_NOTE,    /* a POST that is not: notifications, and answers to questions */
    EXCHANGE_STREAM,  /* the GET of a legacy session, or of HTTP+SSE */
    EXCHANGE_DONE,    /* answered: the rest of the stream is read for the connection's sake */
} exchange_kind;

/* What a message is for the transport. */
typedef enum exchange_role {
    ROLE_OTHER,
    ROLE_DISCOVER,
    ROLE_INITIALIZE,
    ROLE_INITIALIZED,
} exchange_role;

/* A message on its way, or a stream. Lives until it is answered, failed or cancelled. */
typedef struct exchange {
    struct exchange *next;
    struct exchange *prev;
    mcp_remote *remote;
    exchange_kind kind;
    exchange_role role;
    patchbay_call call; /* whose request it is; id 0: not one of the hub's */
    char id[48];        /* of the request, raw */
    http_body *body;
    patchbay_out lines;    /* headers of this message alone */
    http_request *request; /* NULL: it waits */
    char *moved_to;        /* redirected, within the origin */

    uint32_t session; /* number of the session it was sent in; 0: none */
    uint32_t redirects;
    uint32_t resumes;  /* in a row that brought nothing */
    int is_repeatable; /* doing it twice is doing it once */
    int is_held;       /* until the handshake is over, or the endpoint is known */
    int is_repeated;   /* it was sent once more, in the next session */
    int is_restarted;  /* … because its connection was stale */

    /* Of the answer. */
    long status;
    int is_stream;
    int is_too_large;
    patchbay_out text; /* what came, unless it is a stream */
    sse_reader reader;
    char *last_event_id; /* where to take the stream up */
    int64_t retry_ms;    /* -1: it did not say */
    patchbay_timer *timer;

    int busy;    /* its callback is running */
    int is_over; /* freed when that returns */
} exchange;

struct mcp_remote {
    mcp_server server; /* first: it is what the channel is given */
    remote_config config;
    char *shown; /* the url, for people */
    http_client *http;
    exchange *exchanges;
    size_t exchange_count;

    int is_old;        /* HTTP+SSE is spoken */
    char *post_to;     /* HTTP+SSE: the endpoint; NULL: not known yet */
    long refused_with; /* HTTP+SSE: the status that initialize met before */
    exchange *stream;
    int is_open; /* the handshake is over: messages may leave */

    char *session;           /* the id; NULL: none */
    uint32_t session_number; /* of the session, counted; the ones before are lost */
    int is_renewed;          /* the session was lost, and nothing has come of the next one yet */

    uint64_t refused_until_ms; /* a credential was: the server is left alone */
    char refusal[256];

    tool_headers tool_headers;
};

/* config.c */
int32_t remote_config_read(patchbay_str json, remote_config *config, patchbay_error *reterr);
void remote_config_free(remote_config *config);

/* channel.c */
extern const upstream_channel remote_channel;
int remote_is_modern(const mcp_remote *remote);

/* exchange.c */
/* Make an exchange; it is the remote's. NULL when out of memory or too many are under way. */
exchange *exchange_create(mcp_remote *remote, exchange_kind kind, const patchbay_str *parts,
                          uint32_t part_count);
/* Send it, or send it again. What cannot be sent fails later, as if it had been tried. */
void exchange_start(exchange *x);
/* Forget it, and close what is open for it. NULL is fine. May be called from its own callbacks. */
void exchange_end(exchange *x);
/* There will be no answer: tell who waits, and end it. */
void exchange_fail(exchange *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
void exchange_start_held(mcp_remote *remote);

/* answer.c */
extern const http_request_events exchange_events;
/* Begin anew with an answer that is to come. */
void answer_reset(exchange *x);
void answer_free(exchange *x);

/* resume.c */
/* The stream has ended. Take it up later, if that can be: 0 when it cannot. */
int exchange_resume(exchange *x);

/* session.c */
/* Keep the id that came with the answer to initialize. */
void session_take(mcp_remote *remote, patchbay_str id);
/* The server does not know the session that `x` was sent in. */
void session_lost(exchange *x);
void session_end(mcp_remote *remote); /* tell the server, and forget it */
/* The handshake is over: send what was held, and listen. */
void session_begin(mcp_remote *remote);
void session_stream_ended(exchange *x, const char *why);

/* old_transport.c */
void old_transport_begin(mcp_remote *remote);
void old_transport_take(exchange *stream, const sse_event *event);
void old_transport_ended(exchange *stream, const char *why);

#endif
