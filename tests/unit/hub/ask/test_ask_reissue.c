/* SPDX-License-Identifier: Apache-2.0 */
/* A server of 2026-07-28 behind a proxy asks by its result; a client of a handshake revision is
 * asked directly, and the call is made again. DESIGN, ask: modern to legacy. */
#include "ask_support.h"

#include "base/limits.h"

static hub_fixture fixture;
static asker tool;

/* What the server answers, round after round; the last for ever. */
static const char *results[4];

/* The calls that it got. */
enum { SEEN = 32 };
static struct {
    uint64_t call;
    char params[768];
    char args[128];
    char name[64];
    char meta[64];
    char tool[64];
    char method[32];
    uint32_t flags;
} seen[SEEN];
static size_t seen_count;

static void copy(char *to, size_t size, patchbay_str from)
{
    (void)snprintf(to, size, HUB_STR_FMT, HUB_STR_ARG(from));
}

static void serve(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    size_t at = seen_count++;
    assert_true(at < SEEN);
    seen[at].call = call.id;
    seen[at].flags = request->flags;
    copy(seen[at].params, sizeof seen[at].params, request->params_json);
    copy(seen[at].args, sizeof seen[at].args, request->args_json);
    copy(seen[at].name, sizeof seen[at].name, request->name_json);
    copy(seen[at].meta, sizeof seen[at].meta, request->meta_json);
    copy(seen[at].tool, sizeof seen[at].tool, request->tool);
    copy(seen[at].method, sizeof seen[at].method, request->method);
    if (request->name_json.len > 0) { /* a slice, so that a proxy can splice around it */
        assert_in_range((uintptr_t)request->name_json.ptr, (uintptr_t)request->params_json.ptr,
                        (uintptr_t)request->params_json.ptr + request->params_json.len);
    }
    asker_called(instance, call, request);
    const char *result = results[at < 3 ? at : 3];
    if (result != NULL) {
        asker_finish(&tool, call.id, result);
    }
}

static void start(puppet *master)
{
    memset(seen, 0, sizeof seen);
    memset(results, 0, sizeof results);
    seen_count = 0;
    master->on_call = serve;
    asker_start(&fixture, master, &tool);
    tool.client->expect_input_required(tool.instance->host, 1);
}

static client *open_with(const char *capabilities)
{
    return client_open_as(&fixture,
                          &(client_options){.kind = LEGACY, .capabilities = capabilities});
}

#define REQUIRED(members) "{\"resultType\":\"input_required\"," members "}"
#define ASKS(key)         "\"" key "\":{\"method\":\"elicitation/create\",\"params\":" ELICIT "}"
#define ONE_ASK           REQUIRED("\"inputRequests\":{" ASKS("k") "}")
#define DONE              "{\"resultType\":\"complete\",\"content\":[]}"

