/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait because their toolset has as many in flight as it may (max_calls). A principal's
 * calls wait in the order in which they came; principals take turns, so that one who sends many
 * does not keep the others from theirs. A call that waits is a call like any other: it can be
 * cancelled, it counts, it ends with its session, and its deadline runs. Whoever finds the queue
 * full, or has waited for queue_timeout, is told so at once, as something to try again. Calls about
 * tasks need no place.
 *
 * It is the toolset's, not its binding's: what waits outlives a server that is replaced. It starts
 * calls from the loop, never from inside the end of another call. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_QUEUE_H
#define HUB_HUB_LIMITS_QUEUE_H

#include "hub/kernel/station.h"
#include "hub/kernel/types.h"

extern const hub_station HUB_QUEUE_STATION;

/* Calls that wait for a place of the toolset. */
size_t hub_queue_count(const hub_toolset *toolset);

#endif
