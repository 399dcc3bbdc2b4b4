/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners and links over real sockets: RELIABILITY rows R01, R03, R06, H-rows on connections. */
#include "net/net.h"

#include "base/limits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { QUEUE_BYTES = 1024 * 1024, WATCHDOG_S = 30 };

/* A hub_net with one listener whose links do what the test wants. */
typedef struct fixture {
    struct ev_loop *loop;
    hub_net *net;
    hub_listener *listener;
    hub_link *link; /* the last accepted */
    unsigned opened;
    unsigned ended;
    unsigned drained;
    size_t received;
    bool echoes;
    hub_err write_err;
    ev_timer watchdog;
} fixture;

static void on_bytes(void *owner, hub_str bytes)
{
    fixture *f = owner;
    f->received += bytes.len;
    if (f->echoes) {
        f->write_err = hub_link_write(f->link, &bytes, 1);
    }
    ev_break(f->loop, EVBREAK_ALL);
}

static void on_drained(void *owner)
{
    fixture *f = owner;
    f->drained++;
    ev_break(f->loop, EVBREAK_ALL);
}

static void on_end(void *owner)
{
    fixture *f = owner;
    f->ended++;
    f->link = NULL;
    ev_break(f->loop, EVBREAK_ALL);
}

static const hub_link_events EVENTS = {on_bytes, on_drained, on_end};

static void on_link(void *ctx, hub_link *link)
{
    fixture *f = ctx;
    f->opened++;
    f->link = link;
    hub_link_set_owner(link, &EVENTS, f);
    ev_break(f->loop, EVBREAK_ALL);
}

static void on_watchdog(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
    fail_msg("nothing happened for %d s", WATCHDOG_S);
}

static const hub_net_limits LIMITS = {
    .connections = 4, .connections_per_address = 3, .stall_ms = 300, .header_ms = 1000};

