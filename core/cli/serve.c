/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/cause.h"
#include "base/clock.h"
#include "base/loop.h"
#include "cli/listeners.h"
#include "cli/logging.h"
#include "cli/reload.h"
#include "cli/service.h"
#include "cli/telemetry.h"
#include "hub/audit/audit.h"
#include "hub/orchestrator/drain.h"
#include "hub/remember/remember.h"
#include "stdio/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LOOK_MS = 100,   /* at sessions that are still to leave */
    WORDS_MS = 500,  /* for the last words to all clients that still read */
    CLOSE_MS = 4300, /* for toolsets and children to end */
    AFTER_MS = 5000, /* all that comes after the calls in flight, and some air */
    BY_SIGNAL = 128, /* plus its number: the exit code after a second signal, as shells have it */
};

/* A hub that serves, from start to end. */
typedef struct cli_server {
    struct ev_loop *loop;
    hub_config *config;
    hub_orchestrator *hub;
    hub_budget budget; /* what all clients together may hold */
    bool serves_stdio;
    hub_stdio_fds fds; /* of the client over stdio */
    hub_stdio *stdio;
    bool stdio_left; /* its client is gone, or whoever started it */
    cli_listeners *listeners;
    cli_reloader *reloader;
    cli_service service;
    cli_logging logging;
    ev_signal on_term;
    ev_signal on_int;
    ev_signal on_hangup; /* reload; or the terminal that the hub was started in is gone */
    ev_io on_parent;
    int parent_fd;
    bool stopping;
    bool ends_with_terminal;
} cli_server;

static void stop(cli_server *server, hub_str reason)
{
    if (!server->stopping) {
        server->stopping = true;
        hub_log(HUB_LOG_INFO, "hub.stopping", HUB_F_STR("reason", reason));
    }
    ev_break(server->loop, EVBREAK_ALL);
}

/* The client's descriptors, which others may have too, and the flags to leave them with. */
static struct {
    int fd;
    int flags;
} lent[2] = {{-1, 0}, {-1, 0}};

/* Calls only what a signal handler may call. The guards of the children end those. */
static void end_at_once(int number)
{
    for (size_t i = 0; i < 2; i++) {
        if (lent[i].fd >= 0) {
            (void)fcntl(lent[i].fd, F_SETFL, lent[i].flags);
        }
    }
    _exit(BY_SIGNAL + number);
}

static void remember_lent(const hub_stdio_fds *fds)
{
    const int both[] = {fds->in, fds->out};
    for (size_t i = 0; i < 2; i++) {
        lent[i].flags = fcntl(both[i], F_GETFL);
        lent[i].fd = lent[i].flags >= 0 ? both[i] : -1;
    }
}

/* The first signal stops the hub, also one that arrives while it stops because its client left. A
 * second one is impatience, and works whatever the loop is doing. */
static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    (void)events;
    cli_server *server = watcher->data;
    ev_signal_stop(loop, &server->on_term);
    ev_signal_stop(loop, &server->on_int);
    (void)signal(SIGTERM, end_at_once);
    (void)signal(SIGINT, end_at_once);
    stop(server, HUB_STR("signal"));
}

/* A terminal that is gone is no terminal. */
static void on_hangup(struct ev_loop *loop, ev_signal *watcher, int events)
{
    cli_server *server = watcher->data;
    if (server->ends_with_terminal && !isatty(STDIN_FILENO)) {
        on_signal(loop, watcher, events);
    } else if (server->reloader != NULL && !server->stopping) {
        cli_reload(server->reloader, HUB_BY_SIGNAL);
    }
}

static void on_client_end(void *ctx, hub_str reason)
{
    cli_server *server = ctx;
    server->stdio_left = true;
    stop(server, reason);
}

static void on_parent_exit(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    cli_server *server = watcher->data;
    server->stdio_left = true;
    ev_io_stop(loop, watcher);
    stop(server, HUB_STR("the parent process has ended"));
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

static void watch_signal(cli_server *server, ev_signal *watcher, int number)
{
    ev_signal_init(watcher, on_signal, number);
    watcher->data = server;
    ev_signal_start(server->loop, watcher);
}

/* SIGHUP means to reload. But whoever types a command expects it to end with his terminal, unless
 * nohup said otherwise; a hub on stdio notices by its client. */
static void watch_signals(cli_server *server)
{
    (void)signal(SIGPIPE, SIG_IGN);
    bool was_ignored = signal(SIGHUP, SIG_IGN) == SIG_IGN;
    watch_signal(server, &server->on_term, SIGTERM);
    watch_signal(server, &server->on_int, SIGINT);
    server->ends_with_terminal = !server->serves_stdio && !was_ignored && isatty(STDIN_FILENO);
    ev_signal_init(&server->on_hangup, on_hangup, SIGHUP);
    server->on_hangup.data = server;
    ev_signal_start(server->loop, &server->on_hangup);
}

static int open_stdio(cli_server *server, const cli_options *options)
{
    const hub_limits *limits = &server->config->settings.limits;
    hub_error why = {.code = HUB_OK};
    hub_stdio_options stdio = {
        .fds = server->fds,
        .profile = options->profile,
        .max_message_bytes = limits->client_message_bytes,
        .max_queue_bytes = limits->client_queue_bytes,
        .budget = &server->budget,
        .on_end = on_client_end,
        .ctx = server,
    };
    hub_err err = hub_stdio_open(server->loop, server->hub, &stdio, &server->stdio, &why);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOTFOUND ? EXIT_CONFIG : EXIT_LISTEN; /* no such profile */
    }
    return EXIT_OK;
}

