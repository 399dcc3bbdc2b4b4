/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of raw numbers of wire/json.h. */
#include "json_cases.h"

#include <locale.h>
#include <math.h>

static void reads_integers(void **state)
{
    (void)state;
    static const struct {
        const char *raw;
        bool fits_u64, fits_i64;
        uint64_t u64;
        int64_t i64;
    } cases[] = {
        {"0", true, true, 0, 0},
        {"-0", true, true, 0, 0},
        {"42", true, true, 42, 42},
        {"-1", false, true, 0, -1},
        {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
        {"9223372036854775808", true, false, (uint64_t)INT64_MAX + 1, 0},
        {"-9223372036854775808", false, true, 0, INT64_MIN},
        {"-9223372036854775809", false, false, 0, 0},
        {"18446744073709551615", true, false, UINT64_MAX, 0},
        {"18446744073709551616", false, false, 0, 0},
        {"99999999999999999999", false, false, 0, 0},
        {"184467440737095516150", false, false, 0, 0},
        {"1.0", false, false, 0, 0},
        {"1e2", false, false, 0, 0},
        {"1E2", false, false, 0, 0},
        {"\"1\"", false, false, 0, 0},
        {"true", false, false, 0, 0},
        {"null", false, false, 0, 0},
        {"[1]", false, false, 0, 0},
        {"-", false, false, 0, 0},
        {"", false, false, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        hub_str raw = copy_exact(hub_str_of(cases[i].raw));
        uint64_t u64 = 7;
        int64_t i64 = 7;
        assert_int_equal(hub_json_to_u64(raw, &u64), cases[i].fits_u64);
        assert_int_equal(hub_json_to_i64(raw, &i64), cases[i].fits_i64);
        assert_true(u64 == (cases[i].fits_u64 ? cases[i].u64 : 7));
        assert_true(i64 == (cases[i].fits_i64 ? cases[i].i64 : 7));
        free_exact(raw);
    }
    uint64_t u64;
    int64_t i64;
    assert_false(hub_json_to_u64((hub_str){0}, &u64));
    assert_false(hub_json_to_i64((hub_str){0}, &i64));
}

static void reads_whole_numbers(void **state)
{
    static const struct {
        const char *raw;
        bool is_whole;
        uint64_t number;
    } cases[] = {
        {"4", true, 4},
        {"-0", true, 0},
        {"-0.0", true, 0},
        {"10.0", true, 10},
        {"1e2", true, 100},
        {"1.5E1", true, 15},
        {"1500e-2", true, 15},
        {"9007199254740992.0", true, UINT64_C(1) << 53},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"1e19", false, 0},
        {"1e400", false, 0},
        {"0.5", false, 0},
        {"-1.0", false, 0},
        {"\"1\"", false, 0},
        {"", false, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        hub_str raw = copy_exact(hub_str_of(cases[i].raw));
        uint64_t number = 7;
        assert_int_equal(hub_json_to_whole(raw, &number), cases[i].is_whole);
        assert_true(number == (cases[i].is_whole ? cases[i].number : 7));
        free_exact(raw);
    }
}

static void expect_double(hub_str raw, double want)
{
    hub_str copy = copy_exact(raw);
    double got = 7;
    assert_true(hub_json_to_double(copy, &got));
    if (memcmp(&got, &want, sizeof got) != 0) {
        fail_msg(HUB_STR_FMT ": got %a, want %a", HUB_STR_ARG(raw), got, want);
    }
    free_exact(copy);
}

static void reads_doubles(void **state)
{
    (void)state;
    static const struct {
        const char *raw;
        double want;
    } cases[] = {
        {"0", 0.0},
        {"-0", -0.0},
        {"-0.0e5", -0.0},
        {"0e999999999999999999999", 0.0},
        {"1", 1.0},
        {"10", 10.0},
        {"-100.5", -100.5},
        {"1.10", 1.1},
        {"0.001", 0.001},
        {"0.1", 0.1},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000001", 9007199254740994.0},
        {"1e22", 1e22},
        {"1E+23", 1e23},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"1e308", 1e308},
        {"1e400", HUGE_VAL},
        {"-1e400", -HUGE_VAL},
        {"1e99999999999999999999999999", HUGE_VAL},
        {"4.9e-324", 4.9e-324},
        {"1e-400", 0.0},
        {"-1e-99999999999999999999999999", -0.0},
        {"2.2250738585072011e-308", 2.2250738585072011e-308},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        expect_double(hub_str_of(cases[i].raw), cases[i].want);
    }
    static const char *const others[] = {"", "\"1\"", "true", "null", "[1]", "{}"};
    double number;
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        assert_false(hub_json_to_double(hub_str_of(others[i]), &number));
    }
}

/* Numbers longer than any buffer: all digits count, also the last of ten thousand. */
static void reads_long_doubles(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part, *after;
        double want;
    } cases[] = {
        {"1", "0", "e-10000", 1.0},
        {"0.", "0", "1e10001", 1.0},
        {"0.", "0", "25e10000", 0.25},
        {"1.5", "0", "", 1.5},
        {"9007199254740993.", "0", "", 9007199254740992.0}, /* a tie goes to the even one */
        {"9007199254740993.", "0", "1", 9007199254740994.0},
        {"", "9", "", HUGE_VAL},
        {"-0.", "0", "9", -0.0},
        {"0.", "3", "", 0.33333333333333333},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        hub_str raw = repeat(cases[i].before, cases[i].part, 10000, cases[i].after);
        assert_int_equal(hub_json_check(raw, NULL, NULL), HUB_OK);
        expect_double(raw, cases[i].want);
        free_exact(raw);
    }
}

static void ignores_the_locale(void **state)
{
    (void)state;
    static const char *const with_comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < COUNT_OF(with_comma); i++) {
        if (setlocale(LC_ALL, with_comma[i]) != NULL) {
            expect_double(HUB_STR("1.5"), 1.5);
            assert_non_null(setlocale(LC_ALL, "C"));
            return;
        }
    }
    skip(); /* this machine has no locale with a decimal comma */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_integers),     cmocka_unit_test(reads_whole_numbers),
        cmocka_unit_test(reads_doubles),      cmocka_unit_test(reads_long_doubles),
        cmocka_unit_test(ignores_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
