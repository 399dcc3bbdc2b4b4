/* SPDX-License-Identifier: Apache-2.0 */
/* Asking clients of the handshake revisions, and what is checked before anybody is asked. */
#include "ask_support.h"

#include "base/limits.h"

static hub_fixture fixture;
static asker tool;

static client *open_with(const char *capabilities)
{
    return client_open_as(&fixture,
                          &(client_options){.kind = LEGACY, .capabilities = capabilities});
}

/* Conformance tools-call-elicitation: a request on the call's port, the answer to the tool. */
static void test_ask_and_answer(void **state)
{
    puppet master = {.on_call = asker_called_elicits};
    const char *text = NULL;
    (void)state;
    asker_start(&fixture, &master, &tool);
    tool.on_answer = asker_finish_with_answer;
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(tool.result, PATCHBAY_OK);
    assert_int_equal(c->count, 0); /* it goes out when the turn of the loop ends */
    fixture_spin(&fixture, 1);
    assert_int_equal(c->count, 1);
    uint64_t id = client_asked(c, &text);
    assert_contains(text, "\"method\":\"elicitation/create\",\"params\":" ELICIT "}");
    client_answer(c, id, "{\"action\":\"accept\",\"content\":{\"n\":1.10}}");
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].status, PATCHBAY_ANSWERED);
    assert_int_equal(tool.answers[0].call, tool.call.id);
    assert_contains(client_reply(c, "\"1\""),
                    "\"got\":{\"action\":\"accept\",\"content\":{\"n\":1.10}}");
    client_answer(c, id, "{}"); /* once more: an answer to nothing */
    assert_int_equal(tool.count, 1);
    assert_int_equal(client_count(c, "cancelled"), 0);
    fixture_stop(&fixture);
}

static void test_refusal(void **state)
{
    puppet master = {.on_call = asker_called_elicits};
    (void)state;
    asker_start(&fixture, &master, &tool);
    tool.on_answer = asker_finish_with_answer;
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"error\":{\"code\":-1,\"message\":\"no\"}}",
                (unsigned long long)client_asked(c, NULL));
    assert_int_equal(tool.answers[0].status, PATCHBAY_REFUSED);
    assert_string_equal(tool.answers[0].json, "{\"code\":-1,\"message\":\"no\"}");
    assert_non_null(client_reply(c, "\"1\""));
    fixture_stop(&fixture);
}

