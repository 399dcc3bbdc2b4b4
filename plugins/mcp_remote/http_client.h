/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests on the hub's loop: libcurl's multi interface over patchbay/loop.h. Connections are
 * kept and reused; names are resolved by libcurl's own thread; certificates and names are verified
 * always; proxies come from the environment, as curl has them; no redirect is followed, no body is
 * inflated. Thread: [loop].
 */
#ifndef MCP_REMOTE_HTTP_CLIENT_H
#define MCP_REMOTE_HTTP_CLIENT_H

#include <patchbay/json.h>
#include <patchbay/loop.h>

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
} http_client_options;

/* How a request ended. */
typedef enum http_outcome {
    HTTP_COMPLETE,  /* the answer came, whole; its status may be any */
    HTTP_UNREACHED, /* nothing was sent: no such name, no connection, no trust */
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
    const char *method;   /* "GET", "POST" or "DELETE" */
    const char *url;      /* http or https */
    patchbay_str headers; /* lines "Name: value", each with a newline; an empty value: "Name;" */
    http_body *body;      /* of POST; it is shared. Else NULL */
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

/* Where the answer redirects to, absolute; NULL when it does not. Borrowed. */
const char *http_request_redirect(http_request *request);

#endif
