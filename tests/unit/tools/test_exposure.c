/* SPDX-License-Identifier: Apache-2.0 */
/* Exposures: adding, removing and updating toolsets, each entirely or not at all; and what it costs. */
#include "section_support.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern size_t __sanitizer_get_current_allocated_bytes(void);
#define ALLOCATED() __sanitizer_get_current_allocated_bytes()
#else
#include <malloc.h>
#define ALLOCATED() (mallinfo2().uordblks + mallinfo2().hblkhd)
#endif

static const char *const CONFIGURED[] = {"git",   "docker", "linear", "a-b", "a",
                                         "other", "x",      "y",      "b"};

typedef struct exposed {
    hub_base *base;
    hub_exposure *exposure;
    reports left_out;
    hub_error why;
} exposed;

static void make_exposed(exposed *s, hub_naming naming, const hub_exposure_rules *rules)
{
    hub_naming_rule rule = {.naming = naming, .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_exposure_rules none = {.policies = {NULL, NULL}};
    hub_source sources[sizeof CONFIGURED / sizeof CONFIGURED[0]] = {{.owner = NULL}};
    size_t count = sizeof CONFIGURED / sizeof CONFIGURED[0];
    for (size_t i = 0; i < count; i++) {
        sources[i].toolset = hub_str_of(CONFIGURED[i]);
    }
    memset(s, 0, sizeof *s);
    assert_int_equal(hub_base_create(&rule, sources, count, NULL, &s->base, NULL), HUB_OK);
    assert_int_equal(hub_exposure_create(s->base, rules != NULL ? rules : &none, NULL, 0,
                                         keep_report, &s->left_out, &s->exposure, NULL),
                     HUB_OK);
}

static void destroy(exposed *s)
{
    hub_exposure_destroy(s->exposure);
    hub_base_unref(s->base);
}

static hub_source source_of(const char *toolset, const char *tools, bool native)
{
    return (hub_source){.toolset = hub_str_of(toolset), .lists = {parse(tools)}, .native = native};
}

/* Add toolsets, and give back our references to their catalogs. */
static hub_err add_all(exposed *s, hub_source *sources, size_t count)
{
    hub_err err = hub_exposure_add(s->exposure, sources, count, &s->why);
    for (size_t i = 0; i < count; i++) {
        hub_catalog_unref(sources[i].lists[0]);
    }
    return err;
}

static hub_err add_one(exposed *s, const char *toolset, const char *tools)
{
    hub_source source = source_of(toolset, tools, false);
    return add_all(s, &source, 1);
}

static hub_err take_away(exposed *s, const char *toolset)
{
    hub_str key = hub_str_of(toolset);
    return hub_exposure_remove(s->exposure, &key, 1, &s->why);
}

static hub_err update(exposed *s, const char *toolset, const char *tools)
{
    hub_catalog *catalog = tools != NULL ? parse(tools) : NULL;
    hub_err err = hub_base_update(s->base, hub_str_of(toolset), HUB_KIND_TOOL, catalog, &s->why);
    hub_catalog_unref(catalog);
    return err;
}

static uint64_t serial(const exposed *s)
{
    return hub_exposure_serial(s->exposure, HUB_REVISION_NONE, HUB_KIND_TOOL);
}

/* ---- adding and removing --------------------------------------------------------------------- */

/* S2.39, S4.30, S4.31, S4.33 */
static void test_add_remove(void **state)
{
    exposed s;
    size_t count;
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_non_null(hub_exposure_shown(s.exposure, HUB_KIND_TOOL)); /* S2.25 */
    expect_names(s.exposure, "");
    assert_int_equal(add_one(&s, "git", "[" TOOL("status") "]"), HUB_OK);
    assert_int_equal(add_one(&s, "docker", "[" TOOL("ps") "]"), HUB_OK);
    expect_names(s.exposure, "docker__ps git__status");
    const hub_source *const *sources = hub_exposure_sources(s.exposure, &count);
    assert_int_equal(count, 2);
    assert_true(hub_str_is(sources[0]->toolset, "git")); /* in the order of registration */
    assert_non_null(hub_exposure_source(s.exposure, HUB_STR("docker")));
    assert_null(hub_exposure_source(s.exposure, HUB_STR("linear")));
    assert_int_equal(take_away(&s, "git"), HUB_OK);
    expect_names(s.exposure, "docker__ps");
    assert_int_equal(take_away(&s, "git"), HUB_ENOTFOUND);
    assert_non_null(strstr(s.why.text, "\"git\" is not enabled"));
    expect_names(s.exposure, "docker__ps");
    destroy(&s);
    hub_exposure_destroy(NULL);
    hub_base_unref(NULL);
}

/* S4.21: the same toolset twice is a conflict, also within one batch; nothing is added. */
static void test_toolset_twice(void **state)
{
    exposed s;
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_int_equal(add_one(&s, "git", "[" TOOL("a") "]"), HUB_OK);
    assert_int_equal(add_one(&s, "git", "[" TOOL("b") "]"), HUB_EEXIST);
    assert_non_null(strstr(s.why.text, "\"git\" is already enabled"));
    expect_names(s.exposure, "git__a");
    hub_source batch[] = {source_of("x", "[" TOOL("a") "]", true),
                          source_of("y", "[" TOOL("a") "]", true),
                          source_of("x", "[" TOOL("b") "]", true)};
    assert_int_equal(add_all(&s, batch, 3), HUB_EEXIST);
    expect_names(s.exposure, "git__a");
    destroy(&s);
}

/* A copy shows the same thing, and goes its own way. A change of a catalog that it does not show is
 * none for it. */
static void test_copies(void **state)
{
    exposed s;
    hub_exposure *copy = NULL;
    hub_str docker = HUB_STR("docker");
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_int_equal(add_one(&s, "git", "[" TOOL("status") "]"), HUB_OK);
    assert_int_equal(add_one(&s, "docker", "[" TOOL("ps") "]"), HUB_OK);
    assert_int_equal(hub_exposure_copy(s.exposure, &copy), HUB_OK);
    assert_ptr_equal(hub_exposure_shown(copy, HUB_KIND_TOOL),
                     hub_exposure_shown(s.exposure, HUB_KIND_TOOL));
    assert_int_equal(hub_exposure_serial(copy, HUB_REVISION_NONE, HUB_KIND_TOOL), serial(&s));
    assert_int_equal(hub_exposure_remove(copy, &docker, 1, NULL), HUB_OK);
    expect_names(copy, "git__status");
    expect_names(s.exposure, "docker__ps git__status");
    const hub_shown *shown = hub_exposure_shown(copy, HUB_KIND_TOOL);
    uint64_t was = hub_exposure_serial(copy, HUB_REVISION_NONE, HUB_KIND_TOOL);
    uint64_t of_all = serial(&s);
    assert_int_equal(update(&s, "docker", "[" TOOL("run") "]"), HUB_OK);
    expect_names(s.exposure, "docker__run git__status");
    assert_true(serial(&s) > of_all);
    assert_ptr_equal(hub_exposure_shown(copy, HUB_KIND_TOOL), shown);
    assert_int_equal(hub_exposure_serial(copy, HUB_REVISION_NONE, HUB_KIND_TOOL), was);
    assert_int_equal(update(&s, "git", "[" TOOL("log") "]"), HUB_OK);
    expect_names(copy, "git__log");
    hub_exposure_destroy(copy);
    expect_names(s.exposure, "docker__run git__log");
    destroy(&s);
}

/* All or none; what was shown stays the same one. */
static void test_rollback(void **state)
{
    exposed s;
    (void)state;
    make_exposed(&s, HUB_NAMING_NONE, NULL);
    assert_int_equal(add_one(&s, "git", "[" TOOL("search") "]"), HUB_OK);
    const hub_shown *before = hub_exposure_shown(s.exposure, HUB_KIND_TOOL);
    uint64_t was = serial(&s);
    hub_source batch[] = {source_of("docker", "[" TOOL("ps") "]", false),
                          source_of("nobody", "[" TOOL("issue") "]", false)};
    assert_int_equal(add_all(&s, batch, 2), HUB_ENOTFOUND);
    assert_non_null(strstr(s.why.text, "\"nobody\""));
    assert_ptr_equal(hub_exposure_shown(s.exposure, HUB_KIND_TOOL), before);
    assert_int_equal(serial(&s), was);
    expect_names(s.exposure, "search");
    assert_null(hub_exposure_source(s.exposure, HUB_STR("docker")));
    destroy(&s);
}

static void test_remove_all_or_none(void **state)
{
    exposed s;
    hub_str both[] = {HUB_STR("git"), HUB_STR("nobody")};
    hub_str twice[] = {HUB_STR("git"), HUB_STR("git")};
    hub_str two[] = {HUB_STR("docker"), HUB_STR("git")};
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_int_equal(add_one(&s, "git", "[" TOOL("a") "]"), HUB_OK);
    assert_int_equal(add_one(&s, "docker", "[" TOOL("a") "]"), HUB_OK);
    assert_int_equal(hub_exposure_remove(s.exposure, both, 2, &s.why), HUB_ENOTFOUND);
    assert_int_equal(hub_exposure_remove(s.exposure, twice, 2, &s.why), HUB_ENOTFOUND);
    expect_names(s.exposure, "docker__a git__a");
    assert_int_equal(hub_exposure_remove(s.exposure, two, 2, &s.why), HUB_OK);
    expect_names(s.exposure, "");
    destroy(&s);
}

/* S1.13, S1.45: enable, disable, enable works for ever. */
static void test_for_ever(void **state)
{
    exposed s;
    (void)state;
    make_exposed(&s, HUB_NAMING_NONE, NULL);
    assert_int_equal(add_one(&s, "other", "[" TOOL("y") "]"), HUB_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(add_one(&s, "git", "[" TOOL("x") "]"), HUB_OK);
        expect_names(s.exposure, "x y");
        assert_int_equal(take_away(&s, "git"), HUB_OK);
        expect_names(s.exposure, "y");
    }
    destroy(&s);
}

/* ---- updating -------------------------------------------------------------------------------- */

/* S5.20, S4.30: a toolset's catalog is replaced as a whole; the others stay. */
static void test_update(void **state)
{
    exposed s;
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_int_equal(add_one(&s, "git", "[" TOOL("a") "," TOOL("b") "]"), HUB_OK);
    assert_int_equal(add_one(&s, "docker", "[" TOOL("ps") "]"), HUB_OK);
    assert_int_equal(update(&s, "git", "[" TOOL("b") "," TOOL("c") "]"), HUB_OK);
    expect_names(s.exposure, "docker__ps git__b git__c");
    assert_int_equal(update(&s, "git", NULL), HUB_OK);
    expect_names(s.exposure, "docker__ps");
    assert_int_equal(update(&s, "nobody", "[]"), HUB_ENOTFOUND);
    expect_names(s.exposure, "docker__ps");
    destroy(&s);
}

/* Another's catalog can take a name from a tool, which is told to whom it concerns: those who see
 * it. It counts as news only when other bytes are shown. */
static void test_serials(void **state)
{
    exposed s;
    (void)state;
    make_exposed(&s, HUB_NAMING_NONE, NULL);
    assert_int_equal(add_one(&s, "git", "[" TOOL("search") "]"), HUB_OK);
    uint64_t was = serial(&s);
    uint64_t others = hub_exposure_serial(s.exposure, HUB_REVISION_NONE, HUB_KIND_PROMPT);
    assert_int_equal(update(&s, "docker", "[" TOOL("ps") "]"), HUB_OK); /* not active */
    assert_int_equal(update(&s, "git", "[" TOOL("search") "]"), HUB_OK);
    assert_int_equal(update(&s, "git", "[ " TOOL("search") "]"), HUB_OK); /* the same definition */
    assert_int_equal(serial(&s), was);
    assert_int_equal(update(&s, "docker", "[" TOOL("ps") "," TOOL("search") "]"), HUB_OK);
    expect_names(s.exposure, "git__search");
    assert_true(serial(&s) > was);
    assert_int_equal(hub_exposure_newest_serial(s.exposure), serial(&s));
    assert_int_equal(hub_exposure_serial(s.exposure, HUB_REVISION_NONE, HUB_KIND_PROMPT), others);
    was = serial(&s);
    assert_int_equal(add_one(&s, "x", "[]"), HUB_OK);
    assert_int_equal(serial(&s), was);
    destroy(&s);
}

/* S2.4, S4.56: in whatever order toolsets come and go, the same set gives the same bytes. */
static void test_history_does_not_show(void **state)
{
    static const char *const KEYS[] = {"git", "docker", "linear", "a-b", "a"};
    static const char TOOLS[] = "[" TOOL("x") "," TOOL("y") "]";
    exposed one;
    exposed two;
    (void)state;
    make_exposed(&one, HUB_NAMING_FLAT, NULL);
    make_exposed(&two, HUB_NAMING_FLAT, NULL);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(add_one(&one, KEYS[i], TOOLS), HUB_OK);
        assert_int_equal(add_one(&two, KEYS[4 - i], TOOLS), HUB_OK);
    }
    assert_int_equal(take_away(&two, "linear"), HUB_OK);
    assert_int_equal(add_one(&two, "linear", TOOLS), HUB_OK);
    assert_int_equal(update(&two, "git", "[" TOOL("z") "]"), HUB_OK);
    assert_int_equal(update(&two, "git", TOOLS), HUB_OK);
    assert_true(hub_shown_equal(hub_exposure_shown(one.exposure, HUB_KIND_TOOL),
                                hub_exposure_shown(two.exposure, HUB_KIND_TOOL)));
    assert_int_equal(count_tools(one.exposure), 10);
    destroy(&one);
    destroy(&two);
}

