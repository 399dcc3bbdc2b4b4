/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/frame.h"

enum {
    FINAL = 0x80,
    RESERVED = 0x70,
    OPCODE = 0x0f,
    MASKED = 0x80,
    LENGTH = 0x7f,
    LENGTH_16 = 126, /* the next two bytes are the length */
    LENGTH_64 = 127, /* the next eight bytes are */
    MASK_BYTES = 4,
};

static bool is_known(unsigned opcode)
{
    return opcode <= HUB_WS_BINARY || (opcode >= HUB_WS_CLOSE && opcode <= HUB_WS_PONG);
}

static hub_ws_fault protocol_error(const char *reason)
{
    return (hub_ws_fault){.code = HUB_WS_PROTOCOL_ERROR, .reason = reason};
}

/* What the first two bytes can be blamed for. */
static hub_ws_fault check_start(unsigned first, unsigned second)
{
    unsigned opcode = first & OPCODE;
    unsigned length = second & LENGTH;
    if ((first & RESERVED) != 0) {
        return protocol_error("a reserved bit is set: no extension was agreed on");
    }
    if (!is_known(opcode)) {
        return protocol_error("the opcode is a reserved one");
    }
    if ((second & MASKED) == 0) {
        return protocol_error("frames of a client must be masked");
    }
    if (opcode == HUB_WS_BINARY) {
        return (hub_ws_fault){.code = HUB_WS_UNSUPPORTED,
                              .reason = "MCP messages are text: send text frames"};
    }
    if (opcode < HUB_WS_CLOSE) {
        return (hub_ws_fault){.code = HUB_WS_NONE};
    }
    if ((first & FINAL) == 0) {
        return protocol_error("a control frame must not be fragmented");
    }
    if (length > HUB_WS_CONTROL_BYTES) {
        return protocol_error("a control frame may have 125 bytes");
    }
    if (opcode == HUB_WS_CLOSE && length == 1) {
        return protocol_error("a close frame has no code, or one of two bytes");
    }
    return (hub_ws_fault){.code = HUB_WS_NONE};
}

static uint64_t read_number(const char *bytes, size_t count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        number = number << 8 | (uint8_t)bytes[i];
    }
    return number;
}

static size_t length_bytes(unsigned length)
{
    if (length < LENGTH_16) {
        return 0;
    }
    return length == LENGTH_16 ? 2 : 8;
}

bool hub_ws_head_read(hub_str bytes, hub_ws_head *ret_head, hub_ws_fault *ret_fault)
{
    *ret_fault = (hub_ws_fault){.code = HUB_WS_NONE};
    if (bytes.len < 2) {
        return false;
    }
    unsigned first = (uint8_t)bytes.ptr[0];
    unsigned second = (uint8_t)bytes.ptr[1];
    *ret_fault = check_start(first, second);
    size_t extra = length_bytes(second & LENGTH);
    if (ret_fault->code != HUB_WS_NONE || bytes.len < 2 + extra) {
        return false;
    }
    uint64_t length = extra == 0 ? second & LENGTH : read_number(bytes.ptr + 2, extra);
    if ((extra == 2 && length < LENGTH_16) || (extra == 8 && length <= UINT16_MAX)) {
        *ret_fault = protocol_error("a length must be written with as few bytes as it needs");
        return false;
    }
    if (length > INT64_MAX) {
        *ret_fault = protocol_error("a length has 63 bits");
        return false;
    }
    *ret_head = (hub_ws_head){
        .opcode = (hub_ws_opcode)(first & OPCODE),
        .is_final = (first & FINAL) != 0,
        .bytes = (uint8_t)(2 + extra + MASK_BYTES),
        .length = length,
    };
    return true;
}

size_t hub_ws_head_write(hub_ws_opcode opcode, uint64_t length, char ret_bytes[10])
{
    uint8_t start = LENGTH_64;
    if (length <= UINT16_MAX) {
        start = length < LENGTH_16 ? (uint8_t)length : LENGTH_16;
    }
    size_t extra = length_bytes(start);
    ret_bytes[0] = (char)(FINAL | opcode);
    ret_bytes[1] = (char)start;
    for (size_t i = 0; i < extra; i++) {
        ret_bytes[2 + i] = (char)(length >> 8 * (extra - 1 - i));
    }
    return 2 + extra;
}