/* The whole way, byte for byte: keys and state as the server spelled them. */
static void test_ask_and_repeat(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    results[0] =
        REQUIRED("\"requestState\" : \"\\u0061\\/b\",\"inputRequests\":{"
                 "\"k\\u0031\":{\"params\":" ELICIT ",\"method\":\"elicitation/cre\\u0061te\"},"
                 "\"s\":{\"method\":\"sampling/createMessage\",\"params\":" SAMPLE "},"
                 "\"r\":{\"method\":\"roots/list\"}}");
    results[1] = DONE;
    client *c = open_with(ALL);
    client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"tools/call\",\"params\":{ "
                   "\"x\":1, \"arguments\" : {\"n\":1e400},\"name\":\"t__\\u0061\","
                   "\"_meta\":{\"k\":1.10,\"progressToken\":\"p\"} }}");
    fixture_spin(&fixture, 1);
    assert_int_equal(c->count, 3);
    uint64_t ids[3];
    for (size_t i = 0; i < 3; i++) {
        hub_message message;
        assert_int_equal(hub_message_scan(hub_str_of(c->messages[i]), &message, NULL), HUB_OK);
        assert_true(hub_json_to_u64(message.at[HUB_M_ID], &ids[i]));
    }
    assert_contains(c->messages[0], "\"elicitation/create\",\"params\":" ELICIT "}");
    client_answer(c, ids[2], "{\"roots\":[ ]}");
    client_answer(c, ids[0], "{\"action\":\"accept\",\"content\":{\"n\":-0}}");
    assert_int_equal(seen_count, 1);
    client_answer(c, ids[1], "{\"role\":\"assistant\"}");
    fixture_spin(&fixture, 1);
    assert_int_equal(seen_count, 2);
    assert_true(seen[1].call != seen[0].call); /* MUST be another id */
    assert_string_equal(seen[1].params,
                        "{ \"x\":1, \"arguments\" : {\"n\":1e400},\"name\":\"t__\\u0061\","
                        "\"_meta\":{\"k\":1.10,\"progressToken\":\"p\"} ,"
                        "\"inputResponses\":{\"r\":{\"roots\":[ ]},"
                        "\"k\\u0031\":{\"action\":\"accept\",\"content\":{\"n\":-0}},"
                        "\"s\":{\"role\":\"assistant\"}},\"requestState\":\"\\u0061\\/b\"}");
    assert_string_equal(seen[1].args, seen[0].args);
    assert_string_equal(seen[1].args, "{\"n\":1e400}");
    assert_string_equal(seen[1].name, "\"t__\\u0061\"");
    assert_string_equal(seen[1].meta, "{\"k\":1.10,\"progressToken\":\"p\"}");
    assert_string_equal(seen[1].tool, "a");
    assert_string_equal(seen[1].method, "tools/call");
    assert_int_equal(seen[1].flags, PATCHBAY_WANTS_PROGRESS);
    assert_contains(client_reply(c, "\"1\""), "\"result\":" DONE);
    assert_int_equal(c->count, 4);
    assert_int_equal(c->session->held_bytes, 0);
    assert_int_equal(master.cancels, 0);
    fixture_stop(&fixture);
}

/* Rounds: each brings its own answers and its own state, or none. */
static void test_rounds(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    results[0] = REQUIRED("\"inputRequests\":{" ASKS("a") "},\"requestState\":\"s1\"");
    results[1] = REQUIRED("\"inputRequests\":{" ASKS("b") "}");
    results[2] = REQUIRED("\"requestState\":\"s3\"");
    results[3] = DONE;
    client *c = open_with(ALL);
    client_request(c, "\"1\"", "tools/call", "\"name\":\"t__a\"");
    fixture_spin(&fixture, 1);
    client_answer(c, client_asked(c, NULL), "{\"action\":\"accept\"}");
    fixture_spin(&fixture, 2);
    client_answer(c, client_asked(c, NULL), "{\"action\":\"decline\"}");
    fixture_spin(&fixture, 2);
    assert_int_equal(seen_count, 4);
    assert_string_equal(seen[0].params, "{\"name\":\"t__a\"}");
    assert_string_equal(seen[1].params,
                        "{\"name\":\"t__a\",\"inputResponses\":{\"a\":{\"action\":\"accept\"}},"
                        "\"requestState\":\"s1\"}");
    assert_string_equal(seen[2].params,
                        "{\"name\":\"t__a\",\"inputResponses\":{\"b\":{\"action\":\"decline\"}}}");
    assert_string_equal(seen[3].params, "{\"name\":\"t__a\",\"requestState\":\"s3\"}");
    assert_string_equal(seen[3].args, "{}");
    assert_non_null(client_reply(c, "\"1\""));
    fixture_stop(&fixture);
}

static bool is_answered(void *ctx)
{
    return client_reply(ctx, "\"1\"") != NULL;
}

