/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client at the other end of a pair of descriptors: a message stream, and the session it talks
 * to. stdio has one, a Unix socket one per connection. Newline framing, and Content-Length framing
 * when the first bytes ask for it. While more than HUB_STREAM_CLIENT_PAUSE_BYTES wait to be read by
 * the client, its requests are not read. Thread: [loop]. spec: MCP 2026-07-28
 * basic/transports/stdio
 */
#ifndef TRANSPORTS_STREAM_CLIENT_STREAM_CLIENT_H
#define TRANSPORTS_STREAM_CLIENT_STREAM_CLIENT_H

#include "base/budget.h"
#include "hub/kernel/transport.h"

#include <ev.h>

typedef struct hub_stream_client hub_stream_client;

#define HUB_STREAM_CLIENT_PAUSE_BYTES (8u * 1024 * 1024)

/* How often a client that has said its last word is looked at, in milliseconds: whether it still
 * listens, and whether its last answer has left. */
#define HUB_STREAM_CLIENT_LINGER_MS 50

typedef struct hub_stream_client_options {
    int read_fd;
    int write_fd;       /* may equal read_fd */
    bool keep_fds_open; /* closing leaves them to the caller */

    /* A client that ends its writing and still reads gets the answers to what it has asked; then
     * on_end is called. Otherwise on_end comes with the end of file. */
    bool answers_after_end;

    const char *profile;    /* NULL: the default profile */
    const char *transport;  /* for the log; lives as long as the client */
    const char *principal;  /* a name that is copied; NULL: `identity` says who is asking */
    hub_identity *identity; /* it is held */
    size_t max_message_bytes;
    size_t max_queue_bytes;
    hub_budget *budget; /* what all clients together may hold; NULL: nobody counts */

    /* The client is gone: end of file, an error, or it does not read. Once, from the loop. */
    void (*on_end)(void *ctx, hub_str reason);
    void *ctx;
} hub_stream_client_options;

/* Serve the client.
 * owns:    *ret_client, close it with hub_stream_client_close; and (unless keep_fds_open) both
 *          descriptors, even when this fails
 * errors:  those of hub_session_create; HUB_ESYSTEM (the descriptors cannot be used) */
HUB_MUST_CHECK hub_err hub_stream_client_open(struct ev_loop *loop, hub_orchestrator *hub,
                                              const hub_stream_client_options *options,
                                              hub_stream_client **ret_client, hub_error *reterr);

/* Write what waits, blocking at most `timeout_ms`.
 * returns: whether nothing waits any more */
bool hub_stream_client_drain(hub_stream_client *client, unsigned timeout_ms);

/* Whether it waits for an answer, or has not taken what it was sent. */
bool hub_stream_client_is_busy(const hub_stream_client *client);

/* What it waits for ends now, with errors: it will not be there for the answers. */
void hub_stream_client_abort(hub_stream_client *client);

/* End the session, drop what waits. May be called from on_end. NULL is fine. */
void hub_stream_client_close(hub_stream_client *client);

#endif
