/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the Unix socket transport: a whole hub that listens, and clients as sockets. */
#ifndef TESTS_UNIT_UNIX_SUPPORT_H
#define TESTS_UNIT_UNIX_SUPPORT_H

#include "hub_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "stream_client/stream_client.h"
#include "unix/unix.h"

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}\n"
#define HELLO                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"method\":\"initialize\",\"params\":{"                 \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"                                      \
    "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}\n"                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define CALL(id)                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\","                                \
    "\"params\":{\"name\":\"t__do\",\"arguments\":{}}}\n"

typedef struct server {
    hub_fixture f;
    hub_listen_settings listen;
    hub_unix_server *unix_server;
    puppet master;
    patchbay_call calls[8]; /* that the puppet keeps until a test finishes them */
    puppet_instance *instance;
    size_t call_count;
    char folder[64];
    char path[96];
} server;

static server s;

static inline void keep_call(puppet_instance *instance, patchbay_call call,
                             const patchbay_request *request)
{
    (void)request;
    assert_true(s.call_count < 8);
    s.instance = instance;
    s.calls[s.call_count++] = call;
}

static inline void prepare(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    memset(&s, 0, sizeof s);
    fixture_init(&s.f);
    (void)snprintf(s.folder, sizeof s.folder, "/tmp/patchbay-unix-XXXXXX");
    assert_non_null(mkdtemp(s.folder));
    (void)snprintf(s.path, sizeof s.path, "%s/hub.sock", s.folder);
    s.listen = (hub_listen_settings){
        .kind = HUB_LISTEN_UNIX, .address = s.path, .mode = 0600, .source = "test:1"};
    s.f.settings.limits.net.connections = HUB_LIMIT_CONNECTIONS;
    s.master = (puppet){.tools = "[" TOOL("do") "]", .on_call = keep_call};
    fixture_toolset(&s.f, "t", &s.master, false);
}

static inline void open_server(void)
{
    hub_error why = {.code = HUB_OK};
    fixture_start(&s.f);
    if (hub_unix_server_open(s.f.loop, s.f.hub, &s.f.settings, &s.listen, &s.unix_server, &why) !=
        HUB_OK) {
        fail_msg("%s", why.text);
    }
}

static inline void serve(void)
{
    prepare();
    open_server();
}

static inline void finish(void)
{
    hub_unix_server_close(s.unix_server, 0);
    assert_int_equal(access(s.path, F_OK), -1);
    assert_int_equal(rmdir(s.folder), 0);
    fixture_stop(&s.f);
}

/* ---- a peer ---------------------------------------------------------------------------------- */

typedef struct peer {
    int fd;
    bool ended;
    hub_buf got;
    const char *wants; /* a text that is waited for */
} peer;

static inline peer peer_open(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, s.path, strlen(s.path));
    peer p = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    assert_true(p.fd >= 0);
    assert_int_equal(connect(p.fd, (struct sockaddr *)&address, sizeof address), 0);
    hub_buf_init(&p.got, SIZE_MAX / 2);
    return p;
}

static inline void peer_close(peer *p)
{
    assert_int_equal(close(p->fd), 0);
    hub_buf_fini(&p->got);
}

static inline void peer_says(const peer *p, const char *text)
{
    assert_int_equal(write(p->fd, text, strlen(text)), strlen(text));
}

static inline void peer_reads(peer *p)
{
    char bytes[65536];
    for (;;) {
        ssize_t count = read(p->fd, bytes, sizeof bytes);
        if (count <= 0) {
            p->ended = p->ended || count == 0 || errno != EAGAIN;
            return;
        }
        hub_buf_add(&p->got, (hub_str){.ptr = bytes, .len = (size_t)count});
    }
}

static inline bool has_text(void *ctx)
{
    peer *p = ctx;
    peer_reads(p);
    if (p->ended && hub_str_find(hub_buf_str(&p->got), hub_str_of(p->wants)) == SIZE_MAX) {
        fail_msg("the connection ended without %s", p->wants);
    }
    return hub_str_find(hub_buf_str(&p->got), hub_str_of(p->wants)) != SIZE_MAX;
}

static inline void do_nothing(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)watcher;
    (void)events;
}

/* Run the loop until the condition holds, which what the peer gets may bring about. */
static inline void peer_runs_until(peer *p, fixture_condition *condition)
{
    ev_io arrivals; /* the loop is to wake up for them */
    ev_io_init(&arrivals, do_nothing, p->fd, EV_READ);
    ev_io_start(s.f.loop, &arrivals);
    fixture_run_until(&s.f, condition, p);
    ev_io_stop(s.f.loop, &arrivals);
}

static inline void peer_waits(peer *p, const char *text)
{
    p->wants = text;
    peer_runs_until(p, has_text);
}

static inline bool has_ended(void *ctx)
{
    peer *p = ctx;
    peer_reads(p);
    return p->ended;
}

static inline bool got(const peer *p, const char *text)
{
    return hub_str_find(hub_buf_str(&p->got), hub_str_of(text)) != SIZE_MAX;
}

static inline bool has_calls(void *ctx)
{
    return s.call_count >= *(const size_t *)ctx;
}

static inline void wait_for_calls(size_t count)
{
    fixture_run_until(&s.f, has_calls, &count);
}

static inline bool is_cancelled(void *ctx)
{
    (void)ctx;
    return s.master.cancels > 0;
}

#endif
