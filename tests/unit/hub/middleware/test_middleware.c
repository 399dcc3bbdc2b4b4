/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with every call: log, time, and results that are too large (REQUIREMENTS S5.4). */
#include "keeper_support.h"

static hub_fixture fixture;
static keeper t;

/* `head`, `count` times `unit`, `tail`; freed by the caller. */
static char *repeat(const char *head, const char *unit, size_t count, const char *tail)
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, hub_str_of(head));
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(&text, hub_str_of(unit));
    }
    hub_buf_add(&text, hub_str_of(tail));
    char *taken = hub_buf_take(&text);
    assert_non_null(taken);
    return taken;
}

/* ---- in the hub ------------------------------------------------------------------------------ */

static hub_toolset_settings *init(void)
{
    init_keeper(&t, "[" TOOL("a") "]");
    t.master.resources = "[{\"uri\":\"x:1\",\"name\":\"one\"}]";
    fixture_init(&fixture);
    return fixture_toolset(&fixture, "t", &t.master, false);
}

/* Call the tool, have it answer with `result`, and get the reply. */
static const char *call_with(client *c, const char *id, const char *result)
{
    size_t at = t.count;
    client_call(c, id, "t__a", "{\"secret\":\"canary\"}");
    assert_int_equal(t.count, at + 1);
    assert_int_equal(puppet_finish(t.master.latest, t.calls[at], result), PATCHBAY_OK);
    return client_wait(c, id);
}

/* Nothing configured: bytes pass as they are. */
static void test_nothing(void **state)
{
    (void)state;
    (void)init();
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(call_with(c, "1", "{ \"content\" : [ ] , \"x\":1.10 }"),
                    "\"result\":{ \"content\" : [ ] , \"x\":1.10 }}");
    assert_false(fixture_logged(&fixture, "call.ended"));
    fixture_stop(&fixture);
}

/* A result of as many bytes as it may have passes untouched; one byte more, and it is cut. */
static void test_result_edges(void **state)
{
    (void)state;
    init()->results = (hub_result_rule){.max_bytes = 1024, .over = HUB_OVER_TRUNCATE};
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    const char *head = "{\"content\":[{\"type\":\"text\",\"text\":\"";
    size_t fill = 1024 - strlen(head) - strlen("\"}]}");
    char *exact = repeat(head, "z", fill, "\"}]}");
    assert_int_equal(strlen(exact), 1024);
    assert_contains(call_with(c, "1", exact), exact);
    char *over = repeat(head, "z", fill + 1, "\"}]}");
    const char *reply = call_with(c, "2", over);
    assert_lacks(reply, over);
    assert_contains(reply, "results.max_bytes");
    assert_contains(reply, "1024 bytes");
    free(over);
    free(exact);
    fixture_stop(&fixture);
}

/* Only results of tools are cut. */
static void test_resources_pass(void **state)
{
    (void)state;
    init()->results = (hub_result_rule){.max_bytes = 1024, .over = HUB_OVER_TRUNCATE};
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    char *result = repeat("{\"contents\":[{\"uri\":\"x:1\",\"text\":\"", "z", 3000, "\"}]}");
    client_request(c, "1", "resources/read", "\"uri\":\"x:1\"");
    assert_int_equal(puppet_finish(t.master.latest, t.calls[0], result), PATCHBAY_OK);
    assert_contains(client_wait(c, "1"), result);
    free(result);
    fixture_stop(&fixture);
}

/* The duration goes into `_meta`, made if need be; all else stays byte by byte, and a duration that
 * another hub has measured gives way. */
