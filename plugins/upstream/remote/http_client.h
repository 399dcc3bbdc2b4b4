/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 on the hub's loop: libcurl's multi interface over patchbay/loop.h. Connections are kept
 * and reused; names are resolved by libcurl's own thread; certificates and names are verified
 * always; proxies come from the environment, as curl has them (http_proxy, HTTPS_PROXY, ALL_PROXY,
 * NO_PROXY), and HTTP_PROXY; no redirect is followed, no body is inflated. Not HTTP/2: libcurl 7.88
 * keeps the end of a stream to itself until it has something else to send, so a server would not
 * hear that a call was cancelled. Thread: [loop].
 */
#ifndef MCP_REMOTE_HTTP_CLIENT_H
#define MCP_REMOTE_HTTP_CLIENT_H

#include <patchbay/json.h>
#include <patchbay/loop.h>

/* Servers close connections that are idle, many after this long, without a word; a request that is
 * on its way then is lost. Those that do say how long they wait are believed (Keep-Alive). */
#define HTTP_IDLE_S 5

/* Connections that wait for the next request, of one server; after two minutes they close. */
#define HTTP_KEPT_CONNECTIONS 32

typedef struct http_client http_client;
typedef struct http_request http_request;
typedef struct http_body http_body; /* bytes to send, shared by whoever may have to send them */

/* How to reach servers. Strings are NUL-terminated, borrowed for the client's life; NULL: default.
 */
typedef struct http_client_options {
    const char *ca_file;     /* PEM, instead of the system's certificates */
    const char *certificate; /* PEM, of the client */
    const char *key;
    uint32_t connect_timeout_ms;
    int only_public; /* no connection to an internal address, and none by a proxy */
} http_client_options;

/* How a request ended. */
typedef enum http_outcome {
    HTTP_COMPLETE,  /* the answer came, whole; its status may be any */
    HTTP_UNREACHED, /* nothing was sent: no such name, no connection */
    HTTP_UNTRUSTED, /* nothing was sent: certificates do not fit, the server's or the hub's */
    HTTP_STALE,     /* a kept connection was closed under it: it may have been read */
    HTTP_BROKEN,    /* what was sent may have been read; the answer did not come whole */
} http_outcome;

/* What a request tells. None is called from inside the functions below; each may call them. */
typedef struct http_request_events {
    /* The head of the answer has come. */
    void (*on_head)(void *ctx, http_request *request, long status);
    /* Some of its body. */
    void (*on_body)(void *ctx, patchbay_str bytes);
    /* It is over, and freed when this returns. `error` says why, unless it is complete. Comes once;
     * not after cancel. */
    void (*on_end)(void *ctx, http_outcome outcome, const char *error);
} http_request_events;

typedef struct http_start {
    const char *method;   /* "GET", "POST" or "DELETE"; "CONNECT": see http_request_handle */
    const char *url;      /* http or https */
    patchbay_str headers; /* lines "Name: value", each with a newline; an empty value: "Name;" */
    http_body *body;      /* of POST; it is shared. Else NULL */
    int is_once;          /* it may not be sent twice: never on a connection that may be closing */
    int is_again;         /* it met a stale connection: a new one is made for it */
} http_start;

/* owns:    *ret_client, free it with http_client_free
 * returns: PATCHBAY_OK; PATCHBAY_ESTATE (no libcurl, or no loop); PATCHBAY_ENOMEM */
int32_t http_client_create(const patchbay_host_api *api, patchbay_host *host,
                           const http_client_options *options, http_client **ret_client);

/* Ends all requests; none is told. NULL is fine. */
void http_client_free(http_client *client);

/* owns: the result, one share of it. `parts` are copied. NULL when out of memory */
http_body *http_body_create(const patchbay_str *parts, size_t part_count);
void http_body_unref(http_body *body); /* NULL is fine */

/* Start a request. Its end is always told from the loop. `start` is borrowed for the call.
 * returns: PATCHBAY_OK; PATCHBAY_EINVAL (not a URL of http or https); PATCHBAY_ENOMEM */
int32_t http_client_start(http_client *client, const http_start *start,
                          const http_request_events *events, void *ctx, http_request **ret_request);

/* Let what was started leave as far as it can without waiting: for the last words before the end.
 */
void http_client_flush(http_client *client);

/* Forget a request: its connection is closed unless it was complete. NULL is fine. */
void http_request_cancel(http_request *request);

/* The value of a header of the answer, from on_head on; empty when there is none. Borrowed. */
patchbay_str http_request_header(http_request *request, const char *name);

/* … of its line `index`, where it has several. */
patchbay_str http_request_header_at(http_request *request, const char *name, size_t index);

/* A request with the method CONNECT asks for nothing: it is a connection to the host of its URL,
 * with TLS for https, through a proxy if there is one. on_head tells that it is there, with status
 * 0; from then on it is the caller's to use, until the request is cancelled.
 * returns: libcurl's handle, a CURL *, for curl_easy_send() and curl_easy_recv() */
void *http_request_handle(http_request *request);

/* What libcurl says of a failure, with the system's reason if it has one. `code`: a CURLcode.
 * Borrowed. */
const char *http_request_failure(const http_request *request, int code);

/* Where the answer redirects to, absolute; NULL when it does not. Borrowed. */
const char *http_request_redirect(http_request *request);

#endif
