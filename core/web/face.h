/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A face is something that the hub serves over HTTP beside MCP: how it is, its numbers, its pages.
 * Each face has a folder here and is one static const table: which method, at which path, after
 * which checks, and who answers. The composition root hands the tables to the HTTP transport. The
 * transport reads the requests, checks what a row needs, and only then calls the row's function; it
 * knows no face. A face knows no connection: it gets a request and an exchange to answer on.
 *
 * HEAD is served wherever GET is, without the body. The transport answers OPTIONS, methods that a
 * path does not have (405) and paths that nobody has (404) by itself. Thread: [loop].
 */
#ifndef HUB_WEB_FACE_H
#define HUB_WEB_FACE_H

#include "hub/kernel/transport.h"
#include "identity/identity.h"

struct hub_listen_settings;

typedef struct hub_web_request hub_web_request;
typedef struct hub_web_exchange hub_web_exchange;

/* ---- what a face implements ------------------------------------------------------------------ */

/* What has been checked before a row's function is called, from the least to the most. Where the
 * rows of a path differ, methods that it does not have need what the row with the most does. */
typedef enum hub_web_need {
    /* A page of another origin than the listener's is refused; the Host may be any, since those who
     * look whether the hub lives (kubelet, haproxy, nginx) send what they like. */
    HUB_WEB_ANY_HOST = 1,
    /* Host and Origin are the listener's. Nobody is asked who they are. */
    HUB_WEB_OPEN,
    /* … and the caller may use MCP: where the hub has tokens, it has shown a valid one. */
    HUB_WEB_CALLER,
    /* … and where the hub has no tokens, the caller is on this machine. A token is asked of callers
     * on this machine, too: behind a proxy on this machine, everybody seems to be on it. */
    HUB_WEB_TOKEN_OR_LOOPBACK,
} hub_web_need;

/* Answer a request, or wait (hub_web_wait) and answer it later; one of the two before returning.
 * `instance` is the face's. The request is borrowed for the call. */
typedef void hub_web_handle(void *instance, const hub_web_request *request,
                            hub_web_exchange *exchange);

typedef struct hub_web_row {
    const char *method; /* GET, POST, PUT, PATCH or DELETE */
    /* Segments of letters, digits and "-._~", and compared byte for byte: nothing is decoded. A
     * "/" and a star at the end stand for all that is beneath: "/ui/" with a star is "/ui/" and
     * "/ui/a/b", but not "/ui". The longest path that fits is taken. */
    const char *path;
    hub_web_need need;
    size_t max_body_bytes; /* 0: none is taken. What is larger is refused with 413, as is what
                              limits.client_message forbids */
    hub_web_handle *handle;
} hub_web_row;

typedef struct hub_web_face {
    const char *name;
    const hub_web_row *rows;
    size_t count;
    /* Whether a listener serves it; asked for each request, since a reload may change that. Where it
     * does not, there is nothing at these paths. NULL: all listeners do. */
    bool (*is_served)(const struct hub_listen_settings *listen);
    /* A page of a local name (localhost) at another port than the hub's is another program's: it is
     * refused, unless `origins` of the listener name it. */
    bool refuses_neighbours;
    /* Bearer credentials that begin so are the face's own, good at its rows alone, and judged by it:
     * NULL says that it is none of them. owns: the result, one reference. Both NULL: it has none. */
    const char *secret_prefix;
    hub_identity *(*judge)(void *instance, hub_str token);
} hub_web_face;

/* A face at work. */
typedef struct hub_web_served {
    const hub_web_face *face;
    void *instance; /* what its functions get; outlives the listeners */
} hub_web_served;

/* ---- what a transport implements ------------------------------------------------------------- */

typedef struct hub_web_request_ops {
    bool (*find_header)(const hub_web_request *request, hub_str name, hub_str *ret_value);
    const char *(*find_principal)(const hub_web_request *request);
    bool (*add_header)(const hub_web_request *request, hub_str name, hub_buf *value);
    hub_identity *(*find_identity)(const hub_web_request *request);
} hub_web_request_ops;

/* Embed it in the transport's own struct. */
struct hub_web_request {
    const hub_web_request_ops *ops;
    hub_str method; /* as the row has it: HEAD comes as GET */
    hub_str path;   /* not decoded, without the query */
    /* What the star of the row's path stands for, as it came; without one it is empty. Percent
     * signs are followed by two digits. No segment is empty, "." or "..", and none hides a slash, a
     * backslash or a control character, also when it is decoded: such requests get 404. */
    hub_str rest;
    hub_str host;   /* whom the client takes the hub for: a name, and perhaps a port */
    bool is_secure; /* the client spoke TLS, be it to a proxy */
    hub_str query;  /* behind the "?", not decoded */
    hub_str body;
};

typedef struct hub_web_header {
    hub_str name;
    hub_str value;
} hub_web_header;

typedef struct hub_web_answer {
    int status;                    /* one that http/response.c has a phrase for */
    const char *type;              /* media type of the body; NULL: there is none */
    const hub_web_header *headers; /* at most HUB_WEB_ANSWER_HEADERS, beside Date, Content-Type and
                                      what CORS and framing want */
    size_t header_count;
    const hub_str *parts; /* of the body, at most HUB_WEB_ANSWER_PARTS; not kept */
    size_t count;
} hub_web_answer;

enum { HUB_WEB_ANSWER_HEADERS = 8, HUB_WEB_ANSWER_PARTS = 32 };

/* Told from the loop, never from inside a function below. */
typedef struct hub_web_waiter {
    /* The peer has gone, or may not have the answer any more: the exchange has ended and is not to
     * be touched. Mandatory. */
    void (*on_gone)(void *ctx);
} hub_web_waiter;

