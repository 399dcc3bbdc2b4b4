/* SPDX-License-Identifier: Apache-2.0 */
#include "remote.h"

#include "header_value.h"

#include <stdarg.h>

exchange *exchange_create(mcp_remote *remote, exchange_kind kind, const patchbay_str *parts,
                          uint32_t part_count)
{
    exchange *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->remote = remote;
    made->kind = kind;
    made->retry_ms = -1;
    if (part_count > 0) {
        made->body = http_body_create(parts, part_count);
        if (made->body == NULL) {
            free(made);
            return NULL;
        }
    }
    made->next = remote->exchanges;
    if (made->next != NULL) {
        made->next->prev = made;
    }
    remote->exchanges = made;
    remote->exchange_count++;
    return made;
}

static void unlink_exchange(exchange *x)
{
    mcp_remote *remote = x->remote;
    if (x->prev != NULL) {
        x->prev->next = x->next;
    } else {
        remote->exchanges = x->next;
    }
    if (x->next != NULL) {
        x->next->prev = x->prev;
    }
    remote->exchange_count--;
    remote->notes -= x->is_counted ? 1 : 0;
    if (remote->stream == x) {
        remote->stream = NULL;
    }
}

void exchange_end(exchange *x)
{
    if (x == NULL || x->is_over) {
        return;
    }
    unlink_exchange(x);
    x->is_over = 1;
    http_request_cancel(x->request);
    x->request = NULL;
    x->remote->server.loop->timer_free(x->timer);
    x->timer = NULL;
    exchange_settle(x);
    login_forget(x);
    if (!x->busy) {
        answer_free(x);
    }
}

static void fail_with(exchange *x, int32_t status, const char *why)
{
    char id[sizeof x->id];
    mcp_server *server = &x->remote->server;
    patchbay_call call = x->call;
    int is_request = x->kind == EXCHANGE_REQUEST;
    memcpy(id, x->id, sizeof id);
    exchange_end(x);
    if (is_request) {
        upstream_undelivered(server, call, patchbay_str_of(id), status, why);
    } else {
        upstream_log(server, PATCHBAY_LOG_DEBUG, why);
    }
}

