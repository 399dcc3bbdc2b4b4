/* SPDX-License-Identifier: Apache-2.0 */
/* ToolRegistry: adding, removing and updating toolsets, each entirely or not at all. */
#include "catalog_support.h"

#include "tools/registry.h"

typedef struct setup {
    hub_registry *registry;
    reports left_out;
    hub_error why;
} setup;

static void make_setup(setup *s, hub_naming naming)
{
    hub_view_rules rules = {.naming = naming, .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    memset(s, 0, sizeof *s);
    assert_int_equal(hub_registry_create(&rules, keep_report, &s->left_out, &s->registry), HUB_OK);
}

static hub_source source_of(const char *toolset, const char *tools, bool native)
{
    return (hub_source){.toolset = hub_str_of(toolset), .lists = {parse(tools)}, .native = native};
}

/* Add toolsets, and give back our references to their catalogs. */
static hub_err add_all(setup *s, hub_source *sources, size_t count)
{
    hub_err err = hub_registry_add(s->registry, sources, count, &s->why);
    for (size_t i = 0; i < count; i++) {
        hub_catalog_unref(sources[i].lists[0]);
    }
    return err;
}

static hub_err add(setup *s, const char *toolset, const char *tools)
{
    hub_source source = source_of(toolset, tools, false);
    return add_all(s, &source, 1);
}

static hub_err take_away(setup *s, const char *toolset)
{
    hub_str key = hub_str_of(toolset);
    return hub_registry_remove(s->registry, &key, 1, &s->why);
}

static hub_err update(setup *s, const char *toolset, const char *tools)
{
    hub_catalog *catalog = tools != NULL ? parse(tools) : NULL;
    hub_err err =
        hub_registry_update(s->registry, hub_str_of(toolset), HUB_KIND_TOOL, catalog, &s->why);
    hub_catalog_unref(catalog);
    return err;
}

static void expect_names(const setup *s, const char *want)
{
    char text[1024] = "";
    size_t len = 0;
    const hub_view *view = hub_registry_view(s->registry);
    for (size_t i = 0; i < view->count; i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s" HUB_STR_FMT, i > 0 ? " " : "",
                                HUB_STR_ARG(view->entries[i].exposed));
    }
    assert_string_equal(text, want);
}

/* ---- adding and removing --------------------------------------------------------------------- */

/* S2.39, S4.30, S4.31, S4.33 */
static void test_add_remove(void **state)
{
    setup s;
    size_t count;
    (void)state;
    make_setup(&s, HUB_NAMING_PREFIX);
    assert_non_null(hub_registry_view(s.registry)); /* S2.25 */
    expect_names(&s, "");
    assert_int_equal(add(&s, "git", "[" TOOL("status") "]"), HUB_OK);
    assert_int_equal(add(&s, "docker", "[" TOOL("ps") "]"), HUB_OK);
    expect_names(&s, "docker__ps git__status");
    const hub_source *sources = hub_registry_sources(s.registry, &count);
    assert_int_equal(count, 2);
    assert_true(hub_str_is(sources[0].toolset, "git")); /* in the order of registration */
    assert_false(sources[0].fresh);
    assert_non_null(hub_registry_find(s.registry, HUB_STR("docker")));
    assert_null(hub_registry_find(s.registry, HUB_STR("linear")));
    assert_int_equal(take_away(&s, "git"), HUB_OK);
    expect_names(&s, "docker__ps");
    assert_int_equal(take_away(&s, "git"), HUB_ENOTFOUND);
    assert_non_null(strstr(s.why.text, "\"git\" is not enabled"));
    expect_names(&s, "docker__ps");
    hub_registry_destroy(s.registry);
    hub_registry_destroy(NULL);
}

/* S4.21: the same toolset twice is a conflict, also within one batch; nothing is added. */
static void test_toolset_twice(void **state)
{
    setup s;
    (void)state;
    make_setup(&s, HUB_NAMING_PREFIX);
    assert_int_equal(add(&s, "git", "[" TOOL("a") "]"), HUB_OK);
    assert_int_equal(add(&s, "git", "[" TOOL("b") "]"), HUB_EEXIST);
    assert_non_null(strstr(s.why.text, "\"git\" is already enabled"));
    expect_names(&s, "git__a");
    hub_source batch[] = {source_of("x", "[" TOOL("a") "]", true),
                          source_of("y", "[" TOOL("a") "]", true),
                          source_of("x", "[" TOOL("b") "]", true)};
    assert_int_equal(add_all(&s, batch, 3), HUB_EEXIST);
    expect_names(&s, "git__a");
    hub_registry_destroy(s.registry);
}

