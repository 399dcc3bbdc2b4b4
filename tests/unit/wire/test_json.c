/* SPDX-License-Identifier: Apache-2.0 */
/* hub_json_check: grammar, UTF-8, limits. Strings, numbers and walking are in test_json_values.c.
 */
#include "json_cases.h"

#include "base/limits.h"

static const hub_str ACCEPTED[] = {
    TEXT("{}"),
    TEXT("[]"),
    TEXT("\"\""),
    TEXT("0"),
    TEXT("true"),
    TEXT("false"),
    TEXT("null"),
    TEXT(" \t\r\n{ \n} \t\r\n"),
    TEXT("[ 1 , 2 , [ ] , { } ]"),
    TEXT("{ \"a\" : 1 , \"b\" : [ ] , \"\" : { } }"),
    TEXT("{\"a\":1,\"a\":2}"),
    TEXT("[[[[]]],{\"a\":{\"b\":[{}]}}]"),
    /* numbers that C cannot hold, or would rewrite */
    TEXT("-0"),
    TEXT("1.10"),
    TEXT("1e400"),
    TEXT("-1E+400"),
    TEXT("1e-400"),
    TEXT("0.0e00"),
    TEXT("9223372036854775808"),
    TEXT("123456789012345678901234567890.5"),
    TEXT("[1,-2,3.5,4e5,6E-7]"),
    /* strings */
    TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
    TEXT("\"\\u0000\""),
    TEXT("\"\\u00e9\\uFFff\\uABCD\""),
    TEXT("\"\\ud83d\\ude00\""),
    TEXT("\"\\ud83d\""),
    TEXT("\"\\ude00\\ud83d\""),
    TEXT("\"\\ud83dx\""),
    TEXT("{\"\\u006eame\":1,\"\\u0000\":2}"),
    TEXT("\"\x7f\""),
    TEXT("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\""),
    TEXT("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""),
    TEXT("\"\xef\xbb\xbf\""), /* U+FEFF inside a string is a character */
    TEXT("\"0123456789abcdef0123456789abcdef0123456789\""),
};

static const hub_str REJECTED[] = {
    TEXT(""),
    TEXT(" "),
    TEXT("\n\t\r "),
    TEXT("\0"),
    TEXT("1\0"),
    TEXT("\0001"),
    TEXT("{}\0"),
    TEXT("{\"a\":1}x"),
    TEXT("{}{}"),
    TEXT("1 2"),
    TEXT(","),
    TEXT("]"),
    TEXT("}"),
    TEXT("[1,]"),
    TEXT("[,1]"),
    TEXT("[1,,2]"),
    TEXT("[1 2]"),
    TEXT("[1:2]"),
    TEXT("[1}"),
    TEXT("{\"a\":1]"),
    TEXT("[\"a\":1]"),
    TEXT("{,}"),
    TEXT("{\"a\"}"),
    TEXT("{\"a\",1}"),
    TEXT("{\"a\":}"),
    TEXT("{\"a\":1,}"),
    TEXT("{\"a\":1 \"b\":2}"),
    TEXT("{a:1}"),
    TEXT("{1:1}"),
    TEXT("{'a':1}"),
    TEXT("{\"a\"::1}"),
    TEXT("[1]]"),
    TEXT("{}}"),
    TEXT("// c\n1"),
    TEXT("/**/1"),
    TEXT("\v1"),
    TEXT("\f1"),
    TEXT("\xc2\xa0"
         "1"), /* a no-break space */
    /* literals */
    TEXT("tru"),
    TEXT("truE"),
    TEXT("True"),
    TEXT("truee"),
    TEXT("nul"),
    TEXT("nil"),
    TEXT("fals"),
    TEXT("falsy"),
    TEXT("NaN"),
    TEXT("Infinity"),
    TEXT("-Infinity"),
    TEXT("undefined"),
    /* numbers */
    TEXT("01"),
    TEXT("-01"),
    TEXT("00"),
    TEXT("1."),
    TEXT(".5"),
    TEXT("+1"),
    TEXT("-"),
    TEXT("--1"),
    TEXT("1e"),
    TEXT("1e+"),
    TEXT("1.e1"),
    TEXT("1.5.5"),
    TEXT("1e1e1"),
    TEXT("1e1.5"),
    TEXT("0x10"),
    TEXT("1_000"),
    TEXT("-a"),
    /* strings */
    TEXT("\""),
    TEXT("\"a"),
    TEXT("'a'"),
    TEXT("\"\\\""),
    TEXT("\"\\"),
    TEXT("\"\\x41\""),
    TEXT("\"\\a\""),
    TEXT("\"\\'\""),
    TEXT("\"\\U0041\""),
    TEXT("\"\\u\""),
    TEXT("\"\\u004\""),
    TEXT("\"\\u00g0\""),
    TEXT("\"\\u 041\""),
    TEXT("\"\\u+041\""),
    TEXT("\"\\u00"),
    TEXT("\"\n\""),
    TEXT("\"\t\""),
    TEXT("\"\x1f\""),
    TEXT("\"\0\""),
    TEXT("\"0123456789abcdef\x01\""),
    /* not UTF-8; the exhaustive test is below */
    TEXT("\"\xc0\xaf\""),
    TEXT("\"\xe0\x80\xaf\""),
    TEXT("\"\xf0\x80\x80\xaf\""),
    TEXT("\"\xed\xa0\x80\""),
    TEXT("\"\xed\xa0\xbd\xed\xb8\x80\""),
    TEXT("\"\xf4\x90\x80\x80\""),
    TEXT("\"\xf8\x88\x80\x80\x80\""),
    TEXT("\"\x80\""),
    TEXT("\"\xe2\x82\""),
    TEXT("\"\xe2\x82"),
    TEXT("\"\xff\""),
    TEXT("{\"\xff\":1}"),
    TEXT("\xc3\xa9"),
    TEXT("1\xff"),
    /* a byte order mark; UTF-16 */
    TEXT("\xef\xbb\xbf{}"),
    TEXT("\xef\xbb\xbf"),
    TEXT(" \xef\xbb\xbf{}"),
    TEXT("\xff\xfe{\0}\0"),
    TEXT("{\0}\0"),
};

static void accepts_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ACCEPTED); i++) {
        hub_error error = {0};
        if (check_exact(ACCEPTED[i], &error) != HUB_OK) {
            fail_msg("refused " HUB_STR_FMT ": %s", HUB_STR_ARG(ACCEPTED[i]), error.text);
        }
    }
}

