/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of wire/json.h for values that were checked: types, walking, strings. Numbers are
 * in test_json_numbers.c. */
#include "json_cases.h"

static hub_buf out;

static int set_up(void **state)
{
    (void)state;
    hub_buf_init(&out, 16u << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hub_buf_fini(&out);
    return 0;
}

static hub_str appended(void)
{
    assert_true(hub_buf_ok(&out));
    return hub_buf_str(&out);
}

static void names_types(void **state)
{
    (void)state;
    static const struct {
        hub_str raw;
        hub_json_type type;
        const char *name;
    } cases[] = {
        {TEXT(""), HUB_JSON_NONE, "none"},         {TEXT("null"), HUB_JSON_NULL, "null"},
        {TEXT("true"), HUB_JSON_TRUE, "boolean"},  {TEXT("false"), HUB_JSON_FALSE, "boolean"},
        {TEXT("-1.5"), HUB_JSON_NUMBER, "number"}, {TEXT("0"), HUB_JSON_NUMBER, "number"},
        {TEXT("\"\""), HUB_JSON_STRING, "string"}, {TEXT("[]"), HUB_JSON_ARRAY, "array"},
        {TEXT("{}"), HUB_JSON_OBJECT, "object"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(hub_json_type_of(cases[i].raw), cases[i].type);
        assert_string_equal(hub_json_type_name(cases[i].type), cases[i].name);
    }
    assert_int_equal(hub_json_type_of((hub_str){0}), HUB_JSON_NONE);
}

/* Walks `raw` and prints "key=value;" for each step. */
static void walk(hub_str raw)
{
    hub_str copy = copy_exact(raw);
    hub_json_iter it = hub_json_iterate(copy);
    hub_str key;
    hub_str value;
    size_t count = 0;
    hub_buf_clear(&out);
    while (hub_json_next(&it, &key, &value)) {
        hub_buf_add(&out, key);
        hub_buf_add_char(&out, '=');
        hub_buf_add(&out, value);
        hub_buf_add_char(&out, ';');
        count++;
    }
    assert_false(hub_json_next(&it, &key, &value));
    assert_int_equal(hub_json_count(copy), count);
    free_exact(copy);
}

static void walks_containers(void **state)
{
    (void)state;
    static const struct {
        hub_str raw;
        const char *want;
    } cases[] = {
        {TEXT("[]"), ""},
        {TEXT("{}"), ""},
        {TEXT("[ \n]"), ""},
        {TEXT("{ }"), ""},
        {TEXT("[1]"), "=1;"},
        {TEXT("[1,-2.5e3,true,null]"), "=1;=-2.5e3;=true;=null;"},
        {TEXT("[ 1 , \"a, ]\" ,\t[2, 3] , {\"x\" : [ ] } ]"),
         "=1;=\"a, ]\";=[2, 3];={\"x\" : [ ] };"},
        {TEXT("{\"a\":1}"), "\"a\"=1;"},
        {TEXT("{ \"a\" : 1 , \"b\" : { \"c\" : 2 } }"), "\"a\"=1;\"b\"={ \"c\" : 2 };"},
        {TEXT("{\"\":\"\",\"}\":\"{\"}"), "\"\"=\"\";\"}\"=\"{\";"},
        {TEXT("{\"a\\\"\":\"\\\\\",\"b\":\"\\\"]\"}"), "\"a\\\"\"=\"\\\\\";\"b\"=\"\\\"]\";"},
        {TEXT("{\"k\":1,\"k\":2}"), "\"k\"=1;\"k\"=2;"},
        {TEXT("[[[]],[\"]\"],\"gr\xc3\xbc\xc3\x9f\"]"), "=[[]];=[\"]\"];=\"gr\xc3\xbc\xc3\x9f\";"},
        {TEXT("1"), ""},
        {TEXT("\"[1]\""), ""},
        {TEXT("null"), ""},
        {TEXT(""), ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        walk(cases[i].raw);
        assert_text(appended(), cases[i].want);
    }
}

static void gets_members(void **state)
{
    (void)state;
    hub_str object = HUB_STR("{\"a\":1,\"\\u0062\":[2],\"a\":3,\"A\":4,\"\":5,\"c\\u0000d\":6,"
                             "\"\\ud83d\\ude00\":7,\"n\":{\"deep\":8}}");
    assert_text(hub_json_get(object, HUB_STR("a")), "1"); /* the first */
    assert_text(hub_json_get(object, HUB_STR("b")), "[2]");
    assert_text(hub_json_get(object, HUB_STR("A")), "4");
    assert_text(hub_json_get(object, HUB_STR("")), "5");
    assert_text(hub_json_get(object, (hub_str){0}), "5");
    assert_text(hub_json_get(object, HUB_STR("c\0d")), "6");
    assert_text(hub_json_get(object, HUB_STR("\xf0\x9f\x98\x80")), "7");
    assert_text(hub_json_get(hub_json_get(object, HUB_STR("n")), HUB_STR("deep")), "8");
    static const char *const absent[] = {"B", "c", "deep", "aa", "n ", "\\u0062", "1"};
    for (size_t i = 0; i < COUNT_OF(absent); i++) {
        assert_int_equal(hub_json_get(object, hub_str_of(absent[i])).len, 0);
    }
    assert_int_equal(hub_json_get(HUB_STR("[\"a\",1]"), HUB_STR("a")).len, 0);
    assert_int_equal(hub_json_get(HUB_STR("[\"a\",1]"), HUB_STR("")).len, 0);
    assert_int_equal(hub_json_get(HUB_STR("\"a\""), HUB_STR("a")).len, 0);
    assert_int_equal(hub_json_get(HUB_STR_EMPTY, HUB_STR("a")).len, 0);
}

static const struct {
    hub_str raw;
    hub_str text;
    bool plain; /* a span of the raw string */
} DECODED[] = {
    {TEXT("\"\""), TEXT(""), true},
    {TEXT("\"abc\""), TEXT("abc"), true},
    {TEXT("\"\xf0\x9f\x98\x80\""), TEXT("\xf0\x9f\x98\x80"), true},
    {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), TEXT("\"\\/\b\f\n\r\t"), false},
    {TEXT("\"\\u0041\\u00e9\\u20AC\\uffFF\""), TEXT("A\xc3\xa9\xe2\x82\xac\xef\xbf\xbf"), false},
    {TEXT("\"a\\u0000b\""), TEXT("a\0b"), false},
    {TEXT("\"\\ud83d\\ude00\""), TEXT("\xf0\x9f\x98\x80"), false},
    {TEXT("\"\\uD800\\uDC00\\uDBFF\\uDFFF\""), TEXT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), false},
    {TEXT("\"\\ud83d\""), TEXT("\xef\xbf\xbd"), false},
    {TEXT("\"\\ude00\""), TEXT("\xef\xbf\xbd"), false},
    {TEXT("\"\\ud83dx\""), TEXT("\xef\xbf\xbdx"), false},
    {TEXT("\"\\ud83d\\n\""), TEXT("\xef\xbf\xbd\n"), false},
    {TEXT("\"\\ud83d\\u0041\""), TEXT("\xef\xbf\xbd\x41"), false},
    {TEXT("\"\\ud83d\\ud83d\\ude00\""), TEXT("\xef\xbf\xbd\xf0\x9f\x98\x80"), false},
    {TEXT("\"\\ude00\\ud83d\""), TEXT("\xef\xbf\xbd\xef\xbf\xbd"), false},
    {TEXT("\"x\\ny\\\\n\""), TEXT("x\ny\\n"), false},
};

static void decodes_strings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(DECODED); i++) {
        hub_str raw = copy_exact(DECODED[i].raw);
        hub_str plain = HUB_STR("kept");
        hub_buf_clear(&out);
        assert_int_equal(hub_json_decode(raw, &out), HUB_OK);
        assert_true(hub_str_eq(appended(), DECODED[i].text));
        assert_true(hub_json_string_is(raw, DECODED[i].text));
        assert_int_equal(hub_json_plain(raw, &plain), DECODED[i].plain);
        assert_true(hub_str_eq(plain, DECODED[i].plain ? DECODED[i].text : HUB_STR("kept")));
        for (size_t j = 0; j < COUNT_OF(DECODED); j++) {
            bool same = hub_str_eq(DECODED[i].text, DECODED[j].text);
            assert_int_equal(hub_json_string_is(raw, DECODED[j].text), same);
        }
        free_exact(raw);
    }
}

