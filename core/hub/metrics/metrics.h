/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics: what the hub counts while somebody may ask for it, which is while a listener has
 * `metrics: true`. Calls are counted where their outcome is known; what is there to be looked at
 * (toolsets, sessions, memory) is looked at when it is asked for. Thread: [loop].
 * spec: OpenTelemetry semantic conventions for MCP, Metrics
 */
#ifndef HUB_HUB_METRICS_METRICS_H
#define HUB_HUB_METRICS_METRICS_H

#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "hub/metrics/exposition.h"

extern const hub_station HUB_METRICS_STATION;

/* What others know: `add` appends families when somebody asks. There is room for
 * HUB_METRICS_SOURCES; one that has the same `ctx` is replaced, and by NULL removed. */
typedef void hub_metrics_add(void *ctx, hub_exposition *to);
void hub_metrics_add_source(hub_orchestrator *hub, hub_metrics_add *add, void *ctx);

/* Count although no listener asks, for somebody who sends it somewhere; or no more. */
void hub_metrics_want(hub_orchestrator *hub, bool is_wanted);

/* network.transport of a session's transport, as the conventions have it: pipe, unix, tcp. */
const char *hub_metrics_network_of(const char *transport);

/* Append all metrics in one of the two text formats. */
void hub_metrics_expose(hub_orchestrator *hub, bool is_openmetrics, hub_buf *out);

/* Append them as OTLP's Metric objects in JSON, with commas between them. */
void hub_metrics_expose_otlp(hub_orchestrator *hub, hub_buf *out);

#endif
