/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a chunked request body (RFC 9112 section 7.1) as its bytes arrive. Extensions and
 * trailers are checked, bounded and forgotten. It keeps no bytes: what was given is used up. No
 * I/O. Any thread.
 */
#ifndef HTTP_CHUNKED_H
#define HTTP_CHUNKED_H

#include "base/buf.h"
#include "http/limits.h"
#include "http/syntax.h"

/* A plain value struct; `status` and `reason` may be read after REFUSED, the rest is private. */
typedef struct hub_http_chunked {
    int status;         /* to answer: 400, 413, 431, or 503 when there is no memory */
    const char *reason; /* a static sentence */
    int state;
    size_t max_body_bytes;
    size_t body_bytes;      /* of the chunks announced so far, at most max_body_bytes */
    uint64_t left;          /* size of the chunk while it is read, then what is to come of it */
    size_t digits;          /* of that size */
    size_t extension_bytes; /* of this chunk */
    size_t extension_sum;   /* of all chunks */
    size_t trailer_bytes;
} hub_http_chunked;

/* Begin a body of at most `max_body_bytes`, not counting what frames it. */
void hub_http_chunked_init(hub_http_chunked *chunked, size_t max_body_bytes);

/* Decode the next bytes and append the content to `body`. MORE: all were used. DONE: the first
 * *ret_used were, the rest is the next request. REFUSED: the body is not to be used; *ret_used
 * bytes were looked at. A chunk that would exceed the maximum is refused when its size is known. */
hub_http_progress hub_http_chunked_next(hub_http_chunked *chunked, hub_str bytes, hub_buf *body,
                                        size_t *ret_used);

#endif
