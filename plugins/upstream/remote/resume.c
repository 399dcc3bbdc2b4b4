/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of legacy servers that ended before all was said are taken up where they ended, if their
 * events have ids: MCP 2025-11-25 basic/transports, Resumability and Redelivery.
 */
#include "remote.h"

static void on_time(void *ctx)
{
    exchange *x = ctx;
    const mcp_remote *remote = x->remote;
    int is_of_another = x->session != 0 && x->session != remote->session_number;
    if (x->kind == EXCHANGE_REQUEST && (is_of_another || (x->session != 0 && !remote->session))) {
        session_lost(x); /* its events are in a session that is over */
    } else {
        exchange_start(x);
    }
}

/* As the server says; the more often nothing came of it, the longer. */
static uint64_t delay_of(const exchange *x)
{
    uint64_t delay = x->retry_ms >= 0 ? (uint64_t)x->retry_ms : REMOTE_RETRY_MS;
    for (uint32_t i = 1; i < x->resumes && delay < REMOTE_RETRY_MOST_MS; i++) {
        delay = delay * 2 + 1;
    }
    return delay < REMOTE_RETRY_MOST_MS ? delay : REMOTE_RETRY_MOST_MS;
}

int exchange_resume(exchange *x)
{
    const mcp_server *server = &x->remote->server;
    int is_request = x->kind == EXCHANGE_REQUEST;
    if (remote_is_modern(x->remote) || (is_request && x->last_event_id == NULL) ||
        (is_request && x->resumes >= REMOTE_RESUMES)) {
        return 0;
    }
    server->loop->timer_free(x->timer); /* it may have had another end */
    x->timer = server->loop->timer(server->host, on_time, x);
    if (x->timer == NULL) {
        return 0;
    }
    x->resumes++;
    server->loop->timer_start(x->timer, delay_of(x));
    return 1;
}
