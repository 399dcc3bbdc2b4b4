/* SPDX-License-Identifier: Apache-2.0 */
/* Router: requests that wait for a catalog, deadlines, limits, and the end of sessions and hub. */
#include "hub_fixture.h"

#include <patchbay/catalog.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"

static hub_fixture fixture;

/* A toolset that keeps what it is asked, until told. */
typedef struct keeper {
    puppet master;
    patchbay_call discovery; /* id 0: not asked */
    unsigned asked;
    patchbay_call calls[600];
    size_t count;
    size_t cancelled;
    size_t discovery_cancelled;
    uint64_t deadline_ms;
} keeper;

static void keep(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    keeper *k = instance->puppet->ctx;
    if (hub_str_is(request->method, PATCHBAY_METHOD_DISCOVER)) {
        k->discovery = call;
        k->asked++;
    } else {
        k->deadline_ms = request->deadline_ms;
        k->calls[k->count++] = call;
    }
}

static void note_cancel(puppet_instance *instance, patchbay_call call)
{
    keeper *k = instance->puppet->ctx;
    if (call.id == k->discovery.id) {
        k->discovery_cancelled++;
    } else {
        k->cancelled++;
    }
}

static void init_keeper(keeper *k, const char *tools)
{
    *k = (keeper){
        .master = {
            .tools = tools, .defers = tools == NULL, .on_call = keep, .on_cancel = note_cancel}};
    k->master.ctx = k;
}

static void give_catalog(keeper *k, const char *tools)
{
    puppet_instance *instance = k->master.latest;
    assert_int_equal(instance->api->set_tools(instance->host, puppet_str(tools)), PATCHBAY_OK);
    (void)puppet_finish(instance, k->discovery, "{}");
}

static void answer(const keeper *k, size_t at)
{
    assert_int_equal(puppet_finish(k->master.latest, k->calls[at], "{\"content\":[]}"),
                     PATCHBAY_OK);
}

/* ---- waiting for catalogs -------------------------------------------------------------------- */

/* DESIGN, Upstreams: asked at the first need; what waited is handled in its order. */
static void test_parked_are_resumed(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    assert_int_equal(up.asked, 0); /* S4.1: not before somebody needs it */
    client *c = client_open(&fixture, LEGACY);
    client *d = client_open(&fixture, MODERN);
    client_request(c, "1", "tools/list", "");
    client_request(d, "1", "tools/list", "");
    client_call(c, "2", "up__a", "{}");
    client_call(c, "3", "up__nonsense", "{}");
    assert_contains(client_ask(c, "4", "list_tools", "{}"),
                    "\"result\""); /* known: need not wait */
    client_clear(c);
    assert_int_equal(up.asked, 1);           /* once for all of them */
    client_call(c, "1", "list_tools", "{}"); /* its id is in flight */
    assert_contains(client_reply(c, "1"), "\"code\":-32600");
    client_clear(c);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_contains(client_reply(c, "1"), "up__a");
    assert_contains(client_reply(d, "1"), "up__a");
    assert_contains(client_reply(c, "3"), "Unknown tool");
    assert_null(client_reply(c, "2"));
    assert_int_equal(up.count, 1); /* the call is on its way */
    answer(&up, 0);
    assert_contains(client_reply(c, "2"), "\"content\":[]");
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    assert_int_equal(up.asked, 1);
    fixture_stop(&fixture);
}

/* S4.6, S4.7: the server cannot be reached: lists come without it, a call says so; the next attempt
 * is not made at once. */
static void test_discovery_fails(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    client_call(c, "2", "up__a", "{}");
    (void)up.master.latest->api->finish(up.master.latest->host, up.discovery, PATCHBAY_UNAVAILABLE,
                                        puppet_str("no such command"));
    assert_contains(client_reply(c, "1"), "list_tools");
    assert_contains(client_reply(c, "2"), "\"error\"");
    assert_true(fixture_logged(&fixture, "tools.discovery.server.failed")); /* S4.61 */
    client_request(c, "3", "tools/list", "");
    assert_non_null(client_reply(c, "3"));
    assert_int_equal(up.asked, 1);
    fixture_stop(&fixture);
}

/* A list waits for discover_timeout, and the next one not at all: the server is late. */
static void test_parked_time_out(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    fixture.settings.limits.discover_timeout_ms = 20;
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    uint64_t begin_ms = hub_clock_now_ms();
    assert_contains(client_list(c, "1"), "list_tools");
    assert_true(hub_clock_now_ms() - begin_ms >= 15);
    client_request(c, "2", "tools/list", "");
    assert_contains(client_reply(c, "2"), "list_tools"); /* at once */
    client_call(c, "3", "up__a", "{}");
    assert_null(client_reply(c, "3")); /* a call still hopes */
    assert_contains(client_wait(c, "3"), "Unknown tool");
    assert_int_equal(up.asked, 1);
    assert_int_equal(up.discovery_cancelled, 0);
    client_call(c, "4", "up__a", "{}");
    give_catalog(&up, "[" TOOL("a") "]"); /* better late than never */
    assert_int_equal(up.count, 1);
    fixture_stop(&fixture);
}

