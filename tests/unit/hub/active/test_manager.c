/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicToolManager: enabling and disabling while the hub runs. */
#include "count_allocated.h"
#include "reload_support.h"

enum { CYCLES = 10000, WARM_UP = 200 };

static hub_fixture fixture;
static outcome done;

/* ---- the flow -------------------------------------------------------------------------------- */

/* S1.5, S1.8, S1.9, S1.13, S1.14, S1.18, S1.45: on, callable; off, gone; on again. */
static void test_enable_disable(void **state)
{
    puppet git = {.tools = "[" TOOL("status") "," TOOL("log") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(client_ask(c, "1", "git__status", "{}"), "Unknown tool: git__status");
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
        assert_int_equal(done.results[0].tool_count, 2); /* S1.36 */
        assert_false(done.results[0].is_starting);
        assert_int_equal(hub_manager_active_count(
                             hub_manager_of(hub_profile_audience(fixture_profile(&fixture)))),
                         1);
        assert_contains(client_list(c, "2"), "git__status");
        assert_contains(client_ask(c, "3", "git__status", "{}"), "\"content\":[]");
        assert_int_equal(disable(&fixture, "git", &done), HUB_OK);
        assert_int_equal(hub_manager_active_count(
                             hub_manager_of(hub_profile_audience(fixture_profile(&fixture)))),
                         0);
        assert_lacks(client_list(c, "4"), "git__status");
        assert_contains(client_ask(c, "5", "git__status", "{}"), "Unknown tool");
        client_clear(c);
    }
    assert_int_equal(git.creates, 3);
    assert_int_equal(git.calls, 3);
    fixture_stop(&fixture);
    assert_int_equal(git.destroys, 3);
}

/* An instance that says what the one before it said has its list, which is not read again; another list is
 * another one, and so is the same under other rules. A list that is none is refused as ever. */
static void test_same_list(void **state)
{
    puppet git = {.tools = "[" TOOL("status") ",{\"name\":\"bad\"}]",
                  .prompts = "[{\"name\":\"ask\"}]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    start_draft(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    const hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("git"));
    hub_catalog *first = hub_catalog_ref(hub_toolset_list(toolset, HUB_KIND_TOOL));
    hub_catalog *prompts = hub_catalog_ref(hub_toolset_list(toolset, HUB_KIND_PROMPT));
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(disable(&fixture, "git", &done), HUB_OK);
        assert_null(hub_toolset_list(toolset, HUB_KIND_TOOL));
        assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
        assert_int_equal(done.results[0].tool_count, 1);
        assert_ptr_equal(hub_toolset_list(toolset, HUB_KIND_TOOL), first);
        assert_ptr_equal(hub_toolset_list(toolset, HUB_KIND_PROMPT), prompts);
        assert_contains(client_list(c, "1"), "git__status");
        client_clear(c);
    }
    assert_int_equal(git.creates, 4);
    assert_int_equal(disable(&fixture, "git", &done), HUB_OK);
    fixture.toolsets[0].overrides = "{\"*\":{\"description\":\"As we say it.\"}}";
    assert_int_equal(reload_draft(&fixture), HUB_OK);
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    assert_ptr_not_equal(hub_toolset_list(toolset, HUB_KIND_TOOL), first);
    assert_contains(client_list(c, "2"), "As we say it.");
    assert_int_equal(disable(&fixture, "git", &done), HUB_OK);
    git.tools = "[" TOOL("other") "]";
    git.prompts = NULL;
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    assert_contains(client_list(c, "3"), "git__other");
    assert_lacks(client_reply(c, "3"), "git__status");
    assert_null(hub_toolset_list(toolset, HUB_KIND_PROMPT));
    puppet_instance *instance = git.latest;
    assert_int_equal(instance->api->set_tools(instance->host, puppet_str("[" TOOL("other") ",]")),
                     PATCHBAY_EINVAL);
    hub_catalog_unref(first);
    hub_catalog_unref(prompts);
    fixture_stop(&fixture);
}

