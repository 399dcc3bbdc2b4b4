/* SPDX-License-Identifier: Apache-2.0 */
/* The event stream at its bounds: how many may read, what is kept, and what becomes of a reader who is too slow. */
#include "hub_fixture.h"

#include "base/limits.h"
#include "hub/admin/events.h"
#include "hub/admin/events_internal.h"
#include "web/api/route.h"

#include <stdlib.h>

static hub_fixture fixture;
static hub_event_reader readers[HUB_LIMIT_EVENT_READERS + 1];

static void on_turn(hub_event_reader *reader)
{
    (void)reader; /* it looks when the test does */
}

static int set_up(void **state)
{
    (void)state;
    memset(readers, 0, sizeof readers);
    for (size_t i = 0; i <= HUB_LIMIT_EVENT_READERS; i++) {
        readers[i].on_turn = on_turn;
    }
    fixture_init(&fixture);
    fixture_start(&fixture);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_stop(&fixture);
    return 0;
}

/* As many as there is room for; the next is refused, until somebody leaves. */
static void test_readers(void **state)
{
    hub_event_reader *last = &readers[HUB_LIMIT_EVENT_READERS];
    (void)state;
    for (size_t i = 0; i < HUB_LIMIT_EVENT_READERS; i++) {
        assert_int_equal(hub_events_join(fixture.hub, &readers[i], 0), HUB_OK);
    }
    assert_int_equal(hub_events_readers(fixture.hub), HUB_LIMIT_EVENT_READERS);
    assert_int_equal(hub_events_join(fixture.hub, last, 0), HUB_ELIMIT);
    hub_events_leave(fixture.hub, &readers[0]);
    assert_int_equal(hub_events_join(fixture.hub, last, 0), HUB_OK);
    for (size_t i = 1; i <= HUB_LIMIT_EVENT_READERS; i++) {
        hub_events_leave(fixture.hub, &readers[i]);
    }
}

/* Add so many, and see how many of them were missed, and how many were not. */
static void check_missed(size_t added, uint64_t wanted)
{
    uint64_t before = hub_events_missed(fixture.hub);
    uint64_t missed = 0;
    uint64_t all_missed = 0;
    size_t seen = 0;
    assert_int_equal(hub_events_join(fixture.hub, &readers[0], 0), HUB_OK);
    for (size_t i = 0; i < added; i++) {
        hub_events_add(fixture.hub, HUB_STR("x"), HUB_STR("{}"));
    }
    while (hub_events_next(fixture.hub, &readers[0], &missed) != NULL) {
        all_missed += missed;
        seen++;
    }
    hub_events_leave(fixture.hub, &readers[0]);
    assert_int_equal(all_missed, wanted);
    assert_int_equal(seen, added - wanted);
    assert_int_equal(hub_events_missed(fixture.hub) - before, wanted);
}

/* All but the oldest are kept, and who comes for those hears how many are gone. */
static void test_missed(void **state)
{
    (void)state;
    check_missed(10, 0);
    check_missed(HUB_LIMIT_EVENTS, 0);
    check_missed(HUB_LIMIT_EVENTS + 1, 1);
    check_missed(HUB_LIMIT_EVENTS + 9, 9);
}

/* An event of so many bytes, its name and its text. */
static void add_bytes(size_t len)
{
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, 'x', len);
    hub_events_add(fixture.hub, HUB_STR("x"), (hub_str){.ptr = text, .len = len - 1});
    free(text);
}

/* Two that fill all there is are kept; with one byte more, the older one goes, and is missed. One that
 * has more by itself takes nobody's place. */
