/* SPDX-License-Identifier: Apache-2.0 */
/* Whose templates a URI belongs to, and that no toolset pays for another's. */
#include "catalog_support.h"

#include "base/log.h"
#include "tools/exposure.h"
#include "tools/template_routes.h"
#include "tools/uri_template.h"

enum { TOOLSETS = 4, TEXT_BYTES = 4 * 1024 * 1024 };

static const char *const KEYS[TOOLSETS] = {"a", "b", "c", "d"};
static int owners[TOOLSETS];
static char log_text[4096];
static size_t log_lines;

static void keep_log(void *ctx, hub_str line)
{
    (void)ctx;
    log_lines++;
    (void)snprintf(log_text, sizeof log_text, HUB_STR_FMT, HUB_STR_ARG(line));
}

static void add_template(hub_buf *list, const char *text)
{
    hub_json_add_comma(list);
    hub_buf_printf(list, "{\"name\":\"n\",\"uriTemplate\":\"%s\"}", text);
}

/* Templates that have every place of a long URI looked at, for each of them. */
static void add_hostile(hub_buf *list)
{
    static const char *const OPERATORS[] = {"{a}", "{+a}", "{?a}", "{/a}", "{.a}", "a", "{&a}"};
    for (unsigned i = 0; i < 2401; i++) {
        char text[128] = "";
        for (unsigned n = 0, digits = i; n < 16; n++, digits = digits / 7 + digits % 7 * 2401) {
            size_t len = strlen(text);
            (void)snprintf(text + len, sizeof text - len, "%s", OPERATORS[digits % 7]);
        }
        add_template(list, text);
    }
}

/* An exposure of toolsets a, b, …, each with a list: its templates, apart by spaces, or NULL for those
 * that are hostile. */
