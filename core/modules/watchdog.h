/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names a plugin that keeps the loop waiting, while it does: what it is doing must be known before
 * it ends, because it may never. The loop notes where it enters and leaves plugin code, without a
 * look at the clock; a thread looks at the note now and then, and one that is still the same after
 * HUB_LOOP_BLOCKED_MS is logged as "plugin.blocks", once. When nothing has been entered for a while
 * the thread sleeps until something is.
 *
 * Thread: the loop's, but where said.
 */
#ifndef HUB_MODULES_WATCHDOG_H
#define HUB_MODULES_WATCHDOG_H

#include "base/err.h"

#include <stdatomic.h>

typedef struct hub_watchdog hub_watchdog;

/* A stay in plugin code. On the stack of whoever enters it; stays nest. */
typedef struct hub_watchdog_stay {
    struct hub_watchdog_stay *outer;
    uint64_t number;     /* no two stays have the same */
    const char *toolset; /* NULL: of none, while it is linked */
    const char *module;
    const char *entry; /* which function: "call", "timer", … */
    hub_str tool;      /* of a call; else empty */
} hub_watchdog_stay;

/* owns:    *ret_watchdog
 * errors:  HUB_ENOMEM, HUB_ESYSTEM (no thread can be had) */
HUB_MUST_CHECK hub_err hub_watchdog_create(hub_watchdog **ret_watchdog);
void hub_watchdog_destroy(hub_watchdog *watchdog); /* NULL is fine */

/* Plugin code is entered. The text is borrowed until it is left; outer and number are filled in. */
void hub_watchdog_enter(hub_watchdog *watchdog, hub_watchdog_stay *stay);

/* … and left: the one that was entered last. */
void hub_watchdog_leave(hub_watchdog *watchdog, hub_watchdog_stay *stay);

#endif
