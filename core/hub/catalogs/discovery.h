/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery: asking toolsets that defer their catalog what they offer. Those that are asked on one
 * occasion are a run: they are asked in parallel, and what comes of it is logged under one trace id
 * (REQUIREMENTS S4.59 to S4.64).
 *
 * A catalog that is known, from an earlier answer or from the disk, is served at once, whatever its
 * age. When somebody lists and it is older than limits.catalog_ttl_ms, it is asked for anew once
 * the list has left; clients hear of what is different then. A server that cannot be reached keeps
 * its last good catalog; one without any is asked again and again, ever less often.
 *
 * The others of a run do not wait for its stragglers: when three times as many have answered as are
 * still out, these get as long again as all took so far, at least limits.straggler_ms, and are
 * late from then on. With few servers a list is complete, with many it is there soon.
 * Thread: [loop].
 */
#ifndef HUB_HUB_CATALOGS_DISCOVERY_H
#define HUB_HUB_CATALOGS_DISCOVERY_H

#include "base/err.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "wire/trace.h"

typedef struct hub_discovery_run hub_discovery_run;

/* Somebody who waits for a catalog. Embed it; `on_known` is called once, with a reason when the
 * catalog cannot be had. */
typedef struct hub_catalog_waiter {
    struct hub_catalog_waiter *next;
    struct hub_catalog_waiter *prev;
    bool is_told; /* it is about to be */
    void (*on_known)(struct hub_catalog_waiter *waiter, hub_err err, hub_str reason);
} hub_catalog_waiter;

/* Whether the catalog is not known and it is worth waiting for it: asked for, or to be asked for,
 * and not failed a moment ago. */
bool hub_discovery_is_pending(const hub_toolset *toolset);

/* Whether it may turn out to have anything: the catalog has to be asked for, and was not told. */
bool hub_discovery_is_unknown(const hub_toolset *toolset);

/* Whether it is being asked for now. */
bool hub_discovery_is_asked(const hub_toolset *toolset);

/* When the lists were last known to be current, milliseconds since 1970; 0: never. */
int64_t hub_discovery_learned_at(const hub_toolset *toolset);

/* A list has waited for the pending catalog as long as it may. If it was not asked for just now, it
 * is late from then on: no further list waits for it. */
void hub_discovery_note_wait(hub_toolset *toolset);
bool hub_discovery_is_late(const hub_toolset *toolset);

/* The settings of the server are others: what is known of it is an earlier one's. Have it asked for
 * anew, and tell `waiter`, as hub_discovery_want does. */
void hub_discovery_ask_anew(hub_toolset *toolset, hub_catalog_waiter *waiter,
                            hub_discovery_run *run);

/* Why the last attempt to learn the catalog failed; NULL: it did not, or is being made again. */
const char *hub_discovery_failure(const hub_toolset *toolset);

/* Whether the last that was heard of its server is a failure. */
bool hub_discovery_has_failed(const hub_toolset *toolset);

/* Somebody has named the toolset: its server is asked now, also one that has failed and is not tried
 * again yet, and `waiter` (may be NULL) is told. What is known of it stays until then. */
void hub_discovery_try(hub_toolset *toolset, hub_catalog_waiter *waiter, hub_discovery_run *run);

/* Have the catalog asked for, if it is not known, and tell `waiter` (may be NULL). It is told
 * before this returns when there is nothing to wait for. `run` (may be NULL) is what the request
 * belongs to. */
void hub_discovery_want(hub_toolset *toolset, hub_catalog_waiter *waiter, hub_discovery_run *run);

/* Forget a waiter that has not been told. */
void hub_discovery_unwait(hub_toolset *toolset, hub_catalog_waiter *waiter);

/* Read what is remembered of a toolset, for those who look before they use it.
 * blocks:  yes: reads a file */
void hub_discovery_recall(hub_toolset *toolset);

/* Write nothing of it that was not written yet. */
void hub_discovery_forget_file(hub_toolset *toolset);

/* Discovery has ended, or something that requests wait for is no more: who waits for nothing any
 * more goes on. */
void hub_discovery_ended(hub_orchestrator *hub);

/* At the end: have everything written that is to be remembered. False while a worker is at it: ask
 * again. */
bool hub_discovery_settle(hub_orchestrator *hub);

extern const hub_station HUB_CATALOGS_STATION;

/* Begin a run of `count` toolsets; ask them with hub_toolset_discover, then end it here. `meta` is
 * the raw `_meta` of the request that is the cause, for its trace; may be empty. NULL when there is
 * nothing to ask, or no memory: then nothing is logged of it. */
hub_discovery_run *hub_discovery_begin(hub_orchestrator *hub, size_t count, hub_str meta);

/* All have been asked: the run ends with the last answer. NULL is fine. */
void hub_discovery_asked(hub_discovery_run *run);

/* Whether a toolset that does not wait for somebody who needs it is to be asked now. */
bool hub_discovery_is_due(const hub_toolset *toolset);

/* Ask it, as a part of the run: its server is started, if only to confirm what is known. */
void hub_discovery_wake(hub_toolset *toolset, hub_discovery_run *run);

/* Ask all toolsets that the session sees something of, or may, whose catalog is awaited
 * (hub_toolset_is_pending). */
void hub_discovery_ask(const hub_session *session, hub_str meta);

/* A client looks at its lists: what of them is too old is asked for, a moment later. */
void hub_discovery_refresh(const hub_session *session, hub_str meta);

/* The catalog is what the toolset's server says now, whoever made it say so: it counts as current,
 * it is remembered, and calls of tools that it lacks fail. The log has it when it had failed. */
void hub_discovery_confirm(hub_toolset *toolset);

/* Log how many tools there are: some toolset has come or gone. `trace`: empty for none. */
void hub_discovery_log_registry(const hub_orchestrator *hub, hub_str trace);

/* Log that the tools of a server are no longer there (S4.63); of other toolsets nothing is said. */
void hub_discovery_log_removed(const hub_toolset *toolset);

#endif
