/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a transport meets the hub, both directions. A transport owns connections and framing; it
 * hands complete messages to a session and writes what comes back. It knows nothing of methods,
 * tools or plugins. Adding one means calling the functions below and filling one table.
 *
 * A *session* is one conversation: a stdio pipe, a WebSocket, a legacy HTTP session, or a single
 * modern HTTP request. A *port* is a place to write to: the whole connection, or one response
 * stream. A request's replies go to the port it came with; notifications that belong to no request
 * go to the session's own port.
 *
 * Thread: [loop]. Ports are never called from inside hub_session_create or hub_session_close.
 */
#ifndef HUB_HUB_KERNEL_TRANSPORT_H
#define HUB_HUB_KERNEL_TRANSPORT_H

#include "base/buf.h"
#include "base/lent.h"
#include "hub/kernel/types.h"
#include "identity/identity.h"
#include "tools/rules.h"
#include "wire/mcp.h"

struct hub_message;

/* One message on its way out, in parts of which none is kept but for those that are lent. */
typedef struct hub_outgoing {
    const hub_str *parts;
    size_t count;
    const hub_lent *lent; /* parts that may be held beyond the call; NULL: none */
    /* It answers the request that the port belongs to: nothing more will come for that request. A
     * port that outlives requests ignores it. */
    bool last;
    /* The code when it is a JSON-RPC error, else 0: HTTP has a status for it. */
    int code;
    /* With HUB_RPC_OVERLOADED: seconds, at least 1, after which to try again. HTTP has a header for
     * it; the error's data say it, too. Else 0. */
    uint32_t retry_s;
} hub_outgoing;

/* What a transport implements. */
typedef struct hub_port_ops {
    /* Write one message. errors:  HUB_ELIMIT (the peer does not read; the transport will end the
     * session from the loop), HUB_ESTATE (gone), HUB_ENOMEM */
    hub_err (*send)(hub_port *port, const hub_outgoing *message);

    /* The peer may be asked to come back for the rest (SSE polling, MCP 2025-11-25
     * basic/transports): let go of its connection, keep what is sent from now on. NULL: this
     * transport cannot. */
    void (*release)(hub_port *port);

    /* Append the value of a header of the HTTP request that a message came with, `name` in any
     * case; lines of the same name are joined by commas. False when there is none. Asked only while
     * the message is being taken, and only for names of hub_forwarded_names. NULL: messages of this
     * transport have no headers. */
    bool (*add_header)(hub_port *port, hub_str name, hub_buf *value);
} hub_port_ops;

/* Embed it in the transport's own struct. */
struct hub_port {
    const hub_port_ops *ops;
};

typedef struct hub_session_options {
    const char *profile;    /* name; NULL: the default profile */
    const char *transport;  /* "stdio", …: for the log */
    hub_identity *identity; /* who is asking; it is held */
    const char *principal;  /* the same of somebody without a credential: a name, which is copied;
                              NULL: `identity` says it */
    hub_client *client;     /* whose request it is; NULL: the session is a client itself */
    bool is_one_request;    /* it ends with the answer to its only request: there is no session */
    bool acts;              /* it is no client: somebody has a request answered as if it were one */
    hub_port *port;         /* for what belongs to no request; outlives the session */
    const void *listener;   /* where it came in, for hub_drain_owed_at; NULL: nobody will ask */
    const char *peer;       /* the client's address, for people; NULL: it has none. Copied */
    const char *metadata;   /* the URL of what says where to get a token (RFC 9728); NULL. Copied */
} hub_session_options;

/* Hold what is known of all that one principal sends from one address, in sessions of one request
 * each: limits of one client hold for all of it together. A transport holds it for as long as its
 * connection may bring the next request.
 * owns:    the result, hub_client_leave it. NULL when out of memory */
hub_client *hub_client_join(hub_orchestrator *hub, const char *principal, const char *peer);
void hub_client_leave(hub_client *client); /* NULL is fine */

/* Whether it is what this principal sends from that address. */
bool hub_client_is_of(const hub_client *client, const char *principal, const char *peer);

/* Begin a conversation.
 * owns:    *ret_session, end it with hub_session_close
 * errors:  HUB_ENOTFOUND (no such profile), HUB_ESTATE (the hub is stopping), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_session_create(hub_orchestrator *hub, const hub_session_options *options,
                                          hub_session **ret_session, hub_error *reterr);

/* Take one message that came with `port`. The bytes are borrowed for the call. Whatever is wrong
 * with them is answered on the port. */
void hub_session_receive(hub_session *session, hub_port *port, hub_str bytes);

/* The same, for a transport that has scanned the message itself. A batch is refused: such a
 * transport hands over its elements one by one. */
void hub_session_take(hub_session *session, hub_port *port, const struct hub_message *message);

/* The next message is from that address. */
void hub_session_set_peer(hub_session *session, const char *peer);

/* Who is asking has shown another credential of the same principal, which is held: what the session
 * sees and may do is what that one is good for. False when it does not open the session's profile. */
bool hub_session_judge(hub_session *session, hub_identity *identity);

/* Answer that a message was larger than the transport takes; it was not read. */
void hub_session_refuse_oversize(hub_session *session, hub_port *port, size_t max_bytes);

/* Its calls in flight end now, with errors that say that the hub is shutting down, and whoever
 * works on them is told that nobody waits. */
void hub_session_abort(hub_session *session);

/* The peer is gone: cancel its calls, forget its subscriptions, free the session. NULL is fine. */
void hub_session_close(hub_session *session);

/* Calls of the session that have not been answered. */
size_t hub_session_in_flight(const hub_session *session);

/* The revision that `initialize` agreed on; HUB_REVISION_NONE before, and for modern clients. */
hub_revision hub_session_revision(const hub_session *session);

/* The definition of the tool that the session's client knows by that name (a JSON object, as
 * tools/list shows it), or the empty span. Borrowed until the loop goes on. */
hub_str hub_session_find_tool(const hub_session *session, hub_str name);

/* The headers of clients' requests that some toolset wants to have forwarded: mostly none. Borrowed
 * until the loop goes on: a reload changes them. */
const hub_names *hub_forwarded_names(const hub_orchestrator *hub);

/* A text that remembers such headers, for a transport whose messages come long after them. What is
 * found is borrowed from `lines`; false when the header is not there. */
void hub_forwarded_add(hub_buf *lines, hub_str name, hub_str value);
bool hub_forwarded_find(hub_str lines, hub_str name, hub_str *ret_value);

/* Whether the hub takes work: its toolsets are loaded, and it is not stopping. Whether clients are to be sent
 * to it: it will go on to. */
bool hub_orchestrator_takes_work(const hub_orchestrator *hub);
bool hub_orchestrator_is_ready(const hub_orchestrator *hub);

#endif
