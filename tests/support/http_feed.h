/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives the HTTP parsers as a connection does. Every look at the bytes is at a block of exactly
 * their length, which moves: a span that outlives its bytes, or a read behind them, is found.
 */
#ifndef TESTS_SUPPORT_HTTP_FEED_H
#define TESTS_SUPPORT_HTTP_FEED_H

#include "base/buf.h"
#include "http/chunked.h"
#include "http/request.h"

#include <stdlib.h>

/* A copy in a block of its own; `*block` is the previous one, which is freed. */
static inline hub_str http_move(char **block, hub_str bytes)
{
    char *copy = malloc(bytes.len > 0 ? bytes.len : 1);
    hub_assert(copy != NULL);
    if (bytes.len > 0) {
        memcpy(copy, bytes.ptr, bytes.len);
    }
    free(*block);
    *block = copy;
    return (hub_str){.ptr = copy, .len = bytes.len};
}

/* Write down what a parsed head says, for comparison. */
static inline void http_describe(hub_buf *out, hub_http_progress progress,
                                 const hub_http_request *request)
{
    if (progress != HUB_HTTP_DONE) {
        hub_buf_printf(out, "%d %s", progress == HUB_HTTP_MORE ? 0 : request->status,
                       progress == HUB_HTTP_MORE ? "" : request->reason);
        return;
    }
    hub_buf_printf(out, "used %zu\n" HUB_STR_FMT "|" HUB_STR_FMT "|" HUB_STR_FMT "|" HUB_STR_FMT,
                   request->used, HUB_STR_ARG(request->method), HUB_STR_ARG(request->path),
                   HUB_STR_ARG(request->query), HUB_STR_ARG(request->host));
    hub_buf_printf(out, "|1.%d body %d %zu keep %d expects %d\n", request->minor,
                   (int)request->framing, request->content_length, request->keep_alive,
                   request->expects_continue);
    for (size_t i = 0; i < request->header_count; i++) {
        hub_buf_add(out, request->headers[i].name);
        hub_buf_add_char(out, '=');
        hub_buf_add(out, request->headers[i].value);
        hub_buf_add_char(out, '\n');
    }
}

/* Parse a head that comes `step` bytes at a time (0: at once). The spans point into *block, which
 * the caller frees. */
static inline hub_http_progress http_feed_head(hub_str input, size_t step, size_t max_body,
                                               char **block, hub_http_request *ret_request)
{
    hub_http_scan scan;
    hub_http_progress progress = HUB_HTTP_MORE;
    size_t given = 0;
    hub_http_scan_init(&scan, max_body);
    while (progress == HUB_HTTP_MORE && given < input.len) {
        given = step == 0 || input.len - given < step ? input.len : given + step;
        hub_str bytes = http_move(block, (hub_str){.ptr = input.ptr, .len = given});
        progress = hub_http_request_next(&scan, bytes, ret_request);
    }
    return progress;
}

/* Decode a body that comes `step` bytes at a time; *ret_used counts all of it. */
static inline hub_http_progress http_feed_chunks(hub_http_chunked *chunked, hub_str input,
                                                 size_t step, hub_buf *body, size_t *ret_used)
{
    hub_http_progress progress = HUB_HTTP_MORE;
    char *block = NULL;
    *ret_used = 0;
    while (progress == HUB_HTTP_MORE && *ret_used < input.len) {
        hub_str rest = hub_str_from(input, *ret_used);
        rest.len = step > 0 && step < rest.len ? step : rest.len;
        size_t used = SIZE_MAX;
        progress = hub_http_chunked_next(chunked, http_move(&block, rest), body, &used);
        hub_assert(used <= rest.len && (progress != HUB_HTTP_MORE || used == rest.len));
        *ret_used += used;
    }
    free(block);
    return progress;
}

#endif
