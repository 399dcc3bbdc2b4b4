/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an event stream in pieces, and writes down what came of it as text. */
#ifndef SSE_FEED_H
#define SSE_FEED_H

#include "../../plugins/upstream/remote/sse_reader.h"

typedef struct sse_feed {
    sse_reader reader;
    patchbay_out events; /* "TYPE|DATA|ID!" each, the "!" for events that set their id */
    int32_t result;      /* of the last piece; what comes behind a failure is not read */
} sse_feed;

static inline void sse_feed_note(void *ctx, const sse_event *event)
{
    patchbay_out *events = ctx;
    patchbay_out_raw(events, event->type);
    patchbay_out_text(events, "|");
    patchbay_out_raw(events, event->data);
    patchbay_out_text(events, "|");
    patchbay_out_raw(events, event->id);
    patchbay_out_text(events, event->sets_id ? "!\n" : "\n");
}

static inline void sse_feed_init(sse_feed *feed, size_t max_event_bytes)
{
    memset(feed, 0, sizeof *feed);
    patchbay_out_text(&feed->events, "");
    sse_reader_init(&feed->reader, max_event_bytes, sse_feed_note, &feed->events);
}

/* `piece` 0: all at once. */
static inline void sse_feed_bytes(sse_feed *feed, const char *bytes, size_t len, size_t piece)
{
    while (len > 0 && feed->result == PATCHBAY_OK) {
        size_t now = piece == 0 || piece > len ? len : piece;
        char *copy = (char *)malloc(now); /* of exactly its length: reading behind it is seen */
        memcpy(copy, bytes, now);
        feed->result = sse_reader_feed(&feed->reader, patchbay_str_make(copy, now));
        free(copy);
        bytes += now;
        len -= now;
    }
}

static inline void sse_feed_free(sse_feed *feed)
{
    sse_reader_free(&feed->reader);
    patchbay_out_free(&feed->events);
}

#endif
