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

static void refuse_catalog(keeper *k, int32_t status, const char *reason)
{
    (void)k->master.latest->api->finish(k->master.latest->host, k->discovery, status,
                                        puppet_str(reason));
}

/* S4.6, S4.7, S4.12, S4.13: the server cannot be reached: lists come without it, a call says so; the
 * next attempt is not made at once. */
static void test_discovery_fails(void **state)
{
    static const struct {
        int32_t status;
        const char *code;
        const char *retryable;
    } CASES[] = {
        {PATCHBAY_UNAVAILABLE, "TOOL_UNAVAILABLE", "\"retryable\":true"},
        {PATCHBAY_INVALID_INPUT, "TOOL_INVALID_INPUT", "\"retryable\":false"},
        {PATCHBAY_FAILED, "TOOL_EXECUTION_FAILED", "\"retryable\":false"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        keeper up;
        init_keeper(&up, NULL);
        fixture_init(&fixture);
        (void)fixture_toolset(&fixture, "up", &up.master, true);
        fixture_start(&fixture);
        client *c = client_open(&fixture, LEGACY);
        client_request(c, "1", "tools/list", "");
        client_call(c, "2", "up__a", "{}");
        refuse_catalog(&up, CASES[i].status, "no such command");
        assert_contains(client_reply(c, "1"), "list_tools");
        assert_contains(client_reply(c, "2"), "\"isError\":true");
        assert_contains(client_reply(c, "2"), CASES[i].code);
        assert_contains(client_reply(c, "2"), CASES[i].retryable);
        assert_contains(client_reply(c, "2"), "toolset \\\"up\\\": no such command");
        assert_true(fixture_logged(&fixture, "tools.discovery.server.failed")); /* S4.61 */
        client_request(c, "3", "tools/list", "");
        assert_non_null(client_reply(c, "3"));
        client_call(c, "4", "up__b", "{}"); /* nor does the next call wait */
        assert_contains(client_reply(c, "4"), CASES[i].code);
        client_request(c, "5", "prompts/get", "\"name\":\"up__p\"");
        assert_contains(client_reply(c, "5"), "toolset \\\"up\\\": no such command");
        assert_contains(client_reply(c, "5"), "\"error\"");
        assert_int_equal(up.asked, 1);
        assert_int_equal(hub_call_count(fixture.hub->calls), 0);
        fixture_stop(&fixture);
    }
}

/* ---- whom it concerns ------------------------------------------------------------------------ */

enum { SERVERS = 4 };

static keeper servers[SERVERS];

static void start_servers(hub_naming naming, const char *const keys[SERVERS])
{
    fixture_init(&fixture);
    fixture.profiles[0].naming = naming;
    for (size_t i = 0; i < SERVERS; i++) {
        init_keeper(&servers[i], NULL);
        (void)fixture_toolset(&fixture, keys[i], &servers[i].master, true);
    }
    fixture_start(&fixture);
}

static void assert_asked(const char *wanted)
{
    for (size_t i = 0; i < SERVERS; i++) {
        if ((servers[i].asked > 0) != (wanted[i] == 'x')) {
            print_error("server %zu was asked %u times, wanted %s\n", i, servers[i].asked, wanted);
        }
        assert_int_equal(servers[i].asked > 0, wanted[i] == 'x');
    }
}

/* DESIGN, Waiting: a call starts the servers that its name may be of, and no others; a name that is
 * nobody's starts none, and is answered at once. */
static void test_only_those_concerned_are_asked(void **state)
{
    static const char *const KEYS[] = {"a", "a_b", "a-c", "d"};
    static const struct {
        hub_naming naming;
        const char *name;
        const char *asked; /* of each server */
    } CASES[] = {
        {HUB_NAMING_PREFIX, "a__x", "x..."},     {HUB_NAMING_PREFIX, "a_b__x", ".x.."},
        {HUB_NAMING_PREFIX, "a-c__x", "..x."},   {HUB_NAMING_PREFIX, "a_c__x", "...."},
        {HUB_NAMING_PREFIX, "a__", "...."},      {HUB_NAMING_PREFIX, "e__x", "...."},
        {HUB_NAMING_PREFIX, "a", "...."},        {HUB_NAMING_PREFIX, "", "...."},
        {HUB_NAMING_PREFIX, "d__x__y", "...x"},  {HUB_NAMING_PREFIX, "_meta__x", "...."},
        {HUB_NAMING_DOT, "a.x", "x..."},         {HUB_NAMING_DOT, "a-c.x.y", "..x."},
        {HUB_NAMING_DOT, "a__x", "...."},        {HUB_NAMING_FLAT, "a_b_x", "xx.."},
        {HUB_NAMING_FLAT, "a_c_x", "x.x."},      {HUB_NAMING_FLAT, "d_x", "...x"},
        {HUB_NAMING_FLAT, "e_x", "...."},        {HUB_NAMING_NONE, "x", "xxxx"},
        {HUB_NAMING_NONE, "a__x", "x..."},       {HUB_NAMING_NONE, "e__x", "xxxx"},
        {HUB_NAMING_NONE, "list_tools", "...."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        bool is_known = strcmp(CASES[i].name, "list_tools") == 0;
        start_servers(CASES[i].naming, KEYS);
        client *c = client_open(&fixture, LEGACY);
        client_call(c, "1", CASES[i].name, "{}");
        assert_asked(CASES[i].asked);
        if (strcmp(CASES[i].asked, "....") == 0) {
            assert_contains(client_reply(c, "1"), is_known ? "\"result\"" : "Unknown tool");
        } else {
            assert_null(client_reply(c, "1"));
        }
        fixture_stop(&fixture);
    }
}

/* A name that was cut still says whose it is, as far as it goes. */
static void test_cut_names(void **state)
{
    static const char *const KEYS[] = {"abcdefghijklm", "abcdefghijkln", "abcdefx", "ab"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture_init(&fixture);
        for (size_t k = 0; k < SERVERS; k++) {
            init_keeper(&servers[k], NULL);
            (void)fixture_toolset(&fixture, KEYS[k], &servers[k].master, true);
        }
        fixture.profiles[0].max_name_bytes = 16;
        fixture_start(&fixture);
        client *c = client_open(&fixture, LEGACY);
        client_call(c, "1", i == 0 ? "abcdefg_01234567" : "abcdefghijklm__x", "{}");
        assert_asked("xx..");
        give_catalog(&servers[0], "[" TOOL("x") "]");
        give_catalog(&servers[1], "[" TOOL("x") "]");
        assert_int_equal(servers[0].count, i);
        assert_int_equal(client_count(c, "Unknown tool"), 1 - i);
        fixture_stop(&fixture);
    }
}

/* One that hangs, and lists that wait for it, are nothing to calls of others. */
static void test_one_that_hangs(void **state)
{
    static const char *const KEYS[] = {"hung", "b", "c", "d"};
    (void)state;
    start_servers(HUB_NAMING_PREFIX, KEYS);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "\"list\"", "tools/list", "");
    assert_asked("xxxx");
    client_call(c, "1", "b__x", "{}");
    give_catalog(&servers[1], "[" TOOL("x") "]");
    assert_int_equal(servers[1].count, 1); /* it is on its way */
    answer(&servers[1], 0);
    assert_contains(client_reply(c, "1"), "\"content\":[]");
    client_call(c, "2", "nobody__x", "{}");
    assert_contains(client_reply(c, "2"), "Unknown tool: nobody__x");
    assert_lacks(client_reply(c, "2"), "hung");
    client_call(c, "3", "b__y", "{}");
    assert_contains(client_reply(c, "3"), "Unknown tool: b__y; did you mean \\\"b__x\\\"?");
    client_call(c, "4", "hung__x", "{}");
    assert_null(client_reply(c, "4"));
    assert_null(client_reply(c, "\"list\""));
    fixture_stop(&fixture);
}

/* DESIGN, Waiting, `none`: all that were never known are asked together, and the call goes on with the
 * last; one that failed is not waited for again until it has answered. */
static void test_none(void **state)
{
    static const char *const KEYS[] = {"a", "b", "c", "d"};
    (void)state;
    start_servers(HUB_NAMING_NONE, KEYS);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "x", "{}");
    assert_asked("xxxx");
    give_catalog(&servers[0], "[" TOOL("x") "]");
    give_catalog(&servers[1], "[" TOOL("y") "]");
    refuse_catalog(&servers[2], PATCHBAY_UNAVAILABLE, "it died");
    assert_int_equal(servers[0].count, 0); /* the last one may want that name, too */
    give_catalog(&servers[3], "[" TOOL("z") "]");
    assert_int_equal(servers[0].count, 1);
    client_call(c, "2", "y", "{}");
    assert_int_equal(servers[1].count, 1);
    client_call(c, "3", "other", "{}"); /* what failed is not waited for … */
    assert_contains(
        client_reply(c, "3"),
        "Unknown tool: other (toolsets that cannot be reached: toolset \\\"c\\\": it died)");
    hub_catalogs_of(hub_find_toolset(fixture.hub, HUB_STR("c")))->failed_at_ms = 1; /* long ago */
    client_call(c, "4", "other", "{}"); /* … also when it is tried again … */
    assert_contains(client_reply(c, "4"), "Unknown tool");
    client_call(c, "5", "c__other", "{}"); /* … but by those who name it */
    assert_null(client_reply(c, "5"));
    assert_int_equal(servers[2].asked, 2);
    client_call(c, "6", "other", "{}");
    assert_contains(client_reply(c, "6"), "Unknown tool");
    give_catalog(&servers[2], "[" TOOL("other") "]");
    assert_contains(client_reply(c, "5"), "Unknown tool");
    client_call(c, "7", "other", "{}");
    assert_int_equal(servers[2].count, 1);
    fixture_stop(&fixture);
}

