/* SPDX-License-Identifier: Apache-2.0 */
/* Asking clients of 2026-07-28: input_required and the retry. MCP basic/patterns/mrtr. */
#include "fake_wall.h"
#include "ask_modern_support.h"

#include "base/limits.h"

/* Conformance input-required-result-basic-elicitation, -result-type, -request-state. Over HTTP the
 * session of a request ends with its response. */
static void test_ask_and_retry(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *first = open_by("alice");
    char *request_state = begin(first, "\"1\"");
    char want[512];
    (void)snprintf(
        want, sizeof want,
        "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"resultType\":\"input_required\","
        "\"inputRequests\":{\"k\":{\"method\":\"elicitation/create\",\"params\":" ELICIT
        "}},\"requestState\":\"%s\"}}",
        request_state);
    assert_string_equal(first->messages[0], want);
    assert_int_equal(first->count, 1);
    assert_int_equal(hub_session_in_flight(first->session), 0);
    client_close(first);
    assert_int_equal(master.cancels, 0);
    client *second = open_by("alice");
    retry(second, "\"2\"", request_state,
          "{\"other\":{\"action\":\"accept\"},\"k\":{\"action\":\"accept\",\"content\":{\"n\":1.10}"
          "}}");
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].status, PATCHBAY_ANSWERED);
    assert_contains(client_reply(second, "\"2\""),
                    "{\"resultType\":\"complete\",\"content\":[],"
                    "\"got\":{\"action\":\"accept\",\"content\":{\"n\":1.10}}}");
    assert_int_equal(second->count, 1);
    assert_int_equal(master.calls, 1); /* one dispatch for the whole dialogue */
    assert_int_equal(hub_asks_waiting(fixture.hub), 0);
    free(request_state);
    fixture_stop(&fixture);
}

static void call_asks_three(puppet_instance *instance, patchbay_call call,
                            const patchbay_request *request)
{
    asker_called(instance, call, request);
    assert_int_equal(asker_elicit(&tool, 'e', "e"), PATCHBAY_OK);
    assert_int_equal(asker_ask(&tool, call.id, 's', "", "sampling/createMessage", SAMPLE),
                     PATCHBAY_OK);
    assert_int_equal(asker_ask(&tool, call.id, 'r', "", "roots/list", ""), PATCHBAY_OK);
}

/* Conformance -multiple-input-requests, -missing-input-response, -validate-input: what is missing
 * or no object is asked for again. */
static void test_several_and_missing(void **state)
{
    puppet master = {.on_call = call_asks_three};
    (void)state;
    start(&master);
    tool.on_answer = NULL;
    client *c = open_by("alice");
    char *one = begin(c, "\"1\"");
    assert_contains(client_reply(c, "\"1\""),
                    "\"input-1\":{\"method\":\"sampling/createMessage\",\"params\":" SAMPLE "},"
                    "\"input-2\":{\"method\":\"roots/list\"}}");
    retry(c, "\"2\"", one, "{\"input-2\":{\"roots\":[]},\"e\":12345,\"input-1\":null}");
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].name, 'r');
    char *two = state_of(client_wait(c, "\"2\""));
    assert_contains(client_reply(c, "\"2\""), "\"e\":{");
    assert_contains(client_reply(c, "\"2\""), "\"input-1\":{");
    assert_lacks(client_reply(c, "\"2\""), "\"input-2\":{");
    assert_string_not_equal(one, two);
    retry(c, "\"3\"", two, ""); /* nothing at all */
    char *three = state_of(client_wait(c, "\"3\""));
    retry(c, "\"4\"", two, "{\"e\":{},\"input-1\":{}}");
    assert_int_equal(code_of(c, "\"4\""), HUB_RPC_INVALID_PARAMS);
    retry(c, "\"5\"", three, "{\"e\":{\"a\":1},\"input-1\":{\"b\":1}}");
    assert_int_equal(tool.count, 3);
    assert_string_equal(tool.answers[1].json, "{\"a\":1}");
    assert_string_equal(tool.answers[2].json, "{\"b\":1}");
    assert_null(client_reply(c, "\"5\"")); /* it is the call's request now */
    asker_finish(&tool, tool.call.id, "{}");
    assert_non_null(client_reply(c, "\"5\""));
    assert_int_equal(master.calls, 1);
    free(one);
    free(two);
    free(three);
    fixture_stop(&fixture);
}

