/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of JSON-RPC messages over a pair of descriptors (pipes, sockets, a terminal).
 *
 * Framing: one message per line (MCP 2026-07-28 basic/transports/stdio), or LSP-style
 * `Content-Length` headers, which a stream may detect from its first bytes and then answers in kind.
 * Reading is bounded by a maximum message, writing by a maximum queue. What is sent during one loop
 * iteration leaves in one system call; a large message is handed to the kernel from where it lies.
 *
 * Thread: [loop]. No callback is made from inside open, send or close.
 */
#ifndef HUB_BASE_STREAM_H
#define HUB_BASE_STREAM_H

#include "base/err.h"

#include <ev.h>

typedef struct hub_stream hub_stream;

typedef struct hub_stream_options {
    int read_fd;  /* both become non-blocking; their flags are restored at close */
    int write_fd; /* may equal read_fd */
    bool keep_fds_open;        /* close() leaves the descriptors to the caller */
    bool detect_framing;       /* accept Content-Length framing, too */
    size_t max_message_bytes;  /* not counting the frame */
    size_t max_queue_bytes;    /* hub_stream_send refuses beyond this */
    size_t pause_above_bytes;  /* stop reading while more than this waits to leave; 0: never */

    /* One message, unchecked bytes without the frame, borrowed for the call. Blank lines are
     * skipped. The stream may be closed from here. */
    void (*on_message)(void *ctx, hub_str bytes);

    /* A message over the limit was discarded, and reading goes on. NULL: the stream ends instead. */
    void (*on_oversize)(void *ctx);

    /* End of file, error, or a frame that cannot be read. Once; then nothing more is read or
     * written. The stream is still to be closed, and may be closed from here. */
    void (*on_end)(void *ctx, hub_str reason);

    void *ctx;
} hub_stream_options;

/* Start reading.
 * owns:    *ret_stream and (unless keep_fds_open) both descriptors, even when this fails
 * errors:  HUB_ESYSTEM (a descriptor cannot be made non-blocking), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_stream_open(struct ev_loop *loop, const hub_stream_options *options,
                                       hub_stream **ret_stream);

/* Send one message made of `count` parts (at most HUB_STREAM_PARTS), none of which may contain a
 * newline byte. Nothing of the parts is kept.
 * errors:  HUB_ELIMIT (the queue is full; nothing was queued), HUB_ESTATE (ended), HUB_ENOMEM */
#define HUB_STREAM_PARTS 32
HUB_MUST_CHECK hub_err hub_stream_send(hub_stream *stream, const hub_str *parts, size_t count);

/* Bytes that wait to be written. */
size_t hub_stream_queued(const hub_stream *stream);

/* Write what waits, blocking at most `timeout_ms`: for the last words of a hub that stops. */
void hub_stream_drain(hub_stream *stream, unsigned timeout_ms);

/* Stop, drop what waits, and free. NULL is fine. */
void hub_stream_close(hub_stream *stream);

#endif
