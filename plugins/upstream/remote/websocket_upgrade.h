/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The opening of a WebSocket, from the client's side: the HTTP/1.1 request that asks for it, and
 * the answer. No I/O. spec: RFC 6455, sections 4.1 and 4.2.2
 */
#ifndef MCP_REMOTE_WEBSOCKET_UPGRADE_H
#define MCP_REMOTE_WEBSOCKET_UPGRADE_H

#include <patchbay/json.h>

#define UPGRADE_HEAD_BYTES (16u << 10) /* of the answer's head; a longer one is refused */

typedef struct ws_upgrade {
    char key[25];    /* of this connection: 16 random bytes in Base64 */
    char accept[29]; /* what the server has to make of it */
} ws_upgrade;

typedef enum ws_upgrade_state {
    UPGRADE_MORE, /* wait for more bytes */
    UPGRADE_DONE,
    UPGRADE_REFUSED,
} ws_upgrade_state;

typedef struct ws_upgrade_answer {
    size_t used;     /* DONE: bytes of the head; frames begin behind it */
    int status;      /* REFUSED: of HTTP; 101: but something else is wrong; 0: it is no HTTP */
    const char *why; /* REFUSED: what the server does wrong, unless its status says it */
    patchbay_str location; /* REFUSED: of a redirect; a slice of the bytes */
} ws_upgrade_answer;

/* Choose a key. returns: 0 when there is no randomness to be had */
int ws_upgrade_begin(ws_upgrade *upgrade);

/* Append the request. `url`: http or https; `headers`: lines as http_client has them, sent as they
 * are. A user and a password in the URL become Authorization, unless `headers` has one.
 * returns: 0 when `url` is none, or out of memory */
int ws_upgrade_write(const ws_upgrade *upgrade, const char *url, const char *headers,
                     patchbay_out *out);

/* Read the answer; `bytes` is all that has come so far. */
ws_upgrade_state ws_upgrade_read(const ws_upgrade *upgrade, patchbay_str bytes,
                                 ws_upgrade_answer *ret_answer);

#endif
