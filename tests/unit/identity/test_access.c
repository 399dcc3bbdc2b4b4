/* SPDX-License-Identifier: Apache-2.0 */
/* Access rules: classes, what is seen, conditions on arguments, scopes. */
#include "identity/access.h"
#include "identity/arguments.h"
#include "identity/path.h"
#include "wire/json.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NAMES(...)                                                                                 \
    {                                                                                              \
        .items = (const char *const[]){__VA_ARGS__},                                               \
        .count = COUNT(((const char *const[]){__VA_ARGS__})), .set = true                          \
    }

/* ---- identities ------------------------------------------------------------------------------ */

static void test_a_copy_needs_nothing_of_its_draft(void **state)
{
    (void)state;
    char name[] = "token:laptop";
    char scope[] = "read";
    const char *scopes[] = {scope};
    char claims[] = "{\"a\":1}";
    char profile[] = "work";
    const hub_identity draft = {.name = name,
                                .scopes = {.items = scopes, .count = 1, .set = true},
                                .claims = hub_str_of(claims),
                                .profile = profile,
                                .expires = 7};
    hub_identity *copy = hub_identity_make(&draft);
    assert_non_null(copy);
    memset(name, 'x', sizeof name - 1);
    memset(scope, 'x', sizeof scope - 1);
    memset(claims, 'x', sizeof claims - 1);
    memset(profile, 'x', sizeof profile - 1);
    assert_string_equal(copy->name, "token:laptop");
    assert_string_equal(copy->scopes.items[0], "read");
    assert_true(hub_str_is(copy->claims, "{\"a\":1}"));
    assert_string_equal(copy->profile, "work");
    assert_int_equal(copy->expires, 7);
    assert_false(hub_identity_is_over(copy, 6));
    assert_true(hub_identity_is_over(copy, 7));
    hub_identity_unref(hub_identity_ref(copy));
    hub_identity_unref(copy);
    hub_identity_unref(hub_identity_ref(&HUB_IDENTITY_LOCAL));
    assert_string_equal(HUB_IDENTITY_LOCAL.name, "local");
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void test_paths_are_normalised(void **state)
{
    static const char *const CASES[][2] = {
        {"/srv", "/srv"},
        {"/srv/", "/srv"},
        {"//srv///a", "/srv/a"},
        {"/srv/./a/.", "/srv/a"},
        {"/srv/../etc", "/etc"},
        {"/srv/a/../../..", "/"},
        {"/../../etc", "/etc"},
        {"/", "/"},
        {"/srv/...", "/srv/..."},
        {"/srv/100%", "/srv/100%"},
        {"/srv/%20x", "/srv/%20x"},
        {"", NULL},
        {"srv", NULL},
        {"~/a", NULL},
        {"./srv", NULL},
        {"file:///srv", NULL},
        {"/srv/%2e%2e/etc", NULL},
        {"/srv/%2E%2E/etc", NULL},
        {"/srv%2fetc", NULL},
        {"/srv/%252e", NULL},
        {"/srv\\..\\etc", NULL},
        {"/srv/\n", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_buf out;
        hub_buf_init(&out, 64);
        bool is_known = hub_path_normalise(hub_str_of(CASES[i][0]), &out);
        assert_int_equal(is_known, CASES[i][1] != NULL);
        if (is_known) {
            assert_true(hub_str_is(hub_buf_str(&out), CASES[i][1]));
        }
        hub_buf_fini(&out);
    }
    assert_true(hub_path_is_beneath(HUB_STR("/srv"), HUB_STR("/srv")));
    assert_true(hub_path_is_beneath(HUB_STR("/srv/a"), HUB_STR("/srv")));
    assert_false(hub_path_is_beneath(HUB_STR("/srvx"), HUB_STR("/srv")));
    assert_false(hub_path_is_beneath(HUB_STR("/"), HUB_STR("/srv")));
    assert_true(hub_path_is_beneath(HUB_STR("/x"), HUB_STR("/")));
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void test_a_key_twice_is_refused(void **state)
{
    const struct {
        const char *arguments;
        hub_err err;
    } CASES[] = {
        {"{}", HUB_OK},
        {"{\"a\":1,\"b\":1,\"A\":1}", HUB_OK},
        {"{\"a\":1,\"a\":1}", HUB_EINVAL},
        {"{\"a\":1,\"\\u0061\":2}", HUB_EINVAL},
        {"{\"b\":[{\"x\":{\"q\":1,\"r\":1,\"q\":1}}]}", HUB_EINVAL},
        {"{\"b\":{\"a\":1},\"c\":{\"a\":1},\"a\":[\"a\",\"a\"]}", HUB_OK},
        {"{\"\":1,\"\":1}", HUB_EINVAL},
        {"{\"a\":{\"b\":1},\"c\":[{\"b\":2}],\"a\":3}", HUB_EINVAL},      /* around others */
        {"{\"a\":\"{\\\"a\\\":1,\\\"a\\\":1}\",\"b\":\"],}:\"}", HUB_OK}, /* within text */
        {"{ \"x\" : [ ] , \"y\" : { } , \"z\" : [ \"x\" , \"x\" ] , \"x\" : 1 }", HUB_EINVAL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_error why = {.code = HUB_OK};
        hub_err err = hub_access_check_arguments(hub_str_of(CASES[i].arguments), &why);
        assert_int_equal(err, CASES[i].err);
    }
}

static void test_as_many_values_as_are_looked_at_and_one_more(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        hub_buf text;
        hub_buf_init(&text, 1024 * 1024);
        hub_buf_add(&text, HUB_STR("{\"a\":["));
        for (int i = 0; i < HUB_LIMIT_ACCESS_VALUES - 1 + extra; i++) { /* and the array itself */
            hub_buf_add(&text, i == 0 ? HUB_STR("1") : HUB_STR(",1"));
        }
        hub_buf_add(&text, HUB_STR("]}"));
        assert_true(hub_buf_ok(&text));
        hub_error why = {.code = HUB_OK};
        hub_err err = hub_access_check_arguments(hub_buf_str(&text), &why);
        assert_int_equal(err, extra ? HUB_ELIMIT : HUB_OK);
        hub_buf_fini(&text);
    }
}

/* However deep they lie, bytes are looked at once: what costs depth times bytes takes minutes here. */
static void test_deep_arguments_are_walked_once(void **state)
{
    enum { DEPTH = HUB_LIMIT_JSON_DEPTH - 1, BYTES = 24 * 1024 * 1024 };
    hub_buf text;
    (void)state;
    hub_buf_init(&text, BYTES + 1024);
    for (int i = 0; i < DEPTH; i++) {
        hub_buf_add(&text, HUB_STR("{\"k\":"));
    }
    hub_buf_add(&text, HUB_STR("{\"a\":1,\"\\u0061\":2,\"text\":\""));
    while (text.len < BYTES) {
        hub_buf_add(&text,
                    HUB_STR("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    }
    hub_buf_add(&text, HUB_STR("\"}"));
    for (int i = 0; i < DEPTH; i++) {
        hub_buf_add_char(&text, '}');
    }
    assert_true(hub_buf_ok(&text));
    hub_error why = {.code = HUB_OK};
    assert_int_equal(hub_access_check_arguments(hub_buf_str(&text), &why), HUB_EINVAL);
    hub_buf_fini(&text);
}

/* Whether a condition is satisfied by arguments; -1: they are refused. */
static int fits(hub_access_verdict then, hub_access_condition condition, const char *arguments)
{
    const hub_access_rule rule = {.then = then, .conditions = &condition, .condition_count = 1};
    hub_error why = {.code = HUB_OK};
    bool does = false;
    hub_err err = hub_access_arguments_fit(&rule, hub_str_of(arguments), &does, &why);
    assert_true(err == HUB_OK || err == HUB_EINVAL);
    return err == HUB_OK ? does : -1;
}

static void test_conditions(void **state)
{
    const hub_access_condition BENEATH = {.pointer = "/path", .beneath = NAMES("/srv")};
    const hub_access_condition EQUALS = {.pointer = "/a/0/b~1c", .equals = "1"};
    const hub_access_condition SPELT = {.pointer = "/task", .equals = "1"};
    const hub_access_condition SHARP = {.pointer = "/mass~1file", .equals = "1"};
    const hub_access_condition DOTTED = {.pointer = "/\u00c4id", .equals = "1"};
    const hub_access_condition IN = {.pointer = "/a", .in = NAMES("\"x\"", "\"y\"", "true")};
    const hub_access_condition GLOB = {.pointer = "/a", .globs = NAMES("docs/*")};
    const hub_access_condition MAX = {.pointer = "/n", .max = "10.5"};
    const struct {
        const hub_access_condition *condition;
        const char *arguments;
        int allow;
        int deny;
    } CASES[] = {
        {&BENEATH, "{\"path\":\"/srv/a\"}", 1, 1},
        {&BENEATH, "{\"path\":\"\\u002fsrv/\\u0061\"}", 1, 1},
        {&BENEATH, "{\"path\":\"/srv/../etc\"}", 0, 0},
        {&BENEATH, "{\"path\":\"/srv/\\u002e\\u002e/etc\"}", 0, 0},
        {&BENEATH, "{\"path\":\"/srv/%2e%2e/etc\"}", 0, 1},
        {&BENEATH, "{\"path\":\"//srv//./a\"}", 1, 1},
        {&BENEATH, "{\"path\":\"srv/a\"}", 0, 1},
        {&BENEATH, "{\"path\":[\"/srv/a\"]}", 0, 1},
        {&BENEATH, "{\"path\":null}", 0, 1},
        {&BENEATH, "{}", 0, 1},
        {&BENEATH, "{\"Path\":\"/srv\"}", 0, 1},
        {&BENEATH, "{\"path\":\"/srv\",\"PATH\":\"/etc\"}", -1, -1},
        {&SPELT, "{\"task\":1}", 1, 1},
        {&SPELT, "{\"task\":1,\"ta\xc5\xbfk\":2}", -1, -1},
        {&SPELT, "{\"task\":1,\"tas\\u212a\":2}", -1, -1},
        {&SPELT, "{\"task\":1,\"TA\\u017F\\u212A\":2}", -1, -1},
        {&SPELT, "{\"ta\\u017fk\":1}", 0, 1},
        {&SPELT, "{\"task\":1,\"tasks\":2,\"ta\\u00e9k\":3}", 1, 1},
        {&SHARP, "{\"mass/file\":1,\"ma\\u00df/\\ufb01le\":2}", -1, -1},
        {&DOTTED, "{\"\u00c4id\":1,\"\u00e4\\u0130d\":2}", -1, -1},
        {&DOTTED, "{\"\u00c4id\":1,\"a\u0308id\":2}", 1, 1},
        {&EQUALS, "{\"a\":[{\"b/c\":1}]}", 1, 1},
        {&EQUALS, "{\"a\":[{\"b/c\":1.0e0}]}", 1, 1},
        {&EQUALS, "{\"a\":[{\"b/c\":2}]}", 0, 0},
        {&EQUALS, "{\"a\":[{\"b/c\":\"1\"}]}", 0, 1},
        {&EQUALS, "{\"a\":{\"0\":{\"b/c\":1}}}", 1, 1},
        {&EQUALS, "{\"a\":[]}", 0, 1},
        {&IN, "{\"a\":\"y\"}", 1, 1},
        {&IN, "{\"a\":\"\\u0079\"}", 1, 1},
        {&IN, "{\"a\":\"z\"}", 0, 0},
        {&IN, "{\"a\":false}", 0, 0},
        {&IN, "{\"a\":true}", 1, 1},
        {&IN, "{\"a\":1}", 0, 1},
        {&GLOB, "{\"a\":\"docs/x\"}", 1, 1},
        {&GLOB, "{\"a\":\"doc\"}", 0, 0},
        {&GLOB, "{\"a\":7}", 0, 1},
        {&MAX, "{\"n\":10.5}", 1, 1},
        {&MAX, "{\"n\":10.50000000000000000001}", 0, 0},
        {&MAX, "{\"n\":-1e400}", 1, 1},
        {&MAX, "{\"n\":1e400}", 0, 0},
        {&MAX, "{\"n\":\"1\"}", 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        int allow = fits(HUB_ACCESS_ALLOW, *CASES[i].condition, CASES[i].arguments);
        int confirm = fits(HUB_ACCESS_CONFIRM, *CASES[i].condition, CASES[i].arguments);
        int deny = fits(HUB_ACCESS_DENY, *CASES[i].condition, CASES[i].arguments);
        if (allow != CASES[i].allow || confirm != CASES[i].allow || deny != CASES[i].deny) {
            fail_msg("%s: allow %d, confirm %d, deny %d", CASES[i].arguments, allow, confirm, deny);
        }
    }
    assert_null(hub_access_pointer_problem(HUB_STR("/a~0/b~1c")));
    assert_non_null(hub_access_pointer_problem(HUB_STR("a")));
    assert_non_null(hub_access_pointer_problem(HUB_STR("")));
    assert_non_null(hub_access_pointer_problem(HUB_STR("/a~2")));
    assert_non_null(hub_access_pointer_problem(HUB_STR("/a~")));
}

/* ---- who and which tools --------------------------------------------------------------------- */

static bool is_in_class(hub_access_who who, hub_access_verdict then, const hub_identity *identity)
{
    const hub_access_rule rule = {.who = who, .then = then};
    const hub_access_settings settings = {.is_set = true, .rules = &rule, .count = 1};
    hub_access_class found;
    hub_access_class_of(&settings, identity, "work", "http", &found);
    return found.bits[0] == 1;
}

static void test_who(void **state)
{
    const hub_identity somebody = {
        .name = "jwt:https://issuer#me",
        .groups = NAMES("dev", "ops"),
        .scopes = NAMES("a", "b"),
        .claims = HUB_STR("{\"team\":[\"x\",\"\\u0079\"],\"level\":3,\"ok\":true}")};
    const hub_access_claim team = {.name = "team", .values = NAMES("\"q\"", "\"y\"")};
    const hub_access_claim level = {.name = "level", .values = NAMES("3.0")};
    const hub_access_claim text = {.name = "ok", .values = NAMES("\"true\"")};
    (void)state;
#define IS(...) is_in_class((hub_access_who){__VA_ARGS__}, HUB_ACCESS_ALLOW, &somebody)
    assert_true(IS(.claim_count = 0));
    assert_true(IS(.principals = NAMES("token:*", "jwt:https://issuer#*")));
    assert_false(IS(.principals = NAMES("https://issuer#me")));
    assert_false(IS(.principals = {.set = true}));
    assert_true(IS(.groups = NAMES("ops", "other")));
    assert_false(IS(.groups = NAMES("other")));
    assert_true(IS(.scopes = NAMES("b", "a")));
    assert_false(IS(.scopes = NAMES("a", "c")));
    assert_true(IS(.claims = &team, .claim_count = 1));
    assert_true(IS(.claims = &level, .claim_count = 1));
    assert_false(IS(.claims = &text, .claim_count = 1));
    assert_true(IS(.profiles = NAMES("work")));
    assert_false(IS(.profiles = NAMES("home")));
    assert_true(IS(.transports = NAMES("http", "unix")));
    assert_false(IS(.transports = NAMES("stdio")));
    assert_false(IS(.groups = NAMES("dev"), .transports = NAMES("stdio")));
#undef IS
    /* What a challenge asks for is no condition of it. */
    assert_true(
        is_in_class((hub_access_who){.scopes = NAMES("c")}, HUB_ACCESS_CHALLENGE, &somebody));
}

static const hub_access_subject TOOL = {.toolset = {"docs", 4}, .name = {"delete_page", 11}};

static hub_access_verdict decide(const hub_access_rule *rules, size_t count,
                                 hub_access_verdict otherwise, const hub_access_subject *subject,
                                 const char *arguments, bool *ret_shows)
{
    const hub_access_settings settings = {
        .is_set = true, .otherwise = otherwise, .rules = rules, .count = count};
    const hub_identity somebody = {.name = "token:me", .scopes = NAMES("a")};
    hub_access_class who;
    hub_access_decision decision;
    hub_access_class_of(&settings, &somebody, "default", "http", &who);
    *ret_shows = hub_access_shows(&settings, &who, subject);
    assert_int_equal(hub_access_decide(&settings, &somebody, &who, subject, hub_str_of(arguments),
                                       &decision, NULL),
                     HUB_OK);
    return decision.verdict;
}

static void test_the_first_match_decides(void **state)
{
    const hub_access_condition IN_SRV = {.pointer = "/path", .beneath = NAMES("/srv")};
    const hub_access_rule RULES[] = {
        {.tools = {.match = NAMES("docs:read_*")}, .then = HUB_ACCESS_ALLOW},
        {.tools = {.match = NAMES("*:delete_*")},
         .conditions = &IN_SRV,
         .condition_count = 1,
         .then = HUB_ACCESS_CONFIRM},
        {.tools = {.match = NAMES("docs:*")}, .then = HUB_ACCESS_DENY},
    };
    (void)state;
    bool shows = false;
    assert_int_equal(decide(RULES, 3, HUB_ACCESS_ALLOW, &TOOL, "{\"path\":\"/srv/x\"}", &shows),
                     HUB_ACCESS_CONFIRM);
    assert_true(shows);
    assert_int_equal(decide(RULES, 3, HUB_ACCESS_ALLOW, &TOOL, "{}", &shows), HUB_ACCESS_DENY);
    assert_true(shows);
    assert_int_equal(decide(RULES + 2, 1, HUB_ACCESS_ALLOW, &TOOL, "{}", &shows), HUB_ACCESS_DENY);
    assert_false(shows);
    assert_int_equal(decide(RULES, 1, HUB_ACCESS_DENY, &TOOL, "{}", &shows), HUB_ACCESS_DENY);
    assert_false(shows);
    assert_int_equal(decide(RULES, 1, HUB_ACCESS_ALLOW, &TOOL, "{}", &shows), HUB_ACCESS_ALLOW);
    assert_true(shows);
    /* The hub's own tools stay, unless a rule names them. */
    hub_access_subject own = {.toolset = HUB_STR("_meta"), .name = HUB_STR("t"), .is_own = true};
    const hub_access_rule ALL[] = {
        {.tools = {.match = NAMES("*")}, .then = HUB_ACCESS_DENY},
        {.then = HUB_ACCESS_DENY},
        {.tools = {.match = NAMES("_meta:*")}, .then = HUB_ACCESS_DENY},
    };
    assert_int_equal(decide(ALL, 2, HUB_ACCESS_DENY, &own, "{}", &shows), HUB_ACCESS_ALLOW);
    assert_true(shows);
    assert_int_equal(decide(ALL, 3, HUB_ACCESS_ALLOW, &own, "{}", &shows), HUB_ACCESS_DENY);
    assert_false(shows);
}

/* S2.17, S2.43 */
static void test_scopes(void **state)
{
    const hub_access_rule CHALLENGE[] = {
        {.who = {.scopes = NAMES("a", "x")}, .then = HUB_ACCESS_CHALLENGE}};
    const hub_access_rule MET[] = {{.who = {.scopes = NAMES("a")}, .then = HUB_ACCESS_CHALLENGE}};
    const hub_access_rule EMPTY[] = {{.then = HUB_ACCESS_CHALLENGE}};
    const hub_names OWN = NAMES("a", "y");
    const hub_names BY_TOOL = NAMES("delete_*\nz", "read_*\nq r", "*\n");
    const hub_names OTHERS = NAMES("read_*\nq", "*\n");
    (void)state;
    bool shows = false;
    assert_int_equal(decide(CHALLENGE, 1, HUB_ACCESS_ALLOW, &TOOL, "{}", &shows),
                     HUB_ACCESS_CHALLENGE);
    assert_true(shows);
    assert_int_equal(decide(MET, 1, HUB_ACCESS_ALLOW, &TOOL, "{}", &shows), HUB_ACCESS_ALLOW);
    assert_int_equal(decide(EMPTY, 1, HUB_ACCESS_ALLOW, &TOOL, "{}", &shows), HUB_ACCESS_CHALLENGE);
    hub_access_subject tool = TOOL;
    tool.scopes = &OWN;
    tool.tool_scopes = &BY_TOOL;
    assert_int_equal(decide(NULL, 0, HUB_ACCESS_ALLOW, &tool, "{}", &shows), HUB_ACCESS_CHALLENGE);
    assert_int_equal(decide(NULL, 0, HUB_ACCESS_DENY, &tool, "{}", &shows), HUB_ACCESS_DENY);
    const hub_access_decision decision = {.rule = CHALLENGE};
    hub_buf out;
    hub_buf_init(&out, 64);
    hub_access_add_scopes(&tool, &decision, &out);
    assert_true(hub_str_is(hub_buf_str(&out), "a y z x"));
    hub_buf_fini(&out);
    const hub_names HAD = NAMES("a");
    tool.scopes = &HAD;
    tool.tool_scopes = &OTHERS;
    assert_int_equal(decide(NULL, 0, HUB_ACCESS_ALLOW, &tool, "{}", &shows), HUB_ACCESS_ALLOW);
}

static void test_what_a_tool_says_counts_where_it_is_given(void **state)
{
    const hub_access_rule READERS[] = {
        {.tools = {.read_only = HUB_ACCESS_YES}, .then = HUB_ACCESS_ALLOW},
        {.tools = {.destructive = HUB_ACCESS_NO, .tags = NAMES("safe")}, .then = HUB_ACCESS_ALLOW},
        {.tools = {.categories = NAMES("docs")}, .then = HUB_ACCESS_ALLOW},
    };
    (void)state;
    bool shows = false;
    hub_access_subject tool = TOOL;
    tool.is_destructive = true;
    assert_int_equal(decide(READERS, 3, HUB_ACCESS_DENY, &tool, "{}", &shows), HUB_ACCESS_DENY);
    tool.is_read_only = true;
    assert_int_equal(decide(READERS, 3, HUB_ACCESS_DENY, &tool, "{}", &shows), HUB_ACCESS_ALLOW);
    tool = TOOL;
    tool.tags_json = HUB_STR("[\"s\\u0061fe\"]");
    assert_int_equal(decide(READERS, 3, HUB_ACCESS_DENY, &tool, "{}", &shows), HUB_ACCESS_ALLOW);
    tool.is_destructive = true;
    assert_int_equal(decide(READERS, 3, HUB_ACCESS_DENY, &tool, "{}", &shows), HUB_ACCESS_DENY);
    tool.category_json = HUB_STR("\"docs\"");
    assert_int_equal(decide(READERS, 3, HUB_ACCESS_DENY, &tool, "{}", &shows), HUB_ACCESS_ALLOW);
    tool.category = "other";
    assert_int_equal(decide(READERS, 3, HUB_ACCESS_DENY, &tool, "{}", &shows), HUB_ACCESS_DENY);
}

/* Of a toolset that nothing is known of but its entry. */
static void test_what_may_turn_out_to_be_seen(void **state)
{
    const hub_names OWN_TAGS = NAMES("internal");
    const hub_access_subject PLAIN = {
        .toolset = HUB_STR("secret1"), .tags = &OWN_TAGS, .is_destructive = true};
    hub_access_subject trusted = PLAIN;
    trusted.has_unknown_tags = trusted.has_unknown_hints = true;
    hub_access_subject filed = PLAIN;
    filed.category = "ops";
    filed.has_unknown_tags = true;
    const hub_access_condition CONDITION = {.pointer = "/a", .equals = "1"};
#define IF(...)                                                                                    \
    {                                                                                              \
        .tools = {__VA_ARGS__}, .then = HUB_ACCESS_DENY                                            \
    }
    const struct {
        const hub_access_subject *toolset;
        hub_access_rule rule;
        bool may;         /* with default: allow */
        bool may_if_then; /* the same, allowed, with default: deny */
    } CASES[] = {
        {&PLAIN, IF(.match = NAMES("secret*")), false, true},
        {&PLAIN, IF(.match = NAMES("*cret1:*")), false, true},
        {&PLAIN, IF(.match = NAMES("secret1:?*")), false, true},
        {&PLAIN, IF(.match = NAMES("*")), false, true},
        {&PLAIN, IF(.match = NAMES("other", "s*")), false, true},
        {&PLAIN, IF(.match = NAMES("secret1:??*")), true, true},
        {&PLAIN, IF(.match = NAMES("secret1:a*")), true, true},
        {&PLAIN, IF(.match = NAMES("secret*:a")), true, true},
        {&PLAIN, IF(.match = NAMES("secret1")), true, false},
        {&PLAIN, IF(.match = NAMES("public*")), true, false},
        {&PLAIN, IF(.match = {.set = true}), true, false},
        {&PLAIN, IF(.tags = NAMES("x", "internal")), false, true},
        {&PLAIN, IF(.tags = NAMES("x")), true, false},
        {&trusted, IF(.tags = NAMES("x")), true, true},
        {&trusted, IF(.tags = NAMES("internal")), false, true},
        {&PLAIN, IF(.categories = NAMES("ops")), true, false},
        {&trusted, IF(.categories = NAMES("ops")), true, true},
        {&filed, IF(.categories = NAMES("ops")), false, true},
        {&filed, IF(.categories = NAMES("x")), true, false},
        {&PLAIN, IF(.destructive = HUB_ACCESS_YES), false, true},
        {&PLAIN, IF(.read_only = HUB_ACCESS_YES), true, false},
        {&trusted, IF(.read_only = HUB_ACCESS_YES), true, true},
        {&PLAIN, IF(.tags = NAMES("internal"), .match = NAMES("secret1:a*")), true, true},
        {&PLAIN,
         {.conditions = &CONDITION, .condition_count = 1, .then = HUB_ACCESS_DENY},
         true,
         true},
    };
#undef IF
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_access_rule allows = CASES[i].rule;
        allows.then = HUB_ACCESS_ALLOW;
        const hub_access_class all = {.bits = {1}};
        const hub_access_class none = {.bits = {0}};
        const hub_access_settings denied = {.rules = &CASES[i].rule, .count = 1};
        const hub_access_settings allowed = {
            .rules = &allows, .count = 1, .otherwise = HUB_ACCESS_DENY};
        bool may = hub_access_may_show(&denied, &all, CASES[i].toolset);
        bool may_if = hub_access_may_show(&allowed, &all, CASES[i].toolset);
        if (may != CASES[i].may || may_if != CASES[i].may_if_then) {
            fail_msg("case %zu: %d %d", i, may, may_if);
        }
        assert_true(hub_access_may_show(&denied, &none, CASES[i].toolset));
        assert_false(hub_access_may_show(&allowed, &none, CASES[i].toolset));
    }
}

static void test_arguments_are_refused_only_where_a_rule_looks(void **state)
{
    const hub_access_condition CONDITION = {.pointer = "/a", .equals = "1"};
    const hub_access_rule RULES[] = {
        {.tools = {.match = NAMES("docs:*")},
         .conditions = &CONDITION,
         .condition_count = 1,
         .then = HUB_ACCESS_ALLOW},
    };
    const hub_access_settings settings = {.is_set = true, .rules = RULES, .count = 1};
    hub_access_class who;
    hub_access_decision decision;
    hub_error why = {.code = HUB_OK};
    hub_str twice = HUB_STR("{\"b\":1,\"\\u0062\":1}");
    (void)state;
    hub_access_class_of(&settings, &HUB_IDENTITY_LOCAL, "default", "stdio", &who);
    assert_int_equal(
        hub_access_decide(&settings, &HUB_IDENTITY_LOCAL, &who, &TOOL, twice, &decision, &why),
        HUB_EINVAL);
    hub_access_subject other = TOOL;
    other.toolset = HUB_STR("git");
    assert_int_equal(
        hub_access_decide(&settings, &HUB_IDENTITY_LOCAL, &who, &other, twice, &decision, &why),
        HUB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_needs_nothing_of_its_draft),
        cmocka_unit_test(test_paths_are_normalised),
        cmocka_unit_test(test_a_key_twice_is_refused),
        cmocka_unit_test(test_as_many_values_as_are_looked_at_and_one_more),
        cmocka_unit_test(test_deep_arguments_are_walked_once),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_who),
        cmocka_unit_test(test_the_first_match_decides),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_what_a_tool_says_counts_where_it_is_given),
        cmocka_unit_test(test_what_may_turn_out_to_be_seen),
        cmocka_unit_test(test_arguments_are_refused_only_where_a_rule_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
