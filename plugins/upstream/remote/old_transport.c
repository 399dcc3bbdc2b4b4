/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP+SSE: a GET opens the stream that all answers come on; its first event names the address that
 * messages are posted to. spec: MCP 2024-11-05 basic/transports; 2026-07-28
 * basic/transports/streamable-http, HTTP+SSE Transport.
 */
#include "remote.h"

#include "url.h"

void old_transport_begin(mcp_remote *remote)
{
    remote->is_old = 1;
    free(remote->post_to);
    remote->post_to = NULL;
    exchange_end(remote->stream);
    remote->stream = exchange_create(remote, EXCHANGE_STREAM, NULL, 0);
    if (remote->stream != NULL) {
        exchange_start(remote->stream);
    } /* else the start-up is too late at its end */
}

static void take_endpoint(exchange *stream, patchbay_str data)
{
    mcp_remote *remote = stream->remote;
    patchbay_out reference = {0};
    patchbay_out_raw(&reference, data);
    char *url = reference.failed ? NULL : url_dup_resolved(remote->config.url, reference.ptr);
    patchbay_out_free(&reference);
    if (url == NULL || !url_same_origin(url, remote->config.url)) {
        free(url);
        upstream_fail(&remote->server, "names an endpoint for messages that is not its own");
        return;
    }
    remote->post_to = url;
    exchange_start_held(remote);
}

void old_transport_take(exchange *stream, const sse_event *event)
{
    if (stream->remote->post_to == NULL &&
        patchbay_str_eq(event->type, patchbay_str_of("endpoint"))) {
        take_endpoint(stream, event->data);
    }
}

void old_transport_ended(exchange *stream, const char *why)
{
    mcp_remote *remote = stream->remote;
    char reason[UPSTREAM_REASON_BYTES];
    if (remote->refused_with == 404) { /* to say the same of HTTP+SSE helps nobody */
        (void)snprintf(reason, sizeof reason,
                       "refuses initialize with HTTP 404%s; correct the path of `url` (often /mcp "
                       "or /sse)",
                       remote->refused_words);
        upstream_fail(&remote->server, reason);
    } else if (remote->refused_with != 0) {
        (void)snprintf(reason, sizeof reason,
                       "refuses initialize with HTTP %ld%s; and it speaks no HTTP+SSE: %s",
                       remote->refused_with, remote->refused_words, why);
        upstream_fail(&remote->server, reason);
    } else {
        (void)snprintf(reason, sizeof reason, "%s", why);
        upstream_disconnect(&remote->server, reason, CAUSE_FAILURE);
    }
}
