/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <fcntl.h>
#include <stdlib.h>

/* ---- memory -----------------------------------------------------------------------------------
 */

static void *reserve;

/* What libev wants of an allocator: realloc, and free for a size of 0. One thread runs the loops.
 */
static void *resize(void *old, long size)
{
    if (size <= 0) {
        free(old);
        return NULL;
    }
    void *resized = realloc(old, (size_t)size);
    if (resized == NULL && reserve != NULL) {
        free(reserve);
        reserve = NULL;
        hub_log(HUB_LOG_ERROR, "loop.memory_short",
                HUB_F_TEXT("reason", "out of memory: the event loop uses what was put aside"));
        resized = realloc(old, (size_t)size);
    } else if (reserve == NULL) {
        reserve = malloc(HUB_LOOP_RESERVE_BYTES); /* there is some again, perhaps */
    }
    return resized;
}

void hub_loop_init(void)
{
    reserve = malloc(HUB_LOOP_RESERVE_BYTES);
    ev_set_allocator(resize);
}

/* ---- descriptors that the kernel refuses to watch ---------------------------------------------
 */

/* What a loop has for them, its user data. libev asks the kernel right before it waits for events,
 * and tells of a refusal only after that: without anything else that happens, a minute later. So
 * the loop is woken then, but if it has been lately: then it is when the time has come. */
typedef struct patience {
    ev_async wake;
    ev_timer retry;
} patience;

static void on_wake(struct ev_loop *loop, ev_async *async, int events)
{
    (void)loop; /* the callbacks that wait are called now, too */
    (void)async;
    (void)events;
}

static void on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
}

static void before_wait(struct ev_loop *loop)
{
    patience *with = ev_userdata(loop);
    if (ev_pending_count(loop) > 0 && !ev_is_active(&with->retry)) {
        ev_async_send(loop, &with->wake);
    }
}

static void after_wait(struct ev_loop *loop)
{
    (void)loop;
    hub_clock_begin_turn();
}

struct ev_loop *hub_loop_new(void)
{
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    patience *with = loop != NULL ? calloc(1, sizeof *with) : NULL;
    if (with == NULL) {
        ev_loop_destroy(loop);
        return NULL;
    }
    ev_async_init(&with->wake, on_wake);
    ev_async_start(loop, &with->wake);
    ev_unref(loop); /* nobody waits for it */
    ev_timer_init(&with->retry, on_retry, 0., 0.);
    ev_set_userdata(loop, with);
    ev_set_loop_release_cb(loop, before_wait, after_wait);
    return loop;
}

void hub_loop_destroy(struct ev_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    patience *with = ev_userdata(loop);
    ev_set_loop_release_cb(loop, NULL, NULL);
    ev_timer_stop(loop, &with->retry);
    ev_ref(loop);
    ev_async_stop(loop, &with->wake);
    free(with);
    ev_loop_destroy(loop);
}

static void plan_retry(struct ev_loop *loop)
{
    patience *with = ev_userdata(loop);
    if (with != NULL && !ev_is_active(&with->retry)) {
        ev_now_update(loop);
        ev_timer_set(&with->retry, HUB_LOOP_RETRY_MS / 1000., 0.);
        ev_timer_start(loop, &with->retry);
    }
}

bool hub_loop_mend(struct ev_loop *loop, ev_io *watcher, int events)
{
    static uint64_t told_ms; /* while the kernel goes on refusing, this is often */
    if ((events & EV_ERROR) == 0 || fcntl(watcher->fd, F_GETFD) < 0) {
        return false; /* one that was closed cannot be mended */
    }
    uint64_t now_ms = hub_clock_now_ms();
    if (told_ms == 0 || now_ms - told_ms >= HUB_LOOP_TELL_MS) {
        told_ms = now_ms;
        hub_log(HUB_LOG_ERROR, "loop.watch_failed", HUB_F_INT("fd", watcher->fd),
                HUB_F_TEXT("reason", "the kernel refuses to watch a descriptor: out of memory, or "
                                     "fs.epoll.max_user_watches is reached"));
    }
    ev_io_set(watcher, watcher->fd, watcher->events); /* else libev takes it for known */
    ev_io_start(loop, watcher);
    plan_retry(loop);
    return true;
}

void hub_loop_start_timer(struct ev_loop *loop, ev_timer *timer, double seconds)
{
    ev_now_update(loop);
    ev_timer_set(timer, seconds, 0.);
    ev_timer_start(loop, timer);
}

bool hub_loop_has_timer(ev_timer *timer)
{
    return ev_is_active(timer) || ev_is_pending(timer);
}
