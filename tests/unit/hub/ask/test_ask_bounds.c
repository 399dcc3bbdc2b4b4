/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose clients do not come back: how many, how long, and what they may keep. */
#include "ask_modern_support.h"

#include "base/limits.h"

static int32_t ask_for(const char *principal)
{
    client *c = open_by(principal);
    client_call(c, "\"1\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    int32_t result = tool.result;
    client_close(c);
    return result;
}

static size_t ask_as_often_as_may_be(const char *principal)
{
    size_t before = hub_asks_waiting(fixture.hub);
    int32_t result;
    while ((result = ask_for(principal)) == PATCHBAY_OK) {
    }
    assert_int_equal(result, PATCHBAY_ELIMIT);
    return hub_asks_waiting(fixture.hub) - before;
}

/* Fifteen take all that they may. The next one has half of what is left, and so there is something for
 * whoever comes then. */
static void test_limits(void **state)
{
    puppet master = {0};
    char principal[32];
    size_t left = HUB_LIMIT_ASKING_CALLS;
    (void)state;
    start(&master);
    for (int i = 0; left > HUB_LIMIT_ASKING_CALLS_PER_PRINCIPAL; i++) {
        (void)snprintf(principal, sizeof principal, "p%d", i);
        assert_int_equal(ask_as_often_as_may_be(principal), HUB_LIMIT_ASKING_CALLS_PER_PRINCIPAL);
        left -= HUB_LIMIT_ASKING_CALLS_PER_PRINCIPAL;
    }
    assert_int_equal(ask_as_often_as_may_be("greedy"), left / 2);
    assert_int_equal(ask_as_often_as_may_be("yet another"), left / 4);
    size_t count = hub_asks_waiting(fixture.hub);
    fixture_stop(&fixture);
    assert_int_equal(tool.count, count);
    for (size_t i = 0; i < tool.count; i++) {
        assert_int_equal(tool.answers[i].status, PATCHBAY_NO_ANSWER);
    }
}

static bool has_answer(void *ctx)
{
    (void)ctx;
    return tool.count > 0;
}

/* The client does not come back: everything is freed, the tool hears of it, the state is void. */
static void test_abandoned(void **state)
{
    puppet master = {0};
    (void)state;
    start_with(&master, 5);
    tool.on_answer = NULL;
    client *c = open_by("alice");
    char *one = begin(c, "\"1\"");
    fixture_run_until(&fixture, has_answer, NULL);
    assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
    assert_string_equal(tool.answers[0].json, "the client did not answer in time");
    assert_int_equal(master.cancels, 1);
    assert_int_equal(hub_asks_waiting(fixture.hub), 0);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    retry(c, "\"2\"", one, "{\"k\":{}}");
    assert_int_equal(code_of(c, "\"2\""), HUB_RPC_INVALID_PARAMS);
    assert_contains(client_reply(c, "\"2\""), "expired");
    assert_int_equal(master.calls, 1);
    free(one);
    fixture_stop(&fixture);
}

static bool is_empty(void *ctx)
{
    (void)ctx;
    return hub_call_count(fixture.hub->calls) == 0;
}

/* The tool ends the call while the client is away: the client gets that when it is back, once. */
static void test_finished_while_away(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_by("alice");
    char *one = begin(c, "\"1\"");
    uint64_t call = tool.call.id;
    asker_finish(&tool, call, "{\"content\":[],\"early\":1}");
    fixture_spin(&fixture, 1);
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
    assert_int_equal(asker_elicit(&tool, 'x', ""), PATCHBAY_ESTALE);
    assert_int_equal(puppet_finish(tool.instance, tool.call, "{}"), PATCHBAY_ESTALE);
    assert_int_equal(c->count, 1);
    retry(c, "\"2\"", one, "");
    assert_contains(client_reply(c, "\"2\""),
                    "{\"resultType\":\"complete\",\"content\":[],\"early\":1}");
    retry(c, "\"3\"", one, "");
    assert_int_equal(code_of(c, "\"3\""), HUB_RPC_INVALID_PARAMS);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    free(one);
    one = begin(c, "\"4\"");
    assert_int_equal(tool.instance->api->finish(tool.instance->host, tool.call,
                                                PATCHBAY_UNAVAILABLE, puppet_str("it is down")),
                     PATCHBAY_OK);
    retry(c, "\"5\"", one, "");
    assert_contains(client_reply(c, "\"5\""), "toolset \\\"t\\\": it is down");
    free(one);
    fixture_stop(&fixture);
}

/* What finished calls leave behind is bounded, for one client and one toolset by half of what either may
 * have; here one is left when the hub ends. */
static void test_outcomes_kept(void **state)
{
    enum { BIG = HUB_LIMIT_ASKING_BYTES / 2 / 2 };
    puppet master = {0};
    char *states[3];
    (void)state;
    start(&master);
    client *c = open_by("alice");
    char *big = malloc(BIG);
    assert_non_null(big);
    memset(big, 'x', BIG);
    (void)memcpy(big, "{\"x\":\"", 6);
    (void)memcpy(big + BIG - 3, "\"}", 3); /* the outcome is a byte less */
    for (int i = 0; i < 3; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "\"%d\"", i);
        states[i] = begin(c, id);
        asker_finish(&tool, tool.call.id, big);
    }
    retry(c, "\"r2\"", states[2], ""); /* the third is one too many */
    assert_contains(client_reply(c, "\"r2\""), "more than could be kept");
    client *other = open_by("bob"); /* whom that does not concern */
    char *his = begin(other, "\"his\"");
    asker_finish(&tool, tool.call.id, big);
    retry(other, "\"his2\"", his, "");
    assert_contains(client_reply(other, "\"his2\""), "\"x\":\"xxxx");
    free(his);
    retry(c, "\"r0\"", states[0], "");
    assert_contains(client_reply(c, "\"r0\""), "\"resultType\":\"complete\",\"x\":\"xxxx");
    free(states[2]);
    states[2] = begin(c, "\"again\""); /* there is room again */
    asker_finish(&tool, tool.call.id, big);
    retry(c, "\"r3\"", states[2], "");
    assert_contains(client_reply(c, "\"r3\""), "\"x\":\"xxxx");
    for (int i = 0; i < 3; i++) {
        free(states[i]);
    }
    free(big);
    fixture_stop(&fixture);
}

