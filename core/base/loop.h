/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can go wrong within an event loop, and is not to end the hub or to deafen it: libev gets no
 * memory, or the kernel refuses to watch a descriptor.
 */
#ifndef HUB_BASE_LOOP_H
#define HUB_BASE_LOOP_H

#include <ev.h>
#include <stdbool.h>

/* libev ends the process when it gets no memory (ev.pod, ev_set_allocator): give it some that is
 * put aside now, HUB_LOOP_RESERVE_BYTES. When that is needed, the log says so. Call it once, before
 * the first loop is made.
 * thread: [init] */
void hub_loop_init(void);

/* Make a loop that hub_loop_mend is for. NULL when out of memory or descriptors.
 * owns:    the result, destroy it with hub_loop_destroy
 * thread:  [init], or the loop's */
struct ev_loop *hub_loop_new(void);
void hub_loop_destroy(struct ev_loop *loop); /* NULL is fine */

/* To be called first in every callback of an ev_io. When the kernel refuses to watch a descriptor
 * (no memory, or fs.epoll.max_user_watches), libev stops the watcher and calls back once, with
 * EV_ERROR, as if there were something to read. Then this starts the watcher again, says so in the
 * log, and the callback has nothing to do. While the kernel goes on refusing, it is tried again
 * every HUB_LOOP_RETRY_MS, if not before because something else happens.
 * returns: whether that is so
 * thread:  [loop] */
bool hub_loop_mend(struct ev_loop *loop, ev_io *watcher, int events);

/* Start a timer that is initialised and not active: it is due `seconds` from now, once. A loop that
 * is busy has a clock that is behind, and a timer would be due so much too early. Only the
 * monotonic clock is asked: that somebody sets the other one (ev_time) is no reason to wait.
 * thread:  [loop] */
void hub_loop_start_timer(struct ev_loop *loop, ev_timer *timer, double seconds);

/* Whether the timer runs, or is over and the loop comes to it in this turn: libev no longer calls that
 * active. */
bool hub_loop_has_timer(ev_timer *timer);

#endif
