/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/limits.h"
#include "stdio/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    DRAIN_MS = 500,  /* for the last words to a client that still reads */
    CLOSE_MS = 4500, /* for toolsets and children to end */
};

/* A hub that serves, from start to end. */
typedef struct cli_server {
    struct ev_loop *loop;
    hub_config *config;
    hub_orchestrator *hub;
    hub_stdio *stdio;
    ev_signal on_term;
    ev_signal on_int;
    ev_io on_parent;
    int parent_fd;
    unsigned signals;
    bool stopping;
} cli_server;

static void stop(cli_server *server, hub_str reason)
{
    if (!server->stopping) {
        server->stopping = true;
        hub_log(HUB_LOG_INFO, "hub.stopping", HUB_F_STR("reason", reason));
    }
    ev_break(server->loop, EVBREAK_ALL);
}

/* The first signal stops the hub, also one that arrives while it stops because its client left. A
 * second one is impatience: from the next on, signals do what they do to any process. */
static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    (void)events;
    cli_server *server = watcher->data;
    if (++server->signals > 1) {
        ev_signal_stop(loop, &server->on_term);
        ev_signal_stop(loop, &server->on_int);
    }
    stop(server, HUB_STR("signal"));
}

static void on_client_end(void *ctx, hub_str reason)
{
    stop(ctx, reason);
}

static void on_parent_exit(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    stop(watcher->data, HUB_STR("the parent process has ended"));
}

/* Somebody else may hold the other end of our stdin: do not outlive the process that started us. */
static void watch_parent(cli_server *server)
{
    server->parent_fd = (int)syscall(SYS_pidfd_open, getppid(), 0);
    if (server->parent_fd < 0 || getppid() == 1) {
        return; /* an old kernel, or nobody to outlive */
    }
    (void)fcntl(server->parent_fd, F_SETFD, FD_CLOEXEC);
    ev_io_init(&server->on_parent, on_parent_exit, server->parent_fd, EV_READ);
    server->on_parent.data = server;
    ev_io_start(server->loop, &server->on_parent);
}

static void watch_signals(cli_server *server)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    ev_signal_init(&server->on_term, on_signal, SIGTERM);
    ev_signal_init(&server->on_int, on_signal, SIGINT);
    server->on_term.data = server;
    server->on_int.data = server;
    ev_signal_start(server->loop, &server->on_term);
    ev_signal_start(server->loop, &server->on_int);
}

static int open_hub(cli_server *server, const cli_options *options, hub_stdio_fds fds)
{
    const hub_settings *settings = &server->config->settings;
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_orchestrator_create(server->loop, settings, &server->hub, &why);
    if (err == HUB_OK) {
        err = hub_orchestrator_start(server->hub, &why);
    }
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    hub_stdio_options stdio = {
        .fds = fds,
        .profile = options->profile,
        .max_message_bytes = settings->limits.client_message_bytes,
        .max_queue_bytes = settings->limits.client_queue_bytes,
        .on_end = on_client_end,
        .ctx = server,
    };
    err = hub_stdio_open(server->loop, server->hub, &stdio, &server->stdio, &why);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOTFOUND ? EXIT_CONFIG : EXIT_LISTEN; /* no such profile */
    }
    return EXIT_OK;
}

static void close_hub(cli_server *server)
{
    ev_io_stop(server->loop, &server->on_parent);
    if (server->hub != NULL) {
        hub_orchestrator_stop(server->hub);
    }
    hub_stdio_close(server->stdio, DRAIN_MS);
    if (!hub_orchestrator_destroy(server->hub, CLOSE_MS)) {
        hub_log(HUB_LOG_WARNING, "hub.left_running", HUB_F_TEXT("what", "a plugin's thread"));
        _exit(EXIT_OK); /* nothing may be freed under it */
    }
    (void)signal(SIGTERM, SIG_IGN); /* nothing is left but to leave */
    (void)signal(SIGINT, SIG_IGN);
    ev_loop_destroy(server->loop);
    if (server->parent_fd >= 0) {
        (void)close(server->parent_fd);
    }
    hub_config_destroy(server->config);
}

int cli_serve(cli_options *options)
{
    cli_server server = {.parent_fd = -1};
    hub_stdio_fds fds;
    hub_error why = {.code = HUB_OK};
    int status = cli_load_config(options, false, &server.config);
    if (status != EXIT_OK) {
        return status;
    }
    if (hub_stdio_claim(&fds, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        hub_config_destroy(server.config);
        return EXIT_LISTEN;
    }
    server.loop = ev_loop_new(EVFLAG_AUTO);
    if (server.loop == NULL) {
        cli_complain("no event loop can be had");
        hub_config_destroy(server.config);
        return EXIT_INTERNAL;
    }
    watch_signals(&server);
    watch_parent(&server);
    status = open_hub(&server, options, fds);
    if (status == EXIT_OK) {
        ev_run(server.loop, 0);
    }
    close_hub(&server);
    return status;
}
