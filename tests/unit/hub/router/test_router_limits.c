/* SPDX-License-Identifier: Apache-2.0 */
/* Router: deadlines, limits, and the end of toolsets and hub. */
#include "keeper_support.h"

static hub_fixture fixture;

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
    assert_contains(reply, "no answer within 0.02 s, and no progress");
    assert_contains(reply, "limits.call_timeout");
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
    fixture.settings.limits.call_timeout_ms = 1000; /* far more than a busy machine stalls us */
    fixture.settings.limits.call_ceiling_ms = 1200;
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
    assert_true(hub_clock_now_ms() - begin_ms >= 1190);
    assert_contains(client_reply(c, "1"), "no answer within 1.2 s:");
    assert_contains(client_reply(c, "1"), "limits.call_ceiling");
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
        assert_int_equal(hub_call_begin_internal(fixture.hub, NULL, NULL, &calls[i]), HUB_OK);
    }
    hub_call *more = NULL;
    assert_int_equal(hub_call_begin_internal(fixture.hub, NULL, NULL, &more), HUB_ELIMIT);
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
