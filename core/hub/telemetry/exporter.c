/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/telemetry/exporter.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/loop.h"
#include "wire/json.h"

#include <ev.h>
#include <stdlib.h>

typedef struct record {
    char *text;
    size_t len;
} record;

struct hub_exporter {
    struct ev_loop *loop;
    hub_fetcher *fetcher;
    hub_exporter_options options;
    record *ring; /* of options.batch->queue places */
    size_t first; /* the oldest */
    size_t count;
    size_t bytes;
    size_t leaving; /* of them, from the oldest on, in the request under way */
    unsigned tries; /* that have failed, of that batch */
    bool is_hurried;
    hub_fetch *fetch; /* NULL: no request is under way */
    ev_timer timer;   /* when the next batch leaves, or the same one again */
    hub_exporter_numbers numbers;
};

static const char *word_of(const hub_exporter *exporter)
{
    return HUB_OTEL_SIGNAL_WORDS[exporter->options.signal];
}

static record *record_at(const hub_exporter *exporter, size_t at)
{
    return &exporter->ring[(exporter->first + at) % exporter->options.batch->queue];
}

/* ---- one request ----------------------------------------------------------------------------- */

/* Let go of the batch. */
static void drop_batch(hub_exporter *exporter)
{
    for (; exporter->leaving > 0; exporter->leaving--) {
        record *oldest = record_at(exporter, 0);
        exporter->bytes -= oldest->len;
        free(oldest->text);
        exporter->first = (exporter->first + 1) % exporter->options.batch->queue;
        exporter->count--;
    }
    exporter->tries = 0;
}

static void start_timer(hub_exporter *exporter, uint64_t wait_ms)
{
    if (!ev_is_active(&exporter->timer)) {
        hub_loop_start_timer(exporter->loop, &exporter->timer, (double)wait_ms / 1000.);
        ev_unref(exporter->loop); /* it keeps no loop running */
    }
}

static void stop_timer(hub_exporter *exporter)
{
    if (ev_is_active(&exporter->timer)) {
        ev_ref(exporter->loop);
        ev_timer_stop(exporter->loop, &exporter->timer);
    }
}

/* Leave when there are enough of them, or when the oldest has waited long enough. */
static void plan(hub_exporter *exporter)
{
    const hub_otel_batch *batch = exporter->options.batch;
    if (exporter->fetch != NULL || exporter->leaving > 0 || exporter->count == 0) {
        return;
    }
    bool is_due = exporter->is_hurried || exporter->count >= batch->most;
    if (is_due) {
        stop_timer(exporter);
    }
    start_timer(exporter, is_due ? 0 : batch->delay_ms);
}

/* Records that the collector says it did not take, of a request that succeeded. */
static uint64_t rejected(const hub_fetched *fetched, size_t most)
{
    static const char *const KEYS[HUB_OTEL_SIGNALS] = {"rejectedSpans", "rejectedDataPoints",
                                                       "rejectedLogRecords"};
    hub_str body;
    uint64_t count = 0;
    if (hub_json_check(fetched->body, &body, NULL) != HUB_OK) {
        return 0; /* it may answer in another form */
    }
    hub_str partial = hub_json_get(body, HUB_STR("partialSuccess"));
    for (size_t i = 0; i < HUB_OTEL_SIGNALS; i++) {
        hub_str value = hub_json_get(partial, hub_str_of(KEYS[i]));
        hub_str text;
        if (hub_json_plain(value, &text)) { /* 64 bits are strings in OTLP's JSON */
            value = text;
        }
        if (value.len > 0 && value.ptr[0] >= '0' && value.ptr[0] <= '9' &&
            hub_json_check(value, NULL, NULL) == HUB_OK && hub_json_to_u64(value, &count)) {
            break;
        }
    }
    return count < most ? count : most;
}

static void note_success(hub_exporter *exporter, const hub_fetched *fetched)
{
    uint64_t lost = rejected(fetched, exporter->leaving);
    exporter->numbers.sent += exporter->leaving - lost;
    exporter->numbers.dropped += lost;
    if (exporter->numbers.is_failing) {
        exporter->numbers.is_failing = false;
        hub_log(HUB_LOG_WARNING, "telemetry.recovered", HUB_F_TEXT("signal", word_of(exporter)),
                HUB_F_INT("dropped", exporter->numbers.dropped));
    }
    drop_batch(exporter);
}

/* Told once, until it works again. */
static void note_failure(hub_exporter *exporter, const char *why, const char *effect)
{
    if (!exporter->numbers.is_failing) {
        exporter->numbers.is_failing = true;
        hub_log(HUB_LOG_WARNING, "telemetry.failed", HUB_F_TEXT("signal", word_of(exporter)),
                HUB_F_TEXT("url", exporter->options.target->url), HUB_F_TEXT("reason", why),
                HUB_F_TEXT("effect", effect));
    }
}

/* How long to wait before the same batch is sent again. */
static uint64_t pause_ms(const hub_exporter *exporter, const hub_fetched *fetched)
{
    if (fetched->retry_s > 0) {
        return (fetched->retry_s < HUB_LIMIT_OTEL_PAUSE_S ? fetched->retry_s
                                                          : HUB_LIMIT_OTEL_PAUSE_S) *
               UINT64_C(1000);
    }
    return (uint64_t)HUB_LIMIT_OTEL_PAUSE_MS << exporter->tries;
}

/* What the collector may take later: it was not reached, or says so. */
static bool is_worth_another(const hub_fetched *fetched)
{
    return fetched->status == 0 || fetched->status == 429 || fetched->status == 502 ||
           fetched->status == 503 || fetched->status == 504;
}

