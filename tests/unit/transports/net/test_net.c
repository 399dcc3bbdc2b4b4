/* SPDX-License-Identifier: Apache-2.0 */
/* Links over real sockets: net/link.h, and RELIABILITY rows R01 and W06 (slow readers). */
#include "net_fixture.h"

#include "net/internal.h"

#include <linux/tcp.h>

static char g_block[NET_QUEUE_BYTES + 1];

static hub_str block_of(size_t len, size_t from)
{
    net_fill(g_block, len, from);
    return (hub_str){.ptr = g_block, .len = len};
}

static hub_err write_block(const net_owner *owner, size_t len, size_t from)
{
    hub_str part = block_of(len, from);
    return hub_link_write(owner->link, &part, 1);
}

/* Write until the peer's side is full and bytes wait here. The bytes written. */
static size_t write_until_it_waits(const net_owner *owner)
{
    size_t written = 0;
    while (hub_link_queued(owner->link) == 0) {
        assert_int_equal(write_block(owner, 256 * 1024, written), HUB_OK);
        written += 256 * 1024;
    }
    return written;
}

/* ---- both ways ------------------------------------------------------------------------------- */

static void test_echo(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    assert_string_equal(hub_link_peer(owner->link), "127.0.0.1");
    assert_false(hub_link_is_tls(owner->link));
    net_send(f, fd, 5, 0);
    assert_int_equal(net_receive(f, fd, 5, 0), 5);
    assert_int_equal(hub_link_queued(owner->link), 0);
    (void)close(fd);
    RUN_UNTIL(f, owner->ended == 1);
    assert_int_equal(hub_net_link_count(f->net), 0);
}

/* Many parts of all sizes are one message. */
static void test_parts(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t len = 300000;
    size_t cuts[] = {0, 1, 1, 2, 1000, 65536, 65537, 200000, len};
    hub_str parts[sizeof cuts / sizeof *cuts - 1];
    hub_str all = block_of(len, 0);
    for (size_t i = 0; i + 1 < sizeof cuts / sizeof *cuts; i++) {
        parts[i] = (hub_str){.ptr = all.ptr + cuts[i], .len = cuts[i + 1] - cuts[i]};
    }
    assert_int_equal(hub_link_write(owner->link, parts, sizeof parts / sizeof *parts), HUB_OK);
    assert_int_equal(net_receive(f, fd, len, 0), len);
    assert_int_equal(hub_link_write(owner->link, NULL, 0), HUB_OK);
    assert_int_equal(hub_link_queued(owner->link), 0);
    (void)close(fd);
}

/* A megabyte there and back, while the client does not read at first. */
static void test_a_megabyte_both_ways(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    size_t len = NET_QUEUE_BYTES;
    int fd = net_open(f, &owner);
    net_send(f, fd, len, 0);
    assert_int_equal(net_receive(f, fd, len, 0), len);
    assert_int_equal(owner->received, len);
    assert_int_equal(owner->write_err, HUB_OK);
    (void)close(fd);
}

/* Small messages that have to wait arrive in order behind each other. */
static void test_small_messages_that_wait(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t written = write_until_it_waits(owner);
    for (size_t i = 0; i < 1000; i++) {
        size_t len = i % 7 * 13 + 1;
        assert_int_equal(write_block(owner, len, written), HUB_OK);
        written += len;
    }
    assert_int_equal(net_receive(f, fd, written, 0), written);
    (void)close(fd);
}

/* ---- peers that do not read ------------------------------------------------------------------ */

/* What waits is bounded, leaves when the peer reads, and then says so, once. */
static void test_a_peer_that_reads_late(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t written = write_until_it_waits(owner);
    assert_int_equal(owner->drained, 0);
    assert_int_equal(net_receive(f, fd, written, 0), written);
    RUN_UNTIL(f, owner->drained == 1);
    assert_int_equal(hub_link_queued(owner->link), 0);
    net_pass_ticks(f, 3); /* longer than stall_ms: nothing waits, so nothing is late */
    assert_int_equal(owner->drained, 1);
    assert_int_equal(owner->ended, 0);
    (void)close(fd);
}

