/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait until a store that hubs share has said whether they may come: what the limits of
 * clients (shared_rates.h) and of tools (tool_rates.h) have in common. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_TAKES_H
#define HUB_HUB_LIMITS_TAKES_H

#include "base/bucket.h"
#include "base/limits.h"
#include "hub/kernel/settings.h"
#include "hub/kernel/station.h"
#include "hub/kernel/way.h"
#include "state/store.h"

/* The limits that one call has to find room in, by names that all hubs of the store give them. */
typedef struct hub_take_limits {
    hub_state_limit items[HUB_LIMIT_STATE_TAKES];
    size_t count;
    hub_buf names;
} hub_take_limits;

void hub_take_limits_init(hub_take_limits *limits);
void hub_take_limits_fini(hub_take_limits *limits);

/* One more, "FIRST<tab>SECOND"; at most HUB_LIMIT_STATE_TAKES. */
void hub_take_limits_add(hub_take_limits *limits, hub_bucket_rate rate, hub_str first,
                         hub_str second);

/* What the store has said about a call, as hub_state_taken; the way is the call's. HUB_GO_ON: it goes
 * on behind the station; HUB_ANSWERED. */
typedef hub_verdict hub_take_said(hub_call *call, const hub_way *way, hub_err err, uint32_t wait_ms,
                                  size_t over);

/* A station's state with a call that waits. */
typedef struct hub_take {
    hub_call *call;
    hub_kept_way *kept; /* NULL: it waits no more */
    hub_state_op *op;
    const hub_station *station;
    hub_take_said *said;
    struct hub_take **list; /* where it waits */
    struct hub_take *next;
    struct hub_take *prev;
} hub_take;

/* Have the store say whether a call may come, if there are any limits: `said` is told, perhaps before
 * this returns (HUB_EUNAVAILABLE). `list` outlives its calls. */
hub_verdict hub_take_ask(hub_call *call, const hub_way *way, const hub_station *station,
                         hub_take_limits *limits, hub_take_said *said, hub_take **list);

/* The call of that station waits no more, if it does. */
void hub_take_end(hub_call *call, const hub_station *station);

/* The toolset of all that wait there goes. */
void hub_take_fail_all(hub_take **list);

/* ---- without the store ----------------------------------------------------------------------- */

/* What replicas.fail says of a call: HUB_GO_ON, HUB_ANSWERED (it is refused), or HUB_HOLD: the share of
 * this hub decides. */
hub_verdict hub_take_without(hub_call *call, const hub_orchestrator *hub);

/* That share of a rate. */
hub_bucket_rate hub_take_share(const hub_orchestrator *hub, hub_bucket_rate rate);

#endif