/* S1.6, S1.23, S1.39: what is wrong with a name; nothing is touched. */
static void test_names(void **state)
{
    static const struct {
        const char *key;
        hub_err err;
        const char *text;
    } CASES[] = {
        {"", HUB_EINVAL, "empty"},
        {"  \t ", HUB_EINVAL, "empty"},
        {"gitt", HUB_ENOTFOUND, "did you mean \"git\""},
        {"something else", HUB_ENOTFOUND, "unknown toolset \"something else\""},
        {"_meta", HUB_ENOTFOUND, "unknown toolset"}, /* S1.31 */
        {"GIT", HUB_ENOTFOUND, "did you mean"},
    };
    puppet git = {.tools = "[]"};
    puppet on = {.tools = "[]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    (void)fixture_toolset(&fixture, "on", &on, false);
    fixture_start(&fixture);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(enable(&fixture, CASES[i].key, &done), CASES[i].err);
        assert_contains(done.results[0].why.text, CASES[i].text);
    }
    assert_int_equal(enable(&fixture, "on", &done), HUB_OK); /* it is already */
    assert_true(done.results[0].is_unchanged);
    assert_int_equal(git.creates, 0);
    assert_int_equal(on.creates, 1);
    assert_int_equal(enable(&fixture, "  git\n", &done), HUB_OK); /* trimmed */
    assert_false(done.results[0].is_unchanged);
    assert_true(is_active(&fixture, "git"));
    assert_int_equal(disable(&fixture, "nobody", &done), HUB_ENOTFOUND);
    assert_int_equal(disable(&fixture, "_meta", &done), HUB_ENOTFOUND);
    assert_int_equal(disable(&fixture, " git ", &done), HUB_OK);
    assert_false(done.results[0].is_unchanged);
    assert_int_equal(disable(&fixture, "git", &done), HUB_OK); /* it is not */
    assert_true(done.results[0].is_unchanged);
    assert_true(has_tool(&fixture, "enable_toolset"));
    fixture_stop(&fixture);
}

/* S1.7, S1.24, S1.28, S1.35: allow, then deny, then the limit; a refusal loads nothing. */
static void test_policy(void **state)
{
    puppet a = {.tools = "[" TOOL("x") "]"};
    puppet b = {.tools = "[" TOOL("x") "]"};
    puppet c = {.tools = "[" TOOL("x") "]"};
    puppet d = {.tools = "[" TOOL("x") "]"};
    static const char *const ALLOW[] = {"a", "b", "c"};
    static const char *const DENY[] = {"c"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "a", &a, false);
    (void)add_inactive(&fixture, "b", &b, false);
    (void)add_inactive(&fixture, "c", &c, false);
    (void)add_inactive(&fixture, "d", &d, false);
    fixture.settings.policy.allow = (hub_names){.items = ALLOW, .count = 3, .set = true};
    fixture.profiles[0].policy.deny = (hub_names){.items = DENY, .count = 1, .set = true};
    fixture.profiles[0].policy.max_active = 1;
    fixture_start(&fixture);
    assert_int_equal(enable(&fixture, "d", &done), HUB_ENOTFOUND); /* nothing is said of it */
    assert_string_equal(done.results[0].why.text, "unknown toolset \"d\"; did you mean \"a\"?");
    assert_int_equal(enable(&fixture, "c", &done), HUB_ENOTFOUND);
    assert_true(fixture_logged(&fixture, "toolset.hidden toolset=c profile=default"));
    assert_int_equal(enable(&fixture, "a", &done), HUB_OK);
    assert_int_equal(enable(&fixture, "b", &done), HUB_ELIMIT);
    assert_contains(done.results[0].why.text, "max_active (1)");
    assert_int_equal(enable(&fixture, "c", &done), HUB_ENOTFOUND); /* before the limit */
    assert_int_equal(b.creates + c.creates + d.creates, 0);
    assert_int_equal(disable(&fixture, "a", &done), HUB_OK);
    assert_int_equal(enable(&fixture, "b", &done), HUB_OK); /* there is room again */
    fixture_stop(&fixture);
}