/* R01, W06: max_queue_bytes may wait; one byte more is refused, whole, and ends the link. */
static void test_the_queue_at_its_limit(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t written = write_until_it_waits(owner);
    size_t room = NET_QUEUE_BYTES - hub_link_queued(owner->link);
    assert_int_equal(write_block(owner, room, written), HUB_OK);
    assert_int_equal(hub_link_queued(owner->link), NET_QUEUE_BYTES);
    assert_int_equal(owner->ended, 0);
    assert_int_equal(write_block(owner, 1, written + room), HUB_ELIMIT);
    assert_int_equal(owner->ended, 0); /* from the loop, not from inside */
    assert_int_equal(write_block(owner, 1, 0), HUB_ESTATE);
    RUN_UNTIL(f, owner->ended == 1);
    assert_int_equal(net_logged(f, "net.overflow"), 1);
    (void)close(fd);
}

/* What is larger than the bound is refused though nothing waits. */
static void test_a_message_beyond_the_limit(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    assert_int_equal(write_block(owner, NET_QUEUE_BYTES + 1, 0), HUB_ELIMIT);
    RUN_UNTIL(f, owner->ended == 1);
    assert_int_equal(net_receive(f, fd, 1, 0), 0);
    (void)close(fd);
}

/* A peer that takes nothing for stall_ms is ended, though the bound is not reached. */
static void test_a_stalled_peer(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    (void)write_until_it_waits(owner);
    RUN_UNTIL(f, owner->ended == 1);
    assert_int_equal(net_logged(f, "net.stalled"), 1);
    (void)close(fd);
}

static uint64_t acked_of(const net_owner *owner)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    int fd = lws_get_socket_fd(owner->link->wsi);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    return info.tcpi_bytes_acked;
}

/* One that reads, however slowly, is not: the kernel and libwebsockets may hold so much for it that
 * nothing more is taken for a long time. Time is moved on by moving the beginning back. */
static void test_a_slow_peer(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    hub_net_destroy(f->net);
    f->limits.stall_ms = 60 * 1000;
    net_fixture_start(f);
    f->listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    int fd = net_open(f, &owner);
    size_t written = write_until_it_waits(owner);
    net_pass_ticks(f, 1); /* the kernel takes what it can */
    size_t queued = hub_link_queued(owner->link);
    uint64_t acked = acked_of(owner);
    owner->link->acked_bytes = acked;
    size_t read = 0;
    while (acked_of(owner) == acked) {
        read += net_receive(f, fd, 1024, read);
        ev_run(f->loop, EVRUN_NOWAIT);
    }
    assert_int_equal(hub_link_queued(owner->link), queued); /* nothing more was taken */
    owner->link->wait.since_ms -= f->limits.stall_ms;
    net_pass_ticks(f, 2);
    assert_int_equal(owner->ended, 0);
    owner->link->wait.since_ms -= f->limits.stall_ms; /* now it has read nothing more */
    net_pass_ticks(f, 2);
    assert_int_equal(owner->ended, 1);
    assert_int_equal(net_logged(f, "net.stalled"), 1);
    assert_true(net_receive(f, fd, SIZE_MAX, read) < written - read);
    (void)close(fd);
}

/* A peer that sends and does not read keeps nobody busy: what it sends waits, too. */
static void test_a_peer_that_only_writes(void **state)
{
    enum { TICKS = 8, TURNS_PER_TICK = 10 };
    net_fixture *f = *state;
    net_owner *owner;
    hub_net_destroy(f->net);
    f->limits.stall_ms = 60 * 1000;
    net_fixture_start(f);
    f->listener = net_listen(f, &(hub_listen_settings){.address = "127.0.0.1"});
    int fd = net_open(f, &owner);
    (void)write_until_it_waits(owner);
    net_send(f, fd, 1000, 0);
    net_pass_ticks(f, 1);
    unsigned before = ev_iteration(f->loop);
    net_pass_ticks(f, TICKS);
    assert_in_range(ev_iteration(f->loop) - before, TICKS, TICKS * TURNS_PER_TICK);
    assert_int_equal(owner->received, 0);
    (void)close(fd);
}

/* ---- closing --------------------------------------------------------------------------------- */

/* The last word arrives although it had to wait and the peer has sent what nobody read. */
static void test_close_with_flush(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    f->echoes = false;
    int fd = net_open(f, &owner);
    net_send(f, fd, 100000, 0);
    RUN_UNTIL(f, owner->received > 0);
    hub_link_pause(owner->link, true);
    size_t written = write_until_it_waits(owner);
    hub_link_close(owner->link, true);
    assert_int_equal(write_block(owner, 1, written), HUB_ESTATE);
    assert_int_equal(net_receive(f, fd, SIZE_MAX, 0), written);
    assert_int_equal(owner->ended, 0); /* it is heard out */
    net_send(f, fd, 1000, 0);
    (void)close(fd);
    RUN_UNTIL(f, owner->ended == 1);
    assert_int_equal(owner->drained, 0);
}

