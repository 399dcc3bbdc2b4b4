/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an HTTP/1.1 request: request line, headers, and how long the body is (RFC 9112). The
 * caller keeps the bytes: it appends what arrives and asks again until the head is complete. How
 * the bytes were cut on their way makes no difference to the outcome. Strict on purpose: where two
 * readers could disagree about where a request ends or what it says, it is refused. No I/O, no
 * memory of its own, no routing: methods and paths are the caller's. Any thread.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "http/header_name.h"
#include "http/limits.h"
#include "http/syntax.h"

/* How far the head at the front of a connection's bytes has been read. Private; zero it (or call
 * hub_http_scan_init) for each new request. */
typedef struct hub_http_scan {
    size_t max_body_bytes;
    size_t checked;     /* bytes at the front that were looked at */
    size_t begin;       /* where the request line begins: behind blank lines */
    size_t line;        /* where the line that is being read begins */
    size_t blank_lines; /* skipped */
} hub_http_scan;

typedef struct hub_http_header {
    hub_str name;  /* a token, in the case it came in */
    hub_str value; /* without white space around it; may be empty, may hold bytes from 0x80 */
} hub_http_header;

typedef enum hub_http_framing {
    HUB_HTTP_NO_BODY,
    HUB_HTTP_LENGTH,  /* content_length bytes follow, possibly none */
    HUB_HTTP_CHUNKED, /* see chunked.h */
} hub_http_framing;

/* A plain value struct. Spans point into the bytes that were given (the path of "http://host" is a
 * constant). About 3 kB: not to be kept per connection. */
typedef struct hub_http_request {
    /* when REFUSED */
    int status;         /* to answer: 400, 405, 413, 414, 417, 431, 501 or 505 */
    const char *reason; /* a static sentence */

    /* when DONE */
    size_t used; /* bytes of the head, blank lines before it included */
    hub_str method;
    hub_str path;  /* from "/", not decoded, without the query; "*" and others are refused */
    hub_str query; /* behind "?"; empty when there is none */
    hub_str host;  /* authority of an absolute-form target, else Host; empty when neither */
    int minor;     /* HTTP/1.minor: 0 or 1 */
    hub_http_framing framing;
    size_t content_length; /* bytes, at most max_body_bytes; 0 unless framing is LENGTH */
    bool keep_alive;       /* the connection may serve another request */
    bool expects_continue; /* the client waits for 100 before it sends the body */
    size_t header_count;
    uint8_t first[HUB_HTTP_NAMES];                   /* private: hub_http_known */
    hub_http_header headers[HUB_HTTP_LIMIT_HEADERS]; /* header_count of them are written */
} hub_http_request;

/* Begin a head. A Content-Length above `max_body_bytes` is refused with 413. */
void hub_http_scan_init(hub_http_scan *scan, size_t max_body_bytes);

/* Look at the front of `bytes`, which are what was given before and what has arrived since; they
 * may have moved. *ret_request is written unless the answer is MORE.
 * MORE leaves at most HUB_HTTP_LIMIT_HEAD_BYTES and the blank lines before the head unanswered.
 * After DONE or REFUSED the scan is not to be used again.
 * spec:    RFC 9112 sections 2.2, 3, 5, 6.1, 6.3, 9.3; RFC 9110 sections 7.2, 10.1.1 */
hub_http_progress hub_http_request_next(hub_http_scan *scan, hub_str bytes,
                                        hub_http_request *ret_request);

/* The first header of this name, not HUB_HTTP_OTHER; NULL when there is none. */
static inline const hub_http_header *hub_http_known(const hub_http_request *request,
                                                    hub_http_name name)
{
    unsigned first = request->first[name]; /* counted from 1 */
    return first > 0 ? &request->headers[first - 1] : NULL;
}

/* Its value, or the empty span. */
static inline hub_str hub_http_known_value(const hub_http_request *request, hub_http_name name)
{
    const hub_http_header *header = hub_http_known(request, name);
    return header != NULL ? header->value : HUB_STR_EMPTY;
}

/* The first header of this name in any case behind `after` (NULL: from the start); NULL when there
 * is none. Host, Origin, Authorization, Content-Type, Content-Length, Transfer-Encoding,
 * Last-Event-ID and Mcp-* occur at most once. */
const hub_http_header *hub_http_find_header(const hub_http_request *request, hub_str name,
                                            const hub_http_header *after);

/* Whether a comma-separated header, all its lines together, has this element in any case. */
bool hub_http_has_element(const hub_http_request *request, hub_str name, hub_str element);

#endif
