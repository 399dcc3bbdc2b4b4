/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which revisions a definition may be listed. Every shape is held against the official schemas
 * in tests/definitions; here is what a catalog makes of it, and what a reason says.
 */
#include "catalog_support.h"
#include "tools/definition.h"

#define EVERY  HUB_REVISIONS_EVERY
#define LEGACY HUB_REVISIONS_LEGACY
#define MODERN ((uint8_t)(HUB_REVISIONS_EVERY & ~HUB_REVISIONS_LEGACY))

static hub_definition judge(hub_kind kind, const char *json, hub_error *why)
{
    assert_int_equal(hub_json_check(hub_str_of(json), NULL, NULL), HUB_OK);
    return hub_definition_check(kind, hub_str_of(json), why);
}

static void test_masks(void **state)
{
    (void)state;
    assert_int_equal(EVERY, LEGACY | MODERN);
    assert_int_equal(LEGACY & MODERN, 0);
    for (int r = HUB_REVISION_2024_11_05; r <= HUB_REVISION_NEWEST; r++) {
        bool is_legacy = hub_revision_era((hub_revision)r) == HUB_ERA_LEGACY;
        assert_int_equal((LEGACY & HUB_REVISION_BIT(r)) != 0, is_legacy);
        assert_int_equal((MODERN & HUB_REVISION_BIT(r)) != 0, !is_legacy);
    }
    assert_int_equal(EVERY & HUB_REVISION_BIT(HUB_REVISION_NONE), 0);
}

/* A reason names the place, what was wanted, and what was found. */
static void test_reasons(void **state)
{
    static const struct {
        hub_kind kind;
        const char *json;
        const char *reason;
    } CASES[] = {
        {HUB_KIND_TOOL, TOOL_WITH("a", "\"description\":5,"),
         "description must be a string, found 5"},
        {HUB_KIND_TOOL, TOOL_WITH("a", "\"title\":null,"), "title must be a string, found null"},
        {HUB_KIND_TOOL, "{\"name\":\"a\",\"inputSchema\":{}}",
         "inputSchema.type must be \"object\", but it is missing"},
        {HUB_KIND_TOOL, "{\"name\":\"a\",\"inputSchema\":{\"type\":\"string\"}}",
         "inputSchema.type must be \"object\", found \"string\""},
        {HUB_KIND_TOOL, "{\"name\":\"a\"}", "inputSchema must be an object, but it is missing"},
        {HUB_KIND_TOOL, TOOL_WITH("a", "\"annotations\":{\"readOnlyHint\":\"yes\"},"),
         "annotations.readOnlyHint must be true or false, found \"yes\""},
        {HUB_KIND_TOOL, TOOL_WITH("a", "\"icons\":[{\"src\":\"x\"},{}],"),
         "icons[1].src must be a string, but it is missing"},
        {HUB_KIND_TOOL, TOOL_WITH("a", "\"icons\":{},"), "icons must be an array, found an object"},
        {HUB_KIND_TOOL,
         TOOL_WITH("a", "\"outputSchema\":\"a text of more than thirty-two bytes\","),
         "outputSchema must be an object, found a string"},
        {HUB_KIND_TOOL, TOOL_WITH("a", "\"_meta\":[],"), "_meta must be an object, found an array"},
        {HUB_KIND_TOOL, "[1]", "the definition must be an object, found an array"},
        {HUB_KIND_PROMPT, "{\"name\":\"a\",\"arguments\":[{\"name\":\"b\",\"required\":\"yes\"}]}",
         "arguments[0].required must be true or false, found \"yes\""},
        {HUB_KIND_RESOURCE, "{\"uri\":\"x:a\",\"name\":\"a\",\"annotations\":{\"priority\":1.5}}",
         "annotations.priority must be a number from 0 to 1, found 1.5"},
        {HUB_KIND_RESOURCE,
         "{\"uri\":\"x:a\",\"name\":\"a\",\"annotations\":{\"audience\":[\"user\",\"all\"]}}",
         "annotations.audience[1] must be \"user\" or \"assistant\", found \"all\""},
        {HUB_KIND_TEMPLATE,
         "{\"uriTemplate\":\"a\",\"name\":\"a\",\"annotations\":{\"lastModified\":\"now\"}}",
         "annotations.lastModified must be a date and time such as \"2026-07-28T12:00:00Z\", "
         "found \"now\""},
        {HUB_KIND_RESOURCE, "{\"uri\":\"note://my note\",\"name\":\"a\"}",
         "uri must be a URI such as \"file:///notes.md\", found \"note://my note\""},
        {HUB_KIND_RESOURCE, "{\"uri\":\"x:a\",\"name\":\"a\",\"size\":1024.0}",
         "size must be a number of bytes in digits, found 1024.0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_error why = {.text = ""};
        hub_definition found = judge(CASES[i].kind, CASES[i].json, &why);
        assert_int_equal(found.valid, 0);
        assert_int_equal(found.valid_without_output, 0);
        assert_string_equal(why.text, CASES[i].reason);
        found = judge(CASES[i].kind, CASES[i].json, NULL);
        assert_int_equal(found.valid, 0);
    }
}

/* The reason is about what no revision allows, not about what only some do not. */
static void test_reason_of_several(void **state)
{
    hub_error why = {.text = ""};
    hub_definition found =
        judge(HUB_KIND_TOOL,
              "{\"inputSchema\":{\"properties\":{\"a\":true},\"type\":\"object\"},"
              "\"description\":5,\"name\":\"a\",\"title\":5}",
              &why);
    (void)state;
    assert_int_equal(found.valid, 0);
    assert_string_equal(why.text, "description must be a string, found 5");
}

/* What a list leaves out for older revisions: the member with one comma, wherever it stands. */
static void test_output_member(void **state)
{
    static const struct {
        const char *before;
        const char *member;
        const char *after;
    } CASES[] = {
        {"{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}",
         " , \"outputSchema\" : {\"type\":\"array\"}", " }"},
        {"{ ", "\"outputSchema\":{\"type\":\"array\"} , ",
         "\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}"},
        {"{\"name\":\"a\"", ",\"output\\u0053chema\":{\"type\":\"array\",\"x\":\"},{\"}",
         ",\"inputSchema\":{\"type\":\"object\"}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char json[256];
        (void)snprintf(json, sizeof json, "%s%s%s", CASES[i].before, CASES[i].member,
                       CASES[i].after);
        hub_definition found = judge(HUB_KIND_TOOL, json, NULL);
        assert_int_equal(found.valid, MODERN);
        assert_int_equal(found.valid_without_output, EVERY);
        hub_str wanted = hub_str_trim(hub_str_of(CASES[i].member));
        assert_non_null(found.output_member.ptr);
        assert_true(hub_str_eq(hub_str_trim(found.output_member), wanted));
    }
    hub_definition none = judge(HUB_KIND_TOOL, TOOL("a"), NULL);
    assert_int_equal(none.output_member.len, 0);
    assert_int_equal(none.valid_without_output, EVERY);
}

/* A server's mistake is no translation: what no revision allows is not listed without it. */
static void test_wrong_output(void **state)
{
    static const char *const WRONG[] = {"null", "5", "true", "[]", "\"object\""};
    (void)state;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        char json[256];
        (void)snprintf(json, sizeof json,
                       "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":%s}",
                       WRONG[i]);
        hub_definition found = judge(HUB_KIND_TOOL, json, NULL);
        assert_int_equal(found.valid | found.valid_without_output, 0);
    }
}

