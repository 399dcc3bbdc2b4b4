/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_framing: however a stream is cut into chunks, the same comes out of it; what is kept between
 * chunks is bounded; and lines are what a simple splitter says they are.
 * Input: one byte for detection (lowest bit) and the limit, one for the chunks, then the stream.
 */
#include "oracle.h"
#include "../support/framing_feed.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { DETECT = 1, ALL_AT_ONCE = 0, BYTE_BY_BYTE = 1 };

/* The size of the next chunk: a fixed one, or what a generator says. */
static size_t next_chunk(uint32_t *seed, size_t left)
{
    size_t chunk = *seed;
    if (*seed == ALL_AT_ONCE) {
        chunk = left;
    } else if (*seed != BYTE_BY_BYTE) {
        *seed = *seed * 1664525u + 1013904223u;
        chunk = 1 + (*seed >> 16) % 17;
        *seed |= 2; /* neither of the two */
    }
    return chunk < left ? chunk : left;
}

static void feed_in_chunks(framing_feed *feed, hub_str stream, uint32_t seed, size_t limit)
{
    while (stream.len > 0) {
        size_t chunk = next_chunk(&seed, stream.len);
        feed_bytes(feed, (hub_str){.ptr = stream.ptr, .len = chunk});
        stream = hub_str_from(stream, chunk);
        size_t most = limit + 1 > 7 ? limit + 1 : 7; /* 7: of "content-" */
        most = feed->framing.kind == HUB_FRAMING_HEADERS && !feed->framing.has_header
                   ? HUB_LIMIT_FRAME_HEADER_BYTES
                   : most;
        REQUIRE(feed->broken || feed->rest_len <= most);
    }
    feed_end(feed);
}

/* What lines are, in other words than framing.c has. */
static void split_lines(hub_str stream, size_t limit, framing_feed *events)
{
    while (stream.len > 0) {
        size_t end = hub_str_find(stream, HUB_STR("\n"));
        hub_str line = {.ptr = stream.ptr, .len = end < stream.len ? end : stream.len};
        stream = hub_str_from(stream, line.len + (end < stream.len));
        line = hub_str_skip_space(line);
        if (line.len == 0) {
            continue;
        }
        line.len -= line.ptr[line.len - 1] == '\r';
        feed_note(events, line.len > limit ? HUB_FRAME_OVERSIZE : HUB_FRAME_MESSAGE, line);
    }
}

static bool begins_as_headers(hub_str stream)
{
    hub_str begin = hub_str_skip_space(stream);
    begin.len = begin.len < 8 ? begin.len : 8;
    return hub_str_eq_nocase(begin, HUB_STR("content-"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    bool detect = (data[0] & DETECT) != 0;
    size_t limit = data[0] >> 1;
    uint32_t seeds[] = {ALL_AT_ONCE, BYTE_BY_BYTE, 2u + data[1]};
    hub_str stream = {.ptr = (const char *)data + 2, .len = size - 2};
    framing_feed feeds[3];
    const int ways = FUZZ_ORACLE ? 3 : 1;
    for (int i = 0; i < ways; i++) {
        feed_init(&feeds[i], limit, detect);
        feed_in_chunks(&feeds[i], stream, seeds[i], limit);
        REQUIRE(hub_str_eq(hub_buf_str(&feeds[i].events), hub_buf_str(&feeds[0].events)));
    }
    bool headers = detect && begins_as_headers(stream);
    REQUIRE(headers == (feeds[0].framing.kind == HUB_FRAMING_HEADERS));
    if (!headers && FUZZ_ORACLE) {
        framing_feed expected;
        feed_init(&expected, limit, detect);
        split_lines(stream, limit, &expected);
        REQUIRE(hub_str_eq(hub_buf_str(&expected.events), hub_buf_str(&feeds[0].events)));
        feed_fini(&expected);
    }
    for (int i = 0; i < ways; i++) {
        feed_fini(&feeds[i]);
    }
    return 0;
}
