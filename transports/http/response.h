/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hub writes: response heads, chunks, and Server-Sent Events. Nothing that is put into
 * them can begin a line of its own: values with control characters are refused, JSON loses its
 * newlines. A function that fails leaves no byte of its own behind. Pure functions, any thread.
 */
#ifndef HTTP_RESPONSE_H
#define HTTP_RESPONSE_H

#include "base/buf.h"
#include "http/request.h"

/* Ready to be sent as they are. */
#define HUB_HTTP_CONTINUE    HUB_STR("HTTP/1.1 100 Continue\r\n\r\n")
#define HUB_HTTP_CHUNK_END   HUB_STR("\r\n")
#define HUB_HTTP_LAST_CHUNK  HUB_STR("0\r\n\r\n")
#define HUB_HTTP_SSE_COMMENT HUB_STR(":\n\n") /* keeps a quiet stream alive; says nothing */

typedef struct hub_http_response {
    int status;                     /* 200 to 599; must be one that response.c has a phrase for */
    const hub_http_header *headers; /* none of those that follow from the members below */
    size_t header_count;
    /* LENGTH writes content_length, also 0; CHUNKED wants chunks; NO_BODY wants a status that has
     * none (204, 304), or `close`, which then ends the body: for HTTP/1.0. */
    hub_http_framing framing;
    uint64_t content_length;
    bool close; /* say that the connection ends with this response */
} hub_http_response;

/* Write status line, headers and the empty line.
 * errors:  HUB_EINVAL (status, a name that is no token or is one of Connection, Content-Length and
 *          Transfer-Encoding, a value with other than visible ASCII, spaces and tabs, framing), or
 *          what made `out` fail
 * spec:    RFC 9112 sections 4, 5 and 6 */
HUB_MUST_CHECK hub_err hub_http_write_head(hub_buf *out, const hub_http_response *response,
                                           hub_error *reterr);

/* The line in front of the bytes of a chunk, within `text`; HUB_HTTP_CHUNK_END follows them. Not
 * for no bytes at all, which would end the body. */
enum { HUB_HTTP_CHUNK_LINE_BYTES = 24 };
hub_str hub_http_chunk_line(size_t bytes, char text[HUB_HTTP_CHUNK_LINE_BYTES]);

/* One message of a stream. */
typedef struct hub_http_event {
    hub_str name;         /* of its type, visible ASCII; empty: "message", which is not written */
    hub_str id;           /* visible ASCII; empty: none (2026-07-28 has no ids) */
    uint32_t retry_ms;    /* when to come back; 0: not said */
    const hub_str *parts; /* of one JSON text, or none at all */
    size_t count;
} hub_http_event;

/* Append an event with one data line. Newlines and carriage returns of the parts, which in JSON can
 * only be white space, become spaces.
 * errors:  HUB_EINVAL (the id or the name), or what made `out` fail
 * spec:    WHATWG HTML section 9.2.6; MCP 2026-07-28 basic/transports, Receiving Messages */
HUB_MUST_CHECK hub_err hub_http_write_event(hub_buf *out, const hub_http_event *event);

#endif
