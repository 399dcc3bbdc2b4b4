/* SPDX-License-Identifier: Apache-2.0 */
#include "remote.h"

#include "header_value.h"

static mcp_remote *remote_of(mcp_server *server)
{
    return (mcp_remote *)server;
}

int remote_is_modern(const mcp_remote *remote)
{
    const mcp_server *server = &remote->server;
    return server->era == ERA_MODERN || server->phase == PHASE_PROBING;
}

static int open_channel(mcp_server *server)
{
    mcp_remote *remote = remote_of(server);
    if (server->loop->now_ms(server->host) < server->not_before_ms) {
        char reason[sizeof remote->refusal];
        memcpy(reason, remote->refusal, sizeof reason);
        upstream_disconnect(server, reason, CAUSE_CONFIG);
        return 0;
    }
    remote->is_open = 0;
    remote->is_renewed = 0;
    remote->is_doubtful = 0;
    remote->is_old = 0;
    remote->refused_with = 0;
    login_open(remote);
    if (remote->config.is_sse) {
        server->era = ERA_LEGACY;
        old_transport_begin(remote);
    }
    return 1;
}

/* ---- sending ------------------------------------------------------------------------------- */

static exchange_role role_of(patchbay_str method)
{
    static const struct {
        const char *method;
        exchange_role role;
    } ROLES[] = {
        {"server/discover", ROLE_DISCOVER},
        {"initialize", ROLE_INITIALIZE},
        {"notifications/initialized", ROLE_INITIALIZED},
    };
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++) {
        if (patchbay_str_eq(method, patchbay_str_of(ROLES[i].method))) {
            return ROLES[i].role;
        }
    }
    return ROLE_OTHER;
}

/* Whether it is to see if the server lives: no part of the handshake, whatever it asks. */
static int is_pulse(const upstream_outgoing *message)
{
    patchbay_str name = {.ptr = NULL};
    return upstream_read_id(message->id, &name) != 0 &&
           patchbay_str_eq(name, patchbay_str_of(UPSTREAM_PULSE));
}

/* The headers that mirror a request (2026-07-28, Request Metadata). */
static void mirror(const mcp_remote *remote, const upstream_outgoing *message, patchbay_out *lines)
{
    static const char *const NAMED[] = {"tools/call", "resources/read", "prompts/get",
                                        "tasks/get",  "tasks/update",   "tasks/cancel"};
    header_add(lines, "Mcp-Method", message->method);
    for (size_t i = 0; message->request != NULL && i < sizeof NAMED / sizeof NAMED[0]; i++) {
        if (patchbay_str_eq(message->method, patchbay_str_of(NAMED[i]))) {
            header_add(lines, "Mcp-Name", message->request->tool);
        }
    }
    if (message->request != NULL && patchbay_str_eq(message->method, patchbay_str_of(NAMED[0]))) {
        tool_headers_add(&remote->tool_headers, message->request->tool, message->request->args_json,
                         lines);
    }
}

static void set_id(exchange *x, const upstream_outgoing *message)
{
    x->call = message->call;
    if (message->call.id != 0) {
        (void)snprintf(x->id, sizeof x->id, "%llu", (unsigned long long)message->call.id);
    } else {
        (void)snprintf(x->id, sizeof x->id, "%.*s", (int)message->id.len, message->id.ptr);
    }
}

/* What changes what the server tells of later calls. */
static int is_setting(patchbay_str method)
{
    static const char *const SETTINGS[] = {"logging/setLevel", "resources/subscribe",
                                           "subscriptions/listen"};
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++) {
        if (patchbay_str_eq(method, patchbay_str_of(SETTINGS[i]))) {
            return 1;
        }
    }
    return 0;
}

/* Whether doing it twice is doing it once. */
static int is_repeatable(patchbay_str method)
{
    static const char *const ONCE[] = {"tools/call", "tasks/update", "initialize"};
    for (size_t i = 0; i < sizeof ONCE / sizeof ONCE[0]; i++) {
        if (patchbay_str_eq(method, patchbay_str_of(ONCE[i]))) {
            return 0;
        }
    }
    return 1;
}