/* A peer that does not hang up in turn is not waited for. */
static void test_close_with_flush_of_nothing(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    hub_link_close(owner->link, true);
    assert_int_equal(owner->ended, 0);
    assert_int_equal(net_receive(f, fd, 1, 0), 0);
    RUN_UNTIL(f, owner->ended == 1);
    (void)close(fd);
}

/* … nor one that does not read the rest. */
static void test_close_with_flush_of_a_stalled_peer(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    (void)write_until_it_waits(owner);
    hub_link_close(owner->link, true);
    RUN_UNTIL(f, owner->ended == 1);
    assert_int_equal(net_logged(f, "net.stalled"), 1);
    (void)close(fd);
}

static void test_close_now(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t written = write_until_it_waits(owner);
    hub_link_close(owner->link, true);
    hub_link_close(owner->link, false); /* it takes too long */
    assert_int_equal(owner->ended, 0);
    RUN_UNTIL(f, owner->ended == 1);
    assert_true(net_receive(f, fd, SIZE_MAX, 0) < written);
    (void)close(fd);
}

static void close_at_once(net_owner *owner)
{
    hub_link_close(owner->link, false);
}

static void close_in_bytes(net_owner *owner, hub_str bytes)
{
    (void)bytes;
    hub_link_close(owner->link, false);
    assert_int_equal(owner->ended, 0);
}

static void test_close_in_callbacks(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    f->on_link = close_at_once;
    int fd = net_open(f, &owner);
    RUN_UNTIL(f, owner->ended == 1);
    (void)close(fd);
    f->on_link = NULL;
    f->on_bytes = close_in_bytes;
    fd = net_open(f, &owner);
    net_send(f, fd, 10, 0);
    RUN_UNTIL(f, owner->ended == 1);
    (void)close(fd);
}

/* A peer that has said its last word is gone, but not before it was heard. */
static void test_half_close(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    f->echoes = false;
    int fd = net_open(f, &owner);
    net_send(f, fd, 500000, 0);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    RUN_UNTIL(f, owner->ended == 1);
    assert_int_equal(owner->received, 500000);
    (void)close(fd);
}

/* The owner of a link is whoever was named last. */
static void on_other_end(void *arg)
{
    *(bool *)arg = true;
}

static void test_another_owner(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    bool ended = false;
    const hub_link_events events = {.on_bytes = net_owner_bytes, .on_end = on_other_end};
    int fd = net_open(f, &owner);
    hub_link_set_owner(owner->link, &events, &ended);
    (void)close(fd);
    RUN_UNTIL(f, ended);
    assert_int_equal(owner->ended, 0);
    f->ended++;
}

/* ---- pausing --------------------------------------------------------------------------------- */

/* The loop has been round, and seen all that was there. */
static void settle(net_fixture *f)
{
    net_pass_ticks(f, 2);
}

static void test_pause_and_resume(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    f->echoes = false;
    int fd = net_open(f, &owner);
    hub_link_pause(owner->link, true);
    net_send(f, fd, 5, 0);
    settle(f);
    assert_int_equal(owner->received, 0);
    hub_link_pause(owner->link, false);
    assert_int_equal(owner->received, 0); /* from the loop */
    net_send(f, fd, 5, 5);
    RUN_UNTIL(f, owner->received == 10);
    (void)close(fd);
}

/* What a paused peer sends waits in its own socket, but for a bounded part. */
static void test_pause_is_back_pressure(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    size_t sent = 0;
    f->echoes = false;
    int fd = net_open(f, &owner);
    hub_link_pause(owner->link, true);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    for (unsigned full = 0; full < 2;) { /* full, and still full a tick later */
        net_fill(g_block, 65536, sent);
        ssize_t n = send(fd, g_block, 65536, MSG_NOSIGNAL);
        full = n < 0 ? full + 1 : 0;
        sent += n < 0 ? 0 : (size_t)n;
        if (n < 0) {
            net_pass_ticks(f, 1);
        }
    }
    assert_in_range(owner->link->held_len, HUB_NET_HELD_BYTES, 2 * HUB_NET_HELD_BYTES);
    assert_int_equal(owner->received, 0);
    hub_link_pause(owner->link, false);
    RUN_UNTIL(f, owner->received == sent);
    (void)close(fd);
}

/* The end of a paused peer is noticed. */
static void test_the_end_of_a_paused_peer(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    hub_link_pause(owner->link, true);
    net_send(f, fd, 5, 0);
    (void)close(fd);
    RUN_UNTIL(f, owner->ended == 1);
    assert_int_equal(owner->received, 0);
}