/* S1.17 … S1.19, S3.69: all or none; the error names both owners; the old view stays the same one.
 */
static void test_rollback(void **state)
{
    setup s;
    (void)state;
    make_setup(&s, HUB_NAMING_NONE);
    assert_int_equal(add(&s, "git", "[" TOOL("search") "]"), HUB_OK);
    const hub_view *before = hub_registry_view(s.registry);
    hub_source batch[] = {source_of("docker", "[" TOOL("ps") "]", false),
                          source_of("linear", "[" TOOL("issue") "," TOOL("search") "]", false)};
    assert_int_equal(add_all(&s, batch, 2), HUB_ECOLLISION);
    assert_non_null(strstr(s.why.text, "linear:search"));
    assert_non_null(strstr(s.why.text, "git:search"));
    assert_ptr_equal(hub_registry_view(s.registry), before);
    expect_names(&s, "search");
    assert_null(hub_registry_find(s.registry, HUB_STR("docker")));
    /* … and works once the reason is gone. */
    assert_int_equal(take_away(&s, "git"), HUB_OK);
    hub_source again[] = {source_of("docker", "[" TOOL("ps") "]", false),
                          source_of("linear", "[" TOOL("issue") "," TOOL("search") "]", false)};
    assert_int_equal(add_all(&s, again, 2), HUB_OK);
    expect_names(&s, "ps issue search");
    hub_registry_destroy(s.registry);
}

/* S1.10: within one batch, too. */
static void test_collision_within_batch(void **state)
{
    setup s;
    (void)state;
    make_setup(&s, HUB_NAMING_NONE);
    hub_source batch[] = {source_of("a", "[" TOOL("x") "]", true),
                          source_of("b", "[" TOOL("x") "]", true)};
    assert_int_equal(add_all(&s, batch, 2), HUB_ECOLLISION);
    expect_names(&s, "");
    hub_registry_destroy(s.registry);
}

static void test_remove_all_or_none(void **state)
{
    setup s;
    hub_str both[] = {HUB_STR("git"), HUB_STR("nobody")};
    hub_str twice[] = {HUB_STR("git"), HUB_STR("git")};
    hub_str two[] = {HUB_STR("docker"), HUB_STR("git")};
    (void)state;
    make_setup(&s, HUB_NAMING_PREFIX);
    assert_int_equal(add(&s, "git", "[" TOOL("a") "]"), HUB_OK);
    assert_int_equal(add(&s, "docker", "[" TOOL("a") "]"), HUB_OK);
    assert_int_equal(hub_registry_remove(s.registry, both, 2, &s.why), HUB_ENOTFOUND);
    assert_int_equal(hub_registry_remove(s.registry, twice, 2, &s.why), HUB_ENOTFOUND);
    expect_names(&s, "docker__a git__a");
    assert_int_equal(hub_registry_remove(s.registry, two, 2, &s.why), HUB_OK);
    expect_names(&s, "");
    hub_registry_destroy(s.registry);
}

/* S1.13, S1.45: enable, disable, enable works for ever. */
static void test_for_ever(void **state)
{
    setup s;
    (void)state;
    make_setup(&s, HUB_NAMING_NONE);
    assert_int_equal(add(&s, "other", "[" TOOL("y") "]"), HUB_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(add(&s, "git", "[" TOOL("x") "]"), HUB_OK);
        expect_names(&s, "x y");
        assert_int_equal(take_away(&s, "git"), HUB_OK);
        expect_names(&s, "y");
    }
    hub_registry_destroy(s.registry);
}

/* ---- updating -------------------------------------------------------------------------------- */

/* S5.20, S4.30: a toolset's catalog is replaced as a whole; the others stay. */
static void test_update(void **state)
{
    setup s;
    (void)state;
    make_setup(&s, HUB_NAMING_PREFIX);
    assert_int_equal(add(&s, "git", "[" TOOL("a") "," TOOL("b") "]"), HUB_OK);
    assert_int_equal(add(&s, "docker", "[" TOOL("ps") "]"), HUB_OK);
    assert_int_equal(update(&s, "git", "[" TOOL("b") "," TOOL("c") "]"), HUB_OK);
    expect_names(&s, "docker__ps git__b git__c");
    assert_int_equal(update(&s, "git", NULL), HUB_OK);
    expect_names(&s, "docker__ps");
    assert_int_equal(update(&s, "nobody", "[]"), HUB_ENOTFOUND);
    expect_names(&s, "docker__ps");
    hub_registry_destroy(s.registry);
}

