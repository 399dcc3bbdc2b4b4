/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an event stream (text/event-stream) as its bytes arrive: HTML Living Standard, 9.2.6
 * "Interpreting an event stream". Bounded: an event of more than max_event_bytes ends the stream.
 * No I/O. One thread at a time.
 */
#ifndef MCP_REMOTE_SSE_READER_H
#define MCP_REMOTE_SSE_READER_H

#include <patchbay/json.h>

/* A message of the stream. Spans are borrowed for the callback. */
typedef struct sse_event {
    patchbay_str type; /* "message" when the stream names none */
    patchbay_str data; /* lines joined by newlines; may be empty: then it only carries an id */
    patchbay_str id;   /* the last id that the stream has set; empty: none */
    int sets_id;       /* … and it was this event that did */
} sse_event;

typedef struct sse_reader {
    size_t max_event_bytes;
    int64_t retry_ms; /* what the stream last asked for; -1: it did not */
    void (*on_event)(void *ctx, const sse_event *event);
    void *ctx;
    /* private */
    patchbay_out line; /* the beginning of a line whose end has not come */
    patchbay_out data;
    patchbay_out type;
    patchbay_out id;      /* of the stream, and of the event that is being read */
    unsigned char begun;  /* bytes at the very start that may be a byte order mark */
    unsigned char has_cr; /* the last byte was CR: an LF now belongs to it */
    unsigned char has_data;
    unsigned char has_id; /* the event that is being read sets an id */
    unsigned char is_closed;
} sse_reader;

/* Begin a stream. `on_event` also hears of events without data that set an id: they are where to
 * resume from (MCP 2025-11-25 basic/transports). */
void sse_reader_init(sse_reader *reader, size_t max_event_bytes,
                     void (*on_event)(void *ctx, const sse_event *event), void *ctx);
void sse_reader_free(sse_reader *reader);

/* Stop: nothing is told any more. May be called from on_event. */
void sse_reader_close(sse_reader *reader);

/* Read on.
 * returns: PATCHBAY_OK; PATCHBAY_ELIMIT (an event is too large); PATCHBAY_ENOMEM */
int32_t sse_reader_feed(sse_reader *reader, patchbay_str bytes);

#endif