/* DESIGN, Exposure: the limit counts within a batch, too, and not `_meta`. */
static void test_max_active_in_batch(void **state)
{
    puppet masters[4] = {{.tools = "[]"}, {.tools = "[]"}, {.tools = "[]"}, {.tools = "[]"}};
    static const char *const KEYS[] = {"a", "b", "c", "d"};
    hub_str batch[5] = {HUB_STR("a"), HUB_STR("nobody"), HUB_STR("b"), HUB_STR("c"), HUB_STR("d")};
    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < 4; i++) {
        (void)add_inactive(&fixture, KEYS[i], &masters[i], false);
    }
    fixture.settings.policy.max_active = 3;
    fixture_start(&fixture);
    assert_int_equal(start_enabling(&fixture, &done, batch, 5, NULL), HUB_OK);
    assert_int_equal(done.results[0].err, HUB_OK);
    assert_int_equal(done.results[1].err, HUB_ENOTFOUND);
    assert_int_equal(done.results[2].err, HUB_OK);
    assert_int_equal(done.results[3].err, HUB_OK);
    assert_int_equal(done.results[4].err, HUB_ELIMIT);
    assert_int_equal(masters[3].creates, 0);
    fixture_stop(&fixture);
}

/* S1.45: the same toolset twice in a batch is enabled once. */
static void test_twice_in_batch(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    hub_str batch[] = {HUB_STR("git"), HUB_STR(" git "), HUB_STR("git")};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    assert_int_equal(start_enabling(&fixture, &done, batch, 3, NULL), HUB_OK);
    assert_int_equal(done.results[0].err, HUB_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(done.results[i].err, HUB_OK);
        assert_int_equal(done.results[i].is_unchanged, i > 0);
        assert_int_equal(done.results[i].tool_count, 1);
    }
    assert_int_equal(git.creates, 1);
    assert_int_equal(start_disabling(&fixture, &done, batch, 3), HUB_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(done.results[i].err, HUB_OK);
        assert_int_equal(done.results[i].is_unchanged, i > 0);
    }
    assert_int_equal(start_enabling(&fixture, &done, NULL, 0, NULL), HUB_OK);
    assert_int_equal(done.times, 1);
    assert_int_equal(done.count, 0);
    fixture_stop(&fixture);
    assert_int_equal(git.destroys, 1);
}

/* … and when it fails for a list that is no JSON, the hub says where. */
static void test_refused_list(void **state)
{
    puppet bad = {.tools = "[{\"name\" 1}]", .broken = "no tools"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "bad", &bad, false);
    fixture_start(&fixture);
    assert_int_equal(enable(&fixture, "bad", &done), HUB_EUNAVAILABLE);
    assert_string_equal(done.results[0].why.text,
                        "toolset \"bad\": no tools: byte 9: ':' was expected");
    assert_true(fixture_logged(&fixture, "tools.catalog.refused"));
    fixture_stop(&fixture);
}

/* S1.19, S1.42: a module that fails is not active, leaves nothing, and the others still come. */
static void test_failing_module(void **state)
{
    puppet good = {.tools = "[" TOOL("x") "]"};
    puppet bad = {.tools = "[" TOOL("ghost") "]", .broken = "no such disk"};
    hub_str batch[] = {HUB_STR("bad"), HUB_STR("good"), HUB_STR("none")};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "good", &good, false);
    (void)add_inactive(&fixture, "bad", &bad, false);
    add_inactive(&fixture, "none", NULL, false)->module = "no_such_module";
    fixture_start(&fixture);
    assert_int_equal(start_enabling(&fixture, &done, batch, 3, NULL), HUB_OK);
    assert_int_equal(done.results[0].err, HUB_EUNAVAILABLE);
    assert_string_equal(done.results[0].why.text, "toolset \"bad\": no such disk");
    assert_int_equal(done.results[1].err, HUB_OK);
    assert_int_equal(done.results[2].err, HUB_ENOTFOUND);
    assert_contains(done.results[2].why.text, "no plugin \"no_such_module\"");
    assert_false(is_active(&fixture, "bad"));
    assert_true(has_tool(&fixture, "good__x"));
    assert_false(has_tool(&fixture, "bad__ghost"));
    assert_null(
        hub_find_toolset(fixture.hub, HUB_STR("bad"))->lists[HUB_KIND_TOOL]); /* nothing is left */
    bad.broken = NULL;
    bad.tools = "[" TOOL("real") "]";
    assert_int_equal(enable(&fixture, "bad", &done), HUB_OK);
    assert_true(has_tool(&fixture, "bad__real"));
    assert_false(has_tool(&fixture, "bad__ghost"));
    fixture_stop(&fixture);
    assert_int_equal(bad.destroys, 1); /* destroy() of what was never made is not called */
}

