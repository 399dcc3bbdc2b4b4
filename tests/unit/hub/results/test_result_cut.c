/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are cut, so that they still are some (REQUIREMENTS S5.4). */
#include "keeper_support.h"

#include "hub/results/result_cut.h"

static const hub_result_tail NOTHING;

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
    hub_result_cut(text, most, &NOTHING, &cut_text);
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

/* What is said behind it fits in, too. */
static void test_tail(void **state)
{
    (void)state;
    const hub_result_tail tail = {.words = HUB_STR(". Read on"),
                                  .item = HUB_STR("{\"type\":\"resource_link\"}")};
    char *result = repeat("{\"content\":[{\"type\":\"text\",\"text\":\"", "z", 5000, "\"}]}");
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_result_cut(hub_str_of(result), 1024, &tail, &out);
    assert_true(hub_buf_ok(&out) && out.len <= 1024 && out.len > 600);
    hub_buf_add_char(&out, '\0');
    assert_non_null(strstr(out.ptr, " bytes of text. Read on]\"},{\"type\":\"resource_link\"}]}"));
    hub_buf_fini(&out);
    free(result);
}

static int begin(void **state)
{
    (void)state;
    hub_buf_init(&cut_text, SIZE_MAX / 4);
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
        cmocka_unit_test(test_tail),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
