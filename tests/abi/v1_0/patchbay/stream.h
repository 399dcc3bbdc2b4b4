/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host interface "patchbay.stream/1": JSON-RPC messages, one per line, over a pair of descriptors
 * (MCP 2026-07-28 basic/transports/stdio; the same framing serves pipes and sockets).
 *
 * Reading is bounded by a maximum message, writing by a maximum queue. Writes of one loop iteration
 * leave in one system call. The reader pauses by itself while a callback runs, never in between.
 * When writing fails, what the peer wrote before it went is still read, and then the stream ends.
 */
#ifndef PATCHBAY_STREAM_H
#define PATCHBAY_STREAM_H

#include <patchbay/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PATCHBAY_STREAM_V1 "patchbay.stream/1"

typedef struct patchbay_stream patchbay_stream;

typedef struct patchbay_stream_options {
    uint32_t struct_size;
    int32_t read_fd;  /* becomes non-blocking; owned by the stream from now on */
    int32_t write_fd; /* likewise; may equal read_fd */
    uint32_t reserved;
    uint64_t max_message_bytes; /* a longer line closes the stream */
    uint64_t max_queue_bytes;   /* send() refuses beyond this */

    /* One line has arrived, without its newline and the white space before it. Blank lines are
     * skipped.
     * The bytes are unchecked: scan them (wire.h). Borrowed for the call. [loop] */
    void (*on_message)(void *ctx, patchbay_str line);

    /* The stream ended: end of file, error, or a line over the limit. Nothing more is read; what
     * was sent before may still leave. `reason` is plain text. Called once, and not for a close()
     * of one's own; the stream must then be closed. [loop] */
    void (*on_end)(void *ctx, patchbay_str reason);

    void *ctx;
} patchbay_stream_options;

typedef struct patchbay_stream_v1 {
    uint32_t struct_size;
    uint32_t reserved;

    /* Start reading. On failure both descriptors are closed.
     * thread: [loop]     returns: PATCHBAY_OK, PATCHBAY_EINVAL, PATCHBAY_ENOMEM */
    int32_t (*open)(patchbay_host *host, const patchbay_stream_options *options,
                    patchbay_stream **ret_stream);

    /* Write one message made of `count` parts (at most 32); the newline is added. The parts are
     * JSON text, in which newline and carriage return bytes can only be white space: each leaves as
     * a space, so that one message is one line in any layout. Nothing is kept: what cannot
     * leave at once is copied. thread: [loop]     blocks: no returns: PATCHBAY_OK; PATCHBAY_ELIMIT
     * (queue full: nothing was queued); PATCHBAY_ESTATE (the peer does not read any more);
     * PATCHBAY_EINVAL (too many parts); PATCHBAY_ENOMEM */
    int32_t (*send)(patchbay_stream *stream, const patchbay_str *parts, uint32_t count);

    /* Close both descriptors and free the stream; queued output is dropped. NULL is fine.
     * May be called from its own callbacks.
     * thread: [loop] */
    void (*close)(patchbay_stream *stream);
} patchbay_stream_v1;

#ifdef __cplusplus
}
#endif

#endif
