/* SPDX-License-Identifier: Apache-2.0 */
/* requestState of a call that asks: what is no retry of it. MCP 2026-07-28 basic/patterns/mrtr;
 * RELIABILITY P13. */
#include "ask_modern_support.h"
#include "hub/ask/request_state.h"

/* Conformance -tampered-state; P13: each bit changed is refused, and nothing reaches the tool. */
static void test_tampering(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_by("alice");
    char *good = begin(c, "\"1\"");
    size_t refused = 0;
    for (size_t bit = 0; bit < strlen(good) * 8; bit++) {
        char *bad = strdup(good);
        assert_non_null(bad);
        bad[bit / 8] ^= (char)(1 << bit % 8);
        hub_buf text; /* some are no ASCII any more, and JSON has to be made of them */
        hub_buf_init(&text, 1024);
        hub_json_add_string(&text, hub_str_of(bad));
        char *json = hub_buf_take(&text);
        assert_non_null(json);
        json[strlen(json) - 1] = '\0';
        client_clear(c);
        retry(c, "\"2\"", json + 1, "{\"k\":{}}");
        assert_int_equal(code_of(c, "\"2\""), HUB_RPC_INVALID_PARAMS);
        refused++;
        free(json);
        free(bad);
    }
    assert_int_equal(refused, HUB_REQUEST_STATE_BYTES * 8);
    assert_int_equal(tool.count, 0);
    assert_int_equal(master.calls, 1);
    client_clear(c);
    retry(c, "\"3\"", good, "{\"k\":{}}"); /* none of it did any harm */
    assert_contains(client_reply(c, "\"3\""), "\"got\":{}");
    free(good);
    fixture_stop(&fixture);
}

/* Another principal, tool, arguments, method, profile: refused, and the state is none the worse. */
static void test_foreign_state(void **state)
{
    puppet master = {0};
    char params[512];
    (void)state;
    memset(&tool, 0, sizeof tool);
    master.tools = "[" TOOL("a") "," TOOL("b") "]";
    master.ctx = &tool;
    master.on_create = asker_created;
    master.on_call = asker_called_elicits;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, true);
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "other";
    fixture.settings.profile_count = 2;
    fixture_start(&fixture);
    client *alice = open_by("alice");
    client *bob = open_by("bob");
    client *elsewhere = client_open_as(&fixture, &(client_options){.kind = MODERN,
                                                                   .capabilities = ALL,
                                                                   .principal = "alice",
                                                                   .profile = "other"});
    char *good = begin(alice, "\"1\"");
#define TRY(who, method, before)                                                                   \
    do {                                                                                           \
        (void)snprintf(params, sizeof params,                                                      \
                       before ",\"inputResponses\":{\"k\":{}},\"requestState\":\"%s\"", good);     \
        expect_refused((who), (method), params);                                                   \
    } while (0)
    TRY(bob, "tools/call", "\"name\":\"t__a\",\"arguments\":{\"x\":1,\"y\":2}");
    TRY(elsewhere, "tools/call", "\"name\":\"t__a\",\"arguments\":{\"x\":1,\"y\":2}");
    TRY(alice, "tools/call", "\"name\":\"t__b\",\"arguments\":{\"x\":1,\"y\":2}");
    TRY(alice, "tools/call", "\"name\":\"t__a\",\"arguments\":{\"x\":1,\"y\":3}");
    TRY(alice, "tools/call", "\"name\":\"t__a\",\"arguments\":{\"x\":1}");
    TRY(alice, "tools/call", "\"name\":\"t__a\"");
    TRY(alice, "tools/call", "\"name\":\"t__a\",\"arguments\":{\"x\":1,\"y\":2},\"more\":1");
    TRY(alice, "prompts/get", "\"name\":\"t__a\",\"arguments\":{\"x\":1,\"y\":2}");
    TRY(alice, "resources/read", "\"name\":\"t__a\",\"arguments\":{\"x\":1,\"y\":2}");
#undef TRY
    assert_int_equal(tool.count, 0);
    assert_int_equal(master.calls, 1);
    tool.on_answer = asker_finish_with_answer;
    retry(alice, "\"2\"", good, "{\"k\":{}}");
    assert_contains(client_reply(alice, "\"2\""), "\"got\":{}");
    free(good);
    fixture_stop(&fixture);
}

/* A state is good once, whether the call goes on, is over, or asks again. */
static void test_replay(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    tool.on_answer = NULL;
    client *c = open_by("alice");
    char *one = begin(c, "\"1\"");
    retry(c, "\"2\"", one, "{\"k\":{}}");
    retry(c, "\"3\"", one, "{\"k\":{}}"); /* at once: the second is refused */
    assert_int_equal(code_of(c, "\"3\""), HUB_RPC_INVALID_PARAMS);
    assert_contains(client_reply(c, "\"3\""), "used already");
    assert_int_equal(tool.count, 1);
    asker_finish(&tool, tool.call.id, "{}");
    assert_non_null(client_reply(c, "\"2\""));
    retry(c, "\"4\"", one, "{\"k\":{}}");
    assert_int_equal(code_of(c, "\"4\""), HUB_RPC_INVALID_PARAMS);
    char *two = begin(c, "\"5\""); /* the same slot of the table of calls */
    retry(c, "\"6\"", one, "{\"k\":{}}");
    assert_int_equal(code_of(c, "\"6\""), HUB_RPC_INVALID_PARAMS);
    retry(c, "\"7\"", two, "{\"k\":{}}");
    assert_int_equal(tool.count, 2);
    assert_int_equal(master.calls, 2);
    free(one);
    free(two);
    fixture_stop(&fixture);
}

