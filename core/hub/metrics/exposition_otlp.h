/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as OTLP has them: one Metric object for each family that has points, in JSON. Names and
 * attributes are those of the semantic conventions, with dots. Only exposition.c uses it. Pure.
 * spec: OTLP 1.x metrics.proto; OTLP/HTTP, JSON Protobuf Encoding
 */
#ifndef HUB_HUB_METRICS_EXPOSITION_OTLP_H
#define HUB_HUB_METRICS_EXPOSITION_OTLP_H

#include "hub/metrics/exposition.h"

void hub_otlp_family(hub_exposition *to, const char *help);
void hub_otlp_count(hub_exposition *to, const hub_label *labels, uint64_t value);
void hub_otlp_seconds(hub_exposition *to, const hub_label *labels, uint64_t us);
void hub_otlp_histogram(hub_exposition *to, const hub_label *labels,
                        const hub_histogram *histogram);
void hub_otlp_end(hub_exposition *to);

#endif
