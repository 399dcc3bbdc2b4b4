/* SPDX-License-Identifier: Apache-2.0 */
/* Filters, guardrails, and the admission of toolsets. */
#include "catalog_support.h"

#include "tools/policy.h"

/* One tool with everything that filters look at. */
static const char RICH[] = "[" META("search", "\"patchbay/tags\":[\"read\",\"net\\u002fweb\"],"
                                              "\"patchbay/category\":\"find\\u0065r\"") "]";

typedef struct subject {
    hub_catalog *catalog;
    hub_filter_subject filter;
    const hub_item *tool;
} subject;

static subject make_subject(const char *json)
{
    subject s = {.catalog = parse(json),
                 .filter = {.toolset = HUB_STR("git"), .trusts_tags = true}};
    s.tool = &s.catalog->items[0];
    return s;
}

static bool matches_of(const subject *s, hub_filter_kind kind, hub_names values)
{
    hub_filter_rule rule = {.kind = kind, .values = values};
    bool first = hub_filter_matches(&rule, &s->filter, s->tool);
    assert_int_equal(hub_filter_matches(&rule, &s->filter, s->tool), first); /* S2.20 */
    assert_false(hub_filter_matches(&rule, &s->filter, NULL));               /* S2.35 */
    return first;
}

#define matches(s, kind, ...) matches_of((s), (kind), NAMES(__VA_ARGS__))

/* ---- filters --------------------------------------------------------------------------------- */

/* S2.7, S2.36 */
static void test_namespace(void **state)
{
    subject s = make_subject(RICH);
    (void)state;
    assert_true(matches(&s, HUB_FILTER_NAMESPACE, "git"));
    assert_true(matches(&s, HUB_FILTER_NAMESPACE, "docker", "git"));
    assert_false(matches(&s, HUB_FILTER_NAMESPACE, "docker"));
    assert_false(matches(&s, HUB_FILTER_NAMESPACE, "gi", "gitt", "Git"));
    hub_catalog_unref(s.catalog);
}

/* S2.8, S2.9, S2.36; a tag with an escape is the tag it stands for. */
static void test_tags(void **state)
{
    subject s = make_subject(RICH);
    (void)state;
    assert_true(matches(&s, HUB_FILTER_TAGS_ANY, "write", "read"));
    assert_true(matches(&s, HUB_FILTER_TAGS_ANY, "net/web"));
    assert_false(matches(&s, HUB_FILTER_TAGS_ANY, "write", "Read"));
    assert_true(matches(&s, HUB_FILTER_TAGS_ALL, "read", "net/web"));
    assert_true(matches(&s, HUB_FILTER_TAGS_ALL, "read", "read"));
    assert_false(matches(&s, HUB_FILTER_TAGS_ALL, "read", "write"));
    assert_true(matches(&s, HUB_FILTER_TAGS_NONE, "write", "delete"));
    assert_false(matches(&s, HUB_FILTER_TAGS_NONE, "write", "read"));
    hub_catalog_unref(s.catalog);
}

/* S2.37 */
static void test_without_tags(void **state)
{
    static const char *const DEFINITIONS[] = {
        "[" TOOL("a") "]",
        "[" META("a", "\"patchbay/tags\":[]") "]",
        "[" META("a", "\"patchbay/tags\":\"read\"") "]",
        "[" META("a", "\"patchbay/tags\":{\"x\":\"read\"}") "]",
        "[" META("a", "\"patchbay/tags\":[7,null,[\"read\"],{\"read\":\"read\"}]") "]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof DEFINITIONS / sizeof DEFINITIONS[0]; i++) {
        subject s = make_subject(DEFINITIONS[i]);
        assert_false(matches(&s, HUB_FILTER_TAGS_ANY, "read"));
        assert_false(matches(&s, HUB_FILTER_TAGS_ALL, "read"));
        assert_true(matches(&s, HUB_FILTER_TAGS_NONE, "read"));
        hub_catalog_unref(s.catalog);
    }
}

/* The manifest's tags count as much as the tool's own. */
static void test_tags_of_toolset(void **state)
{
    subject s = make_subject(RICH);
    hub_names more = NAMES("trusted");
    (void)state;
    s.filter.tags = &more;
    assert_true(matches(&s, HUB_FILTER_TAGS_ALL, "read", "trusted"));
    assert_false(matches(&s, HUB_FILTER_TAGS_NONE, "trusted"));
    hub_catalog_unref(s.catalog);
}

