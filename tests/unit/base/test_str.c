/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

static const hub_str NOTHING = {.ptr = NULL, .len = 0};

static int sign(int number)
{
    return number > 0 ? 1 : number < 0 ? -1 : 0;
}

static void test_comparing(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int order;
    } CASES[] = {
        {"", "", 0},     {"", "a", -1},   {"a", "a", 0},    {"a", "b", -1},
        {"a", "aa", -1}, {"ab", "b", -1}, {"\xff", "a", 1}, {"B", "a", -1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_str a = hub_str_of(CASES[i].a);
        hub_str b = hub_str_of(CASES[i].b);
        assert_int_equal(sign(hub_str_cmp(a, b)), CASES[i].order);
        assert_int_equal(sign(hub_str_cmp(b, a)), -CASES[i].order);
        assert_int_equal(hub_str_eq(a, b), CASES[i].order == 0);
    }
    assert_true(hub_str_eq(NOTHING, HUB_STR_EMPTY));
    assert_int_equal(hub_str_cmp(NOTHING, HUB_STR_EMPTY), 0);
    assert_true(hub_str_is(NOTHING, NULL));
    assert_false(
        hub_str_eq((hub_str){.ptr = "a\0b", .len = 3}, (hub_str){.ptr = "a\0c", .len = 3}));
    assert_false(hub_str_is((hub_str){.ptr = "a\0b", .len = 3}, "a"));
}

static void test_case(void **state)
{
    (void)state;
    assert_true(hub_str_eq_nocase(HUB_STR("Content-LENGTH@[`{"), HUB_STR("cONTENT-length@[`{")));
    assert_false(hub_str_eq_nocase(HUB_STR("@"), HUB_STR("`"))); /* neighbours of letters */
    assert_false(hub_str_eq_nocase(HUB_STR("["), HUB_STR("{")));
    assert_false(hub_str_eq_nocase(HUB_STR("\xc3\x84"), HUB_STR("\xc3\xa4")));
    assert_false(hub_str_eq_nocase(HUB_STR("a"), HUB_STR("aa")));
    assert_true(hub_str_eq_nocase(NOTHING, HUB_STR_EMPTY));
}

static void test_parts(void **state)
{
    (void)state;
    assert_true(hub_str_starts(HUB_STR("abc"), HUB_STR("ab")));
    assert_true(hub_str_starts(NOTHING, NOTHING));
    assert_false(hub_str_starts(HUB_STR("ab"), HUB_STR("abc")));
    assert_false(hub_str_starts(HUB_STR("ab"), HUB_STR("b")));
    assert_true(hub_str_is(hub_str_from(HUB_STR("abc"), 1), "bc"));
    assert_int_equal(hub_str_from(HUB_STR("abc"), 3).len, 0);
    assert_null(hub_str_from(NOTHING, 0).ptr);
    assert_true(hub_str_is(hub_str_trim(HUB_STR(" \t\r\n a b \n")), "a b"));
    assert_int_equal(hub_str_trim(HUB_STR(" \n ")).len, 0);
    assert_int_equal(hub_str_trim(NOTHING).len, 0);
    assert_true(hub_str_is(hub_str_trim(HUB_STR("\v\xc2\xa0")), "\v\xc2\xa0"));
    assert_true(hub_str_is(hub_str_skip_space(HUB_STR("\r\n a ")), "a "));
    assert_int_equal(hub_str_of(NULL).len, 0);
}