/* S2.15, S2.22: filters bind whoever asks; what is held outlives the change. */
static void test_filters_and_snapshots(void **state)
{
    hub_filter_rule rule = {HUB_FILTER_DENY_TOOLS, NAMES("git:hidden")};
    hub_policy_rules policy = {.filters = &rule, .filter_count = 1};
    hub_exposure_rules rules = {.policies = {&policy, NULL}};
    exposed s;
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, &rules);
    hub_source source = source_of("git", "[" TOOL("shown") "," TOOL("hidden") "]", true);
    assert_true(hub_exposure_exposes(s.exposure, &source, &source.lists[0]->items[0]));
    assert_false(hub_exposure_exposes(s.exposure, &source, &source.lists[0]->items[1]));
    assert_int_equal(add_all(&s, &source, 1), HUB_OK);
    expect_names(s.exposure, "git__shown");
    assert_null(find(s.exposure, "git__hidden"));
    hub_shown *mine = hub_shown_ref(hub_exposure_shown(s.exposure, HUB_KIND_TOOL));
    assert_int_equal(take_away(&s, "git"), HUB_OK);
    destroy(&s);
    hub_shown_place at = {.part = 0};
    assert_true(hub_str_is(hub_shown_next(mine, &at)->exposed, "git__shown"));
    hub_shown_unref(mine);
}