/* S1.10: a name that two toolsets want, without prefixes, is nobody's once both are known; each of
 * the tools gets its prefix, the others are not concerned. */
static void test_collision(void **state)
{
    puppet a = {.tools = "[" TOOL("one") "," TOOL("search") "]"};
    puppet b = {.tools = "[" TOOL("two") "," TOOL("search") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "a", &a, false);
    (void)add_inactive(&fixture, "b", &b, false);
    fixture.profiles[0].naming = HUB_NAMING_NONE;
    fixture_start(&fixture);
    assert_true(has_tool(&fixture, "search"));
    assert_int_equal(enable(&fixture, "b", &done), HUB_OK);
    assert_int_equal(done.results[0].tool_count, 2);
    assert_true(has_tool(&fixture, "one"));
    assert_true(has_tool(&fixture, "two"));
    assert_false(has_tool(&fixture, "search"));
    assert_true(has_tool(&fixture, "a__search"));
    assert_true(has_tool(&fixture, "b__search"));
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1);
    client *c = client_open(&fixture, LEGACY);
    assert_contains(client_ask(c, "1", "search", "{}"),
                    "-32602,\"message\":\"The tool name \\\"search\\\" is ambiguous: use "
                    "a__search or b__search\"");
    assert_int_equal(disable(&fixture, "a", &done), HUB_OK);
    assert_false(has_tool(&fixture, "search")); /* it does not go on to b's */
    assert_contains(client_ask(c, "2", "search", "{}"), "is ambiguous: use b__search\"");
    assert_int_equal(a.calls, 0);
    assert_int_equal(b.calls, 0);
    fixture_stop(&fixture);
}

/* A batch whose toolsets want one name. */
static void test_collision_in_batch(void **state)
{
    puppet a = {.tools = "[" TOOL("one") "]"};
    puppet b = {.tools = "[" TOOL("two") "," TOOL("one") "]"};
    puppet c = {.tools = "[" TOOL("three") "]"};
    hub_str batch[] = {HUB_STR("a"), HUB_STR("b"), HUB_STR("c")};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "a", &a, false);
    (void)add_inactive(&fixture, "b", &b, false);
    (void)add_inactive(&fixture, "c", &c, false);
    fixture.profiles[0].naming = HUB_NAMING_NONE;
    fixture_start(&fixture);
    assert_int_equal(start_enabling(&fixture, &done, batch, 3, NULL), HUB_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(done.results[i].err, HUB_OK);
    }
    assert_int_equal(done.results[1].tool_count, 2);
    assert_true(has_tool(&fixture, "a__one"));
    assert_true(has_tool(&fixture, "b__one"));
    assert_true(has_tool(&fixture, "two"));
    assert_false(has_tool(&fixture, "one"));
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1);
    assert_int_equal(start_disabling(&fixture, &done, batch, 3), HUB_OK);
    assert_int_equal(
        hub_manager_active_count(hub_manager_of(hub_profile_audience(fixture_profile(&fixture)))),
        0);
    fixture_stop(&fixture);
    assert_int_equal(b.destroys, 1);
}

