/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives hub_framing as a stream does, and writes down what comes out, readably and without two
 * readings: "M2:{};" a message, "O;" one over the limit, "B4:junk;" no frame, "E;" an end of file
 * in the middle of a frame. Every look at the bytes is at a block of exactly their length.
 */
#ifndef TESTS_SUPPORT_FRAMING_FEED_H
#define TESTS_SUPPORT_FRAMING_FEED_H

#include "base/buf.h"
#include "base/framing.h"

#include <stdlib.h>

typedef struct framing_feed {
    hub_framing framing;
    char *rest; /* what the framing did not use */
    size_t rest_len;
    size_t most_kept; /* the largest rest */
    bool broken;
    hub_buf events;
} framing_feed;

static inline void feed_init(framing_feed *feed, size_t limit, bool detect)
{
    *feed = (framing_feed){.rest_len = 0};
    hub_framing_init(&feed->framing, limit, detect);
    hub_buf_init(&feed->events, SIZE_MAX);
}

static inline void feed_fini(framing_feed *feed)
{
    free(feed->rest);
    hub_buf_fini(&feed->events);
}

static inline void feed_note(framing_feed *feed, hub_frame frame, hub_str message)
{
    if (frame == HUB_FRAME_OVERSIZE) {
        hub_buf_add(&feed->events, HUB_STR("O;"));
    } else {
        hub_buf_printf(&feed->events, "%c%zu:", frame == HUB_FRAME_MESSAGE ? 'M' : 'B',
                       message.len);
        hub_buf_add(&feed->events, message);
        hub_buf_add_char(&feed->events, ';');
    }
}

static inline void feed_bytes(framing_feed *feed, hub_str bytes)
{
    size_t total = feed->rest_len + bytes.len;
    char *block = malloc(total > 0 ? total : 1);
    if (block == NULL || feed->broken) {
        free(block);
        return;
    }
    if (feed->rest_len > 0) {
        memcpy(block, feed->rest, feed->rest_len);
    }
    if (bytes.len > 0) {
        memcpy(block + feed->rest_len, bytes.ptr, bytes.len);
    }
    free(feed->rest);
    feed->rest = block;
    hub_str rest = {.ptr = block, .len = total};
    hub_frame frame = HUB_FRAME_MESSAGE;
    while (frame != HUB_FRAME_MORE && frame != HUB_FRAME_BROKEN) {
        size_t used = SIZE_MAX;
        hub_str message;
        frame = hub_framing_next(&feed->framing, rest, &used, &message);
        hub_assert(used <= rest.len);
        hub_assert(message.len == 0 ||
                   (message.ptr >= rest.ptr && message.ptr + message.len <= rest.ptr + used));
        if (frame != HUB_FRAME_MORE) {
            feed_note(feed, frame, message);
        }
        rest = hub_str_from(rest, used);
    }
    feed->broken = frame == HUB_FRAME_BROKEN;
    feed->rest_len = rest.len;
    feed->most_kept = rest.len > feed->most_kept && !feed->broken ? rest.len : feed->most_kept;
    feed->rest = malloc(rest.len > 0 ? rest.len : 1);
    hub_assert(feed->rest != NULL);
    if (rest.len > 0) {
        memcpy(feed->rest, rest.ptr, rest.len);
    }
    free(block);
}

static inline void feed_end(framing_feed *feed)
{
    hub_str message;
    if (feed->broken) {
        return;
    }
    hub_frame frame = hub_framing_last(
        &feed->framing, (hub_str){.ptr = feed->rest, .len = feed->rest_len}, &message);
    if (frame == HUB_FRAME_MESSAGE || frame == HUB_FRAME_OVERSIZE) {
        feed_note(feed, frame, message);
    } else if (frame == HUB_FRAME_BROKEN) {
        hub_buf_add(&feed->events, HUB_STR("E;"));
    }
}

#endif
