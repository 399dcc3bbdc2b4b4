/* SPDX-License-Identifier: Apache-2.0 */
#include "unix/unix.h"

#include "base/clock.h"
#include "base/inherited.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/share.h"
#include "stream_client/stream_client.h"
#include "unix/listening.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ACCEPTS_PER_EVENT = 64, /* then others get their turn */
    ACCEPT_PAUSE_MS = 1000, /* when there is no descriptor left; less when a client leaves */
    DRAIN_SLICE_MS = 10,    /* one client's turn while the last words are written */
    PRINCIPAL_BYTES = 32,   /* "uid:4294967295" */
    RESERVED_FDS = 16,      /* for the hub itself */
};

typedef struct unix_client {
    struct hub_unix_server *server;
    hub_stream_client *stream;
    hub_share *share; /* of its user's connections */
    struct unix_client *next;
    struct unix_client *prev;
} unix_client;

struct hub_unix_server {
    struct ev_loop *loop;
    hub_orchestrator *hub;
    const hub_settings *settings;
    const hub_listen_settings *listen;
    int fd; /* -1: stopped */
    hub_unix_file file;
    ev_io acceptor;
    ev_timer pause; /* active while no connection can be accepted */
    unix_client *clients;
    hub_pool users;  /* connections of each; its limit is that of the settings, … */
    size_t most_fds; /* … and no more than leaves descriptors to the others */
    hub_budget *budget;
    bool told_full;  /* the log knows that connections are refused, */
    bool told_pause; /* … that they have to wait */
};

/* ---- clients --------------------------------------------------------------------------------- */

static void resume(hub_unix_server *server)
{
    if (ev_is_active(&server->pause)) {
        ev_timer_stop(server->loop, &server->pause);
        ev_io_start(server->loop, &server->acceptor);
    }
}

static void close_client(unix_client *client)
{
    hub_unix_server *server = client->server;
    if (client->prev != NULL) {
        client->prev->next = client->next;
    } else {
        server->clients = client->next;
    }
    if (client->next != NULL) {
        client->next->prev = client->prev;
    }
    hub_share_give(client->share, 1);
    server->told_full = false;
    hub_stream_client_close(client->stream);
    free(client);
    resume(server); /* there is a descriptor again */
}

static void on_client_end(void *ctx, hub_str reason)
{
    hub_log(HUB_LOG_DEBUG, "unix.closed", HUB_F_STR("reason", reason));
    close_client(ctx);
}

/* Who is at the other end, as the kernel says. */
static void name_peer(int fd, char *ret_name, size_t room)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0) {
        (void)snprintf(ret_name, room, "uid:%lu", (unsigned long)peer.uid);
    } else {
        (void)snprintf(ret_name, room, "uid:unknown");
    }
}

/* Say why, in the one line that fits into any socket's buffer, and hang up. */
static void refuse(int fd, const char *why)
{
    char line[256];
    int len = snprintf(line, sizeof line,
                       "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":%d,\"message\":"
                       "\"%s\"}}\n",
                       HUB_RPC_OVERLOADED, why);
    (void)send(fd, line, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL); /* a courtesy */
    (void)close(fd);
}

/* Room for one more of that user. */
static hub_err take_share(hub_unix_server *server, const char *principal, hub_share **ret_share)
{
    size_t most = server->settings->limits.net.connections;
    server->users.most = most < server->most_fds ? most : server->most_fds;
    return hub_pool_take(&server->users, hub_str_of(principal), 1, ret_share);
}

static void refuse_share(hub_unix_server *server, int fd, hub_err err, const char *principal)
{
    char text[160];
    if (err != HUB_ELIMIT) {
        refuse(fd, "out of memory: try again later");
        return;
    }
    if (!server->told_full) {
        server->told_full = true;
        hub_log(HUB_LOG_WARNING, "unix.full", HUB_F_TEXT("principal", principal),
                HUB_F_INT("connections", server->users.used));
    }
    (void)snprintf(text, sizeof text,
                   "%s has as many connections as it may have (limits.connections): try again "
                   "later",
                   principal);
    refuse(fd, text);
}

static void take_client(hub_unix_server *server, int fd)
{
    char principal[PRINCIPAL_BYTES];
    hub_error why = {.code = HUB_OK};
    hub_share *share;
    name_peer(fd, principal, sizeof principal);
    hub_err err = take_share(server, principal, &share);
    if (err != HUB_OK) {
        refuse_share(server, fd, err, principal);
        return;
    }
    unix_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        hub_share_give(share, 1);
        refuse(fd, "out of memory: try again later");
        return;
    }
    client->server = server;
    client->share = share;
    const hub_stream_client_options options = {
        .read_fd = fd,
        .write_fd = fd,
        .answers_after_end = true,
        .profile = server->listen->profile,
        .transport = "unix",
        .principal = principal,
        .max_message_bytes = server->settings->limits.client_message_bytes,
        .max_queue_bytes = server->settings->limits.client_queue_bytes,
        .budget = server->budget,
        .on_end = on_client_end,
        .ctx = client,
    };
    if (hub_stream_client_open(server->loop, server->hub, &options, &client->stream, &why) !=
        HUB_OK) {
        hub_log(HUB_LOG_WARNING, "unix.refused", HUB_F_TEXT("reason", why.text));
        hub_share_give(share, 1);
        free(client);
        return;
    }
    client->next = server->clients;
    if (client->next != NULL) {
        client->next->prev = client;
    }
    server->clients = client;
    hub_log(HUB_LOG_DEBUG, "unix.connected", HUB_F_TEXT("principal", principal));
}

