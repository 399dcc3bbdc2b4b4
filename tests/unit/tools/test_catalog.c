/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogs: which tools are kept, which are left out and why, limits. */
#include "catalog_support.h"

static bool has(const hub_catalog *catalog, const char *name)
{
    return hub_catalog_find(catalog, hub_str_of(name)) != NULL;
}

/* S3.50, S3.61 … S3.65: the definition is the given bytes, in the given order. */
static void test_bytes_are_kept(void **state)
{
    static const char FIRST[] =
        "{ \"x\":1e300,\"name\":\"b\", \"inputSchema\":{\"type\":\"object\"},"
        "\"outputSchema\":{},\"description\":\"\\u00e4\\ud83d\\ude00\" }";
    char json[512];
    (void)state;
    (void)snprintf(json, sizeof json, "[%s , %s]", FIRST, TOOL("a"));
    hub_catalog *catalog = parse(json);
    assert_int_equal(catalog->count, 2);
    assert_true(hub_str_is(catalog->items[0].json, FIRST));
    assert_true(hub_str_is(catalog->items[0].name, "b"));
    assert_true(hub_str_is(catalog->items[0].name_json, "\"b\""));
    assert_true(catalog->items[0].has_output_schema);
    assert_true(hub_str_is(catalog->items[1].name, "a"));
    assert_false(catalog->items[1].has_output_schema);
    assert_null(catalog->items[1].schema);
    hub_catalog_unref(catalog);
}

static void test_not_an_array(void **state)
{
    static const char *const TEXTS[] = {"{}", "null", "\"[]\"", "7", ""};
    reports r = {.count = 0};
    hub_catalog *catalog = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        hub_error why = {.text = ""};
        assert_int_equal(hub_catalog_parse(HUB_KIND_TOOL, hub_str_of(TEXTS[i]), true, keep_report,
                                           &r, &catalog, &why),
                         HUB_EINVAL);
        assert_non_null(strstr(why.text, "array"));
        assert_null(catalog);
    }
    hub_catalog *empty = parse("[]");
    assert_int_equal(empty->count, 0);
    assert_null(hub_catalog_find(empty, HUB_STR("a")));
    hub_catalog_unref(empty);
}

