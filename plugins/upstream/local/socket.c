/* SPDX-License-Identifier: Apache-2.0 */
#include "pipes.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What a failed connect() means to whoever has to mend it. */
static const char *meaning_of(int error)
{
    switch (error) {
    case ENOENT:
        return "there is no such socket: is the server running?";
    case ECONNREFUSED:
        return "nobody listens there: is the server running?";
    case EACCES:
        return "the hub's user may not use the socket";
    case EAGAIN:
        return "too many connections wait for the server to accept them";
    case EPROTOTYPE:
        return "it is not a stream socket";
    default:
        return strerror(error);
    }
}

/* Connecting to a Unix socket is done at once or not at all: EAGAIN, when the queue of the listener
 * is full, is the only way of not waiting (unix(7)).
 * returns: the descriptor, or -1 with errno set */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path)); /* config.c has measured it */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static void on_end(void *ctx, patchbay_str reason)
{
    line_server *lines = ctx;
    if (duplex_retry_as_legacy(&lines->server)) {
        return;
    }
    if (patchbay_str_eq(reason, patchbay_str_of("end of file"))) {
        upstream_fail(&lines->server, "closed the connection");
    } else {
        char text[192];
        lines_describe_end(lines, reason, text, sizeof text);
        upstream_fail_as(&lines->server, text,
                         lines->is_too_large ? upstream_cause_of_size(&lines->server)
                                             : CAUSE_FAILURE);
    }
}

static int open_socket(mcp_server *server)
{
    line_server *lines = lines_of(server);
    int fd = connect_to(lines->config.path);
    if (fd < 0) {
        char text[192];
        int is_config = errno == EACCES || errno == EPROTOTYPE;
        (void)snprintf(text, sizeof text, "cannot be reached: %s", meaning_of(errno));
        upstream_fail_as(server, text, is_config ? CAUSE_CONFIG : CAUSE_FAILURE);
        return 0;
    }
    if (!lines_open(lines, fd, fd, on_end)) {
        upstream_fail(server, "cannot be reached: out of memory");
        return 0;
    }
    return 1;
}

static void close_socket(mcp_server *server)
{
    line_server *lines = lines_of(server);
    duplex_forget_guess(server);
    lines->is_too_large = 0;
    lines->streams->close(lines->stream);
    lines->stream = NULL;
}

const upstream_channel upstream_socket = {
    .open = open_socket,
    .send = lines_send,
    .cancel = duplex_cancel,
    .close = close_socket,
};