/* The very moment that the client is sent away. */
static void finish_at_once(client *c, hub_str text)
{
    (void)c;
    (void)text;
    asker_finish(&tool, tool.call.id, "{\"content\":[]}");
}

/* An outcome that nobody comes for is not kept longer than a question. */
static void test_outcome_expires(void **state)
{
    puppet master = {0};
    (void)state;
    start_with(&master, 5);
    client *c = open_by("alice");
    c->on_message = finish_at_once;
    client_call(c, "\"1\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    assert_int_equal(master.cancels, 0);
    fixture_run_until(&fixture, is_empty, NULL);
    assert_int_equal(hub_asks_waiting(fixture.hub), 0);
    assert_int_equal(master.cancels, 0); /* for the tool it was over before */
    fixture_stop(&fixture);
}

/* One session can have only so many calls in flight, taken up again or not. */
static void test_session_limit_of_retries(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    tool.on_answer = NULL;
    fixture.settings.limits.calls_per_session = 1;
    client *c = open_by("alice");
    char *one = begin(c, "\"1\"");
    master.on_call = asker_called;
    client_call(c, "\"2\"", "t__a", "{}");
    retry(c, "\"3\"", one, "{\"k\":{}}");
    assert_int_equal(code_of(c, "\"3\""), HUB_RPC_OVERLOADED);
    asker_finish(&tool, tool.call.id, "{}");
    retry(c, "\"4\"", one, "{\"k\":{}}"); /* it was not used up */
    assert_int_equal(tool.count, 1);
    free(one);
    fixture_stop(&fixture);
}

/* What a call keeps of its retries is bounded, too: here the capabilities change each time. */
static void test_memory_of_retries(void **state)
{
    enum { PAD = 1024 * 1024 };
    puppet master = {0};
    (void)state;
    start(&master);
    tool.on_answer = NULL;
    client *c = open_by("alice");
    char *request_state = begin(c, "\"1\"");
    char *pad = malloc(PAD + 1);
    assert_non_null(pad);
    memset(pad, 'x', PAD);
    pad[PAD] = '\0';
    for (int i = 0; i < 5; i++) {
        char *capabilities = NULL;
        char id[16];
        assert_true(asprintf(&capabilities, "{\"elicitation\":{},\"x\":\"%d%s\"}", i, pad) > 0);
        (void)snprintf(id, sizeof id, "\"r%d\"", i);
        c->capabilities = capabilities;
        retry(c, id, request_state, "");
        if (i < 3) {
            free(request_state);
            request_state = state_of(client_wait(c, id));
        } else {
            assert_int_equal(code_of(c, id), HUB_RPC_OVERLOADED);
        }
        free(capabilities);
    }
    c->capabilities = "{\"elicitation\":{}}";
    retry(c, "\"end\"", request_state, "{\"k\":{}}");
    assert_int_equal(tool.count, 1);
    free(pad);
    free(request_state);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_finished_while_away),
        cmocka_unit_test(test_outcomes_kept),
        cmocka_unit_test(test_outcome_expires),
        cmocka_unit_test(test_session_limit_of_retries),
        cmocka_unit_test(test_memory_of_retries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