static net_owner *g_paused;

static void resume_the_other(net_owner *owner, hub_str bytes)
{
    (void)bytes;
    if (owner != g_paused && g_paused->link != NULL) {
        hub_link_pause(g_paused->link, false);
    }
}

/* Resumed and gone in the same turn of the loop: what came before the end is heard. Which of two
 * links has its turn first is not ours to say, so either is the one that resumes the other. */
static void test_resume_and_end(void **state)
{
    net_fixture *f = *state;
    size_t heard = 0;
    f->on_bytes = resume_the_other;
    for (size_t paused = 0; paused < 2; paused++) {
        net_owner *owners[2];
        int fds[2] = {net_open(f, &owners[0]), net_open(f, &owners[1])};
        g_paused = owners[paused];
        hub_link_pause(g_paused->link, true);
        net_send(f, fds[paused], 5, 0);
        RUN_UNTIL(f, g_paused->link->held_len == 5);
        net_send(f, fds[!paused], 5, 0);
        (void)close(fds[paused]);
        RUN_UNTIL(f, g_paused->ended == 1);
        heard += g_paused->received;
        (void)close(fds[!paused]);
    }
    assert_true(heard >= 5);
}

static void pause_in_bytes(net_owner *owner, hub_str bytes)
{
    (void)bytes;
    hub_link_pause(owner->link, true);
}

static void test_pause_in_bytes(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    f->on_bytes = pause_in_bytes;
    int fd = net_open(f, &owner);
    net_send(f, fd, 5, 0);
    RUN_UNTIL(f, owner->received == 5);
    net_send(f, fd, 5, 5);
    settle(f);
    assert_int_equal(owner->received, 5);
    hub_link_pause(owner->link, false);
    RUN_UNTIL(f, owner->received == 10);
    net_send(f, fd, 5, 10);
    settle(f);
    assert_int_equal(owner->received, 10);
    (void)close(fd);
}

/* ---- time ------------------------------------------------------------------------------------ */

typedef struct self_removing {
    hub_net_tick tick;
    hub_net *net;
    unsigned ticks;
} self_removing;

static void remove_self(hub_net_tick *tick, uint64_t now_ms)
{
    self_removing *self = HUB_DEADLINE_OF(tick, self_removing, tick);
    assert_true(now_ms > 0);
    self->ticks++;
    hub_net_remove_tick(self->net, tick);
}

/* Ticks come while somebody wants them, and the loop sleeps otherwise. */
static void test_ticks(void **state)
{
    net_fixture *f = *state;
    self_removing first = {.tick.on_tick = remove_self, .net = f->net};
    self_removing second = first;
    hub_net_add_tick(f->net, &first.tick);
    hub_net_add_tick(f->net, &second.tick);
    net_pass_ticks(f, 3); /* without any link */
    assert_int_equal(first.ticks, 1);
    assert_int_equal(second.ticks, 1);
    hub_net_remove_tick(f->net, &f->tick);
    assert_false(ev_is_active(&f->net->tick_timer));
    net_owner *owner;
    int fd = net_open(f, &owner);
    assert_true(ev_is_active(&f->net->tick_timer));
    (void)close(fd);
    RUN_UNTIL(f, owner->ended == 1);
    assert_false(ev_is_active(&f->net->tick_timer));
}

#define NET_TEST(name) cmocka_unit_test_setup_teardown(name, net_setup_loopback, net_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(test_echo),
        NET_TEST(test_parts),
        NET_TEST(test_a_megabyte_both_ways),
        NET_TEST(test_small_messages_that_wait),
        NET_TEST(test_a_peer_that_reads_late),
        NET_TEST(test_the_queue_at_its_limit),
        NET_TEST(test_a_message_beyond_the_limit),
        NET_TEST(test_a_stalled_peer),
        NET_TEST(test_a_slow_peer),
        NET_TEST(test_a_peer_that_only_writes),
        NET_TEST(test_close_with_flush),
        NET_TEST(test_close_with_flush_of_nothing),
        NET_TEST(test_close_with_flush_of_a_stalled_peer),
        NET_TEST(test_close_now),
        NET_TEST(test_close_in_callbacks),
        NET_TEST(test_half_close),
        NET_TEST(test_another_owner),
        NET_TEST(test_pause_and_resume),
        NET_TEST(test_pause_is_back_pressure),
        NET_TEST(test_the_end_of_a_paused_peer),
        NET_TEST(test_resume_and_end),
        NET_TEST(test_pause_in_bytes),
        NET_TEST(test_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