static void give_up(hub_exporter *exporter, const char *why)
{
    note_failure(exporter, why, "what cannot be sent is dropped");
    exporter->numbers.dropped += exporter->leaving;
    drop_batch(exporter);
}

static void on_end(void *ctx, const hub_fetched *fetched)
{
    hub_exporter *exporter = ctx;
    exporter->fetch = NULL;
    if (fetched->status >= 200 && fetched->status < 300) {
        note_success(exporter, fetched);
    } else if (is_worth_another(fetched) && !exporter->is_hurried &&
               exporter->tries + 1 < HUB_LIMIT_OTEL_TRIES) {
        note_failure(exporter, fetched->why, "it is tried again");
        start_timer(exporter, pause_ms(exporter, fetched));
        exporter->tries++;
        return;
    } else {
        give_up(exporter, fetched->why);
    }
    plan(exporter);
}

/* Take the next batch: as many as a request may have, at least one. */
static void choose_batch(hub_exporter *exporter)
{
    size_t bytes = 0;
    while (exporter->leaving < exporter->count &&
           exporter->leaving < exporter->options.batch->most) {
        size_t len = record_at(exporter, exporter->leaving)->len + 1;
        if (exporter->leaving > 0 && bytes + len > HUB_LIMIT_OTEL_BODY_BYTES) {
            break;
        }
        bytes += len;
        exporter->leaving++;
    }
}

static void send_batch(hub_exporter *exporter)
{
    const hub_otel_target *target = exporter->options.target;
    hub_buf body;
    hub_buf_init(&body, SIZE_MAX / 4);
    hub_buf_add(&body, exporter->options.head);
    for (size_t i = 0; i < exporter->leaving; i++) {
        const record *one = record_at(exporter, i);
        hub_json_add_comma(&body);
        hub_buf_add(&body, (hub_str){.ptr = one->text, .len = one->len});
    }
    hub_buf_add(&body, exporter->options.tail);
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_buf_ok(&body) ? HUB_OK : hub_fail(&why, HUB_ENOMEM, "out of memory");
    if (err == HUB_OK) {
        const hub_fetch_request request = {.url = target->url,
                                           .ca = target->ca,
                                           .json = hub_buf_str(&body),
                                           .headers = hub_str_of(target->headers),
                                           .timeout_ms = target->timeout_ms,
                                           .is_plain_ok = true};
        err =
            hub_fetch_start(exporter->fetcher, &request, on_end, exporter, &exporter->fetch, &why);
    }
    hub_buf_fini(&body);
    if (err != HUB_OK) {
        give_up(exporter, why.text);
        plan(exporter);
    }
}

static void on_time(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_exporter *exporter = timer->data;
    (void)events;
    ev_ref(loop); /* a timer that is over is stopped */
    if (exporter->leaving == 0) {
        choose_batch(exporter);
    }
    if (exporter->leaving > 0) {
        send_batch(exporter);
    }
}

/* ---- its use --------------------------------------------------------------------------------- */

void hub_exporter_put(hub_exporter *exporter, hub_buf *record_text)
{
    if (exporter == NULL) {
        hub_buf_fini(record_text);
        return;
    }
    size_t len = record_text->len;
    bool has_room = hub_buf_ok(record_text) && len > 0 &&
                    exporter->count < exporter->options.batch->queue &&
                    exporter->bytes + len <= HUB_LIMIT_OTEL_QUEUE_BYTES;
    char *text = has_room ? hub_buf_take(record_text) : NULL;
    hub_buf_fini(record_text);
    if (text == NULL) {
        exporter->numbers.dropped++;
        return;
    }
    *record_at(exporter, exporter->count) = (record){.text = text, .len = len};
    exporter->count++;
    exporter->bytes += len;
    plan(exporter);
}

void hub_exporter_note_lost(hub_exporter *exporter, uint64_t count)
{
    exporter->numbers.dropped += count;
}

void hub_exporter_hurry(hub_exporter *exporter)
{
    exporter->is_hurried = true;
    if (exporter->fetch == NULL && exporter->leaving > 0) {
        stop_timer(exporter); /* the pause is over: it is now or never */
        start_timer(exporter, 0);
    }
    plan(exporter);
}

bool hub_exporter_is_busy(const hub_exporter *exporter)
{
    return exporter->count > 0;
}

hub_exporter_numbers hub_exporter_count(const hub_exporter *exporter)
{
    hub_exporter_numbers numbers = exporter->numbers;
    numbers.waiting = exporter->count;
    return numbers;
}

hub_exporter *hub_exporter_create(struct ev_loop *loop, hub_fetcher *fetcher,
                                  const hub_exporter_options *options)
{
    hub_exporter *exporter = calloc(1, sizeof *exporter);
    if (exporter == NULL) {
        return NULL;
    }
    exporter->ring = calloc(options->batch->queue, sizeof *exporter->ring);
    if (exporter->ring == NULL) {
        free(exporter);
        return NULL;
    }
    exporter->loop = loop;
    exporter->fetcher = fetcher;
    exporter->options = *options;
    ev_timer_init(&exporter->timer, on_time, 0., 0.);
    exporter->timer.data = exporter;
    return exporter;
}

void hub_exporter_destroy(hub_exporter *exporter)
{
    if (exporter == NULL) {
        return;
    }
    hub_fetch_cancel(exporter->fetch);
    stop_timer(exporter);
    exporter->leaving = exporter->count;
    drop_batch(exporter);
    free(exporter->ring);
    free(exporter);
}
