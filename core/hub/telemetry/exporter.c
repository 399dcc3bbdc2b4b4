/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/telemetry/exporter.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/loop.h"
#include "wire/json.h"

#include <ev.h>
#include <stdlib.h>

/* Records that leave together. */
typedef struct batch {
    struct batch *next; /* younger */
    size_t count;
    size_t bytes; /* of the records alone */
    hub_buf body; /* of the request: its head, and the records; its tail once it leaves */
} batch;

struct hub_exporter {
    struct ev_loop *loop;
    hub_fetcher *fetcher;
    hub_exporter_options options;
    batch *oldest; /* NULL: nothing waits */
    batch *newest;
    size_t count; /* records in all of them */
    size_t bytes;
    bool is_leaving; /* the oldest: it gets no more records */
    unsigned tries;  /* that have failed, of that batch */
    bool is_hurried;
    hub_fetch *fetch; /* NULL: no request is under way */
    ev_timer timer;   /* when the next batch leaves, or the same one again */
    hub_exporter_numbers numbers;
};

static const char *word_of(const hub_exporter *exporter)
{
    return HUB_OTEL_SIGNAL_WORDS[exporter->options.signal];
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Whether another record of that length still goes with the newest batch. */
static bool takes(const hub_exporter *exporter, size_t len)
{
    const batch *newest = exporter->newest;
    return newest != NULL && !(exporter->is_leaving && newest == exporter->oldest) &&
           newest->count < exporter->options.batch->most &&
           (newest->count == 0 || newest->bytes + len <= HUB_LIMIT_OTEL_BODY_BYTES);
}

/* The one that the next record goes with; NULL when out of memory. */
static batch *batch_for(hub_exporter *exporter, size_t len)
{
    if (takes(exporter, len)) {
        return exporter->newest;
    }
    batch *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    hub_buf_init(&made->body, SIZE_MAX / 4);
    hub_buf_add(&made->body, exporter->options.head);
    if (!hub_buf_ok(&made->body)) {
        free(made);
        return NULL;
    }
    if (exporter->newest != NULL) {
        exporter->newest->next = made;
    } else {
        exporter->oldest = made;
    }
    exporter->newest = made;
    return made;
}

static bool append(hub_exporter *exporter, hub_str record)
{
    batch *to = batch_for(exporter, record.len);
    if (to == NULL || hub_buf_reserve(&to->body, record.len + 1) == NULL) {
        if (to != NULL) {
            to->body.failed = HUB_OK; /* what it has still leaves */
        }
        return false;
    }
    hub_json_add_comma(&to->body);
    hub_buf_add(&to->body, record);
    to->count++;
    to->bytes += record.len;
    exporter->count++;
    exporter->bytes += record.len;
    return true;
}

/* Let go of the oldest. */
static void drop_batch(hub_exporter *exporter)
{
    batch *oldest = exporter->oldest;
    exporter->oldest = oldest->next;
    exporter->newest = oldest->next != NULL ? exporter->newest : NULL;
    exporter->count -= oldest->count;
    exporter->bytes -= oldest->bytes;
    exporter->is_leaving = false;
    exporter->tries = 0;
    hub_buf_fini(&oldest->body);
    free(oldest);
}

/* ---- one request ----------------------------------------------------------------------------- */

static void start_timer(hub_exporter *exporter, uint64_t wait_ms)
{
    if (!hub_loop_has_timer(&exporter->timer)) {
        hub_loop_start_timer(exporter->loop, &exporter->timer, (double)wait_ms / 1000.);
        ev_unref(exporter->loop); /* it keeps no loop running */
    }
}

static void stop_timer(hub_exporter *exporter)
{
    if (hub_loop_has_timer(&exporter->timer)) {
        ev_ref(exporter->loop);
        ev_timer_stop(exporter->loop, &exporter->timer);
    }
}

/* Leave when there are enough of them, or when the oldest has waited long enough. */
static void plan(hub_exporter *exporter)
{
    const hub_otel_batch *gathered = exporter->options.batch;
    if (exporter->is_leaving || exporter->count == 0) {
        return;
    }
    bool is_due = exporter->is_hurried || exporter->oldest != exporter->newest ||
                  exporter->oldest->count >= gathered->most;
    if (is_due) {
        stop_timer(exporter);
    }
    start_timer(exporter, is_due ? 0 : gathered->delay_ms);
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
    uint64_t lost = rejected(fetched, exporter->oldest->count);
    exporter->numbers.sent += exporter->oldest->count - lost;
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
    exporter->numbers.dropped += exporter->oldest->count;
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

static void send_batch(hub_exporter *exporter)
{
    const hub_otel_target *target = exporter->options.target;
    const hub_buf *body = &exporter->oldest->body;
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_buf_ok(body) ? HUB_OK : hub_fail(&why, HUB_ENOMEM, "out of memory");
    if (err == HUB_OK) {
        const hub_fetch_request request = {.url = target->url,
                                           .ca = target->ca,
                                           .json = hub_buf_str(body),
                                           .is_json_lent = true,
                                           .headers = hub_str_of(target->headers),
                                           .timeout_ms = target->timeout_ms,
                                           .is_plain_ok = true};
        err =
            hub_fetch_start(exporter->fetcher, &request, on_end, exporter, &exporter->fetch, &why);
    }
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
    if (!exporter->is_leaving && exporter->count > 0) {
        exporter->is_leaving = true;
        hub_buf_add(&exporter->oldest->body, exporter->options.tail);
    }
    if (exporter->is_leaving) {
        send_batch(exporter);
    }
}

/* ---- its use --------------------------------------------------------------------------------- */

void hub_exporter_put(hub_exporter *exporter, const hub_buf *record)
{
    if (exporter == NULL) {
        return;
    }
    bool has_room = hub_buf_ok(record) && record->len > 0 &&
                    exporter->count < exporter->options.batch->queue &&
                    exporter->bytes + record->len <= HUB_LIMIT_OTEL_QUEUE_BYTES;
    if (has_room && append(exporter, hub_buf_str(record))) {
        plan(exporter);
    } else {
        exporter->numbers.dropped++;
    }
}

void hub_exporter_note_lost(hub_exporter *exporter, uint64_t count)
{
    exporter->numbers.dropped += count;
}

void hub_exporter_hurry(hub_exporter *exporter)
{
    exporter->is_hurried = true;
    if (exporter->fetch == NULL && exporter->is_leaving) {
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
    while (exporter->oldest != NULL) {
        drop_batch(exporter);
    }
    free(exporter);
}
