/* SPDX-License-Identifier: Apache-2.0 */
/* Views: order, names, what is left out, slices. */
#include "catalog_support.h"

#include "tools/naming.h"
#include "tools/view.h"

enum { MAX_SOURCES = 8, MANY = HUB_LIMIT_TOOLS_PER_TOOLSET };

/* Sources of a view, and what was left out of it. */
typedef struct setup {
    hub_source sources[MAX_SOURCES];
    size_t count;
    hub_view_rules rules;
    reports left_out;
    hub_error why;
} setup;

static setup make_setup(hub_naming naming)
{
    return (setup){.rules = {.naming = naming, .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES}};
}

static hub_source *add(setup *s, const char *toolset, const char *tools, bool native)
{
    hub_source *source = &s->sources[s->count++];
    *source = (hub_source){
        .toolset = hub_str_of(toolset), .catalog = parse(tools), .native = native, .fresh = true};
    return source;
}

static void clear(setup *s)
{
    while (s->count > 0) {
        hub_catalog_unref(s->sources[--s->count].catalog);
    }
}

static hub_err try_build(setup *s, const hub_view *previous, hub_view **ret_view)
{
    return hub_view_build(s->sources, s->count, &s->rules, previous, keep_report, &s->left_out,
                          ret_view, &s->why);
}

static hub_view *build(setup *s)
{
    hub_view *view = NULL;
    if (try_build(s, NULL, &view) != HUB_OK) {
        fail_msg("%s", s->why.text);
    }
    return view;
}

/* The exposed names in their order, with spaces between. */
static void expect_names(const hub_view *view, const char *want)
{
    char text[4096] = "";
    size_t len = 0;
    for (size_t i = 0; i < view->count; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s" HUB_STR_FMT, i > 0 ? " " : "",
                                HUB_STR_ARG(view->entries[i].exposed));
        assert_ptr_equal(hub_view_find(view, view->entries[i].exposed), &view->entries[i]);
    }
    assert_string_equal(text, want);
}

static void expect_bytes(const hub_view *view, const char *want)
{
    char *bytes = hub_str_dup(hub_view_slice(view, 0, view->count));
    assert_string_equal(bytes, want);
    free(bytes);
}

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
    static const char CATALOG[] = "[ {\"x\":1e400, \"name\" : \"b\\u0062\",\"inputSchema\":{ } } ,"
                                  "{\"inputSchema\":{},\"name\":\"a\"}]";
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    add(&s, "git", CATALOG, true);
    hub_view *view = build(&s);
    expect_bytes(view, "{\"inputSchema\":{},\"name\":\"git__a\"},"
                       "{\"x\":1e400, \"name\" : \"git__bb\",\"inputSchema\":{ } }");
    assert_string_equal(s.sources[0].catalog->bytes, CATALOG);
    hub_view_unref(view);
    s.rules.naming = HUB_NAMING_NONE;
    view = build(&s);
    expect_bytes(view, "{\"inputSchema\":{},\"name\":\"a\"},"
                       "{\"x\":1e400, \"name\" : \"b\\u0062\",\"inputSchema\":{ } }");
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
    assert_true(hub_str_is(entry->tool->name, "get.tasks"));
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

/* ---- collisions ------------------------------------------------------------------------------ */

/* S1.10, S1.16, S1.17, S4.20: prefixes first; without them a collision that names both owners. */
static void test_collision_by_mode(void **state)
{
    static const hub_naming APART[] = {HUB_NAMING_PREFIX, HUB_NAMING_FLAT, HUB_NAMING_DOT};
    setup s = make_setup(HUB_NAMING_PREFIX);
    hub_view *view = NULL;
    (void)state;
    add(&s, "git", "[" TOOL("search") "]", false);
    add(&s, "docker", "[" TOOL("search") "]", false);
    for (size_t i = 0; i < 3; i++) {
        s.rules.naming = APART[i];
        view = build(&s);
        assert_int_equal(view->count, 2);
        hub_view_unref(view);
    }
    view = NULL;
    s.rules.naming = HUB_NAMING_NONE;
    assert_int_equal(try_build(&s, NULL, &view), HUB_ECOLLISION);
    assert_null(view);
    assert_non_null(strstr(s.why.text, "\"search\""));
    assert_non_null(strstr(s.why.text, "\"git:search\""));
    assert_non_null(strstr(s.why.text, "\"docker:search\""));
    clear(&s);
}