/* Two clients of one principal with equal ids, keys and arguments never cross. */
static void test_two_calls_do_not_cross(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *a = open_by("alice");
    client *b = open_by("alice");
    char *of_a = begin(a, "\"1\"");
    uint64_t call_a = tool.call.id;
    char *of_b = begin(b, "\"1\"");
    uint64_t call_b = tool.call.id;
    assert_string_not_equal(of_a, of_b);
    retry(b, "\"2\"", of_b, "{\"k\":{\"who\":\"b\"}}");
    retry(a, "\"2\"", of_a, "{\"k\":{\"who\":\"a\"}}");
    assert_int_equal(tool.answers[0].call, call_b);
    assert_int_equal(tool.answers[1].call, call_a);
    assert_contains(client_reply(a, "\"2\""), "{\"who\":\"a\"}");
    assert_contains(client_reply(b, "\"2\""), "{\"who\":\"b\"}");
    free(of_a);
    free(of_b);
    fixture_stop(&fixture);
}

/* Ill-typed members; states that the hub never made. */
static void test_bad_members(void **state)
{
    static const char *const BAD[] = {
        "\"name\":\"t__a\",\"inputResponses\":null",
        "\"name\":\"t__a\",\"inputResponses\":[]",
        "\"name\":\"t__a\",\"inputResponses\":\"x\"",
        "\"name\":\"t__a\",\"requestState\":null",
        "\"name\":\"t__a\",\"requestState\":7",
        "\"name\":\"t__a\",\"requestState\":\"\"",
        "\"name\":\"t__a\",\"requestState\":\"pb1.\"",
        "\"name\":\"t__a\",\"requestState\":\"eyJsb2NhdGlvbiI6Ik5ldyBZb3JrIn0\"",
    };
    puppet master = {0};
    char params[512];
    (void)state;
    start(&master);
    client *c = open_by("alice");
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        expect_refused(c, "tools/call", BAD[i]);
    }
    assert_int_equal(master.calls, 0);
    char *good = begin(c, "\"1\"");
    (void)snprintf(params, sizeof params,
                   "\"name\":\"t__a\",\"arguments\":{\"x\":1,\"y\":2},\"requestState\":\"%s\","
                   "\"inputResponses\":[]",
                   good);
    expect_refused(c, "tools/call", params);
    retry(c, "\"2\"", good, "{\"k\":{}}"); /* it was not used up */
    assert_int_equal(tool.count, 1);
    free(good);
    fixture_stop(&fixture);
}

/* ---- states of servers behind the hub -------------------------------------------------------- */

static char seen_params[1024];
static char seen_arguments[256];

static void see_params(puppet_instance *instance, patchbay_call call,
                       const patchbay_request *request)
{
    (void)snprintf(seen_params, sizeof seen_params, HUB_STR_FMT, HUB_STR_ARG(request->params_json));
    (void)snprintf(seen_arguments, sizeof seen_arguments, HUB_STR_FMT HUB_STR_FMT HUB_STR_FMT,
                   HUB_STR_ARG(request->name_json), HUB_STR_ARG(request->args_json),
                   HUB_STR_ARG(request->meta_json));
    (void)puppet_finish(instance, call,
                        "{\"resultType\":\"input_required\",\"requestState\":\"th\\u0065i/rs\"}");
}

static void start_server(puppet *master)
{
    *master = (puppet){.on_call = see_params, .tools = "[" TOOL("a") "," TOOL("b") "]"};
    start(master);
    tool.client->expect_input_required(tool.instance->host, 1);
}

/* What the client is given for the server's state: as JSON writes it, without the quotes. */
static char *sealed_state_of(client *c, const char *id)
{
    static const char BEGIN[] = "\"requestState\":\"";
    const char *at = strstr(client_wait(c, id), BEGIN);
    assert_non_null(at);
    at += sizeof BEGIN - 1;
    char *state = strndup(at, strcspn(at, "\""));
    assert_non_null(state);
    return state;
}

/* The server's own state, which follows the seal. */
static const char *stripped(const char *sealed)
{
    const char *dot = strchr(sealed + 4, '.');
    assert_non_null(dot);
    return dot + 1;
}

/* DESIGN, ask: nothing is stored. The server is given its own state again, byte for byte, wherever
 * it stands, and everything else as the client wrote it. */