/* A parked request can be cancelled; the others keep their own time. */
static void test_parked_cancelled(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    for (unsigned i = 0; i < 5; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        if (i % 2 == 0) {
            client_request(c, id, "tools/list", "");
        } else {
            client_call(c, id, "up__a", "{}");
        }
    }
    client_cancel(c, "0"); /* the first, the last, one in the middle */
    client_cancel(c, "4");
    client_cancel(c, "1");
    client_cancel(c, "1");
    assert_int_equal(hub_session_in_flight(c->session), 2);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(c->count, 1);
    assert_non_null(client_reply(c, "2"));
    assert_int_equal(up.count, 1);
    assert_int_equal(c->session->held_bytes, 0);
    fixture_stop(&fixture);
}

/* A session goes while its requests are parked. */
static void test_parked_session_closes(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *stays = client_open(&fixture, LEGACY);
    client *goes = client_open(&fixture, LEGACY);
    for (unsigned i = 0; i < 10; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_request(i % 2 == 0 ? stays : goes, id, "tools/list", "");
        client_call(i % 2 == 0 ? goes : stays, id, "up__a", "{}");
    }
    client_close(goes);
    assert_int_equal(hub_call_count(fixture.hub->calls), 10 + 1); /* and the discovery */
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(stays->count, 5);
    assert_int_equal(up.count, 5);
    fixture_stop(&fixture);
}

static void finish_at_once(puppet_instance *instance, patchbay_call call,
                           const patchbay_request *request)
{
    if (hub_str_is(request->method, PATCHBAY_METHOD_DISCOVER)) {
        assert_int_equal(instance->api->set_tools(instance->host, puppet_str("[" TOOL("a") "]")),
                         PATCHBAY_OK);
    }
    (void)puppet_finish(instance, call, "{\"content\":[]}");
}

/* A server that answers before it is asked to the end: everything within one call. */
static void test_answered_at_once(void **state)
{
    puppet masters[3] = {{.defers = 1, .on_call = finish_at_once},
                         {.defers = 1, .on_call = finish_at_once},
                         {.defers = 1, .on_call = finish_at_once}};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "one", &masters[0], true);
    (void)fixture_toolset(&fixture, "two", &masters[1], true);
    fixture_toolset(&fixture, "three", &masters[2], true)->lazy = false;
    fixture_start(&fixture);
    assert_int_equal(masters[2].calls, 1); /* not lazy: asked at start */
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "two__a", "{}");
    assert_contains(client_reply(c, "1"), "\"content\":[]");
    client_request(c, "2", "tools/list", "");
    assert_contains(client_reply(c, "2"), "one__a");
    assert_contains(client_reply(c, "2"), "three__a");
    fixture_stop(&fixture);
}

/* The toolset that a request waits for is disabled: it waits no longer. */
static void test_parked_then_disabled(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    client_call(c, "2", "up__a", "{}");
    assert_contains(client_ask(c, "3", "disable_toolset", "{\"toolset\":\"up\"}"), "\"ok\":true");
    assert_non_null(client_reply(c, "1"));
    assert_contains(client_reply(c, "2"), "Unknown tool");
    assert_int_equal(up.discovery_cancelled, 1);
    client_call(c, "4", "enable_toolset", "{\"toolset\":\"up\"}"); /* no grudge is borne */
    assert_int_equal(up.asked, 2);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_contains(client_reply(c, "4"), "\"ok\":true");
    fixture_stop(&fixture);
}

/* B7: what waits is kept in memory, so its bytes are bounded. */
static void test_held_bytes(void **state)
{
    enum { BIG = 1024 * 1024 };
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    char *arguments = malloc(BIG);
    assert_non_null(arguments);
    memset(arguments, 'x', BIG);
    memcpy(arguments, "{\"a\":\"", 6);
    memcpy(arguments + BIG - 3, "\"}", 3);
    unsigned held = HUB_LIMIT_CLIENT_QUEUE_BYTES / BIG - 1; /* each is a little more than BIG */
    for (unsigned i = 0; i <= held; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_call(c, id, "up__a", arguments);
    }
    assert_int_equal(c->count, 1);
    assert_contains(c->messages[0], "\"code\":-31001");
    assert_int_equal(hub_session_in_flight(c->session), held);
    free(arguments);
    fixture_stop(&fixture);
}

/* ---- deadlines ------------------------------------------------------------------------------- */

/* A call that nobody answers fails once, and the module hears of it; what it says later is stale.
 */