/* ---- what it costs --------------------------------------------------------------------------- */

enum { EXPOSURES = 20, DESCRIPTION_BYTES = 900 };

static char *make_tools(size_t count, size_t description_bytes)
{
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    for (size_t i = 0; i < count; i++) {
        hub_buf_printf(&json,
                       "%c{\"name\":\"tool%zu\",\"description\":\"%*s\",\"inputSchema\":{\"type\":"
                       "\"object\"}}",
                       i > 0 ? ',' : '[', i, (int)description_bytes, "");
    }
    hub_buf_add_char(&json, ']');
    return hub_buf_take(&json);
}

/* 10,000 tools in exposures that each show something else. */
static void test_memory(void **state)
{
    const size_t most = 2u << 20;
    char *tools = make_tools(MANY, DESCRIPTION_BYTES);
    exposed s;
    hub_exposure *others[EXPOSURES - 1];
    char globs[EXPOSURES][16];
    const char *items[EXPOSURES];
    hub_filter_rule filters[EXPOSURES];
    hub_policy_rules policies[EXPOSURES];
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_int_equal(add_one(&s, "git", tools), HUB_OK);
    hub_section_counts before = *hub_base_counts(s.base);
    size_t used = ALLOCATED();
    const hub_source *git = hub_exposure_source(s.exposure, HUB_STR("git"));
    for (size_t i = 0; i < EXPOSURES - 1; i++) {
        (void)snprintf(globs[i], sizeof globs[i], "*:tool*%zu", i);
        items[i] = globs[i];
        filters[i] =
            (hub_filter_rule){HUB_FILTER_DENY_TOOLS, {.items = &items[i], .count = 1, .set = true}};
        policies[i] = (hub_policy_rules){.filters = &filters[i], .filter_count = 1};
        hub_exposure_rules rules = {.policies = {&policies[i], NULL}};
        assert_int_equal(hub_exposure_create(s.base, &rules, git, 1, NULL, NULL, &others[i], NULL),
                         HUB_OK);
        assert_true(count_tools(others[i]) < MANY && count_tools(others[i]) > 0);
    }
    assert_true(ALLOCATED() - used <= most);
    assert_int_equal(hub_base_counts(s.base)->definitions, before.definitions);
    for (size_t i = 0; i < EXPOSURES - 1; i++) {
        hub_exposure_destroy(others[i]);
    }
    destroy(&s);
    free(tools);
}

