/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stdio transport: one client on the other end of stdin and stdout. Framing and
 * back-pressure are stream_client's. Thread: [loop]. spec: MCP 2026-07-28 basic/transports/stdio
 */
#ifndef TRANSPORTS_STDIO_STDIO_H
#define TRANSPORTS_STDIO_STDIO_H

#include "base/budget.h"
#include "hub/kernel/transport.h"

#include <ev.h>

typedef struct hub_stream_client hub_stdio;

/* The descriptors of the client, taken away from everybody else in the process. */
typedef struct hub_stdio_fds {
    int in;
    int out;
} hub_stdio_fds;

typedef struct hub_stdio_options {
    hub_stdio_fds fds;
    const char *profile; /* NULL: the default profile */
    size_t max_message_bytes;
    size_t max_queue_bytes;
    hub_budget *budget; /* what all clients of the hub together may hold; NULL: nobody counts */
    /* The client is gone: end of file, an error, or it does not read. Once, from the loop. */
    void (*on_end)(void *ctx, hub_str reason);
    void *ctx;
} hub_stdio_options;

/* Move stdin and stdout to private descriptors; then 0 reads nothing and 1 is stderr, so that
 * nothing but the transport can write protocol. Call it before any plugin is loaded. [init] errors:
 * HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_stdio_claim(hub_stdio_fds *ret_fds, hub_error *reterr);

/* Serve the client.
 * owns:    *ret_stdio, close it with hub_stdio_close; the descriptors stay open
 * errors:  those of hub_session_create; HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_stdio_open(struct ev_loop *loop, hub_orchestrator *hub,
                                      const hub_stdio_options *options, hub_stdio **ret_stdio,
                                      hub_error *reterr);

/* Whether the client waits for an answer, or has not taken what it was sent. NULL: no. */
bool hub_stdio_is_busy(const hub_stdio *stdio);

/* The client is gone, or as good as: its calls end now, with errors. NULL is fine. */
void hub_stdio_abort(hub_stdio *stdio);

/* Write what waits, for at most `drain_ms`, then end the session. NULL is fine. */
void hub_stdio_close(hub_stdio *stdio, unsigned drain_ms);

#endif
