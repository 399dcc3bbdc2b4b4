/* SPDX-License-Identifier: Apache-2.0 */
/* When records leave, with a collector of the test's own: one request at a time, also when a record comes in the very turn of the
 * loop in which the wait for more is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub/telemetry/exporter.h"

#include "base/loop.h"

#include <ev.h>
#include <stdlib.h>

enum { DELAY_MS = 2 };

/* ---- the collector, in the place of issuers/fetch.c ---- */

struct hub_fetcher {
    int unused;
};

struct hub_fetch {
    hub_fetch_on_end *on_end;
    void *ctx;
};

static hub_fetch *request;
static unsigned requests;

hub_fetcher *hub_fetcher_create(struct ev_loop *loop)
{
    (void)loop;
    return calloc(1, sizeof(hub_fetcher));
}

void hub_fetcher_destroy(hub_fetcher *fetcher)
{
    free(fetcher);
}

hub_err hub_fetch_start(hub_fetcher *fetcher, const hub_fetch_request *asked,
                        hub_fetch_on_end *on_end, void *ctx, hub_fetch **ret_fetch,
                        hub_error *reterr)
{
    (void)fetcher;
    (void)asked;
    (void)reterr;
    assert_null(request);
    request = calloc(1, sizeof *request);
    assert_non_null(request);
    *request = (hub_fetch){.on_end = on_end, .ctx = ctx};
    *ret_fetch = request;
    requests++;
    return HUB_OK;
}

void hub_fetch_cancel(hub_fetch *fetch)
{
    if (fetch != NULL) {
        free(fetch);
        request = NULL;
    }
}

static void answer(unsigned status)
{
    hub_fetch *asked = request;
    const hub_fetched fetched = {.status = status, .why = "the test says so"};
    assert_non_null(asked);
    request = NULL;
    asked->on_end(asked->ctx, &fetched);
    free(asked);
}

/* ---- the exporter ---- */

static char url[] = "http://127.0.0.1:4318/v1/traces";
static const hub_otel_target TARGET = {.url = url};
static const hub_otel_batch BATCH = {.delay_ms = DELAY_MS, .queue = 100, .most = 50};
static struct ev_loop *loop;
static hub_fetcher *fetcher;
static hub_exporter *exporter;

static void put(void)
{
    hub_buf record;
    hub_buf_init(&record, 100);
    hub_buf_add(&record, HUB_STR("{}"));
    hub_exporter_put(exporter, &record);
    hub_buf_fini(&record);
}

static int begin(void **state)
{
    (void)state;
    const hub_exporter_options options = {
        .target = &TARGET, .batch = &BATCH, .head = HUB_STR("["), .tail = HUB_STR("]")};
    loop = ev_loop_new(EVFLAG_AUTO);
    fetcher = hub_fetcher_create(loop);
    exporter = hub_exporter_create(loop, fetcher, &options);
    requests = 0;
    return loop == NULL || fetcher == NULL || exporter == NULL;
}

static int end(void **state)
{
    (void)state;
    hub_exporter_destroy(exporter);
    hub_fetcher_destroy(fetcher);
    ev_loop_destroy(loop);
    return 0;
}

/* What a turn of the loop does just before the exporter's timer, which is over in the same turn. */
static void (*before_it)(void);

static void on_before(struct ev_loop *ran, ev_timer *timer, int events)
{
    (void)ran;
    (void)timer;
    (void)events;
    before_it();
}

static void on_enough(struct ev_loop *ran, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(ran, EVBREAK_ALL);
}

/* The first record, and `act` in the turn in which its wait is over; then for as long as ten such waits. */
static void run(void (*act)(void))
{
    ev_timer before;
    ev_timer enough;
    before_it = act;
    ev_timer_init(&before, on_before, 0., 0.);
    ev_timer_init(&enough, on_enough, 0., 0.);
    hub_loop_start_timer(loop, &before, DELAY_MS / 1000.);
    put(); /* a moment later */
    hub_loop_start_timer(loop, &enough, 10. * DELAY_MS / 1000.);
    ev_now_update(loop);
    ev_tstamp both_over = ev_now(loop) + 2. * DELAY_MS / 1000.;
    while (ev_now(loop) < both_over) {
        ev_now_update(loop);
    }
    (void)ev_run(loop, 0);
}

static void test_one_request_at_a_time(void **state)
{
    (void)state;
    run(put);
    assert_int_equal(requests, 1);
    answer(200);
    hub_exporter_numbers numbers = hub_exporter_count(exporter);
    assert_int_equal(numbers.sent, 2);
    assert_int_equal(numbers.waiting, 0);
    assert_int_equal(numbers.dropped, 0);
}

static void destroy(void)
{
    hub_exporter_destroy(exporter);
    exporter = NULL;
}

static void test_ends_while_it_is_due(void **state)
{
    (void)state;
    run(destroy);
    assert_int_equal(requests, 0);
}

static void test_refused(void **state)
{
    (void)state;
    run(put);
    answer(400);
    assert_int_equal(hub_exporter_count(exporter).dropped, 2);
    assert_true(hub_exporter_count(exporter).is_failing);
    put();
    hub_exporter_hurry(exporter);
    while (request == NULL) {
        (void)ev_run(loop, EVRUN_NOWAIT);
    }
    answer(200);
    assert_int_equal(hub_exporter_count(exporter).sent, 1);
    assert_false(hub_exporter_count(exporter).is_failing);
    assert_false(hub_exporter_is_busy(exporter));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_request_at_a_time, begin, end),
        cmocka_unit_test_setup_teardown(test_ends_while_it_is_due, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