/* S2.10, S2.36: exact, and one of several. */
static void test_category(void **state)
{
    subject s = make_subject(RICH);
    (void)state;
    assert_true(matches(&s, HUB_FILTER_CATEGORY, "finder"));
    assert_true(matches(&s, HUB_FILTER_CATEGORY, "other", "finder"));
    assert_false(matches(&s, HUB_FILTER_CATEGORY, "Finder"));
    assert_false(matches(&s, HUB_FILTER_CATEGORY, ""));
    s.filter.category = "override";
    assert_true(matches(&s, HUB_FILTER_CATEGORY, "override"));
    assert_false(matches(&s, HUB_FILTER_CATEGORY, "finder"));
    hub_catalog_unref(s.catalog);
    subject plain = make_subject("[" TOOL("a") "]");
    assert_false(matches(&plain, HUB_FILTER_CATEGORY, "finder"));
    hub_catalog_unref(plain.catalog);
    subject number = make_subject("[" META("a", "\"patchbay/category\":7") "]");
    assert_false(matches(&number, HUB_FILTER_CATEGORY, "7"));
    hub_catalog_unref(number.catalog);
}

/* What a tool says of itself counts where its toolset is trusted; the operator's word always does. */
static void test_untrusted(void **state)
{
    static const char *const OPERATORS[] = {"safe"};
    hub_names tags = {.items = OPERATORS, .count = 1, .set = true};
    subject s = make_subject(RICH);
    (void)state;
    s.filter.trusts_tags = false;
    assert_false(matches(&s, HUB_FILTER_TAGS_ANY, "read", "net/web"));
    assert_false(matches(&s, HUB_FILTER_TAGS_ALL, "read"));
    assert_true(matches(&s, HUB_FILTER_TAGS_NONE, "read", "net/web"));
    assert_false(matches(&s, HUB_FILTER_CATEGORY, "finder"));
    s.filter.tags = &tags;
    s.filter.category = "operations";
    assert_true(matches(&s, HUB_FILTER_TAGS_ANY, "read", "safe"));
    assert_false(matches(&s, HUB_FILTER_TAGS_ALL, "read", "safe"));
    assert_false(matches(&s, HUB_FILTER_TAGS_NONE, "safe"));
    assert_true(matches(&s, HUB_FILTER_CATEGORY, "operations"));
    assert_false(matches(&s, HUB_FILTER_CATEGORY, "finder"));
    hub_catalog_unref(s.catalog);
}

/* Whether anything could be exposed of a toolset, before a tool of it is known. */
static void test_may_expose(void **state)
{
    static const struct {
        hub_filter_kind kind;
        const char *value;
        bool trusts_tags;
        bool expected;
    } ROWS[] = {
        {HUB_FILTER_NAMESPACE, "git", false, true},
        {HUB_FILTER_NAMESPACE, "docker", false, false},
        {HUB_FILTER_ALLOW_TOOLS, "git:log", false, true},
        {HUB_FILTER_ALLOW_TOOLS, "g*", false, true},
        {HUB_FILTER_ALLOW_TOOLS, "*:log", false, true},
        {HUB_FILTER_ALLOW_TOOLS, "git", false, false},
        {HUB_FILTER_ALLOW_TOOLS, "git:", false, false},
        {HUB_FILTER_ALLOW_TOOLS, "gitt:*", false, false},
        {HUB_FILTER_ALLOW_TOOLS, "docker:*", false, false},
        {HUB_FILTER_DENY_TOOLS, "git:*", false, false},
        {HUB_FILTER_DENY_TOOLS, "*", false, false},
        {HUB_FILTER_DENY_TOOLS, "g?t:*", false, false},
        {HUB_FILTER_DENY_TOOLS, "git:?*", false, true}, /* all, too, but that is not seen */
        {HUB_FILTER_DENY_TOOLS, "git:log*", false, true},
        {HUB_FILTER_DENY_TOOLS, "docker:*", false, true},
        {HUB_FILTER_TAGS_ANY, "red", false, false},
        {HUB_FILTER_TAGS_ANY, "red", true, true},
        {HUB_FILTER_TAGS_ANY, "own", false, true},
        {HUB_FILTER_TAGS_ALL, "red", false, false},
        {HUB_FILTER_TAGS_ALL, "red", true, true},
        {HUB_FILTER_TAGS_NONE, "own", true, false},
        {HUB_FILTER_TAGS_NONE, "red", true, true},
        {HUB_FILTER_CATEGORY, "red", false, false},
        {HUB_FILTER_CATEGORY, "red", true, true},
    };
    static const char *const OWN[] = {"own"};
    hub_names tags = {.items = OWN, .count = 1, .set = true};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        hub_filter_rule rule = {ROWS[i].kind, {.items = &ROWS[i].value, .count = 1, .set = true}};
        hub_policy_rules rules = {.filters = &rule, .filter_count = 1};
        hub_filter_subject git = {
            .toolset = HUB_STR("git"), .tags = &tags, .trusts_tags = ROWS[i].trusts_tags};
        assert_int_equal(hub_policy_may_expose(&rules, &git), ROWS[i].expected);
    }
}