static void test_time(void **state)
{
    (void)state;
    init()->middleware.time = true;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    const char *reply = call_with(c, "1", "{\"content\": [],\"x\":1.10}");
    assert_contains(reply, "{\"content\": [],\"x\":1.10,\"_meta\":{\"patchbay/duration_ms\":");
    reply = call_with(c, "2", "{\"_meta\" : {\"k\":1.0},\"content\": []}");
    assert_contains(reply, "{\"_meta\" : {\"patchbay/duration_ms\":");
    assert_contains(reply, ",\"k\":1.0},\"content\": []}");
    reply = call_with(c, "3",
                      "{\"_meta\":{\"a\":1,\"patchbay/duration_ms\":999999999},"
                      "\"content\":[]}");
    assert_lacks(reply, "999999999");
    assert_contains(reply, ",\"a\":1},\"content\":[]}");
    assert_contains(call_with(c, "4", "{\"_meta\":7,\"content\":[]}"),
                    "{\"_meta\":7,\"content\":[]}");
    assert_contains(call_with(c, "5", "{}"), "\"result\":{\"_meta\":{\"patchbay/duration_ms\":");
    uint64_t begin_ms = hub_clock_now_ms();
    client_call(c, "6", "t__a", "{}");
    while (hub_clock_now_ms() < begin_ms + 20) {
        fixture_spin(&fixture, 1);
    }
    answer(&t, 5);
    const char *said = strstr(client_wait(c, "6"), "duration_ms\":");
    double took = strtod(said + strlen("duration_ms\":"), NULL);
    assert_true(took >= 19. && took <= (double)(hub_clock_now_ms() - begin_ms + 1));
    fixture_stop(&fixture);
}

/* A result that was cut has a duration, too, and isError of both. */
static void test_both(void **state)
{
    (void)state;
    hub_toolset_settings *settings = init();
    settings->middleware = (hub_middleware_settings){.time = true};
    settings->results = (hub_result_rule){.max_bytes = 1024, .over = HUB_OVER_TRUNCATE};
    fixture_start(&fixture);
    client *c = client_open(&fixture, MODERN);
    char *result =
        repeat("{\"content\":[{\"type\":\"text\",\"text\":\"", "z", 3000, "\"}],\"isError\":true}");
    const char *reply = call_with(c, "1", result);
    assert_contains(reply, "\"isError\":true");
    assert_contains(reply, "results.max_bytes");
    assert_contains(reply, "patchbay/duration_ms");
    free(result);
    fixture_stop(&fixture);
}

/* One line for each call, however it ends: who, what, how; never arguments, never results. */
static void test_log(void **state)
{
    (void)state;
    hub_toolset_settings *settings = init();
    settings->middleware.log = true;
    settings->max_calls = 1;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    (void)call_with(c, "1", "{\"content\":[],\"own\":\"canary\"}");
    assert_true(fixture_logged(&fixture, "call.ended"));
    assert_true(fixture_logged(&fixture, "toolset=t method=tools/call name=a "
                                         "principal=tester duration_us="));
    assert_true(fixture_logged(&fixture, "outcome=ok bytes=29"));
    (void)call_with(c, "2", "{\"content\":[],\"isError\":true}");
    assert_true(fixture_logged(&fixture, "outcome=tool_error"));
    client_call(c, "3", "t__a", "{}");
    client_call(c, "4", "t__a", "{}"); /* max_calls, and no queue */
    assert_true(fixture_logged(&fixture, "outcome=refused"));
    client_cancel(c, "3");
    assert_true(fixture_logged(&fixture, "outcome=cancelled"));
    client_request(c, "5", "resources/read", "\"uri\":\"x:1\"");
    (void)t.master.latest->api->finish(t.master.latest->host, t.calls[3], PATCHBAY_RPC_ERROR,
                                       puppet_str("{\"code\":-32603,\"message\":\"no\"}"));
    assert_non_null(client_wait(c, "5"));
    assert_true(fixture_logged(&fixture, "method=resources/read name=x:1"));
    assert_true(fixture_logged(&fixture, "outcome=rpc_error"));
    assert_false(fixture_logged(&fixture, "canary"));
    unsigned lines = 0;
    for (const char *at = fixture.log; (at = strstr(at, "call.ended")) != NULL; at++) {
        lines++;
    }
    assert_int_equal(lines, 5);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),        cmocka_unit_test(test_result_edges),
        cmocka_unit_test(test_resources_pass), cmocka_unit_test(test_time),
        cmocka_unit_test(test_both),           cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
