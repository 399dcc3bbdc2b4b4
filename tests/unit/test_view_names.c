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
    assert_int_equal(try_build(&s, &view), HUB_ECOLLISION);
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
    assert_true(hub_str_is(plain->canonical, "a_b:c")); /* its toolset came first */
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
    assert_int_equal(try_build(&s, &view), HUB_ECOLLISION);
    assert_non_null(strstr(s.why.text, "_meta:list_tools"));
    clear(&s);
}

/* ---- who comes first --------------------------------------------------------------------------
 */

/* Who became active first has the better claim, though it is not first in the list: the other one
 * gets the suffix, and is called as it would be alone when the first goes. */
static void test_order_of_sources(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    (void)state;
    add(&s, "a_b", "[" TOOL("c") "]", false);
    add(&s, "a", "[" TOOL("b_c") "]", false);
    hub_view *view = build(&s);
    assert_true(hub_str_is(hub_view_find(view, HUB_STR("a_b_c"))->canonical, "a_b:c"));
    assert_int_equal(view->count, 2);
    assert_int_equal(view->entries[0].exposed.len, strlen("a_b_c") + 9);
    hub_view_unref(view);
    hub_catalog_unref(s.sources[0].lists[0]);
    s.sources[0] = s.sources[1];
    s.count = 1;
    view = build(&s);
    expect_names(view, "a_b_c");
    hub_view_unref(view);
    clear(&s);
}

/* D06: whose catalog comes first does not matter, with any naming: the last one to come changes
 * nothing but what the order of the sources says. */
static void test_order_of_arrival(void **state)
{
    static const char *const LISTS[] = {"[" TOOL("x") "," TOOL("b_x") "]", "[" TOOL("x") "]",
                                        "[" TOOL("x") "," TOOL("y") "]"};
    static const char *const KEYS[] = {"b", "a_b", "a"};
    (void)state;
    for (int naming = HUB_NAMING_PREFIX; naming <= HUB_NAMING_NONE; naming++) {
        char first[4096] = "";
        for (unsigned order = 0; order < 6; order++) {
            setup s = make_setup((hub_naming)naming);
            hub_view *view = NULL;
            for (size_t i = 0; i < 3; i++) {
                hub_source *source = add(&s, KEYS[i], "[]", false);
                hub_catalog_unref(source->lists[0]);
                source->lists[0] = NULL;
                source->fresh = false;
            }
            for (unsigned step = 0; step < 3; step++) {
                size_t at = (order + step * (1 + order / 3)) % 3;
                s.sources[at].lists[0] = parse(LISTS[at]);
                hub_view_unref(view);
                assert_int_equal(try_build(&s, &view), HUB_OK);
            }
            char *bytes = hub_str_dup(hub_view_slice(view, 0, view->count));
            if (order == 0) {
                (void)snprintf(first, sizeof first, "%s", bytes);
            }
            assert_string_equal(bytes, first);
            free(bytes);
            hub_view_unref(view);
            clear(&s);
        }
    }
}

/* An upstream that changes its list cannot fail, only lose: its new tool yields to the old one. */
static void test_update_yields(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "git", "[" TOOL("search") "]", false);
    add(&s, "docker", "[" TOOL("ps") "]", false);
    for (size_t i = 0; i < s.count; i++) {
        s.sources[i].fresh = false;
    }
    hub_catalog_unref(s.sources[1].lists[0]);
    s.sources[1].lists[0] = parse("[" TOOL("ps") "," TOOL("search") "]");
    hub_view *after = NULL;
    assert_int_equal(try_build(&s, &after), HUB_OK);
    expect_names(after, "ps search");
    assert_true(hub_str_is(hub_view_find(after, HUB_STR("search"))->canonical, "git:search"));
    assert_int_equal(s.left_out.count, 1);
    hub_view_unref(after);
    clear(&s);
}

/* S4.19 again: a native newcomer takes the name from an upstream that had it. */
static void test_native_newcomer(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "git", "[" TOOL("search") "]", false);
    s.sources[0].fresh = false;
    add(&s, "zz", "[" TOOL("search") "]", true);
    hub_view *after = NULL;
    assert_int_equal(try_build(&s, &after), HUB_OK);
    expect_names(after, "search");
    assert_true(hub_str_is(after->entries[0].canonical, "zz:search"));
    assert_int_equal(s.left_out.count, 1);
    hub_view_unref(after);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collision_by_mode), cmocka_unit_test(test_suffix),
        cmocka_unit_test(test_native_wins),       cmocka_unit_test(test_native_wins_over_flat),
        cmocka_unit_test(test_own_tools_win),     cmocka_unit_test(test_order_of_sources),
        cmocka_unit_test(test_order_of_arrival),  cmocka_unit_test(test_update_yields),
        cmocka_unit_test(test_native_newcomer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
