/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elicitation by URL of 2025-11-25: who hears that one is done, and what becomes of the error that
 * demands one.
 */
#include "ask_modern_support.h"

#include "base/limits.h"

#define DONE "notifications/elicitation/complete"
#define URL(id)                                                                                    \
    "{\"mode\":\"url\",\"message\":\"go\",\"url\":\"https://a.example/\",\"elicitationId\":\"" id  \
    "\"}"
#define REQUIRED                                                                                   \
    "{\"code\":-32042,\"message\":\"first go there\",\"data\":{\"x\":1.0,\"elicitations\":["
#define NO_URL "{\"elicitation\":{}}"

static client *open_legacy(const char *revision)
{
    return client_open_as(
        &fixture, &(client_options){.kind = LEGACY, .capabilities = ALL, .revision = revision});
}

static int32_t complete(uint64_t call, const char *params)
{
    return tool.client->elicitation_complete(tool.instance->host, (patchbay_call){.id = call},
                                             puppet_str(params));
}

static void start_quiet(puppet *master)
{
    master->on_call = asker_called;
    start(master);
    tool.on_answer = NULL;
}

/* Have a client sent to a URL, and agree. */
static void send_there(client *c, const char *params)
{
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_ask(&tool, tool.call.id, 'u', "", "elicitation/create", params),
                     PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    client_answer(c, client_asked(c, NULL), "{\"action\":\"accept\"}");
}

static void fail_call(const char *error)
{
    (void)tool.instance->api->finish(tool.instance->host, tool.call, PATCHBAY_RPC_ERROR,
                                     puppet_str(error));
}

/* ---- completion ------------------------------------------------------------------------------ */

/* 2025-11-25 client/elicitation: only the client that was sent there is told, once, also when its
 * call is over; the params as they are. */
static void test_complete(void **state)
{
    puppet master = {0};
    (void)state;
    for (int is_over = 0; is_over <= 1; is_over++) {
        start_quiet(&master);
        client *c = open_legacy(NULL);
        client *other = open_legacy(NULL);
        client *modern = open_by("m");
        send_there(other, URL("")); /* an id all the same */
        asker_finish(&tool, tool.call.id, "{\"content\":[]}");
        send_there(c, URL("an \\u0069d"));
        if (is_over) {
            asker_finish(&tool, tool.call.id, "{\"content\":[]}");
        }
        client_clear(c);
        client_clear(other);
        assert_int_equal(complete(0, "{\"x\":1.0,\"elicitationId\":\"an id\"}"), PATCHBAY_OK);
        assert_int_equal(c->count, 1);
        assert_string_equal(c->messages[0],
                            "{\"jsonrpc\":\"2.0\",\"method\":\"" DONE
                            "\",\"params\":{\"x\":1.0,\"elicitationId\":\"an id\"}}");
        assert_int_equal(other->count + modern->count, 0);
        assert_int_equal(complete(0, "{\"elicitationId\":\"an id\"}"), PATCHBAY_ENOTFOUND);
        assert_int_equal(complete(tool.call.id, "{\"elicitationId\":\"?\"}"), PATCHBAY_ENOTFOUND);
        assert_int_equal(c->count, 1);
        if (!is_over) {
            asker_finish(&tool, tool.call.id, "{\"content\":[]}");
        }
        fixture_stop(&fixture);
    }
}

static void test_bad_params(void **state)
{
    static const char *const BAD[] = {"",
                                      "{}",
                                      "[]",
                                      "{\"elicitationId\":7}",
                                      "{\"elicitationId\":null}",
                                      "{\"elicitationId\":\"a\""};
    puppet master = {0};
    (void)state;
    start_quiet(&master);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(complete(0, BAD[i]), PATCHBAY_EINVAL);
    }
    fixture_stop(&fixture);
}

/* Other revisions have no such message: a client of them is not even sent there, or (2026-07-28)
 * comes back to see. */