static void call_asks_unnamed(puppet_instance *instance, patchbay_call call,
                              const patchbay_request *request)
{
    asker_called(instance, call, request);
    assert_int_equal(asker_ask(&tool, call.id, 's', "", "sampling/createMessage", SAMPLE),
                     PATCHBAY_OK);
}

/* Conformance -multiple-input-requests with a server that sends its questions one by one, as those
 * of the handshake revisions do: they come in several turns of the loop and go out together. */
static void test_asked_one_by_one(void **state)
{
    puppet master = {.on_call = call_asks_unnamed};
    (void)state;
    start(&master);
    fixture.settings.limits.ask_gather_ms = HUB_LIMIT_ASK_GATHER_MS;
    tool.on_answer = NULL;
    client *c = open_by("alice");
    fake_wall_step_s = 3600; /* somebody sets the clock: it is the same */
    client_call(c, "\"1\"", "t__a", "{\"x\":1,\"y\":2}");
    fixture_spin(&fixture, 1);
    assert_int_equal(asker_ask(&tool, tool.call.id, 'r', "", "roots/list", ""), PATCHBAY_OK);
    char *one = state_of(client_wait(c, "\"1\""));
    fake_wall_step_s = 0;
    assert_contains(client_reply(c, "\"1\""), "\"input-1\":{\"method\":\"sampling/createMessage\"");
    assert_contains(client_reply(c, "\"1\""), "\"input-2\":{\"method\":\"roots/list\"}}");
    retry(c, "\"2\"", one, "{\"input-1\":{\"a\":1},\"input-2\":{\"roots\":[]}}");
    assert_int_equal(tool.count, 2);
    asker_finish(&tool, tool.call.id, "{}");
    assert_non_null(client_reply(c, "\"2\""));
    free(one);
    fixture_stop(&fixture);
}

static void ask_until_z(asker *a, const asker_answer *answer)
{
    if (answer->name == 'z') {
        asker_finish(a, answer->call, "{\"content\":[]}");
    } else if (answer->status == PATCHBAY_ANSWERED) {
        assert_int_equal(
            asker_ask(a, answer->call, (char)(answer->name + 1), "k", "elicitation/create", ELICIT),
            PATCHBAY_OK);
    }
}

/* Conformance -multi-round: a new requestState each time, the older ones are void. */
static void test_rounds(void **state)
{
    puppet master = {0};
    char id[16] = "\"k\"";
    (void)state;
    start(&master);
    tool.on_answer = ask_until_z;
    client *c = open_by("alice");
    char *request_state = begin(c, id);
    for (char name = 'l'; name <= 'z'; name++) {
        char *older = request_state;
        (void)snprintf(id, sizeof id, "\"%c\"", name);
        retry(c, id, older, "{\"k\":{}}");
        request_state = state_of(client_wait(c, id));
        assert_string_not_equal(request_state, older);
        retry(c, "\"old\"", older, "{\"k\":{}}");
        assert_int_equal(code_of(c, "\"old\""), HUB_RPC_INVALID_PARAMS);
        free(older);
    }
    retry(c, "\"end\"", request_state, "{\"k\":{}}");
    assert_contains(client_reply(c, "\"end\""), "\"content\":[]");
    assert_int_equal(tool.count, 'z' - 'k' + 1);
    free(request_state);
    fixture_stop(&fixture);
}

/* Asked while the client is away: for the next round. */
static void test_ask_while_away(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    tool.on_answer = NULL;
    client *c = open_by("alice");
    char *one = begin(c, "\"1\"");
    assert_int_equal(asker_elicit(&tool, 'k', "k"), PATCHBAY_EINVAL);
    assert_int_equal(asker_elicit(&tool, 'l', "l"), PATCHBAY_OK);
    /* Of no call in particular: the only one there is, though it has no session now. */
    assert_int_equal(asker_ask(&tool, 0, 'm', "m", "roots/list", ""), PATCHBAY_OK);
    fixture_spin(&fixture, 3);
    assert_int_equal(c->count, 1);
    retry(c, "\"2\"", one, "{\"k\":{}}");
    assert_int_equal(tool.count, 1);
    char *two = state_of(client_wait(c, "\"2\""));
    assert_contains(client_reply(c, "\"2\""), "\"inputRequests\":{\"l\":");
    client_call(c, "\"3\"", "t__a", "{}"); /* now it is not the only one */
    assert_int_equal(asker_ask(&tool, 0, 'x', "x", "roots/list", ""), PATCHBAY_ESTATE);
    fixture_spin(&fixture, 1); /* and that one is away, too */
    assert_int_equal(asker_ask(&tool, 0, 'x', "x", "roots/list", ""), PATCHBAY_ESTATE);
    retry(c, "\"4\"", two, "{\"l\":{},\"m\":{}}");
    assert_int_equal(tool.count, 3);
    free(one);
    free(two);
    fixture_stop(&fixture);
}

