/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last line of a process that crashes: which signal, and in which plugin and tool. It goes to
 * stderr; then the signal does what it does by itself, so that there is a core dump where the
 * system makes them. A sanitizer, or whoever else handles a signal already, keeps it.
 */
#ifndef HUB_MODULES_CRASH_H
#define HUB_MODULES_CRASH_H

#include "modules/watchdog.h"

enum {
    HUB_CRASH_LINE_BYTES = 640
}; /* at most: two keys, the name of a tool, and words around them */

/* From now on a crash is told of. Once, by the program, since any command may load plugins. [init] */
void hub_crash_setup(void);

/* The line goes to `fd` instead, which stays the caller's: of a process whose end another one
 * reports. [init] */
void hub_crash_tell(int fd);

/* The calling thread can tell of its crashes, also when it has used up its stack. [any] */
void hub_crash_watch_thread(void);

/* The calling thread is in plugin code; NULL: in the hub's. Borrowed until the next one is set.
 * returns: where it was before. [any] */
const hub_watchdog_stay *hub_crash_enter(const hub_watchdog_stay *stay);

/* Where the calling thread is; NULL: in the hub's own code. [any] */
const hub_watchdog_stay *hub_crash_place(void);

#endif
