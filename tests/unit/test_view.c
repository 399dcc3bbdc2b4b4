/* SPDX-License-Identifier: Apache-2.0 */
/* Views: order, bytes, what is exposed, slices, size. */
#include "view_support.h"

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
    hub_view *view = build(&s);
    expect_names(view, "a-b__c a0__c a__B a__b a__b- a__z aa__c");
    for (size_t i = 1; i < view->count; i++) {
        assert_true(hub_str_cmp(view->entries[i - 1].canonical, view->entries[i].canonical) < 0);
    }
    hub_view_unref(view);
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
    hub_view *first = NULL;
    (void)state;
    for (size_t order = 0; order < 6; order++) {
        setup s = make_setup(HUB_NAMING_FLAT);
        for (size_t i = 0; i < 3; i++) {
            add(&s, TOOLSETS[ORDERS[order][i]], (order + i) % 2 == 0 ? FORTH : BACK, i == 1);
        }
        hub_view *view = build(&s);
        assert_int_equal(view->count, 9);
        if (first == NULL) {
            first = hub_view_ref(view);
        }
        assert_true(hub_view_equal(view, first));
        hub_view_unref(view);
        clear(&s);
    }
    hub_view_unref(first);
}

/* S3.50, S3.61 … S3.65, S2.26: only the name differs; the catalog's bytes are not touched. */
static void test_definitions(void **state)
{
    static const char CATALOG[] =
        "[ {\"x\":1e400, \"name\" : \"b\\u0062\",\"inputSchema\":{\"type\":\"object\" } } ,"
        "{\"inputSchema\":{\"type\":\"object\"},\"name\":\"a\"}]";
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    add(&s, "git", CATALOG, true);
    hub_view *view = build(&s);
    expect_bytes(view,
                 "{\"inputSchema\":{\"type\":\"object\"},\"name\":\"git__a\"},"
                 "{\"x\":1e400, \"name\" : \"git__bb\",\"inputSchema\":{\"type\":\"object\" } }");
    assert_string_equal(s.sources[0].lists[0]->bytes, CATALOG);
    hub_view_unref(view);
    s.rules.naming = HUB_NAMING_NONE;
    view = build(&s);
    expect_bytes(view,
                 "{\"inputSchema\":{\"type\":\"object\"},\"name\":\"a\"},"
                 "{\"x\":1e400, \"name\" : \"b\\u0062\",\"inputSchema\":{\"type\":\"object\" } }");
    hub_view_unref(view);
    clear(&s);
}

/* S3.42, S3.45: the way back is a table: toolset, own name, exposed name. */
static void test_way_back(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    int owner = 0;
    (void)state;
    add(&s, "task-master", "[" TOOL("get.tasks") "]", false)->owner = &owner;
    hub_view *view = build(&s);
    const hub_view_entry *entry = hub_view_find(view, HUB_STR("task_master_get_tasks"));
    assert_non_null(entry);
    assert_ptr_equal(entry->owner, &owner);
    assert_true(hub_str_is(entry->item->name, "get.tasks"));
    assert_true(hub_str_is(entry->canonical, "task-master:get.tasks"));
    assert_null(hub_view_find(view, HUB_STR("task-master:get.tasks")));
    assert_null(hub_view_find(view, HUB_STR("task_master_get_task")));
    assert_null(hub_view_find(view, HUB_STR("Task_master_get_tasks")));
    assert_null(hub_view_find(view, HUB_STR("")));
    hub_view_unref(view);
    clear(&s);
}

static void test_empty(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    hub_view *none = build(&s);
    assert_int_equal(none->count, 0);
    assert_int_equal(hub_view_slice(none, 0, 10).len, 0);
    assert_null(hub_view_find(none, HUB_STR("a")));
    assert_int_equal(hub_view_after(none, HUB_STR("a")), 0);
    add(&s, "git", "[]", true);
    s.sources[s.count++] = (hub_source){.toolset = HUB_STR("unknown"), .fresh = true};
    hub_view *empty = build(&s);
    assert_int_equal(empty->count, 0);
    assert_true(hub_view_equal(none, empty));
    hub_view_unref(none);
    hub_view_unref(empty);
    clear(&s);
}

