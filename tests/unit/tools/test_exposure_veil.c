/* SPDX-License-Identifier: Apache-2.0 */
/* Veils: two classes and a plain copy over the same base see nothing but their own, in whichever order
 * they are made and asked for, before and after the catalogs change. */
#include "section_support.h"

enum { STEPS = 4, ORDERS = 24, PLAIN = 2, SEERS = 3 };

typedef struct stage {
    hub_base *base;
    hub_exposure *exposure;
    hub_exposure *copy;
    int version; /* of the catalogs */
} stage;

/* What the classes and the copy see in each version: "docker" is seen by one class, then by the other. */
static const char *const SEEN[2][SEERS] = {
    {"git__a1 git__both1", "docker__b1 git__b1 git__both1",
     "docker__b1 git__a1 git__b1 git__both1"},
    {"docker__a2 git__a2 git__both2", "git__b2 git__both2",
     "docker__a2 git__a2 git__b2 git__both2"},
};

static const char *const GIT[2] = {
    "[" TOOL("a1") "," TOOL("b1") "," TOOL("both1") "," TOOL("left_out") "]",
    "[" TOOL("b2") "," TOOL("left_out") "," TOOL("both2") "," TOOL("a2") "]"};
static const char *const DOCKER[2] = {"[" TOOL("b1") "]", "[" TOOL("a2") "]"};
static const char *const PROMPTS[2] = {"[{\"name\":\"b1\"},{\"name\":\"a1\"}]",
                                       "[{\"name\":\"a2\"},{\"name\":\"b2\"}]"};

/* A class sees what begins with its letter, and what is for both; what is left out is the policy's. */
static bool shows(const void *ctx, const hub_source *source, hub_kind kind, const hub_item *item)
{
    (void)source;
    (void)kind;
    return item->name.ptr[0] == *(const char *)ctx || hub_str_starts(item->name, HUB_STR("both")) ||
           hub_str_is(item->name, "left_out");
}

static bool may_show(const void *ctx, const hub_source *source)
{
    (void)ctx;
    (void)source;
    return true;
}

static const hub_exposure_filter CLASSES[PLAIN] = {
    {.shows = shows, .may_show = may_show, .ctx = "a"},
    {.shows = shows, .may_show = may_show, .ctx = "b"},
};

static void update(stage *s, const char *toolset, hub_kind kind, const char *json)
{
    hub_catalog *catalog = NULL;
    assert_int_equal(hub_catalog_parse(kind, hub_str_of(json), false, keep_report,
                                       &(reports){.count = 0}, &catalog, NULL),
                     HUB_OK);
    assert_int_equal(hub_base_update(s->base, hub_str_of(toolset), kind, catalog, NULL), HUB_OK);
    hub_catalog_unref(catalog);
}

static void tell(stage *s)
{
    update(s, "git", HUB_KIND_TOOL, GIT[s->version]);
    update(s, "docker", HUB_KIND_TOOL, DOCKER[s->version]);
    update(s, "git", HUB_KIND_PROMPT, PROMPTS[s->version]);
}

static hub_exposure *veil_of(hub_exposure *exposure, int class)
{
    hub_exposure *veil = NULL;
    assert_int_equal(hub_exposure_veil(exposure, &CLASSES[class], &veil), HUB_OK);
    return veil;
}

static bool has_prompt(const hub_exposure *exposure, char letter, int version)
{
    char name[3] = {letter, (char)('1' + version), '\0'};
    return hub_exposure_find_own(exposure, HUB_REVISION_NONE, HUB_KIND_PROMPT, HUB_STR("git"),
                                 hub_str_of(name)) != NULL;
}

static void expect_seen(const stage *s, hub_exposure *exposure, int who)
{
    const hub_exposure *seen = who == PLAIN ? exposure : veil_of(exposure, who);
    expect_names(seen, SEEN[s->version][who]);
    assert_int_equal(has_prompt(seen, 'a', s->version), who != 1);
    assert_int_equal(has_prompt(seen, 'b', s->version), who != 0);
    bool has_docker = strstr(SEEN[s->version][who], "docker") != NULL;
    assert_int_equal(hub_exposure_source(seen, HUB_STR("docker")) != NULL, has_docker);
}