/* A toolset of which the client may see nothing is not asked, not waited for and not named. */
static void test_nothing_to_see(void **state)
{
    static const char *const KEYS[] = {"a", "b", "c", "d"};
    static const char *const B[] = {"b", "c", "d"};
    static const char *const B_TOOLS[] = {"b:*", "d*"};
    static const char *const C_TOOLS[] = {"c:*"};
    static const hub_filter_rule FILTERS[] = {
        {.kind = HUB_FILTER_NAMESPACE, .values = {.items = B, .count = 3, .set = true}},
        {.kind = HUB_FILTER_ALLOW_TOOLS, .values = {.items = B_TOOLS, .count = 2, .set = true}},
        {.kind = HUB_FILTER_DENY_TOOLS, .values = {.items = C_TOOLS, .count = 1, .set = true}},
    };
    (void)state;
    for (int naming = 0; naming < 2; naming++) {
        fixture_init(&fixture);
        fixture.profiles[0].naming = naming == 0 ? HUB_NAMING_PREFIX : HUB_NAMING_NONE;
        fixture.profiles[0].policy.filters = FILTERS;
        fixture.profiles[0].policy.filter_count = 3;
        for (size_t i = 0; i < SERVERS; i++) {
            init_keeper(&servers[i], NULL);
            (void)fixture_toolset(&fixture, KEYS[i], &servers[i].master, true);
        }
        fixture_start(&fixture);
        client *c = client_open(&fixture, LEGACY);
        client_call(c, "1", "a__x", "{}");
        assert_contains(client_reply(c, "1"), "Unknown tool: a__x\"");
        client_call(c, "2", "c__x", "{}");
        assert_contains(client_reply(c, "2"), "Unknown tool: c__x\"");
        assert_asked("....");
        client_call(c, "3", naming == 0 ? "b__x" : "x", "{}");
        assert_asked(naming == 0 ? ".x.." : ".x.x");
        fixture_stop(&fixture);
    }
}

