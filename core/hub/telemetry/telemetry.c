/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/telemetry/telemetry.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/loop.h"
#include "hub/forward/forward.h"
#include "hub/kernel/hub.h"
#include "hub/metrics/metrics.h"
#include "hub/telemetry/telemetry_internal.h"

#include <stdlib.h>

/* The nesting of a request's body, from outside in. */
static const struct {
    const char *resources;
    const char *scopes;
    const char *records;
} NAMES[HUB_OTEL_SIGNALS] = {
    [HUB_OTEL_TRACES] = {"resourceSpans", "scopeSpans", "spans"},
    [HUB_OTEL_METRICS] = {"resourceMetrics", "scopeMetrics", "metrics"},
    [HUB_OTEL_LOGS] = {"resourceLogs", "scopeLogs", "logRecords"},
};

hub_telemetry *hub_telemetry_of(const hub_orchestrator *hub)
{
    hub_telemetry *const *telemetry = hub_hub_part(hub, &HUB_TELEMETRY_STATION);
    return *telemetry;
}

static bool wants_hub(const hub_orchestrator *hub)
{
    const hub_telemetry *telemetry = hub_telemetry_of(hub);
    return telemetry != NULL && telemetry->exporters[HUB_OTEL_TRACES] != NULL;
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void send_metrics(hub_telemetry *telemetry)
{
    hub_buf text;
    if (telemetry->exporters[HUB_OTEL_METRICS] != NULL) {
        hub_buf_init(&text, HUB_LIMIT_OTEL_QUEUE_BYTES);
        hub_metrics_expose_otlp(telemetry->hub, &text);
        hub_exporter_put(telemetry->exporters[HUB_OTEL_METRICS], &text);
        hub_buf_fini(&text);
    }
}

static void plan_metrics(hub_telemetry *telemetry)
{
    double seconds = telemetry->settings.batches[HUB_OTEL_METRICS].delay_ms / 1000.;
    hub_loop_start_timer(hub_loop(telemetry->hub), &telemetry->metrics_due, seconds);
    ev_unref(hub_loop(telemetry->hub)); /* it keeps no loop running */
}

static void on_metrics_due(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_telemetry *telemetry = timer->data;
    (void)events;
    ev_ref(loop);
    send_metrics(telemetry);
    plan_metrics(telemetry);
}

static void stop_metrics(hub_telemetry *telemetry)
{
    if (hub_loop_has_timer(&telemetry->metrics_due)) {
        ev_ref(hub_loop(telemetry->hub));
        ev_timer_stop(hub_loop(telemetry->hub), &telemetry->metrics_due);
    }
}

typedef uint64_t of_exporter(hub_exporter_numbers numbers);

static uint64_t sent(hub_exporter_numbers numbers)
{
    return numbers.sent;
}

static uint64_t dropped(hub_exporter_numbers numbers)
{
    return numbers.dropped;
}

static uint64_t waiting(hub_exporter_numbers numbers)
{
    return numbers.waiting;
}

static uint64_t is_failing(hub_exporter_numbers numbers)
{
    return numbers.is_failing;
}

/* What metrics say of what is sent. */
static void add_own_metrics(void *ctx, hub_exposition *to)
{
    static const struct {
        const char *name;
        hub_metrics_kind kind;
        const char *help;
        of_exporter *value;
    } ROWS[] = {
        {"patchbay_telemetry_sent", HUB_METRICS_COUNTER, "Records that the collector has taken.",
         sent},
        {"patchbay_telemetry_dropped", HUB_METRICS_COUNTER,
         "Records that found no room, or that the collector has not taken.", dropped},
        {"patchbay_telemetry_waiting", HUB_METRICS_GAUGE, "Records that wait to be sent.", waiting},
        {"patchbay_telemetry_failing", HUB_METRICS_GAUGE, "1: the last request has failed.",
         is_failing},
    };
    const hub_telemetry *telemetry = ctx;
    for (size_t row = 0; row < sizeof ROWS / sizeof ROWS[0]; row++) {
        hub_exposition_family(to, ROWS[row].name, ROWS[row].kind, ROWS[row].help);
        for (int signal = 0; signal < HUB_OTEL_SIGNALS; signal++) {
            const hub_exporter *exporter = telemetry->exporters[signal];
            const hub_label labels[] = {{"signal", hub_str_of(HUB_OTEL_SIGNAL_WORDS[signal])},
                                        {.key = NULL}};
            if (exporter != NULL) {
                hub_exposition_count(to, labels, ROWS[row].value(hub_exporter_count(exporter)));
            }
        }
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static void destroy(hub_telemetry *telemetry)
{
    hub_log_feed_destroy(telemetry->feed);
    for (int signal = 0; signal < HUB_OTEL_SIGNALS; signal++) {
        hub_exporter_destroy(telemetry->exporters[signal]);
        free(telemetry->heads[signal]);
    }
    hub_fetcher_destroy(telemetry->fetcher);
    hub_redact_set_destroy(telemetry->secrets);
    hub_otel_fini(&telemetry->settings);
    free(telemetry);
}

static hub_err make_exporter(hub_telemetry *telemetry, hub_otel_signal signal)
{
    static const hub_str TAIL = {.ptr = "]}]}]}", .len = 6};
    if (telemetry->settings.targets[signal].url == NULL) {
        return HUB_OK;
    }
    hub_buf head;
    hub_buf_init(&head, SIZE_MAX / 4);
    hub_buf_printf(&head,
                   "{\"%s\":[{\"resource\":{\"attributes\":%s},\"%s\":[{\"scope\":{\"name\":"
                   "\"patchbay\",\"version\":\"" PATCHBAY_VERSION "\"},\"%s\":[",
                   NAMES[signal].resources, telemetry->settings.resource, NAMES[signal].scopes,
                   NAMES[signal].records);
    telemetry->heads[signal] = hub_buf_take(&head);
    hub_buf_fini(&head);
    const hub_exporter_options options = {.signal = signal,
                                          .target = &telemetry->settings.targets[signal],
                                          .batch = &telemetry->settings.batches[signal],
                                          .head = hub_str_of(telemetry->heads[signal]),
                                          .tail = TAIL};
    telemetry->exporters[signal] =
        telemetry->heads[signal] != NULL
            ? hub_exporter_create(hub_loop(telemetry->hub), telemetry->fetcher, &options)
            : NULL;
    return telemetry->exporters[signal] != NULL ? HUB_OK : HUB_ENOMEM;
}

/* Headers may have the collector's secrets, which are to be shown nowhere. */
static hub_err mask_headers(hub_telemetry *telemetry)
{
    hub_err err = telemetry->secrets != NULL ? HUB_OK : HUB_ENOMEM;
    for (int signal = 0; err == HUB_OK && signal < HUB_OTEL_SIGNALS; signal++) {
        hub_str left = hub_str_of(telemetry->settings.targets[signal].headers);
        while (err == HUB_OK && left.len > 0) {
            const char *end = memchr(left.ptr, '\n', left.len);
            hub_str line = hub_str_between(left.ptr, end); /* each has its end */
            size_t colon = hub_str_find(line, HUB_STR(": "));
            if (colon != SIZE_MAX) {
                err = hub_redact_set_add(telemetry->secrets, hub_str_from(line, colon + 2));
            }
            left = hub_str_from(left, line.len + 1);
        }
    }
    return err;
}

static hub_err make_parts(hub_telemetry *telemetry)
{
    struct ev_loop *loop = hub_loop(telemetry->hub);
    telemetry->fetcher = hub_fetcher_create(loop);
    telemetry->secrets = hub_redact_set_create();
    hub_err err = telemetry->fetcher != NULL ? mask_headers(telemetry) : HUB_ENOMEM;
    for (int signal = 0; err == HUB_OK && signal < HUB_OTEL_SIGNALS; signal++) {
        err = make_exporter(telemetry, (hub_otel_signal)signal);
    }
    if (err == HUB_OK && telemetry->exporters[HUB_OTEL_LOGS] != NULL) {
        telemetry->feed = hub_log_feed_create(loop, telemetry->exporters[HUB_OTEL_LOGS]);
        err = telemetry->feed != NULL ? HUB_OK : HUB_ENOMEM;
    }
    return err;
}

hub_err hub_telemetry_start(hub_orchestrator *hub, hub_otel_settings *settings, hub_error *reterr)
{
    hub_telemetry **place_of_it = hub_hub_part(hub, &HUB_TELEMETRY_STATION);
    hub_telemetry *telemetry = calloc(1, sizeof *telemetry);
    if (telemetry == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    telemetry->hub = hub;
    telemetry->settings = *settings;
    hub_telemetry_shuffle(telemetry);
    *settings = (hub_otel_settings){.resource = NULL};
    hub_err err = make_parts(telemetry);
    if (err == HUB_OK && telemetry->exporters[HUB_OTEL_TRACES] != NULL) {
        err = hub_forward_want(hub, "traceparent");
    }
    if (err != HUB_OK) {
        destroy(telemetry);
        return hub_fail(reterr, err, "telemetry: %s", hub_err_text(err));
    }
    *place_of_it = telemetry;
    hub_fetcher_prepare(telemetry->fetcher);
    ev_timer_init(&telemetry->metrics_due, on_metrics_due, 0., 0.);
    telemetry->metrics_due.data = telemetry;
    hub_metrics_add_source(hub, add_own_metrics, telemetry);
    if (telemetry->exporters[HUB_OTEL_METRICS] != NULL) {
        hub_metrics_want(hub, true);
        plan_metrics(telemetry);
    }
    hub_review(hub);
    for (int signal = 0; signal < HUB_OTEL_SIGNALS; signal++) {
        if (telemetry->settings.targets[signal].url != NULL) {
            hub_log(HUB_LOG_INFO, "telemetry.begins",
                    HUB_F_TEXT("signal", HUB_OTEL_SIGNAL_WORDS[signal]),
                    HUB_F_TEXT("url", telemetry->settings.targets[signal].url));
        }
    }
    return HUB_OK;
}

/* The last metrics, and what waits. Told twice when a hub is stopped before it ends. */
static void hurry(hub_orchestrator *hub)
{
    hub_telemetry *telemetry = hub_telemetry_of(hub);
    if (telemetry == NULL || telemetry->stopped_ms > 0) {
        return;
    }
    telemetry->stopped_ms = hub_clock_now_ms();
    stop_metrics(telemetry);
    send_metrics(telemetry);
    for (int signal = 0; signal < HUB_OTEL_SIGNALS; signal++) {
        if (telemetry->exporters[signal] != NULL) {
            hub_exporter_hurry(telemetry->exporters[signal]);
        }
    }
}

bool hub_telemetry_is_settled(const hub_orchestrator *hub)
{
    const hub_telemetry *telemetry = hub_telemetry_of(hub);
    bool is_busy = false;
    for (int signal = 0; telemetry != NULL && signal < HUB_OTEL_SIGNALS; signal++) {
        const hub_exporter *exporter = telemetry->exporters[signal];
        is_busy = is_busy || (exporter != NULL && hub_exporter_is_busy(exporter));
    }
    return !is_busy || hub_clock_now_ms() - telemetry->stopped_ms >= HUB_LIMIT_OTEL_END_MS;
}

static void drop_hub(hub_orchestrator *hub)
{
    hub_telemetry **place_of_it = hub_hub_part(hub, &HUB_TELEMETRY_STATION);
    if (*place_of_it != NULL) {
        stop_metrics(*place_of_it);
        destroy(*place_of_it);
        *place_of_it = NULL;
    }
}

static hub_station_place place;

const hub_station HUB_TELEMETRY_STATION = {
    .name = "telemetry",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_telemetry *), [HUB_PART_CALL] = sizeof(call_spans)},
    .wants_hub = wants_hub,
    .begin = hub_telemetry_begin,
    .hand_over = hub_telemetry_hand_over,
    .end = hub_telemetry_end,
    .drop = hub_telemetry_drop,
    .answered = hub_telemetry_answered,
    .hub_stops = hurry,
    .hub_drops = drop_hub,
};