static void test_bytes(void **state)
{
    static const size_t HALF = HUB_LIMIT_EVENT_BYTES / 2;
    hub_event_reader *reader = &readers[0];
    uint64_t missed;
    (void)state;
    assert_int_equal(hub_events_join(fixture.hub, reader, 0), HUB_OK);
    add_bytes(HALF);
    add_bytes(HALF);
    add_bytes(HUB_LIMIT_EVENT_BYTES + 1);
    for (int i = 0; i < 2; i++) {
        const hub_event *event = hub_events_next(fixture.hub, reader, &missed);
        assert_non_null(event);
        assert_int_equal(event->json.len, HALF - 1);
        assert_int_equal(missed, 0);
    }
    assert_null(hub_events_next(fixture.hub, reader, &missed));
    add_bytes(HALF + 1); /* the second of the first two is still there, and has no room beside it */
    add_bytes(HALF);
    assert_int_equal(hub_events_next(fixture.hub, reader, &missed)->json.len, HALF - 1);
    assert_int_equal(missed, 1);
    add_bytes(HUB_LIMIT_EVENT_BYTES);
    assert_int_equal(hub_events_next(fixture.hub, reader, &missed)->json.len,
                     HUB_LIMIT_EVENT_BYTES - 1);
    assert_int_equal(missed, 0);
    hub_events_leave(fixture.hub, reader);
}

/* ---- a stream's peer ------------------------------------------------------------------------- */

typedef struct peer {
    hub_web_exchange exchange; /* first */
    size_t owed;
    size_t sent; /* events */
} peer;

static bool find_accept(const hub_web_request *request, hub_str name, hub_str *ret_value)
{
    (void)request;
    *ret_value = HUB_STR("text/event-stream");
    return hub_str_is(name, "Accept");
}

static void wait_for(hub_web_exchange *exchange, const hub_web_waiter *waiter, void *ctx)
{
    (void)exchange;
    (void)waiter;
    (void)ctx;
}

static hub_err stream(hub_web_exchange *exchange)
{
    (void)exchange;
    return HUB_OK;
}

static hub_err send_events(hub_web_exchange *exchange, const hub_web_event *events, size_t count)
{
    (void)events;
    ((peer *)exchange)->sent += count;
    return HUB_OK;
}

static size_t tell_owed(const hub_web_exchange *exchange)
{
    return ((const peer *)exchange)->owed;
}

static void end_stream(hub_web_exchange *exchange)
{
    (void)exchange;
}

static bool is_told(void *ctx)
{
    return ((peer *)ctx)->sent > 0;
}

static bool is_past(void *ctx)
{
    return ((peer *)ctx)->sent >= 2;
}

/* Who owes as much as there may be is sent the next event; who owes a byte more is not, until it has
 * taken some, and then it gets what came meanwhile. */
static void test_owed(void **state)
{
    static const hub_web_request_ops REQUEST = {.find_header = find_accept};
    static const hub_web_exchange_ops EXCHANGE = {.wait = wait_for,
                                                  .stream = stream,
                                                  .send = send_events,
                                                  .owed = tell_owed,
                                                  .end = end_stream};
    const hub_web_request request = {.ops = &REQUEST};
    peer slow = {.exchange = {.ops = &EXCHANGE}, .owed = HUB_LIMIT_EVENT_OWED_BYTES};
    peer quick = {.exchange = {.ops = &EXCHANGE}};
    hub_api *api;
    (void)state;
    assert_int_equal(hub_api_create(fixture.hub, &api, NULL), HUB_OK);
    hub_api_asked asked = {.api = api, .hub = fixture.hub, .request = &request};
    asked.exchange = &slow.exchange;
    HUB_API_EVENT_ROUTES[0].handle(&asked);
    asked.exchange = &quick.exchange;
    HUB_API_EVENT_ROUTES[0].handle(&asked);
    hub_events_add(fixture.hub, HUB_STR("x"), HUB_STR("{}"));
    fixture_run_until(&fixture, is_told, &slow);
    assert_int_equal(slow.sent, 1);
    slow.owed++;
    quick.sent = 0;
    hub_events_add(fixture.hub, HUB_STR("x"), HUB_STR("{}"));
    fixture_run_until(&fixture, is_told, &quick); /* whose turn is behind the slow one's */
    hub_events_add(fixture.hub, HUB_STR("x"), HUB_STR("{}"));
    fixture_run_until(&fixture, is_past, &quick);
    assert_int_equal(slow.sent, 1);
    slow.owed--;
    fixture_run_until(&fixture, is_past, &slow);
    assert_int_equal(slow.sent, 3);
    hub_api_destroy(api);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_readers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_owed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
