/* SPDX-License-Identifier: Apache-2.0 */
/* Limits at the edge and one beyond, and input that wants the checker to work for ever. Steps are
 * counted, not timed: a case that were not bounded would hang. */
#include "schema_cases.h"

enum { TEXT_BYTES = 16u << 20 };

static hub_buf built; /* the schema of a test */
static hub_buf value;

static int set_up(void **state)
{
    (void)state;
    hub_buf_init(&built, TEXT_BYTES);
    hub_buf_init(&value, TEXT_BYTES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hub_buf_fini(&built);
    hub_buf_fini(&value);
    return 0;
}

static void add(hub_buf *out, const char *text)
{
    hub_str copy = quoted(text);
    hub_buf_add(out, copy);
    free_text(copy);
}

static void add_times(hub_buf *out, size_t times, const char *text)
{
    for (size_t i = 0; i < times; i++) {
        add(out, text);
    }
}

static hub_err compile(hub_schema **ret_schema, hub_error *error)
{
    hub_str text;
    assert_true(hub_buf_ok(&built));
    assert_int_equal(hub_json_check(hub_buf_str(&built), &text, error), HUB_OK);
    hub_err err = hub_schema_compile(text, ret_schema, error);
    hub_buf_clear(&built);
    return err;
}

static void expect_compiles(void)
{
    hub_error error = {.text = ""};
    hub_schema *schema = NULL;
    if (compile(&schema, &error) != HUB_OK) {
        fail_msg("%s", error.text);
    }
    hub_schema_destroy(schema);
}

static void expect_refused(hub_err wanted, const char *text)
{
    hub_error error = {.text = ""};
    hub_schema *schema = NULL;
    assert_int_equal(compile(&schema, &error), wanted);
    assert_string_equal(error.text, text);
}

/* Check `value` against `built`; both are empty afterwards. `text` as a printf result or NULL. */
static void expect_verdict(hub_err wanted, const char *text)
{
    hub_error error = {.text = ""};
    hub_schema *schema = NULL;
    hub_str raw;
    if (compile(&schema, &error) != HUB_OK) {
        fail_msg("%s", error.text);
    }
    assert_true(hub_buf_ok(&value));
    assert_int_equal(hub_json_check(hub_buf_str(&value), &raw, &error), HUB_OK);
    hub_err err = hub_schema_validate(schema, raw, "v", &error);
    if (err != wanted || (text != NULL && strcmp(error.text, text) != 0)) {
        fail_msg("%s %s, wanted %s %s", hub_err_name(err), error.text, hub_err_name(wanted),
                 text ? text : "");
    }
    hub_schema_destroy(schema);
    hub_buf_clear(&value);
}

static void add_nested(size_t depth)
{
    add_times(&built, depth - 1, "{'not':");
    add(&built, "{}");
    add_times(&built, depth - 1, "}");
}

static void test_depth(void **state)
{
    (void)state;
    add_nested(HUB_LIMIT_SCHEMA_DEPTH);
    expect_compiles();
    add(&built, "{'x':");
    add_nested(HUB_LIMIT_SCHEMA_DEPTH);
    add(&built, ",'$ref':'#/x'}");
    expect_compiles(); /* unknown keywords do not count */
    hub_buf pointer;
    hub_buf_init(&pointer, TEXT_BYTES);
    add_times(&pointer, HUB_LIMIT_SCHEMA_DEPTH, "/not");
    add(&pointer, ": nested more than 32 deep");
    hub_buf_add_char(&pointer, '\0');
    add_nested(HUB_LIMIT_SCHEMA_DEPTH + 1);
    expect_refused(HUB_ELIMIT, pointer.ptr);
    hub_buf_fini(&pointer);
}

static void add_alternatives(size_t count)
{
    add(&built, "{'anyOf':[{}");
    add_times(&built, count - 1, ",{}");
    add(&built, "]}");
}

static void test_nodes(void **state)
{
    (void)state;
    add_alternatives(HUB_LIMIT_SCHEMA_NODES - 1);
    expect_compiles();
    add_alternatives(HUB_LIMIT_SCHEMA_NODES);
    expect_refused(HUB_ELIMIT, "/anyOf/1999: more than 2000 schemas");
}

static void test_pattern_length(void **state)
{
    (void)state;
    add(&built, "{'pattern':'");
    add_times(&built, 4096, "a");
    add(&built, "'}");
    expect_compiles();
    add(&built, "{'pattern':'");
    add_times(&built, 4097, "a");
    add(&built, "'}");
    expect_refused(
        HUB_ELIMIT,
        "/pattern: the pattern aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "a is not usable: longer than 4096 bytes");
    add(&built, "{'allOf':[true");
    add_times(&built, 1000, ",{'pattern':'(a{1000}){60}'}");
    add(&built, "]}");
    hub_error error;
    hub_schema *schema = NULL;
    assert_int_equal(compile(&schema, &error), HUB_ELIMIT);
    assert_non_null(strstr(error.text, "too large once compiled"));
}

/* A reference past a long text that is no schema: reading it a thousand times is refused. */
static void test_reference_walks(void **state)
{
    (void)state;
    add(&built, "{'pad':'");
    add_times(&built, 1000000, "a");
    add(&built, "','x':[{},{},{},{},{},{},{},{},{},{}],'allOf':[true");
    for (int i = 0; i < 10; i++) {
        hub_buf_printf(&built, ",{\"$ref\":\"#/x/%d\"}", i);
    }
    add(&built, "]}");
    expect_refused(HUB_ELIMIT, "the schema: too many references into other things than schemas");
    add(&built, "{'pad':'");
    add_times(&built, 1000000, "a");
    add(&built, "','$defs':{'x':{}},'allOf':[true");
    add_times(&built, 1000, ",{'$ref':'#/$defs/x'}");
    add(&built, "]}");
    expect_compiles();
}

static const char TOO_LONG[] = "v: checking it against the schema takes too long";
static const char TOO_DEEP[] = "v: the schema recurses too deep";
static const char SLOW_PATTERN[] = "v: matching a pattern takes too long";

static void test_endless_recursion(void **state)
{
    (void)state;
    static const char *const SCHEMAS[] = {
        "{'$ref':'#'}",
        "{'allOf':[{'$ref':'#'},{'$ref':'#'}]}",
        "{'anyOf':[{'not':{'$ref':'#'}},{'$ref':'#'}]}",
        "{'$dynamicAnchor':'a','$dynamicRef':'#a'}",
        "{'if':{'$ref':'#'}}",
    };
    for (size_t i = 0; i < sizeof SCHEMAS / sizeof *SCHEMAS; i++) {
        add(&built, SCHEMAS[i]);
        add(&value, "1");
        expect_verdict(HUB_ELIMIT, TOO_DEEP);
    }
}

/* Forty levels, each of which refers twice to the next: a million million leaves. */
static void add_doubling(const char *keyword, const char *leaf)
{
    add(&built, "{'$ref':'#/$defs/0','$defs':{");
    for (int i = 0; i < 40; i++) {
        hub_buf_printf(&built,
                       "\"%d\":{\"%s\":[{\"$ref\":\"#/$defs/%d\"},{\"$ref\":\"#/$defs/%d\"}]},", i,
                       keyword, i + 1, i + 1);
    }
    add(&built, "'40':");
    add(&built, leaf);
    add(&built, "}}");
}

static void test_exponential_composition(void **state)
{
    (void)state;
    static const char *const KEYWORDS[] = {"allOf", "oneOf", "anyOf"};
    for (size_t i = 0; i < 3; i++) {
        add_doubling(KEYWORDS[i], "{'type':'integer'}");
        add(&value, i == 2 ? "'x'" : "1");
        expect_verdict(HUB_ELIMIT, TOO_LONG);
    }
}

/* Legitimate recursion as deep as JSON goes. */
static void test_deep_value(void **state)
{
    (void)state;
    add(&built, "{'anyOf':[{'type':'array','items':{'$ref':'#'}},{'type':'integer'}]}");
    add_times(&value, HUB_LIMIT_JSON_DEPTH, "[");
    add(&value, "1");
    add_times(&value, HUB_LIMIT_JSON_DEPTH, "]");
    expect_verdict(HUB_OK, NULL);
    add(&built, "{'items':{'$ref':'#'},'type':'array'}");
    add_times(&value, HUB_LIMIT_JSON_DEPTH, "[");
    add_times(&value, HUB_LIMIT_JSON_DEPTH, "]");
    expect_verdict(HUB_OK, NULL);
}

/* More text and more elements than a step each would allow for, and nothing wrong with them. */
static void test_large_values(void **state)
{
    (void)state;
    add(&built, "{'uniqueItems':true,'items':{'type':'integer','minimum':0}}");
    add(&value, "[0");
    for (int i = 1; i < 190000; i++) {
        hub_buf_printf(&value, ",%d", i);
    }
    add(&value, "]");
    expect_verdict(HUB_OK, NULL);
    add(&built, "{'items':{'pattern':'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'}}");
    add(&value, "['12345678-1234-1234-1234-123456789abc'");
    add_times(&value, 50000, ",'12345678-1234-1234-1234-123456789abc'");
    add(&value, "]");
    expect_verdict(HUB_OK, NULL);
    add(&built, "{'minLength':1,'pattern':'needle'}");
    add(&value, "'");
    add_times(&value, 500000, "n e ");
    add(&value, "needle'");
    expect_verdict(HUB_OK, NULL);
}

/* Twenty thousand elements, compared with each other two thousand times. */
static void test_repeated_comparison(void **state)
{
    (void)state;
    add(&built, "{'allOf':[true");
    add_times(&built, 1900, ",{'uniqueItems':true}");
    add(&built, "]}");
    add(&value, "[0");
    for (int i = 1; i < 20000; i++) {
        hub_buf_printf(&value, ",%d", i);
    }
    add(&value, "]");
    expect_verdict(HUB_ELIMIT, TOO_LONG);
}

static void test_slow_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *unit;
        size_t times;
        const char *end;
    } ROWS[] = {
        {"^(a+)+$", "a", 5000, "b"},         /* exponential */
        {"^(a|a)*$", "a", 5000, "b"},        /* exponential */
        {"a*[bc]", "a", 1000000, ""},        /* quadratic between starting points */
        {"\\\\s+$", " ", 1000000, "x"},      /* the same as people write it */
        {"(?:a{60000}|b)", "a", 59999, "c"}, /* one item that goes a long way */
        {"(?R)?a", "a", 100000, ""},         /* recursion within the pattern */
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        hub_buf_printf(&built, "{\"pattern\":\"%s\"}", ROWS[i].pattern);
        add(&value, "'");
        add_times(&value, ROWS[i].times, ROWS[i].unit);
        add(&value, ROWS[i].end);
        add(&value, "'");
        expect_verdict(HUB_ELIMIT, SLOW_PATTERN);
    }
}