/* Several questions: all go out together, each has its own answer, in any order. */
static void test_several(void **state)
{
    puppet master = {0};
    uint64_t ids[3];
    (void)state;
    asker_start(&fixture, &master, &tool);
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    uint64_t call = tool.call.id;
    assert_int_equal(asker_ask(&tool, call, 'e', "", "elicitation/create", ELICIT), PATCHBAY_OK);
    assert_int_equal(asker_ask(&tool, call, 's', "", "sampling/createMessage", SAMPLE),
                     PATCHBAY_OK);
    assert_int_equal(asker_ask(&tool, call, 'r', "", "roots/list", ""), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    assert_int_equal(c->count, 3);
    for (size_t i = 0; i < 3; i++) {
        hub_message message;
        assert_int_equal(hub_message_scan(hub_str_of(c->messages[i]), &message, NULL), HUB_OK);
        assert_true(hub_json_to_u64(message.at[HUB_M_ID], &ids[i]));
    }
    assert_contains(c->messages[0], "elicitation/create");
    assert_contains(c->messages[1], "\"sampling/createMessage\",\"params\":" SAMPLE "}");
    assert_contains(c->messages[2], "\"method\":\"roots/list\"}");
    client_answer(c, ids[2], "{\"roots\":[]}");
    client_answer(c, ids[0], "{\"action\":\"decline\"}");
    client_answer(c, ids[1], "{\"role\":\"assistant\"}");
    assert_int_equal(tool.count, 3);
    assert_int_equal(tool.answers[0].name, 'r');
    assert_string_equal(tool.answers[0].json, "{\"roots\":[]}");
    assert_int_equal(tool.answers[1].name, 'e');
    assert_string_equal(tool.answers[1].json, "{\"action\":\"decline\"}");
    assert_int_equal(tool.answers[2].name, 's');
    asker_finish(&tool, call, "{}");
    fixture_stop(&fixture);
}

/* A question in answer to an answer. */
static void ask_again(asker *a, const asker_answer *answer)
{
    if (answer->name == 'z') {
        asker_finish(a, answer->call, "{\"content\":[]}");
    } else {
        assert_int_equal(
            asker_ask(a, answer->call, (char)(answer->name + 1), "k", "elicitation/create", ELICIT),
            PATCHBAY_OK);
    }
}

static void test_rounds(void **state)
{
    puppet master = {.on_call = asker_called_elicits};
    (void)state;
    asker_start(&fixture, &master, &tool);
    tool.on_answer = ask_again;
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    for (char name = 'k'; name <= 'z'; name++) {
        fixture_spin(&fixture, 1);
        client_answer(c, client_asked(c, NULL), "{\"action\":\"accept\"}");
    }
    assert_int_equal(tool.count, 'z' - 'k' + 1);
    assert_non_null(client_reply(c, "\"1\""));
    fixture_stop(&fixture);
}

/* ---- who can be asked ------------------------------------------------------------------------ */

static int32_t try_to_ask(const client_options *options, const char *method, const char *params)
{
    client *c = client_open_as(&fixture, options);
    client_call(c, "\"1\"", "t__a", "{}");
    int32_t result = asker_ask(&tool, tool.call.id, 'x', "", method, params);
    client_close(c);
    return result;
}

/* Conformance input-required-result-capability-check; 2025-11-25 client/elicitation, Capabilities.
 */
static void test_capabilities(void **state)
{
    static const char TOOLS[] = "{\"messages\":[],\"maxTokens\":1,\"tools\":[]}";
    static const char CHOICE[] = "{\"messages\":[],\"maxTokens\":1,\"toolChoice\":{}}";
    static const char FORM[] = "{\"mode\":\"form\",\"message\":\"m\",\"requestedSchema\":{}}";
    static const struct {
        const char *capabilities;
        const char *revision; /* NULL: both of the newest */
        const char *method;
        const char *params;
        bool fits;
    } ROWS[] = {
        {"{}", NULL, "elicitation/create", ELICIT, false},
        {"{}", NULL, "sampling/createMessage", SAMPLE, false},
        {"{}", NULL, "roots/list", "", false},
        {"{\"elicitation\":{}}", NULL, "elicitation/create", ELICIT, true},
        {"{\"elicitation\":{}}", NULL, "elicitation/create", FORM, true},
        {"{\"elicitation\":{}}", NULL, "elicitation/create", ELICIT_U, false},
        {"{\"elicitation\":{\"form\":{}}}", NULL, "elicitation/create", ELICIT_U, false},
        {"{\"elicitation\":{\"url\":{}}}", NULL, "elicitation/create", ELICIT_U, true},
        {"{\"elicitation\":{\"url\":{}}}", NULL, "elicitation/create", ELICIT, false},
        {"{\"elicitation\":{\"url\":{},\"form\":{}}}", NULL, "elicitation/create", FORM, true},
        {"{\"elicitation\":null}", NULL, "elicitation/create", ELICIT, false},
        {"{\"elicitation\":{}}", NULL, "sampling/createMessage", SAMPLE, false},
        {"{\"sampling\":{}}", NULL, "sampling/createMessage", SAMPLE, true},
        {"{\"sampling\":{}}", NULL, "sampling/createMessage", TOOLS, false},
        {"{\"sampling\":{}}", NULL, "sampling/createMessage", CHOICE, false},
        {"{\"sampling\":{\"tools\":{}}}", NULL, "sampling/createMessage", TOOLS, true},
        {"{\"sampling\":{\"tools\":{}}}", NULL, "sampling/createMessage", CHOICE, true},
        {"{\"sampling\":{}}", NULL, "roots/list", "{}", false},
        {"{\"roots\":{\"listChanged\":true}}", NULL, "roots/list", "{}", true},
        {"{\"roots\":{}}", NULL, "roots/list", "", true},
        {ALL, "2024-11-05", "roots/list", "", true},
        {ALL, "2024-11-05", "sampling/createMessage", SAMPLE, true},
        {ALL, "2024-11-05", "elicitation/create", ELICIT, false},
        {ALL, "2025-03-26", "elicitation/create", ELICIT, false},
        {ALL, "2025-06-18", "elicitation/create", ELICIT, true},
        {ALL, "2025-06-18", "elicitation/create", ELICIT_U, false},
        {ALL, "2025-06-18", "sampling/createMessage", TOOLS, false},
    };
    puppet master = {0};
    (void)state;
    asker_start(&fixture, &master, &tool);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        int32_t wanted = ROWS[i].fits ? PATCHBAY_OK : PATCHBAY_ESTATE;
        client_options options = {
            .kind = LEGACY, .capabilities = ROWS[i].capabilities, .revision = ROWS[i].revision};
        assert_int_equal(try_to_ask(&options, ROWS[i].method, ROWS[i].params), wanted);
        if (ROWS[i].revision == NULL) {
            options.kind = MODERN;
            assert_int_equal(try_to_ask(&options, ROWS[i].method, ROWS[i].params), wanted);
        }
    }
    fixture_stop(&fixture);
}