#define SCHEMA_TWICE                                                                               \
    "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"properties\":{},\"properties\":{}}}"

/* Some clients refuse a list in which a member of a structure is there twice, and others read either of them. */
static void test_twice(void **state)
{
    static const char *const TWICE[] = {
        TOOL_WITH("a", "\"title\":\"A\",\"title\":\"B\","),
        TOOL_WITH("a", "\"annotations\":{\"title\":\"A\",\"titl\\u0065\":\"A\"},"),
        TOOL_WITH("a", "\"icons\":[{\"src\":\"a\",\"src\":\"b\"}],"),
        TOOL_WITH("a",
                  "\"outputSchema\":{\"type\":\"object\"},\"outputSchema\":{\"type\":\"object\"},"),
        SCHEMA_TWICE,
    };
    (void)state;
    for (size_t i = 0; i < sizeof TWICE / sizeof TWICE[0]; i++) {
        hub_error why = {.text = ""};
        hub_definition found = judge(HUB_KIND_TOOL, TWICE[i], &why);
        assert_int_equal(found.valid | found.valid_without_output, 0);
        assert_non_null(strstr(why.text, " occurs twice"));
    }
}

/* What parsers of clients refuse costs a list, wherever in the definition it stands, and of whatever kind that is. */
static void test_unreadable(void **state)
{
    static const struct {
        const char *value;
        const char *wrong; /* NULL: nothing */
    } CASES[] = {
        {"\"\\ud83d\\ude00 \\\\ud800 \\\"\\n\\uffff\\ud7ff\\ue000\"", NULL},
        {"\"\\ud800\"", "half of a surrogate pair"},
        {"\"\\uDFFF\"", "half of a surrogate pair"},
        {"\"\\ud83dx\\ude00\"", "half of a surrogate pair"},
        {"\"\\ud83d\\ud83d\\ude00\"", "half of a surrogate pair"},
        {"{\"\\udbff\":1}", "half of a surrogate pair"},
        {"[1.10,1e308,1E+2,-0,{\"9\":\"9\"},\"1e400\",\"\\\"1e400\",0e400,1e-400]", NULL},
        {"1.7976931348623158e308", NULL},
        {"1.7976931348623159e308", "a number beyond 1.8e308"},
        {"{\"a\\\\\":[0,-1e400]}", "a number beyond 1.8e308"},
        {"1E+99999999999999999999", "a number beyond 1.8e308"},
        {"0.1e310", "a number beyond 1.8e308"},
        {"0.01e310", NULL},
    };
    static const char *const AROUND[HUB_KINDS] = {
        [HUB_KIND_TOOL] = "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},\"x\":",
        [HUB_KIND_RESOURCE] = "{\"name\":\"a\",\"uri\":\"x:a\",\"x\":",
        [HUB_KIND_TEMPLATE] = "{\"name\":\"a\",\"uriTemplate\":\"x:a\",\"x\":",
        [HUB_KIND_PROMPT] = "{\"name\":\"a\",\"x\":",
    };
    (void)state;
    for (size_t i = 0; i < HUB_KINDS * sizeof CASES / sizeof CASES[0]; i++) {
        const char *wrong = CASES[i / HUB_KINDS].wrong;
        char json[200];
        hub_error why = {.text = ""};
        (void)snprintf(json, sizeof json, "%s%s}", AROUND[i % HUB_KINDS],
                       CASES[i / HUB_KINDS].value);
        hub_definition found = judge((hub_kind)(i % HUB_KINDS), json, &why);
        assert_int_equal(found.valid, wrong == NULL ? EVERY : 0);
        assert_int_equal(found.valid_without_output, found.valid);
        assert_non_null(strstr(why.text, wrong != NULL ? wrong : ""));
    }
}