/* A budget for all matches of one validation together. */
static void test_many_patterns(void **state)
{
    (void)state;
    add(&built, "{'patternProperties':{'y$':true");
    for (int i = 0; i < 1900; i++) {
        hub_buf_printf(&built, ",\"^(a|b|ab)*x%d$\":true", i);
    }
    add(&built, "}}");
    add(&value, "{'x':1");
    for (int i = 0; i < 200; i++) {
        hub_buf_printf(&value, ",\"abababababababababababababababab%d\":1", i);
    }
    add(&value, "}");
    expect_verdict(HUB_ELIMIT, SLOW_PATTERN);
}

static void expect_utf8(const char *text)
{
    hub_buf string;
    hub_buf_init(&string, TEXT_BYTES);
    hub_buf_add_char(&string, '"');
    for (; *text != '\0'; text++) {
        hub_buf_add_char(&string, *text == '"' ? '\'' : *text);
    }
    hub_buf_add_char(&string, '"');
    assert_int_equal(hub_json_check(hub_buf_str(&string), NULL, NULL), HUB_OK);
    hub_buf_fini(&string);
}

/* Long names in the schema and in the value: the text keeps their beginnings, at most 120 and 60
 * bytes, and of a path both ends. The x makes the limit fall within a character. */
static void test_long_names(void **state)
{
    (void)state;
    hub_error error = {.text = ""};
    hub_schema *schema = NULL;
    add(&built, "{'required':['x");
    add_times(&built, 700, "\xc3\xa9");
    add(&built, "'],'type':'object'}");
    assert_int_equal(compile(&schema, &error), HUB_OK);
    assert_int_equal(hub_schema_validate(schema, HUB_STR("{}"), "v", &error), HUB_EINVAL);
    assert_int_equal(strlen(error.text), strlen("v: \"\" is missing") + 119);
    expect_utf8(error.text);
    hub_schema_destroy(schema);

    add(&built, "{'additionalProperties':{'$ref':'#'},'type':'object'}");
    for (int i = 0; i < 60; i++) {
        add(&value, "{'x");
        add_times(&value, 50, "\xe2\x82\xac");
        add(&value, "':");
    }
    add(&value, "1");
    add_times(&value, 60, "}");
    assert_int_equal(compile(&schema, &error), HUB_OK);
    assert_int_equal(hub_schema_validate(schema, hub_buf_str(&value), "v", &error), HUB_EINVAL);
    assert_non_null(strstr(error.text, "v\xe2\x80\xa6.x\xe2\x82\xac"));
    assert_non_null(strstr(error.text, "\xe2\x80\xa6: must be an object, is a number"));
    expect_utf8(error.text);
    hub_schema_destroy(schema);
    hub_buf_clear(&value);
}

