/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void assert_content(const hub_buf *buf, const char *text)
{
    assert_true(hub_str_is(hub_buf_str(buf), text));
}

static void test_appending(void **state)
{
    (void)state;
    hub_buf buf;
    hub_buf_init(&buf, 1000);
    assert_null(buf.ptr);
    assert_content(&buf, "");
    hub_buf_add(&buf, HUB_STR("ab"));
    hub_buf_add(&buf, HUB_STR_EMPTY);
    hub_buf_add(&buf, (hub_str){.ptr = NULL, .len = 0});
    hub_buf_add_char(&buf, 'c');
    hub_buf_add_u64(&buf, UINT64_MAX);
    hub_buf_printf(&buf, "%s-%d", "x", 7);
    hub_buf_printf(&buf, "%s", "");
    assert_content(&buf, "abc18446744073709551615x-7");
    assert_true(hub_buf_ok(&buf));
    hub_buf_clear(&buf);
    assert_content(&buf, "");
    assert_non_null(buf.ptr);
    hub_buf_fini(&buf);
    assert_null(buf.ptr);
    hub_buf_add(&buf, HUB_STR("again"));
    assert_content(&buf, "again");
    hub_buf_fini(&buf);
}

/* Around each power of ten, and with each pair of digits. */
static void test_numbers(void **state)
{
    (void)state;
    char want[HUB_U64_DIGITS + 1];
    hub_buf buf;
    hub_buf_init(&buf, 1000);
    for (uint64_t power = 1;; power *= 10) {
        for (uint64_t number = power - 1; number <= power + 100; number++) {
            hub_buf_clear(&buf);
            hub_buf_add_u64(&buf, number);
            (void)snprintf(want, sizeof want, "%" PRIu64, number);
            assert_content(&buf, want);
        }
        if (power > UINT64_MAX / 10) {
            break;
        }
    }
    hub_buf_fini(&buf);
}

static void test_the_maximum(void **state)
{
    (void)state;
    hub_buf buf;
    hub_buf_init(&buf, 3);
    hub_buf_add(&buf, HUB_STR("abcd"));
    assert_int_equal(buf.failed, HUB_ELIMIT);
    hub_buf_add(&buf, HUB_STR("a"));
    assert_content(&buf, ""); /* a failure sticks */
    assert_null(hub_buf_reserve(&buf, 0));
    hub_buf_clear(&buf);
    hub_buf_add(&buf, HUB_STR("abc"));
    assert_true(hub_buf_ok(&buf));
    assert_content(&buf, "abc");
    hub_buf_add(&buf, HUB_STR_EMPTY);
    assert_true(hub_buf_ok(&buf));
    hub_buf_add_char(&buf, 'd');
    assert_int_equal(buf.failed, HUB_ELIMIT);
    assert_content(&buf, "abc");
    hub_buf_fini(&buf);
    hub_buf_init(&buf, 0);
    hub_buf_add(&buf, HUB_STR_EMPTY);
    assert_true(hub_buf_ok(&buf));
    hub_buf_add_char(&buf, 'a');
    assert_int_equal(buf.failed, HUB_ELIMIT);
    hub_buf_fini(&buf);
}

/* The NUL behind a text is not part of it: what fits exactly can be printed and taken. */
static void test_the_maximum_of_texts(void **state)
{
    (void)state;
    for (size_t max = 1; max < 2000; max += 51) {
        hub_buf buf;
        hub_buf_init(&buf, max);
        hub_buf_printf(&buf, "%*d", (int)max, 7);
        assert_true(hub_buf_ok(&buf));
        assert_int_equal(buf.len, max);
        hub_buf_printf(&buf, "%s", "");
        assert_true(hub_buf_ok(&buf));
        char *text = hub_buf_take(&buf);
        assert_int_equal(strlen(text), max);
        free(text);
        hub_buf_printf(&buf, "%*d", (int)max + 1, 7);
        assert_int_equal(buf.failed, HUB_ELIMIT);
        assert_content(&buf, "");
        hub_buf_fini(&buf);
    }
}

static void test_growth_ends_at_the_maximum(void **state)
{
    (void)state;
    hub_buf buf;
    hub_buf_init(&buf, 100 * 1000);
    for (int i = 0; i < 100 * 1000; i++) {
        hub_buf_add_char(&buf, (char)('a' + i % 26));
    }
    assert_true(hub_buf_ok(&buf));
    assert_true(buf.cap <= 100 * 1000 + 1);
    for (size_t i = 0; i < buf.len; i++) {
        assert_int_equal(buf.ptr[i], 'a' + i % 26);
    }
    hub_buf_fini(&buf);
}