/* A server that never has enough. */
static void test_endless_rounds(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    for (size_t i = 0; i < 4; i++) {
        results[i] = REQUIRED("\"requestState\":\"again\"");
    }
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    fixture_run_until(&fixture, is_answered, c);
    assert_int_equal(seen_count, HUB_LIMIT_ASK_ROUNDS + 1);
    assert_contains(client_reply(c, "\"1\""), "it has asked 16 times");
    assert_contains(client_reply(c, "\"1\""), "\"isError\":true");
    fixture_stop(&fixture);
}

/* ---- who cannot be asked --------------------------------------------------------------------- */

static void expect_failure(const char *capabilities, const char *result, const char *reason)
{
    client *c = open_with(capabilities);
    seen_count = 0;
    results[0] = result;
    client_call(c, "\"1\"", "t__a", "{}");
    assert_contains(client_reply(c, "\"1\""), reason);
    assert_contains(client_reply(c, "\"1\""), "\"isError\":true");
    fixture_spin(&fixture, 2);
    assert_int_equal(c->count, 1); /* nobody was asked anything */
    assert_int_equal(seen_count, 1);
    client_close(c);
}

static void test_who_cannot_be_asked(void **state)
{
    static const char NO_METHOD[] = REQUIRED("\"inputRequests\":{\"k\":{}}");
    static const char BAD_METHOD[] = REQUIRED("\"inputRequests\":{\"k\":{\"method\":\"ping\"}}");
    static const char NOT_AN_OBJECT[] = REQUIRED("\"inputRequests\":{\"k\":7}");
    static const char A_LIST[] = REQUIRED("\"inputRequests\":[]");
    static const char BAD_STATE[] = REQUIRED("\"requestState\":7");
    static const char TWICE[] = REQUIRED("\"inputRequests\":{" ASKS("k") "," ASKS("k") "}");
    static const char MIXED[] =
        REQUIRED("\"inputRequests\":{" ASKS("k") ",\"r\":{\"method\":\"roots/list\"}}");
    puppet master = {0};
    (void)state;
    start(&master);
    expect_failure("{}", ONE_ASK, "it declared no capability to be asked");
    expect_failure("{\"elicitation\":{}}", MIXED, "did not declare the capability for roots/list");
    expect_failure("{\"elicitation\":{\"url\":{}}}", ONE_ASK,
                   "did not declare the capability for elicitation/create");
    expect_failure(ALL, NO_METHOD, "an input request has no method");
    expect_failure(ALL, BAD_METHOD, "not \\\"ping\\\"");
    expect_failure(ALL, NOT_AN_OBJECT, "an input request has no method");
    expect_failure(ALL, A_LIST, "its result is not an InputRequiredResult");
    expect_failure(ALL, BAD_STATE, "its result is not an InputRequiredResult");
    expect_failure(ALL, "{\"resultType\":\"input_required\"}",
                   "its result is not an InputRequiredResult");
    expect_failure(ALL, TWICE, "one key has two");
    tool.client->expect_input_required(tool.instance->host, 0);
    expect_failure(ALL, ONE_ASK, "the request was not kept");
    fixture_stop(&fixture);
}

static void test_limit_of_questions(void **state)
{
    puppet master = {0};
    hub_buf result;
    (void)state;
    start(&master);
    hub_buf_init(&result, 65536);
    hub_buf_add(&result, HUB_STR("{\"resultType\":\"input_required\",\"inputRequests\":{"));
    for (int i = 0; i <= HUB_LIMIT_ASKS_PER_CALL; i++) {
        hub_json_add_comma(&result);
        hub_buf_printf(&result, "\"k%d\":{\"method\":\"roots/list\"}", i);
    }
    hub_buf_add(&result, HUB_STR("}}"));
    char *text = hub_buf_take(&result);
    assert_non_null(text);
    expect_failure(ALL, text, "too many questions");
    free(text);
    fixture_stop(&fixture);
}

/* What a legacy client calls inputResponses is not MCP's: such a call cannot be repeated. What it
 * calls requestState would be one to the server, which takes it from any client of the hub. */