/* S3.42: what flattens alike gets a suffix, and both can be called. */
static void test_suffix(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    (void)state;
    add(&s, "a_b", "[" TOOL("c") "]", false);
    add(&s, "a", "[" TOOL("b.c") "," TOOL("b-c") "," TOOL("b_c") "]", false);
    hub_view *view = build(&s);
    assert_int_equal(view->count, 4);
    const hub_view_entry *plain = hub_view_find(view, HUB_STR("a_b_c"));
    assert_non_null(plain);
    assert_true(hub_str_is(plain->canonical, "a:b-c")); /* the first in order */
    for (size_t i = 0; i < view->count; i++) {
        hub_str name = view->entries[i].exposed;
        assert_true(&view->entries[i] == plain || name.len == strlen("a_b_c") + 9);
        assert_true(hub_str_starts(name, HUB_STR("a_b_c")));
    }
    assert_int_equal(s.left_out.count, 0);
    hub_view_unref(view);
    clear(&s);
}

/* S4.19: a native tool wins over an upstream's, in whatever order they come. */
static void test_native_wins(void **state)
{
    (void)state;
    for (int native_first = 0; native_first < 2; native_first++) {
        setup s = make_setup(HUB_NAMING_NONE);
        add(&s, "aa", "[" TOOL("search") "]", native_first != 0);
        add(&s, "zz", "[" TOOL("search") "]", native_first == 0);
        hub_view *view = build(&s);
        expect_names(view, "search");
        assert_true(view->entries[0].native);
        assert_int_equal(s.left_out.count, 1);
        assert_non_null(strstr(s.left_out.last, "it is left out"));
        assert_non_null(strstr(s.left_out.last, "\"aa:search\""));
        assert_non_null(strstr(s.left_out.last, "\"zz:search\""));
        hub_view_unref(view);
        clear(&s);
    }
}

/* The same where a prefix makes the names alike: no suffix for what yields. */
static void test_native_wins_over_flat(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    (void)state;
    add(&s, "a", "[" TOOL("b_c") "]", false);
    add(&s, "a_b", "[" TOOL("c") "," TOOL("d") "]", true);
    hub_view *view = build(&s);
    expect_names(view, "a_b_c a_b_d");
    assert_true(view->entries[0].native);
    assert_int_equal(s.left_out.count, 1);
    assert_non_null(strstr(s.left_out.last, "\"a:b_c\""));
    hub_view_unref(view);
    clear(&s);
}

/* The hub's own tools keep their names. An upstream's tool yields; a native one gets a suffix, or
 * cannot be where there are no suffixes. */
static void test_own_tools_win(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    hub_view *view = NULL;
    (void)state;
    add(&s, "_meta", "[" TOOL("list_tools") "]", true)->bare = true;
    hub_source *list = add(&s, "list", "[" TOOL("tools") "]", false);
    view = build(&s);
    expect_names(view, "list_tools");
    assert_true(view->entries[0].bare);
    assert_int_equal(s.left_out.count, 1);
    hub_view_unref(view);
    list->native = true;
    view = build(&s);
    assert_int_equal(view->count, 2);
    assert_true(hub_str_starts(view->entries[1].exposed, HUB_STR("list_tools_")));
    hub_view_unref(view);
    clear(&s);
    s.rules.naming = HUB_NAMING_NONE;
    add(&s, "_meta", "[" TOOL("list_tools") "]", true)->bare = true;
    add(&s, "evil", "[" TOOL("list_tools") "]", true);
    view = NULL;
    assert_int_equal(try_build(&s, NULL, &view), HUB_ECOLLISION);
    assert_non_null(strstr(s.why.text, "_meta:list_tools"));
    clear(&s);
}

/* ---- incumbents ------------------------------------------------------------------------------ */

