/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder keep with toolsets, audiences, calls and the hub. Nobody else includes
 * it. */
#ifndef HUB_HUB_CATALOGS_CATALOGS_INTERNAL_H
#define HUB_HUB_CATALOGS_CATALOGS_INTERNAL_H

#include "hub/catalogs/catalog_cache.h"
#include "hub/catalogs/discovery.h"
#include "hub/catalogs/shared.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/respond.h"

#include <ev.h>

/* With a toolset. */
typedef struct toolset_catalogs {
    int64_t learned_at_ms;  /* when the lists were last known to be current, since 1970; 0: never */
    bool is_recalled;       /* they are of an earlier hub's: no server has confirmed them yet */
    uint64_t failed_at_ms;  /* when the last attempt to discover failed; 0: it did not */
    unsigned failures;      /* attempts that failed, since the last that did not */
    hub_call *discovery;    /* the request for the catalog; NULL: not asked */
    bool is_refresh;        /* … of one that is known, which nobody waits for */
    bool was_asked;         /* it was asked for, and somebody may wait, when the binding went */
    uint64_t asked_at_ms;   /* when it was made */
    bool is_late;           /* see hub_discovery_note_wait */
    bool is_looked_at;      /* a list that it is in was asked for, and it is old */
    hub_discovery_run *run; /* that the request belongs to; NULL: none */
    int32_t failed_status;  /* PATCHBAY_…, of the last attempt that failed … */
    char *failure;          /* … and why; NULL: none did since the last that did not */
    hub_catalog_waiter *waiters;
    hub_catalog_waiter *telling; /* … those that are being told */
    ev_timer retry;              /* asks again, when there is no catalog yet */
    hub_cache_slot *cache_slot;  /* of catalog_cache.c; NULL: nothing yet */
    hub_shared_slot *shared;     /* of shared.c; likewise */
    bool told_no_room;           /* the log knows of which extensions: announce.c */
} toolset_catalogs;

/* With the hub. */
typedef struct hub_catalogs {
    hub_catalog_cache *cache;               /* NULL: no catalog is remembered on disk */
    hub_shared_catalogs *shared;            /* what replicas tell each other */
    ev_timer refresh;                       /* asks for what is too old … */
    char refresh_trace[HUB_TRACE_ID_BYTES]; /* … for whom; empty: nobody said */
} hub_catalogs;

/* A toolset that it waits for: await.c. */
typedef struct parked_wait parked_wait;

/* A request that waits for a catalog. */
typedef struct parked {
    hub_call *call;
    hub_request_handler *handle; /* NULL: it does not wait */
    char *bytes;                 /* the request, whole */
    size_t len;
    size_t held;        /* of its session's bytes */
    parked_wait *waits; /* NULL: it waits for all, as a list does */
    size_t wait_count;
    size_t outstanding; /* of them, those that have not answered */
    bool is_beginning;  /* they are being asked */
    char *uri;          /* that it names; NULL: none */
    unsigned told;      /* how often its client was told that it waits */
    struct parked **list;
    struct parked *next;
    struct parked *prev;
} parked;

/* With an audience. */
typedef struct audience_catalogs {
    parked *lists;    /* that wait, oldest first … */
    parked *awaiting; /* … and requests that wait for certain toolsets … */
    parked *going;    /* … and those that go on next */
} audience_catalogs;

/* With a call. */
typedef struct call_catalogs {
    parked parked;
    char *promised; /* a tool that only an earlier hub heard of; NULL: none */
} call_catalogs;

toolset_catalogs *hub_catalogs_of(const hub_toolset *toolset);
hub_catalogs *hub_catalogs_with(const hub_orchestrator *hub);
audience_catalogs *hub_catalogs_in(const hub_audience *audience);

/* ---- discovery.c ----------------------------------------------------------------------------- */

/* The toolset's module has given it a list: it is news, and remembered unless more is to come. */
void hub_discovery_take(hub_toolset *toolset);

/* It was reached, or begins anew. */
void hub_discovery_forget_failure(hub_toolset *toolset);

/* Ask no more for the toolset's catalog. Whether it had been asked for, and somebody may wait. */
bool hub_discovery_stop(hub_toolset *toolset);

/* The store has been looked into (hub_shared_on_sought). */
void hub_discovery_sought(hub_toolset *toolset);

/* Tell those who wait for the catalog that it is known now, or why not. */
void hub_discovery_tell(hub_toolset *toolset, hub_err err, hub_str reason);

/* Prepare the timers of a new hub, of a new toolset. */
void hub_discovery_init(hub_orchestrator *hub);
void hub_discovery_init_toolset(hub_toolset *toolset);

/* ---- parking.c ------------------------------------------------------------------------------- */

/* A parked call is ending. */
void hub_parking_end(hub_call *call);

/* What of a session is parked goes with it to its audience. */
void hub_parking_move(hub_session *session, hub_audience *from);

#endif
