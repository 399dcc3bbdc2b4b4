/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that is reached over WebSocket: the channel. MCP leaves such a transport to custom: what
 * is said is as over pipes, each message is a text message, and the subprotocol is `mcp`, as the
 * hub itself serves it and the SDKs have it.
 *
 *   websocket.c           the channel: opening, messages, keep-alive, the end
 *   websocket_link.c      the connection: bytes in, bytes out
 *   websocket_upgrade.c   the handshake        websocket_frames.c   frames
 *
 * spec: RFC 6455; MCP 2026-07-28 basic/transports, Custom Transports
 */
#ifndef MCP_REMOTE_WEBSOCKET_H
#define MCP_REMOTE_WEBSOCKET_H

#include "remote.h"

#define WEBSOCKET_PING_MS 30000 /* between pings; a server that says nothing in between is gone */

extern const upstream_channel websocket_channel;

/* As url_dup_shown(), with ws for http and wss for https. */
char *websocket_dup_shown(const char *url);

/* Make what the channel needs, before upstream_init(). returns: PATCHBAY_OK; PATCHBAY_ENOMEM */
int32_t websocket_init(mcp_remote *remote, const patchbay_host_api *api, patchbay_host *host);
void websocket_fini(mcp_remote *remote); /* after upstream_fini() */

#endif
