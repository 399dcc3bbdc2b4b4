/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of others as one bounded line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/line.h"

static void expect(const char *text, size_t max_bytes, const char *line)
{
    hub_buf out;
    hub_buf_init(&out, 4096);
    hub_buf_add(&out, HUB_STR(">"));
    hub_line_add(&out, hub_str_of(text), max_bytes);
    hub_buf_add_char(&out, '\0');
    assert_true(hub_buf_ok(&out));
    assert_string_equal(out.ptr + 1, line);
    hub_buf_fini(&out);
}

static void expect_lines(const char *text, size_t max_bytes, const char *lines)
{
    hub_buf out;
    hub_buf_init(&out, 4096);
    hub_lines_add(&out, hub_str_of(text), max_bytes);
    hub_buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, lines);
    hub_buf_fini(&out);
}

static void test_lines(void **state)
{
    (void)state;
    expect_lines("\n a  b \r\n c\n\n\n\td \n", 40, "a b\nc\n\nd");
    expect_lines("a\n\nb", 4, "a\n\nb");
    expect_lines("a\n\nbc", 4, "a…");
    expect_lines("one\ntwo three", 10, "one\ntwo…");
    expect_lines("\n\n", 10, "");
}

static void test_one_line(void **state)
{
    (void)state;
    expect("", 10, "");
    expect(" \n\t ", 10, "");
    expect("  Reads\r\n\tfiles. ", 40, "Reads files.");
    expect("a\xc2\xa0"
           "b\xe2\x80\xa8"
           "c\xe3\x80\x80"
           "d",
           40, "a b c d");
}

static void test_what_is_not_seen(void **state)
{
    (void)state;
    expect("a\x01\x1b[31mb\x7f", 40, "a[31mb");
    expect("a\xe2\x80\x8b"     /* zero-width space */
           "b\xe2\x80\xae"     /* right to left */
           "c\xf3\xa0\x81\x81" /* tag A */
           "d\xef\xbb\xbf"     /* byte order mark */
           "e\xc2\x9b"         /* CSI */
           "f",
           40, "abcdef");
    expect("\xc3\xa4\xe4\xbd\xa0\xf0\x9f\x99\x82", 40, "\xc3\xa4\xe4\xbd\xa0\xf0\x9f\x99\x82");
}

/* At the limit, and one beyond. */
static void test_cut(void **state)
{
    (void)state;
    expect("one two three", 13, "one two three");
    expect("one two three", 12, "one two…");
    expect("one two three", 11, "one two…");
    expect("one two three", 9, "one…");
    expect("oneandnomore", 11, "oneandno…");
    expect("o neandnomore", 11, "o neandn…"); /* a word that is too far back */
    expect("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 7, "\xc3\xa4\xc3\xa4…");
    expect("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 6, "\xc3\xa4…");
}

/* Of a text that is never seen, not all is read. */
static void test_budget(void **state)
{
    static char blank[100000];
    (void)state;
    memset(blank, ' ', sizeof blank - 2);
    blank[sizeof blank - 2] = 'x';
    expect(blank, 10, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_one_line),
        cmocka_unit_test(test_what_is_not_seen),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
