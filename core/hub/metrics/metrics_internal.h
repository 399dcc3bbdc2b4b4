/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder keep with the hub. Nobody else includes it. */
#ifndef HUB_HUB_METRICS_METRICS_INTERNAL_H
#define HUB_HUB_METRICS_METRICS_INTERNAL_H

#include "hub/metrics/metrics.h"

#include <ev.h>

/* Of the names that transports have; what has another one is counted as the last. */
enum { HUB_METRICS_TRANSPORTS = 8 };

/* Others who know something. */
enum { HUB_METRICS_SOURCES = 4 };

typedef struct hub_metrics {
    hub_orchestrator *hub;
    hub_series_table *series;
    bool is_on;
    bool is_wanted;   /* … although no listener asks */
    uint64_t refused; /* requests that became no call */
    struct {
        const char *transport; /* a constant; NULL: the place is free */
        hub_histogram lived;
    } sessions[HUB_METRICS_TRANSPORTS];
    hub_histogram upstream_lived;
    hub_histogram lags; /* of the loop: how late it came to a timer */
    uint64_t longest_lag_us;
    uint64_t due_us; /* when it should come to the next; monotonic */
    ev_timer look;
    bool is_watching;
    struct {
        hub_metrics_add *add; /* NULL: the place is free */
        void *ctx;
    } sources[HUB_METRICS_SOURCES];
} hub_metrics;

/* The hub's. */
hub_metrics *hub_metrics_of(const hub_orchestrator *hub);

#endif
