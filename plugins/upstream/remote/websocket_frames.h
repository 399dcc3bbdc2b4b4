/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket frames from the client's side, over libwslay: bytes in, messages out; messages in,
 * masked bytes out. Pings are answered, and so is a close. Binary messages are refused. No I/O.
 * spec: RFC 6455, sections 5 to 8
 */
#ifndef MCP_REMOTE_WEBSOCKET_FRAMES_H
#define MCP_REMOTE_WEBSOCKET_FRAMES_H

#include <patchbay/json.h>

typedef struct ws_frames ws_frames;

/* Bytes that are to leave. They stay where they are until they have left: TLS wants that. */
typedef struct ws_chunk {
    struct ws_chunk *next;
    size_t len;
    size_t sent;
    char bytes[];
} ws_chunk;

/* How a conversation ended. */
typedef struct ws_frames_end {
    int code;       /* of the close frame: the server's, or the one it gets; 0: without a code */
    int by_server;  /* it has closed; else it has broken the rules */
    char text[160]; /* what it said, UTF-8; or what it did, behind "server NAME" */
} ws_frames_end;

/* `on_message` gets text, checked to be UTF-8, borrowed for the call. It must not free the frames:
 * it can stop them.
 * owns: the result; NULL when out of memory */
ws_frames *ws_frames_create(size_t max_message_bytes,
                            void (*on_message)(void *ctx, patchbay_str text), void *ctx);
void ws_frames_free(ws_frames *frames); /* NULL is fine */

/* Take what has come. What has to be answered is in *ret_answers, the caller's to send and free; it
 * may be NULL.
 * returns: 0 when the conversation is over, and *ret_end says why */
int ws_frames_read(ws_frames *frames, patchbay_str bytes, ws_chunk **ret_answers,
                   ws_frames_end *ret_end);

/* Read nothing more, not even the rest of what has come. */
void ws_frames_stop(ws_frames *frames);

/* Make a text message. owns: the result; NULL when out of memory, or of randomness */
ws_chunk *ws_frames_message(ws_frames *frames, const patchbay_str *parts, size_t part_count);
/* Likewise a ping, and a close frame with its code. */
ws_chunk *ws_frames_ping(ws_frames *frames);
ws_chunk *ws_frames_close(ws_frames *frames, int code);

#endif