/* What a secret leaves behind, tests/blackbox/secrets_wiped.py sees: it cannot be looked at from inside. */
static void test_a_secret_grows_and_ends_as_others_do(void **state)
{
    (void)state;
    hub_buf buf;
    hub_buf_init_secret(&buf, 10 * 1000);
    for (int turn = 0; turn < 2; turn++) {
        assert_true(buf.is_secret);
        for (int i = 0; i < 10 * 1000; i++) {
            hub_buf_add_char(&buf, (char)('a' + i % 26));
        }
        assert_true(hub_buf_ok(&buf));
        for (size_t i = 0; i < buf.len; i++) {
            assert_int_equal(buf.ptr[i], 'a' + i % 26);
        }
        hub_buf_add_char(&buf, 'z');
        assert_int_equal(buf.failed, HUB_ELIMIT);
        hub_buf_fini(&buf);
        assert_null(buf.ptr);
    }
    hub_buf_add(&buf, HUB_STR("taken"));
    char *text = hub_buf_take(&buf);
    assert_string_equal(text, "taken");
    assert_true(buf.is_secret);
    free(text);
}

static void test_sizes_that_cannot_be(void **state)
{
    (void)state;
    hub_buf buf;
    hub_buf_init(&buf, SIZE_MAX);
    hub_buf_add(&buf, HUB_STR("abc"));
    assert_null(hub_buf_reserve(&buf, SIZE_MAX)); /* with the three it would wrap */
    assert_int_equal(buf.failed, HUB_ELIMIT);
    buf.failed = HUB_OK;
    assert_null(hub_buf_reserve(&buf, SIZE_MAX - 3));
    assert_int_equal(buf.failed, HUB_ENOMEM);
    buf.failed = HUB_OK;
    assert_null(hub_buf_reserve(&buf, PTRDIFF_MAX - 3));
    assert_int_equal(buf.failed, HUB_ENOMEM);
    assert_content(&buf, "abc");
    hub_buf_fini(&buf);
}

static void test_reserve(void **state)
{
    (void)state;
    hub_buf buf;
    hub_buf_init(&buf, 10 * 1000);
    for (size_t extra = 0; extra < 2000; extra += 7) {
        char *room = hub_buf_reserve(&buf, extra);
        assert_ptr_equal(room, buf.ptr + buf.len);
        assert_true(buf.cap > buf.len + extra);
        memset(room, 'x', extra + 1); /* and a NUL */
    }
    assert_int_equal(buf.len, 0);
    hub_buf_fini(&buf);
}

static void test_consume(void **state)
{
    (void)state;
    hub_buf buf;
    hub_buf_init(&buf, 100);
    hub_buf_consume(&buf, 0);
    hub_buf_add(&buf, HUB_STR("abcdef"));
    hub_buf_consume(&buf, 0);
    assert_content(&buf, "abcdef");
    hub_buf_consume(&buf, 2);
    assert_content(&buf, "cdef");
    hub_buf_consume(&buf, 4);
    assert_content(&buf, "");
    hub_buf_fini(&buf);
}

static void test_take(void **state)
{
    (void)state;
    hub_buf buf;
    hub_buf_init(&buf, 4);
    char *text = hub_buf_take(&buf); /* of a buffer that was never used */
    assert_string_equal(text, "");
    free(text);
    hub_buf_add(&buf, HUB_STR("abcd"));
    text = hub_buf_take(&buf);
    assert_string_equal(text, "abcd");
    assert_content(&buf, "");
    assert_null(buf.ptr);
    hub_buf_add(&buf, HUB_STR("abc"));
    assert_string_equal(text, "abcd"); /* not shared */
    free(text);
    hub_buf_add(&buf, HUB_STR("de"));
    assert_null(hub_buf_take(&buf));
    assert_content(&buf, "abc"); /* nothing is lost and nothing leaks */
    hub_buf_fini(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appending),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_the_maximum),
        cmocka_unit_test(test_the_maximum_of_texts),
        cmocka_unit_test(test_growth_ends_at_the_maximum),
        cmocka_unit_test(test_a_secret_grows_and_ends_as_others_do),
        cmocka_unit_test(test_sizes_that_cannot_be),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_consume),
        cmocka_unit_test(test_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
