/* SPDX-License-Identifier: Apache-2.0 */
/* What exposures show of sections: order, bytes, what is exposed, pages, size.
 * S3.85: names are made once. */
#include "section_support.h"

/* ---- order and bytes ------------------------------------------------------------------------- */

/* S2.2, S4.55, DESIGN Exposure: bytewise by "toolset:tool", so "a-b" is before "a". */
static void test_order(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    add(&s, "a", "[" TOOL("z") "," TOOL("B") "," TOOL("b") "," TOOL("b-") "]", true);
    add(&s, "a-b", "[" TOOL("c") "]", true);
    add(&s, "aa", "[" TOOL("c") "]", true);
    add(&s, "a0", "[" TOOL("c") "]", true);
    hub_exposure *view = build(&s);
    expect_names(view, "a-b__c a0__c a__B a__b a__b- a__z aa__c");
    for (size_t i = 1; i < count_tools(view); i++) {
        assert_true(hub_str_cmp(entry_at(view, i - 1)->canonical, entry_at(view, i)->canonical) <
                    0);
    }
    hub_exposure_destroy(view);
    clear(&s);
}

/* S2.4, S4.56: the same content in any order gives the same bytes. */
static void test_any_order_same_bytes(void **state)
{
    static const char *const TOOLSETS[] = {"git", "docker", "linear"};
    static const char *const FORTH = "[" TOOL("a") "," TOOL("b") "," TOOL("c") "]";
    static const char *const BACK = "[" TOOL("c") "," TOOL("b") "," TOOL("a") "]";
    static const int ORDERS[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    char *first = NULL;
    (void)state;
    for (size_t order = 0; order < 6; order++) {
        setup s = make_setup(HUB_NAMING_FLAT);
        for (size_t i = 0; i < 3; i++) {
            add(&s, TOOLSETS[ORDERS[order][i]], (order + i) % 2 == 0 ? FORTH : BACK, i == 1);
        }
        hub_exposure *view = build(&s);
        assert_int_equal(count_tools(view), 9);
        if (first == NULL) {
            first = list_text(view);
        }
        expect_bytes(view, first);
        hub_exposure_destroy(view);
        clear(&s);
    }
    free(first);
}

/* S3.50, S3.61 … S3.65, S2.26: only the name differs; the catalog's bytes are not touched. */
static void test_definitions(void **state)
{
    static const char CATALOG[] =
        "[ {\"x\":1e300, \"name\" : \"b\\u0062\",\"inputSchema\":{ \"type\":\"object\" } } ,"
        "{\"inputSchema\":{\"type\":\"object\"},\"name\":\"a\"}]";
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    add(&s, "git", CATALOG, true);
    hub_exposure *view = build(&s);
    expect_bytes(view,
                 "{\"inputSchema\":{\"type\":\"object\"},\"name\":\"git__a\"},"
                 "{\"x\":1e300, \"name\" : \"git__bb\",\"inputSchema\":{ \"type\":\"object\" } }");
    assert_string_equal(s.sources[0].lists[0]->bytes, CATALOG);
    hub_exposure_destroy(view);
    s.rule.naming = HUB_NAMING_NONE;
    view = build(&s);
    expect_bytes(view,
                 "{\"inputSchema\":{\"type\":\"object\"},\"name\":\"a\"},"
                 "{\"x\":1e300, \"name\" : \"b\\u0062\",\"inputSchema\":{ \"type\":\"object\" } }");
    hub_exposure_destroy(view);
    clear(&s);
}

/* S3.42, S3.45: the way back is a table: toolset, own name, exposed name. */
static void test_way_back(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    int owner = 0;
    (void)state;
    add(&s, "task-master", "[" TOOL("get.tasks") "]", false)->owner = &owner;
    hub_exposure *view = build(&s);
    const hub_entry *entry = find(view, "task_master_get_tasks");
    assert_non_null(entry);
    assert_ptr_equal(entry->owner, &owner);
    assert_true(hub_str_is(entry->item->name, "get.tasks"));
    assert_true(hub_str_is(entry->canonical, "task-master:get.tasks"));
    assert_null(find(view, "task-master:get.tasks"));
    assert_null(find(view, "task_master_get_task"));
    assert_null(find(view, "Task_master_get_tasks"));
    assert_null(find(view, ""));
    hub_exposure_destroy(view);
    clear(&s);
}

static void test_empty(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    hub_exposure *none = build(&s);
    assert_int_equal(count_tools(none), 0);
    expect_bytes(none, "");
    assert_null(find(none, "a"));
    add(&s, "git", "[]", true);
    s.sources[s.count++] = (hub_source){.toolset = HUB_STR("unknown")};
    hub_exposure *empty = build(&s);
    assert_int_equal(count_tools(empty), 0);
    assert_true(hub_shown_equal(hub_exposure_shown(none, HUB_KIND_TOOL),
                                hub_exposure_shown(empty, HUB_KIND_TOOL)));
    hub_exposure_destroy(none);
    hub_exposure_destroy(empty);
    clear(&s);
}

static void expect_page(hub_shown *shown, const char *after, size_t limit, const char *want)
{
    char *text = page_text(shown, hub_shown_after(shown, hub_str_of(after)), limit);
    assert_string_equal(text, want);
    free(text);
}

static void test_pages(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "t", "[" TOOL("a") "," TOOL("b") "," TOOL("c") "]", true);
    add(&s, "u", "[" TOOL("d") "]", true);
    hub_exposure *exposure = build(&s);
    hub_shown *shown = hub_exposure_shown(exposure, HUB_KIND_TOOL);
    expect_page(shown, "", 1, TOOL("a"));
    expect_page(shown, "", 2, TOOL("a") "," TOOL("b"));
    expect_page(shown, "t:a", 2, TOOL("b") "," TOOL("c"));
    expect_page(shown, "t:aa", 1, TOOL("b")); /* behind one that is gone */
    expect_page(shown, "t:b", UINT32_MAX, TOOL("c") "," TOOL("d"));
    expect_page(shown, "t:c", 1, TOOL("d"));
    expect_page(shown, "", SIZE_MAX, TOOL("a") "," TOOL("b") "," TOOL("c") "," TOOL("d"));
    expect_page(shown, "u:d", 1, "");
    expect_page(shown, "zzz", 1, "");
    expect_page(shown, "", 0, "");
    hub_shown_page page;
    assert_int_equal(hub_shown_take(shown, (hub_shown_place){.part = 0}, 3, &page), HUB_OK);
    assert_false(page.is_end);
    assert_true(hub_str_is(page.last->canonical, "t:c"));
    hub_shown_page_fini(&page);
    assert_int_equal(hub_shown_take(shown, (hub_shown_place){.part = 0}, 4, &page), HUB_OK);
    assert_true(page.is_end);
    assert_int_equal(page.span_count, 2); /* one for each section */
    hub_shown_page_fini(&page);
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* Masks of all kinds over more entries than a word has bits: the pages together are the whole, in
 * pieces that are copied only when they are many. */
static bool keeps_some(void *ctx, const hub_entry *entry)
{
    const unsigned *step = ctx;
    return (unsigned)(entry->item->name.ptr[1] - '0') % *step == 0;
}

static void test_masks(void **state)
{
    hub_buf json;
    (void)state;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    hub_buf_add_char(&json, '[');
    for (size_t i = 0; i < 300; i++) {
        hub_buf_printf(&json, "%s{\"name\":\"t%03zu\",\"inputSchema\":{\"type\":\"object\"}}",
                       i > 0 ? "," : "", (i * 7) % 10 * 100 + i / 10);
    }
    hub_buf_add_char(&json, ']');
    char *tools = hub_buf_take(&json);
    for (unsigned step = 1; step <= 5; step++) {
        setup s = make_setup(HUB_NAMING_NONE);
        add(&s, "t", tools, false);
        hub_exposure *exposure = build(&s);
        hub_shown *all = hub_exposure_shown(exposure, HUB_KIND_TOOL);
        hub_shown *some = NULL;
        assert_int_equal(hub_shown_narrow(all, keeps_some, &step, &some), HUB_OK);
        assert_int_equal(some == all, step == 1); /* equal ones are one */
        hub_buf want;
        hub_buf_init(&want, SIZE_MAX / 4);
        hub_shown_place at = {.part = 0};
        size_t count = 0;
        for (const hub_entry *entry = hub_shown_next(all, &at); entry != NULL;
             entry = hub_shown_next(all, &at)) {
            if (keeps_some(&step, entry)) {
                hub_buf_add(&want, count++ > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
                hub_buf_add(&want, entry->item->json);
            }
        }
        assert_int_equal(some->count, count);
        for (size_t limit = 1; limit < 70; limit += 3) {
            hub_buf got;
            hub_buf_init(&got, SIZE_MAX / 4);
            hub_shown_place from = {.part = 0};
            hub_shown_page page = {.is_end = false};
            while (!page.is_end) {
                assert_int_equal(hub_shown_take(some, from, limit, &page), HUB_OK);
                assert_true(page.span_count <= HUB_SHOWN_SPANS);
                hub_buf_add(&got, got.len > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
                for (size_t i = 0; i < page.span_count; i++) {
                    hub_buf_add(&got, page.spans[i]);
                }
                from = hub_shown_after(some, page.last->canonical);
                hub_shown_page_fini(&page);
            }
            assert_true(hub_str_eq(hub_buf_str(&got), hub_buf_str(&want)));
            hub_buf_fini(&got);
        }
        hub_buf_fini(&want);
        hub_shown_unref(some);
        hub_exposure_destroy(exposure);
        clear(&s);
    }
    free(tools);
}

/* ---- pages that are kept --------------------------------------------------------------------- */

enum { KEPT_TOOLS = 2000, KEPT_TEXT_BYTES = 500, KEPT_MASKS = 20 };

/* Which of the tools are shown: all but each of so many. */
static bool keeps_but(void *ctx, const hub_entry *entry)
{
    const unsigned *step = ctx;
    return strtoul(entry->item->name.ptr + 1, NULL, 10) % *step != 0; /* the quote ends it */
}

/* A setup of KEPT_TOOLS tools, as large as real ones. */
static hub_exposure *build_large(setup *s, hub_base **ret_base)
{
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    for (unsigned i = 0; i < KEPT_TOOLS; i++) {
        hub_buf_printf(
            &json, "%c{\"name\":\"t%04u\",\"title\":\"%*s\",\"inputSchema\":{\"type\":\"object\"}}",
            i > 0 ? ',' : '[', i, KEPT_TEXT_BYTES, "");
    }
    hub_buf_add_char(&json, ']');
    char *tools = hub_buf_take(&json);
    hub_exposure *exposure = NULL;
    *s = make_setup(HUB_NAMING_NONE);
    add(s, "t", tools, false);
    free(tools);
    assert_int_equal(hub_base_create(&s->rule, s->sources, 1, NULL, ret_base, &s->why), HUB_OK);
    assert_int_equal(hub_exposure_create(*ret_base, &s->policies, s->sources, 1, keep_report,
                                         &s->left_out, &exposure, &s->why),
                     HUB_OK);
    return exposure;
}

static hub_shown *narrow(const hub_exposure *exposure, unsigned step)
{
    hub_shown *some = NULL;
    hub_shown *all = hub_exposure_shown(exposure, HUB_KIND_TOOL);
    assert_int_equal(hub_shown_narrow(all, keeps_but, &step, &some), HUB_OK);
    return some;
}

static hub_shown_page take_page(hub_shown *shown, const char *after)
{
    hub_shown_page page;
    hub_shown_place from =
        *after != '\0' ? hub_shown_after(shown, hub_str_of(after)) : (hub_shown_place){.part = 0};
    assert_int_equal(hub_shown_take(shown, from, HUB_LIMIT_LIST_PAGE, &page), HUB_OK);
    return page;
}

/* What was put together for one is there for all who see the same, each page by itself, and goes with
 * what they see. What is whole is not copied. */
static void test_pages_are_kept(void **state)
{
    setup s;
    hub_base *base = NULL;
    hub_exposure *exposure = build_large(&s, &base);
    hub_shown *some = narrow(exposure, 3);
    hub_shown *same = narrow(exposure, 3);
    hub_shown *other = narrow(exposure, 7);
    (void)state;
    hub_shown_page first = take_page(some, "");
    hub_shown_page again = take_page(same, "");
    hub_shown_page second = take_page(same, "t:t1499");
    hub_shown_page others = take_page(other, "");
    assert_int_equal(first.span_count, 1);
    assert_ptr_equal(first.spans[0].ptr, again.spans[0].ptr);
    assert_ptr_equal(first.last, again.last);
    assert_int_equal(first.spans[0].len, again.spans[0].len);
    assert_false(again.is_end);
    assert_true(second.is_end);
    assert_ptr_not_equal(second.spans[0].ptr, first.spans[0].ptr);
    assert_ptr_not_equal(others.spans[0].ptr, first.spans[0].ptr);
    size_t lengths = first.spans[0].len + second.spans[0].len + others.spans[0].len;
    assert_in_range(hub_base_kept_bytes(base), lengths, lengths + 3 * 256);
    hub_shown_page whole = take_page(hub_exposure_shown(exposure, HUB_KIND_TOOL), "");
    assert_int_equal(whole.span_count, 1);
    assert_null(whole.kept);
    hub_shown_page_fini(&whole);
    hub_shown_page_fini(&first);
    hub_shown_page_fini(&again);
    hub_shown_page_fini(&second);
    hub_shown_page_fini(&others);
    hub_shown_unref(some);
    assert_in_range(hub_base_kept_bytes(base), lengths, lengths + 3 * 256);
    hub_shown_unref(same);
    hub_shown_unref(other);
    assert_int_equal(hub_base_kept_bytes(base), 0);
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
    clear(&s);
}

/* Masks without end have a bound on what is kept; who was asked for the longest ago goes first, be it
 * that somebody still reads it. */
static void test_kept_pages_are_bounded(void **state)
{
    setup s;
    hub_base *base = NULL;
    hub_shown *some[KEPT_MASKS];
    hub_exposure *exposure = build_large(&s, &base);
    hub_shown_page first = {.is_end = false};
    size_t each = 0;
    size_t before = 0;
    bool is_full = false;
    (void)state;
    for (unsigned i = 0; i < KEPT_MASKS; i++) {
        some[i] = narrow(exposure, i + 3);
        hub_shown_page page = take_page(some[i], "");
        assert_true(hub_base_kept_bytes(base) <= HUB_LIMIT_KEPT_PAGES_BYTES);
        each = page.spans[0].len;
        if (i == 0) {
            first = page;
            continue;
        }
        hub_shown_page_fini(&page);
        if (i == 2 || (!is_full && hub_base_kept_bytes(base) < before + each)) {
            is_full = i > 2; /* the second has gone: the first was asked for behind it */
            hub_shown_page again = take_page(some[0], "");
            assert_ptr_equal(again.kept, first.kept);
            hub_shown_page_fini(&again);
        }
        before = hub_base_kept_bytes(base);
    }
    assert_true(is_full); /* or nothing was tested */
    assert_true(hub_base_kept_bytes(base) > HUB_LIMIT_KEPT_PAGES_BYTES - 2 * each);
    hub_shown_page again = take_page(some[0], "");
    assert_ptr_not_equal(again.kept, first.kept); /* it is no more kept, and is the same */
    assert_int_equal(again.spans[0].len, first.spans[0].len);
    assert_memory_equal(again.spans[0].ptr, first.spans[0].ptr, first.spans[0].len);
    hub_shown_page_fini(&again);
    hub_shown_page_fini(&first);
    hub_exposure_destroy(exposure);
    hub_base_unref(base); /* before what is shown */
    for (unsigned i = 0; i < KEPT_MASKS; i++) {
        hub_shown_page page = take_page(some[i], "");
        assert_null(page.kept);
        hub_shown_page_fini(&page);
        hub_shown_unref(some[i]);
    }
    clear(&s);
}

/* ---- what is exposed ------------------------------------------------------------------------- */

/* DESIGN, Exposure: filters of the toolset, of the hub and of the profile; the hub's own are
 * exempt. */
static void test_filters(void **state)
{
    static const char TOOLS[] = "[" TOOL("a1") "," TOOL("a2") "," TOOL("b1") "," TOOL("b2") "]";
    hub_filter_rule of_hub = {HUB_FILTER_DENY_TOOLS, NAMES("*:b1")};
    hub_filter_rule of_profile = {HUB_FILTER_NAMESPACE, NAMES("git")};
    hub_policy_rules hub_policy = {.filters = &of_hub, .filter_count = 1};
    hub_policy_rules profile_policy = {.filters = &of_profile, .filter_count = 1};
    hub_names allow = NAMES("a?", "b*");
    hub_names deny = NAMES("a2");
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    s.policies.policies[0] = &hub_policy;
    s.policies.policies[1] = &profile_policy;
    hub_source *git = add(&s, "git", TOOLS, true);
    git->tools_allow = &allow;
    git->tools_deny = &deny;
    add(&s, "docker", TOOLS, true);
    add(&s, "_meta", "[" TOOL("list_tools") "]", true)->bare = true;
    hub_exposure *view = build(&s);
    expect_names(view, "list_tools git__a1 git__b2");
    assert_int_equal(s.left_out.count, 0); /* hidden, not left out */
    hub_exposure_destroy(view);
    hub_names none = NO_NAMES;
    git->tools_allow = &none;
    view = build(&s);
    expect_names(view, "list_tools");
    hub_exposure_destroy(view);
    hub_names absent = {0};
    git->tools_allow = &absent;
    view = build(&s);
    expect_names(view, "list_tools git__a1 git__b2");
    hub_exposure_destroy(view);
    clear(&s);
}

/* What a policy hides shapes the names of others all the same: names do not depend on who asks.
 * What the toolset's own settings leave out is never there, and takes no name. */
static void test_hidden(void **state)
{
    hub_filter_rule rule = {HUB_FILTER_NAMESPACE, NAMES("docker")};
    hub_policy_rules policy = {.filters = &rule, .filter_count = 1};
    hub_names deny = NAMES("search");
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    s.policies.policies[0] = &policy;
    hub_source *git = add(&s, "git", "[" TOOL("search") "]", true);
    add(&s, "docker", "[" TOOL("search") "]", true);
    hub_exposure *view = build(&s);
    expect_names(view, "docker__search");
    assert_null(find(view, "search"));
    assert_null(find(view, "git__search"));
    hub_exposure_destroy(view);
    git->tools_deny = &deny;
    view = build(&s);
    expect_names(view, "search");
    assert_true(hub_str_is(find(view, "search")->canonical, "docker:search"));
    hub_exposure_destroy(view);
    clear(&s);
}

/* ---- size ------------------------------------------------------------------------------------ */

/* B7: the longest names there can be, in every mode, at every limit. */
static void test_longest_names(void **state)
{
    char toolset[HUB_LIMIT_TOOLSET_KEY_BYTES + 1];
    char tool[HUB_LIMIT_TOOL_NAME_BYTES + 1];
    char json[512];
    (void)state;
    memset(toolset, 't', sizeof toolset);
    toolset[HUB_LIMIT_TOOLSET_KEY_BYTES] = '\0';
    memset(tool, 'x', sizeof tool);
    tool[HUB_LIMIT_TOOL_NAME_BYTES] = '\0';
    (void)snprintf(json, sizeof json,
                   "[{\"name\":\"%s\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"%.*sy\","
                   "\"inputSchema\":{\"type\":\"object\"}}]",
                   tool, HUB_LIMIT_TOOL_NAME_BYTES - 1, tool);
    for (int naming = HUB_NAMING_PREFIX; naming <= HUB_NAMING_NONE; naming++) {
        for (size_t max = 16; max <= HUB_LIMIT_TOOL_NAME_BYTES; max++) {
            setup s = make_setup((hub_naming)naming);
            s.rule.max_name_bytes = max;
            add(&s, toolset, json, false);
            hub_exposure *view = build(&s);
            assert_int_equal(count_tools(view), 2);
            assert_true(entry_at(view, 0)->exposed.len <= max);
            assert_true(entry_at(view, 1)->exposed.len <= max);
            hub_exposure_destroy(view);
            clear(&s);
        }
    }
}

static void test_many(void **state)
{
    hub_buf json;
    (void)state;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    hub_buf_add_char(&json, '[');
    for (size_t i = 0; i < MANY; i++) { /* in an order that is far from sorted */
        hub_buf_printf(&json, "%s{\"name\":\"t%zu\",\"inputSchema\":{\"type\":\"object\"}}",
                       i > 0 ? "," : "", i * 7919 % MANY);
    }
    hub_buf_add_char(&json, ']');
    char *text = hub_buf_take(&json);
    setup s = make_setup(HUB_NAMING_PREFIX);
    add(&s, "big", text, false);
    hub_exposure *view = build(&s);
    assert_int_equal(count_tools(view), MANY);
    for (size_t i = 0; i < MANY; i++) {
        char name[32];
        char canonical[32];
        (void)snprintf(name, sizeof name, "big__t%zu", i);
        (void)snprintf(canonical, sizeof canonical, "big:t%zu", i);
        const hub_entry *entry = find(view, name);
        assert_non_null(entry);
        assert_true(hub_str_is(entry->canonical, canonical));
    }
    hub_shown *shown = hub_exposure_shown(view, HUB_KIND_TOOL);
    char *all = list_text(view);
    size_t total = 0;
    hub_shown_place from = {.part = 0};
    for (bool is_end = false; !is_end;) { /* pages and their commas are the whole */
        hub_shown_page page;
        assert_int_equal(hub_shown_take(shown, from, 999, &page), HUB_OK);
        assert_int_equal(page.span_count, 1);
        assert_memory_equal(all + total, page.spans[0].ptr, page.spans[0].len);
        total += page.spans[0].len + 1;
        is_end = page.is_end;
        from = hub_shown_after(shown, page.last->canonical);
        hub_shown_page_fini(&page);
    }
    assert_int_equal(total, strlen(all) + 1);
    free(all);
    hub_exposure_destroy(view);
    clear(&s);
    free(text);
}

/* S2.22 … S2.24: what a reader holds does not change when the next is made, or all of it goes. */
static void test_snapshot(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    add(&s, "git", "[" TOOL("a") "]", true);
    hub_exposure *exposure = build(&s);
    hub_shown *mine = hub_shown_ref(hub_exposure_shown(exposure, HUB_KIND_TOOL));
    hub_exposure_destroy(exposure);
    clear(&s); /* the catalogs live on in it */
    hub_shown_place at = {.part = 0};
    const hub_entry *entry = hub_shown_next(mine, &at);
    assert_true(hub_str_is(entry->exposed, "git__a"));
    assert_true(hub_str_is(entry->item->name, "a"));
    hub_shown_unref(mine);
    hub_shown_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),          cmocka_unit_test(test_any_order_same_bytes),
        cmocka_unit_test(test_definitions),    cmocka_unit_test(test_way_back),
        cmocka_unit_test(test_empty),          cmocka_unit_test(test_pages),
        cmocka_unit_test(test_filters),        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_masks),          cmocka_unit_test(test_longest_names),
        cmocka_unit_test(test_many),           cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_pages_are_kept), cmocka_unit_test(test_kept_pages_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
