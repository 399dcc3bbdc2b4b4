/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between what an upstream says and how it is reached. A channel carries messages to one
 * server and back; it knows nothing of catalogs, calls or subscriptions. Pipes and Unix
 * sockets are some (../local), HTTP and WebSocket others (../remote).
 *
 * An operation may find that the connection is over: it then says so with upstream_disconnect(),
 * which may call close() before the operation has returned.
 * Thread: [loop]. Nothing here blocks.
 */
#ifndef MCP_UPSTREAM_CHANNEL_H
#define MCP_UPSTREAM_CHANNEL_H

#include <patchbay/json.h>
#include <patchbay/wire.h>

typedef struct mcp_server mcp_server;

/* A message on its way out. Everything is borrowed for the call. */
typedef struct upstream_outgoing {
    const patchbay_str *parts; /* the whole message */
    uint32_t part_count;
    uint32_t kind;       /* PATCHBAY_MSG_… */
    patchbay_str method; /* of a request or notification, plain */
    patchbay_str id;     /* raw, of a request of the module's own; else empty */
    patchbay_call
        call; /* of a request of the hub's, which is its id; that an answer is for; or 0 */
    const patchbay_request *request; /* … and what it was framed from; else NULL */
} upstream_outgoing;

typedef struct upstream_channel {
    /* Connect. On return messages can be sent.
     * returns: 0 when that failed, and upstream_disconnect() was called */
    int (*open)(mcp_server *server);

    /* Send a message. A request is answered with upstream_take() or upstream_undelivered(), later.
     * returns: PATCHBAY_OK; PATCHBAY_ELIMIT (too much waits to be sent); PATCHBAY_ESTATE (the
     *          connection has ended: upstream_disconnect() was called, or is about to be);
     *          PATCHBAY_ENOMEM */
    int32_t (*send)(mcp_server *server, const upstream_outgoing *message);

    /* Nobody waits for the answer to a request any more: tell the server. `id` is raw. */
    void (*cancel)(mcp_server *server, patchbay_str id);

    /* End the connection and forget all that was sent; nothing is told any more. */
    void (*close)(mcp_server *server);

    /* The process id of the server; NULL: it is none of the hub's. */
    uint32_t (*pid)(mcp_server *server);

    /* Write the last words of the server to people, as one line; NULL: it has no place for any. */
    void (*quote)(mcp_server *server, char *ret_line, size_t size);

    /* A list of tools is about to be read, and one of its elements: 0 leaves it out. Both may be
     * NULL: all are taken. */
    void (*begin_tools)(mcp_server *server);
    int (*take_tool)(mcp_server *server, patchbay_str tool);
} upstream_channel;

/* A notifications/cancelled under construction. */
typedef struct upstream_cancellation {
    patchbay_str parts[3];
    upstream_outgoing message;
} upstream_cancellation;

/* Make one for the request `id` (raw, borrowed) in place: it points into itself. */
static inline void upstream_cancellation_init(upstream_cancellation *made, patchbay_str id)
{
    made->parts[0] = patchbay_str_of("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                                     "\"params\":{\"requestId\":");
    made->parts[1] = id;
    made->parts[2] = patchbay_str_of("}}");
    made->message = (upstream_outgoing){
        .parts = made->parts,
        .part_count = sizeof made->parts / sizeof made->parts[0],
        .kind = PATCHBAY_MSG_NOTIFICATION,
        .method = patchbay_str_of("notifications/cancelled"),
    };
}

/* ---- what a channel reports ------------------------------------------------------------------ */

/* A message has come; it was scanned by the hub's wire interface. `origin` is the request on whose
 * stream it came: a call of the hub's; id 0 when that is not known. */
void upstream_take(mcp_server *server, const patchbay_message *message, patchbay_call origin);

/* A request that was sent will have no answer: the `call`, or if that is 0 the request of the
 * module's own with `id` (raw). `why` is a sentence for people; `status` says what a call comes to:
 * PATCHBAY_UNAVAILABLE (trying again may help), PATCHBAY_INVALID_INPUT (it does not: the request or
 * the configuration is wrong), PATCHBAY_FAILED (the answer came, and cannot be used: of a request of
 * the module's own `why` is what is wrong with it). */
void upstream_undelivered(mcp_server *server, patchbay_call call, patchbay_str id, int32_t status,
                          const char *why);

/* Fail the request with that id (raw): what is wrong with its answer is `why`.
 * returns: 0 when no call is out that could be meant */
typedef int upstream_settler(mcp_server *server, patchbay_str id, const char *why);

/* The hub's wire interface refuses a message: `why`. Requests whose answers it contains are given to
 * `settle`; what else it may be is logged and counted.
 * returns: the number of requests that were settled */
size_t upstream_take_refused(mcp_server *server, patchbay_str text, const char *why,
                             upstream_settler *settle);
int upstream_settle(mcp_server *server, patchbay_str id, const char *why); /* the usual settler */

/* An answer has come that nothing waits for; `id` is raw. Logged and counted. */
void upstream_stray(mcp_server *server, patchbay_str id);

/* The server has forgotten the handshake: do it again. Calls in flight stay, and are the channel's
 * to send once more; requests of the module's own are not. */
void upstream_renew(mcp_server *server);

/* Why a connection ends, which decides what comes next. */
typedef enum upstream_cause {
    CAUSE_NONE = 0, /* the hub wants it so: it is not a failure */
    CAUSE_FAILURE,  /* the server's: it is tried again, and so may calls be */
    CAUSE_CONFIG,  /* what was configured does not work: it is tried again, but calls need not be */
    CAUSE_CATALOG, /* its lists cannot be used: it is tried again a few times */
} upstream_cause;

/* End the connection; every call that waits for it fails with `reason`. Calls close(). */
void upstream_disconnect(mcp_server *server, const char *reason, upstream_cause cause);

#endif