static void test_find(void **state)
{
    (void)state;
    static const struct {
        const char *text, *needle;
        size_t at;
    } CASES[] = {
        {"abc", "a", 0},
        {"abc", "c", 2},
        {"abc", "bc", 1},
        {"abc", "abc", 0},
        {"abc", "abcd", SIZE_MAX},
        {"abc", "x", SIZE_MAX},
        {"abc", "", 0},
        {"", "", 0},
        {"", "a", SIZE_MAX},
        {"aab", "ab", 1},
        {"\r\n\r\n", "\n\r", 1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_true(hub_str_find(hub_str_of(CASES[i].text), hub_str_of(CASES[i].needle)) ==
                    CASES[i].at);
    }
    assert_true(hub_str_find(NOTHING, NOTHING) == 0);
    assert_true(hub_str_find(NOTHING, HUB_STR("a")) == SIZE_MAX);
}

static void test_dup(void **state)
{
    (void)state;
    char block[5] = "....";
    char *at = block;
    hub_str put = hub_str_put(&at, HUB_STR("ab"));
    assert_ptr_equal(put.ptr, block);
    assert_int_equal(put.len, 2);
    put = hub_str_put(&at, HUB_STR_EMPTY); /* memcpy may not be given NULL */
    assert_int_equal(put.len, 0);
    put = hub_str_put(&at, HUB_STR("c"));
    assert_ptr_equal(put.ptr, block + 2);
    assert_ptr_equal(at, block + 3);
    assert_string_equal(block, "abc.");

    char *copy = hub_str_dup((hub_str){.ptr = "ab\0cd", .len = 4});
    assert_memory_equal(copy, "ab\0c\0", 5);
    free(copy);
    copy = hub_str_dup(NOTHING);
    assert_string_equal(copy, "");
    free(copy);
}

static void test_glob(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } CASES[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "abc", true},
        {"**", "", true},
        {"?", "", false},
        {"?", "a", true},
        {"?", "ab", false},
        {"a*", "a", true},
        {"a*", "abc", true},
        {"a*", "ba", false},
        {"*c", "abc", true},
        {"*c", "abcd", false},
        {"a*c", "ac", true},
        {"a*c", "abcbc", true},
        {"a*c", "abcb", false},
        {"*a*", "bab", true},
        {"*ab*ab*", "abab", true},
        {"*ab*ab*", "aba", false},
        {"a?c", "abc", true},
        {"*?", "", false},
        {"*?", "a", true},
        {"?*?", "a", false},
        {"*", "*", true},
        {"a*b", "a*b", true},
        {"[a]", "a", false},
        {"[a]", "[a]", true},
        {"\\*", "*", false},
        {"abc", "abc", true},
        {"abc", "abcd", false},
        {"abcd", "abc", false},
        {"A", "a", false},
        {"*.*.*", "a.b", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        bool matches = hub_str_glob(hub_str_of(CASES[i].pattern), hub_str_of(CASES[i].text));
        if (matches != CASES[i].matches) {
            print_error("glob %s %s\n", CASES[i].pattern, CASES[i].text);
        }
        assert_int_equal(matches, CASES[i].matches);
    }
    assert_true(hub_str_glob(NOTHING, NOTHING));
}

/* Backtracking must not be exponential: 30 stars over a text that matches none of them. */
static void test_glob_is_fast(void **state)
{
    (void)state;
    char pattern[61];
    static char text[10000];
    for (size_t i = 0; i < 60; i++) {
        pattern[i] = i % 2 == 0 ? '*' : 'a';
    }
    pattern[60] = 'b';
    memset(text, 'a', sizeof text);
    assert_false(hub_str_glob((hub_str){.ptr = pattern, .len = sizeof pattern},
                              (hub_str){.ptr = text, .len = sizeof text}));
}

/* Published test vectors of FNV-1a with 64 bits. */
static void test_hash(void **state)
{
    (void)state;
    assert_true(hub_str_hash(HUB_STR_EMPTY) == UINT64_C(0xcbf29ce484222325));
    assert_true(hub_str_hash(NOTHING) == UINT64_C(0xcbf29ce484222325));
    assert_true(hub_str_hash(HUB_STR("a")) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hub_str_hash(HUB_STR("foobar")) == UINT64_C(0x85944171f73967e8));
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"command", "args", "env", "Timeout", "cwd", NULL};
    static const char *const NONE[] = {NULL};
    static const struct {
        const char *word, *nearest;
    } CASES[] = {
        {"comand", "command"},
        {"commnd", "command"},
        {"COMMAND", "command"},
        {"arg", "args"},
        {"timeout", "Timeout"},
        {"enw", "env"},
        {"cdw", ""},
        {"xyz", ""},
        {"", ""},
        {"commandline", ""},
        {"kommande", "command"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_str nearest = hub_str_nearest(hub_str_of(CASES[i].word), NAMES);
        if (!hub_str_is(nearest, CASES[i].nearest)) {
            print_error("%s: " HUB_STR_FMT "\n", CASES[i].word, HUB_STR_ARG(nearest));
        }
        assert_true(hub_str_is(nearest, CASES[i].nearest));
    }
    assert_int_equal(hub_str_nearest(HUB_STR("a"), NONE).len, 0);
}