/* S3.11, P15: a bad tool is left out by name; its neighbours stay. */
static void test_bad_tools(void **state)
{
    static const struct {
        const char *tool;
        const char *reason;
    } CASES[] = {
        {"7", "has no name"},
        {"null", "has no name"},
        {"[\"name\"]", "has no name"},
        {"{}", "has no name"},
        {"{\"name\":7,\"inputSchema\":{\"type\":\"object\"}}", "\"7\" is left out: it has no name"},
        {"{\"name\":null,\"inputSchema\":{\"type\":\"object\"}}", "has no name"},
        {"{\"name\":\"\",\"inputSchema\":{\"type\":\"object\"}}", "its name is empty"},
        {"{\"name\":\" x\",\"inputSchema\":{\"type\":\"object\"}}",
         "its name begins or ends with a space"},
        {"{\"name\":\"x\\u0020\",\"inputSchema\":{\"type\":\"object\"}}",
         "its name begins or ends"},
        {"{\"name\":\"x\\ny\",\"inputSchema\":{\"type\":\"object\"}}", "control characters"},
        {"{\"name\":\"x\\u0000y\",\"inputSchema\":{\"type\":\"object\"}}", "control characters"},
        {"{\"name\":\"x\\u007f\",\"inputSchema\":{\"type\":\"object\"}}", "control characters"},
        {"{\"name\":\"x\"}", "\"x\" is left out: inputSchema must be an object, but it is missing"},
        {"{\"name\":\"x\",\"inputSchema\":true}", "inputSchema"},
        {"{\"name\":\"x\",\"inputSchema\":[]}", "inputSchema"},
        {"{\"name\":\"good\",\"inputSchema\":{\"type\":\"object\"}}",
         "\"good\" is left out: the name occurs twice"},
        {"{\"name\":\"g\\u006fod\",\"inputSchema\":{\"type\":\"object\"}}",
         "the name occurs twice"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char json[512];
        reports r = {.count = 0};
        (void)snprintf(json, sizeof json, "[%s,%s,%s]", TOOL("good"), CASES[i].tool, TOOL("last"));
        hub_catalog *catalog = parse_reporting(json, false, &r);
        assert_int_equal(catalog->count, 2);
        assert_true(has(catalog, "good") && has(catalog, "last"));
        assert_int_equal(r.count, 1);
        if (strstr(r.last, CASES[i].reason) == NULL) {
            fail_msg("%s: %s", CASES[i].tool, r.last);
        }
        hub_catalog_unref(catalog);
    }
}

/* DESIGN, One call: duplicates of a member that the hub reads are refused. A client would read the
 * last one, the hub reads the first: another name, another hint. */
static void test_members_twice(void **state)
{
    static const char *const BAD[] = {
        "{\"inputSchema\":{\"type\":\"object\"},\"inputSchema\":{\"type\":\"object\"},\"name\":"
        "\"x\"}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"name\":\"y\"}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"n\\u0061me\":\"y\"}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"inputSchema\":{\"type\":"
        "\"object\"}}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"outputSchema\":{},"
        "\"outputSchema\":{}}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":"
        "true},"
        "\"annotations\":{}}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":"
        "true,"
        "\"readOnlyHint\":false}}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{"
        "\"destructiveHint\":false,"
        "\"destructiveHint\":true}}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":{},\"_meta\":{}}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":{\"patchbay/"
        "tags\":[],\"patchbay/tags\":[]}}",
        "{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":{\"patchbay/"
        "category\":\"a\","
        "\"patchbay/category\":\"b\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        char json[512];
        reports r = {.count = 0};
        (void)snprintf(json, sizeof json, "[%s]", BAD[i]);
        hub_catalog *catalog = parse_reporting(json, false, &r);
        assert_int_equal(catalog->count, 0);
        assert_int_equal(r.count, 1);
        assert_non_null(strstr(r.last, "\"x\" is left out"));
        assert_non_null(strstr(r.last, "twice"));
        hub_catalog_unref(catalog);
    }
    hub_catalog *other = parse(
        "[{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"more\":\"1\",\"more\":\"2\"}]");
    assert_int_equal(other->count, 1); /* what nobody knows passes */
    hub_catalog_unref(other);
}

/* Names with escapes are decoded, and the slice stays what it was. */
static void test_escaped_names(void **state)
{
    hub_catalog *catalog = parse("[{\"n\\u0061me\":\"s\\u0065arch\\/\\ud83d\\ude00\","
                                 "\"inputSchema\":{\"type\":\"object\"}}," TOOL("plain") "]");
    (void)state;
    assert_int_equal(catalog->count, 2);
    assert_true(hub_str_is(catalog->items[0].name, "search/\xf0\x9f\x98\x80"));
    assert_true(hub_str_is(catalog->items[0].name_json, "\"s\\u0065arch\\/\\ud83d\\ude00\""));
    assert_true(has(catalog, "plain"));
    hub_catalog_unref(catalog);
}

/* A tool that is left out for its schema does not keep its name, nor confuse the list of names. */
static void test_schema_checked(void **state)
{
    static const char BAD[] = "{\"name\":\"x\",\"inputSchema\":{\"type\":\"nonsense\"}}";
    char json[1024];
    reports r = {.count = 0};
    (void)state;
    (void)snprintf(json, sizeof json, "[%s,%s,%s,%s,%s,%s]", BAD, TOOL("a"), TOOL("x"), BAD,
                   TOOL("b"), TOOL("a"));
    hub_catalog *catalog = parse_reporting(json, true, &r);
    assert_int_equal(catalog->count, 3);
    assert_true(has(catalog, "a") && has(catalog, "b") && has(catalog, "x"));
    assert_int_equal(r.count, 3);
    assert_non_null(catalog->items[0].schema);
    hub_catalog_unref(catalog);
    reports unchecked = {.count = 0};
    hub_catalog *trusting = parse_reporting(json, false, &unchecked);
    assert_int_equal(trusting->count, 3); /* x, a, b: the first x is kept */
    assert_int_equal(unchecked.count, 3);
    hub_catalog_unref(trusting);
}

/* B7, MCP server/tools: a name of 128 bytes, and of 129. However long, it is reported. */
static void test_name_limit(void **state)
{
    static const size_t LENGTHS[] = {HUB_LIMIT_TOOL_NAME_BYTES, HUB_LIMIT_TOOL_NAME_BYTES + 1,
                                     100000};
    (void)state;
    for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        reports r = {.count = 0};
        char *json = malloc(LENGTHS[i] + 64);
        assert_non_null(json);
        int head = snprintf(json, 64, "[{\"name\":\"");
        memset(json + head, 'x', LENGTHS[i]);
        (void)snprintf(json + head + LENGTHS[i], 48, "\",\"inputSchema\":{\"type\":\"object\"}}]");
        hub_catalog *catalog = parse_reporting(json, false, &r);
        bool fits = LENGTHS[i] <= HUB_LIMIT_TOOL_NAME_BYTES;
        assert_int_equal(catalog->count, fits);
        assert_int_equal(r.count, !fits);
        assert_true(strlen(r.last) < 512);
        assert_true(fits || strstr(r.last, "bytes, at most 128 are allowed") != NULL);
        hub_catalog_unref(catalog);
        free(json);
    }
}

/* An array of `count` times the same text; the caller frees it. */
static char *repeat(const char *head, const char *format, size_t count, const char *tail)
{
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX / 2);
    hub_buf_add(&out, hub_str_of(head));
    for (size_t i = 0; i < count; i++) {
        hub_json_add_comma(&out);
        char item[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(item, sizeof item, format, i);
#pragma GCC diagnostic pop
        hub_buf_add(&out, hub_str_of(item));
    }
    hub_buf_add(&out, hub_str_of(tail));
    char *text = hub_buf_take(&out);
    assert_non_null(text);
    return text;
}

/* B7: 64 tags, and 65. */
static void test_tag_limit(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        reports r = {.count = 0};
        char *json = repeat(
            "[{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":{\"patchbay/tags\":[",
            "\"t%zu\"", HUB_LIMIT_TAGS_PER_TOOL + extra, "]}}]");
        hub_catalog *catalog = parse_reporting(json, false, &r);
        assert_int_equal(catalog->count, 1 - extra);
        assert_int_equal(r.count, extra);
        hub_catalog_unref(catalog);
        free(json);
    }
}

/* B7: 10,000 tools, and 10,001; 16 MiB, and a byte more. */
static void test_catalog_limits(void **state)
{
    reports r = {.count = 0};
    (void)state;
    char *most = repeat("[", "{\"name\":\"t%zu\",\"inputSchema\":{\"type\":\"object\"}}",
                        HUB_LIMIT_TOOLS_PER_TOOLSET, "]");
    hub_catalog *catalog = parse_reporting(most, false, &r);
    assert_int_equal(catalog->count, HUB_LIMIT_TOOLS_PER_TOOLSET);
    assert_int_equal(r.count, 0);
    hub_catalog_unref(catalog);
    free(most);
    char *more = repeat("[", "{\"name\":\"t%zu\",\"inputSchema\":{\"type\":\"object\"}}",
                        HUB_LIMIT_TOOLS_PER_TOOLSET + 1, "]");
    hub_error why;
    hub_catalog *none = NULL;
    assert_int_equal(
        hub_catalog_parse(HUB_KIND_TOOL, hub_str_of(more), false, keep_report, &r, &none, &why),
        HUB_ELIMIT);
    assert_non_null(strstr(why.text, "10001"));
    free(more);

    size_t len = HUB_LIMIT_CATALOG_BYTES;
    char *big = malloc(len + 1);
    assert_non_null(big);
    memset(big, ' ', len + 1);
    big[0] = '[';
    big[len - 1] = ']';
    assert_int_equal(hub_catalog_parse(HUB_KIND_TOOL, (hub_str){.ptr = big, .len = len}, false,
                                       keep_report, &r, &none, &why),
                     HUB_OK);
    hub_catalog_unref(none);
    big[len - 1] = ' ';
    big[len] = ']';
    assert_int_equal(hub_catalog_parse(HUB_KIND_TOOL, (hub_str){.ptr = big, .len = len + 1}, false,
                                       keep_report, &r, &none, &why),
                     HUB_ELIMIT);
    free(big);
}

/* Equal is what would give the same catalog: the same bytes, checked alike. */
static void test_is_the_same(void **state)
{
    hub_catalog *catalog = parse("[" TOOL("a") "]");
    (void)state;
    const hub_catalog_rules none = {.compiles = false};
    const hub_catalog_rules compiles = {.compiles = true};
    const hub_catalog_rules validates = {.validates = true};
    const hub_catalog_rules overrides = {.overrides = "{}"};
    assert_true(hub_catalog_is(catalog, HUB_STR("[" TOOL("a") "]"), &none));
    assert_false(hub_catalog_is(catalog, HUB_STR("[" TOOL("a") "]"), &compiles));
    assert_false(hub_catalog_is(catalog, HUB_STR("[" TOOL("a") "]"), &validates));
    assert_false(hub_catalog_is(catalog, HUB_STR("[" TOOL("a") "]"), &overrides));
    assert_false(hub_catalog_is(catalog, HUB_STR("[" TOOL("b") "]"), &none));
    assert_false(hub_catalog_is(catalog, HUB_STR("[]"), &none));
    hub_catalog_unref(catalog);
}

static void test_references(void **state)
{
    hub_catalog *catalog = parse("[" TOOL("a") "]");
    (void)state;
    assert_ptr_equal(hub_catalog_ref(catalog), catalog);
    hub_catalog_unref(catalog);
    assert_true(has(catalog, "a"));
    hub_catalog_unref(catalog);
    hub_catalog_unref(NULL);
}

/* ---- resources, templates, prompts ----------------------------------------------------------- */

static hub_catalog *parse_kind(hub_kind kind, const char *item, reports *r)
{
    hub_catalog *catalog = NULL;
    char json[512];
    (void)snprintf(json, sizeof json, "[%s]", item);
    assert_int_equal(hub_json_check(hub_str_of(json), NULL, NULL), HUB_OK);
    assert_int_equal(
        hub_catalog_parse(kind, hub_str_of(json), false, keep_report, r, &catalog, NULL), HUB_OK);
    return catalog;
}

/* What identifies an item of each kind, and what makes it unusable. */
static void test_other_kinds(void **state)
{
    static const struct {
        hub_kind kind;
        const char *item;
        const char *reason; /* NULL: it is kept */
    } CASES[] = {
        {HUB_KIND_RESOURCE, "{\"uri\":\"k:\",\"name\":\"\",\"x\":1,\"x\":2}", NULL},
        {HUB_KIND_RESOURCE, "{\"uri\":\"k:\"}",
         "resource \"k:\" is left out: name must be a string, but it is missing"},
        {HUB_KIND_RESOURCE, "{\"uri\":\"k:\",\"name\":1}", "name must be a string, found 1"},
        {HUB_KIND_RESOURCE, "{\"name\":\"k\"}", "it has no uri"},
        {HUB_KIND_RESOURCE, "{\"uri\":\"\",\"name\":\"k\"}", "its uri is empty"},
        {HUB_KIND_RESOURCE, "{\"uri\":\"k:\",\"name\":\"k\",\"name\":\"k\"}", "twice"},
        {HUB_KIND_RESOURCE, "{\"uri\":\"k:\",\"name\":\"k\",\"uri\":\"l:\"}", "twice"},
        {HUB_KIND_RESOURCE, "{\"uri\":\"k:\",\"name\":\"1\"},{\"uri\":\"\\u006b:\",\"name\":\"2\"}",
         "the same occurs twice"},
        {HUB_KIND_TEMPLATE, "{\"uriTemplate\":\"k\",\"name\":\"t\"}", NULL},
        {HUB_KIND_TEMPLATE, "{\"uriTemplate\":\"k{a\",\"name\":\"t\"}",
         "resource template \"k{a\" is left out: its uriTemplate is not a URI template"},
        {HUB_KIND_TEMPLATE, "{\"uri\":\"k\",\"name\":\"t\"}", "it has no uriTemplate"},
        {HUB_KIND_TEMPLATE, "{\"uriTemplate\":\"k\"}", "name must be a string, but it is missing"},
        {HUB_KIND_PROMPT, "{\"name\":\"k\",\"uri\":1,\"uri\":2}", NULL},
        {HUB_KIND_PROMPT, "{\"title\":\"k\"}", "it has no name"},
        {HUB_KIND_PROMPT, "{\"name\":\"k\\n\"}", "control characters"},
        {HUB_KIND_PROMPT, "{\"name\":\"k\",\"name\":\"k\"}",
         "prompt \"k\" is left out: a member of its definition occurs twice"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        reports r = {.count = 0};
        hub_catalog *catalog = parse_kind(CASES[i].kind, CASES[i].item, &r);
        bool is_kept = CASES[i].reason == NULL;
        assert_int_equal(r.count, !is_kept);
        if (!is_kept && strstr(r.last, CASES[i].reason) == NULL) {
            fail_msg("%s: %s", CASES[i].item, r.last);
        }
        const char *name = CASES[i].kind == HUB_KIND_RESOURCE ? "k:" : "k";
        assert_int_equal(has(catalog, name), is_kept || strstr(CASES[i].reason, "same") != NULL);
        assert_int_equal(catalog->kind, CASES[i].kind);
        hub_catalog_unref(catalog);
    }
}

/* A URI may be longer than a name, up to a limit of its own. */
static void test_uri_limit(void **state)
{
    char *json = malloc(HUB_LIMIT_URI_BYTES + 64);
    (void)state;
    for (int extra = 0; extra <= 1; extra++) {
        reports r = {.count = 0};
        hub_catalog *catalog = NULL;
        int len = snprintf(json, HUB_LIMIT_URI_BYTES + 64, "[{\"uri\":\"x:%0*d\",\"name\":\"\"}]",
                           HUB_LIMIT_URI_BYTES + extra - 2, 0);
        assert_int_equal(hub_catalog_parse(HUB_KIND_RESOURCE,
                                           (hub_str){.ptr = json, .len = (size_t)len}, false,
                                           keep_report, &r, &catalog, NULL),
                         HUB_OK);
        assert_int_equal(catalog->count, 1 - extra);
        assert_int_equal(r.count, extra);
        hub_catalog_unref(catalog);
    }
    free(json);
}

/* What is worth a line of the log costs a server three bytes: so many are named, and the others counted. */
static void test_many_bad_tools(void **state)
{
    (void)state;
    for (size_t extra = 0; extra <= 2; extra += 2) {
        size_t count = HUB_CATALOG_TOLD + extra;
        reports r = {.count = 0};
        hub_catalog *catalog = NULL;
        hub_buf json;
        hub_buf_init(&json, 4096);
        for (size_t i = 0; i < count; i++) {
            hub_buf_add(&json, i == 0 ? HUB_STR("[{}") : HUB_STR(",{}"));
        }
        hub_buf_add_char(&json, ']');
        assert_int_equal(hub_catalog_parse(HUB_KIND_TOOL, hub_buf_str(&json), false, keep_report,
                                           &r, &catalog, NULL),
                         HUB_OK);
        assert_int_equal(catalog->count, 0);
        assert_int_equal(r.count, HUB_CATALOG_TOLD + (extra > 0));
        if (extra > 0) {
            assert_non_null(strstr(r.last, "so it is with 2 more tools"));
        }
        hub_catalog_unref(catalog);
        hub_buf_fini(&json);
    }
}

enum { RENAMED = 9, RENAMINGS = 2000 };

/* What settling is held against: again and again, until nobody has another's name. */
static void settle_slowly(const char own[RENAMED], char shown[RENAMED])
{
    for (bool is_quiet = false; !is_quiet;) {
        is_quiet = true;
        for (size_t i = 0; i < RENAMED; i++) {
            for (size_t k = 0; shown[i] != own[i] && k < RENAMED; k++) {
                if (k != i && shown[k] == shown[i]) {
                    shown[i] = own[i];
                    is_quiet = false;
                }
            }
        }
    }
}

/* Names that overrides give in chains, in circles, and several times. */
static void test_renamed(void **state)
{
    static const char OWN[] = "abcdefghi";
    static const char WANTED[] = "abcdefghij";
    (void)state;
    srandom(7);
    for (int round = 0; round < RENAMINGS; round++) {
        char shown[RENAMED];
        hub_buf json;
        hub_buf rules;
        hub_buf_init(&json, 4096);
        hub_buf_init(&rules, 4096);
        for (size_t i = 0; i < RENAMED; i++) {
            shown[i] = random() % 3 > 0 ? WANTED[random() % (RENAMED + 1)] : OWN[i];
            hub_buf_printf(&json, "%c{\"name\":\"%c\",\"inputSchema\":{\"type\":\"object\"}}",
                           i == 0 ? '[' : ',', OWN[i]);
            hub_buf_printf(&rules, "%c\"%c\":{\"name\":\"%c\"}", i == 0 ? '{' : ',', OWN[i],
                           shown[i]);
        }
        hub_buf_add_char(&json, ']');
        hub_buf_printf(&rules, "}%c", '\0');
        assert_true(hub_buf_ok(&json) && hub_buf_ok(&rules));
        reports r = {.count = 0};
        hub_catalog *catalog = NULL;
        const hub_catalog_rules overrides = {.overrides = rules.ptr};
        assert_int_equal(hub_catalog_read(HUB_KIND_TOOL, hub_buf_str(&json), &overrides,
                                          keep_report, &r, &catalog, NULL),
                         HUB_OK);
        size_t kept = 0;
        char before[RENAMED];
        memcpy(before, shown, sizeof before);
        settle_slowly(OWN, shown);
        for (size_t i = 0; i < RENAMED; i++) {
            assert_int_equal(catalog->items[i].shown.len, 1);
            assert_int_equal(catalog->items[i].shown.ptr[0], shown[i]);
            kept += before[i] != shown[i];
        }
        assert_int_equal(r.count, kept);
        hub_catalog_unref(catalog);
        hub_buf_fini(&json);
        hub_buf_fini(&rules);
    }
}

/* Parts that a list of 100 tools is read in, with so many rules. */
static size_t parts_with(size_t rule_count)
{
    hub_buf json;
    hub_buf rules;
    hub_buf_init(&json, SIZE_MAX / 4);
    hub_buf_init(&rules, SIZE_MAX / 4);
    for (size_t i = 0; i < 100; i++) {
        hub_buf_printf(&json, "%s{\"name\":\"t%zu\",\"inputSchema\":{\"type\":\"object\"}}",
                       i > 0 ? "," : "[", i);
    }
    hub_buf_add_char(&json, ']');
    for (size_t i = 0; i < rule_count; i++) {
        hub_buf_printf(&rules, "%s\"x%zu*\":{\"title\":\"T\"}", i > 0 ? "," : "{", i);
    }
    hub_buf_printf(&rules, "}%c", '\0');
    const hub_catalog_rules with = {.overrides = rule_count > 0 ? rules.ptr : NULL};
    reports r = {.count = 0};
    hub_catalog_reading *reading = NULL;
    hub_catalog *catalog = NULL;
    hub_error why = {.text = ""};
    size_t parts = 0;
    bool is_end = false;
    assert_true(hub_buf_ok(&json) && hub_buf_ok(&rules));
    assert_int_equal(hub_catalog_begin(HUB_KIND_TOOL, hub_buf_str(&json), &with, &reading, &why),
                     HUB_OK);
    for (; !is_end; parts++) {
        assert_int_equal(hub_catalog_go_on(reading, 16 * 1024, keep_report, &r, &is_end, &why),
                         HUB_OK);
    }
    assert_int_equal(hub_catalog_finish(reading, &catalog, &why), HUB_OK);
    assert_int_equal(catalog->count, 100);
    hub_catalog_unref(catalog);
    hub_buf_fini(&json);
    hub_buf_fini(&rules);
    return parts;
}

/* A turn of the loop asks no more rules than it has time for. */
static void test_rules_take_turns(void **state)
{
    (void)state;
    assert_int_equal(parts_with(0), 1);
    assert_int_equal(parts_with(64), 26);
    assert_int_equal(parts_with(HUB_LIMIT_OVERRIDES), 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_bad_tools), cmocka_unit_test(test_bytes_are_kept),
        cmocka_unit_test(test_not_an_array),   cmocka_unit_test(test_bad_tools),
        cmocka_unit_test(test_members_twice),  cmocka_unit_test(test_escaped_names),
        cmocka_unit_test(test_schema_checked), cmocka_unit_test(test_name_limit),
        cmocka_unit_test(test_tag_limit),      cmocka_unit_test(test_catalog_limits),
        cmocka_unit_test(test_is_the_same),    cmocka_unit_test(test_references),
        cmocka_unit_test(test_other_kinds),    cmocka_unit_test(test_uri_limit),
        cmocka_unit_test(test_renamed),        cmocka_unit_test(test_rules_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
