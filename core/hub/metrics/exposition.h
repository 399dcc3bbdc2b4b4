/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as text, in the two formats that Prometheus reads, or as OTLP has them in JSON
 * (exposition_otlp.c). Families are written one after the other, each with its samples behind it. Pure:
 * nothing is looked up here.
 * spec: Prometheus text format 0.0.4; OpenMetrics 1.0; OTLP 1.x metrics.proto
 */
#ifndef HUB_HUB_METRICS_EXPOSITION_H
#define HUB_HUB_METRICS_EXPOSITION_H

#include "base/buf.h"
#include "hub/metrics/series.h"

typedef enum hub_metrics_kind {
    HUB_METRICS_GAUGE,
    HUB_METRICS_COUNTER,
    HUB_METRICS_HISTOGRAM,
} hub_metrics_kind;

/* What OTLP needs to know, and what is open of the family that is being written. */
typedef struct hub_exposition_otlp {
    uint64_t begun_ns; /* since when counters count; since 1970 */
    uint64_t now_ns;
    size_t family_at; /* where the family begins in `out` */
    bool is_open;
    bool has_points;
} hub_exposition_otlp;

typedef struct hub_exposition {
    hub_buf *out;
    bool is_openmetrics;
    hub_exposition_otlp *otlp; /* NULL: text */
    const char *name;          /* of the family that is being written, without "_total" */
    hub_metrics_kind kind;
} hub_exposition;

/* Labels of a sample; a NULL key ends the list. What is empty is left out: to Prometheus that is the
 * same. */
typedef struct hub_label {
    const char *key;
    hub_str value;
} hub_label;

#define HUB_NO_LABELS ((const hub_label[]){{.key = NULL}})

/* Begin a family. Counters are named without "_total"; times end in "_seconds", sizes in "_bytes". */
void hub_exposition_family(hub_exposition *to, const char *name, hub_metrics_kind kind,
                           const char *help);

/* One sample of it: a number, or a time in microseconds that is written in seconds. */
void hub_exposition_count(hub_exposition *to, const hub_label *labels, uint64_t value);
void hub_exposition_seconds(hub_exposition *to, const hub_label *labels, uint64_t us);

/* A histogram; with its exemplar, where the format has them. At most 8 labels. */
void hub_exposition_histogram(hub_exposition *to, const hub_label *labels,
                              const hub_histogram *histogram);

/* The end of all. */
void hub_exposition_end(hub_exposition *to);

#endif