static int open_hub(cli_server *server, const cli_options *options)
{
    const hub_settings *settings = &server->config->settings;
    hub_error why = {.code = HUB_OK};
    hub_budget_init(&server->budget, settings->limits.client_memory_bytes);
    hub_err err = hub_audit_probe(&settings->audit, &why);
    if (err == HUB_OK) {
        err = cli_logging_begin(&server->logging, server->loop, settings, &why);
    }
    if (err == HUB_OK) {
        err = hub_orchestrator_create(server->loop, settings, &server->hub, &why);
    }
    if (err == HUB_OK) {
        cli_telemetry_begin(server->hub);
        err = hub_orchestrator_start(server->hub, &why);
    }
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    int status = cli_listeners_open(server->loop, server->hub, settings, &server->config->replica,
                                    &server->budget, &server->listeners);
    return status == EXIT_OK && server->serves_stdio ? open_stdio(server, options) : status;
}

static int watch_config(cli_server *server, cli_options *options)
{
    hub_error why = {.code = HUB_OK};
    if (cli_reloader_create(server->loop, options, &server->config, server->hub, server->listeners,
                            &server->reloader, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_INTERNAL;
    }
    return EXIT_OK;
}

static void on_drain_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop; /* that it is no longer active says it all */
    (void)timer;
    (void)events;
}

static bool is_owed(const cli_server *server)
{
    return hub_drain_owed(server->hub) > 0 || cli_listeners_owe(server->listeners) ||
           (!server->stdio_left && hub_stdio_is_busy(server->stdio));
}

static void start_timer(const cli_server *server, ev_timer *timer, unsigned ms)
{
    ev_timer_init(timer, on_drain_end, ms / 1000., 0.);
    ev_now_update(server->loop);
    ev_timer_start(server->loop, timer);
}

/* Where there are other replicas: /readyz fails, and everybody is still served, so that the balancer has time
 * to notice. */
static void leave(const cli_server *server)
{
    ev_timer timer;
    hub_drain_announce(server->hub);
    cli_listeners_leave(server->listeners);
    start_timer(server, &timer, server->config->settings.replicas.leave_ms);
    while (ev_is_active(&timer)) {
        ev_run(server->loop, EVRUN_ONCE);
    }
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop; /* that something has happened says it all */
    (void)timer;
    (void)events;
}

/* Every turn of the loop is an event: a session has left, or has nothing under way any more; and now and then a
 * store that hesitated is asked again. */
static void move_sessions(const cli_server *server, ev_timer *until)
{
    ev_timer look;
    ev_timer_init(&look, on_look, LOOK_MS / 1000., LOOK_MS / 1000.);
    ev_timer_start(server->loop, &look);
    while (cli_listeners_move(server->listeners) > 0 && ev_is_active(until)) {
        ev_run(server->loop, EVRUN_ONCE);
    }
    ev_timer_stop(server->loop, &look);
}

/* Let calls end whose clients still wait for them. Every turn of the loop is an event: a call has
 * ended, a client has left, or time is up. A client that has left before the store was read has all
 * its requests taken first: it may be a pipe that ended. */
static void drain(cli_server *server)
{
    ev_timer timer;
    const hub_settings *settings = &server->config->settings;
    unsigned drain_ms = settings->limits.drain_ms;
    cli_service_stopping(&server->service, settings->replicas.leave_ms + drain_ms + AFTER_MS);
    if (cli_listeners_have_replicas(server->listeners)) {
        leave(server);
    }
    cli_listeners_drain(server->listeners); /* first: what is answered now ends its connection */
    start_timer(server, &timer, drain_ms);
    move_sessions(server, &timer);
    hub_drain_begin(server->hub);
    for (;;) {
        if (server->stdio_left && !hub_remember_holds(server->hub)) {
            hub_stdio_abort(server->stdio);
        }
        if (!is_owed(server) || !ev_is_active(&timer)) {
            break;
        }
        ev_run(server->loop, EVRUN_ONCE);
    }
    ev_timer_stop(server->loop, &timer);
    size_t left = hub_drain_owed(server->hub);
    if (left > 0) {
        hub_log(HUB_LOG_WARNING, "hub.calls_cut_off", HUB_F_INT("calls", left),
                HUB_F_INT("drain_timeout_ms", drain_ms));
    }
    hub_orchestrator_stop(server->hub);
}

