/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of a WebSocket frame (RFC 6455, section 5.2), read strictly before anything of its
 * payload has come, and written for what the hub sends. libwslay reads headers, too, but says what
 * it thinks of one only with the first byte behind it. Pure functions, any thread.
 */
#ifndef TRANSPORTS_WEBSOCKET_FRAME_H
#define TRANSPORTS_WEBSOCKET_FRAME_H

#include "base/str.h"
#include "websocket/close_code.h"

#include <stdint.h>

typedef enum hub_ws_opcode {
    HUB_WS_CONTINUATION = 0x0,
    HUB_WS_TEXT = 0x1,
    HUB_WS_BINARY = 0x2,
    HUB_WS_CLOSE = 0x8,
    HUB_WS_PING = 0x9,
    HUB_WS_PONG = 0xa,
} hub_ws_opcode;

#define HUB_WS_HEAD_BYTES    14  /* at most, with a mask */
#define HUB_WS_CONTROL_BYTES 125 /* at most, in the payload of a control frame */

typedef struct hub_ws_head {
    hub_ws_opcode opcode;
    bool is_final;
    uint8_t bytes;   /* of the header itself, with the mask */
    uint64_t length; /* of the payload */
} hub_ws_head;

/* What is wrong with a frame: the code to close with, and a text for who reads the client's log. */
typedef struct hub_ws_fault {
    hub_ws_code code; /* HUB_WS_NONE: nothing */
    const char *reason;
} hub_ws_fault;

/* Read a client's header at the front of `bytes`, of which the mask may still be missing.
 * returns: false when more bytes are needed, or when it is faulty: then ret_fault says so, as soon
 *          as the bytes that tell it are there */
bool hub_ws_head_read(hub_str bytes, hub_ws_head *ret_head, hub_ws_fault *ret_fault);

/* Write the header of a final, unmasked frame. Its length: 2, 4 or 10 bytes. */
size_t hub_ws_head_write(hub_ws_opcode opcode, uint64_t length, char ret_bytes[10]);

static inline bool hub_ws_is_control(hub_ws_opcode opcode)
{
    return opcode >= HUB_WS_CLOSE;
}

#endif