static hub_exposure *make(const char *const *lists, size_t count)
{
    static const hub_exposure_rules NO_POLICIES;
    hub_naming_rule rule = {.naming = HUB_NAMING_PREFIX,
                            .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_source sources[TOOLSETS] = {{.native = false}};
    reports left_out = {.count = 0};
    hub_base *base = NULL;
    hub_exposure *exposure = NULL;
    for (size_t i = 0; i < count; i++) {
        hub_buf json;
        char words[1024];
        char *rest = words;
        hub_buf_init(&json, TEXT_BYTES);
        hub_buf_add_char(&json, '[');
        (void)snprintf(words, sizeof words, "%s", lists[i] != NULL ? lists[i] : "");
        for (char *word; (word = strsep(&rest, " ")) != NULL && word[0] != '\0';) {
            add_template(&json, word);
        }
        if (lists[i] == NULL) {
            add_hostile(&json);
        }
        hub_buf_add_char(&json, ']');
        assert_true(hub_buf_ok(&json));
        sources[i] = (hub_source){.toolset = hub_str_of(KEYS[i]), .owner = &owners[i]};
        assert_int_equal(hub_catalog_parse(HUB_KIND_TEMPLATE, hub_buf_str(&json), false,
                                           keep_report, &left_out,
                                           &sources[i].lists[HUB_KIND_TEMPLATE], NULL),
                         HUB_OK);
        hub_buf_fini(&json);
    }
    assert_int_equal(hub_base_create(&rule, sources, count, NULL, &base, NULL), HUB_OK);
    assert_int_equal(hub_exposure_create(base, &NO_POLICIES, sources, count, keep_report, &left_out,
                                         &exposure, NULL),
                     HUB_OK);
    hub_base_unref(base);
    for (size_t i = 0; i < count; i++) {
        hub_catalog_unref(sources[i].lists[HUB_KIND_TEMPLATE]);
    }
    return exposure;
}

/* Toolsets stand in the order of their keys, and became active so. */
static bool is_before(const void *ctx, size_t part, size_t other)
{
    (void)ctx;
    return part < other;
}

/* What a URI belongs to, as "toolset:template"; "" for nothing. */
static const char *find(hub_exposure *exposure, const void *owner, hub_str uri, size_t *steps)
{
    static char text[256];
    const hub_entry *entry = NULL;
    assert_int_equal(hub_template_routes_find(hub_exposure_shown(exposure, HUB_KIND_TEMPLATE),
                                              owner, uri, is_before, NULL, steps, &entry),
                     HUB_OK);
    (void)snprintf(text, sizeof text, HUB_STR_FMT,
                   HUB_STR_ARG(entry != NULL ? entry->canonical : HUB_STR_EMPTY));
    return text;
}

static void test_claims(void **state)
{
    static const char *const LISTS[] = {"x:{zz} y:{+p}", "x:{aa} x:{zz} y:{q}/e only:{b}",
                                        "x:1{n} y:{+p}"};
    hub_exposure *exposure = make(LISTS, 3);
    (void)state;
    assert_string_equal(find(exposure, NULL, HUB_STR("x:7"), NULL), "a:x:{zz}");
    assert_string_equal(find(exposure, NULL, HUB_STR("x:12"), NULL), "c:x:1{n}");
    assert_string_equal(find(exposure, NULL, HUB_STR("y:d/e"), NULL), "b:y:{q}/e");
    assert_string_equal(find(exposure, NULL, HUB_STR("y:d/f"), NULL), "a:y:{+p}");
    assert_string_equal(find(exposure, NULL, HUB_STR("x:7/8"), NULL),
                        "a:x:{zz}"); /* nothing else */
    assert_string_equal(find(exposure, NULL, HUB_STR("z:7"), NULL), "");
    /* Of one toolset alone, also what is exposed with the toolset in it. */
    assert_string_equal(find(exposure, &owners[1], HUB_STR("x:12"), NULL), "b:x:{aa}");
    assert_string_equal(find(exposure, &owners[2], HUB_STR("y:d/f"), NULL), "c:y:{+p}");
    assert_string_equal(find(exposure, &owners[2], HUB_STR("only:1"), NULL), "");
    assert_string_equal(find(exposure, &owners[3], HUB_STR("x:1"), NULL), "");
    hub_exposure_destroy(exposure);
    exposure = make(LISTS, 0);
    assert_string_equal(find(exposure, NULL, HUB_STR("x:7"), NULL), "");
    hub_exposure_destroy(exposure);
}

/* The longest URI, and one that is too long. */
static void test_long(void **state)
{
    static const char *const LISTS[] = {"{+all}"};
    static char uri[HUB_LIMIT_URI_BYTES + 1];
    hub_exposure *exposure = make(LISTS, 1);
    (void)state;
    memset(uri, 'u', sizeof uri);
    hub_str fits = {.ptr = uri, .len = HUB_LIMIT_URI_BYTES};
    assert_string_equal(find(exposure, NULL, fits, NULL), "a:{+all}");
    assert_string_equal(find(exposure, NULL, (hub_str){.ptr = uri, .len = sizeof uri}, NULL), "");
    hub_exposure_destroy(exposure);
}

/* One whose templates cost too much has none; the others have theirs, and it is told once. */
static void test_hostile(void **state)
{
    static const char *const LISTS[] = {NULL, "{+all}/a", NULL, "{all}"};
    static char text[HUB_LIMIT_URI_BYTES];
    hub_exposure *exposure = make(LISTS, 4);
    hub_str uri = {.ptr = text, .len = 1500};
    (void)state;
    memset(text, 'a', sizeof text);
    text[uri.len - 2] = '/';
    log_lines = 0;
    hub_log_capture(keep_log, NULL);
    for (int i = 0; i < 3; i++) {
        size_t steps = 0;
        assert_string_equal(find(exposure, NULL, uri, &steps), "b:{+all}/a");
        size_t most = hub_uri_steps(uri.len) + HUB_URI_WORDS + 1;
        assert_in_range(steps, 1,
                        most * 4); /* of each toolset, and once: there is no need to be lax */
    }
    assert_int_equal(log_lines, 1); /* the third goes by other URIs: its toolset is in them */
    assert_non_null(strstr(log_text, "resource.templates_too_costly"));
    assert_non_null(strstr(log_text, "toolset="));
    hub_log_capture(NULL, NULL);
    hub_exposure_destroy(exposure);
}

/* What the longest subscription costs, of ordinary templates: a few steps for each byte of it. */
static void test_request(void **state)
{
    static const char *const LISTS[] = {"t:{a}-{b}-{c}/x t:{a}.{b}.{c}/y {+a}-{+b}-{+c}/z",
                                        "{+a}x{+b}x{+c} {a}{b}{c}{d}{e}{f} {+a}{?b}{#c}"};
    static char text[HUB_LIMIT_URI_BYTES];
    hub_exposure *exposure = make(LISTS, 2);
    size_t bytes = 0;
    size_t steps = 0;
    (void)state;
    memset(text, '-', sizeof text);
    for (size_t i = 0; i < HUB_LIMIT_SUBSCRIPTIONS; i++) {
        (void)find(exposure, NULL, (hub_str){.ptr = text, .len = sizeof text - i}, &steps);
        bytes += sizeof text - i;
    }
    assert_in_range(steps, 1, 20 * bytes);
    hub_exposure_destroy(exposure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