/* Who had a name keeps it: the newcomer gets the suffix, though it is first in order. */
static void test_incumbent_keeps_name(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    (void)state;
    add(&s, "a_b", "[" TOOL("c") "]", false);
    hub_view *before = build(&s);
    s.sources[0].fresh = false;
    add(&s, "a", "[" TOOL("b_c") "]", false);
    hub_view *after = NULL;
    assert_int_equal(try_build(&s, before, &after), HUB_OK);
    assert_true(hub_str_is(hub_view_find(after, HUB_STR("a_b_c"))->canonical, "a_b:c"));
    assert_int_equal(after->count, 2);
    /* Also the suffixed one keeps what it has, when the other goes. */
    hub_catalog_unref(s.sources[0].catalog);
    s.sources[0] = s.sources[1];
    s.sources[0].fresh = false;
    s.count = 1;
    hub_view *last = NULL;
    assert_int_equal(try_build(&s, after, &last), HUB_OK);
    assert_int_equal(last->entries[0].exposed.len, strlen("a_b_c") + 9);
    hub_view_unref(before);
    hub_view_unref(after);
    hub_view_unref(last);
    clear(&s);
}

/* Who is enabled anew is a newcomer, whatever the last view says of it. */
static void test_fresh_is_no_incumbent(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    (void)state;
    add(&s, "a", "[" TOOL("b_c") "]", false);
    hub_view *before = build(&s);
    add(&s, "a_b", "[" TOOL("c") "]", false);
    s.sources[1].fresh = false;
    hub_view *after = NULL;
    assert_int_equal(try_build(&s, before, &after), HUB_OK);
    assert_int_equal(after->count, 2);
    hub_view_unref(before);
    hub_view_unref(after);
    clear(&s);
}

/* An upstream that changes its list cannot fail, only lose: its new tool yields to the old one. */
static void test_update_yields(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "git", "[" TOOL("search") "]", false);
    add(&s, "docker", "[" TOOL("ps") "]", false);
    hub_view *before = build(&s);
    for (size_t i = 0; i < s.count; i++) {
        s.sources[i].fresh = false;
    }
    hub_catalog_unref(s.sources[1].catalog);
    s.sources[1].catalog = parse("[" TOOL("ps") "," TOOL("search") "]");
    hub_view *after = NULL;
    assert_int_equal(try_build(&s, before, &after), HUB_OK);
    expect_names(after, "ps search");
    assert_true(hub_str_is(hub_view_find(after, HUB_STR("search"))->canonical, "git:search"));
    assert_int_equal(s.left_out.count, 1);
    hub_view_unref(before);
    hub_view_unref(after);
    clear(&s);
}

/* S4.19 again: a native newcomer takes the name from an upstream that had it. */
static void test_native_newcomer(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "git", "[" TOOL("search") "]", false);
    hub_view *before = build(&s);
    s.sources[0].fresh = false;
    add(&s, "zz", "[" TOOL("search") "]", true);
    hub_view *after = NULL;
    assert_int_equal(try_build(&s, before, &after), HUB_OK);
    expect_names(after, "search");
    assert_true(hub_str_is(after->entries[0].canonical, "zz:search"));
    assert_int_equal(s.left_out.count, 1);
    hub_view_unref(before);
    hub_view_unref(after);
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
                   "[{\"name\":\"%s\",\"inputSchema\":{}},{\"name\":\"%.*sy\",\"inputSchema\":{}}]",
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
        hub_buf_printf(&json, "%s{\"name\":\"t%zu\",\"inputSchema\":{}}", i > 0 ? "," : "",
                       i * 7919 % MANY);
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
    assert_true(hub_str_is(mine->entries[0].tool->name, "a"));
    hub_view_unref(mine);
    hub_view_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_any_order_same_bytes),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_way_back),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_hidden_takes_no_name),
        cmocka_unit_test(test_collision_by_mode),
        cmocka_unit_test(test_suffix),
        cmocka_unit_test(test_native_wins),
        cmocka_unit_test(test_native_wins_over_flat),
        cmocka_unit_test(test_own_tools_win),
        cmocka_unit_test(test_incumbent_keeps_name),
        cmocka_unit_test(test_fresh_is_no_incumbent),
        cmocka_unit_test(test_update_yields),
        cmocka_unit_test(test_native_newcomer),
        cmocka_unit_test(test_longest_names),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