static void rejects_all_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(REJECTED); i++) {
        hub_error error = {0};
        if (check_exact(REJECTED[i], &error) != HUB_EPARSE) {
            fail_msg("case %zu: accepted " HUB_STR_FMT, i, HUB_STR_ARG(REJECTED[i]));
        }
        assert_int_equal(error.code, HUB_EPARSE);
        assert_true(hub_str_starts(hub_str_of(error.text), HUB_STR("byte ")));
    }
    assert_int_equal(hub_json_check((hub_str){0}, NULL, NULL), HUB_EPARSE);
}

static void names_the_byte(void **state)
{
    (void)state;
    static const struct {
        hub_str text;
        const char *want;
    } cases[] = {
        {TEXT(""), "byte 0: a value was expected"},
        {TEXT("  "), "byte 2: a value was expected"},
        {TEXT("[1,2"), "byte 4: ',' or ']' was expected"},
        {TEXT("{\"a\":1;"), "byte 6: ',' or '}' was expected"},
        {TEXT("{\"a\" 1}"), "byte 5: ':' was expected"},
        {TEXT("{a"), "byte 1: a key in quotes was expected"},
        {TEXT("[1] 2"), "byte 4: something follows the value"},
        {TEXT("\"abc"), "byte 4: a string has no end"},
        {TEXT("\"a\nc\""), "byte 2: a control character inside a string"},
        {TEXT("\"a\\qc\""), "byte 2: not an escape that JSON knows"},
        {TEXT("\"a\xc3\xa9\xff\""), "byte 4: not UTF-8"},
        {TEXT("\xef\xbb\xbf{}"), "byte 0: a byte order mark"},
        {TEXT("[01]"), "byte 1: a number starts with a superfluous 0"},
        {TEXT("[1.]"), "byte 3: a digit was expected"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        hub_error error = {0};
        assert_int_equal(check_exact(cases[i].text, &error), HUB_EPARSE);
        assert_string_equal(error.text, cases[i].want);
    }
}

static void returns_the_value_without_space(void **state)
{
    (void)state;
    hub_str value;
    assert_int_equal(hub_json_check(HUB_STR(" \n{ \"a\" : 1 }\t "), &value, NULL), HUB_OK);
    assert_text(value, "{ \"a\" : 1 }");
    assert_int_equal(hub_json_check(HUB_STR("12"), &value, NULL), HUB_OK);
    assert_text(value, "12");
    assert_int_equal(hub_json_check(HUB_STR("[]"), NULL, NULL), HUB_OK);
    /* written only on success */
    value = HUB_STR("kept");
    assert_int_equal(hub_json_check(HUB_STR("[] ]"), &value, NULL), HUB_EPARSE);
    assert_text(value, "kept");
}

static void bounds_the_depth(void **state)
{
    (void)state;
    static const struct {
        const char *open;
        const char *innermost; /* an empty container: it counts as a level */
        const char *close;
    } shapes[] = {{"[", "[]", "]"}, {"{\"a\":", "{}", "}"}, {"[", "{}", "]"}, {" [ ", "[ ]", " ]"}};
    static const struct {
        size_t depth;
        hub_err want;
    } cases[] = {
        {2, HUB_OK},
        {HUB_LIMIT_JSON_DEPTH - 1, HUB_OK},
        {HUB_LIMIT_JSON_DEPTH, HUB_OK},
        {HUB_LIMIT_JSON_DEPTH + 1, HUB_ELIMIT},
        {2048, HUB_ELIMIT},
        {2049, HUB_ELIMIT},
        {1000000, HUB_ELIMIT},
    };
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        for (size_t j = 0; j < COUNT_OF(cases); j++) {
            size_t outer = cases[j].depth - 1;
            hub_str closing = repeat(shapes[i].innermost, shapes[i].close, outer, "");
            char *rest = hub_str_dup(closing);
            hub_str text = repeat("", shapes[i].open, outer, rest);
            assert_int_equal(check_exact(text, NULL), cases[j].want);
            free_exact(text);
            free_exact(closing);
            free(rest);
        }
    }
    hub_str deepest = repeat("", "[", HUB_LIMIT_JSON_DEPTH, "1");
    hub_str beyond = repeat("", "[", HUB_LIMIT_JSON_DEPTH + 1, "");
    assert_int_equal(check_exact(deepest, NULL), HUB_EPARSE); /* deep enough, but not closed */
    assert_int_equal(check_exact(beyond, NULL), HUB_ELIMIT);  /* refused before the end is seen */
    free_exact(deepest);
    free_exact(beyond);
}