/* Exposures that show the same have the same, as long as somebody has it. */
static void test_equal_ones(void **state)
{
    hub_exposure_rules rules = {.policies = {NULL, NULL}};
    hub_exposure *other = NULL;
    exposed s;
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_int_equal(add_one(&s, "git", "[" TOOL("a") "]"), HUB_OK);
    const hub_source *git = hub_exposure_source(s.exposure, HUB_STR("git"));
    assert_int_equal(hub_exposure_create(s.base, &rules, git, 1, NULL, NULL, &other, NULL), HUB_OK);
    assert_ptr_equal(hub_exposure_shown(s.exposure, HUB_KIND_TOOL),
                     hub_exposure_shown(other, HUB_KIND_TOOL));
    assert_int_equal(take_away(&s, "git"), HUB_OK);
    expect_names(s.exposure, "");
    expect_names(other, "git__a");
    assert_int_equal(update(&s, "git", "[" TOOL("b") "]"), HUB_OK); /* in all of them */
    expect_names(other, "git__b");
    hub_exposure_destroy(other);
    destroy(&s);
}

/* Enabling what is known makes nothing but masks. */
static void test_enabling(void **state)
{
    char *tools = make_tools(MANY, 10);
    exposed s;
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_int_equal(update(&s, "git", tools), HUB_OK);
    assert_int_equal(hub_base_counts(s.base)->definitions, MANY);
    assert_int_equal(hub_base_counts(s.base)->built, 1);
    for (unsigned i = 0; i < 3; i++) { /* a native one says its list anew each time */
        assert_int_equal(add_one(&s, "git", tools), HUB_OK);
        assert_int_equal(count_tools(s.exposure), MANY);
        assert_int_equal(take_away(&s, "git"), HUB_OK);
    }
    assert_int_equal(hub_base_counts(s.base)->definitions, MANY);
    assert_int_equal(hub_base_counts(s.base)->built, 1);
    destroy(&s);
    free(tools);
}