static void test_request_with_such_members(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    results[0] = ONE_ASK;
    client *c = open_with(ALL);
    client_request(c, "\"1\"", "tools/call", "\"name\":\"t__a\",\"inputResponses\":\"mine\"");
    assert_contains(client_reply(c, "\"1\""), "the request was not kept");
    assert_string_equal(seen[0].params, "{\"name\":\"t__a\",\"inputResponses\":\"mine\"}");
    client_request(c, "\"2\"", "tools/call", "\"name\":\"t__a\",\"requestState\":\"mine\"");
    assert_contains(client_reply(c, "\"2\""), "\"code\":-32602");
    assert_int_equal(master.calls, 1);
    fixture_stop(&fixture);
}

/* Kept requests count against what a session may have the hub hold. */
static void test_memory_of_requests(void **state)
{
    enum { BIG = 3 * 1024 * 1024 };
    puppet master = {0};
    char id[16];
    (void)state;
    start(&master); /* and never answer */
    client *c = open_with(ALL);
    char *arguments = malloc(BIG + 16);
    assert_non_null(arguments);
    memset(arguments, 'x', BIG);
    (void)memcpy(arguments, "{\"x\":\"", 6);
    (void)memcpy(arguments + BIG, "\"}", 3);
    for (int i = 0; i < 11; i++) {
        (void)snprintf(id, sizeof id, "\"c%d\"", i);
        client_call(c, id, "t__a", arguments);
        assert_true(c->session->held_bytes <= HUB_LIMIT_HELD_BYTES);
    }
    assert_int_equal(seen_count, 11); /* they are made all the same */
    asker_finish(&tool, seen[10].call, ONE_ASK);
    assert_contains(client_reply(c, "\"c10\""), "the request was not kept");
    asker_finish(&tool, seen[0].call, ONE_ASK);
    fixture_spin(&fixture, 1);
    assert_true(client_asked(c, NULL) > 0);
    for (int i = 1; i < 10; i++) {
        asker_finish(&tool, seen[i].call, DONE);
    }
    client_cancel(c, "\"c0\"");
    assert_int_equal(c->session->held_bytes, 0);
    free(arguments);
    fixture_stop(&fixture);
}

/* ---- refusals and ends ----------------------------------------------------------------------- */

static void refuse(client *c)
{
    client_send(
        c, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"error\":{\"code\":-1,\"message\":\"u\\u006eable\"}}",
        (unsigned long long)client_asked(c, NULL));
    fixture_spin(&fixture, 2);
}

/* inputResponses has no place for an error: an elicitation that failed was cancelled; without the
 * others the call cannot go on. */