static void listen_on(fixture *f, const char *address, uint16_t port)
{
    hub_listen_settings settings = {.address = address, .port = port};
    hub_error why;
    if (hub_net_listen(f->net, &settings, on_link, f, &f->listener, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    hub_error why;
    f->loop = ev_loop_new(0);
    f->echoes = true;
    if (hub_net_create(f->loop, &LIMITS, QUEUE_BYTES, &f->net, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    listen_on(f, "127.0.0.1", 0);
    ev_timer_init(&f->watchdog, on_watchdog, WATCHDOG_S, 0.);
    ev_timer_start(f->loop, &f->watchdog);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    hub_net_destroy(f->net);
    ev_timer_stop(f->loop, &f->watchdog);
    ev_loop_destroy(f->loop);
    free(f);
    return 0;
}

static int dial(const fixture *f)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(hub_listener_port(f->listener)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static int dial_and_accept(fixture *f)
{
    unsigned opened = f->opened;
    int fd = dial(f);
    while (f->opened == opened) {
        ev_run(f->loop, 0);
    }
    return fd;
}

/* Read on the client's side while the loop runs, until `len` bytes or the end; bytes read. */
static size_t read_all(const fixture *f, int fd, size_t len)
{
    static char buffer[65536];
    size_t total = 0;
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    while (total < len) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n == 0 || (n < 0 && errno == ECONNRESET)) {
            break;
        }
        if (n < 0) {
            ev_run(f->loop, EVRUN_NOWAIT);
            continue;
        }
        total += (size_t)n;
    }
    return total;
}

static void test_echo(void **state)
{
    fixture *f = *state;
    int fd = dial_and_accept(f);
    assert_string_equal(hub_link_peer(f->link), "127.0.0.1");
    assert_false(hub_link_is_tls(f->link));
    assert_int_equal(write(fd, "hello", 5), 5);
    while (f->received < 5) {
        ev_run(f->loop, 0);
    }
    assert_int_equal(read_all(f, fd, 5), 5);
    (void)close(fd);
    while (f->ended == 0) {
        ev_run(f->loop, 0);
    }
    assert_int_equal(hub_net_link_count(f->net), 0);
}

/* What waits is bounded, leaves when the peer reads, and then says so. */
static void test_a_peer_that_reads_late(void **state)
{
    fixture *f = *state;
    static char block[256 * 1024];
    int fd = dial_and_accept(f);
    hub_str part = {.ptr = block, .len = sizeof block};
    size_t written = 0;
    while (hub_link_queued(f->link) == 0) {
        assert_int_equal(hub_link_write(f->link, &part, 1), HUB_OK);
        written += sizeof block;
    }
    assert_int_equal(read_all(f, fd, written), written);
    while (f->drained == 0) {
        ev_run(f->loop, 0);
    }
    assert_int_equal(hub_link_queued(f->link), 0);
    (void)close(fd);
}

/* R01: more than the bound is refused, and ends the link. */
static void test_a_peer_that_does_not_read(void **state)
{
    fixture *f = *state;
    static char block[64 * 1024];
    int fd = dial_and_accept(f);
    hub_str part = {.ptr = block, .len = sizeof block};
    hub_err err = HUB_OK;
    while (err == HUB_OK) {
        err = hub_link_write(f->link, &part, 1);
        assert_true(hub_link_queued(f->link) <= QUEUE_BYTES);
    }
    assert_int_equal(err, HUB_ELIMIT);
    assert_int_equal(f->ended, 0); /* from the loop, not from inside */
    assert_int_equal(hub_link_write(f->link, &part, 1), HUB_ESTATE);
    while (f->ended == 0) {
        ev_run(f->loop, 0);
    }
    (void)close(fd);
}

/* A peer that takes nothing for stall_ms is ended, though the bound is not reached. */
static void test_a_stalled_peer(void **state)
{
    fixture *f = *state;
    static char block[64 * 1024];
    int fd = dial_and_accept(f);
    hub_str part = {.ptr = block, .len = sizeof block};
    while (hub_link_queued(f->link) == 0) {
        assert_int_equal(hub_link_write(f->link, &part, 1), HUB_OK);
    }
    while (f->ended == 0) {
        ev_run(f->loop, 0);
    }
    (void)close(fd);
}

/* The last word arrives although the peer has sent what nobody read. */
static void test_close_with_flush(void **state)
{
    fixture *f = *state;
    static char block[512 * 1024];
    int fd = dial_and_accept(f);
    f->echoes = false;
    assert_int_equal(write(fd, block, 100000), 100000);
    while (f->received == 0) {
        ev_run(f->loop, 0);
    }
    hub_str part = {.ptr = block, .len = sizeof block};
    assert_int_equal(hub_link_write(f->link, &part, 1), HUB_OK);
    hub_link_close(f->link, true);
    assert_int_equal(read_all(f, fd, SIZE_MAX), sizeof block);
    (void)close(fd);
    while (f->ended == 0) {
        ev_run(f->loop, 0);
    }
}

static void test_close_now(void **state)
{
    fixture *f = *state;
    int fd = dial_and_accept(f);
    hub_link_close(f->link, false);
    assert_int_equal(f->ended, 0);
    while (f->ended == 0) {
        ev_run(f->loop, 0);
    }
    assert_int_equal(read_all(f, fd, 1), 0);
    (void)close(fd);
}

/* Paused bytes come later, and the end of the peer is noticed meanwhile. */
static void test_pause(void **state)
{
    fixture *f = *state;
    int fd = dial_and_accept(f);
    f->echoes = false;
    hub_link_pause(f->link, true);
    assert_int_equal(write(fd, "hello", 5), 5);
    int other = dial_and_accept(f); /* the loop has been round */
    assert_int_equal(f->received, 0);
    hub_link *second = f->link;
    (void)second;
    (void)close(other);
    (void)close(fd);
    while (f->ended < 2) {
        ev_run(f->loop, 0);
    }
    assert_int_equal(f->received, 0);

    fd = dial_and_accept(f);
    hub_link_pause(f->link, true);
    assert_int_equal(write(fd, "hello", 5), 5);
    (void)close(dial_and_accept(f));
    while (f->ended < 3) {
        ev_run(f->loop, 0);
    }
    (void)close(fd);
}

/* R06: the caps, at their edges. */
static void test_caps(void **state)
{
    fixture *f = *state;
    int fds[3];
    for (size_t i = 0; i < 3; i++) {
        fds[i] = dial_and_accept(f);
    }
    int refused = dial(f);
    assert_int_equal(read_all(f, refused, 1), 0);
    assert_int_equal(f->opened, 3);
    (void)close(refused);
    (void)close(fds[0]);
    while (f->ended == 0) {
        ev_run(f->loop, 0);
    }
    fds[0] = dial_and_accept(f);
    assert_int_equal(f->opened, 4);
    for (size_t i = 0; i < 3; i++) {
        (void)close(fds[i]);
    }
}

static void test_addresses(void **state)
{
    fixture *f = *state;
    hub_listen_settings settings = {.address = "127.0.0.1", .port = hub_listener_port(f->listener)};
    hub_listener *listener;
    hub_error why;
    assert_int_equal(hub_net_listen(f->net, &settings, on_link, f, &listener, &why), HUB_EEXIST);
    assert_non_null(strstr(why.text, "127.0.0.1"));
    settings = (hub_listen_settings){.address = "hub.example.com"};
    assert_int_equal(hub_net_listen(f->net, &settings, on_link, f, &listener, &why), HUB_EINVAL);
    assert_non_null(strstr(why.text, "hub.example.com"));
    settings = (hub_listen_settings){.address = "localhost"};
    assert_int_equal(hub_net_listen(f->net, &settings, on_link, f, &listener, &why), HUB_OK);
    assert_true(hub_listener_port(listener) > 0);
    hub_listener_close(listener);
    settings = (hub_listen_settings){.address = "127.0.0.1",
                                     .tls = {.certificate = "/nonexistent", .key = "/nonexistent"}};
    assert_int_equal(hub_net_listen(f->net, &settings, on_link, f, &listener, &why), HUB_EINVAL);
    assert_non_null(strstr(why.text, "/nonexistent"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_echo, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_peer_that_reads_late, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_peer_that_does_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_stalled_peer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_with_flush, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_now, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
        cmocka_unit_test_setup_teardown(test_caps, setup, teardown),
        cmocka_unit_test_setup_teardown(test_addresses, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
