/* SPDX-License-Identifier: Apache-2.0 */
/* What libev cannot cope with alone: no memory, and descriptors that the kernel will not watch. And
 * the time of a turn. */
#include "fail_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_wall.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"

enum { GUARD_SECONDS = 120 };

typedef struct reader {
    ev_io io;
    int mended;
    int ready;
} reader;

static void on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
    reader *of = watcher->data;
    if (hub_loop_mend(loop, watcher, events)) {
        of->mended++;
        return;
    }
    of->ready++;
    ev_break(loop, EVBREAK_ALL);
}

static void begin(struct ev_loop *loop, reader *of, int fd)
{
    *of = (reader){.mended = 0};
    ev_io_init(&of->io, on_ready, fd, EV_READ);
    of->io.data = of;
    ev_io_start(loop, &of->io);
}

/* As libev does it when epoll_ctl fails: the watcher is stopped, and called once (ev.c, fd_kill).
 */
static void fail_watching(struct ev_loop *loop, reader *of)
{
    ev_io_stop(loop, &of->io);
    ev_feed_event(loop, &of->io, EV_ERROR | EV_READ | EV_WRITE);
}

static void test_is_watched_again(void **state)
{
    (void)state;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    int ends[2];
    reader of;
    assert_int_equal(pipe(ends), 0);
    begin(loop, &of, ends[0]);
    (void)ev_run(loop, EVRUN_NOWAIT);
    for (int round = 1; round <= 3; round++) {
        fail_watching(loop, &of);
        assert_false(ev_is_active(&of.io));
        (void)ev_run(loop, EVRUN_NOWAIT);
        assert_int_equal(of.mended, round);
        assert_true(ev_is_active(&of.io));
    }
    assert_int_equal(of.ready, 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    (void)ev_run(loop, 0);
    assert_int_equal(of.ready, 1);
    ev_io_stop(loop, &of.io);
    assert_int_equal(close(ends[0]) + close(ends[1]), 0);
    ev_loop_destroy(loop);
}

/* Instead of libc's: the kernel watches `refused` only after so many attempts. */
static int refused = -1;
static int refusals_left;

int epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
    if (fd == refused && what != EPOLL_CTL_DEL && refusals_left > 0) {
        refusals_left--;
        errno = ENOSPC; /* fs.epoll.max_user_watches */
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, what, fd, event);
}

/* Nothing else happens in the loop, and what there is to read is read nevertheless; and the loop
 * is not busy with it, however often the kernel refuses. */
static void test_is_tried_again_without_haste(void **state)
{
    static const int ATTEMPTS[] = {1, 2, 9};
    (void)state;
    (void)alarm(GUARD_SECONDS);
    for (size_t i = 0; i < sizeof ATTEMPTS / sizeof ATTEMPTS[0]; i++) {
        struct ev_loop *loop = hub_loop_new();
        int ends[2];
        int silent[2]; /* without another watcher there is nothing to wait for */
        reader of;
        reader other;
        assert_non_null(loop);
        assert_int_equal(pipe(ends) + pipe(silent), 0);
        begin(loop, &other, silent[0]);
        assert_int_equal(write(ends[1], "x", 1), 1);
        refused = ends[0];
        refusals_left = ATTEMPTS[i];
        uint64_t begin_ms = hub_clock_now_ms();
        begin(loop, &of, ends[0]);
        (void)ev_run(loop, 0);
        assert_int_equal(of.ready, 1);
        assert_int_equal(of.mended, ATTEMPTS[i]);
        assert_true(hub_clock_now_ms() - begin_ms + 1 >=
                    (uint64_t)(ATTEMPTS[i] - 1) * HUB_LOOP_RETRY_MS);
        refused = -1;
        ev_io_stop(loop, &of.io);
        ev_io_stop(loop, &other.io);
        assert_int_equal(close(ends[0]) + close(ends[1]) + close(silent[0]) + close(silent[1]), 0);
        hub_loop_destroy(loop);
    }
    hub_loop_destroy(NULL);
}

/* A descriptor that was closed is not tried for ever. */
static void test_is_not_mended_when_closed(void **state)
{
    (void)state;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    int ends[2];
    reader of;
    assert_int_equal(pipe(ends), 0);
    begin(loop, &of, ends[0]);
    assert_int_equal(close(ends[0]) + close(ends[1]), 0);
    fail_watching(loop, &of);
    (void)ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(of.mended, 0);
    assert_int_equal(of.ready, 1);
    assert_false(ev_is_active(&of.io));
    ev_loop_destroy(loop);
}