static void test_refusals(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    results[0] = ONE_ASK;
    results[1] = DONE;
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    refuse(c);
    assert_contains(seen[1].params, "\"inputResponses\":{\"k\":{\"action\":\"cancel\"}}}");
    assert_non_null(client_reply(c, "\"1\""));
    results[2] = REQUIRED("\"inputRequests\":{" ASKS("k") ",\"r\":{\"method\":\"roots/list\"}}");
    client_call(c, "\"2\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    refuse(c);
    assert_contains(client_reply(c, "\"2\""), "the client refused roots/list: unable");
    assert_int_equal(client_count(c, "notifications/cancelled"), 1); /* the other question */
    assert_int_equal(seen_count, 3);
    assert_int_equal(master.cancels, 0);
    fixture_stop(&fixture);
}

/* Between two rounds nobody works on the call: nobody is told that it was cancelled. */
static void test_cancelled(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    results[0] = ONE_ASK;
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    client_cancel(c, "\"1\"");
    fixture_spin(&fixture, 2);
    assert_int_equal(client_count(c, "notifications/cancelled"), 1);
    assert_int_equal(master.cancels, 0);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    seen_count = 0;
    client_call(c, "\"2\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    client_answer(c, client_asked(c, NULL), "{\"action\":\"accept\"}");
    fixture_spin(&fixture, 1);
    assert_int_equal(seen_count, 2); /* it works on that one */
    client_cancel(c, "\"2\"");
    assert_int_equal(master.cancels, 1);
    fixture_stop(&fixture);
}

/* Whatever is said under the id of an earlier round finds nothing. */
static void test_old_ids(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    results[0] = ONE_ASK;
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(puppet_finish(tool.instance, tool.call, DONE), PATCHBAY_ESTALE);
    assert_int_equal(asker_elicit(&tool, 'x', "x"), PATCHBAY_ESTALE);
    assert_int_equal(asker_ask(&tool, 0, 'x', "x", "roots/list", ""), PATCHBAY_ESTATE);
    fixture_spin(&fixture, 1);
    client_answer(c, client_asked(c, NULL), "{\"action\":\"accept\"}");
    fixture_spin(&fixture, 1);
    assert_int_equal(puppet_finish(tool.instance, (patchbay_call){.id = seen[0].call}, DONE),
                     PATCHBAY_ESTALE);
    assert_null(client_reply(c, "\"1\""));
    /* A server may also ask in the old way while it works. */
    assert_int_equal(asker_elicit(&tool, 'x', "x"), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    asker_finish(&tool, seen[1].call, ONE_ASK);
    fixture_spin(&fixture, 2);
    assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
    client_answer(c, client_asked(c, NULL), "{\"action\":\"accept\"}");
    fixture_spin(&fixture, 1);
    assert_int_equal(seen_count, 3);
    asker_finish(&tool, seen[2].call, DONE);
    assert_non_null(client_reply(c, "\"1\""));
    fixture_stop(&fixture);
}

static void test_toolset_disabled(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    results[0] = ONE_ASK;
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    client_call(c, "\"2\"", "disable_toolset", "{\"toolset\":\"t\"}");
    assert_contains(client_reply(c, "\"1\""), "the toolset was disabled");
    assert_int_equal(master.cancels, 0);
    client_answer(c, client_asked(c, NULL), "{}");
    fixture_stop(&fixture);
    assert_int_equal(master.destroys, 1);
}

/* Two clients, equal ids, equal keys, equal states. */
static void test_clients_do_not_cross(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    results[0] = REQUIRED("\"inputRequests\":{" ASKS("k") "},\"requestState\":\"s\"");
    results[1] = results[0];
    client *a = open_with(ALL);
    client *b = open_with(ALL);
    client_call(a, "\"1\"", "t__a", "{\"who\":\"a\"}");
    client_call(b, "\"1\"", "t__a", "{\"who\":\"b\"}");
    fixture_spin(&fixture, 1);
    client_answer(b, client_asked(a, NULL), "{\"forged\":1}");
    client_answer(b, client_asked(b, NULL), "{\"by\":\"b\"}");
    fixture_spin(&fixture, 1);
    client_answer(a, client_asked(a, NULL), "{\"by\":\"a\"}");
    fixture_spin(&fixture, 1);
    assert_string_equal(seen[2].args, "{\"who\":\"b\"}");
    assert_contains(seen[2].params, "\"inputResponses\":{\"k\":{\"by\":\"b\"}}");
    assert_string_equal(seen[3].args, "{\"who\":\"a\"}");
    assert_contains(seen[3].params, "\"inputResponses\":{\"k\":{\"by\":\"a\"}}");
    asker_finish(&tool, seen[3].call, "{\"content\":[],\"of\":\"a\"}");
    asker_finish(&tool, seen[2].call, "{\"content\":[],\"of\":\"b\"}");
    assert_contains(client_reply(a, "\"1\""), "\"of\":\"a\"");
    assert_contains(client_reply(b, "\"1\""), "\"of\":\"b\"");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ask_and_repeat),     cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_endless_rounds),     cmocka_unit_test(test_who_cannot_be_asked),
        cmocka_unit_test(test_limit_of_questions), cmocka_unit_test(test_request_with_such_members),
        cmocka_unit_test(test_memory_of_requests), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cancelled),          cmocka_unit_test(test_old_ids),
        cmocka_unit_test(test_toolset_disabled),   cmocka_unit_test(test_clients_do_not_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
