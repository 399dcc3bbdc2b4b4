/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown in each revision of the protocol: lists, pages, names, serials; and what it costs. */
#include "section_support.h"

#include "tools/base_internal.h"
#include "tools/route.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern size_t __sanitizer_get_current_allocated_bytes(void);
#define ALLOCATED() __sanitizer_get_current_allocated_bytes()
#else
#include <malloc.h>
#define ALLOCATED() (mallinfo2().uordblks + mallinfo2().hblkhd)
#endif

#define SCHEMA "\"inputSchema\":{\"type\":\"object\"}"

/* Which revisions list it: all; the older ones without its outputSchema; the newest alone. */
#define GOOD   "{\"name\":\"good\"," SCHEMA "}"
#define ARRAY  "{\"name\":\"array\"," SCHEMA ",\"outputSchema\":{\"type\":\"array\"}}"
#define MODERN NEWER("modern")

static const hub_revision EVERY[] = {HUB_REVISION_2024_11_05, HUB_REVISION_2025_03_26,
                                     HUB_REVISION_2025_06_18, HUB_REVISION_2025_11_25,
                                     HUB_REVISION_2026_07_28};
enum { COUNT = sizeof EVERY / sizeof EVERY[0] };

static hub_shown *in(const hub_exposure *exposure, hub_revision revision)
{
    return hub_shown_in(hub_exposure_shown(exposure, HUB_KIND_TOOL), revision);
}

static void expect_in(const hub_exposure *exposure, hub_revision revision, const char *want)
{
    char *bytes = page_text(in(exposure, revision), (hub_shown_place){.part = 0}, SIZE_MAX);
    assert_string_equal(bytes, want);
    free(bytes);
}

