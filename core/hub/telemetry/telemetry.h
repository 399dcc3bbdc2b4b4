/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hub tells an OpenTelemetry collector: a SERVER span for each request of a client, and a CLIENT
 * span for each that goes on to a server behind the hub, which gets its traceparent; the metrics of
 * hub/metrics; the events of the log. Requests that are not recorded go on as the bytes they are. While
 * nothing is sent no call comes here. Thread: [loop].
 * spec: OpenTelemetry semantic conventions for generative AI, MCP: Spans, Context propagation
 */
#ifndef HUB_HUB_TELEMETRY_TELEMETRY_H
#define HUB_HUB_TELEMETRY_TELEMETRY_H

#include "hub/kernel/station.h"
#include "hub/telemetry/otel.h"

extern const hub_station HUB_TELEMETRY_STATION;

/* Send what the settings name, from now on. They are taken, and empty then.
 * errors:  HUB_ENOMEM, HUB_ELIMIT (too many secrets to mask): nothing is sent */
HUB_MUST_CHECK hub_err hub_telemetry_start(hub_orchestrator *hub, hub_otel_settings *settings,
                                           hub_error *reterr);

/* The hub ends: whether nothing waits any more, or has waited for HUB_LIMIT_OTEL_END_MS since then. */
bool hub_telemetry_is_settled(const hub_orchestrator *hub);

#endif
