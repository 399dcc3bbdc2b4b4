/* SPDX-License-Identifier: Apache-2.0 */
/* What http_client.c (libcurl on the loop) and http_request.c (one request) share. */
#ifndef MCP_REMOTE_HTTP_INTERNAL_H
#define MCP_REMOTE_HTTP_INTERNAL_H

#include "http_client.h"

#include <curl/curl.h>

struct client_socket;

struct http_client {
    patchbay_host *host;
    const patchbay_loop_v1 *loop;
    http_client_options options;
    CURLM *multi;
    const char *http_proxy; /* from the environment; NULL: none, or libcurl finds it by itself */
    patchbay_timer *timer;
    struct client_socket *sockets;
    http_request *requests;
    int64_t idle_s; /* that the server leaves connections open */
    int in_curl;    /* libcurl is calling: handles may be neither added nor removed */
};

struct http_request {
    http_request *next;
    http_request *prev;
    http_client *client;
    CURL *easy;
    struct curl_slist *headers;
    http_body *body;
    size_t body_sent;
    http_request_events events;
    void *ctx;
    int is_added;     /* to the multi handle */
    int is_cancelled; /* from inside a callback: freed when libcurl has returned */
    int is_unwatched; /* its socket: there was no memory */
    int has_head;
    int is_bare;      /* a connection, and nothing else */
    int socket_error; /* errno, of the last socket that could not be made; 0: it could */
    char error[CURL_ERROR_SIZE];
    char forbidden[128]; /* why the last address was not connected to; empty: it might be */
};

/* Forget a request. Not while libcurl is calling. */
void http_request_free(http_request *request);

/* Add what was started and free what was cancelled while libcurl was calling. */
void http_client_settle(http_client *client);

/* libcurl wants a socket. Children of the hub must not inherit it. `ctx`: the request. */
curl_socket_t http_client_open_socket(void *ctx, curlsocktype purpose,
                                      struct curl_sockaddr *address);

#endif