static bool is_told(void *ctx)
{
    return client_count(ctx, "notifications/progress") >= 2;
}

/* A call waits as long as its server takes to start, and its client is told if it wants progress. */
static void test_waits_for_its_own_server(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    fixture.settings.limits.discover_timeout_ms = 20;
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "up__a", "{}");
    client_request(c, "2", "tools/call",
                   "\"name\":\"up__a\",\"arguments\":{},\"_meta\":{\"progressToken\":\"t\"}");
    fixture_run_until(&fixture, is_told, c);
    assert_null(client_reply(c, "1"));
    assert_int_equal(client_count(c, "\"progressToken\":\"t\",\"progress\":-1.0"), 1);
    assert_int_equal(client_count(c, "\"progress\":-0.5"), 1);
    assert_true(client_count(c, "waiting for the server of up to start") >= 2);
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(up.count, 2);
    answer(&up, 0);
    answer(&up, 1);
    assert_contains(client_reply(c, "1"), "\"content\":[]");
    assert_contains(client_reply(c, "2"), "\"content\":[]");
    fixture_stop(&fixture);
}

/* It is not active any more in the profile of who waits, though another profile uses it. */
static void test_disabled_in_one_profile(void **state)
{
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.settings.profile_count = 2;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client *d = client_open_in(&fixture, LEGACY, "second");
    client_call(c, "1", "up__a", "{}");
    client_call(d, "1", "up__a", "{}");
    assert_contains(client_ask(c, "2", "disable_toolset", "{\"toolset\":\"up\"}"), "\"ok\":true");
    assert_contains(client_reply(c, "1"), "Unknown tool");
    assert_null(client_reply(d, "1"));
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(up.count, 1);
    fixture_stop(&fixture);
}