static void test_nearest_of_long_words(void **state)
{
    (void)state;
    char word[66];
    char candidate[66];
    memset(word, 'a', sizeof word);
    memset(candidate, 'a', sizeof candidate);
    candidate[64] = '\0';
    const char *const candidates[] = {candidate, NULL};
    assert_int_equal(hub_str_nearest((hub_str){.ptr = word, .len = 64}, candidates).len, 64);
    assert_int_equal(hub_str_nearest((hub_str){.ptr = word, .len = 65}, candidates).len, 0);
    candidate[64] = 'a';
    candidate[65] = '\0';
    assert_int_equal(hub_str_nearest((hub_str){.ptr = word, .len = 64}, candidates).len, 0);
}

/* Every two bytes and all boundaries of the longer forms, against the code point they stand for. */
static size_t encode(uint32_t code, char bytes[4])
{
    if (code < 0x800) {
        bytes[0] = (char)(0xc0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    size_t length = code < 0x10000 ? 3 : 4;
    bytes[0] = (char)(length == 3 ? 0xe0 | code >> 12 : 0xf0 | code >> 18);
    for (size_t i = 1; i < length; i++) {
        bytes[i] = (char)(0x80 | (code >> 6 * (length - 1 - i) & 63));
    }
    return length;
}

static void test_utf8_characters(void **state)
{
    (void)state;
    for (uint32_t code = 0x80; code < 0x120000; code++) {
        char bytes[4];
        size_t length = encode(code, bytes);
        bool is_valid = code < 0x110000 && (code < 0xd800 || code > 0xdfff);
        size_t found = hub_str_utf8_length((hub_str){.ptr = bytes, .len = length});
        assert_int_equal(found, is_valid ? length : 0);
        assert_int_equal(hub_str_utf8_length((hub_str){.ptr = bytes, .len = length - 1}), 0);
        assert_true(found == 0 || hub_str_is_control((hub_str){.ptr = bytes, .len = length},
                                                     length) == (code < 0xa0));
    }
    for (int byte = 0; byte < 0x80; byte++) {
        char c = (char)byte;
        assert_int_equal(hub_str_utf8_length((hub_str){.ptr = &c, .len = 1}), 1);
        assert_int_equal(hub_str_is_control((hub_str){.ptr = &c, .len = 1}, 1),
                         byte < 0x20 || byte == 0x7f);
    }
}

static void test_not_utf8(void **state)
{
    (void)state;
    static const char *const CASES[] = {
        "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",         "\xc2",
        "\xc2\x7f",     "\xc2\xc2",     "\xe0\x9f\xbf",     "\xe0\xa0",         "\xe1\x80\x7f",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff",         "\xfe",         "\xf1\x80\x80\xc0", "\xf1\x80\x80",     "",
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(hub_str_utf8_length(hub_str_of(CASES[i])), 0);
    }
    assert_int_equal(hub_str_utf8_length(NOTHING), 0);
}

static void test_printf_arguments(void **state)
{
    (void)state;
    char text[32];
    (void)snprintf(text, sizeof text, "<" HUB_STR_FMT ">", HUB_STR_ARG(NOTHING));
    assert_string_equal(text, "<>");
    (void)snprintf(text, sizeof text, "<" HUB_STR_FMT ">", HUB_STR_ARG(HUB_STR("ab")));
    assert_string_equal(text, "<ab>");
    hub_str huge = {.ptr = "ab", .len = SIZE_MAX / 2 + 1}; /* as an int this is 0 or negative */
    (void)snprintf(text, sizeof text, "<" HUB_STR_FMT ">", HUB_STR_ARG(huge));
    assert_string_equal(text, "<ab>");
}

static void test_clock(void **state)
{
    (void)state;
    uint64_t ms = hub_clock_now_ms();
    uint64_t us = hub_clock_now_us();
    assert_true(us / 1000 >= ms && us / 1000 < ms + 60000);
    assert_true(hub_clock_now_us() >= us);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comparing),
        cmocka_unit_test(test_case),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_dup),
        cmocka_unit_test(test_glob),
        cmocka_unit_test(test_glob_is_fast),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_nearest_of_long_words),
        cmocka_unit_test(test_utf8_characters),
        cmocka_unit_test(test_not_utf8),
        cmocka_unit_test(test_printf_arguments),
        cmocka_unit_test(test_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
