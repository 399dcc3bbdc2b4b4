/* SPDX-License-Identifier: Apache-2.0 */
/* Bases: which tool has which name, whoever else is there, and whatever has happened before. */
#include "section_support.h"

/* ---- names that cannot be equal -------------------------------------------------------------- */

/* S1.10, S1.16, S1.17, S4.20: prefixes keep apart; without them, each gets its prefix. */
static void test_equal_names(void **state)
{
    static const struct {
        hub_naming naming;
        const char *names;
    } CASES[] = {
        {HUB_NAMING_PREFIX, "docker__search git__search"},
        {HUB_NAMING_FLAT, "docker_search git_search"},
        {HUB_NAMING_DOT, "docker.search git.search"},
        {HUB_NAMING_NONE, "docker__search git__search"},
    };
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    add(&s, "git", "[" TOOL("search") "]", false);
    add(&s, "docker", "[" TOOL("search") "]", false);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        s.rule.naming = CASES[i].naming;
        hub_exposure *exposure = build(&s);
        expect_names(exposure, CASES[i].names);
        assert_null(find(exposure, "search"));
        hub_exposure_destroy(exposure);
    }
    assert_int_equal(s.left_out.count, 0);
    clear(&s);
}

/* A tool that begins with '_' cannot be taken for one of a toolset whose key does not end so. */
static void test_underscores(void **state)
{
    setup s = make_setup(HUB_NAMING_PREFIX);
    (void)state;
    add(&s, "a", "[" TOOL("_b") "," TOOL("b") "," TOOL("__b") "]", false);
    add(&s, "a_b", "[" TOOL("c") "]", false);
    hub_exposure *exposure = build(&s);
    expect_names(exposure, "a____b a___b a__b a_b__c");
    hub_exposure_destroy(exposure);
    s.rule.naming = HUB_NAMING_DOT;
    exposure = build(&s);
    expect_names(exposure, "a.__b a._b a.b a_b.c");
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* Whether a tool has the suffix. */
static bool is_suffixed(const hub_exposure *exposure, const char *toolset, const char *own,
                        const char *plain)
{
    const hub_entry *entry = hub_exposure_find_own(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL,
                                                   hub_str_of(toolset), hub_str_of(own));
    assert_non_null(entry);
    assert_true(hub_str_starts(entry->exposed, hub_str_of(plain)));
    bool is_plain = hub_str_is(entry->exposed, plain);
    assert_true(is_plain || entry->exposed.len == strlen(plain) + 9);
    assert_ptr_equal(hub_exposure_find(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, entry->exposed),
                     entry);
    return !is_plain;
}

/* Of `flat`: what another configured key could begin, too, always has the suffix, whether that
 * toolset is known or not. */
static void test_flat(void **state)
{
    (void)state;
    for (int is_known = 0; is_known < 2; is_known++) {
        setup s = make_setup(HUB_NAMING_FLAT);
        add(&s, "a", "[" TOOL("b_c") "," TOOL("b") "," TOOL("d") "]", false);
        add(&s, "a_b", "[" TOOL("c") "]", false);
        add(&s, "x-y", "[" TOOL("1") "]", false);
        add(&s, "x_y", "[" TOOL("2") "]", false);
        if (is_known == 0) {
            hub_catalog_unref(s.sources[1].lists[0]);
            s.sources[1].lists[0] = NULL;
        }
        hub_exposure *exposure = build(&s);
        assert_true(is_suffixed(exposure, "a", "b_c", "a_b_c"));
        assert_false(is_suffixed(exposure, "a", "b", "a_b"));
        assert_false(is_suffixed(exposure, "a", "d", "a_d"));
        assert_true(is_suffixed(exposure, "x-y", "1", "x_y_1")); /* the keys flatten alike */
        assert_true(is_suffixed(exposure, "x_y", "2", "x_y_2"));
        if (is_known != 0) {
            assert_true(is_suffixed(exposure, "a_b", "c", "a_b_c"));
        }
        assert_null(find(exposure, "a_b_c"));
        hub_exposure_destroy(exposure);
        clear(&s);
    }
}

/* S3.42: what one toolset's tools share belongs to none of them, and all can be called. */
static void test_within_a_toolset(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    (void)state;
    add(&s, "a", "[" TOOL("x.c") "," TOOL("x-c") "," TOOL("x_c") "," TOOL("a_d") "," TOOL("d") "]",
        false);
    hub_exposure *exposure = build(&s);
    assert_int_equal(count_tools(exposure), 5);
    assert_true(is_suffixed(exposure, "a", "x.c", "a_x_c"));
    assert_true(is_suffixed(exposure, "a", "x-c", "a_x_c"));
    assert_true(is_suffixed(exposure, "a", "x_c", "a_x_c"));
    assert_true(is_suffixed(exposure, "a", "a_d", "a_d")); /* brings its prefix along */
    assert_true(is_suffixed(exposure, "a", "d", "a_d"));
    assert_int_equal(s.left_out.count, 0);
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* ---- who comes first ------------------------------------------------------------------------- */

/* S4.19: without prefixes, a native tool keeps its name; the hub's own keep theirs always. */
static void test_rank(void **state)
{
    (void)state;
    for (int native_first = 0; native_first < 2; native_first++) {
        setup s = make_setup(HUB_NAMING_NONE);
        add(&s, native_first ? "aa" : "zz", "[" TOOL("search") "," TOOL("list_tools") "]", true);
        add(&s, native_first ? "zz" : "aa", "[" TOOL("search") "," TOOL("list_tools") "]", false);
        add(&s, "_meta", "[" TOOL("list_tools") "]", true)->bare = true;
        hub_exposure *exposure = build(&s);
        expect_names(exposure, native_first
                                   ? "list_tools aa__list_tools search zz__list_tools zz__search"
                                   : "list_tools aa__list_tools aa__search zz__list_tools search");
        assert_true(hub_str_is(find(exposure, "list_tools")->canonical, "_meta:list_tools"));
        assert_int_equal(s.left_out.count, 0);
        hub_exposure_destroy(exposure);
        clear(&s);
    }
}

/* Two native ones are as good as each other. */
static void test_natives(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "a", "[" TOOL("read") "]", true);
    add(&s, "b", "[" TOOL("read") "]", true);
    add(&s, "c", "[" TOOL("read") "]", false);
    hub_exposure *exposure = build(&s);
    expect_names(exposure, "a__read b__read c__read");
    hub_exposure_destroy(exposure);
    clear(&s);
}

static void test_own_tools_in_flat(void **state)
{
    setup s = make_setup(HUB_NAMING_FLAT);
    (void)state;
    add(&s, "_meta", "[" TOOL("list_tools") "]", true)->bare = true;
    add(&s, "list", "[" TOOL("tools") "]", true);
    hub_exposure *exposure = build(&s);
    assert_true(hub_str_is(find(exposure, "list_tools")->canonical, "_meta:list_tools"));
    assert_true(is_suffixed(exposure, "list", "tools", "list_tools"));
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* Without prefixes, nobody can take the prefixed name of another's tool. */
static void test_imposter(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "evil", "[" TOOL("good__x") "," TOOL("x") "," TOOL("evil__y") "]", false);
    add(&s, "good", "[" TOOL("x") "]", false);
    hub_exposure *exposure = build(&s);
    expect_names(exposure, "evil__y evil__good__x evil__x good__x");
    assert_true(hub_str_is(find(exposure, "good__x")->canonical, "good:x"));
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* ---- contested names ------------------------------------------------------------------------- */

typedef struct contested {
    size_t count;
    char last[256];
} contested;

static void on_contested(void *ctx, hub_kind kind, hub_str name, hub_str wanted_by)
{
    contested *c = ctx;
    c->count++;
    (void)snprintf(c->last, sizeof c->last, "%s %.*s: %.*s", hub_kind_noun(kind, 1),
                   HUB_STR_ARG(name), HUB_STR_ARG(wanted_by));
}

static void test_contested(void **state)
{
    static const hub_str B = {.ptr = "b", .len = 1};
    setup s = make_setup(HUB_NAMING_NONE);
    contested c = {.count = 0};
    hub_buf rivals;
    (void)state;
    add(&s, "c", "[" TOOL("x") "," TOOL("z") "]", false);
    add(&s, "a", "[" TOOL("x") "]", false);
    add(&s, "b", "[" TOOL("x") "," TOOL("y") "]", false);
    hub_exposure *exposure = build(&s);
    assert_true(hub_base_list_contested(hub_exposure_base(exposure), on_contested, &c));
    assert_int_equal(c.count, 1);
    assert_string_equal(c.last, "tool x: a:x, b:x, c:x");
    hub_buf_init(&rivals, 256);
    assert_int_equal(
        hub_exposure_add_rivals(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, HUB_STR("x"), &rivals),
        3);
    assert_true(hub_str_is(hub_buf_str(&rivals), "a__x, b__x or c__x"));
    /* Only those that are shown are named. */
    assert_int_equal(hub_exposure_remove(exposure, &B, 1, NULL), HUB_OK);
    hub_buf_clear(&rivals);
    assert_int_equal(
        hub_exposure_add_rivals(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, HUB_STR("x"), &rivals),
        2);
    assert_true(hub_str_is(hub_buf_str(&rivals), "a__x or c__x"));
    expect_names(exposure, "a__x c__x z"); /* inactive, but known */
    hub_buf_clear(&rivals);
    assert_int_equal(
        hub_exposure_add_rivals(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, HUB_STR("y"), &rivals),
        0);
    assert_int_equal(hub_exposure_add_rivals(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL,
                                             HUB_STR("nobody"), &rivals),
                     0);
    hub_buf_fini(&rivals);
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* ---- the same whatever comes first ----------------------------------------------------------- */

static void update(hub_exposure *exposure, const char *key, const char *tools)
{
    hub_catalog *catalog = tools != NULL ? parse(tools) : NULL;
    hub_error why = {.text = ""};
    if (hub_base_update(hub_exposure_base(exposure), hub_str_of(key), HUB_KIND_TOOL, catalog,
                        &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    hub_catalog_unref(catalog);
}

/* D06: whose catalog comes first does not matter, with any naming. */
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
            for (size_t i = 0; i < 3; i++) {
                s.sources[s.count++] = (hub_source){.toolset = hub_str_of(KEYS[i])};
            }
            hub_exposure *exposure = build(&s);
            for (unsigned step = 0; step < 3; step++) {
                size_t at = (order + step * (1 + order / 3)) % 3;
                update(exposure, KEYS[at], LISTS[at]);
            }
            char *bytes = list_text(exposure);
            if (order == 0) {
                (void)snprintf(first, sizeof first, "%s", bytes);
            }
            assert_string_equal(bytes, first);
            free(bytes);
            hub_exposure_destroy(exposure);
        }
    }
}

/* A name goes from a tool to nobody, and not to another tool, though the first one is gone. */
static void test_names_stay(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "a", "[" TOOL("x") "]", false);
    add(&s, "b", "[" TOOL("y") "]", false);
    hub_exposure *exposure = build(&s);
    expect_names(exposure, "x y");
    update(exposure, "a", "[]");
    update(exposure, "b", "[" TOOL("x") "," TOOL("y") "]");
    expect_names(exposure, "b__x y"); /* "x" was a's */
    update(exposure, "a", "[" TOOL("x") "]");
    expect_names(exposure, "a__x b__x y");
    update(exposure, "b", "[" TOOL("y") "]");
    expect_names(exposure, "a__x y"); /* contested once, contested for good */
    /* A base that replaces it knows, too; without b, the name is a's again. */
    hub_base *next = NULL;
    hub_exposure *other = NULL;
    assert_int_equal(
        hub_base_create(&s.rule, s.sources, 2, hub_exposure_base(exposure), &next, NULL), HUB_OK);
    assert_int_equal(hub_exposure_create(next, &s.policies, s.sources, 2, NULL, NULL, &other, NULL),
                     HUB_OK);
    expect_names(other, "a__x y");
    hub_base_unref(next);
    hub_exposure_destroy(other);
    assert_int_equal(
        hub_base_create(&s.rule, s.sources, 1, hub_exposure_base(exposure), &next, NULL), HUB_OK);
    assert_int_equal(hub_exposure_create(next, &s.policies, s.sources, 1, NULL, NULL, &other, NULL),
                     HUB_OK);
    expect_names(other, "x");
    hub_base_unref(next);
    hub_exposure_destroy(other);
    hub_exposure_destroy(exposure);
    clear(&s);
}

enum { FLOOD_ROUNDS = 5, FLOOD_EACH = HUB_LIMIT_NAMES_REMEMBERED / 4 + 1 };

/* Have a toolset make up more names than are remembered; the most that there ever were. */
static size_t flood(hub_exposure *exposure, const char *key)
{
    size_t most = 0;
    for (unsigned round = 0; round < FLOOD_ROUNDS; round++) {
        hub_buf json;
        hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
        for (unsigned i = 0; i < FLOOD_EACH; i++) {
            hub_buf_printf(&json, "%c{\"name\":\"t%u_%u\",\"inputSchema\":{\"type\":\"object\"}}",
                           i > 0 ? ',' : '[', round, i);
        }
        hub_buf_add_char(&json, ']');
        char *text = hub_buf_take(&json);
        update(exposure, key, text);
        free(text);
        size_t count = hub_base_name_count(hub_exposure_base(exposure), HUB_KIND_TOOL);
        most = count > most ? count : most;
    }
    return most;
}

/* What a server can make the base remember is bounded. */
static void test_remembered(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "a", "[]", false);
    hub_exposure *exposure = build(&s);
    size_t most = flood(exposure, "a");
    assert_true(most > HUB_LIMIT_NAMES_REMEMBERED / 2);
    assert_true(most <= HUB_LIMIT_NAMES_REMEMBERED + FLOOD_EACH);
    assert_non_null(find(exposure, "t4_0"));
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* It is forgotten of the one that makes up names, and not of others: no flood makes one of them free. */
static void test_a_flood_frees_no_name_of_others(void **state)
{
    setup s = make_setup(HUB_NAMING_NONE);
    (void)state;
    add(&s, "b", "[" TOOL("c") "]", false);
    add(&s, "a", "[]", false);
    hub_exposure *exposure = build(&s);
    assert_non_null(find(exposure, "c"));
    update(exposure, "b", "[]"); /* its server has it no more for now */
    (void)flood(exposure, "a");
    update(exposure, "a", "[" TOOL("c") "]");
    assert_null(find(exposure, "c")); /* it was another tool */
    assert_non_null(find(exposure, "a__c"));
    hub_exposure_destroy(exposure);
    clear(&s);
}

/* ---- histories ------------------------------------------------------------------------------- */

enum { HISTORIES = 1000, STEPS = 24, KEYS_COUNT = 10, TOOLS_COUNT = 14, NAMES_SEEN = 512 };

static const char *const KEYS[KEYS_COUNT] = {"a", "a_b", "a-b", "b", "b_c",
                                             "e", "c",   "b-c", "d", "d-e"};
static const char *const TOOLS[TOOLS_COUNT] = {
    "b", "c", "b_c", "_b", "x", "a__x", "_", "b__c", "a_b_c", "e_x", "b-c", "d__x", "a", "b.c"};

static uint32_t seed;

static uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

/* Who had a name, in the whole of a history. */
typedef struct seen_name {
    char name[80];
    char canonical[40];
} seen_name;

static seen_name seen[NAMES_SEEN];
static size_t seen_count;

static void note_names(const hub_exposure *exposure, bool is_pure)
{
    const hub_shown *tools = hub_exposure_shown(exposure, HUB_KIND_TOOL);
    hub_shown_place at = {.part = 0};
    for (const hub_entry *entry = hub_shown_next(tools, &at); entry != NULL;
         entry = hub_shown_next(tools, &at)) {
        assert_ptr_equal(
            hub_exposure_find(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, entry->exposed), entry);
        size_t i = 0;
        while (i < seen_count && !hub_str_is(entry->exposed, seen[i].name) &&
               !(is_pure && hub_str_is(entry->canonical, seen[i].canonical))) {
            i++;
        }
        if (i == seen_count) {
            assert_true(seen_count < NAMES_SEEN);
            (void)snprintf(seen[i].name, sizeof seen[i].name, HUB_STR_FMT,
                           HUB_STR_ARG(entry->exposed));
            (void)snprintf(seen[i].canonical, sizeof seen[i].canonical, HUB_STR_FMT,
                           HUB_STR_ARG(entry->canonical));
            seen_count++;
        }
        assert_true(hub_str_is(entry->canonical, seen[i].canonical));
        assert_true(!is_pure || hub_str_is(entry->exposed, seen[i].name));
    }
}

/* Whether a tool may get the name of another tool of the same toolset: characters of its name are
 * replaced, or it brings its prefix along. */
static bool is_odd(hub_str key, const char *tool)
{
    size_t same = 0;
    while (same < key.len &&
           (key.ptr[same] == tool[same] || (key.ptr[same] == '-' && tool[same] == '_'))) {
        same++;
    }
    return strpbrk(tool, "-.") != NULL || (same == key.len && tool[same] == '_');
}

static void make_random_list(char *out, size_t size, hub_str key, bool is_plain)
{
    size_t len = (size_t)snprintf(out, size, "[");
    for (uint32_t i = 0; i < TOOLS_COUNT; i++) {
        if ((is_plain && is_odd(key, TOOLS[i])) || random_below(3) != 0) {
            continue;
        }
        len += (size_t)snprintf(out + len, size - len,
                                "%s{\"name\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}",
                                len > 1 ? "," : "", TOOLS[i]);
    }
    (void)snprintf(out + len, size - len, "]");
}

/* Enable, disable, and change catalogs of ten toolsets at random; see who has which name. With
 * `is_pure`, without tools of one toolset whose names become one, a tool has the same name always. */
static void run_history(hub_naming naming, bool is_pure)
{
    char list[1024];
    setup s = make_setup(naming);
    hub_source sources[KEYS_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        if (hub_naming_check_key(hub_str_of(KEYS[i]), NULL) == HUB_OK) {
            sources[count++] = (hub_source){.toolset = hub_str_of(KEYS[i])};
        }
    }
    hub_base *base = NULL;
    hub_exposure *exposure = NULL;
    assert_int_equal(hub_base_create(&s.rule, sources, count, NULL, &base, NULL), HUB_OK);
    assert_int_equal(
        hub_exposure_create(base, &s.policies, NULL, 0, keep_report, &s.left_out, &exposure, NULL),
        HUB_OK);
    seen_count = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        hub_source *source = &sources[random_below((uint32_t)count)];
        bool is_active = hub_exposure_source(exposure, source->toolset) != NULL;
        if (random_below(2) == 0) {
            make_random_list(list, sizeof list, source->toolset, is_pure);
            hub_catalog_unref(source->lists[0]);
            source->lists[0] = parse(list);
            assert_int_equal(
                hub_base_update(base, source->toolset, HUB_KIND_TOOL, source->lists[0], NULL),
                HUB_OK);
        } else if (is_active) {
            assert_int_equal(hub_exposure_remove(exposure, &source->toolset, 1, NULL), HUB_OK);
        } else {
            assert_int_equal(hub_exposure_add(exposure, source, 1, NULL), HUB_OK);
        }
        note_names(exposure, is_pure);
    }
    assert_true(naming != HUB_NAMING_PREFIX || s.left_out.count == 0);
    hub_base_unref(base);
    hub_exposure_destroy(exposure);
    for (size_t i = 0; i < count; i++) {
        hub_catalog_unref(sources[i].lists[0]);
    }
}

static void test_histories(void **state)
{
    (void)state;
    seed = 20260728;
    for (int naming = HUB_NAMING_PREFIX; naming <= HUB_NAMING_NONE; naming++) {
        for (unsigned i = 0; i < HISTORIES; i++) {
            run_history((hub_naming)naming, naming != HUB_NAMING_NONE && i % 2 == 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_names),
        cmocka_unit_test(test_underscores),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_within_a_toolset),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_natives),
        cmocka_unit_test(test_own_tools_in_flat),
        cmocka_unit_test(test_imposter),
        cmocka_unit_test(test_contested),
        cmocka_unit_test(test_order_of_arrival),
        cmocka_unit_test(test_names_stay),
        cmocka_unit_test(test_remembered),
        cmocka_unit_test(test_a_flood_frees_no_name_of_others),
        cmocka_unit_test(test_histories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