static void test_other_revisions(void **state)
{
    puppet master = {0};
    (void)state;
    start_quiet(&master);
    client *old = open_legacy("2025-06-18");
    client_call(old, "\"1\"", "t__a", "{}");
    fail_call(REQUIRED URL("e") "]}}");
    assert_contains(client_reply(old, "\"1\""), REQUIRED URL("e") "]}}");
    client *modern = open_by("m");
    client_call(modern, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_ask(&tool, tool.call.id, 'u', "", "elicitation/create", URL("e")),
                     PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    assert_int_equal(complete(0, "{\"elicitationId\":\"e\"}"), PATCHBAY_ENOTFOUND);
    assert_int_equal(client_count(old, DONE) + client_count(modern, DONE), 0);
    fixture_stop(&fixture);
}

/* Another toolset's ids are its own. */
static void test_toolsets_apart(void **state)
{
    puppet master = {0};
    puppet strange = {0};
    (void)state;
    memset(&tool, 0, sizeof tool);
    master = (puppet){.tools = "[" TOOL("a") "]",
                      .ctx = &tool,
                      .on_create = asker_created,
                      .on_call = asker_called};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &master, true);
    (void)fixture_toolset(&fixture, "u", &strange, true);
    fixture_start(&fixture);
    client *c = open_legacy(NULL);
    send_there(c, URL("e"));
    const puppet_instance *u = strange.latest;
    assert_int_equal(u->client->elicitation_complete(u->host, (patchbay_call){.id = 0},
                                                     puppet_str("{\"elicitationId\":\"e\"}")),
                     PATCHBAY_ENOTFOUND);
    assert_int_equal(client_count(c, DONE), 0);
    assert_int_equal(complete(0, "{\"elicitationId\":\"e\"}"), PATCHBAY_OK);
    fixture_stop(&fixture);
}

/* HUB_LIMIT_ELICITATIONS of a session, and one more: the oldest is forgotten. */
static void test_limit(void **state)
{
    puppet master = {0};
    (void)state;
    start_quiet(&master);
    client *c = open_legacy(NULL);
    for (int i = 0; i <= HUB_LIMIT_ELICITATIONS; i++) {
        char error[512];
        (void)snprintf(error, sizeof error,
                       REQUIRED "{\"mode\":\"url\",\"elicitationId\":\"%d\"}]}}", i);
        client_call(c, "\"1\"", "t__a", "{}");
        fail_call(error);
    }
    client_call(c, "\"1\"", "t__a", "{}"); /* one of them again: it is not two */
    fail_call(REQUIRED "{\"mode\":\"url\",\"elicitationId\":\"1\"}]}}");
    client_clear(c);
    assert_int_equal(complete(0, "{\"elicitationId\":\"0\"}"), PATCHBAY_ENOTFOUND);
    for (int i = 1; i <= HUB_LIMIT_ELICITATIONS; i++) {
        char params[64];
        (void)snprintf(params, sizeof params, "{\"elicitationId\":\"%d\"}", i);
        assert_int_equal(complete(0, params), PATCHBAY_OK);
    }
    assert_int_equal(c->count, HUB_LIMIT_ELICITATIONS);
    fixture_stop(&fixture);
}

/* ---- the error ------------------------------------------------------------------------------- */

/* 2025-11-25, URL Elicitation Required Error: it passes as it is, and its client hears of the end.
 */
static void test_error_legacy(void **state)
{
    puppet master = {0};
    (void)state;
    start_quiet(&master);
    client *c = open_legacy(NULL);
    client *other = open_legacy(NULL);
    client_call(c, "\"1\"", "t__a", "{}");
    fail_call(REQUIRED URL("one") "," URL("two") "]}}");
    assert_contains(client_reply(c, "\"1\""),
                    "\"error\":" REQUIRED URL("one") "," URL("two") "]}}}");
    assert_int_equal(complete(0, "{\"elicitationId\":\"two\"}"), PATCHBAY_OK);
    assert_int_equal(client_count(c, DONE), 1);
    assert_int_equal(other->count, 0);
    fixture_stop(&fixture);
}

/* What 2026-07-28 has for it: input_required, once for each time that the server insists. */
static void test_error_modern(void **state)
{
    puppet master = {0};
    (void)state;
    start_quiet(&master);
    client *c = open_by("m");
    client_call(c, "\"1\"", "t__a", "{}");
    fail_call(REQUIRED URL("one") "," URL("two") "]}}");
    const char *reply = client_reply(c, "\"1\"");
    assert_contains(
        reply,
        "\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{"
        "\"url-1\":{\"method\":\"elicitation/create\",\"params\":" URL(
            "one") "},"
                   "\"url-2\":{\"method\":\"elicitation/create\",\"params\":" URL("two") "}}}");
    assert_lacks(reply, "requestState");
    assert_int_equal(hub_call_count(fixture.hub->calls), 0); /* nothing is kept */
    client_request(c, "\"2\"", "tools/call",
                   "\"name\":\"t__a\",\"inputResponses\":{\"url-1\":{\"action\":\"accept\"},"
                   "\"url-2\":{\"action\":\"accept\"}}");
    fail_call(REQUIRED URL("two") "]}}"); /* one is not done yet */
    assert_contains(client_reply(c, "\"2\""), "\"inputRequests\":{\"url-1\":{");
    client_request(c, "\"3\"", "tools/call",
                   "\"name\":\"t__a\",\"inputResponses\":{\"url-1\":{\"action\":\"accept\"}}");
    asker_finish(&tool, tool.call.id, "{\"content\":[],\"done\":1}");
    assert_contains(client_reply(c, "\"3\""), "\"done\":1");
    fixture_stop(&fixture);
}

