/* SPDX-License-Identifier: Apache-2.0 */
/* Parking: requests that wait because a catalog is not known yet. */
#include "keeper_support.h"

static hub_fixture fixture;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parked_are_resumed),    cmocka_unit_test(test_discovery_fails),
        cmocka_unit_test(test_parked_time_out),       cmocka_unit_test(test_parked_cancelled),
        cmocka_unit_test(test_parked_session_closes), cmocka_unit_test(test_answered_at_once),
        cmocka_unit_test(test_parked_then_disabled),  cmocka_unit_test(test_held_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
