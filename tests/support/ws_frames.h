/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as a WebSocket client makes them, right and wrong, for tests. */
#ifndef PATCHBAY_TESTS_WS_FRAMES_H
#define PATCHBAY_TESTS_WS_FRAMES_H

#include "base/buf.h"

#include <stdint.h>

enum {
    WS_FIN = 0x80,
    WS_TEXT = 0x81, /* final ones */
    WS_BINARY = 0x82,
    WS_CLOSE = 0x88,
    WS_PING = 0x89,
    WS_PONG = 0x8a,
    WS_TEXT_MORE = 0x01, /* not the last frame */
    WS_CONTINUE_MORE = 0x00,
    WS_CONTINUE_LAST = 0x80,
    WS_NO_MASK = 0x100, /* beside the first byte */
};

/* A header that announces `length` in so many bytes: 0, 2 or 8. */
static inline void ws_put_head(hub_buf *out, unsigned first, unsigned length_bytes, uint64_t length)
{
    static const unsigned marks[] = {0, 0, 126, 0, 0, 0, 0, 0, 127};
    unsigned second = length_bytes == 0 ? (unsigned)length : marks[length_bytes];
    hub_buf_add_char(out, (char)(first & 0xff));
    hub_buf_add_char(out, (char)(second | ((first & WS_NO_MASK) != 0 ? 0 : 0x80)));
    for (unsigned i = length_bytes; i > 0; i--) {
        hub_buf_add_char(out, (char)(length >> 8 * (i - 1)));
    }
}

/* Mask and payload. */
static inline void ws_put_masked(hub_buf *out, hub_str payload)
{
    static const char mask[] = {0x37, (char)0xfa, 0x21, 0x3d};
    hub_buf_add(out, (hub_str){.ptr = mask, .len = 4});
    char *at = hub_buf_reserve(out, payload.len);
    for (size_t i = 0; at != NULL && i < payload.len; i++) {
        at[i] = (char)(payload.ptr[i] ^ mask[i % 4]);
    }
    out->len += payload.len;
}

/* A frame whose length takes as few bytes as it needs. */
static inline void ws_put(hub_buf *out, unsigned first, hub_str payload)
{
    unsigned bytes = payload.len < 126 ? 0 : payload.len <= UINT16_MAX ? 2 : 8;
    ws_put_head(out, first, bytes, payload.len);
    if ((first & WS_NO_MASK) != 0) {
        hub_buf_add(out, payload);
    } else {
        ws_put_masked(out, payload);
    }
}

#endif