/* Takes `forwarded`, whatever comes of it. */
static int32_t send_with(mcp_remote *remote, const upstream_outgoing *message,
                         patchbay_out *forwarded)
{
    int is_request = message->kind == PATCHBAY_MSG_REQUEST;
    if (remote->exchange_count >= REMOTE_EXCHANGES) {
        header_wipe(forwarded);
        return PATCHBAY_ELIMIT;
    }
    exchange *x = exchange_create(remote, is_request ? EXCHANGE_REQUEST : EXCHANGE_NOTE,
                                  message->parts, message->part_count);
    if (x == NULL) {
        header_wipe(forwarded);
        return PATCHBAY_ENOMEM;
    }
    x->forwarded = *forwarded;
    x->is_pulse = is_pulse(message);
    x->role = x->is_pulse ? ROLE_OTHER : role_of(message->method);
    x->is_repeatable = is_request && is_repeatable(message->method);
    if (is_request) {
        set_id(x, message);
    }
    if (remote_is_modern(remote)) {
        mirror(remote, message, &x->lines);
    }
    if (x->lines.failed || x->forwarded.failed) {
        exchange_end(x);
        return PATCHBAY_ENOMEM;
    }
    x->is_listen = patchbay_str_eq(message->method, patchbay_str_of("subscriptions/listen"));
    if (is_request && is_setting(message->method)) {
        exchange_unsettle(x);
    }
    x->is_held = exchange_must_wait(x);
    if (!x->is_held) {
        exchange_start(x);
    }
    return PATCHBAY_OK;
}

static int32_t send_message(mcp_server *server, const upstream_outgoing *message)
{
    patchbay_out forwarded = {0};
    if (message->call.id != 0) {
        forward_take(remote_of(server), message->call, &forwarded);
    }
    return send_with(remote_of(server), message, &forwarded);
}

/* ---- cancelling ---------------------------------------------------------------------------- */

static void send_cancellation(mcp_remote *remote, patchbay_str id, patchbay_out *forwarded)
{
    upstream_cancellation made;
    upstream_cancellation_init(&made, id);
    int32_t sent = send_with(remote, &made.message, forwarded);
    if (sent != PATCHBAY_OK) {
        upstream_fail(&remote->server, sent == PATCHBAY_ELIMIT
                                           ? "does not answer what is sent to it"
                                           : "cannot be told of a cancellation: out of memory");
    }
}

/* A modern server hears of it by the end of the stream, a legacy one must be told: with the headers
 * that the request had. */
static void cancel_request(mcp_server *server, patchbay_str id)
{
    mcp_remote *remote = remote_of(server);
    patchbay_out forwarded = {0};
    exchange *x = remote->exchanges;
    while (x != NULL &&
           (x->kind != EXCHANGE_REQUEST || !patchbay_str_eq(patchbay_str_of(x->id), id))) {
        x = x->next;
    }
    int was_sent = x == NULL || !x->is_held;
    if (x != NULL) {
        forwarded = x->forwarded;
        x->forwarded = (patchbay_out){0};
    }
    exchange_end(x);
    if (was_sent && server->phase != PHASE_IDLE && !remote_is_modern(remote)) {
        send_cancellation(remote, id, &forwarded);
    } else {
        header_wipe(&forwarded);
    }
}

/* ---- closing ------------------------------------------------------------------------------- */

static void close_channel(mcp_server *server)
{
    mcp_remote *remote = remote_of(server);
    if (server->phase == PHASE_INITIALIZING || server->phase == PHASE_PROBING) {
        server->era = ERA_UNKNOWN; /* what it is was not seen */
    }
    exchange_forget_settings(remote);
    login_close(remote);
    while (remote->exchanges != NULL) {
        exchange_end(remote->exchanges);
    }
    session_end(remote);
    free(remote->post_to);
    remote->post_to = NULL;
    remote->is_open = 0;
    remote->is_deaf = 0;
}

/* ---- tools --------------------------------------------------------------------------------- */

static void begin_tools(mcp_server *server)
{
    tool_headers_begin(&remote_of(server)->tool_headers);
}

static int take_tool(mcp_server *server, patchbay_str tool)
{
    if (server->era != ERA_MODERN) {
        return 1;
    }
    const char *wrong = tool_headers_take(&remote_of(server)->tool_headers, tool);
    if (wrong != NULL) {
        char text[320];
        patchbay_str name = patchbay_json_get(tool, "name");
        (void)snprintf(text, sizeof text, "the tool %.*s is left out: its x-mcp-header %s",
                       name.len < 160 ? (int)name.len : 160, name.ptr, wrong);
        upstream_log(server, PATCHBAY_LOG_WARNING, text);
    }
    return wrong == NULL;
}

const upstream_channel remote_channel = {
    .open = open_channel,
    .send = send_message,
    .cancel = cancel_request,
    .close = close_channel,
    .begin_tools = begin_tools,
    .take_tool = take_tool,
};
