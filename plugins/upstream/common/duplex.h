/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What channels have in common that carry messages both ways over one connection: pipes, Unix
 * sockets, WebSocket. Thread: [loop].
 */
#ifndef MCP_UPSTREAM_DUPLEX_H
#define MCP_UPSTREAM_DUPLEX_H

#include "upstream.h"

#define DUPLEX_NOISE       100         /* texts per minute that are no messages */
#define DUPLEX_QUEUE_BYTES (32u << 20) /* that wait to be read by the server */

/* How much a server has said that was no message. Zeroed to begin with. */
typedef struct duplex_noise {
    uint64_t since_ms;
    uint32_t count;
} duplex_noise;

/* Something has come that should be a message. Some of what is none is skipped, because servers
 * print to stdout what belongs on stderr; a flood ends the connection: `flood` says why, behind
 * "server NAME". */
void duplex_take(mcp_server *server, duplex_noise *noise, patchbay_str text, const char *flood);

/* upstream_channel.cancel: notifications/cancelled. */
void duplex_cancel(mcp_server *server, patchbay_str id);

/* The server has ended the connection. If it did so while it was probed, it may be a legacy one
 * that cannot bear that: close, and try again with the handshake that it knows.
 * returns: 0 when it was not probed, and nothing was done */
int duplex_retry_as_legacy(mcp_server *server);

/* Before the phase is left: an era that was only guessed is not remembered. */
void duplex_forget_guess(mcp_server *server);

#endif