/* S2.11, S2.12; globs over the canonical id. */
static void test_tool_ids(void **state)
{
    static const struct {
        const char *glob;
        bool matches;
    } CASES[] = {
        {"git:search", true},   {"git:*", true},      {"*:search", true}, {"*", true},
        {"git:sear?h", true},   {"search", false},    {"git:", false},    {"git__search", false},
        {"git:search?", false}, {"gi:search", false}, {"*:*:*", false},   {"", false},
    };
    subject s = make_subject(RICH);
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(matches(&s, HUB_FILTER_ALLOW_TOOLS, CASES[i].glob), CASES[i].matches);
        assert_int_equal(matches(&s, HUB_FILTER_DENY_TOOLS, CASES[i].glob), !CASES[i].matches);
    }
    hub_catalog_unref(s.catalog);
}

/* S2.34: what an empty list means, for each kind. */
static void test_empty_lists(void **state)
{
    static const struct {
        hub_filter_kind kind;
        bool matches;
    } CASES[] = {
        {HUB_FILTER_NAMESPACE, false},   {HUB_FILTER_TAGS_ANY, false}, {HUB_FILTER_CATEGORY, false},
        {HUB_FILTER_ALLOW_TOOLS, false}, {HUB_FILTER_TAGS_ALL, true},  {HUB_FILTER_TAGS_NONE, true},
        {HUB_FILTER_DENY_TOOLS, true},
    };
    subject s = make_subject(RICH);
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(matches_of(&s, CASES[i].kind, NO_NAMES), CASES[i].matches);
    }
    hub_catalog_unref(s.catalog);
}

/* S2.6, S2.41: AND, whatever the order. */
static void test_chain_order(void **state)
{
    hub_filter_rule rules[] = {
        {HUB_FILTER_NAMESPACE, NAMES("git")},
        {HUB_FILTER_TAGS_ALL, NAMES("read")},
        {HUB_FILTER_DENY_TOOLS, NAMES("git:search")},
        {HUB_FILTER_CATEGORY, NAMES("finder")},
    };
    static const int ORDERS[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}};
    subject s = make_subject(RICH);
    hub_names others = NAMES("git:other");
    (void)state;
    for (size_t order = 0; order < 4; order++) {
        hub_filter_rule chain[4];
        for (size_t i = 0; i < 4; i++) {
            chain[i] = rules[ORDERS[order][i]];
        }
        hub_policy_rules policy = {.filters = chain, .filter_count = 4};
        assert_false(hub_policy_exposes(&policy, &s.filter, s.tool)); /* one rule says no */
        for (size_t i = 0; i < 4; i++) {
            if (chain[i].kind == HUB_FILTER_DENY_TOOLS) {
                chain[i].values = others;
            }
        }
        assert_true(hub_policy_exposes(&policy, &s.filter, s.tool));
    }
    hub_catalog_unref(s.catalog);
}

/* S2.13, S2.21: looking changes nothing. */
static void test_pure(void **state)
{
    subject s = make_subject(RICH);
    hub_item before = *s.tool;
    hub_filter_rule rule = {HUB_FILTER_TAGS_ANY, NAMES("read")};
    hub_policy_rules policy = {.filters = &rule, .filter_count = 1, .read_only = true};
    (void)state;
    (void)hub_policy_exposes(&policy, &s.filter, s.tool);
    assert_memory_equal(&before, s.tool, sizeof before);
    assert_string_equal(s.catalog->bytes, RICH);
    hub_catalog_unref(s.catalog);
}

/* ---- policies -------------------------------------------------------------------------------- */

