/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_ws_reader: however a stream is cut into chunks, the same comes out of it; messages are UTF-8
 * and within the limit; nothing follows a close or a fault; memory is held only while something is
 * under way; and what a client frames correctly arrives as it was.
 * Input: one byte for the limit, one for the chunks, then the stream.
 */
#include "oracle.h"
#include "base/buf.h"
#include "websocket/reader.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { ALL_AT_ONCE = 0, BYTE_BY_BYTE = 1 };

static bool is_utf8(hub_str text)
{
    while (text.len > 0) {
        size_t len = hub_str_utf8_length(text);
        if (len == 0) {
            return false;
        }
        text = hub_str_from(text, len);
    }
    return true;
}

static void check(const hub_ws_event *event, size_t limit)
{
    switch (event->kind) {
    case HUB_WS_EVENT_MESSAGE:
        REQUIRE(event->text.len <= limit && is_utf8(event->text));
        break;
    case HUB_WS_EVENT_PING:
    case HUB_WS_EVENT_PONG:
        REQUIRE(event->text.len <= HUB_WS_CONTROL_BYTES);
        break;
    case HUB_WS_EVENT_CLOSE:
        REQUIRE(event->text.len <= HUB_WS_CONTROL_BYTES && event->text.len != 1);
        REQUIRE(event->text.len == 0 || is_utf8(hub_str_from(event->text, 2)));
        break;
    case HUB_WS_EVENT_FAULT:
        REQUIRE(event->fault.code != HUB_WS_NONE && event->fault.reason != NULL);
        break;
    default:
        break;
    }
}

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

static void read_stream(hub_str stream, uint32_t seed, size_t limit, hub_buf *trace)
{
    hub_ws_reader reader;
    bool is_over = false;
    hub_ws_reader_init(&reader, limit);
    hub_buf_init(trace, SIZE_MAX / 2);
    while (stream.len > 0) {
        hub_str piece = {.ptr = stream.ptr, .len = next_chunk(&seed, stream.len)};
        stream = hub_str_from(stream, piece.len);
        while (piece.len > 0) {
            hub_ws_event event;
            size_t used = hub_ws_reader_next(&reader, piece, &event);
            REQUIRE(used > 0 && used <= piece.len);
            piece = hub_str_from(piece, used);
            if (event.kind != HUB_WS_EVENT_NONE && FUZZ_ORACLE) {
                REQUIRE(!is_over);
                check(&event, limit);
                hub_buf_printf(trace, "%d.%d:", event.kind, event.fault.code);
                hub_buf_add(trace, event.text);
            }
            is_over =
                is_over || event.kind == HUB_WS_EVENT_CLOSE || event.kind == HUB_WS_EVENT_FAULT;
        }
        hub_ws_reader_rest(&reader);
        REQUIRE(is_over || (reader.frames != NULL) == hub_ws_reader_is_amid(&reader));
    }
    hub_ws_reader_fini(&reader);
}

/* The stream as the text of one message: it arrives if it is UTF-8. */
static void check_echo(hub_str text)
{
    hub_ws_reader reader;
    hub_ws_event event;
    hub_buf frame;
    char head[10];
    size_t len = hub_ws_head_write(HUB_WS_TEXT, text.len, head);
    hub_buf_init(&frame, SIZE_MAX / 2);
    head[1] = (char)(head[1] | (char)0x80);
    hub_buf_add(&frame, (hub_str){.ptr = head, .len = len});
    hub_buf_add(&frame, (hub_str){.ptr = "\0\0\0\0", .len = 4}); /* a mask that changes nothing */
    hub_buf_add(&frame, text);
    hub_ws_reader_init(&reader, text.len);
    hub_str rest = hub_buf_str(&frame);
    do {
        rest = hub_str_from(rest, hub_ws_reader_next(&reader, rest, &event));
    } while (event.kind == HUB_WS_EVENT_HEAD);
    if (is_utf8(text)) {
        REQUIRE(event.kind == HUB_WS_EVENT_MESSAGE && hub_str_eq(event.text, text));
    } else {
        REQUIRE(event.kind == HUB_WS_EVENT_FAULT && event.fault.code == HUB_WS_BAD_TEXT);
    }
    hub_ws_reader_fini(&reader);
    hub_buf_fini(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    size_t limit = data[0] * 8u;
    uint32_t seeds[] = {ALL_AT_ONCE, BYTE_BY_BYTE, 2u + data[1]};
    hub_str stream = {.ptr = (const char *)data + 2, .len = size - 2};
    hub_buf traces[3];
    const int ways = FUZZ_ORACLE ? 3 : 1;
    for (int i = 0; i < ways; i++) {
        read_stream(stream, seeds[i], limit, &traces[i]);
        REQUIRE(hub_str_eq(hub_buf_str(&traces[i]), hub_buf_str(&traces[0])));
    }
    for (int i = 0; i < ways; i++) {
        hub_buf_fini(&traces[i]);
    }
    if (FUZZ_ORACLE) {
        check_echo(stream);
    }
    return 0;
}
