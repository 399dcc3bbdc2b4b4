/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes both ways, to a server on the network: names, proxies and TLS are libcurl's, so that they
 * are the same as over HTTP and nothing blocks; what is sent is the caller's. Thread: [loop].
 */
#ifndef MCP_REMOTE_WEBSOCKET_LINK_H
#define MCP_REMOTE_WEBSOCKET_LINK_H

#include "http_client.h"
#include "websocket_frames.h"

#define LINK_READ_BYTES (16u << 10) /* at a time: a record of TLS */
#define LINK_TURN_READS 16          /* before others have their turn on the loop */

typedef struct ws_link ws_link;

/* What a link tells. None is called from inside the functions below; each may close the link. */
typedef struct ws_link_events {
    void (*on_connected)(void *ctx);
    void (*on_bytes)(void *ctx, patchbay_str bytes); /* borrowed for the call */
    /* There is no connection, or no more. `why` is a sentence, or what libcurl says. Comes once. */
    void (*on_end)(void *ctx, int was_connected, const char *why);
} ws_link_events;

/* Connect. `url`: http or https. Its end is always told from the loop.
 * returns: PATCHBAY_OK; PATCHBAY_EINVAL; PATCHBAY_ENOMEM */
int32_t ws_link_open(const patchbay_loop_v1 *loop, patchbay_host *host, http_client *http,
                     const char *url, const ws_link_events *events, void *ctx, ws_link **ret_link);

/* Send, as soon as that can be. owns: `chunk`; NULL is fine */
void ws_link_send(ws_link *link, ws_chunk *chunk);

/* Bytes of memory that wait to be sent. */
size_t ws_link_queued(const ws_link *link);

/* Close, and free. What can leave at once does. NULL is fine. May be called from its own events. */
void ws_link_close(ws_link *link);

#endif
