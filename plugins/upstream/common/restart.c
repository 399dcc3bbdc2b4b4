/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a server that has failed is tried again: after a while that doubles with each failure in a
 * row, up to a most, and for ever; but a few times only if its lists cannot be used, since what it
 * would list then is the same. Somebody who needs the server meanwhile waits for that if it is
 * soon, and else is told when it will be. A server that was well for long enough has its past
 * forgotten.
 */
#include "upstream.h"

#include <sys/random.h>

/* Up to a tenth more than planned: servers that failed together are not started together. */
static uint64_t spread(uint64_t delay_ms)
{
    uint8_t byte = 0;
    (void)!getrandom(&byte, sizeof byte, GRND_NONBLOCK); /* without it they start together */
    return delay_ms + delay_ms * byte / (10 * UINT8_MAX);
}

static uint64_t delay_of(const mcp_server *server)
{
    uint64_t most = server->pace.restart_most_ms;
    uint64_t delay = server->pace.restart_ms;
    for (uint32_t i = 1; i < server->failures && delay < most; i++) {
        delay *= 2;
    }
    return spread(delay < most ? delay : most);
}

static void on_retry(void *ctx)
{
    upstream_connect(ctx);
}

int upstream_restart_init(mcp_server *server)
{
    server->retry = server->loop->timer(server->host, on_retry, server);
    return server->retry != NULL;
}

void upstream_restart_fini(mcp_server *server)
{
    server->loop->timer_free(server->retry);
    server->retry = NULL;
}

void upstream_restart_settle(mcp_server *server)
{
    uint64_t now = server->loop->now_ms(server->host);
    upstream_restart_forget(server);
    if (server->phase == PHASE_READY && now - server->ready_ms >= server->pace.reset_ms) {
        server->failures = 0;
    }
}

static int32_t status_of(upstream_cause cause)
{
    return cause == CAUSE_CONFIG    ? PATCHBAY_INVALID_INPUT
           : cause == CAUSE_CATALOG ? PATCHBAY_FAILED
                                    : PATCHBAY_UNAVAILABLE;
}

void upstream_restart_plan(mcp_server *server, const char *reason, upstream_cause cause)
{
    uint64_t now = server->loop->now_ms(server->host);
    server->failures++;
    server->last_status = status_of(cause);
    server->bad_catalogs += cause == CAUSE_CATALOG;
    server->is_given_up = server->bad_catalogs >= UPSTREAM_CATALOG_TRIES;
    if (server->is_given_up) {
        (void)snprintf(server->last_error, sizeof server->last_error,
                       "%.512s; that was so %d times: it is not tried again before its toolset is "
                       "enabled or its entry changed",
                       reason, UPSTREAM_CATALOG_TRIES);
        server->retry_ms = 0;
        return;
    }
    (void)snprintf(server->last_error, sizeof server->last_error, "%s", reason);
    server->retry_ms = now + delay_of(server);
    if (server->retry_ms < server->not_before_ms) {
        server->retry_ms = server->not_before_ms;
    }
    server->loop->timer_start(server->retry, server->retry_ms - now);
}

void upstream_restart_forget(mcp_server *server)
{
    server->loop->timer_stop(server->retry);
    server->retry_ms = 0;
}

void upstream_restart_now(mcp_server *server)
{
    if (server->phase == PHASE_IDLE && (server->retry_ms != 0 || server->is_given_up)) {
        server->failures = 0;
        server->bad_catalogs = 0;
        server->is_given_up = 0;
        server->not_before_ms = 0;
        upstream_connect(server);
    }
}

int upstream_restart_is_far(mcp_server *server, char *ret_text, size_t size)
{
    uint64_t now = server->loop->now_ms(server->host);
    if (server->phase == PHASE_IDLE && server->is_given_up) {
        (void)snprintf(ret_text, size, "%s", server->last_error);
        return 1;
    }
    if (server->phase != PHASE_IDLE || server->retry_ms <= now + UPSTREAM_PATIENCE_MS) {
        return 0;
    }
    (void)snprintf(ret_text, size, "%s; it is tried again in %llu s", server->last_error,
                   (unsigned long long)((server->retry_ms - now + 999) / 1000));
    return 1;
}

void upstream_tell_about(mcp_server *server, patchbay_str result)
{
    if (result.len > 0 && result.ptr[0] == '{' &&
        PATCHBAY_HAS(patchbay_catalog_v1, server->catalog, set_about) &&
        server->catalog->set_about(server->host, result) != PATCHBAY_OK) {
        upstream_log(server, PATCHBAY_LOG_WARNING, "what the server says of itself was refused");
    }
}

void upstream_report(mcp_server *server)
{
    if (!PATCHBAY_HAS(patchbay_catalog_v1, server->catalog, set_health)) {
        return;
    }
    int is_connected = server->phase != PHASE_IDLE;
    const patchbay_health health = {
        .struct_size = sizeof health,
        .pid = is_connected && server->channel->pid != NULL ? server->channel->pid(server) : 0,
        .restarts = server->restarts,
        .failures = server->failures,
        .next_attempt_ms = server->retry_ms,
        .protocol = patchbay_str_of(server->phase == PHASE_READY ? server->version : ""),
        .last_error = patchbay_str_of(server->last_error),
    };
    server->catalog->set_health(server->host, &health);
}
