/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds of a WebSocket, beside base/limits.h and the settings: name, unit, why this figure,
 * and what answers a breach.
 */
#ifndef TRANSPORTS_WEBSOCKET_LIMITS_H
#define TRANSPORTS_WEBSOCKET_LIMITS_H

/* Frames of one message: closed with 1008. Libraries cut at 16 KiB and more, so that 4 MiB are 256
 * frames. */
#define HUB_WEBSOCKET_LIMIT_FRAGMENTS 1024

/* Pings and pongs of a peer at once, and per second in the long run: closed with 1008. Peers ping
 * every few seconds; a flood of pings is of use to nobody. */
#define HUB_WEBSOCKET_LIMIT_CONTROLS            256
#define HUB_WEBSOCKET_LIMIT_CONTROLS_PER_SECOND 16

/* Data frames of a peer at once, and per second in the long run. Beyond that its bytes wait to be
 * read: a client that calls as fast as it can is slowed down, not cut. As many of the cheapest
 * requests take some 4 % of a core. */
#define HUB_WEBSOCKET_LIMIT_FRAMES            20000
#define HUB_WEBSOCKET_LIMIT_FRAMES_PER_SECOND 20000

/* While more than this many bytes wait to be read by the peer, its own are not read. */
#define HUB_WEBSOCKET_PAUSE_BYTES (8u * 1024 * 1024)

/* Milliseconds that calls in flight have to end once the credential has expired: then 4401. */
#define HUB_WEBSOCKET_EXPIRY_GRACE_MS 3000

#endif