static void test_bad_questions(void **state)
{
    static const char *const BAD[][2] = {
        {"elicitation/creat", ELICIT},
        {"", ELICIT},
        {"tools/call", "{}"},
        {"ping", ""},
        {"elicitation/create", ""},
        {"sampling/createMessage", ""},
        {"elicitation/create", "[]"},
        {"elicitation/create", "{"},
        {"elicitation/create", "{\"mode\":\"voice\"}"},
        {"elicitation/create", "{\"mode\":1}"},
        {"roots/list", "null"},
        {"roots/list", "1"},
    };
    puppet master = {0};
    char key[HUB_LIMIT_ID_BYTES + 2];
    (void)state;
    asker_start(&fixture, &master, &tool);
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    uint64_t call = tool.call.id;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        assert_int_equal(asker_ask(&tool, call, 'x', "", BAD[i][0], BAD[i][1]), PATCHBAY_EINVAL);
    }
    memset(key, 'k', sizeof key);
    key[HUB_LIMIT_ID_BYTES + 1] = '\0';
    assert_int_equal(asker_elicit(&tool, 'x', key), PATCHBAY_EINVAL); /* one too long */
    assert_int_equal(asker_elicit(&tool, 'x', "\xff"), PATCHBAY_EINVAL);
    key[HUB_LIMIT_ID_BYTES] = '\0';
    assert_int_equal(asker_elicit(&tool, 'x', key), PATCHBAY_OK);
    assert_int_equal(asker_elicit(&tool, 'x', key), PATCHBAY_EINVAL); /* used already */
    assert_int_equal(asker_ask(&tool, call + 1, 'x', "", "roots/list", ""), PATCHBAY_ESTALE);
    patchbay_question short_one = {.struct_size = 8, .method = puppet_str("roots/list")};
    assert_int_equal(tool.client->ask(tool.instance->host, tool.call, &short_one), PATCHBAY_EINVAL);
    asker_finish(&tool, call, "{}");
    assert_int_equal(asker_elicit(&tool, 'x', ""), PATCHBAY_ESTALE); /* it is over */
    fixture_stop(&fixture);
}

