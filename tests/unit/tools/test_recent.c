/* SPDX-License-Identifier: Apache-2.0 */
/* Where a name leads is kept with what is shown: a name that was looked up before leads where one leads
 * that never was, whatever has changed between. */
#include "section_support.h"

static int FIRST;
static int SECOND;

/* Both toolsets, with `git` active. */
static hub_exposure *begin(hub_base **ret_base, hub_naming naming)
{
    hub_naming_rule rule = {.naming = naming, .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_exposure_rules none = {.policies = {NULL, NULL}};
    hub_source sources[] = {{.toolset = HUB_STR("docker"), .owner = &SECOND},
                            {.toolset = HUB_STR("git"), .owner = &FIRST}};
    hub_exposure *exposure = NULL;
    assert_int_equal(hub_base_create(&rule, sources, 2, NULL, ret_base, NULL), HUB_OK);
    assert_int_equal(
        hub_exposure_create(*ret_base, &none, &sources[1], 1, NULL, NULL, &exposure, NULL), HUB_OK);
    return exposure;
}

static void update(hub_base *base, const char *toolset, const char *tools)
{
    hub_catalog *catalog = parse(tools);
    assert_int_equal(hub_base_update(base, hub_str_of(toolset), HUB_KIND_TOOL, catalog, NULL),
                     HUB_OK);
    hub_catalog_unref(catalog);
}

/* Found as by a walk over what is shown in that revision; twice, since the first may keep it. */
static const hub_entry *look(const hub_exposure *exposure, hub_revision revision, const char *name)
{
    const hub_shown *shown = hub_shown_in(hub_exposure_shown(exposure, HUB_KIND_TOOL), revision);
    hub_shown_place at = {.part = 0};
    const hub_entry *entry = hub_shown_next(shown, &at);
    while (entry != NULL && !hub_str_is(entry->exposed, name)) {
        entry = hub_shown_next(shown, &at);
    }
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(hub_exposure_find(exposure, revision, HUB_KIND_TOOL, hub_str_of(name)),
                         entry);
    }
    return entry;
}

static const hub_entry *see(const hub_exposure *exposure, const char *name)
{
    return look(exposure, HUB_REVISION_NONE, name);
}

/* A list of the same bytes is the same one for clients, and has the same serial; what the name led to is
 * gone with the list before. */
static void test_same_bytes(void **state)
{
    hub_base *base = NULL;
    hub_exposure *exposure = begin(&base, HUB_NAMING_PREFIX);
    (void)state;
    update(base, "git", "[" TOOL("a") "]");
    assert_ptr_equal(see(exposure, "git__a")->owner, &FIRST);
    uint64_t serial = hub_exposure_serial(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL);
    update(base, "git", "[ " TOOL("a") " ]");
    assert_int_equal(hub_exposure_serial(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL), serial);
    const hub_entry *entry = see(exposure, "git__a");
    assert_true(hub_str_is(entry->item->name, "a"));
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
}

/* … a tool that its toolset has no more, or of a toolset that is not active any more; and back. */
static void test_gone(void **state)
{
    hub_base *base = NULL;
    hub_exposure *exposure = begin(&base, HUB_NAMING_PREFIX);
    hub_str git = HUB_STR("git");
    hub_source source = {.toolset = git, .owner = &SECOND};
    (void)state;
    for (int i = 0; i < 3; i++) {
        update(base, "git", "[" TOOL("a") "," TOOL("b") "]");
        assert_non_null(see(exposure, "git__a"));
        assert_non_null(see(exposure, "git__b"));
        update(base, "git", "[" TOOL("b") "]");
        assert_null(see(exposure, "git__a"));
        assert_non_null(see(exposure, "git__b"));
        assert_int_equal(hub_exposure_remove(exposure, &git, 1, NULL), HUB_OK);
        assert_null(see(exposure, "git__b"));
        source.lists[HUB_KIND_TOOL] = parse("[" TOOL("b") "]");
        assert_int_equal(hub_exposure_add(exposure, &source, 1, NULL), HUB_OK);
        hub_catalog_unref(source.lists[HUB_KIND_TOOL]);
        assert_non_null(see(exposure, "git__b"));
    }
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
}

