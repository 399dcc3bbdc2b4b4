/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of results by JSON Pointers (RFC 6901). */
#include "hub/results/pointer.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char RESULT[] =
    "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"items\\\":[10,\\\"[7]\\\"]}\"},"
    "{\"text\":\"no JSON\"}],\"a/b\":1,\"m~n\":2,\"\":3,\"é\":4,\"1.10\":1.10}";

/* What a pointer leads to, or the error. */
static hub_err point(const char *pointer, size_t most, const char *expected)
{
    hub_buf text;
    hub_str value = HUB_STR_EMPTY;
    hub_error why = {.text = ""};
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_err err =
        hub_result_point(hub_str_of(RESULT), hub_str_of(pointer), most, &text, &value, &why);
    if (err == HUB_OK && !hub_str_is(value, expected)) {
        fail_msg("%s: %.*s", pointer, (int)value.len, value.ptr);
    }
    assert_true(err == HUB_OK || why.text[0] != '\0');
    hub_buf_fini(&text);
    return err;
}

static void test_found(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        {"", RESULT},
        {"/content/1/text", "\"no JSON\""},
        {"/a~1b", "1"},
        {"/m~0n", "2"},
        {"/", "3"},
        {"/é", "4"},
        {"/1.10", "1.10"}, /* as it was sent */
        {"/content/0/text/items/0", "10"},
        {"/content/0/text/items/1/0", "7"}, /* JSON in a text in JSON in a text */
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        assert_int_equal(point(ROWS[i][0], HUB_LIMIT_RESULT_PATH_BYTES, ROWS[i][1]), HUB_OK);
    }
}

static void test_not_found(void **state)
{
    (void)state;
    static const char *const ROWS[] = {"/none",       "/content/2",          "/content/-",
                                       "/content/01", "/content/",           "/content/1/text/0",
                                       "/a~1b/0",     "/content/0/text/none"};
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        assert_int_equal(point(ROWS[i], HUB_LIMIT_RESULT_PATH_BYTES, ""), HUB_ENOTFOUND);
    }
    assert_int_equal(point("content", 10000, ""), HUB_EINVAL);
    assert_int_equal(point("/a~b", 10000, ""), HUB_EINVAL);
    assert_int_equal(point("/a~", 10000, ""), HUB_EINVAL);
}

/* The budget, and the length of a pointer: at the edge, and one beyond. */
static void test_bounds(void **state)
{
    (void)state;
    size_t all = sizeof RESULT - 1;
    assert_int_equal(point("/a~1b", all, "1"), HUB_OK);
    assert_int_equal(point("/a~1b", all - 1, ""), HUB_ELIMIT);
    char *pointer = malloc(HUB_LIMIT_RESULT_POINTER_BYTES + 2);
    assert_non_null(pointer);
    memset(pointer, 'x', HUB_LIMIT_RESULT_POINTER_BYTES + 1);
    pointer[0] = '/';
    pointer[HUB_LIMIT_RESULT_POINTER_BYTES] = '\0';
    assert_int_equal(point(pointer, 10000, ""), HUB_ENOTFOUND);
    pointer[HUB_LIMIT_RESULT_POINTER_BYTES] = 'x';
    pointer[HUB_LIMIT_RESULT_POINTER_BYTES + 1] = '\0';
    assert_int_equal(point(pointer, 10000, ""), HUB_EINVAL);
    free(pointer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