static void test_call_timeout(void **state)
{
    keeper t;
    (void)state;
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    fixture.settings.limits.call_timeout_ms = 20;
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    uint64_t begin_ms = hub_clock_now_ms();
    client_call(c, "1", "t__a", "{}");
    assert_in_range(t.deadline_ms, begin_ms + 20, hub_clock_now_ms() + 20);
    const char *reply = client_wait(c, "1");
    assert_contains(reply, "TOOL_EXECUTION_FAILED");
    assert_contains(reply, "no answer within");
    assert_int_equal(t.cancelled, 1);
    assert_int_equal(puppet_finish(t.master.latest, t.calls[0], "{\"content\":[]}"),
                     PATCHBAY_ESTALE);
    assert_int_equal(c->count, 1);
    fixture_stop(&fixture);
}

/* Progress starts the timeout anew, but the ceiling holds. */
static void test_ceiling(void **state)
{
    keeper t;
    (void)state;
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    fixture.settings.limits.call_timeout_ms = 40;
    fixture.settings.limits.call_ceiling_ms = 120;
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    uint64_t begin_ms = hub_clock_now_ms();
    client_call(c, "1", "t__a", "{}");
    while (t.cancelled == 0) {
        (void)t.master.latest->api->notify(t.master.latest->host, t.calls[0],
                                           puppet_str("{\"progress\":1}"));
        ev_run(fixture.loop, EVRUN_NOWAIT);
    }
    assert_true(hub_clock_now_ms() - begin_ms >= 110);
    assert_contains(client_reply(c, "1"), "no answer within");
    fixture_stop(&fixture);
}

