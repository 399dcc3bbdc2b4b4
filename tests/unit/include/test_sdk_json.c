/* SPDX-License-Identifier: Apache-2.0 */
/* include/patchbay/json.h: what plugins read and write JSON with. */
#include <patchbay/json.h>

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static patchbay_out start(void)
{
    patchbay_out out;
    memset(&out, 0, sizeof out);
    return out;
}

/* Check and free what was written. */
static void check(patchbay_out *out, const char *wanted)
{
    assert_int_equal(out->failed, 0);
    assert_string_equal(out->ptr != NULL ? out->ptr : "", wanted);
    assert_int_equal(out->len, strlen(wanted));
    patchbay_out_free(out);
    assert_null(out->ptr);
}

/* A copy without NUL and without a byte to spare, so that a sanitizer sees each read too far. */
static patchbay_str exact(const char *text, size_t len, char **ret_memory)
{
    *ret_memory = (char *)malloc(len > 0 ? len : 1);
    assert_non_null(*ret_memory);
    memcpy(*ret_memory, text, len);
    return patchbay_str_make(*ret_memory, len);
}

static void test_spans(void **state)
{
    (void)state;
    patchbay_str none = patchbay_str_of(NULL);
    assert_int_equal(none.len, 0);
    assert_true(patchbay_str_eq(none, patchbay_str_of("")));
    assert_true(patchbay_str_eq(patchbay_str_of("abc"), patchbay_str_make("abcd", 3)));
    assert_false(patchbay_str_eq(patchbay_str_of("abc"), patchbay_str_of("abd")));
    assert_false(patchbay_str_eq(patchbay_str_of("abc"), patchbay_str_of("ab")));
}

static void test_growing(void **state)
{
    (void)state;
    patchbay_out out = start();
    patchbay_out_raw(&out, patchbay_str_make(NULL, 0));
    assert_string_equal(out.ptr, ""); /* ended even when empty */
    for (int i = 0; i < 10000; i++) {
        patchbay_out_text(&out, "0123456789");
    }
    assert_int_equal(out.len, 100000);
    assert_int_equal(strlen(out.ptr), 100000);
    patchbay_out_free(&out);
    /* A length that cannot be is an error, not a small buffer. */
    patchbay_out_text(&out, "x");
    volatile size_t absurd = SIZE_MAX - 32; /* volatile: the compiler would warn of it */
    patchbay_out_raw(&out, patchbay_str_make("y", absurd));
    assert_true(out.failed);
    patchbay_out_text(&out, "z"); /* nothing happens after a failure */
    assert_string_equal(out.ptr, "x");
    patchbay_out_free(&out);
    assert_false(out.failed);
}

static void test_printf(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 254, 255, 256, 257, 5000}; /* around the inner buffer */
    for (size_t i = 0; i < COUNT(widths); i++) {
        patchbay_out out = start();
        patchbay_out_printf(&out, "<%*d>", (int)widths[i], 7);
        assert_int_equal(out.len, widths[i] + 2);
        assert_int_equal(out.ptr[out.len - 2], '7');
        assert_int_equal(out.ptr[out.len], '\0');
        patchbay_out_free(&out);
    }
}

static void test_escaping(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        const char *wanted;
    } cases[] = {
        {"", 0, "\"\""},
        {"plain /", 7, "\"plain /\""},
        {"\"\\", 2, "\"\\\"\\\\\""},
        {"\n\t\r\x01\x1f\x7f", 6, "\"\\n\\t\\u000d\\u0001\\u001f\x7f\""},
        {"a\0b", 3, "\"a\\u0000b\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xf4\x8f\xbf\xbf", 4, "\"\xf4\x8f\xbf\xbf\""},
        /* not UTF-8: U+FFFD for each byte */
        {"\xff", 1, "\"\xef\xbf\xbd\""},
        {"\x80", 1, "\"\xef\xbf\xbd\""},
        {"\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe0\x80\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf0\x8f\xbf\xbf", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"a\xc3", 2, "\"a\xef\xbf\xbd\""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *memory;
        patchbay_out out = start();
        patchbay_out_string(&out, exact(cases[i].text, cases[i].len, &memory));
        check(&out, cases[i].wanted);
        free(memory);
    }
    patchbay_out out = start();
    patchbay_out_string(&out, patchbay_str_make(NULL, 0));
    check(&out, "\"\"");
}