static void keeps_the_kind_of_each_level(void **state)
{
    (void)state;
    /* 64 levels, alternating in a pattern; each must be closed by its own bracket. */
    char text[6 * HUB_LIMIT_JSON_DEPTH];
    char closers[HUB_LIMIT_JSON_DEPTH];
    size_t len = 0;
    for (size_t i = 0; i < HUB_LIMIT_JSON_DEPTH; i++) {
        bool is_object = (i * i + i / 3) % 2 != 0;
        const char *open = is_object ? "{\"\":" : "[";
        memcpy(text + len, open, strlen(open));
        len += strlen(open);
        closers[HUB_LIMIT_JSON_DEPTH - 1 - i] = is_object ? '}' : ']';
    }
    text[len++] = '1';
    size_t closing = len;
    memcpy(text + len, closers, sizeof closers);
    len += sizeof closers;
    assert_int_equal(check_exact((hub_str){.ptr = text, .len = len}, NULL), HUB_OK);
    for (size_t i = closing; i < len; i++) {
        char right = text[i];
        text[i] = right == '}' ? ']' : '}';
        assert_int_equal(check_exact((hub_str){.ptr = text, .len = len}, NULL), HUB_EPARSE);
        text[i] = right;
    }
}

static void bounds_the_values(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        const char *part;
        const char *after;
        size_t extra;    /* values besides the parts */
        size_t per_part; /* values in one part */
    } shapes[] = {
        {"[", "0,", "0]", 2, 1},
        {"[", "[0],", "0,0]", 3, 2}, /* extra is odd: the limit is met exactly with 1 more */
        {"{", "\"k\":{},", "\"k\":\"\"}", 2, 1},
    };
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        size_t parts = (HUB_LIMIT_JSON_VALUES - shapes[i].extra) / shapes[i].per_part;
        hub_str most = repeat(shapes[i].before, shapes[i].part, parts, shapes[i].after);
        hub_str beyond = repeat(shapes[i].before, shapes[i].part, parts + 1, shapes[i].after);
        assert_int_equal(check_exact(most, NULL), HUB_OK);
        assert_int_equal(check_exact(beyond, NULL), HUB_ELIMIT);
        free_exact(most);
        free_exact(beyond);
    }
}

/* A longer text may have more: one value for each eight bytes, itself among them. */
static void bounds_the_values_of_long_texts(void **state)
{
    (void)state;
    static const char *const parts[] = {"\"abcde\",", "   1234,"};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        size_t count = HUB_LIMIT_JSON_VALUES + 1000; /* of 8 bytes; and two more, in 16 bytes */
        hub_str most = repeat("[             ", parts[i], count, "0]");
        assert_int_equal(most.len, 8 * (count + 2));
        assert_int_equal(check_exact(most, NULL), HUB_OK);
        free_exact(most);
        hub_str beyond = repeat("[            ", parts[i], count, "0]");
        hub_error error = {.text = ""};
        assert_int_equal(check_exact(beyond, &error), HUB_ELIMIT);
        assert_non_null(strstr(error.text, "more than 2,097,152 values"));
        free_exact(beyond);
    }
}

