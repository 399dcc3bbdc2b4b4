/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of discovery.h, and their traces, as discovery.c works with them. Thread: [loop].
 * spec: W3C Trace Context; MCP 2026-07-28 basic, _meta (traceparent)
 */
#ifndef HUB_HUB_CATALOGS_DISCOVERY_RUN_H
#define HUB_HUB_CATALOGS_DISCOVERY_RUN_H

#include "hub/catalogs/discovery.h"
#include "hub/kernel/types.h"

/* Keep an id for a run that begins later. */
void hub_discovery_keep_trace(hub_str trace, char ret_trace[HUB_TRACE_ID_BYTES]);

/* As hub_discovery_begin, under that trace, or a new one when it is empty. */
hub_discovery_run *hub_discovery_begin_traced(hub_orchestrator *hub, size_t count, hub_str trace);

/* The toolset is asked as a part of the run (may be NULL). */
void hub_discovery_join(hub_discovery_run *run, hub_toolset *toolset);

/* Take the toolset out of its run, and return that; NULL when there is none. The run stays until it
 * was looked after, once for each that has left: do that when all is done that the leaving caused.
 */
hub_discovery_run *hub_discovery_leave(hub_toolset *toolset);

/* One that has left had a catalog to give. NULL is fine. */
void hub_discovery_count(hub_discovery_run *run);

/* Nothing more is done for one that has left: end the run if it is over, or else see to its
 * stragglers. NULL is fine. */
void hub_discovery_look_after(hub_discovery_run *run);

/* The run's trace; empty for NULL. */
const char *hub_discovery_trace(const hub_discovery_run *run);

#endif