static size_t in_table(const hub_exposure *exposure)
{
    return HASH_COUNT(hub_exposure_base(exposure)->shown[HUB_KIND_TOOL].first);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void test_each_revision(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    (void)add(&s, "up", "[" GOOD "," ARRAY "," MODERN "]", false);
    hub_exposure *exposure = build(&s);
    expect_in(exposure, HUB_REVISION_NONE, ARRAY "," GOOD "," MODERN);
    for (size_t i = 0; i < COUNT; i++) {
        bool is_modern = EVERY[i] == HUB_REVISION_2026_07_28;
        expect_in(exposure, EVERY[i],
                  is_modern ? ARRAY "," GOOD "," MODERN : "{\"name\":\"array\"," SCHEMA "}," GOOD);
    }
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* The member is cut out with one comma wherever it stands, also where the name is another one. */
static void test_cut(void **state)
{
    static const char *const CASES[][2] = {
        {"{ \"outputSchema\" : {\"type\":\"array\"} , \"name\" : \"a\", " SCHEMA " }",
         "{ \"name\" : \"up__a\", " SCHEMA " }"},
        {"{ \"name\" : \"a\" , \"outputSchema\" : {\"type\":\"array\"} , " SCHEMA " }",
         "{ \"name\" : \"up__a\" , " SCHEMA " }"},
        {"{" SCHEMA ",\"name\":\"a\",\"outputSchema\":{\"type\":\"array\"}}",
         "{" SCHEMA ",\"name\":\"up__a\"}"},
        {"{" SCHEMA ",\"output\\u0053chema\":{\"type\":\"array\"},\"name\":\"a\"}",
         "{" SCHEMA ",\"name\":\"up__a\"}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        setup s = make_setup(HUB_NAMING_PREFIX);
        char list[512];
        (void)snprintf(list, sizeof list, "[%s]", CASES[i][0]);
        (void)add(&s, "up", list, false);
        hub_exposure *exposure = build(&s);
        expect_in(exposure, HUB_REVISION_2025_11_25, CASES[i][1]);
        hub_exposure_destroy(exposure);
        clear(&s);
    }
}

/* A list of tools NAME000 …; every `step`-th of them has a schema that older revisions do without. */
static char *many(size_t count, size_t step)
{
    hub_buf list;
    hub_buf_init(&list, SIZE_MAX / 4);
    for (size_t i = 0; i < count; i++) {
        hub_buf_printf(&list, "%s{\"name\":\"t%05zu\"," SCHEMA "%s}", i == 0 ? "[" : ",", i,
                       i % step == 0 ? ",\"outputSchema\":{\"type\":\"array\"}" : "");
    }
    hub_buf_add_char(&list, ']');
    hub_buf_add_char(&list, '\0');
    return hub_buf_take(&list);
}

/* The same bytes, whatever the size of the page: up to as many cuts as a page has spans, and more. */
static void test_pages(void **state)
{
    enum { MANY_TOOLS = 3 * HUB_SHOWN_SPANS };
    setup s = make_setup(HUB_NAMING_NONE);
    setup plain = make_setup(HUB_NAMING_NONE);
    (void)state;
    char *list = many(MANY_TOOLS, 1);
    char *without = many(MANY_TOOLS, MANY_TOOLS + 1);
    without[0] = '['; /* the first has one: cut it by hand */
    char *first = strstr(without, ",\"outputSchema\"");
    char *end = strstr(first, "}}");
    memmove(first, end + 1, strlen(end + 1) + 1);
    (void)add(&s, "up", list, false);
    (void)add(&plain, "up", without, false);
    hub_exposure *exposure = build(&s);
    hub_exposure *wanted = build(&plain);
    hub_shown *legacy = in(exposure, HUB_REVISION_2025_11_25);
    char *want = list_text(wanted);
    assert_true(hub_shown_equal(legacy, hub_exposure_shown(wanted, HUB_KIND_TOOL)));
    assert_true(hub_shown_equal(hub_exposure_shown(wanted, HUB_KIND_TOOL), legacy));
    assert_false(hub_shown_equal(legacy, hub_exposure_shown(exposure, HUB_KIND_TOOL)));
    for (size_t size = 1; size <= MANY_TOOLS + 1; size++) {
        hub_shown_place from = {.part = 0};
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 4);
        for (bool is_end = false; !is_end;) {
            hub_shown_page page;
            assert_int_equal(hub_shown_take(legacy, from, size, &page), HUB_OK);
            hub_buf_add(&text, text.len > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
            for (size_t i = 0; i < page.span_count; i++) {
                hub_buf_add(&text, page.spans[i]);
            }
            is_end = page.is_end;
            from = hub_shown_after(legacy, page.last->canonical);
            hub_shown_page_fini(&page);
        }
        assert_true(hub_str_is(hub_buf_str(&text), want));
        hub_buf_fini(&text);
    }
    free(want);
    free(list);
    free(without);
    hub_exposure_destroy(exposure);
    hub_exposure_destroy(wanted);
    clear(&s);
    clear(&plain);
}

/* Bytes that only look the same piece by piece are told apart. */
static void test_equal(void **state)
{
    static const struct {
        const char *left;
        const char *right;
        bool same;
    } CASES[] = {
        {ARRAY, "{\"name\":\"array\"," SCHEMA "}", true},
        {ARRAY, "{\"name\":\"array\"," SCHEMA ",\"outputSchema\":{\"type\":\"null\"}}", true},
        {ARRAY, "{\"outputSchema\":{\"type\":\"array\"},\"name\":\"array\"," SCHEMA "}", true},
        {ARRAY, "{\"name\":\"array\",\"outputSchema\":{\"type\":\"array\"}," SCHEMA "}", true},
        {ARRAY, "{\"name\":\"array\", " SCHEMA "}", false},
        {ARRAY, "{\"name\":\"arrax\"," SCHEMA ",\"outputSchema\":{\"type\":\"array\"}}", false},
        {ARRAY, "{\"outputSchema\":{\"type\":\"array\"},\"name\":\"arrax\"," SCHEMA "}", false},
        {ARRAY, "{\"name\":\"array\"," SCHEMA ",\"title\":\"\"}", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        setup s[2] = {make_setup(HUB_NAMING_NONE), make_setup(HUB_NAMING_NONE)};
        hub_exposure *exposures[2];
        for (int side = 0; side < 2; side++) {
            char list[512];
            (void)snprintf(list, sizeof list, "[%s]", side == 0 ? CASES[i].left : CASES[i].right);
            (void)add(&s[side], "up", list, false);
            exposures[side] = build(&s[side]);
        }
        for (int side = 0; side < 2; side++) {
            assert_int_equal(hub_shown_equal(in(exposures[side], HUB_REVISION_2025_06_18),
                                             in(exposures[1 - side], HUB_REVISION_2025_06_18)),
                             CASES[i].same);
        }
        for (int side = 0; side < 2; side++) {
            hub_exposure_destroy(exposures[side]);
            clear(&s[side]);
        }
    }
}

/* ---- what it costs --------------------------------------------------------------------------- */

static void test_all_valid(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    (void)add(&s, "up", "[" GOOD "," TOOL("b") "]", false);
    hub_exposure *exposure = build(&s);
    for (size_t i = 0; i < COUNT; i++) {
        assert_ptr_equal(in(exposure, EVERY[i]), in(exposure, HUB_REVISION_NONE));
    }
    assert_int_equal(in_table(exposure), 1);
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* One for all revisions and all exposures that show the same, for as long as any of them does. */
static void test_equal_masks(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    hub_exposure *others[3];
    (void)state;
    (void)add(&s, "up", "[" GOOD "," ARRAY "]", false);
    (void)add(&s, "too", "[" GOOD "]", false);
    hub_exposure *exposure = build(&s);
    hub_shown *oldest = in(exposure, HUB_REVISION_2024_11_05);
    assert_ptr_equal(in(exposure, HUB_REVISION_2025_03_26), oldest);
    assert_ptr_equal(in(exposure, HUB_REVISION_2025_06_18), oldest);
    assert_ptr_equal(in(exposure, HUB_REVISION_2025_11_25), oldest);
    assert_ptr_not_equal(in(exposure, HUB_REVISION_2026_07_28), oldest);
    assert_int_equal(in_table(exposure), 2); /* all and the newest; the older ones */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hub_exposure_create(hub_exposure_base(exposure), &s.policies, s.sources,
                                             s.count, NULL, NULL, &others[i], NULL),
                         HUB_OK);
        assert_ptr_equal(in(others[i], HUB_REVISION_2024_11_05), oldest);
    }
    assert_int_equal(in_table(exposure), 2);
    hub_shown *kept = hub_shown_ref(oldest);
    hub_str key = HUB_STR("too");
    for (size_t i = 0; i < 3; i++) {
        hub_exposure_destroy(others[i]);
    }
    assert_int_equal(hub_exposure_remove(exposure, &key, 1, NULL), HUB_OK);
    assert_int_equal(in_table(exposure), 3); /* all and the newest; the older ones; what is kept */
    hub_shown_unref(kept);
    assert_int_equal(in_table(exposure), 2);
    key = HUB_STR("up");
    assert_int_equal(hub_exposure_remove(exposure, &key, 1, NULL), HUB_OK);
    assert_int_equal(in_table(exposure), 1);
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* What some are shown by their revision is all that others are shown by a rule: one object. */
static void test_two_uses(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    hub_source *source = add(
        &s, "up",
        "[" NEWER("wild") ","
                          "{\"name\":\"tame\",\"annotations\":{\"readOnlyHint\":true}," SCHEMA "}]",
        false);
    hub_policy_rules read_only = {.read_only = true};
    hub_exposure_rules rules = {.policies = {&read_only, NULL}};
    hub_exposure *narrow = NULL;
    (void)state;
    hub_exposure *exposure = build(&s);
    assert_int_equal(hub_exposure_create(hub_exposure_base(exposure), &rules, source, 1, NULL, NULL,
                                         &narrow, NULL),
                     HUB_OK);
    assert_ptr_equal(in(narrow, HUB_REVISION_NONE), in(exposure, HUB_REVISION_2025_06_18));
    assert_ptr_equal(in(narrow, HUB_REVISION_2025_06_18), in(narrow, HUB_REVISION_NONE));
    assert_int_equal(in(narrow, HUB_REVISION_NONE)->count, 1);
    assert_ptr_not_equal(in(narrow, HUB_REVISION_NONE), in(exposure, HUB_REVISION_2026_07_28));
    hub_exposure_destroy(exposure);
    assert_int_equal(in(narrow, HUB_REVISION_2025_11_25)->count, 1);
    hub_exposure_destroy(narrow);
    clear(&s);
}

/* 10,000 tools, one of which some revisions hide: two masks more, and nothing for who asks. */
static void test_memory(void **state)
{
    enum { MASK_BYTES = HUB_LIMIT_TOOLS_PER_TOOLSET / 8, EXPOSURES = 20 };
    setup s = make_setup(HUB_NAMING_NONE);
    hub_exposure *others[EXPOSURES];
    (void)state;
    char *list = many(HUB_LIMIT_TOOLS_PER_TOOLSET, HUB_LIMIT_TOOLS_PER_TOOLSET);
    (void)add(&s, "up", list, false);
    hub_exposure *exposure = build(&s);
    assert_int_equal(in_table(exposure), 2);
    size_t before = ALLOCATED();
    for (size_t i = 0; i < EXPOSURES; i++) {
        assert_int_equal(hub_exposure_create(hub_exposure_base(exposure), &s.policies, s.sources,
                                             s.count, NULL, NULL, &others[i], NULL),
                         HUB_OK);
    }
    assert_true(ALLOCATED() - before < (size_t)EXPOSURES * 2048);
    assert_int_equal(in_table(exposure), 2);
    for (size_t i = 0; i < EXPOSURES; i++) {
        hub_exposure_destroy(others[i]);
    }
    hub_exposure_destroy(exposure);
    clear(&s);
    free(list);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void test_find(void **state)
{
    static const struct {
        const char *name;
        hub_revision first;
        hub_revision last;
    } CASES[] = {
        {"good", HUB_REVISION_2024_11_05, HUB_REVISION_2026_07_28},
        {"array", HUB_REVISION_2024_11_05, HUB_REVISION_2026_07_28},
        {"modern", HUB_REVISION_2026_07_28, HUB_REVISION_2026_07_28},
    };
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    (void)add(&s, "up", "[" GOOD "," ARRAY "," MODERN "]", false);
    hub_exposure *exposure = build(&s);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_str name = hub_str_of(CASES[i].name);
        assert_non_null(hub_exposure_find(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, name));
        for (size_t r = 0; r < COUNT; r++) {
            bool is_there = EVERY[r] >= CASES[i].first && EVERY[r] <= CASES[i].last;
            assert_int_equal(hub_exposure_find(exposure, EVERY[r], HUB_KIND_TOOL, name) != NULL,
                             is_there);
            assert_int_equal(hub_exposure_find_own(exposure, EVERY[r], HUB_KIND_TOOL, HUB_STR("up"),
                                                   name) != NULL,
                             is_there);
            assert_int_equal(hub_exposure_tool_definition(exposure, EVERY[r], name).len > 0,
                             is_there);
        }
    }
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* Of those who want a name, an answer names those that the client may see. */
static void test_rivals(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    (void)add(&s, "a", "[" TOOL("x") "]", false);
    (void)add(&s, "b", "[" NEWER("x") "]", false);
    hub_exposure *exposure = build(&s);
    hub_buf text;
    hub_buf_init(&text, 256);
    assert_int_equal(hub_exposure_add_rivals(exposure, HUB_REVISION_2025_11_25, HUB_KIND_TOOL,
                                             HUB_STR("x"), &text),
                     1);
    assert_true(hub_str_is(hub_buf_str(&text), "a__x"));
    hub_buf_clear(&text);
    assert_int_equal(hub_exposure_add_rivals(exposure, HUB_REVISION_2026_07_28, HUB_KIND_TOOL,
                                             HUB_STR("x"), &text),
                     2);
    hub_buf_fini(&text);
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* ---- serials --------------------------------------------------------------------------------- */

static hub_err update(const hub_exposure *exposure, const char *tools)
{
    hub_catalog *catalog = parse(tools);
    hub_err err =
        hub_base_update(hub_exposure_base(exposure), HUB_STR("up"), HUB_KIND_TOOL, catalog, NULL);
    hub_catalog_unref(catalog);
    return err;
}

/* Only the revisions whose bytes are others have news. */
static void test_serials(void **state)
{
    static const struct {
        const char *list;
        bool news_old; /* for 2024-11-05, */
        bool news_mid; /* 2025-11-25 */
        bool news_new; /* and 2026-07-28 */
    } CASES[] = {
        {"[" GOOD "," MODERN "]", false, false, true},
        {"[" GOOD "]", false, false, true},
        {"[" GOOD "," ARRAY "]", true, true, true},
        {"[" GOOD ",{\"name\":\"array\"," SCHEMA ",\"outputSchema\":{\"type\":\"null\"}}]", false,
         false, true},
        {"[" GOOD "]", true, true, true},
    };
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    (void)add(&s, "up", "[" GOOD "]", false);
    hub_exposure *exposure = build(&s);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const bool news[] = {CASES[i].news_old, CASES[i].news_mid, CASES[i].news_new};
        const hub_revision revisions[] = {HUB_REVISION_2024_11_05, HUB_REVISION_2025_11_25,
                                          HUB_REVISION_2026_07_28};
        uint64_t before[3];
        for (size_t r = 0; r < 3; r++) {
            before[r] = hub_exposure_serial(exposure, revisions[r], HUB_KIND_TOOL);
        }
        assert_int_equal(update(exposure, CASES[i].list), HUB_OK);
        for (size_t r = 0; r < 3; r++) {
            assert_int_equal(
                hub_exposure_serial(exposure, revisions[r], HUB_KIND_TOOL) != before[r], news[r]);
        }
    }
    hub_exposure_destroy(exposure);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_revision), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_pages),         cmocka_unit_test(test_equal),
        cmocka_unit_test(test_all_valid),     cmocka_unit_test(test_equal_masks),
        cmocka_unit_test(test_two_uses),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_find),          cmocka_unit_test(test_rivals),
        cmocka_unit_test(test_serials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
