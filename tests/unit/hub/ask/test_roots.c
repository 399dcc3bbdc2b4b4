/* SPDX-License-Identifier: Apache-2.0 */
/* Roots outside of calls: who is asked, and who hears that a client's have changed. */
#include "ask_support.h"
#include "hub/ask/ask.h"

static hub_fixture fixture;
static asker tool;
static size_t told;

#define CHANGED "notifications/roots/list_changed"
#define ROOTS   "{\"roots\":{\"listChanged\":true}}"

/* Keep calls; count and answer what the hub tells. */
static void on_call(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    if (hub_str_is(request->method, CHANGED)) {
        told++;
        (void)puppet_finish(instance, call, "{}");
    } else {
        asker_called(instance, call, request);
    }
}

static void ignore_outcome(void *ctx, const hub_outcome *outcome)
{
    (void)ctx;
    (void)outcome;
}

static void start(puppet *master)
{
    told = 0;
    master->on_call = on_call;
    asker_start(&fixture, master, &tool);
}

static client *open_with(const char *capabilities)
{
    return client_open_as(&fixture,
                          &(client_options){.kind = LEGACY, .capabilities = capabilities});
}

static int32_t ask_outside(const char *method, const char *params)
{
    return asker_ask(&tool, PATCHBAY_NO_CALL, 'r', "", method, params);
}

static int32_t ask_roots(void)
{
    return ask_outside("roots/list", "");
}

static void say_changed(client *c)
{
    client_send(c, "{\"jsonrpc\":\"2.0\",\"method\":\"" CHANGED "\"}");
}

/* 2025-11-25 client/roots: the only client there is. */
static void test_only_session(void **state)
{
    puppet master = {0};
    const char *text = NULL;
    (void)state;
    start(&master);
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE);
    client *c = open_with(ROOTS);
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    assert_int_equal(ask_roots(), PATCHBAY_OK); /* both by one carrier */
    assert_int_equal(hub_call_count(fixture.hub->calls), 1);
    assert_int_equal(hub_session_in_flight(c->session), 0); /* it is owed nothing */
    fixture_spin(&fixture, 1);
    uint64_t id = client_asked(c, &text);
    assert_contains(text, "\"method\":\"roots/list\"}");
    client_answer(c, id, "{\"roots\":[1.0]}");
    assert_int_equal(hub_call_count(fixture.hub->calls), 1);
    client_answer(c, id - 1, "{\"roots\":[2]}");
    assert_int_equal(tool.count, 2);
    assert_int_equal(tool.answers[0].status, PATCHBAY_ANSWERED);
    assert_string_equal(tool.answers[0].json, "{\"roots\":[1.0]}");
    assert_int_equal(hub_call_count(fixture.hub->calls), 0); /* its carrier is gone */
    assert_int_equal(c->count, 2);
    fixture_stop(&fixture);
}

/* Nothing but roots, nobody but a session with a handshake that declared them, and not one of
 * several. */
static void test_who_is_not_asked(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_with(ALL);
    assert_int_equal(ask_outside("elicitation/create", ELICIT), PATCHBAY_ESTATE);
    assert_int_equal(ask_outside("sampling/createMessage", SAMPLE), PATCHBAY_ESTATE);
    client *other = open_with("{}");
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE);
    client_close(c);
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE); /* it did not declare it */
    client_close(other);
    client *bare = client_open(&fixture, BARE);
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE);
    client_request(bare, "1", "initialize",
                   "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"roots\":{}}");
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE); /* its handshake is not done */
    client_close(bare);
    (void)client_open_as(&fixture, &(client_options){.kind = MODERN, .capabilities = ALL});
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    assert_int_equal(tool.count, 0);
    fixture_stop(&fixture);
}

/* A client whose calls it has, sent or not, is asked first; it is the session that is asked,
 * whatever becomes of the call. Of two such, neither. */
static void test_calls_decide(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *a = open_with(ALL);
    client *b = open_with(ALL);
    client_call(b, "\"1\"", "t__a", "{}");
    uint64_t call = tool.call.id;
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    assert_int_equal(a->count, 0);
    client_call(a, "\"1\"", "t__a", "{}");
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE);
    asker_finish(&tool, call, "{}");
    assert_int_equal(tool.count, 0);
    client_answer(b, client_asked(b, NULL), "{\"roots\":[]}");
    assert_int_equal(tool.answers[0].status, PATCHBAY_ANSWERED);
    assert_int_not_equal(tool.answers[0].call, call);
    asker_finish(&tool, tool.call.id, "{}");
    fixture_stop(&fixture);
}

