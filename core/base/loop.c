/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <fcntl.h>
#include <stdlib.h>

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
    return true;
}
