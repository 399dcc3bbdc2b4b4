/* SPDX-License-Identifier: Apache-2.0 */
#include "pipes.h"

line_server *lines_of(mcp_server *server)
{
    return (line_server *)server;
}

static void on_message(void *ctx, patchbay_str line)
{
    line_server *lines = ctx;
    duplex_take(&lines->server, &lines->noise, line,
                lines->process != NULL ? "writes lines to stdout that are not MCP messages"
                                       : "sends lines that are not MCP messages");
}

int lines_open(line_server *lines, int read_fd, int write_fd,
               void (*on_end)(void *ctx, patchbay_str reason))
{
    const patchbay_stream_options options = {
        .struct_size = sizeof options,
        .read_fd = read_fd,
        .write_fd = write_fd,
        .max_message_bytes = UPSTREAM_MESSAGE_BYTES,
        .max_queue_bytes = DUPLEX_QUEUE_BYTES,
        .on_message = on_message,
        .on_end = on_end,
        .ctx = lines,
    };
    lines->noise = (duplex_noise){.count = 0};
    return lines->streams->open(lines->server.host, &options, &lines->stream) == PATCHBAY_OK;
}

void lines_describe_end(line_server *lines, patchbay_str reason, char *ret_text, size_t size)
{
    static const char TOO_LARGE[] = "a message is larger than"; /* the hub's words */
    lines->is_too_large = reason.len >= sizeof TOO_LARGE - 1 &&
                          memcmp(reason.ptr, TOO_LARGE, sizeof TOO_LARGE - 1) == 0;
    (void)snprintf(ret_text, size, "cannot be read: %.*s%s", (int)reason.len, reason.ptr,
                   lines->is_too_large ? " (limits.upstream_message)" : "");
}

int32_t lines_send(mcp_server *server, const upstream_outgoing *message)
{
    const line_server *lines = lines_of(server);
    return lines->streams->send(lines->stream, message->parts, message->part_count);
}