/* For a call (0: which is not said), roots are asked like anything else: of nobody if there is
 * none.
 */
static void test_within_calls(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *a = open_with(ALL);
    assert_int_equal(asker_ask(&tool, 0, 'r', "", "roots/list", ""), PATCHBAY_ESTATE);
    client_call(a, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_ask(&tool, 0, 'r', "", "roots/list", ""), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_answer(a, client_asked(a, NULL), "{\"roots\":[]}");
    assert_int_equal(tool.answers[0].call, tool.call.id);
    asker_finish(&tool, tool.call.id, "{}");
    fixture_stop(&fixture);
}

/* A server that holds one client's roots hears when these change, and may ask that client again,
 * whoever else is there. Others' changes are nothing to it. */
static void test_changed(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *a = open_with(ALL);
    say_changed(a);
    assert_int_equal(told, 0); /* it was told none */
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_answer(a, client_asked(a, NULL), "{\"roots\":[]}");
    client *b = open_with(ALL);
    say_changed(b);
    assert_int_equal(told, 0);
    say_changed(a);
    assert_int_equal(told, 1);
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    assert_int_equal(b->count, 0);
    client_answer(a, client_asked(a, NULL), "{\"roots\":[]}");
    client_call(b, "\"1\"", "t__a", "{}"); /* from now on it holds b's */
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_answer(b, client_asked(b, NULL), "{\"roots\":[]}");
    asker_finish(&tool, tool.call.id, "{}");
    say_changed(a);
    assert_int_equal(told, 1);
    say_changed(b);
    assert_int_equal(told, 2);
    client_close(b);                            /* and now nobody's that could be asked */
    assert_int_equal(ask_roots(), PATCHBAY_OK); /* but a is alone */
    fixture_spin(&fixture, 1);
    assert_int_equal(client_count(a, "roots/list"), 3);
    fixture_stop(&fixture);
}

/* Those of a client of 2026-07-28 came with its call and are gone with it. */
static void test_modern_roots(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *a = open_with(ALL);
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_answer(a, client_asked(a, NULL), "{\"roots\":[]}");
    client *m = client_open_as(&fixture, &(client_options){.kind = MODERN, .capabilities = ALL});
    client_call(m, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_ask(&tool, 0, 'r', "", "roots/list", ""), PATCHBAY_OK);
    char *text = state_of(client_wait(m, "\"1\""));
    client_retry(m, "\"2\"", "t__a", "{}", text, "{\"input-1\":{\"roots\":[]}}");
    free(text);
    assert_int_equal(tool.count, 2);
    asker_finish(&tool, tool.call.id, "{}");
    say_changed(a);
    assert_int_equal(told, 0);
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE);
    fixture_stop(&fixture);
}

/* The session goes, the toolset goes, the client does not answer, the question is taken back: the
 * end is told once, and nothing is left. */
static void test_ends(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        puppet master = {0};
        start(&master);
        fixture.settings.limits.ask_timeout_ms = how == 2 ? 20 : FIXTURE_LONG_MS;
        client *c = open_with(ROOTS);
        assert_int_equal(asker_ask(&tool, PATCHBAY_NO_CALL, 'r', "k", "roots/list", ""),
                         PATCHBAY_OK);
        fixture_spin(&fixture, 1);
        if (how == 0) {
            client_close(c);
        } else if (how == 1) {
            client_request(c, "9", "tools/call",
                           "\"name\":\"disable_toolset\",\"arguments\":{\"toolset\":\"t\"}");
        } else if (how == 3) {
            assert_int_equal(tool.client->withdraw(tool.instance->host, (patchbay_call){.id = 0},
                                                   puppet_str("k")),
                             PATCHBAY_OK);
        }
        while (tool.count == 0) {
            ev_run(fixture.loop, EVRUN_ONCE);
        }
        assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
        assert_int_equal(master.cancels, 0); /* there was no call that it would know */
        if (how > 1) {
            assert_int_equal(client_count(c, "notifications/cancelled"), 1);
        }
        fixture_stop(&fixture);
        assert_int_equal(tool.count, 1);
    }
}

