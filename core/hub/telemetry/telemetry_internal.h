/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder keep with the hub and with calls. Nobody else includes it. */
#ifndef HUB_HUB_TELEMETRY_TELEMETRY_INTERNAL_H
#define HUB_HUB_TELEMETRY_TELEMETRY_INTERNAL_H

#include "hub/kernel/call.h"
#include "hub/kernel/way.h"
#include "hub/telemetry/exporter.h"
#include "hub/telemetry/log_feed.h"
#include "hub/telemetry/span.h"
#include "hub/telemetry/telemetry.h"
#include "redact/redact.h"

#include <ev.h>

enum { HUB_TELEMETRY_RANDOM_BYTES = 512 };

typedef struct hub_telemetry {
    hub_orchestrator *hub;
    hub_otel_settings settings;
    hub_fetcher *fetcher;
    hub_exporter *exporters[HUB_OTEL_SIGNALS]; /* NULL: it is not sent */
    char *heads[HUB_OTEL_SIGNALS];             /* of requests: the resource */
    hub_log_feed *feed;                        /* NULL: logs are not sent */
    hub_redact_set *secrets;                   /* of the collector's */
    uint64_t stopped_ms;                       /* monotonic; 0: the hub does not end */
    uint64_t begun_ns;
    ev_timer metrics_due;
    uint64_t drawn;   /* the state of the numbers by which requests are chosen */
    uint64_t passing; /* requests without a parent that are not recorded before the next that is */
    unsigned char random[HUB_TELEMETRY_RANDOM_BYTES];
    size_t random_left; /* of these */
} hub_telemetry;

/* With a call. */
typedef struct call_spans {
    hub_telemetry *telemetry;
    hub_span *server;
    hub_span *client; /* NULL: it has not gone on to a server */
    char *params;     /* what went on instead of its own */
} call_spans;

/* The hub's; NULL: nothing is sent. */
hub_telemetry *hub_telemetry_of(const hub_orchestrator *hub);

/* ---- spans (spans.c) ------------------------------------------------------------------------- */

hub_verdict hub_telemetry_begin(hub_call *call, hub_way *way);
hub_verdict hub_telemetry_hand_over(hub_call *call, hub_handover *handover);
void hub_telemetry_end(hub_call *call, const hub_outcome *outcome);
void hub_telemetry_drop(hub_call *call);
void hub_telemetry_answered(const struct hub_request *request, int code, hub_str message);

/* ---- which are recorded (sampling.c) --------------------------------------------------------- */

/* Begin to draw anew, from where nobody knows. */
void hub_telemetry_shuffle(hub_telemetry *telemetry);

/* Look at a request with this `_meta` first: false is that it is not recorded, for most that have none. That
 * is all that they pay. */
static inline bool hub_telemetry_look(hub_telemetry *telemetry, hub_str meta)
{
    bool is_passed = meta.len == 0 && telemetry->passing > 0;
    telemetry->passing -= is_passed;
    return !is_passed;
}

/* Of one that was just looked at: whether it is recorded; if so, its span's own ids, and the id of its
 * parent (empty: there is none). */
bool hub_telemetry_choose(hub_telemetry *telemetry, hub_str meta, hub_trace *ret_own,
                          char ret_parent[HUB_SPAN_ID_BYTES]);

/* A new span of the same trace. */
hub_trace hub_telemetry_next(hub_telemetry *telemetry, const hub_trace *of);

#endif
