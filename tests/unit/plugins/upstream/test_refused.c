/* SPDX-License-Identifier: Apache-2.0 */
/* Whose answer a message was that the hub refuses: by quotes and brackets alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugins/upstream/common/refused.h"

#include <stdlib.h>

#define STR(text) patchbay_str_make(text, sizeof(text) - 1)

/* id, then M: a method, O: an outcome, C: cut, B: in a batch; messages apart by a space. */
static const char *read_all(patchbay_str text)
{
    static char seen[256];
    size_t len = 0;
    refused_iter it = refused_iterate(text);
    refused_message message;
    seen[0] = '\0';
    while (refused_next(&it, &message)) {
        assert_true(
            message.id.len == 0 ||
            (message.id.ptr >= text.ptr && message.id.ptr + message.id.len <= text.ptr + text.len));
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s%.*s%s%s%s%s", len > 0 ? " " : "",
                                (int)message.id.len, message.id.len > 0 ? message.id.ptr : "",
                                message.has_method ? "M" : "", message.has_outcome ? "O" : "",
                                message.is_cut ? "C" : "", message.is_in_batch ? "B" : "");
    }
    assert_false(refused_next(&it, &message));
    return seen;
}

static void test_messages(void **state)
{
    static const struct {
        const char *text;
        const char *seen;
    } CASES[] = {
        /* What the scanner refuses, and its structure holds. */
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":null}", "7O"},
        {"{\"result\":{\"x\":[NaN,'a',\"\xe9\"]},\"jsonrpc\":\"2.0\",\"id\":7}", "7O"},
        {"{\"id\":7,\"result\":{},\"error\":{}}", "7O"},
        {"{\"id\":\"tools-5\",\"result\":1}", "\"tools-5\"O"},
        {" {\"id\" : 7.0 , \"error\" : 1 } ", "7.0O"},
        {"{\"id\":[7],\"result\":1}", "[7]O"},
        {"{\"id\":null,\"result\":1}", "nullO"},
        {"{\"id\":7,\"id\":7,\"result\":1}", "7O"},
        {"{\"id\":7,\"result\":1} and more", "7O"},
        {"{\"id\":7,\"method\":\"x\",\"params\":1}", "7M"},
        {"{\"id\":7}", "7"},
        {"\xef\xbb\xbf {\"id\":7,\"result\":{}}", "7O"},
        {"\xef\xbb\xbf[{\"id\":7,\"result\":{}}]", "7OB"},
        {"\xef\xbb\xbf", ""},
        {"\xef\xbb{\"id\":7}", ""},
        {"{}", ""},
        /* An id inside of something else, or in a text, is none. */
        {"{\"result\":{\"id\":9,\"x\":\"\\\"},\\\"id\\\":8,\"},\"id\":7}", "7O"},
        {"{\"params\":{\"id\":9}}", ""},
        /* Two ids are none. */
        {"{\"id\":7,\"result\":1,\"id\":8}", "O"},
        /* Cut: the id counts where it stands before the result. */
        {"{\"id\":7,\"result\":{\"x\":\"", "7OC"},
        {"{\"id\":7,\"result\":{\"x\":[1,2]", "7OC"},
        {"{\"id\":7,\"result\":{}", "7OC"},
        {"{\"result\":{},\"id\":7,\"x\":", "OC"},
        {"{\"result\":{\"x\":\"a\"b\"},\"id\":7", "OC"},
        {"{\"id\":7", "C"},
        {"{\"id\":7,", "7C"},
        {"{\"id", "C"},
        {"{", "C"},
        {"{\"id\":7]", "C"},
        {"{7:7,\"id\":7}", "C"},
        /* Batches. */
        {"[{\"id\":7,\"result\":1},{\"id\":8,\"error\":1} , {\"method\":\"x\"}]", "7OB 8OB MB"},
        {"[{\"id\":7,\"result\":{\"id\":1}},{\"id\":8", "7OB CB"},
        {"[]", ""},
        {"[1,{\"id\":7}]", ""},
        {"[[{\"id\":7}]]", ""},
        /* No message at all. */
        {"", ""},
        {"  ", ""},
        {"listening on port 3000", ""},
        {"\"{\"", ""},
        {"[info] {\"id\":7}", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const char *seen = read_all(patchbay_str_of(CASES[i].text));
        /* What is an empty object is seen, but says nothing. */
        assert_string_equal(seen, CASES[i].seen);
    }
}

/* Every beginning of a message is read within its bounds, and never gives a part of an id. */
static void test_beginnings(void **state)
{
    static const char WHOLE[] = "[{\"id\":\"a\\\"b\",\"result\":{\"x\":[\"\\u0041\\\\\",{}]}},"
                                "{\"error\":{},\"id\":12345}]";
    (void)state;
    for (size_t len = 0; len < sizeof WHOLE; len++) {
        char *copy = malloc(len + 1); /* so that a byte too far is noticed */
        assert_non_null(copy);
        memcpy(copy, WHOLE, len);
        refused_iter it = refused_iterate(patchbay_str_make(copy, len));
        refused_message message;
        while (refused_next(&it, &message)) {
            assert_true(message.id.len == 0 || patchbay_str_eq(message.id, STR("\"a\\\"b\"")) ||
                        patchbay_str_eq(message.id, STR("12345")));
        }
        free(copy);
    }
}

/* No depth is too deep, and no number of values too many. */
static void test_limits_do_not_matter(void **state)
{
    enum { MANY = 300000 };
    patchbay_out text = {0};
    (void)state;
    patchbay_out_text(&text, "{\"result\":");
    for (int i = 0; i < MANY; i++) {
        patchbay_out_text(&text, "[1,");
    }
    patchbay_out_text(&text, "1");
    for (int i = 0; i < MANY; i++) {
        patchbay_out_text(&text, "]");
    }
    patchbay_out_text(&text, ",\"id\":7}");
    assert_string_equal(read_all(patchbay_str_make(text.ptr, text.len)), "7O");
    patchbay_out_free(&text);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *id;
        uint64_t number;
    } CASES[] = {
        {"7", 7},
        {"\"7\"", 7},
        {"7.0", 7},
        {"7.", 7},
        {"\"7.00\"", 7},
        {"0", 0},
        {"999999999999999", 999999999999999},
        {"1000000000000000", UINT64_MAX},
        {"", UINT64_MAX},
        {"\"\"", UINT64_MAX},
        {"\"", UINT64_MAX},
        {"7.5", UINT64_MAX},
        {"-7", UINT64_MAX},
        {"7e0", UINT64_MAX},
        {"null", UINT64_MAX},
        {"\"tools-7\"", UINT64_MAX},
        {"[7]", UINT64_MAX},
        {".0", UINT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(refused_number(patchbay_str_of(CASES[i].id)), CASES[i].number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_limits_do_not_matter),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
