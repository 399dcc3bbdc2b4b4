/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records on their way to a collector: they wait in a queue that is bounded in number and bytes, and go
 * out in batches, one request at a time. What finds no room is dropped and counted; so is a batch that
 * the collector refuses, or does not take in a few attempts. Nothing here waits for it. Thread: [loop].
 * spec: OTLP 1.x, OTLP/HTTP: Request, Response, Failures, Throttling
 */
#ifndef HUB_HUB_TELEMETRY_EXPORTER_H
#define HUB_HUB_TELEMETRY_EXPORTER_H

#include "base/buf.h"
#include "hub/telemetry/otel.h"
#include "issuers/fetch.h"

typedef struct hub_exporter hub_exporter;

/* Borrowed for the exporter's life. */
typedef struct hub_exporter_options {
    hub_otel_signal signal;
    const hub_otel_target *target;
    const hub_otel_batch *batch;
    hub_str head; /* of a request's body: what stands before the records … */
    hub_str tail; /* … and behind them */
} hub_exporter_options;

/* NULL when out of memory. */
hub_exporter *hub_exporter_create(struct ev_loop *loop, hub_fetcher *fetcher,
                                  const hub_exporter_options *options);
void hub_exporter_destroy(hub_exporter *exporter); /* what waits is lost; NULL is fine */

/* Send a record: JSON text, which is copied; one that has failed is lost. NULL is fine. */
void hub_exporter_put(hub_exporter *exporter, const hub_buf *record);

/* So many records were lost before they came here. */
void hub_exporter_note_lost(hub_exporter *exporter, uint64_t count);

/* Send what waits without waiting for more. */
void hub_exporter_hurry(hub_exporter *exporter);

/* Whether something waits that may still be sent. */
bool hub_exporter_is_busy(const hub_exporter *exporter);

typedef struct hub_exporter_numbers {
    uint64_t sent;    /* records that the collector has taken */
    uint64_t dropped; /* … that it has not, or that found no room */
    size_t waiting;
    bool is_failing; /* the last request has failed */
} hub_exporter_numbers;

hub_exporter_numbers hub_exporter_count(const hub_exporter *exporter);

#endif
