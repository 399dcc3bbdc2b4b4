/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of JSON-RPC messages over a pair of descriptors (pipes, sockets, files, a terminal).
 *
 * Framing: one message per line (MCP 2026-07-28 basic/transports/stdio), or LSP-style
 * `Content-Length` headers, which a stream may detect from its first bytes and then answers in
 * kind. Reading is bounded by a maximum message, writing by a maximum queue. What is sent during
 * one loop iteration leaves in one system call, or one for every 4 KiB; a large message is handed
 * to the kernel from where it lies.
 *
 * Reading and writing end separately. After end of file what was sent still leaves, until close().
 * When writing fails, what the peer wrote before it went is still read, and then on_end is called.
 *
 * Thread: [loop]. No callback is made from inside open, send, drain or close. SIGPIPE must be
 * ignored.
 */
#ifndef HUB_BASE_STREAM_H
#define HUB_BASE_STREAM_H

#include "base/budget.h"
#include "base/framing.h"
#include "base/lent.h"

#include <ev.h>

typedef struct hub_stream hub_stream;

typedef struct hub_stream_options {
    int read_fd;         /* both become non-blocking */
    int write_fd;        /* may equal read_fd */
    bool keep_fds_open;  /* close() leaves them to the caller, with the flags that were found */
    bool detect_framing; /* accept Content-Length framing, too */
    size_t max_message_bytes; /* not counting the frame */
    size_t max_queue_bytes;   /* hub_stream_send refuses beyond this, which counts the frame */
    /* Of what the stream's buffers hold; the caller opens it before the stream, and closes it after
     * that. NULL: nobody counts. Beyond it hub_stream_send refuses, and reading ends. */
    hub_budget_account *account;
    size_t pause_above_bytes; /* stop reading while more than this waits to leave; 0: never */

    /* One message, unchecked bytes without the frame, borrowed for the call. Blank lines are
     * skipped, as is white space before a message. Where a Content-Length header should be and is
     * not, what is there instead comes as a last message, for the answer that it deserves. The
     * stream may be closed from here. */
    void (*on_message)(void *ctx, hub_str bytes);

    /* A message over the limit was discarded, and reading goes on; called once per message, when
     * the limit is passed. NULL: the stream ends instead. The stream may be closed from here. */
    void (*on_oversize)(void *ctx);

    /* End of file, error, or a frame that cannot be read. Once; then nothing more is read. The
     * stream is still to be closed, and may be closed from here. */
    void (*on_end)(void *ctx, hub_str reason);

    void *ctx;
} hub_stream_options;

/* Start reading.
 * owns:    *ret_stream and (unless keep_fds_open) both descriptors, even when this fails
 * errors:  HUB_ESYSTEM (a descriptor cannot be made non-blocking), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_stream_open(struct ev_loop *loop, const hub_stream_options *options,
                                       hub_stream **ret_stream);

/* Send one message made of `count` parts (at most HUB_STREAM_PARTS). Nothing of the parts is kept,
 * but for those that `lent` has among its spans (NULL: none), which may be held until they have
 * left. They count for the account like what is copied: a client that does not read holds a list
 * that others may not see any more.
 * They are JSON text, in which newline and carriage return can only be white space: between lines
 * each such byte leaves as a space, so that one message is one line, whoever printed it.
 * errors:  HUB_ELIMIT (the queue is full; nothing was queued), HUB_ESTATE (writing has failed, or
 *          the stream is closed), HUB_ENOMEM */
#define HUB_STREAM_PARTS HUB_FRAMING_PARTS
HUB_MUST_CHECK hub_err hub_stream_send(hub_stream *stream, const hub_str *parts, size_t count,
                                       const hub_lent *lent);

/* Bytes that wait to be written, frames and what is lent included: never more than max_queue_bytes. */
size_t hub_stream_queued(const hub_stream *stream);

/* Write what waits, blocking at most `timeout_ms`: for the last words of a hub that stops. */
void hub_stream_drain(hub_stream *stream, unsigned timeout_ms);

/* Stop, drop what waits, and free. NULL is fine. */
void hub_stream_close(hub_stream *stream);

#endif