/* Without the reserve libev aborts: each allocation of its own fails once. */
static void test_memory_is_put_aside(void **state)
{
    (void)state;
    enum { WATCHERS = 200 }; /* so that libev's tables are enlarged */
    size_t failed = 0;
    bool is_failing = true;
    hub_loop_init();
    for (size_t n = 1; is_failing; n++) {
        struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
        ev_timer timers[WATCHERS];
        is_failing = memory_fails_at(n);
        for (int i = 0; i < WATCHERS; i++) {
            ev_timer_init(&timers[i], NULL, 1e6, 0.);
            ev_timer_start(loop, &timers[i]);
        }
        failed += memory_has_failed();
        for (int i = 0; i < WATCHERS; i++) {
            assert_true(ev_is_active(&timers[i]));
            ev_timer_stop(loop, &timers[i]);
        }
        ev_loop_destroy(loop);
    }
    assert_true(failed > 2);
}

/* ---- the time of a turn ---------------------------------------------------------------------- */

typedef struct turn {
    uint64_t first_us; /* when the callback began, by the turn */
    uint64_t later_us; /* by the clock, a millisecond later at least */
    uint64_t last_us;  /* then by the turn */
} turn;

static void on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    turn *of = timer->data;
    of->first_us = hub_clock_turn_us();
    do {
        of->later_us = hub_clock_now_us();
    } while (of->later_us < of->first_us + 1000);
    of->last_us = hub_clock_turn_us();
}

static void test_time_stands_still_within_a_turn(void **state)
{
    (void)state;
    struct ev_loop *loop = hub_loop_new();
    turn turns[2];
    ev_timer timer;
    for (int i = 0; i < 2; i++) {
        uint64_t before_us = hub_clock_now_us();
        ev_timer_init(&timer, on_turn, 0., 0.);
        timer.data = &turns[i];
        ev_timer_start(loop, &timer);
        (void)ev_run(loop, EVRUN_ONCE);
        assert_true(turns[i].first_us >= before_us);
        assert_true(turns[i].first_us <= turns[i].later_us);
        assert_int_equal(turns[i].last_us, turns[i].first_us);
    }
    assert_true(turns[1].first_us >= turns[0].later_us);
    hub_loop_destroy(loop);
}

/* ---- a wall clock that somebody sets --------------------------------------------------------- */

typedef struct wait {
    ev_timer due;
    ev_timer begin;
    long step_s;
    uint64_t begin_ms;
    uint64_t due_ms;
} wait;

enum { WAIT_MS = 20 };

static void on_wait_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    ((wait *)timer->data)->due_ms = hub_clock_now_ms();
}

/* The clock is set while the loop is at work, which then starts a timer. */
static void on_wait_begin(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    wait *of = timer->data;
    fake_wall_step_s = of->step_s;
    of->begin_ms = hub_clock_now_ms();
    ev_timer_init(&of->due, on_wait_over, 0., 0.);
    of->due.data = of;
    hub_loop_start_timer(loop, &of->due, WAIT_MS / 1000.);
}

/* A timer is due when its time has passed, neither an hour later nor at once. */
static void test_set_clock(void **state)
{
    static const long STEPS_S[] = {0, 3600, -3600, 10000000, -10000000};
    (void)state;
    (void)alarm(GUARD_SECONDS);
    for (size_t i = 0; i < sizeof STEPS_S / sizeof STEPS_S[0]; i++) {
        struct ev_loop *loop = hub_loop_new();
        wait of = {.step_s = STEPS_S[i]};
        double before_s = ev_time();
        ev_timer_init(&of.begin, on_wait_begin, 0., 0.);
        of.begin.data = &of;
        ev_timer_start(loop, &of.begin);
        (void)ev_run(loop, 0);
        assert_true(of.due_ms + 1 >= of.begin_ms + WAIT_MS);
        bool is_set = STEPS_S[i] == 0 || (ev_time() > before_s) == (STEPS_S[i] > 0);
        assert_true(is_set); /* libev's clock is this one */
        fake_wall_step_s = 0;
        hub_loop_destroy(loop);
    }
}

/* A loop that has been busy starts it from now, not from when it was woken. */
static void on_busy(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    wait *of = timer->data;
    uint64_t woken_ms = hub_clock_turn_us() / 1000;
    do {
        of->begin_ms = hub_clock_now_ms();
    } while (of->begin_ms < woken_ms + WAIT_MS);
    ev_timer_init(&of->due, on_wait_over, 0., 0.);
    of->due.data = of;
    hub_loop_start_timer(loop, &of->due, WAIT_MS / 1000.);
}

static void test_busy_loop(void **state)
{
    (void)state;
    (void)alarm(GUARD_SECONDS);
    struct ev_loop *loop = hub_loop_new();
    wait of = {.step_s = 0};
    ev_timer_init(&of.begin, on_busy, 0., 0.);
    of.begin.data = &of;
    ev_timer_start(loop, &of.begin);
    (void)ev_run(loop, 0);
    assert_true(of.due_ms + 1 >= of.begin_ms + WAIT_MS);
    hub_loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_watched_again),
        cmocka_unit_test(test_is_tried_again_without_haste),
        cmocka_unit_test(test_is_not_mended_when_closed),
        cmocka_unit_test(test_memory_is_put_aside),
        cmocka_unit_test(test_time_stands_still_within_a_turn),
        cmocka_unit_test(test_set_clock),
        cmocka_unit_test(test_busy_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
