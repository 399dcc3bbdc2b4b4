/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

static const char *command_of(const mcp_server *server)
{
    return server->config.argv[0];
}

static void set_state(const mcp_server *server, uint32_t state, const char *detail)
{
    server->catalog->set_state(server->host, state, patchbay_str_of(detail));
}

void upstream_start_timer(mcp_server *server, uint64_t until_ms)
{
    uint64_t now = server->loop->now_ms(server->host);
    server->loop->timer_start(server->timer, until_ms > now ? until_ms - now : 0);
}

void upstream_log(mcp_server *server, int32_t level, const char *text)
{
    server->api->log(server->host, level, patchbay_str_of(text));
}

/* ---- what leaves
 * --------------------------------------------------------------------------------- */

void upstream_send(mcp_server *server, const patchbay_str *parts, uint32_t count)
{
    if (server->stream != NULL &&
        server->streams->send(server->stream, parts, count) == PATCHBAY_ELIMIT) {
        upstream_disconnect(server, "the server does not read its input", 1);
    }
}

uint32_t upstream_request(mcp_server *server, const char *name, const char *method,
                          patchbay_str params)
{
    uint32_t connection = server->connection;
    uint32_t number = ++server->last_request;
    char digits[16];
    (void)snprintf(digits, sizeof digits, "%u", (unsigned)number);
    patchbay_str parts[] = {
        patchbay_str_of("{\"jsonrpc\":\"2.0\",\"id\":\""),
        patchbay_str_of(name),
        patchbay_str_of("-"),
        patchbay_str_of(digits),
        patchbay_str_of("\",\"method\":\""),
        patchbay_str_of(method),
        patchbay_str_of("\",\"params\":"),
        params,
        patchbay_str_of("}"),
    };
    upstream_send(server, parts, sizeof parts / sizeof parts[0]);
    return server->connection == connection ? number : 0; /* sending may have ended it */
}

void upstream_add_meta(mcp_server *server, patchbay_out *params)
{
    patchbay_peer peer = {.struct_size = sizeof peer, .version = patchbay_str_of(server->version)};
    if (server->era == ERA_MODERN) {
        patchbay_str all = server->wire->introduce(server->host, &peer);
        patchbay_out_key(params, "_meta");
        patchbay_out_raw(params, patchbay_json_get(all, "_meta"));
    }
}

static void on_message(void *ctx, patchbay_str line)
{
    upstream_receive(ctx, line);
}

/* ---- the process -------------------------------------------------------------------------------
 */

/* The last line the server wrote to stderr: most servers say there why they end. */
static patchbay_str last_stderr_line(const mcp_server *server)
{
    patchbay_str tail = server->process != NULL ? server->processes->stderr_tail(server->process)
                                                : patchbay_str_make(NULL, 0);
    while (tail.len > 0 && (tail.ptr[tail.len - 1] == '\n' || tail.ptr[tail.len - 1] == '\r')) {
        tail.len--;
    }
    size_t begin = tail.len;
    while (begin > 0 && tail.ptr[begin - 1] != '\n') {
        begin--;
    }
    return patchbay_str_make(tail.ptr + begin, tail.len - begin);
}

static void end_with(mcp_server *server, patchbay_str how)
{
    char reason[512];
    patchbay_str line = last_stderr_line(server);
    int len = snprintf(reason, sizeof reason, "server \"%s\" %.*s", command_of(server),
                       (int)how.len, how.ptr);
    if (len > 0 && (size_t)len < sizeof reason && line.len > 0) {
        (void)snprintf(reason + len, sizeof reason - (size_t)len, "; it said: %.*s", (int)line.len,
                       line.ptr);
    }
    upstream_disconnect(server, reason, 1);
}

/* A server that ends in the middle of the probe may be a legacy one that cannot bear it: try again
 * with the handshake that it knows. */
static int retry_as_legacy(mcp_server *server)
{
    if (server->phase != PHASE_PROBING || server->config.protocol != NULL) {
        return 0;
    }
    server->era = ERA_LEGACY;
    server->phase = PHASE_IDLE;
    server->streams->close(server->stream);
    server->processes->free(server->process);
    server->stream = NULL;
    server->process = NULL;
    upstream_connect(server);
    return 1;
}

static void on_stream_end(void *ctx, patchbay_str reason)
{
    mcp_server *server = ctx;
    if (retry_as_legacy(server)) {
        return;
    }
    if (patchbay_str_eq(reason, patchbay_str_of("end of file"))) {
        end_with(server, patchbay_str_of("closed its output"));
    } else {
        char text[192];
        int len = snprintf(text, sizeof text, "cannot be read: %.*s", (int)reason.len, reason.ptr);
        end_with(server, patchbay_str_make(text, (size_t)len));
    }
}

static void on_process_exit(void *ctx, patchbay_str status)
{
    mcp_server *server = ctx;
    if (!retry_as_legacy(server)) {
        end_with(server, status);
    }
}

static int open_stream(mcp_server *server, int in, int out)
{
    patchbay_stream_options options = {
        .struct_size = sizeof options,
        .read_fd = out,
        .write_fd = in,
        .max_message_bytes = UPSTREAM_MESSAGE_BYTES,
        .max_queue_bytes = UPSTREAM_QUEUE_BYTES,
        .on_message = on_message,
        .on_end = on_stream_end,
        .ctx = server,
    };
    return server->streams->open(server->host, &options, &server->stream) == PATCHBAY_OK;
}

void upstream_connect(mcp_server *server)
{
    union {
        char **from;
        const char *const *to;
    } argv = {.from = server->config.argv}, env = {.from = server->config.env};
    if (server->phase != PHASE_IDLE) {
        return;
    }
    patchbay_spawn_options options = {
        .struct_size = sizeof options,
        .flags = server->config.spawn_flags,
        .argv = argv.to,
        .env = env.to,
        .cwd = server->config.cwd,
        .on_exit = on_process_exit,
        .ctx = server,
    };
    patchbay_error why = {.struct_size = sizeof why, .text = "out of memory"};
    int in = -1;
    int out = -1;
    if (server->processes->spawn(server->host, &options, &server->process, &in, &out, NULL, &why) !=
        PATCHBAY_OK) {
        upstream_disconnect(server, why.text, 1);
        return;
    }
    if (!open_stream(server, in, out)) {
        upstream_disconnect(server, "the pipes of the server cannot be used", 1);
        return;
    }
    set_state(server, PATCHBAY_STATE_CONNECTING, "");
    server->started_ms = server->loop->now_ms(server->host);
    server->connection++;
    upstream_handshake_begin(server);
}

void upstream_disconnect(mcp_server *server, const char *reason, int failed)
{
    server->loop->timer_stop(server->timer);
    server->streams->close(server->stream); /* closes the server's stdin: it should end */
    if (server->process != NULL) {
        server->processes->stop(server->process, UPSTREAM_STOP_GRACE_MS);
        server->processes->free(server->process);
    }
    server->stream = NULL;
    server->process = NULL;
    server->phase = PHASE_IDLE;
    server->connection++; /* whoever is in the middle of something notices */
    upstream_lists_disconnect(server);
    if (failed) {
        set_state(server, PATCHBAY_STATE_FAILED, reason);
    }
    upstream_subscriptions_disconnect(server, reason);
    upstream_fail_calls(server, reason);
}

void upstream_fail(mcp_server *server, const char *what)
{
    char reason[256];
    (void)snprintf(reason, sizeof reason, "server \"%s\" %s", command_of(server), what);
    upstream_disconnect(server, reason, 1);
}
