/* SPDX-License-Identifier: Apache-2.0 */
/* The event stream at its bounds: how many may read, what is kept, how many calls are told, and what becomes of a reader who is
 * too slow. */
#include "hub_fixture.h"

#include "base/limits.h"
#include "hub/admin/events.h"
#include "hub/admin/events_internal.h"
#include "web/api/route.h"

#include <stdio.h>
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
    hub_events_follow(fixture.hub, &readers[0], readers[0].seen, all_missed);
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
 * has more by itself takes nobody's place, and is missed. */
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
    assert_int_equal(missed, 1);
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
    size_t pieces;
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

static size_t written; /* events, by the tests of now */

static void write_event(hub_buf *out, const hub_web_event *event)
{
    hub_buf_add_char(out, event->name.ptr[0]);
    written++;
}

static hub_err send_written(hub_web_exchange *exchange, hub_str text)
{
    ((peer *)exchange)->sent += text.len;
    ((peer *)exchange)->pieces++;
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

static const hub_web_exchange_ops EXCHANGE = {.wait = wait_for,
                                              .stream = stream,
                                              .write_event = write_event,
                                              .send = send_written,
                                              .owed = tell_owed,
                                              .end = end_stream};

/* Who owes as much as there may be is sent the next event; who owes a byte more is not, until it has
 * taken some, and then it gets what came meanwhile. */
static void test_owed(void **state)
{
    static const hub_web_request_ops REQUEST = {.find_header = find_accept};
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

/* What comes between two turns is written once, however many read it, and each gets it in one piece. */
static void test_written_once(void **state)
{
    enum { PEERS = 20, EVENTS = 30 };
    static const hub_web_request_ops REQUEST = {.find_header = find_accept};
    const hub_web_request request = {.ops = &REQUEST};
    peer peers[PEERS];
    hub_api *api;
    (void)state;
    assert_int_equal(hub_api_create(fixture.hub, &api, NULL), HUB_OK);
    hub_api_asked asked = {.api = api, .hub = fixture.hub, .request = &request};
    for (size_t i = 0; i < PEERS; i++) {
        peers[i] = (peer){.exchange = {.ops = &EXCHANGE}};
        asked.exchange = &peers[i].exchange;
        HUB_API_EVENT_ROUTES[0].handle(&asked);
    }
    written = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        hub_events_add(fixture.hub, HUB_STR("x"), HUB_STR("{}"));
    }
    fixture_run_until(&fixture, is_told, &peers[PEERS - 1]);
    assert_int_equal(written, EVENTS);
    for (size_t i = 0; i < PEERS; i++) {
        assert_int_equal(peers[i].sent, EVENTS);
        assert_int_equal(peers[i].pieces, 1);
    }
    hub_api_destroy(api);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static size_t turns;

static void count_turn(hub_event_reader *reader)
{
    (void)reader;
    turns++;
}

static bool has_turned(void *ctx)
{
    (void)ctx;
    return turns > 0;
}

/* Make so many calls between two turns: each is told whole, or is missed whole; so many are told. */
static void check_calls(client *caller, size_t calls, size_t told)
{
    hub_event_reader *reader = &readers[0];
    const hub_event *event;
    uint64_t missed;
    uint64_t all_missed = 0;
    size_t begun = 0;
    size_t ended = 0;
    reader->seen = hub_events_newest(fixture.hub);
    for (size_t i = 0; i < calls; i++) {
        char id[24];
        (void)snprintf(id, sizeof id, "%zu", i);
        client_call(caller, id, "t__a", "{}");
        assert_non_null(client_reply(caller, id));
        client_clear(caller);
    }
    do {
        event = hub_events_next(fixture.hub, reader, &missed);
        all_missed += missed;
        begun += event != NULL && hub_str_is(event->name, "call.begun");
        ended += event != NULL && hub_str_is(event->name, "call.ended");
    } while (event != NULL);
    assert_int_equal(begun, told);
    assert_int_equal(ended, told);
    assert_int_equal(all_missed, 2 * (calls - told));
    assert_int_equal(reader->seen, hub_events_newest(fixture.hub));
}

/* Readers are told of as many calls as they take at a turn, and many take less: of those that nobody
 * could be sent no event is made. */
static void test_calls(void **state)
{
    static puppet master = {.tools = "[" TOOL("a") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, false);
    fixture_start(&fixture);
    memset(readers, 0, sizeof readers);
    for (size_t i = 0; i < HUB_LIMIT_EVENT_READERS; i++) {
        readers[i].on_turn = count_turn;
    }
    client *caller = client_open(&fixture, LEGACY);
    (void)client_list(caller, "1");
    assert_int_equal(hub_events_join(fixture.hub, &readers[0], 0), HUB_OK);
    size_t most = hub_events_share(fixture.hub) / 2;
    check_calls(caller, most, most);
    check_calls(caller, 10, 0);
    for (size_t i = 1; i < HUB_LIMIT_EVENT_READERS; i++) {
        assert_int_equal(hub_events_join(fixture.hub, &readers[i], 0), HUB_OK);
    }
    turns = 0;
    hub_events_add(fixture.hub, HUB_STR("x"), HUB_STR("{}"));
    fixture_run_until(&fixture, has_turned, NULL);
    assert_true(hub_events_share(fixture.hub) < most);
    check_calls(caller, 50, hub_events_share(fixture.hub) / 2);
    for (size_t i = 0; i < HUB_LIMIT_EVENT_READERS; i++) {
        hub_events_leave(fixture.hub, &readers[i]);
    }
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_readers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_owed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_written_once, set_up, tear_down),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