static void test_keys(void **state)
{
    (void)state;
    patchbay_out out = start();
    patchbay_out_key(&out, "a"); /* at the very start too: no comma */
    patchbay_out_text(&out, "{");
    patchbay_out_key(&out, "b");
    patchbay_out_text(&out, "1");
    patchbay_out_key(&out, "c");
    patchbay_out_string(&out, patchbay_str_of("{"));
    patchbay_out_key(&out, "d");
    check(&out, "\"a\":{\"b\":1,\"c\":\"{\",\"d\":");
}

static void test_numbers(void **state)
{
    static const struct {
        double number;
        const char *wanted;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {1.0 / 3, "0.33333333333333331"},
        {1e300 * 10, "1e+301"},
        {9007199254740993.0, "9007199254740992"},
    };
    double zero = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        patchbay_out out = start();
        patchbay_out_number(&out, cases[i].number);
        check(&out, cases[i].wanted);
    }
    patchbay_out out = start();
    patchbay_out_number(&out, DBL_MAX * 2);
    patchbay_out_number(&out, -(DBL_MAX * 2));
    patchbay_out_number(&out, (DBL_MAX * 2) * zero);
    check(&out, "nullnullnull");
}

static void test_base64(void **state)
{
    /* RFC 4648 section 10 */
    static const char *const cases[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff\xfe", "+//+"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *memory;
        patchbay_out out = start();
        patchbay_str bytes = exact(cases[i][0], strlen(cases[i][0]), &memory);
        patchbay_out_base64(&out, bytes.ptr, bytes.len);
        check(&out, cases[i][1]);
        free(memory);
    }
}

static void test_walking(void **state)
{
    static const struct {
        const char *json;
        const char *wanted; /* "key=value;" for each */
    } cases[] = {
        {"{}", ""},
        {"[]", ""},
        {"[ ]", ""},
        {"{\"a\":1}", "\"a\"=1;"},
        {" \n{ \"a\" : 1 , \"b\":[1,{\"x\":\"}\"}] ,\"c\":{} } \r\n",
         "\"a\"=1;\"b\"=[1,{\"x\":\"}\"}];\"c\"={};"},
        {"[1,-2.5e3 ,true,null,\"x\\\"]\\\\\",[[]],{}]",
         "=1;=-2.5e3;=true;=null;=\"x\\\"]\\\\\";=[[]];={};"},
        {"{\"a,\\\"b\":\"c:d\",\"\":0}", "\"a,\\\"b\"=\"c:d\";\"\"=0;"},
        {"7", ""},
        {"\"[1]\"", ""},
        {"null", ""},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *memory;
        patchbay_str key;
        patchbay_str value;
        patchbay_out out = start();
        patchbay_json_iter it =
            patchbay_json_iterate(exact(cases[i].json, strlen(cases[i].json), &memory));
        while (patchbay_json_next(&it, &key, &value)) {
            patchbay_out_raw(&out, key);
            patchbay_out_text(&out, "=");
            patchbay_out_raw(&out, value);
            patchbay_out_text(&out, ";");
        }
        assert_false(patchbay_json_next(&it, &key, &value)); /* and stays at the end */
        check(&out, cases[i].wanted);
        free(memory);
    }
    patchbay_json_iter none = patchbay_json_iterate(patchbay_str_make(NULL, 0));
    patchbay_str unused;
    assert_false(patchbay_json_next(&none, &unused, &unused));
}