static void test_limit_per_call(void **state)
{
    puppet master = {0};
    (void)state;
    asker_start(&fixture, &master, &tool);
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    for (int i = 0; i < HUB_LIMIT_ASKS_PER_CALL; i++) {
        assert_int_equal(asker_elicit(&tool, 'x', ""), PATCHBAY_OK);
    }
    assert_int_equal(asker_elicit(&tool, 'x', ""), PATCHBAY_ELIMIT);
    fixture_spin(&fixture, 1);
    client_answer(c, client_asked(c, NULL), "{}");
    assert_int_equal(asker_elicit(&tool, 'x', ""), PATCHBAY_OK); /* there is a place again */
    asker_finish(&tool, tool.call.id, "{}");
    fixture_stop(&fixture);
}

static void test_get_capabilities(void **state)
{
    puppet master = {0};
    (void)state;
    asker_start(&fixture, &master, &tool);
    for (int kind = LEGACY; kind <= MODERN; kind++) {
        client *c = client_open_as(
            &fixture, &(client_options){.kind = (client_kind)kind, .capabilities = ALL});
        client_call(c, "\"1\"", "t__a", "{}");
        patchbay_str text = tool.client->get_capabilities(tool.instance->host, tool.call);
        assert_true(hub_str_is(text, ALL));
        asker_finish(&tool, tool.call.id, "{}");
        text = tool.client->get_capabilities(tool.instance->host, tool.call);
        assert_true(hub_str_is(text, "{}"));
    }
    fixture_stop(&fixture);
}

