/* SPDX-License-Identifier: Apache-2.0 */
/* hub_stream: how it ends, on either side, and what still arrives and leaves then. */
#include "stream_support.h"

#include "base/clock.h"

#include <pthread.h>
#include <time.h>

static void answer(fixture *f, hub_str message)
{
    assert_int_equal(send_text(f, message), HUB_OK);
}

/* ---- reading ends ---------------------------------------------------------------------------- */

static void test_the_end_comes_once_and_not_in_a_call(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    peer_says(&f, HUB_STR("1"));
    close_peer(&f);
    assert_int_equal(f.events.len, 0);
    wait_for_end(&f);
    settle(&f);
    assert_text(&f.events, "[1]<end of file>");
    finish(&f);
}

static void test_the_end_in_the_middle_of_a_frame(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    peer_says(&f, HUB_STR("Content-Length: 3\r\n\r\n{}")); /* a newline would complete it */
    close_peer(&f);
    wait_for_end(&f);
    assert_text(&f.events, "<end of file in the middle of a message>");
    finish(&f);
}

static void test_a_broken_frame_is_delivered_and_ends(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    f.act = answer;
    peer_says(&f, HUB_STR("Content-Length: 1\n\n1Content-Length: x\n\nContent-Length: 1\n\n1"));
    settle(&f);
    assert_text(&f.events,
                "[1][Content-Length: x\n\n]<a frame has no valid Content-Length header>");
    assert_peer_got(&f, "Content-Length: 1\r\n\r\n1"
                        "Content-Length: 19\r\n\r\nContent-Length: x\n\n");
    finish(&f);
}

static void test_a_read_error(void **state)
{
    (void)state;
    fixture f;
    prepare(&f);
    f.options.read_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    f.options.write_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    open_stream(&f);
    wait_for_end(&f);
    assert_text(&f.events, "<Is a directory>");
    finish(&f);
}

/* A peer that says its last words and goes, while something is sent to it. */
static void test_last_words_are_read_when_writing_fails(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        fixture f;
        char *text = make_text(MIB, 3);
        start(&f);
        peer_says(&f, HUB_STR("1\n2\n3\n4"));
        close_peer(&f);
        hub_err err = send_text(&f, big ? (hub_str){.ptr = text, .len = MIB} : HUB_STR("late"));
        assert_int_equal(err, HUB_OK);
        wait_for_end(&f);
        settle(&f);
        assert_text(&f.events, "[1][2][3][4]<Broken pipe>");
        assert_int_equal(send_text(&f, HUB_STR("1")), HUB_ESTATE);
        assert_int_equal(hub_stream_queued(f.stream), 0);
        finish(&f);
        free(text);
    }
}

static void speak_now(struct ev_loop *loop, ev_check *watcher, int events)
{
    (void)events;
    ev_check_stop(loop, watcher);
    peer_says(watcher->data, HUB_STR("1\n"));
}

/* A peer that closes its input only and then stays silent, but for a word that arrives after the
 * loop has looked and before the stream does: no event will tell that it was the last. */
static void test_the_end_when_only_writing_fails(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        int in[2];
        int out[2];
        fixture f;
        ev_check check;
        prepare(&f);
        assert_int_equal(pipe2(in, O_CLOEXEC), 0);
        assert_int_equal(pipe2(out, O_CLOEXEC), 0);
        f.options.read_fd = in[0];
        f.options.write_fd = out[1];
        f.peer = in[1];
        open_stream(&f);
        ev_check_init(&check, speak_now);
        ev_set_priority(&check, EV_MAXPRI);
        check.data = &f;
        if (late) {
            ev_check_start(f.loop, &check);
        } else {
            peer_says(&f, HUB_STR("1\n"));
        }
        (void)close(out[0]);
        assert_int_equal(send_text(&f, HUB_STR("a")), HUB_OK);
        wait_for_end(&f);
        assert_text(&f.events, "[1]<Broken pipe>");
        finish(&f);
    }
}

/* ---- writing ends ---------------------------------------------------------------------------- */

/* Requests and the end of file arrive together: the answers leave nevertheless. */
static void test_answers_leave_after_the_end_of_file(void **state)
{
    (void)state;
    for (int drains = 0; drains < 2; drains++) {
        fixture f;
        prepare(&f);
        f.options.max_message_bytes = 100;
        open_pair(&f, SOCK_STREAM);
        f.act = answer;
        peer_says(&f, HUB_STR("1\n2"));
        assert_int_equal(shutdown(f.peer, SHUT_WR), 0);
        while (f.ends == 0) {
            (void)ev_run(f.loop, EVRUN_ONCE);
        }
        answer(&f, HUB_STR("3")); /* of a call that took longer */
        if (drains) {
            hub_stream_drain(f.stream, 0);
            hub_stream_close(f.stream);
            f.stream = NULL;
        }
        assert_peer_got(&f, "1\n2\n3\n");
        finish(&f);
    }
}

