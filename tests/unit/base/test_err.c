/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_every_code_has_a_name_and_a_text(void **state)
{
    (void)state;
#define CHECK(code, name, text)                                                                    \
    assert_string_equal(hub_err_name(HUB_##code), name);                                           \
    assert_string_equal(hub_err_text(HUB_##code), text);
    HUB_ERRORS(CHECK)
#undef CHECK
    assert_int_equal(HUB_OK, 0);
}

static void test_fail(void **state)
{
    (void)state;
    hub_error error = {.code = HUB_OK};
    assert_int_equal(hub_fail(&error, HUB_ELIMIT, "%s %d", "limit", 7), HUB_ELIMIT);
    assert_int_equal(error.code, HUB_ELIMIT);
    assert_string_equal(error.text, "limit 7");
    assert_int_equal(hub_fail(NULL, HUB_EPARSE, "%s", "x"), HUB_EPARSE);
    assert_int_equal(hub_fail(&error, HUB_EINVAL, "again: %s", error.text), HUB_EINVAL);
    assert_string_equal(error.text, "again: limit 7");
}

static void test_texts_are_clean(void **state)
{
    (void)state;
    static const struct {
        const char *given, *kept;
    } CASES[] = {
        {"plain \"text\" \\", "plain \"text\" \\"},
        {"a\nb\tc\r\x1b[31md\x7f", "a?b?c??[31md?"},
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m \xc2\x80 \xc2\xa0",
         "?31m ? \xc2\xa0"}, /* C1 control sequence introducer */
        {"\x9b \xff\xfe \xed\xa0\x80 \xc3", "? ?? ??? ?"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_error error;
        assert_int_equal(hub_fail(&error, HUB_EINVAL, "%s", CASES[i].given), HUB_EINVAL);
        assert_string_equal(error.text, CASES[i].kept);
        hub_error_prefix(&error, "%s", CASES[i].given);
        assert_true(hub_str_starts(hub_str_of(error.text), hub_str_of(CASES[i].kept)));
    }
}

static void test_long_texts_are_cut(void **state)
{
    (void)state;
    hub_error error;
    char text[1200];
    for (size_t len = sizeof error.text - 3; len < sizeof error.text + 3; len++) {
        memset(text, 'x', sizeof text);
        text[len] = '\0';
        assert_int_equal(hub_fail(&error, HUB_EINVAL, "%s", text), HUB_EINVAL);
        assert_int_equal(strlen(error.text), len < sizeof error.text ? len : sizeof error.text - 1);
    }
    for (size_t i = 0; i + 1 < sizeof text; i += 2) {
        memcpy(text + i, "\xc3\xa4", 2);
    }
    text[0] = 'x'; /* and so the cut is in the middle of a character, or is not */
    text[1] = 'y';
    for (size_t from = 0; from < 2; from++) {
        text[sizeof text - 1] = '\0';
        assert_int_equal(hub_fail(&error, HUB_EINVAL, "%s", text + from), HUB_EINVAL);
        hub_str rest = hub_str_of(error.text);
        while (rest.len > 0) {
            size_t length = hub_str_utf8_length(rest);
            assert_true(length > 0);
            rest = hub_str_from(rest, length);
        }
    }
}

static void test_prefix(void **state)
{
    (void)state;
    hub_error error;
    assert_int_equal(hub_fail(&error, HUB_EINVAL, "inner"), HUB_EINVAL);
    hub_error_prefix(&error, "file %d", 7);
    assert_string_equal(error.text, "file 7: inner");
    hub_error_prefix(&error, "%s", error.text);
    assert_string_equal(error.text, "file 7: inner: file 7: inner");
    assert_int_equal(error.code, HUB_EINVAL);
    hub_error_prefix(NULL, "%d", 7);
    char text[600];
    memset(text, 'p', sizeof text);
    for (size_t len = sizeof error.text - 6; len < sizeof error.text + 4; len++) {
        text[len] = '\0';
        assert_int_equal(hub_fail(&error, HUB_EINVAL, "inner"), HUB_EINVAL);
        hub_error_prefix(&error, "%s", text);
        size_t whole = len + 7;
        assert_int_equal(strlen(error.text),
                         whole < sizeof error.text ? whole : sizeof error.text - 1);
        text[len] = 'p';
    }
}

static void test_assertions_stay_on(void **state)
{
    (void)state;
    int status = 0;
    hub_assert(status == 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)freopen("/dev/null", "w", stderr);
        hub_assert(status != 0);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_has_a_name_and_a_text),
        cmocka_unit_test(test_fail),
        cmocka_unit_test(test_texts_are_clean),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_assertions_stay_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
