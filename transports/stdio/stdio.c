/* SPDX-License-Identifier: Apache-2.0 */
#include "stdio/stdio.h"

#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { STDIO_PAUSE_BYTES = 8 * 1024 * 1024 };

struct hub_stdio {
    hub_port port; /* first: a port is its transport */
    struct ev_loop *loop;
    hub_stdio_options options;
    hub_stream *stream;
    hub_session *session;
    ev_timer overflow; /* ends a client that does not read, from the loop */
};

static hub_err send_message(hub_port *port, const hub_outgoing *message)
{
    hub_stdio *stdio = (hub_stdio *)port;
    hub_err err = hub_stream_send(stdio->stream, message->parts, message->count);
    if (err == HUB_ELIMIT && !ev_is_active(&stdio->overflow)) {
        ev_timer_start(stdio->loop, &stdio->overflow);
    }
    return err;
}

static const hub_port_ops PORT = {.send = send_message};

static void on_message(void *ctx, hub_str bytes)
{
    hub_stdio *stdio = ctx;
    hub_session_receive(stdio->session, &stdio->port, bytes);
}

static void on_oversize(void *ctx)
{
    hub_stdio *stdio = ctx;
    hub_session_refuse_oversize(stdio->session, &stdio->port, stdio->options.max_message_bytes);
}

static void on_end(void *ctx, hub_str reason)
{
    const hub_stdio *stdio = ctx;
    stdio->options.on_end(stdio->options.ctx, reason);
}

static void on_overflow(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    const hub_stdio *stdio = timer->data;
    stdio->options.on_end(stdio->options.ctx, HUB_STR("the client does not read its answers"));
}

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
    hub_stdio *stdio = calloc(1, sizeof *stdio);
    if (stdio == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    stdio->port.ops = &PORT;
    stdio->loop = loop;
    stdio->options = *options;
    ev_timer_init(&stdio->overflow, on_overflow, 0., 0.);
    stdio->overflow.data = stdio;
    hub_session_options session = {.profile = options->profile,
                                   .transport = "stdio",
                                   .principal = "local",
                                   .port = &stdio->port};
    hub_err err = hub_session_create(hub, &session, &stdio->session, reterr);
    if (err != HUB_OK) {
        free(stdio);
        return err;
    }
    hub_stream_options stream = {
        .read_fd = options->fds.in,
        .write_fd = options->fds.out,
        .keep_fds_open = true,
        .detect_framing = true,
        .max_message_bytes = options->max_message_bytes,
        .max_queue_bytes = options->max_queue_bytes,
        .pause_above_bytes = STDIO_PAUSE_BYTES,
        .on_message = on_message,
        .on_oversize = on_oversize,
        .on_end = on_end,
        .ctx = stdio,
    };
    err = hub_stream_open(loop, &stream, &stdio->stream);
    if (err != HUB_OK) {
        hub_session_close(stdio->session);
        free(stdio);
        return hub_fail(reterr, err, "stdin or stdout cannot be used: %s", hub_err_text(err));
    }
    *ret_stdio = stdio;
    return HUB_OK;
}

void hub_stdio_close(hub_stdio *stdio, unsigned drain_ms)
{
    if (stdio == NULL) {
        return;
    }
    ev_timer_stop(stdio->loop, &stdio->overflow);
    hub_stream_drain(stdio->stream, drain_ms);
    hub_session_close(stdio->session);
    hub_stream_close(stdio->stream);
    free(stdio);
}
