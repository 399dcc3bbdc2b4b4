/* SPDX-License-Identifier: Apache-2.0 */
#include "pipes.h"

static piped_server *pipes_of(mcp_server *server)
{
    return (piped_server *)server;
}

/* ---- what arrives -------------------------------------------------------------------------- */

/* Servers print to stdout what belongs on stderr: some of it is skipped, a flood ends them. */
static void count_noise(piped_server *pipes)
{
    mcp_server *server = &pipes->server;
    uint64_t now = server->loop->now_ms(server->host);
    if (now - pipes->noise_since_ms > 60000) {
        pipes->noise_since_ms = now;
        pipes->noise_lines = 0;
    }
    if (++pipes->noise_lines > UPSTREAM_NOISE_LINES) {
        upstream_disconnect(server, "it writes lines to stdout that are not MCP messages", 1);
    }
}

static void on_message(void *ctx, patchbay_str line)
{
    static const patchbay_call UNKNOWN = {.id = 0};
    piped_server *pipes = ctx;
    mcp_server *server = &pipes->server;
    patchbay_message message = {.struct_size = sizeof message};
    patchbay_error why = {.struct_size = sizeof why};
    int is_message = server->wire->scan(server->host, line, &message, &why) == PATCHBAY_OK;
    /* A modern server has no requests, and wants no answers. */
    if (!is_message || (message.kind == PATCHBAY_MSG_REQUEST && server->era == ERA_MODERN)) {
        count_noise(pipes);
    } else {
        upstream_take(server, &message, UNKNOWN);
    }
}

/* ---- the process --------------------------------------------------------------------------- */

/* The last line the server wrote to stderr: most servers say there why they end. */
static patchbay_str last_stderr_line(const piped_server *pipes)
{
    patchbay_str tail = pipes->process != NULL ? pipes->processes->stderr_tail(pipes->process)
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

static void end_with(piped_server *pipes, patchbay_str how)
{
    char reason[512];
    patchbay_str line = last_stderr_line(pipes);
    int len = snprintf(reason, sizeof reason, "server \"%s\" %.*s", pipes->server.name,
                       (int)how.len, how.ptr);
    if (len > 0 && (size_t)len < sizeof reason && line.len > 0) {
        (void)snprintf(reason + len, sizeof reason - (size_t)len, "; it said: %.*s", (int)line.len,
                       line.ptr);
    }
    upstream_disconnect(&pipes->server, reason, 1);
}

/* A server that ends in the middle of the probe may be a legacy one that cannot bear it: try again
 * with the handshake that it knows. */
static int retry_as_legacy(piped_server *pipes)
{
    mcp_server *server = &pipes->server;
    if (server->phase != PHASE_PROBING || server->protocol != NULL) {
        return 0;
    }
    server->era = ERA_LEGACY;
    server->phase = PHASE_IDLE;
    pipes->streams->close(pipes->stream);
    pipes->processes->free(pipes->process);
    pipes->stream = NULL;
    pipes->process = NULL;
    upstream_connect(server);
    return 1;
}

static void on_stream_end(void *ctx, patchbay_str reason)
{
    piped_server *pipes = ctx;
    if (retry_as_legacy(pipes)) {
        return;
    }
    if (patchbay_str_eq(reason, patchbay_str_of("end of file"))) {
        end_with(pipes, patchbay_str_of("closed its output"));
    } else {
        char text[192];
        int len = snprintf(text, sizeof text, "cannot be read: %.*s", (int)reason.len, reason.ptr);
        end_with(pipes, patchbay_str_make(text, (size_t)len));
    }
}

static void on_process_exit(void *ctx, patchbay_str status)
{
    piped_server *pipes = ctx;
    if (!retry_as_legacy(pipes)) {
        end_with(pipes, status);
    }
}

static int open_stream(piped_server *pipes, int in, int out)
{
    patchbay_stream_options options = {
        .struct_size = sizeof options,
        .read_fd = out,
        .write_fd = in,
        .max_message_bytes = UPSTREAM_MESSAGE_BYTES,
        .max_queue_bytes = UPSTREAM_QUEUE_BYTES,
        .on_message = on_message,
        .on_end = on_stream_end,
        .ctx = pipes,
    };
    return pipes->streams->open(pipes->server.host, &options, &pipes->stream) == PATCHBAY_OK;
}

/* ---- the channel --------------------------------------------------------------------------- */

static int open_pipes(mcp_server *server)
{
    piped_server *pipes = pipes_of(server);
    union {
        char **from;
        const char *const *to;
    } argv = {.from = pipes->config.argv}, env = {.from = pipes->config.env};
    patchbay_spawn_options options = {
        .struct_size = sizeof options,
        .flags = pipes->config.spawn_flags,
        .argv = argv.to,
        .env = env.to,
        .cwd = pipes->config.cwd,
        .on_exit = on_process_exit,
        .ctx = pipes,
    };
    patchbay_error why = {.struct_size = sizeof why, .text = "out of memory"};
    int in = -1;
    int out = -1;
    if (pipes->processes->spawn(server->host, &options, &pipes->process, &in, &out, NULL, &why) !=
        PATCHBAY_OK) {
        upstream_disconnect(server, why.text, 1);
        return 0;
    }
    if (!open_stream(pipes, in, out)) {
        upstream_disconnect(server, "the pipes of the server cannot be used", 1);
        return 0;
    }
    return 1;
}

static int32_t send_line(mcp_server *server, const upstream_outgoing *message)
{
    const piped_server *pipes = pipes_of(server);
    return pipes->streams->send(pipes->stream, message->parts, message->part_count);
}

static void send_cancellation(mcp_server *server, patchbay_str id)
{
    patchbay_str parts[] = {
        patchbay_str_of("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                        "\"params\":{\"requestId\":"),
        id,
        patchbay_str_of("}}"),
    };
    upstream_outgoing message = {
        .parts = parts,
        .part_count = sizeof parts / sizeof parts[0],
        .kind = PATCHBAY_MSG_NOTIFICATION,
        .method = patchbay_str_of("notifications/cancelled"),
    };
    upstream_send(server, &message);
}

static void close_pipes(mcp_server *server)
{
    piped_server *pipes = pipes_of(server);
    pipes->streams->close(pipes->stream); /* closes the server's stdin: it should end */
    if (pipes->process != NULL) {
        pipes->processes->stop(pipes->process, UPSTREAM_STOP_GRACE_MS);
        pipes->processes->free(pipes->process);
    }
    pipes->stream = NULL;
    pipes->process = NULL;
}

const upstream_channel upstream_pipes = {
    .open = open_pipes,
    .send = send_line,
    .cancel = send_cancellation,
    .close = close_pipes,
};