/* After a reload: another base, in which the toolset is somebody else. */
static void test_replaced(void **state)
{
    hub_base *base = NULL;
    hub_exposure *exposure = begin(&base, HUB_NAMING_PREFIX);
    hub_naming_rule rule = {.naming = HUB_NAMING_PREFIX,
                            .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_exposure_rules none = {.policies = {NULL, NULL}};
    hub_source source = {.toolset = HUB_STR("git"), .owner = &SECOND};
    hub_base *next_base = NULL;
    hub_exposure *next = NULL;
    (void)state;
    update(base, "git", "[" TOOL("a") "]");
    assert_ptr_equal(see(exposure, "git__a")->owner, &FIRST);
    source.lists[HUB_KIND_TOOL] = parse("[" TOOL("a") "]");
    assert_int_equal(hub_base_create(&rule, &source, 1, base, &next_base, NULL), HUB_OK);
    assert_int_equal(hub_exposure_create(next_base, &none, &source, 1, NULL, NULL, &next, NULL),
                     HUB_OK);
    hub_catalog_unref(source.lists[HUB_KIND_TOOL]);
    hub_exposure_replace(exposure, next);
    hub_base_unref(base);
    assert_ptr_equal(see(exposure, "git__a")->owner, &SECOND);
    hub_exposure_destroy(exposure);
    hub_base_unref(next_base);
}

/* Another's catalog takes a name away: what had it is called otherwise. */
static void test_contested(void **state)
{
    hub_base *base = NULL;
    hub_exposure *exposure = begin(&base, HUB_NAMING_NONE);
    (void)state;
    update(base, "git", "[" TOOL("search") "]");
    assert_non_null(see(exposure, "search"));
    update(base, "docker", "[" TOOL("search") "]"); /* not active */
    assert_null(see(exposure, "search"));
    assert_non_null(see(exposure, "git__search"));
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
}

/* ---- who may see what ------------------------------------------------------------------------ */

static bool shows(const void *ctx, const hub_source *source, hub_kind kind, const hub_item *item)
{
    (void)ctx;
    (void)source;
    (void)kind;
    return !hub_str_starts(item->name, HUB_STR("hidden"));
}

static bool may_show(const void *ctx, const hub_source *source)
{
    (void)ctx;
    (void)source;
    return true;
}

/* What one may not see is not found by its name, though others call it; whoever looks first. */
static void test_hidden(void **state)
{
    static const hub_exposure_filter FILTER = {.shows = shows, .may_show = may_show, .ctx = "x"};
    hub_base *base = NULL;
    hub_exposure *exposure = begin(&base, HUB_NAMING_PREFIX);
    hub_exposure *veil = NULL;
    (void)state;
    for (int i = 0; i < 2; i++) {
        update(base, "git",
               i == 0 ? "[" TOOL("hidden") "," TOOL("a") "]"
                      : "[" TOOL("hidden2") "," TOOL("a") "]");
        const char *hidden = i == 0 ? "git__hidden" : "git__hidden2";
        assert_int_equal(hub_exposure_veil(exposure, &FILTER, &veil), HUB_OK);
        if (i == 0) {
            assert_non_null(see(exposure, hidden));
        }
        assert_null(see(veil, hidden));
        assert_non_null(see(exposure, hidden));
        assert_null(see(veil, hidden));
        assert_ptr_equal(see(veil, "git__a"), see(exposure, "git__a"));
    }
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
}

/* … nor what is not selected, … */
static void test_selected(void **state)
{
    const hub_selected item = {.toolset = HUB_STR("git"), .tool = HUB_STR("a")};
    hub_base *base = NULL;
    hub_exposure *exposure = begin(&base, HUB_NAMING_PREFIX);
    hub_source source = {.toolset = HUB_STR("git"), .owner = &FIRST};
    hub_selection *selection = NULL;
    (void)state;
    source.lists[HUB_KIND_TOOL] = parse("[" TOOL("a") "," TOOL("b") "]");
    update(base, "git", "[" TOOL("a") "," TOOL("b") "]");
    assert_int_equal(hub_selection_create(&item, 1, &selection), HUB_OK);
    for (int i = 0; i < 2; i++) {
        assert_non_null(see(exposure, "git__a"));
        assert_non_null(see(exposure, "git__b"));
        assert_int_equal(hub_exposure_choose(exposure, &source, 1, selection, NULL), HUB_OK);
        assert_non_null(see(exposure, "git__a"));
        assert_null(see(exposure, "git__b"));
        assert_int_equal(hub_exposure_choose(exposure, &source, 1, NULL, NULL), HUB_OK);
    }
    hub_selection_unref(selection);
    hub_catalog_unref(source.lists[HUB_KIND_TOOL]);
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
}

/* … nor what is not valid in a revision, though it is in others. */
static void test_revisions(void **state)
{
    static const char TOOLS[] = "[" NEWER("modern") "," TOOL("a") "]";
    hub_base *base = NULL;
    hub_exposure *exposure = begin(&base, HUB_NAMING_PREFIX);
    (void)state;
    update(base, "git", TOOLS);
    for (int i = 0; i < 2; i++) {
        assert_non_null(look(exposure, HUB_REVISION_2026_07_28, "git__modern"));
        assert_null(look(exposure, HUB_REVISION_2025_11_25, "git__modern"));
        assert_non_null(look(exposure, HUB_REVISION_2025_11_25, "git__a"));
        assert_non_null(look(exposure, HUB_REVISION_2026_07_28, "git__a"));
    }
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
}

/* ---- more names than are kept ---------------------------------------------------------------- */

/* Names that share their length, their first and their last characters, and parts of them: each leads to
 * its own tool, and what is nearly one of them nowhere. */
static void test_many(void **state)
{
    enum { NAMES = 5 * HUB_SHOWN_RECENT };
    char tools[NAMES * 64] = "[";
    size_t len = 1;
    hub_base *base = NULL;
    hub_exposure *exposure = begin(&base, HUB_NAMING_PREFIX);
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        len += (size_t)snprintf(tools + len, sizeof tools - len,
                                "%s{\"name\":\"a%02dz\",\"inputSchema\":{\"type\":\"object\"}}",
                                i > 0 ? "," : "", i);
    }
    (void)snprintf(tools + len, sizeof tools - len, "]");
    update(base, "git", tools);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < NAMES; i++) {
            char name[16];
            (void)snprintf(name, sizeof name, "git__a%02dz", i);
            const hub_entry *entry = see(exposure, name);
            assert_true(hub_str_is(entry->item->name, name + 5));
            name[7] = '-';
            assert_null(see(exposure, name));
            (void)snprintf(name, sizeof name, "git__a%02d", i);
            assert_null(see(exposure, name));
        }
        assert_null(see(exposure, ""));
    }
    hub_exposure_destroy(exposure);
    hub_base_unref(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_replaced),   cmocka_unit_test(test_contested),
        cmocka_unit_test(test_hidden),     cmocka_unit_test(test_selected),
        cmocka_unit_test(test_revisions),  cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