/* 2025-11-25 client/elicitation: elicitation by URL has an elicitationId; later it has none. */
static void test_elicitation_id(void **state)
{
    puppet master = {0};
    const char *text = NULL;
    (void)state;
    asker_start(&fixture, &master, &tool);
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    uint64_t call = tool.call.id;
    assert_int_equal(asker_ask(&tool, call, 'u', "", "elicitation/create", ELICIT_U), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    uint64_t id = client_asked(c, &text);
    char want[200];
    (void)snprintf(want, sizeof want, "\"params\":{\"elicitationId\":\"patchbay-%llu\",%s}",
                   (unsigned long long)id, &ELICIT_U[1]);
    assert_contains(text, want);
    assert_int_equal(asker_ask(&tool, call, 'u', "", "elicitation/create",
                               "{\"elicitationId\":\"mine\",\"mode\":\"url\"}"),
                     PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    assert_true(client_asked(c, &text) > id);
    assert_contains(text, "\"params\":{\"elicitationId\":\"mine\",\"mode\":\"url\"}}");
    fixture_stop(&fixture);
}

/* ---- whose answer it is ---------------------------------------------------------------------- */

/* Two clients with equal ids and equal keys: neither can answer for the other. */
static void test_clients_do_not_cross(void **state)
{
    puppet master = {.on_call = asker_called_elicits};
    (void)state;
    asker_start(&fixture, &master, &tool);
    tool.on_answer = asker_finish_with_answer;
    client *a = open_with(ALL);
    client *b = open_with(ALL);
    client_call(a, "\"1\"", "t__a", "{}");
    client_call(b, "\"1\"", "t__a", "{}");
    fixture_spin(&fixture, 1);
    uint64_t of_a = client_asked(a, NULL);
    uint64_t of_b = client_asked(b, NULL);
    assert_true(of_a != of_b && a->count == 1 && b->count == 1);
    client_answer(b, of_a, "{\"action\":\"accept\",\"content\":\"forged\"}");
    client_answer(a, of_b, "{\"action\":\"accept\",\"content\":\"forged\"}");
    assert_int_equal(tool.count, 0);
    client_answer(b, of_b, "{\"who\":\"b\"}");
    client_answer(a, of_a, "{\"who\":\"a\"}");
    assert_contains(client_reply(a, "\"1\""), "{\"who\":\"a\"}");
    assert_contains(client_reply(b, "\"1\""), "{\"who\":\"b\"}");
    fixture_stop(&fixture);
}

/* Answers that are none: to ids that never were, of a wrong type, with a wrong form. */
static void test_stray_answers(void **state)
{
    static const char *const IDS[] = {"0", "-1", "999999", "\"1\"", "1.0", "18446744073709551615"};
    puppet master = {.on_call = asker_called_elicits};
    (void)state;
    asker_start(&fixture, &master, &tool);
    client *c = open_with(ALL);
    client_call(c, "\"1\"", "t__a", "{}");
    for (size_t i = 0; i < sizeof IDS / sizeof *IDS; i++) { /* not sent yet: nothing to answer */
        client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", IDS[i]);
    }
    fixture_spin(&fixture, 1);
    for (size_t i = 0; i < sizeof IDS / sizeof *IDS; i++) {
        client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", IDS[i]);
    }
    client_send(c, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":[]}",
                (unsigned long long)client_asked(c, NULL)); /* no object: no message */
    assert_int_equal(tool.count, 0);
    client_answer(c, client_asked(c, NULL), "{}");
    assert_int_equal(tool.count, 1);
    fixture_stop(&fixture);
}

/* 2025-03-26 has batches; answers may come in one. */
static void test_answer_in_a_batch(void **state)
{
    puppet master = {0};
    (void)state;
    asker_start(&fixture, &master, &tool);
    client *c = client_open_as(
        &fixture, &(client_options){.kind = LEGACY, .capabilities = ALL, .revision = "2025-03-26"});
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_ask(&tool, tool.call.id, 'r', "", "roots/list", ""), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_send(c, "[{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":{\"roots\":[]}}]",
                (unsigned long long)client_asked(c, NULL));
    assert_int_equal(tool.count, 1);
    assert_string_equal(tool.answers[0].json, "{\"roots\":[]}");
    fixture_stop(&fixture);
}

/* ---- questions of no call in particular ------------------------------------------------------ */

/* DESIGN, ask: a server over one pipe does not say for which call it asks. It is the session's
 * whose calls are in flight, if that is a single one; nobody else is ever asked. */
static void test_call_zero(void **state)
{
    puppet master = {0};
    (void)state;
    asker_start(&fixture, &master, &tool);
    client *a = open_with(ALL);
    client *b = open_with(ALL);
    client_call(a, "\"0\"", "t__a", "{}"); /* has the instance made */
    asker_finish(&tool, tool.call.id, "{}");
    assert_int_equal(asker_ask(&tool, 0, 'r', "", "roots/list", ""), PATCHBAY_ESTATE);
    client_call(a, "\"1\"", "t__a", "{}");
    uint64_t first = tool.call.id;
    client_call(a, "\"2\"", "t__a", "{}");
    uint64_t second = tool.call.id;
    assert_int_equal(asker_ask(&tool, 0, 'r', "", "roots/list", ""), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_answer(a, client_asked(a, NULL), "{}");
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].call, second); /* the newest */
    client_call(b, "\"1\"", "t__a", "{}");
    uint64_t third = tool.call.id;
    assert_int_equal(asker_ask(&tool, 0, 'r', "", "roots/list", ""), PATCHBAY_ESTATE);
    asker_finish(&tool, first, "{}");
    asker_finish(&tool, second, "{}");
    assert_int_equal(asker_ask(&tool, 0, 'r', "", "roots/list", ""), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_answer(b, client_asked(b, NULL), "{}");
    assert_int_equal(tool.answers[1].call, third);
    asker_finish(&tool, third, "{}");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ask_and_answer), cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_several),        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_capabilities),   cmocka_unit_test(test_bad_questions),
        cmocka_unit_test(test_limit_per_call), cmocka_unit_test(test_get_capabilities),
        cmocka_unit_test(test_elicitation_id), cmocka_unit_test(test_clients_do_not_cross),
        cmocka_unit_test(test_stray_answers),  cmocka_unit_test(test_answer_in_a_batch),
        cmocka_unit_test(test_call_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
