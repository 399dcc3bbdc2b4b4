/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face for Prometheus: /metrics, in the text format, or in OpenMetrics for those who accept it.
 * Served by listeners with `metrics: true`, to callers with a token; where the hub has no tokens, to
 * callers on this machine. Thread: [loop].
 */
#ifndef HUB_WEB_METRICS_METRICS_H
#define HUB_WEB_METRICS_METRICS_H

#include "web/face.h"

/* Its instance is the hub_orchestrator. */
extern const hub_web_face HUB_WEB_METRICS;

#endif