/* ---- telling clients ------------------------------------------------------------------------- */

/* S1.20, S1.21, S3.52, S3.74 … S3.77: one notification per occasion, to every client that asked. */
static void test_one_notification(void **state)
{
    puppet masters[3] = {
        {.tools = "[" TOOL("x") "]"}, {.tools = "[" TOOL("x") "]"}, {.tools = "[" TOOL("x") "]"}};
    static const char *const KEYS[] = {"a", "b", "c"};
    hub_str batch[] = {HUB_STR("a"), HUB_STR("b"), HUB_STR("c")};
    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < 3; i++) {
        (void)add_inactive(&fixture, KEYS[i], &masters[i], false);
    }
    fixture_start(&fixture);
    client *legacy = client_open(&fixture, LEGACY);
    client *silent = client_open(&fixture, BARE); /* has not initialized */
    client *deaf = client_open(&fixture, MODERN); /* listens to nothing */
    client *modern = client_open(&fixture, MODERN);
    client_request(modern, "\"sub\"", "subscriptions/listen",
                   "\"notifications\":{\"toolsListChanged\":true}");
    client_clear(modern);
    assert_int_equal(start_enabling(&fixture, &done, batch, 3, NULL), HUB_OK);
    assert_int_equal(client_count(legacy, LIST_CHANGED), 0); /* not before the change is whole */
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 1);
    assert_int_equal(legacy->count, 1);
    assert_string_equal(legacy->messages[0],
                        "{\"jsonrpc\":\"2.0\",\"method\":\"" LIST_CHANGED "\"}");
    assert_int_equal(modern->count, 1);
    assert_string_equal(modern->messages[0],
                        "{\"jsonrpc\":\"2.0\",\"method\":\"" LIST_CHANGED
                        "\",\"params\":{\"_meta\":{"
                        "\"io.modelcontextprotocol/subscriptionId\":\"sub\"}}}");
    assert_int_equal(silent->count + deaf->count, 0);
    assert_int_equal(disable(&fixture, "b", &done), HUB_OK);
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 2);
    assert_int_equal(client_count(legacy, LIST_CHANGED), 2);
    fixture_stop(&fixture);
}

