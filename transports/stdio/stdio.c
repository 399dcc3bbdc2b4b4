/* SPDX-License-Identifier: Apache-2.0 */
#include "stdio/stdio.h"

#include "stream_client/stream_client.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int move_fd(int fd, int replacement)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (moved >= 0 && dup2(replacement, fd) < 0) {
        (void)close(moved);
        return -1;
    }
    return moved;
}

hub_err hub_stdio_claim(hub_stdio_fds *ret_fds, hub_error *reterr)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "cannot open /dev/null: %s", strerror(errno));
    }
    ret_fds->in = move_fd(STDIN_FILENO, null);
    ret_fds->out = move_fd(STDOUT_FILENO, STDERR_FILENO);
    (void)close(null);
    if (ret_fds->in < 0 || ret_fds->out < 0) {
        return hub_fail(reterr, HUB_ESYSTEM, "stdin or stdout cannot be used: %s", strerror(errno));
    }
    return HUB_OK;
}

hub_err hub_stdio_open(struct ev_loop *loop, hub_orchestrator *hub,
                       const hub_stdio_options *options, hub_stdio **ret_stdio, hub_error *reterr)
{
    const hub_stream_client_options client = {
        .read_fd = options->fds.in,
        .write_fd = options->fds.out,
        .keep_fds_open = true,
        .profile = options->profile,
        .transport = "stdio",
        .identity = &HUB_IDENTITY_LOCAL,
        .max_message_bytes = options->max_message_bytes,
        .max_queue_bytes = options->max_queue_bytes,
        .budget = options->budget,
        .on_end = options->on_end,
        .ctx = options->ctx,
    };
    return hub_stream_client_open(loop, hub, &client, ret_stdio, reterr);
}

bool hub_stdio_is_busy(const hub_stdio *stdio)
{
    return stdio != NULL && hub_stream_client_is_busy(stdio);
}

void hub_stdio_abort(hub_stdio *stdio)
{
    if (stdio != NULL) {
        hub_stream_client_abort(stdio);
    }
}

void hub_stdio_close(hub_stdio *stdio, unsigned drain_ms)
{
    if (stdio != NULL) {
        (void)hub_stream_client_drain(stdio, drain_ms); /* what is left is lost */
        hub_stream_client_close(stdio);
    }
}