static void test_slices(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "t", "[" TOOL("a") "," TOOL("b") "," TOOL("c") "]", true);
    hub_view *view = build(&s);
    assert_true(hub_str_is(hub_view_slice(view, 0, 1), TOOL("a")));
    assert_true(hub_str_is(hub_view_slice(view, 1, 2), TOOL("b") "," TOOL("c")));
    assert_true(hub_str_is(hub_view_slice(view, 2, 100), TOOL("c")));
    assert_true(
        hub_str_is(hub_view_slice(view, 0, UINT32_MAX), TOOL("a") "," TOOL("b") "," TOOL("c")));
    assert_int_equal(hub_view_slice(view, 3, 1).len, 0);
    assert_int_equal(hub_view_slice(view, 0, 0).len, 0);
    assert_int_equal(hub_view_after(view, HUB_STR("")), 0);
    assert_int_equal(hub_view_after(view, HUB_STR("t:a")), 1);
    assert_int_equal(hub_view_after(view, HUB_STR("t:aa")), 1); /* one that is gone */
    assert_int_equal(hub_view_after(view, HUB_STR("t:c")), 3);
    assert_int_equal(hub_view_after(view, HUB_STR("zzz")), 3);
    hub_view_unref(view);
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
    s.rules.policies[0] = &hub_policy;
    s.rules.policies[1] = &profile_policy;
    hub_source *git = add(&s, "git", TOOLS, true);
    git->tools_allow = &allow;
    git->tools_deny = &deny;
    add(&s, "docker", TOOLS, true);
    add(&s, "_meta", "[" TOOL("list_tools") "]", true)->bare = true;
    hub_view *view = build(&s);
    expect_names(view, "list_tools git__a1 git__b2");
    assert_int_equal(s.left_out.count, 0); /* hidden, not left out */
    hub_view_unref(view);
    hub_names none = NO_NAMES;
    git->tools_allow = &none;
    view = build(&s);
    expect_names(view, "list_tools");
    hub_view_unref(view);
    hub_names absent = {0};
    git->tools_allow = &absent;
    view = build(&s);
    expect_names(view, "list_tools git__a1 git__b2");
    hub_view_unref(view);
    clear(&s);
}

/* S2.15: what a filter hides takes no name from anybody. */
static void test_hidden_takes_no_name(void **state)
{
    hub_filter_rule rule = {HUB_FILTER_NAMESPACE, NAMES("docker")};
    hub_policy_rules policy = {.filters = &rule, .filter_count = 1};
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    s.rules.policies[0] = &policy;
    add(&s, "git", "[" TOOL("search") "]", true);
    add(&s, "docker", "[" TOOL("search") "]", false);
    hub_view *view = build(&s);
    expect_names(view, "search");
    assert_true(hub_str_is(view->entries[0].canonical, "docker:search"));
    hub_view_unref(view);
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
            s.rules.max_name_bytes = max;
            add(&s, toolset, json, false);
            hub_view *view = build(&s);
            assert_int_equal(view->count, 2);
            assert_true(view->entries[0].exposed.len <= max);
            assert_true(view->entries[1].exposed.len <= max);
            hub_view_unref(view);
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
    hub_view *view = build(&s);
    assert_int_equal(view->count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "big__t%zu", i);
        const hub_view_entry *entry = hub_view_find(view, (hub_str){name, (size_t)len});
        assert_non_null(entry);
        assert_true(entry == view->entries ||
                    hub_str_cmp(entry[-1].canonical, entry->canonical) < 0);
    }
    hub_str all = hub_view_slice(view, 0, MANY);
    size_t total = 0;
    for (size_t from = 0; from < MANY; from += 999) { /* pages and their commas are the whole */
        total += hub_view_slice(view, from, 999).len + 1;
    }
    assert_int_equal(total, all.len + 1);
    hub_view_unref(view);
    clear(&s);
    free(text);
}

/* S2.22 … S2.24: a reader's view does not change when the next one is made. */
static void test_snapshot(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    add(&s, "git", "[" TOOL("a") "]", true);
    hub_view *view = build(&s);
    hub_view *mine = hub_view_ref(view);
    hub_view_unref(view);
    clear(&s); /* the catalogs live on in it */
    expect_names(mine, "git__a");
    assert_true(hub_str_is(mine->entries[0].item->name, "a"));
    hub_view_unref(mine);
    hub_view_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),         cmocka_unit_test(test_any_order_same_bytes),
        cmocka_unit_test(test_definitions),   cmocka_unit_test(test_way_back),
        cmocka_unit_test(test_empty),         cmocka_unit_test(test_slices),
        cmocka_unit_test(test_filters),       cmocka_unit_test(test_hidden_takes_no_name),
        cmocka_unit_test(test_longest_names), cmocka_unit_test(test_many),
        cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
