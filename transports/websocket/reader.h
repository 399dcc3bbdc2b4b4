/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client says over a WebSocket: bytes in, messages and control frames out, one at a time, so
 * that the caller can stop between two of them. Frame headers are judged before their payload has
 * come (frame.h); unmasking, UTF-8 and the order of fragments are libwslay's, whose memory is held
 * only while a frame or a message is under way. No I/O. Thread: any, one at a time.
 * spec: RFC 6455, sections 5 to 8
 */
#ifndef TRANSPORTS_WEBSOCKET_READER_H
#define TRANSPORTS_WEBSOCKET_READER_H

#include "base/err.h"
#include "websocket/frame.h"

typedef enum hub_ws_event_kind {
    HUB_WS_EVENT_NONE,    /* all bytes are used: wait for more */
    HUB_WS_EVENT_HEAD,    /* a frame has begun: its opcode is given */
    HUB_WS_EVENT_MESSAGE, /* text, checked to be UTF-8 */
    HUB_WS_EVENT_PING,    /* text is what the pong has to repeat */
    HUB_WS_EVENT_PONG,
    HUB_WS_EVENT_CLOSE, /* text is what the answer has to repeat; nothing is read any more */
    HUB_WS_EVENT_FAULT, /* close with that code; nothing is read any more */
} hub_ws_event_kind;

typedef struct hub_ws_event {
    hub_ws_event_kind kind;
    hub_ws_opcode opcode; /* of HEAD */
    hub_str text;         /* valid until the reader is called again */
    hub_ws_fault fault;
} hub_ws_event;

typedef struct hub_ws_reader {
    struct ws_frames *frames; /* NULL: at rest */
    size_t max_message_bytes;
    uint64_t left; /* of the current frame: mask and payload */
    hub_ws_head head;
    unsigned fragments; /* frames of the message under way; 0: none is */
    uint8_t head_len;
    bool in_payload;
    bool is_over;
    char head_bytes[HUB_WS_HEAD_BYTES];
} hub_ws_reader;

/* Begin. Allocates nothing. */
void hub_ws_reader_init(hub_ws_reader *reader, size_t max_message_bytes);
void hub_ws_reader_fini(hub_ws_reader *reader);

/* Read up to the next event.
 * returns: how many of the bytes are used up */
size_t hub_ws_reader_next(hub_ws_reader *reader, hub_str bytes, hub_ws_event *ret_event);

/* Whether a message, or a frame, has begun and not ended. */
bool hub_ws_reader_is_amid(const hub_ws_reader *reader);

/* Bytes of memory that it holds. */
size_t hub_ws_reader_bytes(const hub_ws_reader *reader);

/* Give memory back, if nothing is under way. */
void hub_ws_reader_rest(hub_ws_reader *reader);

#endif