static void test_the_peer_goes_away(void **state)
{
    (void)state;
    fixture f;
    char *text = make_text(8 * MIB, 1);
    start(&f);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 8 * MIB}), HUB_OK);
    settle(&f);
    assert_true(hub_stream_queued(f.stream) > 0);
    close_peer(&f);
    wait_for_end(&f);
    settle(&f);
    assert_int_equal(f.ends, 1);
    (void)send_text(&f, HUB_STR("1")); /* whether it is noticed now or in a moment */
    settle(&f);
    assert_int_equal(send_text(&f, HUB_STR("1")), HUB_ESTATE);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = 8 * MIB}), HUB_ESTATE);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    hub_stream_drain(f.stream, 1000);
    settle(&f);
    assert_int_equal(f.ends, 1);
    finish(&f);
    free(text);
}

/* The failure shows while a large message is sent behind a queue. */
static void test_the_failure_shows_in_a_send(void **state)
{
    (void)state;
    fixture f;
    char *text = make_text(MIB, 1);
    start(&f);
    assert_int_equal(send_text(&f, HUB_STR("1")), HUB_OK);
    close_peer(&f);
    assert_int_equal(send_text(&f, (hub_str){.ptr = text, .len = MIB}), HUB_ESTATE);
    assert_int_equal(f.events.len, 0);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    wait_for_end(&f);
    assert_text(&f.events, "<Broken pipe>");
    finish(&f);
    free(text);
}

/* ---- draining -------------------------------------------------------------------------------- */

static void fill(fixture *f, size_t bytes)
{
    char *text = make_text(bytes, 1);
    assert_int_equal(send_text(f, (hub_str){.ptr = text, .len = bytes}), HUB_OK);
    free(text);
}

static void on_tick(int signal)
{
    (void)signal;
}

/* A peer that does not read; with `ticks`, signals keep coming. */
static void check_drain_timeout(unsigned timeout_ms, bool ticks)
{
    fixture f;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec often = {.it_interval.tv_nsec = 3000000, .it_value.tv_nsec = 3000000};
    start(&f);
    fill(&f, 4 * MIB);
    if (ticks) {
        struct sigaction action = {.sa_handler = on_tick};
        assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
        assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
        assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
    }
    uint64_t begin = hub_clock_now_ms();
    hub_stream_drain(f.stream, timeout_ms);
    uint64_t took = hub_clock_now_ms() - begin;
    if (ticks) {
        assert_int_equal(timer_delete(timer), 0);
    }
    assert_true(took >= timeout_ms && took < timeout_ms + 20000);
    assert_true(hub_stream_queued(f.stream) > 0);
    finish(&f);
}

static void test_drain_gives_up(void **state)
{
    (void)state;
    check_drain_timeout(0, false);
    check_drain_timeout(50, false);
    check_drain_timeout(100, true);
}

static void *read_it_all(void *arg)
{
    const int *fd = arg;
    static char bytes[10000];
    size_t total = 0;
    while (total < 8 * MIB + 1) {
        struct pollfd ready = {.fd = *fd, .events = POLLIN};
        ssize_t count = poll(&ready, 1, -1) > 0 ? read(*fd, bytes, sizeof bytes) : 0;
        if (count <= 0) {
            break;
        }
        total += (size_t)count;
    }
    return (void *)(uintptr_t)total;
}

static void test_drain_waits_for_a_reader(void **state)
{
    (void)state;
    fixture f;
    pthread_t reader;
    void *total;
    start(&f);
    fill(&f, 8 * MIB);
    assert_int_equal(pthread_create(&reader, NULL, read_it_all, &f.peer), 0);
    hub_stream_drain(f.stream, UINT32_MAX);
    assert_int_equal(hub_stream_queued(f.stream), 0);
    assert_int_equal(pthread_join(reader, &total), 0);
    assert_int_equal((uintptr_t)total, 8 * MIB + 1);
    finish(&f);
}

static void test_drain_ends_with_the_peer(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    fill(&f, 8 * MIB);
    close_peer(&f);
    hub_stream_drain(f.stream, UINT32_MAX);
    assert_int_equal(f.events.len, 0); /* told by the loop */
    wait_for_end(&f);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_comes_once_and_not_in_a_call),
        cmocka_unit_test(test_the_end_in_the_middle_of_a_frame),
        cmocka_unit_test(test_a_broken_frame_is_delivered_and_ends),
        cmocka_unit_test(test_a_read_error),
        cmocka_unit_test(test_last_words_are_read_when_writing_fails),
        cmocka_unit_test(test_the_end_when_only_writing_fails),
        cmocka_unit_test(test_answers_leave_after_the_end_of_file),
        cmocka_unit_test(test_the_peer_goes_away),
        cmocka_unit_test(test_the_failure_shows_in_a_send),
        cmocka_unit_test(test_drain_gives_up),
        cmocka_unit_test(test_drain_waits_for_a_reader),
        cmocka_unit_test(test_drain_ends_with_the_peer),
    };
    ignore_sigpipe();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