/* ---- accepting ------------------------------------------------------------------------------- */

/* Nothing can be accepted for now: look again later instead of at once and for ever. */
static void wait_for_descriptors(hub_unix_server *server, int failure)
{
    if (!server->told_pause) {
        server->told_pause = true;
        hub_log(HUB_LOG_WARNING, "unix.paused", HUB_F_TEXT("reason", strerror(failure)));
    }
    ev_io_stop(server->loop, &server->acceptor);
    ev_timer_again(server->loop, &server->pause);
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    resume(timer->data);
}

static void on_connection(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    hub_unix_server *server = watcher->data;
    for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
        int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            server->told_pause = false;
            take_client(server, fd);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            wait_for_descriptors(server, errno);
            return;
        }
    }
}

/* ---- opening and closing --------------------------------------------------------------------- */

static hub_err send_nothing(hub_port *port, const hub_outgoing *message)
{
    (void)port;
    (void)message;
    return HUB_ESTATE;
}

/* How many descriptors one user may have while nobody else has any: half, as of a share (base/share.h). */
static size_t half_of_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > SIZE_MAX / 2) {
        return SIZE_MAX / 2;
    }
    return limit.rlim_cur > RESERVED_FDS + 2 ? (limit.rlim_cur - RESERVED_FDS) / 2 : 1;
}

/* Whether clients will find their profile: better known now than with the first of them. */
static hub_err try_profile(hub_orchestrator *hub, const char *profile, hub_error *reterr)
{
    static const hub_port_ops ops = {.send = send_nothing};
    hub_port port = {.ops = &ops};
    hub_session *session;
    const hub_session_options options = {
        .profile = profile, .transport = "unix", .principal = "nobody", .port = &port};
    hub_err err = hub_session_create(hub, &options, &session, reterr);
    if (err == HUB_OK) {
        hub_session_close(session);
    }
    return err;
}

hub_err hub_unix_server_open(struct ev_loop *loop, hub_orchestrator *hub,
                             const hub_settings *settings, const hub_listen_settings *listen,
                             hub_unix_server **ret_server, hub_error *reterr)
{
    hub_err err = try_profile(hub, listen->profile, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "%s", listen->address);
        return err;
    }
    hub_unix_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", listen->address);
    }
    server->fd = listen->activation != NULL ? hub_inherited_copy(listen->activation, 0) : -1;
    if (server->fd < 0) {
        err = hub_unix_listen(listen->address, listen->mode, listen->group, &server->fd,
                              &server->file, reterr);
    } else if (!hub_unix_is_bound_to(server->fd, listen->address)) {
        (void)close(server->fd);
        err =
            hub_fail(reterr, HUB_EINVAL,
                     "%s: the socket \"%s\" of systemd listens elsewhere: write its ListenStream= "
                     "here",
                     listen->address, listen->activation);
    }
    if (err != HUB_OK) {
        free(server);
        return err;
    }
    server->loop = loop;
    server->hub = hub;
    server->settings = hub_settings_ref(settings);
    server->listen = listen;
    server->most_fds = half_of_descriptors();
    ev_io_init(&server->acceptor, on_connection, server->fd, EV_READ);
    ev_timer_init(&server->pause, on_pause_over, 0., ACCEPT_PAUSE_MS / 1000.);
    server->acceptor.data = server;
    server->pause.data = server;
    ev_io_start(loop, &server->acceptor);
    *ret_server = server;
    return HUB_OK;
}

void hub_unix_server_set_budget(hub_unix_server *server, hub_budget *budget)
{
    server->budget = budget;
}

void hub_unix_server_reload(hub_unix_server *server, const hub_settings *settings,
                            const hub_listen_settings *listen)
{
    const hub_settings *old = server->settings;
    server->settings = hub_settings_ref(settings);
    server->listen = listen;
    hub_settings_unref(old);
}

size_t hub_unix_server_busy(const hub_unix_server *server)
{
    size_t busy = 0;
    for (const unix_client *client = server->clients; client != NULL; client = client->next) {
        busy += hub_stream_client_is_busy(client->stream);
    }
    return busy;
}

void hub_unix_server_stop(hub_unix_server *server)
{
    if (server->fd < 0) {
        return;
    }
    ev_io_stop(server->loop, &server->acceptor);
    ev_timer_stop(server->loop, &server->pause);
    /* First the file, while the open socket keeps its inode number from being given away. */
    hub_unix_remove(server->listen->address, &server->file);
    (void)close(server->fd);
    server->fd = -1;
}

/* Write what waits for everybody, each in turn: one who does not read must not use up the time of
 * the others. */
static void drain(hub_unix_server *server, unsigned drain_ms)
{
    uint64_t deadline = hub_clock_now_ms() + drain_ms;
    unsigned slice = 0; /* the first round takes what can be had without waiting */
    bool waits = true;
    while (waits) {
        waits = false;
        for (unix_client *client = server->clients; client != NULL; client = client->next) {
            uint64_t now = hub_clock_now_ms();
            uint64_t left = now < deadline ? deadline - now : 0;
            unsigned turn = left < slice ? (unsigned)left : slice;
            waits = !hub_stream_client_drain(client->stream, turn) || waits;
        }
        waits = waits && hub_clock_now_ms() < deadline;
        slice = DRAIN_SLICE_MS;
    }
}

void hub_unix_server_close(hub_unix_server *server, unsigned drain_ms)
{
    if (server == NULL) {
        return;
    }
    hub_unix_server_stop(server);
    drain(server, drain_ms);
    while (server->clients != NULL) {
        close_client(server->clients);
    }
    hub_settings_unref(server->settings);
    free(server);
}
