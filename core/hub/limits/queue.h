/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait because their toolset has as many in flight as it may (max_calls). A principal's
 * calls wait in the order in which they came; principals take turns, so that one who sends many
 * does not keep the others from theirs. A call that waits is a call like any other: it can be
 * cancelled, it counts, it ends with its session, and its deadline runs. Whoever finds the queue
 * full, or has waited for queue_timeout, is told so at once, as something to try again.
 *
 * It is the toolset's, not its binding's: what waits outlives a server that is replaced. It starts
 * calls from the loop, never from inside the end of another call. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_QUEUE_H
#define HUB_HUB_LIMITS_QUEUE_H

#include "hub/kernel/call.h"

#include <ev.h>

struct hub_toolset;
struct hub_lane;

/* Part of a toolset. */
typedef struct hub_queue {
    struct hub_lane *lanes; /* uthash over the principal's account */
    struct hub_lane *turn;  /* the same, in the order of their turns */
    size_t count;           /* calls */
    ev_timer wake;
} hub_queue;

void hub_queue_init(struct hub_toolset *toolset);
void hub_queue_fini(struct hub_toolset *toolset); /* nobody waits */

/* Have a call wait for a place of the toolset if there is none, or somebody else is before it;
 * `name` and `message` are kept, with `name_json` in it. A call that cannot wait either is failed.
 * False: it can be made now. Calls about tasks need no place. */
bool hub_queue_hold(hub_call *call, struct hub_toolset *toolset, hub_str name, hub_str name_json,
                    const hub_message *message);

/* A call that waits is over. */
void hub_queue_leave(hub_call *call);

/* There may be a place: who waits gets it before the loop waits again. */
void hub_queue_wake(struct hub_toolset *toolset);

/* The toolset is active no more: everybody who waits is told. */
void hub_queue_end(struct hub_toolset *toolset);

#endif
