/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket_link.h"

#include <curl/curl.h>

struct ws_link {
    const patchbay_loop_v1 *loop;
    patchbay_host *host;
    http_request *request;
    patchbay_watch *watch;
    patchbay_timer *again; /* reads on where a turn has ended */
    ws_link_events events;
    void *ctx;
    ws_chunk *first; /* the oldest that has not left whole */
    ws_chunk *last;
    size_t queued;
    int is_connected;
    int is_mute;     /* nothing can leave; what the server said before may still be read */
    char broken[96]; /* … and why */
    int busy;        /* an event is being told */
    int is_over;     /* freed when that returns */
    char input[LINK_READ_BYTES];
};

static CURL *handle_of(const ws_link *link)
{
    return http_request_handle(link->request);
}

static size_t cost_of(const ws_chunk *chunk)
{
    return sizeof *chunk + chunk->len;
}

static void drop_first(ws_link *link)
{
    ws_chunk *chunk = link->first;
    link->first = chunk->next;
    link->last = link->first != NULL ? link->last : NULL;
    link->queued -= cost_of(chunk);
    free(chunk);
}

static void free_link(ws_link *link)
{
    while (link->first != NULL) {
        drop_first(link);
    }
    free(link);
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Nothing leaves any more. What has arrived is read, from the loop, and then the link ends. */
static void fall_mute(ws_link *link, CURLcode code)
{
    link->is_mute = 1;
    (void)snprintf(link->broken, sizeof link->broken, "%s",
                   http_request_failure(link->request, (int)code));
    link->loop->timer_start(link->again, 0);
}

/* What has not left is offered again from the same address and with the same length. */
static void flush(ws_link *link)
{
    while (link->first != NULL && !link->is_mute) {
        ws_chunk *chunk = link->first;
        size_t sent = 0;
        CURLcode code = curl_easy_send(handle_of(link), chunk->bytes + chunk->sent,
                                       chunk->len - chunk->sent, &sent);
        if (code == CURLE_AGAIN) {
            return;
        }
        if (code != CURLE_OK) {
            fall_mute(link, code);
            break;
        }
        chunk->sent += sent;
        if (chunk->sent == chunk->len) {
            drop_first(link);
        }
    }
    while (link->first != NULL) {
        drop_first(link);
    }
}

static void watch_what_is_due(ws_link *link)
{
    uint32_t writes = link->first != NULL ? PATCHBAY_WRITABLE : 0;
    link->loop->rewatch(link->watch, PATCHBAY_READABLE | writes);
}

void ws_link_send(ws_link *link, ws_chunk *chunk)
{
    if (chunk == NULL || link->is_mute || !link->is_connected) {
        free(chunk);
        return;
    }
    if (link->last != NULL) {
        link->last->next = chunk;
    } else {
        link->first = chunk;
    }
    link->last = chunk;
    link->queued += cost_of(chunk);
    if (link->first == chunk) {
        flush(link);
        watch_what_is_due(link);
    }
}

size_t ws_link_queued(const ws_link *link)
{
    return link->queued;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Let an event be told. 0 when the link is gone. */
static int told(ws_link *link)
{
    link->busy = 0;
    if (link->is_over) {
        free_link(link);
        return 0;
    }
    return 1;
}

static void end(ws_link *link, const char *why)
{
    link->loop->unwatch(link->watch);
    link->watch = NULL;
    link->is_mute = 1;
    link->loop->timer_stop(link->again);
    link->busy = 1;
    link->events.on_end(link->ctx, link->is_connected, why);
    (void)told(link);
}

/* TLS may hold back bytes that the descriptor does not show: it is read until it has no more, or
 * taken up again at once. */
static void read_some(ws_link *link)
{
    for (int i = 0; i < LINK_TURN_READS; i++) {
        size_t len = 0;
        CURLcode code = curl_easy_recv(handle_of(link), link->input, sizeof link->input, &len);
        if (code == CURLE_AGAIN && !link->is_mute) {
            return;
        }
        if (code != CURLE_OK || len == 0) {
            end(link, code == CURLE_OK      ? ""
                      : code == CURLE_AGAIN ? link->broken
                                            : http_request_failure(link->request, (int)code));
            return;
        }
        link->busy = 1;
        link->events.on_bytes(link->ctx, patchbay_str_make(link->input, len));
        if (!told(link)) {
            return;
        }
    }
    link->loop->timer_start(link->again, 0);
}

static void on_again(void *ctx)
{
    read_some(ctx);
}

static void on_ready(void *ctx, uint32_t events)
{
    ws_link *link = ctx;
    if ((events & PATCHBAY_WRITABLE) != 0) {
        flush(link);
        watch_what_is_due(link);
    }
    if ((events & PATCHBAY_READABLE) != 0) {
        read_some(link);
    }
}

/* ---- the connection ------------------------------------------------------------------------ */

static void on_connected(void *ctx, http_request *request, long status)
{
    ws_link *link = ctx;
    curl_socket_t fd = CURL_SOCKET_BAD;
    (void)request;
    (void)status;
    if (curl_easy_getinfo(handle_of(link), CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK &&
        fd != CURL_SOCKET_BAD) {
        link->watch = link->loop->watch(link->host, fd, PATCHBAY_READABLE, on_ready, link);
    }
    if (link->watch == NULL) {
        end(link, "out of memory");
        return;
    }
    link->is_connected = 1;
    link->busy = 1;
    link->events.on_connected(link->ctx);
    (void)told(link);
}

static void on_body(void *ctx, patchbay_str bytes)
{
    (void)ctx;
    (void)bytes; /* of a proxy that refuses: its status is in the error */
}

static void on_unreached(void *ctx, http_outcome outcome, const char *error)
{
    ws_link *link = ctx;
    (void)outcome;
    link->request = NULL;
    end(link, error);
}

int32_t ws_link_open(const patchbay_loop_v1 *loop, patchbay_host *host, http_client *http,
                     const char *url, const ws_link_events *events, void *ctx, ws_link **ret_link)
{
    static const http_request_events EVENTS = {
        .on_head = on_connected, .on_body = on_body, .on_end = on_unreached};
    const http_start start = {.method = "CONNECT", .url = url};
    ws_link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        return PATCHBAY_ENOMEM;
    }
    link->loop = loop;
    link->host = host;
    link->events = *events;
    link->ctx = ctx;
    link->again = loop->timer(host, on_again, link);
    int32_t result = link->again != NULL
                         ? http_client_start(http, &start, &EVENTS, link, &link->request)
                         : PATCHBAY_ENOMEM;
    if (result != PATCHBAY_OK) {
        loop->timer_free(link->again);
        free(link);
        return result;
    }
    *ret_link = link;
    return PATCHBAY_OK;
}

void ws_link_close(ws_link *link)
{
    if (link == NULL || link->is_over) {
        return;
    }
    if (link->is_connected && link->request != NULL) {
        flush(link);
    }
    link->loop->unwatch(link->watch);
    link->loop->timer_free(link->again);
    http_request_cancel(link->request);
    link->is_over = 1;
    if (!link->busy) {
        free_link(link);
    }
}
