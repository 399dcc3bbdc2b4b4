/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MCP over WebSocket: one text message, one JSON-RPC message; both eras. The HTTP transport has
 * answered for Host, Origin and authorization before; this takes the connection from the upgrade
 * on. Framing is libwslay's (reader.h). Ping every ping_ms, gone when nothing comes for pong_ms; a
 * message over the limit is 1009, a binary one 1003, text that is not UTF-8 1007, a protocol error
 * 1002, a flood or a message that does not end within body_ms 1008, an expired credential 4401; the
 * hub leaves with 1001. A peer that does not read is owed client_queue_bytes at most. No
 * extensions. More bounds: limits.h. Thread: [loop]. spec: RFC 6455; the subprotocol "mcp" is
 * echoed when offered, not required
 */
#ifndef TRANSPORTS_WEBSOCKET_WEBSOCKET_H
#define TRANSPORTS_WEBSOCKET_WEBSOCKET_H

#include "hub/kernel/settings.h"
#include "hub/kernel/transport.h"
#include "net/net.h"

typedef struct hub_websockets hub_websockets;
typedef struct hub_websocket hub_websocket;

/* What all WebSockets of a listener share: their deadlines. `settings` is borrowed.
 * owns:    *ret_websockets; destroy it when the last socket has ended, on_end of that one included
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_websockets_create(hub_net *net, const hub_settings *settings,
                                             hub_websockets **ret_websockets);
/* Other settings from now on, borrowed like those before; what is open keeps some of them. */
void hub_websockets_reload(hub_websockets *websockets, const hub_settings *settings);

void hub_websockets_destroy(hub_websockets *websockets); /* NULL is fine */

typedef struct hub_websocket_options {
    hub_orchestrator *hub;
    hub_websockets *pool;
    const char *profile;    /* NULL: default */
    hub_identity *identity; /* who is asking; it is held */
    const void *listener;   /* as hub_session_options has it; so … */
    const char *peer;
    const char *metadata;
    int64_t expires; /* when the credential does (seconds since 1970): closed with 4401; 0 */
    hub_str key;     /* the value of Sec-WebSocket-Key */
    bool offers_mcp; /* the client offered the subprotocol "mcp" */
    hub_str headers; /* of the request, for hub_forwarded_find; copied */
    hub_str early;   /* bytes that came behind the request */
    void (*on_end)(void *ctx, hub_websocket *websocket); /* once; it is freed then */
    void *ctx;
} hub_websocket_options;

/* Whether a Sec-WebSocket-Key is the Base64 of 16 bytes. */
bool hub_websocket_is_key(hub_str key);

/* Answer 101 and become the owner of the link.
 * errors:  those of hub_session_create; the link is untouched then, and the caller answers */
HUB_MUST_CHECK hub_err hub_websocket_open(hub_link *link, const hub_websocket_options *options,
                                          hub_websocket **ret_websocket, hub_error *reterr);

/* The credential is good until another time than was said (seconds since 1970; 0: for ever). One in
 * the past counts within HUB_NET_TICK_MS. */
void hub_websocket_expire(hub_websocket *websocket, int64_t expires);

/* Whether something that was sent waits for the peer to take it. */
bool hub_websocket_owes(const hub_websocket *websocket);

/* Close with 1001 (going away) when what waits has been sent. on_end follows. */
void hub_websocket_close(hub_websocket *websocket);

#endif