/* S1.22, DESIGN Exposure: nothing is sent when nothing changed, or not for long. */
static void test_no_notification(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    puppet empty = {.tools = "[]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    (void)add_inactive(&fixture, "empty", &empty, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 0); /* nor for what start-up did */
    assert_int_equal(enable(&fixture, "nobody", &done), HUB_ENOTFOUND);
    assert_int_equal(enable(&fixture, "empty", &done), HUB_OK); /* active, but no tools */
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    assert_int_equal(disable(&fixture, "git", &done), HUB_OK); /* as it was */
    fixture_settle(&fixture);
    assert_int_equal(notifications(&fixture), 0);
    assert_int_equal(c->count, 0);
    fixture_stop(&fixture);
}

/* S1.15, S1.30: a client that cannot be told fails nothing, and the others are told. */
static void test_notification_fails(void **state)
{
    static const hub_err FAILURES[] = {HUB_ELIMIT, HUB_ESTATE, HUB_ENOMEM};
    puppet git = {.tools = "[" TOOL("x") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture_start(&fixture);
    client *first = client_open(&fixture, LEGACY);
    client *broken = client_open(&fixture, LEGACY);
    client *last = client_open(&fixture, LEGACY);
    for (size_t i = 0; i < 3; i++) {
        broken->refuses = FAILURES[i];
        assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
        fixture_settle(&fixture);
        assert_int_equal(disable(&fixture, "git", &done), HUB_OK);
        fixture_settle(&fixture);
        assert_int_equal(client_count(first, LIST_CHANGED), 2 * (i + 1));
        assert_int_equal(client_count(last, LIST_CHANGED), 2 * (i + 1));
    }
    assert_int_equal(broken->count, 0);
    fixture_stop(&fixture);
}

/* ---- several profiles ------------------------------------------------------------------------ */

/* DESIGN, Exposure: the active set belongs to the profile; they share one instance. */
static void test_profiles(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    hub_str key = HUB_STR("git");
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.settings.profile_count = 2;
    fixture_start(&fixture);
    client *one = client_open(&fixture, LEGACY);
    client *two = client_open_in(&fixture, LEGACY, "second");
    hub_manager *second =
        hub_manager_of(hub_profile_audience(hub_find_profile(fixture.hub, "second")));
    assert_int_equal(enable(&fixture, "git", &done), HUB_OK);
    fixture_settle(&fixture);
    assert_int_equal(client_count(one, LIST_CHANGED), 1);
    assert_int_equal(client_count(two, LIST_CHANGED), 0);
    assert_lacks(client_list(two, "1"), "git__x");
    assert_int_equal(hub_manager_enable(second, &key, 1, HUB_STR_EMPTY, keep_outcome, &done, NULL),
                     HUB_OK);
    assert_int_equal(done.results[0].err, HUB_OK);
    assert_int_equal(git.creates, 1);
    assert_int_equal(disable(&fixture, "git", &done), HUB_OK);
    assert_contains(client_ask(two, "2", "git__x", "{}"), "\"content\"");
    assert_contains(client_ask(one, "2", "git__x", "{}"), "Unknown tool");
    fixture_spin(&fixture, 3);
    assert_int_equal(git.destroys, 0);
    hub_session_options options = {.profile = "third", .transport = "test"};
    hub_session *session = NULL;
    assert_int_equal(hub_session_create(fixture.hub, &options, &session, &why), HUB_ENOTFOUND);
    fixture_stop(&fixture);
    assert_int_equal(git.destroys, 1);
}

/* ---- for ever -------------------------------------------------------------------------------- */

static void cycle(hub_fixture *f)
{
    hub_str keys[] = {HUB_STR("git"), HUB_STR("docker")};
    assert_int_equal(start_enabling(f, &done, keys, 2, NULL), HUB_OK);
    assert_int_equal(done.results[0].err + done.results[1].err, 0);
    assert_int_equal(start_disabling(f, &done, keys, 2), HUB_OK);
    assert_int_equal(done.results[0].err + done.results[1].err, 0);
    fixture_spin(f, 1); /* the instances end */
}

/* S3.86: after 10,000 cycles memory is exactly what it was. */
static void test_memory(void **state)
{
    puppet git = {.tools = "[" TOOL("status") "," TOOL("log") "]"};
    puppet docker = {.tools = "[" TOOL("ps") "]"};
    (void)state;
    fixture_init(&fixture);
    (void)add_inactive(&fixture, "git", &git, false);
    (void)add_inactive(&fixture, "docker", &docker, true);
    fixture.settings.limits.worker_threads = 1; /* a busy machine starts no second one on the way */
    fixture_start(&fixture);
    hub_log_capture(NULL, NULL);
    hub_log_setup(HUB_LOG_OFF, false);
    for (int i = 0; i < WARM_UP; i++) {
        cycle(&fixture);
    }
    fixture_settle(&fixture);
    size_t before = count_allocated();
    for (int i = 0; i < CYCLES; i++) {
        cycle(&fixture);
    }
    fixture_settle(&fixture);
    assert_int_equal(count_allocated(), before);
    assert_int_equal(git.creates, CYCLES + WARM_UP);
    assert_int_equal(git.destroys, CYCLES + WARM_UP);
    hub_log_setup(HUB_LOG_INFO, false);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enable_disable),
        cmocka_unit_test(test_same_list),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_max_active_in_batch),
        cmocka_unit_test(test_twice_in_batch),
        cmocka_unit_test(test_failing_module),
        cmocka_unit_test(test_refused_list),
        cmocka_unit_test(test_collision),
        cmocka_unit_test(test_collision_in_batch),
        cmocka_unit_test(test_one_notification),
        cmocka_unit_test(test_no_notification),
        cmocka_unit_test(test_notification_fails),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
