/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is reached over HTTP: streamable HTTP of both eras, and HTTP+SSE of 2024-11-05. One
 * instance is one server. What is said is the business of ../common; this is how.
 *
 *   plugin.c          the module's table: create, call, cancel, destroy
 *   config.c          its configuration: a server entry with a `url`, as in any `mcpServers` file
 *   channel.c         the channel: what the core wants done
 *   exchange.c        one message on its way: its request, from start to end
 *   answer.c          what came back: head, JSON or an event stream
 *   status.c          statuses that are errors, and redirects
 *   forward.c         headers that clients send, passed on
 *   login.c           tokens that the hub has
 *   resume.c          streams that broke, taken up again (legacy)
 *   session.c         sessions of legacy servers: lost, renewed, ended; their stream
 *   old_transport.c   HTTP+SSE: one stream for all answers, and where to post
 *   http_client.c     libcurl on the hub's loop; http_request.c: one request
 *   sse_reader.c      event streams        header_value.c   values of headers
 *   tool_headers.c    x-mcp-header         url.c            origins
 *   challenge.c       which credential a server wants
 *   websocket*.c      another channel: a server that is reached over WebSocket (websocket.h)
 *
 * spec: MCP 2026-07-28 basic/transports/streamable-http; 2025-11-25 and 2024-11-05 basic/transports
 * Thread: [loop], all of it. Nothing here blocks.
 */
#ifndef MCP_REMOTE_H
#define MCP_REMOTE_H

#include "challenge.h"
#include "http_client.h"
#include "sse_reader.h"
#include "tool_headers.h"
#include "../common/upstream.h"

#include <patchbay/login.h>

#define REMOTE_CONNECT_MS       5000        /* to reach the server, unless configured */
#define REMOTE_MESSAGE_BYTES    (16u << 20) /* of a message of the server, unless the hub says */
#define REMOTE_ERROR_BYTES      (64u << 10) /* of what comes with a status that is an error */
#define REMOTE_QUOTE_BYTES      256         /* … of it, in messages */
#define REMOTE_EXCHANGES        4096        /* under way at a time */
#define REMOTE_NOTES            16          /* … of those that have no answer; others wait */
#define REMOTE_SESSION_ID_BYTES 1024        /* longer ones are no ids */
#define REMOTE_EVENT_ID_BYTES   4096        /* longer ones are not taken up from */
#define REMOTE_REDIRECTS        3           /* of one request, within the origin */
#define REMOTE_RESUMES          5           /* in a row that brought nothing */
#define REMOTE_RETRY_MS         1000        /* before a stream is taken up, unless it says */
#define REMOTE_RETRY_MOST_MS    60000       /* whatever it says, and however often it failed */
#define REMOTE_STREAM_MS        1000        /* for the stream of a session, before calls leave */
#define REMOTE_SETTLE_MS        2000        /* for a setting to be heard, before calls leave */
#define REMOTE_LINGER_MS        1000        /* for the end of a stream that was answered */
#define REMOTE_REFUSED_MS       (5 * 60000) /* before a refused credential is shown again */

typedef struct mcp_remote mcp_remote;

/* The server entry, as configured. All owned; NULL: not given. */
typedef struct remote_config {
    char *url;
    char *headers;         /* lines, as http_client wants them */
    char *forward_headers; /* names, each with a newline */
    char *ca;
    int only_public; /* nothing connects to an internal address */
    char *certificate;
    char *key;
    char *protocol;
    uint32_t connect_timeout_ms;
    upstream_pace pace;
    int is_sse;       /* type: sse */
    int is_websocket; /* ws, wss, or type: websocket; the url is written with http or https */
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
    patchbay_out lines;     /* headers of this message alone */
    patchbay_out forwarded; /* … and those of the client's request, in place of configured ones */
    http_request *request;  /* NULL: it waits */
    char *moved_to;         /* redirected, within the origin */

    uint32_t session; /* number of the session it was sent in; 0: none */
    uint32_t redirects;
    uint32_t resumes;  /* in a row that brought nothing */
    int is_setting;    /* calls wait for it */
    int is_listen;     /* subscriptions/listen: the server works without */
    int is_pulse;      /* asks whether the server lives: an error is an answer */
    int is_repeatable; /* doing it twice is doing it once */
    int is_counted;    /* one of `notes` */
    int is_held;       /* until the handshake is over, or the endpoint is known */
    int is_repeated;   /* it was sent once more, in the next session */
    int is_restarted;  /* … because its connection was stale */

    uint64_t generation;   /* of the login's token that it was sent with; 0: none */
    uint64_t login_ticket; /* a token is being got for it; 0: not */
    uint32_t logins;       /* that were got for it */
    int is_login_over;     /* none can be */

    /* Of the answer. */
    long status;
    int is_stream;
    int is_too_large;
    challenge challenge; /* of a credential that is refused */
    patchbay_out asked;  /* … as it came */
    patchbay_out text;   /* what came, unless it is a stream */
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
    const patchbay_login_v1 *login; /* NULL: its server is not logged in to */
    uint64_t login_ticket;          /* it is not known yet whether there is a token; 0: it is */
    struct remote_socket *socket;   /* over WebSocket; else NULL */
    exchange *exchanges;
    size_t exchange_count;
    size_t notes; /* under way */

    int is_old;                             /* HTTP+SSE is spoken */
    char *post_to;                          /* HTTP+SSE: the endpoint; NULL: not known yet */
    long refused_with;                      /* HTTP+SSE: the status that initialize met before */
    char refused_words[REMOTE_QUOTE_BYTES]; /* … and what came with it: answer_quote() */
    exchange *stream;
    int is_open; /* the handshake is over: messages may leave */
    int is_deaf; /* … but not calls: what the server asks for them would find no stream */

    uint32_t settling; /* exchanges that calls wait for */
    patchbay_timer *settle_timer;

    char *session;           /* the id; NULL: none */
    uint32_t session_number; /* of the session, counted; the ones before are lost */
    int is_renewed;          /* the session was lost, and nothing has come of the next one yet */
    int is_doubtful;         /* 404 need not be about the session: a call met it in the next, too */

    char refusal[UPSTREAM_REASON_BYTES]; /* of a credential: the server is left alone until
                                            server.not_before_ms */

    tool_headers tool_headers;
};