/* S2.15, S2.16, S2.19, S2.43: no rules expose every tool but no tool; a policy denies what passed. */
static void test_guardrails(void **state)
{
    static const struct {
        const char *annotations;
        bool read_only;        /* passes when only read-only tools do */
        bool deny_destructive; /* passes when no tool may destroy */
    } CASES[] = {
        {"{}", false, false},
        {"{\"readOnlyHint\":true}", true, true},
        {"{\"readOnlyHint\":false}", false, false},
        {"{\"destructiveHint\":false}", false, true},
        {"{\"destructiveHint\":true}", false, false},
        {"{\"readOnlyHint\":true,\"destructiveHint\":true}", true, true},
        {"{\"ReadOnlyHint\":true}", false, false},
        {"{\"readOnly\\u0048int\":true}", true, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char json[256];
        (void)snprintf(
            json, sizeof json,
            "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":%s}]",
            CASES[i].annotations);
        subject s = make_subject(json);
        hub_policy_rules none = {0};
        hub_policy_rules reads = {.read_only = true};
        hub_policy_rules spares = {.deny_destructive = true};
        assert_true(hub_policy_exposes(&none, &s.filter, s.tool));
        assert_int_equal(hub_policy_exposes(&reads, &s.filter, s.tool), CASES[i].read_only);
        assert_int_equal(hub_policy_exposes(&spares, &s.filter, s.tool), CASES[i].deny_destructive);
        assert_false(hub_policy_exposes(&none, &s.filter, NULL));
        hub_catalog_unref(s.catalog);
    }
}

/* S2.15: an allowing filter does not allow again what the guardrail denies. */
static void test_guardrail_after_filter(void **state)
{
    subject s = make_subject(RICH);
    hub_filter_rule rule = {HUB_FILTER_ALLOW_TOOLS, NAMES("git:search")};
    hub_policy_rules policy = {.filters = &rule, .filter_count = 1, .read_only = true};
    (void)state;
    assert_false(hub_policy_exposes(&policy, &s.filter, s.tool));
    hub_catalog_unref(s.catalog);
}

/* ---- toolsets -------------------------------------------------------------------------------- */

static hub_err admit(const hub_policy_rules *rules, const char *toolset, size_t active,
                     hub_error *why)
{
    why->text[0] = '\0';
    return hub_policy_admit_toolset(rules, hub_str_of(toolset), active, why);
}

/* S1.24, S1.34, S1.35, S1.36: the order of decision, and a message for each. */
static void test_admission(void **state)
{
    hub_policy_rules rules = {
        .allow = NAMES("git", "docker"), .deny = NAMES("docker"), .max_active = 2};
    hub_error why;
    (void)state;
    assert_int_equal(admit(&rules, "git", 0, &why), HUB_OK);
    assert_int_equal(admit(&rules, "git", 1, &why), HUB_OK);
    assert_int_equal(admit(&rules, "git", 2, &why), HUB_ELIMIT);
    assert_non_null(strstr(why.text, "max_active (2)"));
    assert_int_equal(admit(&rules, "linear", 9, &why), HUB_EDENIED); /* before the limit */
    assert_non_null(strstr(why.text, "not allowed by policy"));
    assert_int_equal(admit(&rules, "docker", 9, &why), HUB_EDENIED); /* in both: denied */
    assert_non_null(strstr(why.text, "denied by policy"));
}

/* DESIGN, Exposure: an absent list allows all, an empty one nothing; no limit is none. */
static void test_admission_without_lists(void **state)
{
    hub_policy_rules absent = {0};
    hub_policy_rules empty = {.allow = NO_NAMES, .deny = NO_NAMES};
    hub_error why;
    (void)state;
    assert_int_equal(admit(&absent, "git", 1000000, &why), HUB_OK);
    assert_int_equal(admit(&empty, "git", 0, &why), HUB_EDENIED);
    hub_policy_rules only_deny = {.deny = NAMES("git")};
    assert_int_equal(admit(&only_deny, "git", 0, &why), HUB_EDENIED);
    assert_int_equal(admit(&only_deny, "docker", 0, &why), HUB_OK);
    hub_policy_rules one = {.max_active = 1};
    assert_int_equal(admit(&one, "git", 0, &why), HUB_OK);
    assert_int_equal(admit(&one, "git", 1, &why), HUB_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_namespace),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_without_tags),
        cmocka_unit_test(test_tags_of_toolset),
        cmocka_unit_test(test_category),
        cmocka_unit_test(test_untrusted),
        cmocka_unit_test(test_may_expose),
        cmocka_unit_test(test_tool_ids),
        cmocka_unit_test(test_empty_lists),
        cmocka_unit_test(test_chain_order),
        cmocka_unit_test(test_pure),
        cmocka_unit_test(test_guardrails),
        cmocka_unit_test(test_guardrail_after_filter),
        cmocka_unit_test(test_admission),
        cmocka_unit_test(test_admission_without_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