/* Of what is there so far, beginning with anybody: the exposure, its copy, and the classes of both. */
static void expect_all(const stage *s, int first)
{
    for (int i = 0; i < SEERS; i++) {
        int who = (first + i) % SEERS;
        expect_seen(s, s->exposure, who);
        if (s->copy != NULL) {
            expect_seen(s, s->copy, who);
        }
    }
}

/* 0, 1: the classes look for the first time; 2: the copy is made; 3: the catalogs change. */
static void take_step(stage *s, int step)
{
    if (step < PLAIN) {
        expect_seen(s, s->exposure, step);
    } else if (step == PLAIN) {
        assert_int_equal(hub_exposure_copy(s->exposure, &s->copy), HUB_OK);
    } else {
        s->version = 1;
        tell(s);
    }
}

static void run_order(const hub_exposure_rules *rules, const int *order, int first)
{
    hub_naming_rule naming = {.naming = HUB_NAMING_PREFIX,
                              .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_source sources[] = {{.toolset = HUB_STR("docker")}, {.toolset = HUB_STR("git")}};
    stage s = {.version = 0};
    assert_int_equal(hub_base_create(&naming, sources, 2, NULL, &s.base, NULL), HUB_OK);
    assert_int_equal(hub_exposure_create(s.base, rules, sources, 2, NULL, NULL, &s.exposure, NULL),
                     HUB_OK);
    tell(&s);
    for (int i = 0; i < STEPS; i++) {
        take_step(&s, order[i]);
    }
    expect_all(&s, first);
    s.version = 0; /* … and back, now that everybody is there */
    tell(&s);
    expect_all(&s, first);
    hub_exposure_destroy(s.exposure);
    s.exposure = s.copy; /* which goes on */
    s.copy = NULL;
    s.version = 1;
    tell(&s);
    expect_all(&s, first);
    hub_exposure_destroy(s.exposure);
    hub_base_unref(s.base);
}

/* Every order of four steps, each with everybody as the first to ask. */
static void run_orders(const hub_exposure_rules *rules)
{
    int count = 0;
    for (int code = 0; code < 256; code++) {
        int order[STEPS] = {code & 3, (code >> 2) & 3, (code >> 4) & 3, (code >> 6) & 3};
        if (((1 << order[0]) | (1 << order[1]) | (1 << order[2]) | (1 << order[3])) != 15) {
            continue;
        }
        count++;
        for (int first = 0; first < SEERS; first++) {
            run_order(rules, order, first);
        }
    }
    assert_int_equal(count, ORDERS);
}

static void test_orders(void **state)
{
    static const char *globs[] = {"*:left_out"};
    hub_filter_rule deny = {.kind = HUB_FILTER_DENY_TOOLS,
                            .values = {.items = globs, .count = 1, .set = true}};
    hub_policy_rules policy = {.filters = &deny, .filter_count = 1};
    (void)state;
    run_orders(&(hub_exposure_rules){.policies = {&policy, NULL}});
}

/* One veil for a class, which keeps its place while it follows; a copy has others. */
static void test_one_for_a_class(void **state)
{
    hub_naming_rule naming = {.naming = HUB_NAMING_PREFIX,
                              .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_source sources[] = {{.toolset = HUB_STR("docker")}, {.toolset = HUB_STR("git")}};
    hub_exposure_rules rules = {.policies = {NULL, NULL}};
    stage s = {.version = 0};
    hub_str git = HUB_STR("git");
    (void)state;
    assert_int_equal(hub_base_create(&naming, sources, 2, NULL, &s.base, NULL), HUB_OK);
    assert_int_equal(hub_exposure_create(s.base, &rules, sources, 2, NULL, NULL, &s.exposure, NULL),
                     HUB_OK);
    tell(&s);
    hub_exposure *veil = veil_of(s.exposure, 0);
    assert_ptr_equal(veil_of(s.exposure, 0), veil);
    assert_ptr_not_equal(veil_of(s.exposure, 1), veil);
    assert_int_equal(hub_exposure_copy(s.exposure, &s.copy), HUB_OK);
    assert_ptr_not_equal(veil_of(s.copy, 0), veil);
    assert_int_equal(hub_exposure_remove(s.copy, &git, 1, NULL), HUB_OK);
    expect_names(veil_of(s.copy, 0), "");
    expect_names(veil_of(s.copy, 1), "docker__b1");
    s.version = 1;
    tell(&s);
    assert_ptr_equal(veil_of(s.exposure, 0), veil);
    expect_names(veil, "docker__a2 git__a2 git__both2 git__left_out");
    expect_names(veil_of(s.copy, 0), "docker__a2");
    expect_names(veil_of(s.copy, 1), "");
    hub_exposure_destroy(s.copy);
    hub_exposure_destroy(s.exposure);
    hub_base_unref(s.base);
}

/* ---- URIs that two toolsets have ------------------------------------------------------------- */

/* One who sees what does not begin with "hidden:", and of "docker" not "open:two" either. */
static bool is_open(const void *ctx, const hub_source *source, hub_kind kind, const hub_item *item)
{
    (void)ctx;
    (void)kind;
    return !hub_str_starts(item->name, HUB_STR("hidden:")) &&
           !(hub_str_is(source->toolset, "docker") && hub_str_is(item->name, "open:two"));
}

/* The URIs that are shown, with spaces between; each finds its entry. */
static void expect_uris(const hub_exposure *exposure, const char *want)
{
    char text[512] = "";
    size_t len = 0;
    hub_shown_place at = {.part = 0};
    const hub_shown *shown = hub_exposure_shown(exposure, HUB_KIND_RESOURCE);
    for (const hub_entry *entry = hub_shown_next(shown, &at); entry != NULL;
         entry = hub_shown_next(shown, &at)) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s" HUB_STR_FMT, len > 0 ? " " : "",
                                HUB_STR_ARG(entry->exposed));
        assert_ptr_equal(
            hub_exposure_find(exposure, HUB_REVISION_NONE, HUB_KIND_RESOURCE, entry->exposed),
            entry);
    }
    assert_string_equal(text, want);
}