static void test_getting(void **state)
{
    static const char json[] =
        "{\"a\":{\"b\":1},\"b\":\"two\",\"\\u0063\":3,\"d\\\"\":4,\"b\":5,\"n\":null}";
    static const char *const cases[][2] = {
        {"a", "{\"b\":1}"}, {"b", "\"two\""}, {"c", "3"}, {"d\"", "4"},
        {"n", "null"},      {"x", ""},        {"", ""},   {"ab", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        patchbay_str found = patchbay_json_get(patchbay_str_of(json), cases[i][0]);
        assert_true(patchbay_str_eq(found, patchbay_str_of(cases[i][1])));
    }
    assert_null(patchbay_json_get(patchbay_str_of("[\"a\",1]"), "a").ptr); /* no object */
    assert_null(patchbay_json_get(patchbay_str_of("{}"), "a").ptr);
}

static void test_decoding(void **state)
{
    static const struct {
        const char *json;
        const char *wanted;
        size_t len;
    } cases[] = {
        {"\"\"", "", 0},
        {"\"abc\"", "abc", 3},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
        {"\"a\\u0000b\"", "a\0b", 3},
        {"\"\\u0041\\u00e4\\u20AC\"", "A\xc3\xa4\xe2\x82\xac", 6},
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 4},
        {"\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf", 4},
        /* lone surrogates */
        {"\"\\ud83d\"", "\xef\xbf\xbd", 3},
        {"\"\\ude00x\"", "\xef\xbf\xbdx", 4},
        {"\"\\ud83d\\n\"", "\xef\xbf\xbd\n", 4},
        {"\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80", 7},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *memory;
        patchbay_out out = start();
        patchbay_str raw = exact(cases[i].json, strlen(cases[i].json), &memory);
        assert_true(patchbay_json_decode(raw, &out));
        assert_int_equal(out.len, cases[i].len);
        assert_int_equal(memcmp(out.len > 0 ? out.ptr : "", cases[i].wanted, cases[i].len), 0);
        assert_true(patchbay_json_is(raw, patchbay_str_make(cases[i].wanted, cases[i].len)));
        assert_false(patchbay_json_is(raw, patchbay_str_of("other")));
        patchbay_out_free(&out);
        free(memory);
    }
    static const char *const others[] = {"", "1", "null", "{}", "[\"a\"]"};
    for (size_t i = 0; i < COUNT(others); i++) {
        patchbay_out out = start();
        assert_false(patchbay_json_decode(patchbay_str_of(others[i]), &out));
        assert_false(patchbay_json_is(patchbay_str_of(others[i]), patchbay_str_of(others[i])));
        assert_null(out.ptr);
    }
}

static void test_integers(void **state)
{
    static const struct {
        const char *json;
        int is_integer;
        int64_t wanted;
    } cases[] = {
        {"0", 1, 0},
        {"-0", 1, 0},
        {"42", 1, 42},
        {"100", 1, 100},
        {"-7", 1, -7},
        {"9223372036854775807", 1, INT64_MAX},
        {"-9223372036854775808", 1, INT64_MIN},
        {"9223372036854775808", 0, 0},
        {"-9223372036854775809", 0, 0},
        {"18446744073709551616", 0, 0},
        {"100000000000000000000000000", 0, 0},
        /* JSON Schema: an integer is a number without a fraction, however it is written */
        {"3.0", 1, 3},
        {"3.000000000000000000000000000000", 1, 3},
        {"0.0e99", 1, 0},
        {"1e2", 1, 100},
        {"1.5E+1", 1, 15},
        {"-2500e-2", 1, -25},
        {"1e18", 1, INT64_C(1000000000000000000)},
        {"922337203685477580.7e1", 1, INT64_MAX},
        {"3.5", 0, 0},
        {"1e-1", 0, 0},
        {"1e19", 0, 0},
        {"1e999999999999999999", 0, 0},
        {"1e-999999999999999999", 0, 0},
        {"\"1\"", 0, 0},
        {"true", 0, 0},
        {"null", 0, 0},
        {"[1]", 0, 0},
        {"", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *memory;
        int64_t number = 12345;
        patchbay_str raw = exact(cases[i].json, strlen(cases[i].json), &memory);
        assert_int_equal(patchbay_json_int(raw, &number), cases[i].is_integer);
        assert_int_equal(number, cases[i].is_integer ? cases[i].wanted : 12345);
        free(memory);
    }
}

static void test_doubles(void **state)
{
    (void)state;
    double number = 7;
    assert_true(patchbay_json_number(patchbay_str_of("-2.5e-1"), &number));
    assert_true(number == -0.25);
    assert_true(patchbay_json_number(patchbay_str_of("0"), &number));
    assert_true(number == 0);
    number = 7;
    static const char *const others[] = {"", "1e999", "-1e999", "true", "\"1\"", "null", "[1]"};
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_false(patchbay_json_number(patchbay_str_of(others[i]), &number));
        assert_true(number == 7);
    }
    char digits[301];
    memset(digits, '0', sizeof digits);
    digits[1] = '.';
    assert_true(patchbay_json_number(patchbay_str_make(digits, 300), &number));
    assert_false(patchbay_json_number(patchbay_str_make(digits, 301), &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),    cmocka_unit_test(test_growing),
        cmocka_unit_test(test_printf),   cmocka_unit_test(test_escaping),
        cmocka_unit_test(test_keys),     cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_base64),   cmocka_unit_test(test_walking),
        cmocka_unit_test(test_getting),  cmocka_unit_test(test_decoding),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_doubles),
    };
    return cmocka_run_group_tests_name("sdk_json", tests, NULL, NULL);
}
