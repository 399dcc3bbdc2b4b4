/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with every call: log, time, and results that are too large (REQUIREMENTS S5.4). */
#include "keeper_support.h"

#include "hub/middleware/result_cut.h"

static hub_fixture fixture;
static keeper t;

/* ---- cutting --------------------------------------------------------------------------------- */

static hub_buf cut_text;

/* Cut a result; what comes of it is JSON, and fits. */
static const char *cut(const char *result, size_t most)
{
    hub_error why = {.text = ""};
    hub_str text = hub_str_of(result);
    assert_int_equal(hub_json_check(text, NULL, &why), HUB_OK);
    assert_true(hub_result_is_cuttable(text));
    hub_buf_clear(&cut_text);
    hub_result_cut(text, most, &cut_text);
    assert_true(hub_buf_ok(&cut_text));
    if (cut_text.len > most) {
        fail_msg("%zu bytes instead of %zu: %.*s", cut_text.len, most, (int)cut_text.len,
                 cut_text.ptr);
    }
    assert_int_equal(hub_json_check(hub_buf_str(&cut_text), NULL, &why), HUB_OK);
    hub_buf_add_char(&cut_text, '\0');
    return cut_text.ptr;
}

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

/* The decoded text of the first item of a result. */
static void decode_first(const char *result, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(hub_str_of(result), HUB_STR("content")));
    hub_str key;
    hub_str item;
    assert_true(hub_json_next(&it, &key, &item));
    assert_int_equal(hub_json_decode(hub_json_get(item, HUB_STR("text")), out), HUB_OK);
}

/* A text is cut between characters, however these are written, and says how much is missing: kept
 * and missing bytes are all that there were. */
static void expect_cut_between(const char *raw, const char *decoded)
{
    size_t unit_len = strlen(decoded);
    for (size_t pad = 0; pad < 13; pad++) {
        char head[64];
        (void)snprintf(head, sizeof head, "{\"content\":[{\"type\":\"text\",\"text\":\"%.*s",
                       (int)pad, "xxxxxxxxxxxxx");
        char *result = repeat(head, raw, 2000, "\"}]}");
        const char *made = cut(result, 2048);
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 2);
        decode_first(made, &text);
        hub_buf_add_char(&text, '\0');
        char *mark = strstr(text.ptr, "\n[");
        assert_non_null(mark);
        size_t kept = (size_t)(mark - text.ptr);
        size_t missing = strtoul(mark + 2, NULL, 10);
        assert_int_equal(kept + missing, pad + 2000 * unit_len);
        assert_int_equal((kept - pad) % unit_len, 0);
        assert_true(kept > 1000 / strlen(raw)); /* it is not thrown away */
        for (size_t at = pad; at < kept; at += unit_len) {
            assert_memory_equal(text.ptr + at, decoded, unit_len);
        }
        hub_buf_fini(&text);
        free(result);
    }
}