/* The digits of the largest double are 309; of a fraction there may be as many as one likes. */
static void test_digits(void **state)
{
    static const struct {
        int zeros;
        const char *end;
        bool is_wrong;
    } CASES[] = {
        {307, "", false},         {308, "", true},           {5000, "", true},
        {306, "9.5", false},      {307, "9.5", true},        {5000, "e-4800", false},
        {5000, ".5e-4692", true}, {5000, ".5e-4693", false},
    };
    char json[6000];
    (void)state;
    for (size_t i = 0; i < 2 * sizeof CASES / sizeof CASES[0]; i++) {
        hub_error why = {.text = ""};
        (void)snprintf(json, sizeof json, "{\"name\":\"a\",\"x\":%s2%0*d%s}", i % 2 == 0 ? "" : "-",
                       CASES[i / 2].zeros, 0, CASES[i / 2].end);
        bool is_wrong = CASES[i / 2].is_wrong;
        assert_int_equal(judge(HUB_KIND_PROMPT, json, &why).valid, is_wrong ? 0 : EVERY);
        assert_non_null(strstr(why.text, is_wrong ? "a number beyond 1.8e308" : ""));
    }
    (void)snprintf(json, sizeof json, "{\"name\":\"a\",\"x\":\"\\\"\\\\1%0*d\"}", 5000, 0);
    assert_int_equal(judge(HUB_KIND_PROMPT, json, NULL).valid, EVERY); /* a text of digits */
}

/* An infinite number is found wherever it stands; what only looks like one does no harm. */
static void test_exponents_anywhere(void **state)
{
    static const char *const INFINITE[] = {"1e400", "1E400", "-2.5e+309", "[0,1e999]"};
    static const char *const FINITE[] = {"1e300", "\"1e400\"", "\"a1e400\\\"1e400\""};
    char json[800];
    (void)state;
    for (int pad = 0; pad < 700; pad += pad < 70 ? 1 : 41) {
        for (size_t i = 0; i < sizeof INFINITE / sizeof INFINITE[0]; i++) {
            (void)snprintf(json, sizeof json, "{\"name\":\"a\",\"p\":\"%*s\",\"x\":%s}", pad, "",
                           INFINITE[i]);
            assert_int_equal(judge(HUB_KIND_PROMPT, json, NULL).valid, 0);
        }
        for (size_t i = 0; i < sizeof FINITE / sizeof FINITE[0]; i++) {
            (void)snprintf(json, sizeof json, "{\"name\":\"a\",\"x\":%s,\"p\":\"%*s\"}", FINITE[i],
                           pad, "");
            assert_int_equal(judge(HUB_KIND_PROMPT, json, NULL).valid, EVERY);
        }
    }
}

