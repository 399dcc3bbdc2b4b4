/* SPDX-License-Identifier: Apache-2.0 */
/* Views: who gets a name that two tools would have. */
#include "view_support.h"

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
    hub_catalog_unref(s.sources[0].lists[0]);
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
    hub_catalog_unref(s.sources[1].lists[0]);
    s.sources[1].lists[0] = parse("[" TOOL("ps") "," TOOL("search") "]");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collision_by_mode),     cmocka_unit_test(test_suffix),
        cmocka_unit_test(test_native_wins),           cmocka_unit_test(test_native_wins_over_flat),
        cmocka_unit_test(test_own_tools_win),         cmocka_unit_test(test_incumbent_keeps_name),
        cmocka_unit_test(test_fresh_is_no_incumbent), cmocka_unit_test(test_update_yields),
        cmocka_unit_test(test_native_newcomer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