static void compares_only_strings(void **state)
{
    (void)state;
    static const char *const others[] = {"1", "true", "null", "[\"a\"]", "{\"a\":1}", "", "\""};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        hub_str raw = hub_str_of(others[i]);
        hub_str plain;
        assert_false(hub_json_string_is(raw, raw));
        assert_false(hub_json_string_is(raw, HUB_STR_EMPTY));
        assert_false(hub_json_plain(raw, &plain));
        assert_int_equal(hub_json_decode(raw, &out), HUB_EINVAL);
    }
    assert_int_equal(appended().len, 0);
    /* Neither a prefix nor a longer text is equal; nor is the escape the character. */
    assert_false(hub_json_string_is(HUB_STR("\"ab\""), HUB_STR("a")));
    assert_false(hub_json_string_is(HUB_STR("\"ab\""), HUB_STR("abc")));
    assert_false(hub_json_string_is(HUB_STR("\"\\u0061b\""), HUB_STR("abc")));
    assert_false(hub_json_string_is(HUB_STR("\"\\u0061b\""), HUB_STR("a")));
    assert_false(hub_json_string_is(HUB_STR("\"\\n\""), HUB_STR("\\n")));
    assert_true(hub_json_string_is(HUB_STR("\"\""), (hub_str){0}));
}