/* One event of a stream. */
typedef struct hub_web_event {
    hub_str name; /* of its type, visible ASCII; empty: "message" */
    hub_str id;   /* visible ASCII; empty: none */
    hub_str data; /* one JSON text */
} hub_web_event;

typedef struct hub_web_exchange_ops {
    hub_err (*answer)(hub_web_exchange *exchange, const hub_web_answer *answer);
    void (*wait)(hub_web_exchange *exchange, const hub_web_waiter *waiter, void *ctx);
    hub_err (*begin_session)(const hub_web_exchange *exchange, hub_port *port,
                             hub_session **ret_session, hub_error *reterr);
    void (*add_challenge)(const hub_web_exchange *exchange, const hub_outgoing *message,
                          hub_buf *value);
    /* The five of a stream; NULL: this transport has none. */
    hub_err (*stream)(hub_web_exchange *exchange);
    void (*write_event)(hub_buf *out, const hub_web_event *event);
    hub_err (*send)(hub_web_exchange *exchange, hub_str written);
    size_t (*owed)(const hub_web_exchange *exchange);
    void (*end)(hub_web_exchange *exchange);
} hub_web_exchange_ops;

/* Embed it in the transport's own struct. */
struct hub_web_exchange {
    const hub_web_exchange_ops *ops;
};

/* ---- what a face calls ----------------------------------------------------------------------- */

/* The value of the first header of this name, in any case. False when there is none. Credentials
 * (Authorization, Cookie) are the transport's, and never found. */
static inline bool hub_web_find_header(const hub_web_request *request, hub_str name,
                                       hub_str *ret_value)
{
    return request->ops->find_header(request, name, ret_value);
}

/* Who is asking; borrowed for the call. Never NULL unless the row asks nobody: then the
 * credential is judged when this is called, a bad one counts as a guess, and NULL says that the
 * caller could not use MCP. */
static inline const char *hub_web_find_principal(const hub_web_request *request)
{
    return request->ops->find_principal(request);
}

/* Append the value of a header that goes on to servers: see hub_port_ops.add_header. Credentials are
 * found, too: for nothing else than names of hub_forwarded_names. */
static inline bool hub_web_add_forwarded(const hub_web_request *request, hub_str name,
                                         hub_buf *value)
{
    return request->ops->add_header(request, name, value);
}

/* Begin a session of one request of MCP, as whoever asked for the exchange, and as part of what that
 * principal sends from there: rules, rates and limits are those of MCP. Only for rows that need a
 * caller.
 * owns:    *ret_session, end it with hub_session_close
 * errors:  as hub_session_create */
HUB_MUST_CHECK static inline hub_err hub_web_begin_session(const hub_web_exchange *exchange,
                                                           hub_port *port,
                                                           hub_session **ret_session,
                                                           hub_error *reterr)
{
    return exchange->ops->begin_session(exchange, port, ret_session, reterr);
}

/* Append what WWW-Authenticate is to say beside a message of such a session; mostly nothing. */
static inline void hub_web_add_challenge(const hub_web_exchange *exchange,
                                         const hub_outgoing *message, hub_buf *value)
{
    exchange->ops->add_challenge(exchange, message, value);
}

/* The same with all that the credential says; borrowed for the call, reference it to keep it. */
static inline hub_identity *hub_web_find_identity(const hub_web_request *request)
{
    return request->ops->find_identity(request);
}

/* Answer. The exchange has ended then, whatever this returns.
 * errors:  HUB_ELIMIT, HUB_ESTATE, HUB_ENOMEM: the answer is lost, and the connection ends by
 *          itself. Nobody need care, but for what depends on the answer's having been sent */
static inline hub_err hub_web_answer_with(hub_web_exchange *exchange, const hub_web_answer *answer)
{
    return exchange->ops->answer(exchange, answer);
}

/* The answer comes later: the exchange lives until it is answered, or `waiter` is told that it has
 * gone. To be called once, by the row's function. */
static inline void hub_web_wait(hub_web_exchange *exchange, const hub_web_waiter *waiter, void *ctx)
{
    exchange->ops->wait(exchange, waiter, ctx);
}

/* Whether events can be sent instead of an answer. */
static inline bool hub_web_can_stream(const hub_web_exchange *exchange)
{
    return exchange->ops->stream != NULL;
}

/* Begin an event stream instead of answering an exchange that waits. What is sent later is ignored by
 * a peer that wants the head alone.
 * errors:  HUB_ELIMIT, HUB_ESTATE, HUB_ENOMEM: the connection ends, and the waiter is told */
static inline hub_err hub_web_stream(hub_web_exchange *exchange)
{
    return exchange->ops->stream(exchange);
}

/* Append an event as this exchange's transport sends it, and may send it on all its exchanges. What cannot
 * be written makes `out` fail. */
static inline void hub_web_write_event(const hub_web_exchange *exchange, hub_buf *out,
                                       const hub_web_event *event)
{
    exchange->ops->write_event(out, event);
}

/* Send what was written of events, in one piece. errors:  as hub_web_stream */
static inline hub_err hub_web_send(hub_web_exchange *exchange, hub_str written)
{
    return exchange->ops->send(exchange, written);
}

/* How many bytes of a stream the peer has not taken yet. */
static inline size_t hub_web_owed(const hub_web_exchange *exchange)
{
    return exchange->ops->owed(exchange);
}

/* End a stream; the exchange has ended then. Not from inside the row's function. */
static inline void hub_web_end(hub_web_exchange *exchange)
{
    exchange->ops->end(exchange);
}

#endif