/* Nested alternatives each add a prefix, and the end is cut: at different places of a character,
 * according to the depth. */
static void test_long_reasons(void **state)
{
    (void)state;
    for (size_t depth = 7; depth < 15; depth++) {
        hub_error error = {.text = ""};
        hub_schema *schema = NULL;
        add_times(&built, depth, "{'anyOf':[{'type':'null'},");
        add(&built, "{'required':['");
        add_times(&built, 50, "\xf0\x9f\x98\x80");
        add(&built, "']}");
        add_times(&built, depth, "]}");
        assert_int_equal(compile(&schema, &error), HUB_OK);
        assert_int_equal(hub_schema_validate(schema, HUB_STR("{}"), "v", &error), HUB_EINVAL);
        assert_true(hub_str_starts(hub_str_of(error.text), HUB_STR("v: fits none of the 2")));
        expect_utf8(error.text);
        hub_schema_destroy(schema);
    }
}

static void test_missing_value(void **state)
{
    (void)state;
    hub_error error = {.text = ""};
    hub_schema *schema = NULL;
    assert_int_equal(hub_schema_compile(HUB_STR("{}"), &schema, &error), HUB_OK);
    assert_int_equal(hub_schema_validate(schema, HUB_STR_EMPTY, "config", &error), HUB_EINVAL);
    assert_string_equal(error.text, "config: is missing");
    hub_schema_destroy(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_pattern_length),
        cmocka_unit_test(test_reference_walks),
        cmocka_unit_test(test_endless_recursion),
        cmocka_unit_test(test_exponential_composition),
        cmocka_unit_test(test_deep_value),
        cmocka_unit_test(test_large_values),
        cmocka_unit_test(test_repeated_comparison),
        cmocka_unit_test(test_slow_patterns),
        cmocka_unit_test(test_many_patterns),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_long_reasons),
        cmocka_unit_test(test_missing_value),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