/* So does showing a selection of it, and nothing of a definition changes. What is not selected is
 * known to be there all the same (S3.65, S3.84). */
static void test_choosing(void **state)
{
    char *tools = make_tools(MANY, 10);
    exposed s;
    hub_selected items[10];
    char names[10][16];
    hub_selection *selection = NULL;
    hub_shown_part part = {.section = NULL};
    (void)state;
    make_exposed(&s, HUB_NAMING_PREFIX, NULL);
    assert_int_equal(add_one(&s, "git", tools), HUB_OK);
    assert_int_equal(add_one(&s, "docker", "[" TOOL("ps") "]"), HUB_OK);
    hub_section_counts before = *hub_base_counts(s.base);
    const hub_section *git = NULL;
    for (size_t i = 0; git == NULL; i++) {
        const hub_section *section =
            hub_exposure_shown(s.exposure, HUB_KIND_TOOL)->parts[i]->section;
        git = section != NULL && section->count == MANY ? section : NULL;
    }
    for (size_t i = 0; i < 10; i++) {
        hub_str name = git->entries[i * (MANY / 10)].item->name;
        (void)snprintf(names[i], sizeof names[i], HUB_STR_FMT, HUB_STR_ARG(name));
        items[i] = (hub_selected){.toolset = HUB_STR("git"), .tool = hub_str_of(names[i])};
    }
    assert_int_equal(hub_selection_create(items, 10, &selection), HUB_OK);
    hub_source source = *hub_exposure_source(s.exposure, HUB_STR("git"));
    source.lists[HUB_KIND_TOOL] = git->catalog;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hub_exposure_choose(s.exposure, &source, 1, selection, NULL), HUB_OK);
        assert_int_equal(count_tools(s.exposure), 10);
        assert_true(hub_exposure_tools_of(s.exposure, HUB_STR("git"), &part));
        assert_int_equal(part.count, MANY);
        assert_ptr_equal(part.section, git);
        assert_int_equal(hub_exposure_choose(s.exposure, &source, 1, NULL, NULL), HUB_OK);
        assert_int_equal(count_tools(s.exposure), MANY);
    }
    assert_int_equal(hub_base_counts(s.base)->built, before.built);
    assert_int_equal(hub_base_counts(s.base)->definitions, before.definitions);
    hub_selection_unref(selection);
    destroy(&s);
    free(tools);
}

