/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hub_net on a loop of its own, whose links do what the test wants, and clients that are plain
 * sockets of the same process: while a client waits, the loop runs. Bytes have a pattern, so that
 * what is lost, repeated or swapped is seen.
 */
#ifndef PATCHBAY_TESTS_NET_FIXTURE_H
#define PATCHBAY_TESTS_NET_FIXTURE_H

#include "net/net.h"

#include "base/log.h"
#include "base/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { NET_QUEUE_BYTES = 1024 * 1024, NET_WATCHDOG_S = 60, NET_MAX_LINKS = 64 };

typedef struct net_fixture net_fixture;

/* A link as its owner sees it. */
typedef struct net_owner {
    net_fixture *fixture;
    hub_link *link; /* NULL once it has ended */
    size_t received;
    unsigned drained;
    unsigned ended;
    hub_err write_err; /* of the last echo */
} net_owner;

struct net_fixture {
    struct ev_loop *loop;
    hub_net *net;
    hub_listener *listener;
    hub_net_limits limits;
    net_owner owners[NET_MAX_LINKS]; /* in the order of acceptance */
    size_t opened;
    size_t ended;
    bool echoes;
    void (*on_link)(net_owner *owner); /* NULL: nothing more */
    void (*on_bytes)(net_owner *owner, hub_str bytes);
    hub_net_tick tick;
    unsigned ticks;
    ev_timer watchdog;
    char log[4096];
    size_t log_len;
};

/* Let the loop go on until something is so. */
#define RUN_UNTIL(f, condition)                                                                    \
    do {                                                                                           \
        while (!(condition)) {                                                                     \
            ev_run((f)->loop, EVRUN_ONCE);                                                         \
        }                                                                                          \
    } while (0)

static inline char net_pattern(size_t at)
{
    return (char)(at * 31 + at / 251);
}

static inline void net_fill(char *bytes, size_t len, size_t from)
{
    for (size_t i = 0; i < len; i++) {
        bytes[i] = net_pattern(from + i);
    }
}

static inline bool net_is_pattern(const char *bytes, size_t len, size_t from)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != net_pattern(from + i)) {
            return false;
        }
    }
    return true;
}

static inline void net_owner_bytes(void *arg, hub_str bytes)
{
    net_owner *owner = arg;
    assert_true(net_is_pattern(bytes.ptr, bytes.len, owner->received));
    owner->received += bytes.len;
    if (owner->fixture->echoes) {
        owner->write_err = hub_link_write(owner->link, &bytes, 1);
    }
    if (owner->fixture->on_bytes != NULL) {
        owner->fixture->on_bytes(owner, bytes);
    }
}

static inline void net_owner_drained(void *arg)
{
    net_owner *owner = arg;
    owner->drained++;
}

static inline void net_owner_end(void *arg)
{
    net_owner *owner = arg;
    owner->ended++;
    owner->link = NULL;
    owner->fixture->ended++;
}

static inline void net_accept(void *ctx, hub_link *link)
{
    static const hub_link_events EVENTS = {net_owner_bytes, net_owner_drained, net_owner_end};
    net_fixture *f = ctx;
    assert_true(f->opened < NET_MAX_LINKS);
    net_owner *owner = &f->owners[f->opened++];
    owner->fixture = f;
    owner->link = link;
    hub_link_set_owner(link, &EVENTS, owner);
    if (f->on_link != NULL) {
        f->on_link(owner);
    }
}

static inline void net_on_watchdog(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("nothing happened for %d s", NET_WATCHDOG_S);
}

static inline void net_on_tick(hub_net_tick *tick, uint64_t now_ms)
{
    (void)now_ms;
    net_fixture *f = (net_fixture *)((char *)tick - offsetof(net_fixture, tick));
    f->ticks++;
}

static inline void net_on_log(void *ctx, hub_str line)
{
    net_fixture *f = ctx;
    size_t room = sizeof f->log - 1 - f->log_len;
    size_t len = line.len < room ? line.len : room;
    memcpy(f->log + f->log_len, line.ptr, len);
    f->log_len += len;
}

