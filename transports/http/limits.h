/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds of HTTP, beside base/limits.h: name, unit, and why this figure. What is larger is
 * refused with the status named here, and the connection closes.
 */
#ifndef HTTP_LIMITS_H
#define HTTP_LIMITS_H

/* A request line and all headers with their CRLFs: 431. An 8 KiB bearer token and eight of the
 * usual headers fit twice; nginx and Apache stop at 8 KiB per line. */
#define HUB_HTTP_LIMIT_HEAD_BYTES (16u * 1024)

/* Headers of one request: 431. Browsers behind two proxies send about 40. */
#define HUB_HTTP_LIMIT_HEADERS 100

/* The request target: 414. The hub has a handful of short routes. */
#define HUB_HTTP_LIMIT_TARGET_BYTES 2048

/* A method: 501, as RFC 9112 section 3 has it. The longest registered one has 17 letters. */
#define HUB_HTTP_LIMIT_METHOD_BYTES 32

/* CRLFs before a request line: 400. RFC 9112 section 2.2 wants at least one ignored. */
#define HUB_HTTP_LIMIT_BLANK_LINES 4

/* The size of a chunk: 400. As many hexadecimal digits as 64 bits have; RFC 9112 section 7.1 warns
 * of overflow. */
#define HUB_HTTP_LIMIT_CHUNK_SIZE_DIGITS 16

/* The extensions of one chunk, and of all chunks of a body: 400. Nobody uses any; without the
 * second bound one-byte chunks could carry 256 times what the body may have. */
#define HUB_HTTP_LIMIT_CHUNK_EXTENSION_BYTES     256
#define HUB_HTTP_LIMIT_CHUNK_EXTENSION_SUM_BYTES (16u * 1024)

/* All trailers of a body: 431. They are read and forgotten. */
#define HUB_HTTP_LIMIT_TRAILER_BYTES 4096

/* What a client may have sent ahead of its turn: a head or a read of the socket (64 KiB) twice.
 * More waits in the socket. */
#define HUB_HTTP_LIMIT_HELD_BYTES (128u * 1024)

/* Answers that a client has not taken yet, above which its next request waits: one that reads
 * slowly gets them slowly, and is not cut off. */
#define HUB_HTTP_LIMIT_UNREAD_BYTES (64u * 1024)

/* Refused credentials of one peer address within the window, then 429: a client with a mistyped
 * token notices, a guesser gets nowhere. */
#define HUB_HTTP_LIMIT_AUTH_FAILURES  20
#define HUB_HTTP_LIMIT_AUTH_WINDOW_MS 60000

/* Between two lines of the log about requests that were refused, in milliseconds. */
#define HUB_HTTP_LOG_MS 1000

/* Addresses whose failures are remembered, about 150 bytes each; whoever failed first is forgotten
 * first. */
#define HUB_HTTP_LIMIT_AUTH_ADDRESSES 1024

/* Messages in one batch of 2025-03-26: more is refused with -32600. */
#define HUB_HTTP_LIMIT_BATCH 256

/* Other replicas, in milliseconds: how long one may be silent while somebody waits for it before it is
 * greeted again; how long it may take to answer a greeting; how long a connection without a request is
 * kept by who made it, and by its other end, so that none ends while a request is on its way; and how
 * often all that is looked at. */
#define HUB_HTTP_LIMIT_PEER_SILENT_MS 500
#define HUB_HTTP_LIMIT_PEER_GREET_MS  1000
#define HUB_HTTP_LIMIT_PEER_IDLE_MS   10000
#define HUB_HTTP_LIMIT_PEER_KEPT_MS   60000
#define HUB_HTTP_PEER_LOOK_MS         250

/* How often the store is asked to take a session that leaves, and how long it is left alone between. */
#define HUB_HTTP_MOVE_TRIES    10
#define HUB_HTTP_MOVE_AGAIN_MS 200

/* Sessions of which a replica remembers where they have moved: the one that it learnt first is forgotten
 * first, and looked for again. About 250 bytes each. */
#define HUB_HTTP_LIMIT_MOVED 10000

/* When a client of 2025-11-25 may come back for the rest of a stream, in milliseconds. */
#define HUB_HTTP_RETRY_MS 500

#endif