static void test_cut_between_characters(void **state)
{
    (void)state;
    expect_cut_between("a", "a");
    expect_cut_between("\xc3\xa9", "\xc3\xa9");
    expect_cut_between("\xe2\x82\xac", "\xe2\x82\xac");
    expect_cut_between("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
    expect_cut_between("\\t", "\t");
    expect_cut_between("\\\\", "\\");
    expect_cut_between("\\\"", "\"");
    expect_cut_between("\\u0041", "A");
    expect_cut_between("\\u00E9", "\xc3\xa9");
    expect_cut_between("\\u20ac", "\xe2\x82\xac");
    expect_cut_between("\\ud83d\\ude00", "\xf0\x9f\x98\x80");
    expect_cut_between("\\ud83d", "\xef\xbf\xbd"); /* a lone half */
}

/* Items that are no text stay whole or go whole; those that fit stay, in their order. */
static void test_whole_items(void **state)
{
    (void)state;
    char *image =
        repeat("{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"", "AAAA", 500, "\"}");
    char *result = repeat("{\"content\":[{\"type\":\"text\",\"text\":\"first\"},", image, 1,
                          ",{\"type\":\"text\",\"text\":\"last\",\"annotations\":{}}]}");
    const char *made = cut(result, 1024);
    assert_contains(made, "{\"content\":[{\"type\":\"text\",\"text\":\"first\"},"
                          "{\"type\":\"text\",\"text\":\"last\",\"annotations\":{}},");
    char expected[64];
    (void)snprintf(expected, sizeof expected, "Missing: 1 item (%zu bytes)]", strlen(image));
    assert_contains(made, expected);
    assert_lacks(made, "image/png");
    free(result);
    free(image);
}

/* What stands around a cut text stays: annotations, `_meta`, members that nobody knows. */
static void test_rest_of_item_stays(void **state)
{
    (void)state;
    char *result =
        repeat("{\"isError\":true,\"content\":[{\"annotations\":{\"priority\":1.50},"
               "\"type\":\"text\",\"text\":\"",
               "word ", 1000, "\",\"x\":1e400}],\"_meta\":{\"k\":\"v\"},\"later\":1.10}");
    const char *made = cut(result, 1500);
    assert_contains(made,
                    "{\"isError\":true,\"_meta\":{\"k\":\"v\"},\"later\":1.10,\"content\":"
                    "[{\"annotations\":{\"priority\":1.50},\"type\":\"text\",\"text\":\"word");
    assert_contains(made, "bytes of this text are missing]\",\"x\":1e400}");
    assert_contains(made, "bytes of text]");
    free(result);
}

/* structuredContent stays when it fits behind the content, and else goes, with a word. */
static void test_structured(void **state)
{
    (void)state;
    char *result = repeat("{\"content\":[{\"type\":\"text\",\"text\":\"", "y", 3000,
                          "\"}],\"structuredContent\":{\"a\":[1,2,3]}}");
    assert_contains(cut(result, 2048), "bytes of structuredContent");
    assert_lacks(cut(result, 2048), "[1,2,3]");
    free(result);
    char *large = repeat("{\"content\":[{\"type\":\"text\",\"text\":\"short\"}],"
                         "\"structuredContent\":{\"a\":[0",
                         ",1", 2000, "]},\"isError\":false}");
    const char *made = cut(large, 1024);
    assert_contains(made,
                    "{\"isError\":false,\"content\":[{\"type\":\"text\",\"text\":\"short\"},");
    assert_contains(made, "Missing: 4009 bytes of structuredContent]");
    free(large);
    char *image = repeat("{\"content\":[{\"type\":\"image\",\"data\":\"", "AAAA", 1000,
                         "\"}],\"structuredContent\":{\"a\":[1,2,3]}}");
    assert_contains(cut(image, 1024), "],\"structuredContent\":{\"a\":[1,2,3]}}");
    free(image);
}

/* Members that inflate a result do not get in; isError does, wherever it stands. */
static void test_large_members(void **state)
{
    (void)state;
    char *result = repeat("{\"_meta\":{\"x\":\"", "m", 5000,
                          "\"},\"content\":[{\"type\":\"text\",\"text\":\"kept\"}],"
                          "\"resultType\":\"complete\",\"isError\":true}");
    const char *made = cut(result, 1024);
    assert_contains(made, "{\"resultType\":\"complete\",\"isError\":true,\"content\":"
                          "[{\"type\":\"text\",\"text\":\"kept\"},");
    assert_contains(made, "1 further member (5008 bytes)]");
    assert_lacks(made, "_meta");
    free(result);
}

/* Everything at once, at sizes of every remainder: it always fits, and always is JSON. */
static void test_many_sizes(void **state)
{
    (void)state;
    char *text = repeat("{\"type\":\"text\",\"text\":\"", "\\u00e9\\\\n\xe2\x82\xac", 120, "\"},");
    char *items = repeat("", text, 6, "{\"type\":\"audio\",\"data\":\"AAAA\"}");
    char *head = repeat("{\"_meta\":{\"m\":\"", "m", 300, "\"},\"content\":[");
    char *most = repeat(head, items, 1, "],\"structuredContent\":{\"k\":\"");
    char *result = repeat(most, "s", 700, "\"},\"isError\":true}");
    size_t len = strlen(result);
    for (size_t size = HUB_LIMIT_LEAST_RESULT_BYTES; size < len; size += 11) {
        assert_contains(cut(result, size), "\"isError\":true");
    }
    free(result);
    free(most);
    free(head);
    free(items);
    free(text);
}

/* Space between tokens is no content: nothing is missing without it. */
static void test_only_space(void **state)
{
    (void)state;
    char *result = repeat("{", " ", 3000, "\"content\" : [ {\"type\":\"text\",\"text\":\"a\"} ] }");
    assert_string_equal(cut(result, 1024), "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}");
    free(result);
}

static void test_not_cuttable(void **state)
{
    (void)state;
    assert_false(hub_result_is_cuttable(HUB_STR("{\"task\":{}}")));
    assert_false(hub_result_is_cuttable(HUB_STR("{\"content\":\"text\"}")));
    assert_false(
        hub_result_is_cuttable(HUB_STR("{\"resultType\":\"input_required\",\"content\":[]}")));
    assert_true(hub_result_is_cuttable(HUB_STR("{\"resultType\":\"complete\",\"content\":[]}")));
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
    init()->middleware.max_result_bytes = 1024;
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
    assert_contains(reply, "max_result_bytes");
    assert_contains(reply, "1024 bytes");
    free(over);
    free(exact);
    fixture_stop(&fixture);
}

/* Only results of tools are cut. */
static void test_resources_pass(void **state)
{
    (void)state;
    init()->middleware.max_result_bytes = 1024;
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
    settings->middleware = (hub_middleware_settings){.time = true, .max_result_bytes = 1024};
    fixture_start(&fixture);
    client *c = client_open(&fixture, MODERN);
    char *result =
        repeat("{\"content\":[{\"type\":\"text\",\"text\":\"", "z", 3000, "\"}],\"isError\":true}");
    const char *reply = call_with(c, "1", result);
    assert_contains(reply, "\"isError\":true");
    assert_contains(reply, "max_result_bytes");
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

static int begin(void **state)
{
    (void)state;
    hub_buf_init(&cut_text, SIZE_MAX / 2);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hub_buf_fini(&cut_text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_between_characters),
        cmocka_unit_test(test_whole_items),
        cmocka_unit_test(test_rest_of_item_stays),
        cmocka_unit_test(test_structured),
        cmocka_unit_test(test_large_members),
        cmocka_unit_test(test_many_sizes),
        cmocka_unit_test(test_only_space),
        cmocka_unit_test(test_not_cuttable),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_result_edges),
        cmocka_unit_test(test_resources_pass),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