/* An outputSchema that takes too long to read counts as one that cannot be compiled. */
static void test_output_limit(void **state)
{
    static const char HEAD[] = "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},"
                               "\"outputSchema\":{\"type\":\"object\",\"description\":\"";
    static const char TAIL[] = "\"}}";
    static const char SCHEMA[] = "{\"type\":\"object\",\"description\":\"\"}";
    size_t room = HUB_LIMIT_OUTPUT_SCHEMA_BYTES - (sizeof SCHEMA - 1);
    char *json = malloc(sizeof HEAD + room + sizeof TAIL + 1);
    (void)state;
    assert_non_null(json);
    for (size_t more = 0; more <= 1; more++) {
        size_t len = sizeof HEAD - 1;
        memcpy(json, HEAD, len);
        memset(json + len, 'x', room + more);
        len += room + more;
        memcpy(json + len, TAIL, sizeof TAIL - 1);
        len += sizeof TAIL - 1;
        hub_definition found =
            hub_definition_check(HUB_KIND_TOOL, (hub_str){.ptr = json, .len = len}, NULL);
        assert_int_equal(found.valid, more == 0 ? EVERY : MODERN);
        assert_int_equal(found.valid_without_output, EVERY);
    }
    free(json);
}

/* Judge a tool with an outputSchema of which a member is repeated. */
static hub_definition judge_repeated(const char *begin, const char *member, const char *end,
                                     size_t times)
{
    hub_buf json;
    hub_buf_init(&json, 1u << 20);
    hub_buf_printf(&json,
                   "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},"
                   "\"outputSchema\":{\"type\":\"object\",%s{",
                   begin);
    for (size_t i = 0; i < times; i++) {
        hub_buf_printf(&json, "%s,", member);
    }
    hub_buf_printf(&json, "%s}}}", end);
    hub_buf_add_char(&json, '\0');
    hub_definition found = judge(HUB_KIND_TOOL, json.ptr, NULL);
    hub_buf_fini(&json);
    return found;
}

/* A schema is read as often as ordinary ones need it, not once for each of thousands of members. What references to
 * the root cost, tests/fuzz/work counts. */
static void test_output_readings(void **state)
{
    static const struct {
        const char *begin;
        const char *member;
        const char *end;
        size_t fit;
        size_t too_many; /* 0: any number is right */
    } CASES[] = {
        {"\"properties\":", "\"p\":{\"$ref\":\"#\"}", "\"q\":{}", 2000, 0},
        {"\"$defs\":{\"x\":{}},\"properties\":", "\"p\":{\"$ref\":\"#/$defs/x\"}", "\"q\":{}", 2000,
         0},
        {"\"properties\":", "\"p\":{\"$ref\":\"#/properties\"}", "\"q\":{}", 20, 100},
        {"\"properties\":", "\"p\":{\"nullable\":true,\"type\":\"null\"}", "\"q\":{}", 2000, 0},
        {"\"not\":", "\"nullable\":true", "\"type\":\"null\"", 2000, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const char *begin = CASES[i].begin;
        const char *member = CASES[i].member;
        hub_definition found = judge_repeated(begin, member, CASES[i].end, CASES[i].fit);
        assert_int_equal(found.valid, EVERY);
        if (CASES[i].too_many > 0) {
            found = judge_repeated(begin, member, CASES[i].end, CASES[i].too_many);
            assert_int_equal(found.valid, MODERN);
            assert_int_equal(found.valid_without_output, EVERY);
        }
    }
}

/* What a catalog keeps of it; and that one bad definition costs its neighbours nothing. */
static void test_catalog(void **state)
{
    reports r = {.count = 0};
    hub_catalog *catalog = parse_reporting(
        "[" TOOL("a") "," TOOL_WITH("bad", "\"description\":5,") "," TOOL_WITH(
            "b",
            "\"outputSchema\":{\"type\":\"array\"},") ","
                                                      "{\"name\":\"c\",\"inputSchema\":{\"type\":"
                                                      "\"object\",\"properties\":{\"x\":true}}}]",
        false, &r);
    (void)state;
    assert_int_equal(r.count, 1);
    assert_string_equal(r.last, "tool \"bad\" is left out: description must be a string, found 5");
    assert_int_equal(catalog->count, 3);
    assert_int_equal(catalog->items[0].valid, EVERY);
    assert_int_equal(catalog->items[0].valid_without_output, EVERY);
    assert_int_equal(catalog->items[0].output_member.len, 0);
    assert_int_equal(catalog->items[1].valid, MODERN);
    assert_int_equal(catalog->items[1].valid_without_output, EVERY);
    assert_true(
        hub_str_is(catalog->items[1].output_member, ",\"outputSchema\":{\"type\":\"array\"}"));
    assert_int_equal(catalog->items[2].valid, MODERN);
    assert_int_equal(catalog->items[2].valid_without_output, MODERN);
    hub_catalog_unref(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_reason_of_several),
        cmocka_unit_test(test_output_member),
        cmocka_unit_test(test_wrong_output),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_exponents_anywhere),
        cmocka_unit_test(test_output_limit),
        cmocka_unit_test(test_output_readings),
        cmocka_unit_test(test_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
