/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the standard variables of OpenTelemetry say about what is sent where. A value that cannot be
 * used is told and ignored, as the specification has it: telemetry never keeps a hub from starting.
 * Pure but for what `get` does.
 * spec: OpenTelemetry 1.4x, Environment Variable Specification; OTLP Exporter Configuration
 */
#ifndef HUB_HUB_TELEMETRY_OTEL_H
#define HUB_HUB_TELEMETRY_OTEL_H

#include "base/err.h"

typedef enum hub_otel_signal {
    HUB_OTEL_TRACES,
    HUB_OTEL_METRICS,
    HUB_OTEL_LOGS,
    HUB_OTEL_SIGNALS,
} hub_otel_signal;

/* "traces", "metrics", "logs". */
extern const char *const HUB_OTEL_SIGNAL_WORDS[HUB_OTEL_SIGNALS];

/* Where a signal goes. */
typedef struct hub_otel_target {
    char *url;           /* NULL: it is not sent */
    char *headers;       /* each "Name: value\n"; secrets may be among them */
    char *ca;            /* PEM file; NULL: the system's authorities */
    uint32_t timeout_ms; /* of one request */
} hub_otel_target;

/* How records of a signal are gathered. */
typedef struct hub_otel_batch {
    uint32_t delay_ms; /* the longest that one waits for others */
    uint32_t queue;    /* that wait, at most */
    uint32_t most;     /* in one request */
} hub_otel_batch;

#define HUB_OTEL_ALL_TRACES (UINT64_C(1) << 63)

/* Which traces that begin at the hub are recorded: those whose id, read as a number of 63 bits, is
 * below `bound`. */
typedef struct hub_otel_sampler {
    bool asks_parent; /* one that began elsewhere is recorded if that is said */
    uint64_t bound;   /* HUB_OTEL_ALL_TRACES; 0: none */
} hub_otel_sampler;

typedef struct hub_otel_settings {
    hub_otel_target targets[HUB_OTEL_SIGNALS];
    hub_otel_batch batches[HUB_OTEL_SIGNALS];
    char *resource; /* attributes of the process, a JSON array of OTLP's KeyValue */
    hub_otel_sampler sampler;
    bool keeps_content; /* arguments and results of tools are in spans, and addresses of clients */
} hub_otel_settings;

typedef struct hub_otel_source {
    const char *(*get)(void *ctx, const char *name);                  /* NULL: not set */
    void (*on_ignored)(void *ctx, const char *name, const char *why); /* may be NULL */
    void *ctx;
} hub_otel_source;

/* Read them all.
 * owns:    *ret_settings, hub_otel_fini
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_otel_read(const hub_otel_source *source,
                                     hub_otel_settings *ret_settings);
void hub_otel_fini(hub_otel_settings *settings);

/* Whether any signal is sent. */
bool hub_otel_is_on(const hub_otel_settings *settings);

#endif