/* Truncating valid JSON anywhere leaves no valid JSON, and nothing is read behind the end. */
static void refuses_every_truncation(void **state)
{
    (void)state;
    hub_str text =
        HUB_STR("{\"a\\u00e9\\n\":[1.5e+3,-0,true,false,null,\"gr\xc3\xbc\xc3\x9f\xe2\x82"
                "\xac\xf0\x9f\x98\x80 and some text longer than a vector\"],\"b\":{}}");
    assert_int_equal(check_exact(text, NULL), HUB_OK);
    for (size_t len = 0; len < text.len; len++) {
        hub_str cut = {.ptr = text.ptr, .len = len};
        assert_int_equal(check_exact(cut, NULL), HUB_EPARSE);
    }
}

/* Special bytes are found wherever they lie relative to the steps of eight, 16 and 64. */
static void finds_special_bytes_anywhere(void **state)
{
    (void)state;
    for (size_t len = 0; len < 120; len++) {
        for (size_t place = 0; place < len; place++) {
            for (int byte = 0; byte < 256; byte++) {
                char text[122];
                memset(text, 'a', sizeof text);
                text[0] = '"';
                text[len + 1] = '"';
                text[place + 1] = (char)byte;
                bool plain = byte >= ' ' && byte < 0x80 && byte != '"' && byte != '\\';
                /* A backslash before the last quote, or before an 'a': both wrong. */
                hub_err want = plain ? HUB_OK : HUB_EPARSE;
                hub_err got = hub_json_check((hub_str){.ptr = text, .len = len + 2}, NULL, NULL);
                if (got != want) {
                    fail_msg("byte %d at %zu of %zu", byte, place, len);
                }
            }
        }
    }
}

/* The code point of a sequence by arithmetic alone, or -1: an oracle unlike the code under test. */
static long decode_by_value(const unsigned char *bytes, size_t len)
{
    static const struct {
        unsigned mask, lead;
        long least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    if ((bytes[0] & forms[len - 1].mask) != forms[len - 1].lead) {
        return -1;
    }
    long code = bytes[0] & ~forms[len - 1].mask & 0xff;
    for (size_t i = 1; i < len; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf) {
            return -1;
        }
        code = code * 64 + bytes[i] % 64;
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < forms[len - 1].least || code > 0x10ffff || surrogate ? -1 : code;
}

/* Whether the bytes may stand between quotes: sequences, one after the other, none of them special.
 */
static bool is_content(const unsigned char *bytes, size_t len)
{
    while (len > 0) {
        size_t taken = 1;
        long code = decode_by_value(bytes, taken);
        while (code < 0 && taken < 4 && taken < len) {
            code = decode_by_value(bytes, ++taken);
        }
        if (code < ' ' || code == '"' || code == '\\') {
            return false;
        }
        bytes += taken;
        len -= taken;
    }
    return true;
}

static void expect_sequence(const unsigned char *bytes, size_t len)
{
    char text[8] = {'"'};
    memcpy(text + 1, bytes, len);
    text[len + 1] = '"';
    hub_err want = is_content(bytes, len) ? HUB_OK : HUB_EPARSE;
    if (check_exact((hub_str){.ptr = text, .len = len + 2}, NULL) != want) {
        fail_msg("%02x %02x %02x %02x of %zu", bytes[0], bytes[1], bytes[2], bytes[3], len);
    }
}

static void validates_utf8_exhaustively(void **state)
{
    (void)state;
    static const unsigned char tails[] = {0x00, 0x7f, 0x80, 0x8f, 0x90,
                                          0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    for (unsigned lead = 0x80; lead < 0x100; lead++) {
        unsigned char bytes[4] = {(unsigned char)lead};
        expect_sequence(bytes, 1);
        for (unsigned second = 0x80; second < 0x100; second++) {
            bytes[1] = (unsigned char)second;
            bytes[2] = bytes[3] = 0;
            expect_sequence(bytes, 2);
            for (size_t i = 0; i < COUNT_OF(tails) * COUNT_OF(tails); i++) {
                bytes[2] = tails[i / COUNT_OF(tails)];
                bytes[3] = tails[i % COUNT_OF(tails)];
                expect_sequence(bytes, 3);
                expect_sequence(bytes, 4);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_json),
        cmocka_unit_test(rejects_all_else),
        cmocka_unit_test(names_the_byte),
        cmocka_unit_test(returns_the_value_without_space),
        cmocka_unit_test(bounds_the_depth),
        cmocka_unit_test(keeps_the_kind_of_each_level),
        cmocka_unit_test(bounds_the_values),
        cmocka_unit_test(bounds_the_values_of_long_texts),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(finds_special_bytes_anywhere),
        cmocka_unit_test(validates_utf8_exhaustively),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