/* An update never fails for a name: who was there keeps it, the newcomer is left out; and gets it
 * when it has become free. */
static void test_update_collides(void **state)
{
    setup s;
    (void)state;
    make_setup(&s, HUB_NAMING_NONE);
    assert_int_equal(add(&s, "git", "[" TOOL("search") "]"), HUB_OK);
    assert_int_equal(add(&s, "docker", "[" TOOL("ps") "]"), HUB_OK);
    assert_int_equal(update(&s, "docker", "[" TOOL("ps") "," TOOL("search") "]"), HUB_OK);
    expect_names(&s, "ps search");
    assert_int_equal(s.left_out.count, 1);
    const hub_view_entry *entry = hub_view_find(hub_registry_view(s.registry), HUB_STR("search"));
    assert_true(hub_str_is(entry->canonical, "git:search"));
    assert_int_equal(take_away(&s, "git"), HUB_OK);
    entry = hub_view_find(hub_registry_view(s.registry), HUB_STR("search"));
    assert_true(hub_str_is(entry->canonical, "docker:search"));
    hub_registry_destroy(s.registry);
}

/* S2.4, S4.56: in whatever order toolsets come and go, the same set gives the same bytes. */
static void test_history_does_not_show(void **state)
{
    static const char *const KEYS[] = {"git", "docker", "linear", "a-b", "a"};
    static const char TOOLS[] = "[" TOOL("x") "," TOOL("y") "]";
    setup one;
    setup two;
    (void)state;
    make_setup(&one, HUB_NAMING_FLAT);
    make_setup(&two, HUB_NAMING_FLAT);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(add(&one, KEYS[i], TOOLS), HUB_OK);
        assert_int_equal(add(&two, KEYS[4 - i], TOOLS), HUB_OK);
    }
    assert_int_equal(take_away(&two, "linear"), HUB_OK);
    assert_int_equal(add(&two, "linear", TOOLS), HUB_OK);
    assert_int_equal(update(&two, "git", "[" TOOL("z") "]"), HUB_OK);
    assert_int_equal(update(&two, "git", TOOLS), HUB_OK);
    assert_true(hub_view_equal(hub_registry_view(one.registry), hub_registry_view(two.registry)));
    assert_int_equal(hub_registry_view(one.registry)->count, 10);
    hub_registry_destroy(one.registry);
    hub_registry_destroy(two.registry);
}

/* S2.15, S2.22: filters bind whoever asks; a held view outlives the change. */
static void test_filters_and_snapshots(void **state)
{
    hub_filter_rule rule = {HUB_FILTER_DENY_TOOLS, NAMES("git:hidden")};
    hub_policy_rules policy = {.filters = &rule, .filter_count = 1};
    hub_view_rules rules = {
        .naming = HUB_NAMING_PREFIX, .max_name_bytes = 64, .policies = {&policy, NULL}};
    setup s = {.registry = NULL};
    (void)state;
    assert_int_equal(hub_registry_create(&rules, keep_report, &s.left_out, &s.registry), HUB_OK);
    hub_source source = source_of("git", "[" TOOL("shown") "," TOOL("hidden") "]", true);
    assert_int_equal(hub_registry_exposes(s.registry, &source, &source.lists[0]->items[0]), true);
    assert_int_equal(hub_registry_exposes(s.registry, &source, &source.lists[0]->items[1]), false);
    assert_int_equal(add_all(&s, &source, 1), HUB_OK);
    expect_names(&s, "git__shown");
    hub_view *mine = hub_view_ref(hub_registry_view(s.registry));
    assert_int_equal(take_away(&s, "git"), HUB_OK);
    hub_registry_destroy(s.registry);
    assert_true(hub_str_is(mine->entries[0].exposed, "git__shown"));
    hub_view_unref(mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_remove),
        cmocka_unit_test(test_toolset_twice),
        cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_collision_within_batch),
        cmocka_unit_test(test_remove_all_or_none),
        cmocka_unit_test(test_for_ever),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_update_collides),
        cmocka_unit_test(test_history_does_not_show),
        cmocka_unit_test(test_filters_and_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