/* What is hidden stays so where a neighbour of it gets another URI, and takes no URI from anybody. */
static void test_shared_uris(void **state)
{
    static const hub_exposure_filter open = {.shows = is_open, .may_show = may_show, .ctx = "o"};
    hub_naming_rule naming = {.naming = HUB_NAMING_PREFIX,
                              .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_source sources[] = {{.toolset = HUB_STR("docker")}, {.toolset = HUB_STR("git")}};
    hub_exposure_rules rules = {.policies = {NULL, NULL}};
    stage s = {.version = 0};
    hub_exposure *veil = NULL;
    (void)state;
    assert_int_equal(hub_base_create(&naming, sources, 2, NULL, &s.base, NULL), HUB_OK);
    assert_int_equal(hub_exposure_create(s.base, &rules, sources, 2, NULL, NULL, &s.exposure, NULL),
                     HUB_OK);
    update(&s, "docker", HUB_KIND_RESOURCE,
           "[{\"uri\":\"open:one\",\"name\":\"1\"},{\"uri\":\"open:two\",\"name\":\"2\"},"
           "{\"uri\":\"hidden:a\",\"name\":\"3\"}]");
    update(&s, "git", HUB_KIND_RESOURCE,
           "[{\"uri\":\"open:one\",\"name\":\"1\"},{\"uri\":\"open:two\",\"name\":\"2\"},"
           "{\"uri\":\"hidden:b\",\"name\":\"3\"}]");
    assert_int_equal(hub_exposure_veil(s.exposure, &open, &veil), HUB_OK);
    expect_uris(veil, "open:one patchbay:git/open:one open:two");
    assert_int_equal(hub_exposure_count(veil, HUB_STR("git"), HUB_KIND_RESOURCE), 2);
    expect_uris(s.exposure, "hidden:a open:one open:two hidden:b patchbay:git/open:one "
                            "patchbay:git/open:two");
    hub_exposure_destroy(s.exposure);
    hub_base_unref(s.base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_shared_uris),
        cmocka_unit_test(test_one_for_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