/* Who waits is told one by one, and may take others along. */
static void test_many_wait_and_go(void **state)
{
    enum { MANY = 200 };
    keeper up;
    (void)state;
    init_keeper(&up, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &up.master, true);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    for (unsigned i = 0; i < MANY; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_call(c, id, i % 3 == 0 ? "up__nonsense" : "up__a", "{}");
    }
    for (unsigned i = 0; i < MANY; i += 2) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_cancel(c, id);
    }
    give_catalog(&up, "[" TOOL("a") "]");
    assert_int_equal(hub_session_in_flight(c->session), up.count);
    assert_int_equal(up.count + c->count, MANY / 2);
    assert_int_equal(c->session->held_bytes, 0);
    fixture_stop(&fixture);
}

#define RESOURCE(uri) "{\"name\":\"r\",\"uri\":\"" uri "\"}"

/* A URI says whose it is when it has the toolset in it; else those that were never known are asked,
 * and who reads goes on as soon as it is found. */
static void test_resources(void **state)
{
    static const char *const KEYS[] = {"a", "b", "c", "d"};
    (void)state;
    start_servers(HUB_NAMING_PREFIX, KEYS);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "resources/read", "\"uri\":\"patchbay:b/mem:x\"");
    assert_asked(".x..");
    client_request(c, "2", "resources/read", "\"uri\":\"patchbay:nobody/mem:x\"");
    assert_asked("xxxx");
    client_request(c, "3", "resources/read", "\"uri\":\"mem:r\"");
    assert_null(client_reply(c, "2"));
    puppet_instance *instance = servers[2].master.latest;
    assert_int_equal(instance->catalog->set(instance->host, PATCHBAY_RESOURCES,
                                            puppet_str("[" RESOURCE("mem:r") "]")),
                     PATCHBAY_OK);
    give_catalog(&servers[2], "[]");
    assert_int_equal(servers[2].count, 1); /* on its way, though others have not answered */
    refuse_catalog(&servers[1], PATCHBAY_UNAVAILABLE, "it died");
    assert_contains(client_reply(c, "1"), "toolset \\\"b\\\": it died");
    assert_contains(client_reply(c, "1"), "-31002");
    refuse_catalog(&servers[0], PATCHBAY_UNAVAILABLE, "it died");
    assert_null(client_reply(c, "2"));
    give_catalog(&servers[3], "[]");
    assert_contains(client_reply(c, "2"), "Resource not found: patchbay:nobody/mem:x");
    client_request(c, "4", "resources/read", "\"uri\":\"mem:none\"");
    assert_contains(client_reply(c, "4"), "Resource not found: mem:none");
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
    assert_null(client_reply(c, "3")); /* a call waits as long as it takes */
    assert_int_equal(up.asked, 1);
    assert_int_equal(up.discovery_cancelled, 0);
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
    unsigned held = HUB_LIMIT_HELD_BYTES / BIG - 1; /* each is a little more than BIG */
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
        cmocka_unit_test(test_parked_are_resumed),
        cmocka_unit_test(test_discovery_fails),
        cmocka_unit_test(test_parked_time_out),
        cmocka_unit_test(test_parked_cancelled),
        cmocka_unit_test(test_parked_session_closes),
        cmocka_unit_test(test_answered_at_once),
        cmocka_unit_test(test_parked_then_disabled),
        cmocka_unit_test(test_held_bytes),
        cmocka_unit_test(test_only_those_concerned_are_asked),
        cmocka_unit_test(test_cut_names),
        cmocka_unit_test(test_one_that_hangs),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_nothing_to_see),
        cmocka_unit_test(test_waits_for_its_own_server),
        cmocka_unit_test(test_disabled_in_one_profile),
        cmocka_unit_test(test_many_wait_and_go),
        cmocka_unit_test(test_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