/* The retry's progress token is the call's from then on; while the client is away there is none. */
static void test_context_of_the_retry(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    tool.on_answer = NULL;
    client *c = open_by("alice");
    char *one = begin(c, "\"1\"");
    patchbay_str progress = puppet_str("{\"progress\":1}");
    puppet_instance *i = tool.instance;
    patchbay_str before = tool.client->get_capabilities(i->host, tool.call);
    assert_int_equal(i->api->notify(i->host, tool.call, progress), PATCHBAY_OK);
    assert_int_equal(c->count, 1);
    client_send(c,
                "{\"jsonrpc\":\"2.0\",\"id\":\"2\",\"method\":\"tools/call\",\"params\":{"
                "\"inputResponses\":{\"k\":{}},\"arguments\":{\"y\":2,\"x\":1},\"name\":\"t__a\","
                "\"requestState\":\"%s\",\"_meta\":{\"progressToken\":\"tok\","
                "\"" HUB_META_PROTOCOL_VERSION "\":\"2026-07-28\","
                "\"" HUB_META_CLIENT_CAPABILITIES "\":{\"roots\":{}}}}}",
                one);
    assert_int_equal(tool.count, 1);
    assert_int_equal(i->api->notify(i->host, tool.call, progress), PATCHBAY_OK);
    assert_int_equal(client_count(c, "\"progressToken\":\"tok\",\"progress\":1"), 1);
    /* Its capabilities, too; what was handed out before is valid until the call ends. */
    assert_true(hub_str_is(tool.client->get_capabilities(i->host, tool.call), "{\"roots\":{}}"));
    assert_true(hub_str_is(before, ALL));
    assert_int_equal(asker_elicit(&tool, 'x', "x"), PATCHBAY_ESTATE);
    asker_finish(&tool, tool.call.id, "{}");
    free(one);
    fixture_stop(&fixture);
}

/* Conformance -ignore-extra-params: answers may come before anything was asked. Each is good for
 * one question, so that a tool which asks again does ask. */
static void test_answers_in_advance(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_by("alice");
    client_request(c, "\"1\"", "tools/call",
                   "\"name\":\"t__a\",\"inputResponses\":{\"unknown\":{\"a\":1},\"k\":{\"b\":1}}");
    assert_contains(client_wait(c, "\"1\""), "\"got\":{\"b\":1}");
    client_request(c, "\"2\"", "tools/call",
                   "\"name\":\"t__a\",\"inputResponses\":{\"unknown\":{\"a\":1},\"k\":12345}");
    free(state_of(client_wait(c, "\"2\"")));
    client_request(c, "\"3\"", "tools/call",
                   "\"name\":\"t__a\",\"inputResponses\":{\"wrong_key\":{\"a\":1}}");
    free(state_of(client_wait(c, "\"3\"")));
    tool.on_answer = ask_until_z; /* asks for k once more */
    client_request(c, "\"4\"", "tools/call", "\"name\":\"t__a\",\"inputResponses\":{\"k\":{}}");
    free(state_of(client_wait(c, "\"4\"")));
    assert_int_equal(tool.count, 2);
    fixture_stop(&fixture);
}