static void test_states_of_servers_pass(void **state)
{
    puppet master;
    char params[512];
    (void)state;
    start_server(&master);
    client *c = open_by("alice");
    client_call(c, "\"1\"", "t__a", "{\"x\":1}");
    char *sealed = sealed_state_of(c, "\"1\"");
    assert_string_equal(stripped(sealed), "th\\u0065i/rs");
    (void)snprintf(params, sizeof params,
                   "\"name\":\"t__a\", \"inputResponses\":{\"k\":{}},\"requestState\" : \"%s\" , "
                   "\"arguments\":{\"x\":1}",
                   sealed);
    client_request(c, "\"2\"", "tools/call", params);
    assert_contains(seen_params, "\"name\":\"t__a\", \"inputResponses\":{\"k\":{}},\"requestState\""
                                 " : \"th\\u0065i/rs\" , \"arguments\":{\"x\":1}");
    assert_contains(seen_arguments, "\"t__a\"{\"x\":1}{\"io.modelcontextprotocol/");
    /* Another spelling of the same text, as a client may have that reads and writes JSON. */
    (void)snprintf(params, sizeof params,
                   "\"arguments\":{\"x\":1},\"requestState\":\"%.*sthei\\/rs\",\"name\":\"t__a\"",
                   (int)(stripped(sealed) - sealed), sealed);
    client_request(c, "\"3\"", "tools/call", params);
    assert_contains(seen_params, "{\"x\":1},\"requestState\":\"thei\\/rs\",\"name\":\"t__a\"");
    assert_contains(seen_arguments, "\"t__a\"{\"x\":1}{\"io.modelcontextprotocol/");
    assert_int_equal(master.calls, 3);
    free(sealed);
    fixture_stop(&fixture);
}

/* P13: nothing of it reaches the server. To that all clients of the hub are one: the hub has to
 * tell them apart. */
static void test_states_of_servers_are_sealed(void **state)
{
    static const char ARGUMENTS[] = "\"arguments\":{\"x\":1}";
    puppet master;
    char params[512];
    (void)state;
    start_server(&master);
    client *alice = open_by("alice");
    client *bob = open_by("bob");
    client *legacy = client_open_as(
        &fixture, &(client_options){.kind = LEGACY, .capabilities = ALL, .principal = "alice"});
    client_call(alice, "\"1\"", "t__a", "{\"x\":1}");
    char *good = sealed_state_of(alice, "\"1\"");
#define TRY(who, name, arguments, state)                                                           \
    do {                                                                                           \
        (void)snprintf(params, sizeof params, "\"name\":\"" name "\",%s,\"requestState\":\"%s\"",  \
                       (arguments), (state));                                                      \
        expect_refused((who), "tools/call", params);                                               \
    } while (0)
    TRY(bob, "t__a", ARGUMENTS, good);
    TRY(bob, "t__a", ARGUMENTS, stripped(good));
    TRY(alice, "t__a", ARGUMENTS, stripped(good));
    TRY(legacy, "t__a", ARGUMENTS, stripped(good));
    TRY(legacy, "t__a", ARGUMENTS, good);
    TRY(alice, "t__b", ARGUMENTS, good);
    TRY(alice, "t__a", "\"arguments\":{\"x\":2}", good);
    TRY(alice, "t__a", ARGUMENTS, "pb1.00"); /* as a hub behind this one makes them */
    TRY(alice, "t__a", ARGUMENTS, "pb2.00.");
    TRY(alice, "t__a", ARGUMENTS, "");
    for (size_t i = 0; i <= (size_t)(stripped(good) - good); i++) { /* the seal, and one more */
        char *bad = strdup(good);
        assert_non_null(bad);
        bad[i] = bad[i] == 'x' ? 'y' : 'x';
        TRY(alice, "t__a", ARGUMENTS, bad);
        free(bad);
    }
#undef TRY
    assert_int_equal(master.calls, 1);
    client_retry(alice, "\"2\"", "t__a", "{\"x\":1}", good, "{\"k\":{}}");
    assert_int_equal(master.calls, 2);
    free(good);
    fixture_stop(&fixture);
}

/* A client that cannot be asked may still be told to come back. */
static void test_states_for_clients_that_answer_nothing(void **state)
{
    puppet master;
    (void)state;
    start_server(&master);
    client *alice = client_open_as(&fixture, &(client_options){.kind = MODERN, .principal = "a"});
    client *bob = client_open_as(&fixture, &(client_options){.kind = MODERN, .principal = "b"});
    client_call(alice, "\"1\"", "t__a", "{}");
    char *good = sealed_state_of(alice, "\"1\"");
    client_retry(bob, "\"1\"", "t__a", "{}", good, "{}");
    assert_int_equal(code_of(bob, "\"1\""), HUB_RPC_INVALID_PARAMS);
    assert_int_equal(master.calls, 1);
    client_retry(alice, "\"2\"", "t__a", "{}", good, "{}");
    assert_int_equal(master.calls, 2);
    free(good);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tampering),
        cmocka_unit_test(test_foreign_state),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_two_calls_do_not_cross),
        cmocka_unit_test(test_bad_members),
        cmocka_unit_test(test_states_of_servers_pass),
        cmocka_unit_test(test_states_of_servers_are_sealed),
        cmocka_unit_test(test_states_for_clients_that_answer_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