void exchange_fail(exchange *x, const char *format, ...)
{
    char why[UPSTREAM_REASON_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fail_with(x, PATCHBAY_UNAVAILABLE, why);
}

void exchange_fail_as(exchange *x, int32_t status, const char *format, ...)
{
    char why[UPSTREAM_REASON_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fail_with(x, status, why);
}

/* ---- sending ------------------------------------------------------------------------------- */

static void add_headers(exchange *x, int is_get, patchbay_out *lines)
{
    const mcp_remote *remote = x->remote;
    int has_version = remote_is_modern(remote) || x->role != ROLE_INITIALIZE;
    patchbay_out_text(lines, is_get ? "Accept: text/event-stream\n"
                                    : "Accept: application/json, text/event-stream\n"
                                      "Content-Type: application/json\n");
    if (has_version && !remote->is_old) {
        header_add(lines, "MCP-Protocol-Version", patchbay_str_of(remote->server.version));
    }
    if (remote->session != NULL && x->role != ROLE_INITIALIZE && !remote_is_modern(remote)) {
        header_add(lines, "Mcp-Session-Id", patchbay_str_of(remote->session));
    }
    if (is_get && x->last_event_id != NULL) {
        patchbay_out_printf(lines, "Last-Event-ID: %s\n", x->last_event_id);
    }
    patchbay_out_raw(lines, patchbay_str_make(x->lines.ptr, x->lines.len));
    forward_add(remote, &x->forwarded, lines);
    login_add(remote, &x->forwarded, lines, &x->generation);
}

static const char *url_of(const exchange *x, int is_get)
{
    const mcp_remote *remote = x->remote;
    if (x->moved_to != NULL) {
        return x->moved_to;
    }
    return remote->is_old && !is_get ? remote->post_to : remote->config.url;
}

static void on_cannot_start(void *ctx)
{
    exchange *x = ctx;
    exchange_events.on_end(x, HTTP_UNREACHED, "out of memory");
}

/* A server that takes its time for a notification has the connection for as long as it has to get
 * ready, and no longer. */
static void on_note_late(void *ctx)
{
    exchange *x = ctx;
    mcp_remote *remote = x->remote;
    exchange_fail(x, "%s did not say in time that it has a message", remote->shown);
    exchange_start_held(remote);
}

static void count_note(exchange *x)
{
    const mcp_server *server = &x->remote->server;
    if (x->is_counted) {
        return; /* it was redirected */
    }
    x->is_counted = 1;
    x->remote->notes++;
    x->timer = server->loop->timer(server->host, on_note_late, x);
    if (x->timer != NULL) {
        server->loop->timer_start(x->timer, server->pace.startup_ms);
    }
}

void exchange_start(exchange *x)
{
    mcp_remote *remote = x->remote;
    int is_get = x->body == NULL || x->last_event_id != NULL;
    patchbay_out lines = {0};
    x->is_held = 0;
    x->session = remote->session != NULL ? remote->session_number : 0;
    answer_reset(x);
    if (x->kind == EXCHANGE_NOTE && x->role == ROLE_OTHER) {
        count_note(x);
    }
    add_headers(x, is_get, &lines);
    http_start start = {
        .method = is_get ? "GET" : "POST",
        .url = url_of(x, is_get),
        .headers = patchbay_str_make(lines.ptr, lines.len),
        .body = is_get ? NULL : x->body,
        .is_once = !is_get && !x->is_repeatable,
        .is_again = x->is_restarted,
    };
    if (lines.failed ||
        http_client_start(remote->http, &start, &exchange_events, x, &x->request) != PATCHBAY_OK) {
        const patchbay_loop_v1 *loop = remote->server.loop;
        loop->timer_free(x->timer);
        x->timer = loop->timer(remote->server.host, on_cannot_start, x);
        if (x->timer != NULL) {
            loop->timer_start(x->timer, 0);
        } /* else it ends with the call's deadline */
    }
    header_wipe(&lines);
}

int exchange_must_wait(const exchange *x)
{
    const mcp_remote *remote = x->remote;
    int is_call = x->call.id != 0;
    if (remote->login_ticket != 0) {
        return 1; /* for the token that there may be */
    }
    if (remote->is_old && remote->post_to == NULL) {
        return 1; /* for the endpoint */
    }
    if (!remote_is_modern(remote) && !remote->is_open && x->role == ROLE_OTHER) {
        return 1; /* for the end of the handshake */
    }
    if (x->kind == EXCHANGE_NOTE && x->role == ROLE_OTHER && remote->notes >= REMOTE_NOTES) {
        return 1; /* for another to get through: a server can ask more than it hears */
    }
    return is_call && (remote->is_deaf || (remote->settling > 0 && !x->is_setting));
}

void exchange_start_held(mcp_remote *remote)
{
    /* Oldest last: from the end to the front. Starting one ends none. */
    exchange *x = remote->exchanges;
    while (x != NULL && x->next != NULL) {
        x = x->next;
    }
    for (; x != NULL; x = x->prev) {
        if (x->is_held && !exchange_must_wait(x)) {
            exchange_start(x);
        }
    }
}

/* ---- settings ------------------------------------------------------------------------------ */

void exchange_forget_settings(mcp_remote *remote)
{
    for (exchange *x = remote->exchanges; x != NULL; x = x->next) {
        x->is_setting = 0;
    }
    remote->settling = 0;
    remote->server.loop->timer_free(remote->settle_timer);
    remote->settle_timer = NULL;
}

static void on_unsettled(void *ctx)
{
    mcp_remote *remote = ctx;
    exchange_forget_settings(remote);
    exchange_start_held(remote);
}

void exchange_unsettle(exchange *x)
{
    mcp_remote *remote = x->remote;
    const mcp_server *server = &remote->server;
    if (remote->settle_timer == NULL) {
        remote->settle_timer = server->loop->timer(server->host, on_unsettled, remote);
    }
    if (remote->settle_timer != NULL) { /* else nobody waits */
        x->is_setting = 1;
        remote->settling++;
        server->loop->timer_start(remote->settle_timer, REMOTE_SETTLE_MS);
    }
}

void exchange_settle(exchange *x)
{
    mcp_remote *remote = x->remote;
    if (!x->is_setting) {
        return;
    }
    x->is_setting = 0;
    if (--remote->settling == 0) {
        remote->server.loop->timer_stop(remote->settle_timer);
        exchange_start_held(remote);
    }
}
