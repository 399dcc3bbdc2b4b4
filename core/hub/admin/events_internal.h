/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder keep with the hub. Nobody else includes it. */
#ifndef HUB_HUB_ADMIN_EVENTS_INTERNAL_H
#define HUB_HUB_ADMIN_EVENTS_INTERNAL_H

#include "hub/admin/admin.h"
#include "hub/admin/events.h"
#include "hub/kernel/station.h"

typedef struct hub_events hub_events;

/* With the hub. */
typedef struct hub_admin_part {
    const hub_administrator *administrator;
    void *ctx;
    hub_admin_read *read; /* NULL: nobody can read the configuration anew */
    void *read_ctx;
    hub_events *events;
} hub_admin_part;

/* With a call. */
typedef struct hub_admin_call {
    uint64_t event_number; /* 0: its beginning was not told */
    hub_orchestrator *hub; /* with a number */
    uint64_t begun_us;
    char *what;                /* JSON members that say which call it is; freed with the call */
    void (*on_end)(void *ctx); /* NULL: nobody wants to know */
    void *ctx;
} hub_admin_call;

hub_admin_part *hub_admin_part_of(const hub_orchestrator *hub);

/* owns:    the result. errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_events_create(hub_orchestrator *hub, hub_events **ret_events,
                                         hub_error *reterr);
void hub_events_destroy(hub_events *events); /* NULL is fine */

bool hub_events_are_kept(const hub_orchestrator *hub);

/* Keep one more; both are copied. */
void hub_events_add(hub_orchestrator *hub, hub_str name, hub_str json);

/* A call begins: HUB_PASS if that is not told; and ends. */
hub_verdict hub_events_call_begun(hub_call *call, const struct hub_way *way);
void hub_events_call_ended(hub_call *call, const struct hub_outcome *outcome);

#endif
