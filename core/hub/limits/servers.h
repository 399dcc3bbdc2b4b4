/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many servers run at once: limits.running_servers. Before one more is started than may run, those
 * that are idle are stopped, the one that was used least recently first, until there is a place: idle
 * is one whose catalog is known, that nobody has called, subscribed to or asked anything, and that
 * runs no tasks. It is started again when somebody needs it. If none is idle, the start fails, and is
 * tried again later, as after any other failure. A server that is ending has given its place back.
 *
 * Counted are the processes that hold a toolset's server, also those of isolated modules and of sessions
 * with an instance of their own, which are never stopped for others. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_SERVERS_H
#define HUB_HUB_LIMITS_SERVERS_H

#include "base/err.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"

/* Notes when toolsets were used, where there is a limit. */
extern const hub_station HUB_SERVERS_STATION;

/* Whether a server of that toolset may be started (hub_module_admit; the context is the hub).
 * errors:  HUB_ELIMIT; the text names the limit */
HUB_MUST_CHECK hub_err hub_servers_admit(void *ctx, const char *toolset, hub_error *reterr);

/* Servers that run, but for those that are ending. */
size_t hub_servers_running(const hub_orchestrator *hub);

#endif