static void close_hub(cli_server *server)
{
    bool has_read = cli_reloader_destroy(server->reloader);
    server->reloader = NULL;
    if (server->hub != NULL) {
        drain(server);
    }
    ev_io_stop(server->loop, &server->on_parent);
    uint64_t deadline = hub_clock_now_ms() + WORDS_MS;
    cli_listeners_close(server->listeners, WORDS_MS);
    uint64_t now = hub_clock_now_ms();
    hub_stdio_close(server->stdio, now < deadline ? (unsigned)(deadline - now) : 0);
    if (!hub_orchestrator_destroy(server->hub, CLOSE_MS) || !has_read) {
        hub_log(HUB_LOG_WARNING, "hub.left_running",
                HUB_F_TEXT("what", has_read ? "a plugin's thread" : "a file is still being read"));
        cli_logging_end(&server->logging);
        _exit(EXIT_OK); /* nothing may be freed under it */
    }
    cli_logging_end(&server->logging);
    (void)signal(SIGTERM, SIG_IGN); /* nothing is left but to leave */
    (void)signal(SIGINT, SIG_IGN);
    cli_service_fini(&server->service);
    hub_loop_destroy(server->loop);
    if (server->parent_fd >= 0) {
        (void)close(server->parent_fd);
    }
    hub_config_destroy(server->config);
}

/* What the standard descriptors are taken for, by libraries and by plugins, must not be a client's
 * connection: whoever started the hub may have closed them. */
static int keep_standard_fds(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
            cli_complain("cannot open /dev/null: %s", strerror(errno));
            return EXIT_LISTEN;
        }
    }
    return EXIT_OK;
}

/* What stdin is where nobody will ever write to it; NULL: somebody may. */
static const char *name_dead_stdin(void)
{
    struct stat input;
    struct stat nothing;
    if (isatty(STDIN_FILENO)) {
        return "a terminal";
    }
    bool is_nothing = fstat(STDIN_FILENO, &input) == 0 && S_ISCHR(input.st_mode) &&
                      stat("/dev/null", &nothing) == 0 && input.st_rdev == nothing.st_rdev;
    return is_nothing ? "/dev/null, as services have it" : NULL;
}

/* Decide on stdio: it is served when asked for, or when there is nothing else. */
static int choose_stdio(cli_server *server, const cli_options *options)
{
    bool has_listeners = server->config->settings.listen_count > 0;
    hub_error why = {.code = HUB_OK};
    const char *dead = has_listeners || options->stdio ? NULL : name_dead_stdin();
    if (dead != NULL) {
        cli_complain("no client to serve: stdin is %s, and there is no listener. Add `listen` to "
                     "the manifest, or use --http 8787, or let an MCP client start the hub, or use "
                     "--stdio to type the protocol",
                     dead);
        return EXIT_USAGE;
    }
    server->serves_stdio = options->stdio || !has_listeners;
    if (!server->serves_stdio) {
        return keep_standard_fds();
    }
    if (hub_stdio_claim(&server->fds, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_LISTEN;
    }
    remember_lent(&server->fds);
    return EXIT_OK;
}

static int prepare(cli_server *server, cli_options *options)
{
    int status = cli_load_config(options, false, &server->config);
    if (status == EXIT_OK) {
        status = cli_join_chain(options, NULL);
    }
    if (status == EXIT_OK) {
        status = cli_load_network(server->config);
    }
    if (status == EXIT_OK) {
        status = choose_stdio(server, options);
    }
    if (status != EXIT_OK) {
        return status;
    }
    server->loop = hub_loop_new();
    if (server->loop == NULL) {
        cli_complain("cannot create the event loop: %s", strerror(errno));
        return EXIT_INTERNAL;
    }
    return EXIT_OK;
}

int cli_serve(cli_options *options)
{
    cli_server server = {.parent_fd = -1};
    int status = prepare(&server, options);
    if (status != EXIT_OK) {
        hub_config_destroy(server.config);
        return status;
    }
    (void)hub_cause_set(HUB_BY_START);
    cli_service_init(&server.service, server.loop);
    watch_signals(&server);
    if (server.serves_stdio) {
        watch_parent(&server);
    }
    status = open_hub(&server, options);
    if (status == EXIT_OK) {
        status = watch_config(&server, options);
    }
    if (status == EXIT_OK) {
        cli_service_ready(&server.service);
        (void)hub_cause_set(HUB_BY_HUB);
        ev_run(server.loop, 0);
    }
    close_hub(&server);
    return status;
}