/* A module that never says what its catalog is does not hold a place for ever. */
static void test_discovery_deadline(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    fixture.settings.limits.discover_timeout_ms = 5;
    fixture.settings.limits.call_timeout_ms = 20;
    fixture.settings.limits.call_ceiling_ms = 20;
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_non_null(client_list(c, "1"));
    while (up.discovery_cancelled == 0) {
        ev_run(fixture.loop, EVRUN_ONCE);
    }
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    fixture_stop(&fixture);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* B7: as many calls in flight as a session may have, and one more; room again after an answer. */
static void test_calls_per_session(void **state)
{
    keeper t;
    (void)state;
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    fixture.settings.limits.calls_per_session = 3;
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    client_call(c, "3", "t__a", "{}");
    assert_int_equal(c->count, 0);
    client_call(c, "4", "t__a", "{}");
    assert_contains(client_reply(c, "4"), "\"code\":-31001");
    client_call(other, "4", "t__a", "{}"); /* each has its own */
    assert_null(client_reply(other, "4"));
    answer(&t, 0);
    client_call(c, "5", "t__a", "{}");
    assert_null(client_reply(c, "5"));
    fixture_stop(&fixture);
}

/* max_calls of a toolset. */
static void test_max_calls(void **state)
{
    keeper t;
    (void)state;
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    fixture_toolset(&fixture, "t", &t.master, false)->max_calls = 2;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    client_call(c, "3", "t__a", "{}");
    assert_contains(client_reply(c, "3"), "TOOL_UNAVAILABLE");
    assert_int_equal(t.count, 2);
    client_cancel(c, "1");
    client_call(c, "4", "t__a", "{}");
    assert_null(client_reply(c, "4"));
    assert_int_equal(t.count, 3);
    fixture_stop(&fixture);
}

/* B7: the hub's own limit: the table is full, nothing breaks, and it empties again. */
static void test_calls_of_hub(void **state)
{
    keeper *t = calloc(1, sizeof *t);
    hub_call_table *table = NULL;
    (void)state;
    init_keeper(t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &t->master, false);
    fixture_start(&fixture);
    table = fixture.hub->calls;
    hub_call **calls = calloc(HUB_LIMIT_CALLS, sizeof(hub_call *));
    assert_non_null(calls);
    for (unsigned i = 0; i < HUB_LIMIT_CALLS; i++) {
        assert_int_equal(hub_call_begin_internal(table, NULL, NULL, &calls[i]), HUB_OK);
    }
    hub_call *more = NULL;
    assert_int_equal(hub_call_begin_internal(table, NULL, NULL, &more), HUB_ELIMIT);
    client *c = client_open(&fixture, MODERN);
    assert_contains(client_ask(c, "1", "t__a", "{}"), "\"code\":-31001");
    for (unsigned i = 0; i < HUB_LIMIT_CALLS; i++) {
        uint64_t id = calls[i]->id;
        assert_ptr_equal(hub_call_find(table, id, NULL), calls[i]);
        hub_call_drop(calls[i]);
        assert_null(hub_call_find(table, id, NULL));
    }
    assert_int_equal(hub_call_count(table), 0);
    client_call(c, "2", "t__a", "{}");
    assert_int_equal(t->count, 1);
    fixture_stop(&fixture);
    free(calls);
    free(t);
}

/* Capabilities are kept once per session, not once per call. */
static void test_large_capabilities(void **state)
{
    enum { BIG = 1024 * 1024, CALLS = 200 };
    keeper t;
    (void)state;
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, BARE);
    char *params = malloc(BIG + 128);
    assert_non_null(params);
    int head =
        snprintf(params, 128, "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"x\":\"");
    memset(params + head, 'x', BIG);
    (void)snprintf(params + head + BIG, 32, "\"}");
    client_request(c, "0", "initialize", params);
    assert_contains(client_reply(c, "0"), "\"result\"");
    free(params);
    size_t before = fixture_allocated();
    for (unsigned i = 1; i <= CALLS; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_call(c, id, "t__a", "{}");
    }
    assert_int_equal(hub_session_in_flight(c->session), CALLS);
    assert_true(fixture_allocated() - before < BIG);
    fixture_stop(&fixture);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Everything in flight gets one answer, subscriptions a goodbye; then nothing is begun any more. */
static void test_stop(void **state)
{
    keeper t;
    keeper up;
    (void)state;
    init_keeper(&t, "[" TOOL("a") "]");
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    client_request(modern, "\"s\"", "subscriptions/listen",
                   "\"notifications\":{\"toolsListChanged\":true}");
    client_clear(modern);
    for (unsigned i = 0; i < 5; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_call(legacy, id, "t__a", "{}");
        client_call(modern, id, "t__a", "{}");
    }
    client_request(legacy, "5", "tools/list", "");
    client_call(modern, "5", "up__a", "{}");
    assert_int_equal(legacy->count + modern->count, 0);
    hub_orchestrator_stop(fixture.hub);
    for (unsigned i = 0; i <= 5; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        assert_contains(client_reply(legacy, id), "shutting down");
        assert_contains(client_reply(modern, id), "shutting down");
    }
    assert_int_equal(legacy->count, 6);
    assert_int_equal(modern->count, 6 + 2);
    assert_contains(client_reply(modern, "\"s\""), "\"resultType\":\"complete\"");
    assert_int_equal(client_count(modern, "notifications/cancelled"), 1);
    assert_int_equal(t.cancelled, 10);
    for (size_t i = 0; i < t.count; i++) {
        assert_int_equal(puppet_finish(t.master.latest, t.calls[i], "{}"), PATCHBAY_ESTALE);
    }
    client_clear(legacy);
    client_call(legacy, "6", "t__a", "{}");
    assert_contains(client_reply(legacy, "6"), "\"code\":-31004");
    assert_int_equal(t.count, 10);
    hub_session_options options = {.transport = "test", .port = &legacy->port};
    hub_session *none = NULL;
    assert_int_equal(hub_session_create(fixture.hub, &options, &none, NULL), HUB_ESTATE);
    fixture_stop(&fixture);
    assert_int_equal(t.master.destroys, 1);
}

/* A client that cannot be written to does not keep the hub from stopping. */
static void test_stop_with_dead_client(void **state)
{
    keeper t;
    (void)state;
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    c->refuses = HUB_ESTATE;
    answer(&t, 0);
    hub_orchestrator_stop(fixture.hub);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    fixture_stop(&fixture);
}

/* Disabling fails what is in flight, tells the module of each, and only then ends it. */
static void test_disable_in_flight(void **state)
{
    keeper t;
    (void)state;
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    client_call(c, "3", "t__a", "{}");
    assert_contains(client_ask(c, "4", "disable_toolset", "{\"toolset\":\"t\"}"), "\"ok\":true");
    assert_contains(client_reply(c, "1"), "TOOL_UNAVAILABLE");
    assert_contains(client_reply(c, "2"), "the toolset was disabled");
    assert_contains(client_reply(c, "3"), "TOOL_UNAVAILABLE");
    assert_int_equal(t.cancelled, 3); /* the last one, too */
    assert_int_equal(t.master.destroys, 0);
    fixture_spin(&fixture, 2);
    assert_int_equal(t.master.destroys, 1);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parked_are_resumed),
        cmocka_unit_test(test_discovery_fails),
        cmocka_unit_test(test_parked_time_out),
        cmocka_unit_test(test_parked_cancelled),
        cmocka_unit_test(test_parked_session_closes),
        cmocka_unit_test(test_answered_at_once),
        cmocka_unit_test(test_parked_then_disabled),
        cmocka_unit_test(test_held_bytes),
        cmocka_unit_test(test_call_timeout),
        cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_discovery_deadline),
        cmocka_unit_test(test_calls_per_session),
        cmocka_unit_test(test_max_calls),
        cmocka_unit_test(test_calls_of_hub),
        cmocka_unit_test(test_large_capabilities),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_with_dead_client),
        cmocka_unit_test(test_disable_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