/* A changed catalog among a hundred costs its own section. */
static void test_one_of_many(void **state)
{
    enum { TOOLSETS = 100, EACH = 20 };
    char keys[TOOLSETS][8];
    hub_source sources[TOOLSETS] = {{.owner = NULL}};
    char *tools = make_tools(EACH, 10);
    (void)state;
    for (int naming = HUB_NAMING_PREFIX; naming <= HUB_NAMING_DOT; naming++) {
        hub_naming_rule rule = {.naming = (hub_naming)naming, .max_name_bytes = 64};
        hub_exposure_rules rules = {.policies = {NULL, NULL}};
        hub_base *base = NULL;
        hub_base *next = NULL;
        hub_exposure *exposure = NULL;
        for (size_t i = 0; i < TOOLSETS; i++) {
            (void)snprintf(keys[i], sizeof keys[i], "t%zu", i);
            sources[i] = (hub_source){.toolset = hub_str_of(keys[i]), .lists = {parse(tools)}};
        }
        assert_int_equal(hub_base_create(&rule, sources, TOOLSETS, NULL, &base, NULL), HUB_OK);
        assert_int_equal(
            hub_exposure_create(base, &rules, sources, TOOLSETS, NULL, NULL, &exposure, NULL),
            HUB_OK);
        assert_int_equal(hub_base_counts(base)->built, TOOLSETS);
        hub_catalog_unref(sources[7].lists[0]);
        sources[7].lists[0] = parse("[" TOOL("one") "," TOOL("two") "]");
        assert_int_equal(
            hub_base_update(base, sources[7].toolset, HUB_KIND_TOOL, sources[7].lists[0], NULL),
            HUB_OK);
        assert_int_equal(hub_base_counts(base)->built, TOOLSETS + 1);
        assert_int_equal(hub_base_counts(base)->definitions, TOOLSETS * EACH + 2);
        assert_int_equal(count_tools(exposure), (TOOLSETS - 1) * EACH + 2);
        /* Nor does a base that takes its place make what is there. */
        assert_int_equal(hub_base_create(&rule, sources, TOOLSETS, base, &next, NULL), HUB_OK);
        assert_int_equal(hub_base_counts(next)->built, 0);
        hub_base_unref(next);
        hub_exposure_destroy(exposure);
        hub_base_unref(base);
        for (size_t i = 0; i < TOOLSETS; i++) {
            hub_catalog_unref(sources[i].lists[0]);
        }
    }
    free(tools);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_remove),
        cmocka_unit_test(test_toolset_twice),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_remove_all_or_none),
        cmocka_unit_test(test_for_ever),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_serials),
        cmocka_unit_test(test_history_does_not_show),
        cmocka_unit_test(test_filters_and_snapshots),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_equal_ones),
        cmocka_unit_test(test_enabling),
        cmocka_unit_test(test_choosing),
        cmocka_unit_test(test_one_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