static void reports_a_full_buffer(void **state)
{
    (void)state;
    hub_buf small;
    hub_buf_init(&small, 4);
    assert_int_equal(hub_json_decode(HUB_STR("\"1234\""), &small), HUB_OK);
    hub_buf_clear(&small);
    assert_int_equal(hub_json_decode(HUB_STR("\"12345\""), &small), HUB_ELIMIT);
    hub_buf_clear(&small);
    assert_int_equal(hub_json_decode(HUB_STR("\"123\\n5\""), &small), HUB_ELIMIT);
    hub_buf_clear(&small);
    hub_json_add_string(&small, HUB_STR("123"));
    assert_int_equal(small.failed, HUB_ELIMIT);
    hub_buf_fini(&small);
}

static void writes_strings(void **state)
{
    (void)state;
    static const struct {
        hub_str text;
        const char *want;
    } cases[] = {
        {TEXT(""), "\"\""},
        {TEXT("abc /'<>&"), "\"abc /'<>&\""},
        {TEXT("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
        {TEXT("a\0b\x01\x1f\x7f"), "\"a\\u0000b\\u0001\\u001f\x7f\""},
        {TEXT("gr\xc3\xbc\xc3\x9f \xe2\x80\xa8 \xf0\x9f\x98\x80"),
         "\"gr\xc3\xbc\xc3\x9f \xe2\x80\xa8 \xf0\x9f\x98\x80\""},
        {TEXT("\xff"), "\"\xef\xbf\xbd\""},
        {TEXT("a\xc0\xaf\x62"), "\"a\xef\xbf\xbd\xef\xbf\xbd\x62\""},
        {TEXT("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {TEXT("x\xe2\x82"), "\"x\xef\xbf\xbd\xef\xbf\xbd\""},
        {TEXT("\xc3\"\n\xc3\xbc"), "\"\xef\xbf\xbd\\\"\\n\xc3\xbc\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        hub_str text = copy_exact(cases[i].text);
        hub_buf_clear(&out);
        hub_json_add_string(&out, text);
        assert_text(appended(), cases[i].want);
        assert_int_equal(check_exact(appended(), NULL), HUB_OK);
        free_exact(text);
    }
    hub_buf_clear(&out);
    hub_json_add_string(&out, (hub_str){0});
    assert_text(appended(), "\"\"");
}

/* Whatever stands at whichever place of a short text: as in front of a long one. */
static void writes_short_strings(void **state)
{
    (void)state;
    enum { LONGEST = 18, MORE = 32 };
    static const unsigned char BYTES[] = {'"', '\\', 0,    '\n', 0x1f, ' ',
                                          '!', '~',  0x7f, 0x80, 0xff};
    char bytes[LONGEST + MORE];
    hub_buf want;
    hub_buf_init(&want, 1024);
    for (size_t len = 1; len <= LONGEST; len++) {
        for (size_t i = 0; i < len * sizeof BYTES; i++) {
            memset(bytes, 'a', sizeof bytes);
            bytes[i % len] = (char)BYTES[i / len];
            hub_buf_clear(&want);
            hub_json_add_string(&want, (hub_str){.ptr = bytes, .len = len + MORE});
            want.len -= MORE + 1;
            hub_buf_add_char(&want, '"');
            hub_str text = copy_exact((hub_str){.ptr = bytes, .len = len});
            hub_buf_clear(&out);
            hub_json_add_string(&out, text);
            assert_true(hub_str_eq(appended(), hub_buf_str(&want)));
            free_exact(text);
        }
    }
    hub_buf_fini(&want);
}

static void writes_objects_and_arrays(void **state)
{
    (void)state;
    hub_json_add_comma(&out); /* nothing is there yet: no comma */
    hub_buf_add_char(&out, '{');
    hub_json_add_key(&out, HUB_STR("a"));
    hub_buf_add_char(&out, '[');
    hub_json_add_comma(&out);
    hub_buf_add_char(&out, '1');
    hub_json_add_comma(&out);
    hub_buf_add_char(&out, '2');
    hub_buf_add_char(&out, ']');
    hub_json_add_key(&out, HUB_STR("b\n"));
    hub_buf_add(&out, HUB_STR("{}"));
    hub_json_add_key(&out, HUB_STR(""));
    hub_json_add_string(&out, HUB_STR("["));
    hub_json_add_key(&out, HUB_STR("c"));
    hub_buf_add(&out, HUB_STR("0}"));
    assert_text(appended(), "{\"a\":[1,2],\"b\\n\":{},\"\":\"[\",\"c\":0}");
}

static void append_utf8(hub_buf *buf, uint32_t code)
{
    static const struct {
        uint32_t below, lead, tails;
    } forms[] = {{0x80, 0, 0}, {0x800, 0xc0, 1}, {0x10000, 0xe0, 2}, {0x110000, 0xf0, 3}};
    size_t form = 0;
    while (code >= forms[form].below) {
        form++;
    }
    uint32_t tails = forms[form].tails;
    hub_buf_add_char(buf, (char)(forms[form].lead | code >> 6 * tails));
    while (tails-- > 0) {
        hub_buf_add_char(buf, (char)(0x80 | (code >> 6 * tails & 0x3f)));
    }
}

/* Each code point of every plane: written raw and read back, and read from its \u escape. */
static void round_trips_every_code_point(void **state)
{
    (void)state;
    hub_buf text;
    hub_buf escaped;
    hub_buf_init(&text, 1024);
    hub_buf_init(&escaped, 1024);
    for (uint32_t code = 0; code < 0x110000; code++) {
        if (code >= 0xd800 && code < 0xe000) {
            continue;
        }
        hub_buf_clear(&text);
        hub_buf_clear(&escaped);
        hub_buf_clear(&out);
        append_utf8(&text, code);
        hub_json_add_string(&out, hub_buf_str(&text));
        assert_int_equal(hub_json_check(appended(), NULL, NULL), HUB_OK);
        assert_true(hub_json_string_is(appended(), hub_buf_str(&text)));
        if (code < 0x10000) {
            hub_buf_printf(&escaped, "\"\\u%04X\"", code);
        } else {
            hub_buf_printf(&escaped, "\"\\u%04x\\u%04X\"", 0xd7c0 + (code >> 10),
                           0xdc00 + (code & 0x3ff));
        }
        hub_buf_clear(&out);
        assert_int_equal(hub_json_decode(hub_buf_str(&escaped), &out), HUB_OK);
        assert_true(hub_str_eq(appended(), hub_buf_str(&text)));
    }
    hub_buf_fini(&text);
    hub_buf_fini(&escaped);
}

/* P06: 10,000 random valid texts come back byte for byte. */
static void round_trips_random_text(void **state)
{
    (void)state;
    static const uint32_t planes[] = {0x80, 0x80, 0x800, 0x10000, 0x110000};
    uint64_t seed = 1;
    hub_buf text;
    hub_buf_init(&text, 4096);
    for (size_t i = 0; i < 10000; i++) {
        hub_buf_clear(&text);
        hub_buf_clear(&out);
        for (size_t length = i % 97; length > 0; length--) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint32_t code = (uint32_t)(seed >> 33) % planes[(seed >> 20) % COUNT_OF(planes)];
            append_utf8(&text, code >= 0xd800 && code < 0xe000 ? 'x' : code);
        }
        hub_json_add_string(&out, hub_buf_str(&text));
        assert_int_equal(check_exact(appended(), NULL), HUB_OK);
        assert_int_equal(hub_str_find(appended(), HUB_STR("\n")), SIZE_MAX);
        hub_str raw = copy_exact(appended());
        hub_buf_clear(&out);
        assert_int_equal(hub_json_decode(raw, &out), HUB_OK);
        assert_true(hub_str_eq(appended(), hub_buf_str(&text)));
        free_exact(raw);
    }
    hub_buf_fini(&text);
}

static void compacts(void **state)
{
    (void)state;
    static const struct {
        const char *raw;
        const char *want;
    } cases[] = {
        {"1", "1"},
        {"\" a \"", "\" a \""},
        {"[]", "[]"},
        {"[ ]", "[]"},
        {"{ \"a b\" : [ 1 , 2 ] ,\r\n\t\"c\" : \" \\\" \\n \" }",
         "{\"a b\":[1,2],\"c\":\" \\\" \\n \"}"},
        {"[\"gr\xc3\xbc \xc3\x9f\", 1e400, 1.10, -0]", "[\"gr\xc3\xbc \xc3\x9f\",1e400,1.10,-0]"},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        hub_str raw = copy_exact(hub_str_of(cases[i].raw));
        hub_buf_clear(&out);
        hub_json_add_compact(&out, raw);
        assert_text(appended(), cases[i].want);
        free_exact(raw);
    }
    hub_json_add_compact(&out, (hub_str){0});
}

/* Whoever forgets to check gets nonsense, but never a byte from behind the end. */
static void stays_inside_unchecked_text(void **state)
{
    (void)state;
    hub_str text =
        HUB_STR("{\"a\\u00e9\":[1,{\"b\":\"\\ud83d\\ude00\xc3\xbc\"}],\"c\\\"\" : -1.5e7 }");
    for (size_t from = 0; from < text.len; from++) {
        for (size_t len = 0; len <= text.len - from; len++) {
            hub_str copy = copy_exact((hub_str){.ptr = text.ptr + from, .len = len});
            uint64_t u64;
            int64_t i64;
            double number;
            hub_str plain;
            walk(copy);
            (void)hub_json_get(copy, HUB_STR("a\xc3\xa9"));
            (void)hub_json_string_is(copy, HUB_STR("a\xc3\xa9"));
            (void)hub_json_plain(copy, &plain);
            (void)hub_json_to_u64(copy, &u64);
            (void)hub_json_to_i64(copy, &i64);
            (void)hub_json_to_double(copy, &number);
            hub_err err = hub_json_decode(copy, &out);
            assert_true(err == HUB_OK || err == HUB_EINVAL);
            hub_json_add_compact(&out, copy);
            hub_json_add_string(&out, copy);
            free_exact(copy);
        }
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(names_types),
        TEST(walks_containers),
        TEST(gets_members),
        TEST(decodes_strings),
        TEST(compares_only_strings),
        TEST(reports_a_full_buffer),
        TEST(writes_strings),
        TEST(writes_short_strings),
        TEST(writes_objects_and_arrays),
        TEST(round_trips_every_code_point),
        TEST(round_trips_random_text),
        TEST(compacts),
        TEST(stays_inside_unchecked_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
