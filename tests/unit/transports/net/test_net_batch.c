/* SPDX-License-Identifier: Apache-2.0 */
/* Short messages that leave together at the end of the loop's turn (net/output.c): none is lost,
 * and none overtakes another, whatever happens before it has left. */
#include "net_fixture.h"

#include "net/internal.h"

#include <dlfcn.h>
#include <poll.h>

static unsigned g_sends;

/* What libwebsockets sends, counted. */
ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    ssize_t (*real)(int, const void *, size_t, int);
    void *found = dlsym(RTLD_NEXT, "send");
    memcpy(&real, &found, sizeof real);
    g_sends++;
    return real(fd, bytes, len, flags);
}

static char g_block[256 * 1024];

static hub_err write_block(const net_owner *owner, size_t len, size_t from)
{
    hub_str part = {.ptr = g_block, .len = len};
    net_fill(g_block, len, from);
    return hub_link_write(owner->link, &part, 1);
}

/* Nothing has been sent: that is so at once, and stays so until the loop goes on. */
static bool has_nothing(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void test_the_end_of_the_turn(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    assert_int_equal(write_block(owner, 10, 0), HUB_OK);
    assert_int_equal(write_block(owner, 20, 10), HUB_OK);
    assert_int_equal(f->net->batch_count, 2);
    assert_int_equal(hub_link_queued(owner->link), 0);
    assert_true(has_nothing(fd));
    assert_int_equal(net_receive(f, fd, 30, 0), 30);
    assert_int_equal(f->net->batch_count, 0);
    assert_int_equal(owner->drained, 0);
    (void)close(fd);
}

/* The answer to what is read in a turn leaves before the loop waits again. */
static void test_an_answer(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    net_send(f, fd, 5, 0);
    RUN_UNTIL(f, owner->received == 5);
    assert_int_equal(f->net->batch_count, 0);
    assert_int_equal(net_receive(f, fd, 5, 0), 5);
    (void)close(fd);
}

static size_t g_most; /* messages in the batch */

static void note_batch(net_owner *owner, hub_str bytes)
{
    size_t count = owner->fixture->net->batch_count;
    (void)bytes;
    g_most = count > g_most ? count : g_most;
}

/* What comes from several peers together is answered together. */
static void test_answers(void **state)
{
    net_fixture *f = *state;
    net_owner *owners[3];
    int fds[3];
    f->on_bytes = note_batch;
    g_most = 0;
    for (size_t i = 0; i < 3; i++) {
        fds[i] = net_open(f, &owners[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        struct pollfd here = {.fd = lws_get_socket_fd(owners[i]->link->wsi), .events = POLLIN};
        net_send(f, fds[i], 5, 0);
        assert_int_equal(poll(&here, 1, NET_WATCHDOG_S * 1000), 1);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(net_receive(f, fds[i], 5, 0), 5);
        (void)close(fds[i]);
    }
    assert_int_equal(g_most, 3);
}

static void test_the_most_messages(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    for (size_t i = 0; i < HUB_NET_BATCH_MESSAGES; i++) {
        assert_int_equal(write_block(owner, 1, i), HUB_OK);
    }
    assert_int_equal(f->net->batch_count, HUB_NET_BATCH_MESSAGES);
    assert_int_equal(write_block(owner, 1, HUB_NET_BATCH_MESSAGES), HUB_OK);
    assert_int_equal(f->net->batch_count, 1);
    assert_int_equal(net_receive(f, fd, HUB_NET_BATCH_MESSAGES + 1, 0), HUB_NET_BATCH_MESSAGES + 1);
    (void)close(fd);
}

static void test_the_most_bytes(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t fit = HUB_NET_WRITE_BYTES / HUB_NET_BATCH_BYTES;
    for (size_t i = 0; i < fit; i++) {
        assert_int_equal(write_block(owner, HUB_NET_BATCH_BYTES, i * HUB_NET_BATCH_BYTES), HUB_OK);
    }
    assert_int_equal(f->net->batch_count, fit);
    assert_int_equal(write_block(owner, 1, HUB_NET_WRITE_BYTES), HUB_OK);
    assert_int_equal(f->net->batch_count, 1);
    assert_int_equal(net_receive(f, fd, HUB_NET_WRITE_BYTES + 1, 0), HUB_NET_WRITE_BYTES + 1);
    (void)close(fd);
}

/* What is too long for the batch leaves at once, behind what was written before. */
static void test_a_long_message(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t len = HUB_NET_BATCH_BYTES + 1;
    assert_int_equal(write_block(owner, 10, 0), HUB_OK);
    assert_int_equal(write_block(owner, len, 10), HUB_OK);
    assert_int_equal(f->net->batch_count, 0);
    assert_int_equal(write_block(owner, 10, 10 + len), HUB_OK);
    assert_int_equal(net_receive(f, fd, 20 + len, 0), 20 + len);
    (void)close(fd);
}

static void test_two_links(void **state)
{
    net_fixture *f = *state;
    net_owner *owners[2];
    int fds[2];
    for (size_t i = 0; i < 2; i++) {
        fds[i] = net_open(f, &owners[i]);
    }
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(write_block(owners[i % 2], 3, i / 2 * 3), HUB_OK);
    }
    g_sends = 0;
    net_flush_batch(f->net);
    assert_int_equal(g_sends, 2); /* not 10 */
    assert_int_equal(write_block(owners[0], HUB_NET_WRITE_BYTES, 15), HUB_OK);
    assert_int_equal(net_receive(f, fds[1], 15, 0), 15);
    assert_int_equal(net_receive(f, fds[0], 15 + HUB_NET_WRITE_BYTES, 0), 15 + HUB_NET_WRITE_BYTES);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

/* Where the peer takes no more in the middle of a batch, the rest of it waits. The bytes written.
 */
static size_t write_batches(net_fixture *f, const net_owner *owner)
{
    size_t written = 0;
    while (hub_link_queued(owner->link) == 0) {
        for (size_t i = 0; i < HUB_NET_BATCH_MESSAGES && hub_link_queued(owner->link) == 0; i++) {
            assert_int_equal(write_block(owner, 1000, written), HUB_OK);
            written += 1000;
        }
        net_flush_batch(f->net);
    }
    return written;
}

static void test_a_peer_that_does_not_read(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t written = write_batches(f, owner);
    assert_true(net_is_waiting(owner->link, NET_WAIT_STALL)); /* not for ever */
    assert_int_equal(net_receive(f, fd, written, 0), written);
    RUN_UNTIL(f, owner->drained == 1);
    assert_int_equal(hub_link_queued(owner->link), 0);
    (void)close(fd);
}

static void test_a_message_behind_those_that_wait(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    size_t written = write_batches(f, owner);
    assert_int_equal(write_block(owner, 1000, written), HUB_OK);
    assert_int_equal(f->net->batch_count, 0);
    assert_int_equal(net_receive(f, fd, written + 1000, 0), written + 1000);
    (void)close(fd);
}

static void test_a_close(void **state)
{
    net_fixture *f = *state;
    for (int flush = 0; flush < 2; flush++) {
        net_owner *owner;
        int fd = net_open(f, &owner);
        assert_int_equal(write_block(owner, 10, 0), HUB_OK);
        hub_link_close(owner->link, flush != 0);
        assert_int_equal(f->net->batch_count, 0);
        assert_int_equal(net_receive(f, fd, SIZE_MAX, 0), 10);
        (void)close(fd);
        RUN_UNTIL(f, owner->ended == 1);
    }
}

/* A link that is gone takes its own messages with it, and no others. */
static void test_a_link_that_ends(void **state)
{
    net_fixture *f = *state;
    net_owner *gone;
    net_owner *stays;
    int fds[] = {net_open(f, &gone), net_open(f, &stays)};
    assert_int_equal(write_block(stays, 10, 0), HUB_OK);
    assert_int_equal(write_block(gone, 10, 0), HUB_OK);
    assert_int_equal(write_block(stays, 10, 10), HUB_OK);
    net_link_kill(gone->link);
    assert_int_equal(gone->ended, 1);
    assert_int_equal(net_receive(f, fds[1], 20, 0), 20);
    assert_int_equal(net_receive(f, fds[0], SIZE_MAX, 0), 0);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

/* A peer that has gone is found out when the batch is sent. */
static void test_a_peer_that_is_gone(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
    (void)close(fd);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(write_block(owner, 10, 10 * i), HUB_OK);
    }
    RUN_UNTIL(f, owner->ended == 1);
}

static void test_the_end_of_all(void **state)
{
    net_fixture *f = *state;
    net_owner *owner;
    int fd = net_open(f, &owner);
    assert_int_equal(write_block(owner, 10, 0), HUB_OK);
    hub_net_destroy(f->net);
    f->net = NULL;
    assert_int_equal(owner->ended, 1);
    assert_int_equal(net_receive(f, fd, SIZE_MAX, 0), 10);
    (void)close(fd);
}

#define NET_TEST(name) cmocka_unit_test_setup_teardown(name, net_setup_loopback, net_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NET_TEST(test_the_end_of_the_turn),
        NET_TEST(test_an_answer),
        NET_TEST(test_answers),
        NET_TEST(test_the_most_messages),
        NET_TEST(test_the_most_bytes),
        NET_TEST(test_a_long_message),
        NET_TEST(test_two_links),
        NET_TEST(test_a_peer_that_does_not_read),
        NET_TEST(test_a_message_behind_those_that_wait),
        NET_TEST(test_a_close),
        NET_TEST(test_a_link_that_ends),
        NET_TEST(test_a_peer_that_is_gone),
        NET_TEST(test_the_end_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
