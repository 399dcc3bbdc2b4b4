/* SPDX-License-Identifier: Apache-2.0 */
/* include/patchbay/json.h, patchbay_json_valid: against lists, and against jansson. */
#include <patchbay/json.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <jansson.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int is_valid(const char *text, size_t len)
{
    /* In memory of exactly its size, so that the sanitizer sees every read beyond it. */
    char *copy = (char *)malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    int valid = patchbay_json_valid(patchbay_str_make(copy, len));
    free(copy);
    return valid;
}

static void test_valid(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        " [ ] ",
        "\t\r\n{ \"a\" : [ 1 , -0.5e+10 , 0 , true , false , null , \"\" ] , \"b\" : { } }\n",
        "0",
        "-0",
        "1e400",
        "123456789012345678901234567890",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\uD83D\\ude00\\ud800\"",
        "\"\xc3\xa4\xf0\x9f\x98\x80\x7f\"",
        "null",
        "[[],{},[[]],{\"\":{}}]",
        "{\"a\":1,\"a\":2}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (!is_valid(texts[i], strlen(texts[i]))) {
            fail_msg("refused: %s", texts[i]);
        }
    }
}

static void test_invalid(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "[",
        "}",
        "]",
        "{]",
        "[}",
        "{} {}",
        "[],",
        ",",
        "[,]",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\":1",
        "{\"a\":1]",
        "[1",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x1",
        "--1",
        "tru",
        "truee",
        "nul",
        "True",
        "NaN",
        "Infinity",
        "'a'",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "\"\t\"",
        "\"\\",
        "\"\x80\"",
        "\"\xc3\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf5\x80\x80\x80\"",
        "[1]]",
        "[\"a\" : 1]",
        "/**/1",
        "1 /**/",
        "\xef\xbb\xbf{}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (is_valid(texts[i], strlen(texts[i]))) {
            fail_msg("taken: %s", texts[i]);
        }
    }
    assert_false(is_valid("\"\\\0\"", 4));
    assert_false(is_valid("\"\0\"", 3));
    assert_false(is_valid("1\0", 2));
    assert_false(patchbay_json_valid(patchbay_str_make(NULL, 0)));
}

static void test_depth(void **state)
{
    (void)state;
    for (size_t depth = PATCHBAY_JSON_DEPTH_MAX; depth <= PATCHBAY_JSON_DEPTH_MAX + 1; depth++) {
        char text[4 * PATCHBAY_JSON_DEPTH_MAX];
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        assert_int_equal(is_valid(text, 2 * depth), depth == PATCHBAY_JSON_DEPTH_MAX);
    }
}

/* Whatever byte of a text is missing, or replaced: the same verdict as jansson's. */
static void test_against_jansson(void **state)
{
    static const char text[] = "{\"a\":[1,-2.5e3,{\"b\":\"\\n\\u00e4\xc3\xa4\"}],\"c\":{},"
                               "\"d\":[true,false,null,[]], \"e\" :\"\"} ";
    static const char bytes[] = "{}[]\",:\\ \n0-+.eEtnu/a\x80\xc3\x01";
    (void)state;
    for (size_t at = 0; at < sizeof text - 1; at++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            char changed[sizeof text];
            size_t len = sizeof text - 1;
            memcpy(changed, text, len);
            changed[at] = bytes[i];
            if (bytes[i] == '\0') { /* the last: left out */
                memmove(changed + at, changed + at + 1, len - at - 1);
                len--;
            }
            json_t *value = json_loadb(changed, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
            if (is_valid(changed, len) != (value != NULL)) {
                fail_msg("jansson says %d of: %.*s", value != NULL, (int)len, changed);
            }
            json_decref(value);
        }
    }
}

/* Where it goes wrong: what is wrong begins there. */
static void test_fault(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } CASES[] = {
        {"{}", SIZE_MAX},   {"", 0},
        {"  ", 2},          {"{\"a\":1 \"b\":2}", 7}, /* no comma */
        {"[1,]", 3},        {"[1,02]", 3},
        {"{\"a\":tru}", 5}, {"{\"a\" 1}", 1},
        {"{'a':1}", 1},     {"{\"a\":[1,{\"b\":\"\\x\"}]}", 13},
        {"{\"a\":1]", 6},   {"{\"a\":1", 6},
        {"[[1]", 4},        {"{} {}", 3},
        {"[}", 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t at = patchbay_json_fault(patchbay_str_of(CASES[i].text));
        if (at != CASES[i].at) {
            fail_msg("%s: %lu", CASES[i].text, (unsigned long)at);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault),           cmocka_unit_test(test_valid),
        cmocka_unit_test(test_invalid),         cmocka_unit_test(test_depth),
        cmocka_unit_test(test_against_jansson),
    };
    return cmocka_run_group_tests_name("sdk.valid", tests, NULL, NULL);
}