/* Some of what is asked was answered in advance. */
static void test_some_in_advance(void **state)
{
    puppet master = {.on_call = call_asks_three};
    (void)state;
    start(&master);
    tool.on_answer = NULL;
    client *c = open_by("alice");
    client_request(c, "\"1\"", "tools/call",
                   "\"name\":\"t__a\",\"inputResponses\":{\"later\":{\"l\":1},\"e\":{\"b\":1}}");
    char *one = state_of(client_wait(c, "\"1\""));
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].name, 'e');
    assert_contains(client_reply(c, "\"1\""), "\"inputRequests\":{\"input-1\":");
    assert_int_equal(asker_elicit(&tool, 'l', "later"), PATCHBAY_OK);
    client_retry(c, "\"2\"", "t__a", "null", one, ""); /* other arguments */
    assert_int_equal(code_of(c, "\"2\""), HUB_RPC_INVALID_PARAMS);
    char *params = NULL;
    assert_true(asprintf(&params,
                         "\"name\":\"t__a\",\"requestState\":\"%s\",\"inputResponses\":{"
                         "\"input-1\":{},\"input-2\":{}}",
                         one) > 0);
    client_request(c, "\"3\"", "tools/call", params);
    fixture_spin(&fixture, 1);
    assert_int_equal(tool.count, 4); /* the fourth was known from the beginning */
    assert_int_equal(tool.answers[3].name, 'l');
    assert_string_equal(tool.answers[3].json, "{\"l\":1}");
    asker_finish(&tool, tool.call.id, "{}");
    assert_non_null(client_reply(c, "\"3\""));
    free(params);
    free(one);
    fixture_stop(&fixture);
}

/* ---- other methods --------------------------------------------------------------------------- */

/* Conformance -non-tool-request, -unsupported-methods: prompts and resources ask, too; completion
 * must not. */
static void test_other_methods(void **state)
{
    puppet master = {0};
    char params[512];
    (void)state;
    master.prompts = "[{\"name\":\"p\"}]";
    master.resources = "[{\"name\":\"r\",\"uri\":\"res:1\"}]";
    master.capabilities = "{\"completions\":{}}";
    start(&master);
    client *c = open_by("alice");
    static const char *const REQUESTS[][2] = {{"prompts/get", "\"name\":\"t__p\""},
                                              {"resources/read", "\"uri\":\"res:1\""}};
    for (size_t i = 0; i < 2; i++) {
        client_clear(c);
        client_request(c, "\"1\"", REQUESTS[i][0], REQUESTS[i][1]);
        char *one = state_of(client_wait(c, "\"1\""));
        (void)snprintf(params, sizeof params,
                       "%s,\"requestState\":\"%s\",\"inputResponses\":{\"k\":{\"v\":1}}",
                       REQUESTS[i][1], one);
        client_request(c, "\"2\"", REQUESTS[i][0], params);
        assert_contains(client_reply(c, "\"2\""), "\"got\":{\"v\":1}");
        free(one);
    }
    client_request(
        c, "\"3\"", "completion/complete",
        "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"t__p\"},\"argument\":{\"name\":\"a\","
        "\"value\":\"\"}");
    assert_int_equal(tool.result, PATCHBAY_ESTATE);
    fixture_stop(&fixture);
}

/* A `task` that the toolset is not to see is the client's all the same: its retry has it again. */
static void test_hidden_task(void **state)
{
    static const char CALL[] = "\"name\":\"t__a\",\"arguments\":{},\"task\":{\"ttl\":%d}";
    puppet master = {0};
    char first[128];
    char params[1024];
    (void)state;
    master.capabilities = "{\"tasks\":{\"requests\":{\"tools\":{\"call\":{}}}}}";
    start(&master);
    client *c = open_by("alice");
    (void)snprintf(first, sizeof first, CALL, 1);
    client_request(c, "\"1\"", "tools/call", first);
    char *one = state_of(client_wait(c, "\"1\""));
    (void)snprintf(params, sizeof params,
                   "\"requestState\":\"%s\",\"name\":\"t__a\",\"arguments\":{}", one);
    expect_refused(c, "tools/call", params); /* without it, or with another, it is not the same */
    (void)snprintf(first, sizeof first, CALL, 2);
    (void)snprintf(params, sizeof params, "\"requestState\":\"%s\",%s", one, first);
    expect_refused(c, "tools/call", params);
    (void)snprintf(first, sizeof first, CALL, 1);
    (void)snprintf(params, sizeof params,
                   "\"requestState\":\"%s\",\"inputResponses\":{\"k\":{\"v\":1}},%s", one, first);
    client_request(c, "\"2\"", "tools/call", params);
    assert_contains(client_reply(c, "\"2\""), "\"got\":{\"v\":1}");
    free(one);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ask_and_retry),      cmocka_unit_test(test_several_and_missing),
        cmocka_unit_test(test_asked_one_by_one),   cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_ask_while_away),     cmocka_unit_test(test_context_of_the_retry),
        cmocka_unit_test(test_answers_in_advance), cmocka_unit_test(test_some_in_advance),
        cmocka_unit_test(test_other_methods),      cmocka_unit_test(test_hidden_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