/* How often the log says so. */
static inline unsigned net_logged(const net_fixture *f, const char *text)
{
    unsigned count = 0;
    for (const char *at = f->log; (at = strstr(at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

static inline hub_listener *net_listen(net_fixture *f, const hub_listen_settings *settings)
{
    hub_listener *listener = NULL;
    hub_error why;
    if (hub_net_listen(f->net, settings, net_accept, f, &listener, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    return listener;
}

/* What is said when one cannot listen there; the text lasts until the next call. */
static inline const char *net_cannot_listen(net_fixture *f, const hub_listen_settings *settings,
                                            hub_err code)
{
    static hub_error why;
    hub_listener *listener = NULL;
    assert_int_equal(hub_net_listen(f->net, settings, net_accept, f, &listener, &why), code);
    assert_null(listener);
    return why.text;
}

static inline void net_fixture_start(net_fixture *f)
{
    hub_error why;
    if (hub_net_create(f->loop, &f->limits, NET_QUEUE_BYTES, &f->net, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    f->tick.on_tick = net_on_tick;
    hub_net_add_tick(f->net, &f->tick);
}

/* Without a listener. */
static inline int net_setup(void **state)
{
    net_fixture *f = calloc(1, sizeof *f);
    f->loop = hub_loop_new();
    f->echoes = true;
    f->limits = (hub_net_limits){
        .connections = 8, .connections_per_address = 5, .stall_ms = 300, .header_ms = 1000};
    hub_log_capture(net_on_log, f);
    net_fixture_start(f);
    ev_timer_init(&f->watchdog, net_on_watchdog, NET_WATCHDOG_S, 0.);
    ev_timer_start(f->loop, &f->watchdog);
    *state = f;
    return 0;
}

static inline int net_setup_loopback(void **state)
{
    (void)net_setup(state);
    net_fixture *f = *state;
    f->listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    return 0;
}

static inline int net_teardown(void **state)
{
    net_fixture *f = *state;
    hub_net_destroy(f->net);
    assert_int_equal(f->opened, f->ended); /* each once, also those that were open */
    ev_timer_stop(f->loop, &f->watchdog);
    hub_loop_destroy(f->loop);
    hub_log_capture(NULL, NULL);
    free(f);
    return 0;
}

/* ---- clients --------------------------------------------------------------------------------- */

/* Connect to a literal address; -1: errno says why not. */
static inline int net_try_dial(const char *address, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
    if (!is_v4) {
        assert_int_equal(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
    }
    int fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr *to = is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6;
    if (fd >= 0 && connect(fd, to, is_v4 ? sizeof v4 : sizeof v6) != 0) {
        int error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static inline int net_dial(const net_fixture *f)
{
    int fd = net_try_dial("127.0.0.1", hub_listener_port(f->listener));
    assert_true(fd >= 0);
    return fd;
}

/* Connect, and wait for the link. */
static inline int net_open(net_fixture *f, net_owner **ret_owner)
{
    size_t opened = f->opened;
    int fd = net_dial(f);
    RUN_UNTIL(f, f->opened > opened);
    *ret_owner = &f->owners[opened];
    return fd;
}

/* Write the pattern from `from` on, and let the loop run when it must. */
static inline void net_send(const net_fixture *f, int fd, size_t len, size_t from)
{
    static char block[16384];
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    for (size_t sent = 0; sent < len;) {
        size_t step = len - sent < sizeof block ? len - sent : sizeof block;
        net_fill(block, step, from + sent);
        ssize_t n = send(fd, block, step, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
            continue;
        }
        assert_true(n < 0 && errno == EAGAIN);
        ev_run(f->loop, EVRUN_NOWAIT);
    }
}

/* Read the pattern from `from` on, until `len` bytes or the end, which a reset is, too. The number
 * of bytes. */
static inline size_t net_receive(const net_fixture *f, int fd, size_t len, size_t from)
{
    static char block[65536];
    size_t total = 0;
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    while (total < len) {
        size_t step = len - total < sizeof block ? len - total : sizeof block;
        ssize_t n = recv(fd, block, step, 0);
        if (n == 0 || (n < 0 && errno == ECONNRESET)) {
            break;
        }
        if (n < 0) {
            assert_int_equal(errno, EAGAIN);
            ev_run(f->loop, EVRUN_NOWAIT);
            continue;
        }
        assert_true(net_is_pattern(block, (size_t)n, from + total));
        total += (size_t)n;
    }
    return total;
}

/* Let `ticks` ticks pass. */
static inline void net_pass_ticks(net_fixture *f, unsigned ticks)
{
    unsigned until = f->ticks + ticks;
    RUN_UNTIL(f, f->ticks >= until);
}

#endif
