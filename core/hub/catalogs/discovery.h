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

/* The id of a trace, as W3C Trace Context has it: 32 hexadecimal digits, with its NUL. */
#define HUB_TRACE_ID_BYTES 33

struct hub_orchestrator;
struct hub_profile;
struct hub_toolset;

typedef struct hub_discovery_run hub_discovery_run;

/* Begin a run of `count` toolsets; ask them with hub_toolset_discover, then end it here. `meta` is
 * the raw `_meta` of the request that is the cause, for its trace; may be empty. NULL when there is
 * nothing to ask, or no memory: then nothing is logged of it. */
hub_discovery_run *hub_discovery_begin(struct hub_orchestrator *hub, size_t count, hub_str meta);

/* All have been asked: the run ends with the last answer. NULL is fine. */
void hub_discovery_asked(hub_discovery_run *run);

/* Whether a toolset that does not wait for somebody who needs it is to be asked now. */
bool hub_discovery_is_due(const struct hub_toolset *toolset);

/* Ask it, as a part of the run: its server is started, if only to confirm what is known. */
void hub_discovery_wake(struct hub_toolset *toolset, hub_discovery_run *run);

/* Ask all toolsets of the profile whose catalog is awaited (hub_toolset_is_pending). */
void hub_discovery_ask(struct hub_profile *profile, hub_str meta);

/* A client looks at the profile's lists: what is too old is asked for, a moment later. */
void hub_discovery_refresh(struct hub_profile *profile, hub_str meta);

/* The toolset's module has given it a list: it is news, and remembered unless more is to come. */
void hub_discovery_take(struct hub_toolset *toolset);

/* The catalog is what the toolset's server says now, whoever made it say so: it counts as current,
 * it is remembered, and calls of tools that it lacks fail. The log has it when it had failed. */
void hub_discovery_confirm(struct hub_toolset *toolset);

/* Ask no more for the toolset's catalog. Whether it had been asked for, and somebody may wait. */
bool hub_discovery_stop(struct hub_toolset *toolset);

/* Tell those who wait for the catalog that it is known now, or why not. */
void hub_discovery_tell(struct hub_toolset *toolset, hub_err err, hub_str reason);

/* Log how many tools there are: some toolset has come or gone. `trace`: empty for none. */
void hub_discovery_log_registry(const struct hub_orchestrator *hub, hub_str trace);

/* Log that the tools of a server are no longer there (S4.63); of other toolsets nothing is said. */
void hub_discovery_log_removed(const struct hub_toolset *toolset);

/* Prepare the timers of a new hub, of a new toolset; stop a hub's at its end. */
void hub_discovery_init(struct hub_orchestrator *hub);
void hub_discovery_init_toolset(struct hub_toolset *toolset);
void hub_discovery_end(struct hub_orchestrator *hub);

#endif