/* max_calls counts clients' calls: a client that does not answer takes nobody's place. */
static void test_no_place_taken(void **state)
{
    puppet master = {.tools = "[" TOOL("a") "]",
                     .ctx = &tool,
                     .on_create = asker_created,
                     .on_call = asker_called};
    patchbay_request request = {
        .args_json = HUB_STR("{}"), .method = HUB_STR("x/errand"), .params_json = HUB_STR("{}")};
    (void)state;
    memset(&tool, 0, sizeof tool);
    fixture_init(&fixture);
    fixture_toolset(&fixture, "t", &master, true)->max_calls = 1;
    fixture_start(&fixture);
    client *c = open_with(ROOTS);
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("t"));
    hub_call *errand;
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    assert_int_equal(
        hub_toolset_request(toolset, &request, FIXTURE_LONG_MS, ignore_outcome, NULL, &errand),
        HUB_OK);
    uint64_t errand_id = tool.call.id;
    client_call(c, "\"1\"", "t__a", "{}");
    assert_null(client_reply(c, "\"1\""));
    assert_int_not_equal(tool.call.id, errand_id);
    client_call(c, "\"2\"", "t__a", "{}");
    assert_contains(client_reply(c, "\"2\""), "as many calls in flight");
    asker_finish(&tool, tool.call.id, "{}");
    asker_finish(&tool, errand_id, "{}");
    client_call(c, "\"3\"", "t__a", "{}"); /* one has ended, and no more than one */
    client_call(c, "\"4\"", "t__a", "{}");
    assert_null(client_reply(c, "\"3\""));
    assert_contains(client_reply(c, "\"4\""), "as many calls in flight");
    fixture_stop(&fixture);
}

/* An instance that is replaced does not wait for a client's roots, and gets no more of them; what
 * its calls ask goes on. */
static void test_replaced(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_with(ROOTS);
    client_call(c, "\"1\"", "t__a", "{}");
    puppet_instance *old = tool.instance;
    uint64_t call = tool.call.id;
    const patchbay_client_v1 *asks = tool.client;
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    assert_int_equal(hub_toolset_rebind(hub_find_toolset(fixture.hub, HUB_STR("t")), NULL), HUB_OK);
    fixture_spin(&fixture, 3);
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
    assert_int_equal(client_count(c, "notifications/cancelled"), 1);
    assert_int_equal(hub_call_count(fixture.hub->calls), 1);
    tool.instance = old;
    tool.client = asks;
    assert_int_equal(ask_roots(), PATCHBAY_ESTATE);
    assert_int_equal(asker_ask(&tool, call, 'r', "", "roots/list", ""), PATCHBAY_OK);
    assert_int_equal(master.destroys, 0);
    asker_finish(&tool, call, "{}");
    fixture_spin(&fixture, 3);
    assert_int_equal(master.destroys, 1);
    fixture_stop(&fixture);
}

/* A native toolset has no server behind it that would be told; a bare word is no handshake. */
static void test_who_is_not_told(void **state)
{
    puppet master = {
        .tools = "[" TOOL("a") "]", .ctx = &tool, .on_create = asker_created, .on_call = on_call};
    (void)state;
    memset(&tool, 0, sizeof tool);
    told = 0;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, false);
    fixture_start(&fixture);
    client *c = open_with(ROOTS);
    assert_int_equal(ask_roots(), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_answer(c, client_asked(c, NULL), "{\"roots\":[]}");
    say_changed(c);
    client *bare = client_open(&fixture, BARE);
    say_changed(bare);
    assert_int_equal(told, 0);
    assert_int_equal(bare->count, 0);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_session),   cmocka_unit_test(test_who_is_not_asked),
        cmocka_unit_test(test_calls_decide),   cmocka_unit_test(test_within_calls),
        cmocka_unit_test(test_changed),        cmocka_unit_test(test_modern_roots),
        cmocka_unit_test(test_ends),           cmocka_unit_test(test_who_is_not_told),
        cmocka_unit_test(test_no_place_taken), cmocka_unit_test(test_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