/* The most that a message of the server may have. */
static inline size_t remote_message_bytes(const mcp_remote *remote)
{
    const mcp_server *server = &remote->server;
    return PATCHBAY_HAS(patchbay_wire_v1, server->wire, max_message_bytes)
               ? (size_t)server->wire->max_message_bytes(server->host)
               : REMOTE_MESSAGE_BYTES;
}

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
/* … with a status that says more (upstream_undelivered). */
void exchange_fail_as(exchange *x, int32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void exchange_start_held(mcp_remote *remote);
/* Whether it may not leave yet. */
int exchange_must_wait(const exchange *x);
/* It changes what the server tells of later calls, which would overtake it on other connections:
 * they wait until it is settled, but not for ever. */
void exchange_unsettle(exchange *x);
void exchange_settle(exchange *x); /* the server has heard of it; nothing happens to others */
void exchange_forget_settings(mcp_remote *remote);

/* answer.c */
extern const http_request_events exchange_events;
/* Begin anew with an answer that is to come. */
void answer_reset(exchange *x);
void answer_free(exchange *x);
/* The answer to `x` has come: the request is over. */
void answer_take(exchange *x, const patchbay_message *message);

/* status.c */
/* There will be no answer. A handshake that fails ends the connection; any other request fails by
 * itself. */
void answer_fail(exchange *x, const char *why, upstream_cause cause);
/* Make one line of the beginning of what came, for the end of a sentence: ": " and the words, or
 * nothing. */
void answer_quote(const exchange *x, char *ret_line, size_t size);
/* The answer's status is an error; a redirect to `url`, NULL if that is no URL. */
void answer_take_status(exchange *x);
void answer_take_redirect(exchange *x, const char *url);
/* The status is the answer to this request, and says nothing about the session. */
void answer_give_status(exchange *x);
/* Go on at `url` if that may be: 0 when it may not. */
int answer_follow(exchange *x, const char *url);

/* There is no token to be had for it: say `why`, or what is always said of a refusal. */
void answer_take_login_end(exchange *x, patchbay_str why);

/* login.c */
void login_init(mcp_remote *remote, const patchbay_host_api *api, patchbay_host *host);
void login_open(mcp_remote *remote);
void login_close(mcp_remote *remote);
/* Whether the entry has a credential of its own. */
int login_has_credential(const mcp_remote *remote);
/* Append the header Authorization, if there is a token and the client does not send one itself. */
void login_add(const mcp_remote *remote, const patchbay_out *forwarded, patchbay_out *lines,
               uint64_t *ret_generation);
/* Have a token got for what was refused: 0 when none can be. */
int login_try(exchange *x);
void login_forget(exchange *x);

/* resume.c */
/* The stream has ended. Take it up later, if that can be: 0 when it cannot. */
int exchange_resume(exchange *x);

/* forward.c */
/* Read the names of headers that are forwarded; `array` may be empty. They are lines. */
int32_t forward_read(patchbay_str array, char **ret_names, patchbay_error *reterr);
/* Append those that the client of a call has sent, as lines. */
void forward_take(const mcp_remote *remote, patchbay_call call, patchbay_out *lines);
/* Append the configured headers, but for those that `forwarded` has, and `forwarded` itself. */
void forward_add(const mcp_remote *remote, const patchbay_out *forwarded, patchbay_out *lines);

/* session.c */
/* Keep the id that came with the answer to initialize. */
void session_take(mcp_remote *remote, patchbay_str id);
/* The server does not know the session that `x` was sent in. */
void session_lost(exchange *x);
void session_end(mcp_remote *remote); /* tell the server, and forget it */
/* The handshake is over: send what was held, and listen. */
void session_begin(mcp_remote *remote);
/* The stream of the session is there, or there will be none: calls may leave. */
void session_hears(mcp_remote *remote);
void session_stream_ended(exchange *x, const char *why);

/* old_transport.c */
void old_transport_begin(mcp_remote *remote);
void old_transport_take(exchange *stream, const sse_event *event);
void old_transport_ended(exchange *stream, const char *why);

#endif