/* A user who will not go there is not asked again and again. */
static void test_error_declined(void **state)
{
    static const char *const ACTIONS[] = {"decline", "cancel"};
    puppet master = {0};
    (void)state;
    start_quiet(&master);
    client *c = open_by("m");
    for (size_t i = 0; i < 2; i++) {
        char params[128];
        (void)snprintf(params, sizeof params,
                       "\"name\":\"t__a\",\"inputResponses\":{\"url-1\":{\"action\":\"%s\"}}",
                       ACTIONS[i]);
        client_request(c, "\"1\"", "tools/call", params);
        fail_call(REQUIRED URL("one") "]}}");
        assert_contains(client_reply(c, "\"1\""), "did not agree");
        assert_contains(client_reply(c, "\"1\""), "\"isError\":true");
        client_clear(c);
    }
    fixture_stop(&fixture);
}

/* basic/index, Error Codes: -32042 is never sent to a client of 2026-07-28. */
static void test_error_that_cannot_be(void **state)
{
    puppet master = {0};
    (void)state;
    start_quiet(&master);
    client *c = client_open_as(
        &fixture, &(client_options){.kind = MODERN, .capabilities = NO_URL, .principal = "m"});
    client_call(c, "\"1\"", "t__a", "{}");
    fail_call(REQUIRED URL("one") "]}}");
    assert_contains(client_reply(c, "\"1\""),
                    "\"error\":{\"code\":-32021,\"message\":\"first go there\",\"data\":{"
                    "\"requiredCapabilities\":{\"elicitation\":{\"url\":{}}}}}");
    static const char *const BAD[] = {
        REQUIRED "]}}",
        REQUIRED "7]}}",
        REQUIRED "{\"message\":\"a form\"}]}}",
        "{\"code\":-32042,\"message\":\"first go there\"}",
        "{\"code\":-32042,\"message\":\"first go there\",\"data\":7}",
    };
    client *able = open_by("m");
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        client_call(able, "\"1\"", "t__a", "{}");
        fail_call(BAD[i]);
        assert_contains(client_reply(able, "\"1\""),
                        "\"error\":{\"code\":-32603,\"message\":\"first go there\"");
        assert_int_equal(client_count(able, "32042"), 0);
        client_clear(able);
    }
    fixture_stop(&fixture);
}

/* basic/patterns/mrtr, Supported Requests: what may not be answered with input_required is not. */
static void test_error_of_completion(void **state)
{
    puppet master = {.prompts = "[{\"name\":\"p\"}]"};
    (void)state;
    start_quiet(&master);
    client *c = open_by("m");
    client_request(c, "\"1\"", "completion/complete",
                   "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"t__p\"},"
                   "\"argument\":{\"name\":\"a\",\"value\":\"v\"}");
    fail_call(REQUIRED URL("one") "]}}");
    assert_contains(client_reply(c, "\"1\""), "\"error\":{\"code\":-32603,");
    fixture_stop(&fixture);
}

/* The same while its client is away: it gets it when it is back. */
static void test_error_while_away(void **state)
{
    puppet master = {.on_call = asker_called_elicits};
    (void)state;
    start(&master);
    client *c = open_by("m");
    char *text = begin(c, "\"1\"");
    fail_call(REQUIRED URL("one") "]}}");
    retry(c, "\"2\"", text, "{\"k\":{}}");
    assert_contains(client_reply(c, "\"2\""), "\"url-1\":{");
    free(text);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_bad_params),
        cmocka_unit_test(test_other_revisions),
        cmocka_unit_test(test_toolsets_apart),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_error_legacy),
        cmocka_unit_test(test_error_modern),
        cmocka_unit_test(test_error_declined),
        cmocka_unit_test(test_error_that_cannot_be),
        cmocka_unit_test(test_error_of_completion),
        cmocka_unit_test(test_error_while_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
