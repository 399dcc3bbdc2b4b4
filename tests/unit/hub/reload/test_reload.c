/* SPDX-License-Identifier: Apache-2.0 */
/* Reloading (S5.8, S5.9, S5.11, S5.45; RELIABILITY C02, C03): what changes, what does not, and that
 * a reload that cannot be changes nothing. */
#include "reload_support.h"
#include "hub/report/reload_state.h"

enum { MASTERS = 6, ROUNDS = 1000 };

static hub_fixture fixture;
static puppet masters[MASTERS];
static outcome done;

/* Calls that were not answered. */
static struct {
    puppet_instance *instance;
    patchbay_call call;
} taken[16];
static size_t taken_count;

static void take(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    (void)request;
    assert_true(taken_count < sizeof taken / sizeof *taken);
    taken[taken_count].instance = instance;
    taken[taken_count++].call = call;
}

static void answer(size_t at, const char *result)
{
    assert_int_equal(puppet_finish(taken[at].instance, taken[at].call, result), PATCHBAY_OK);
}

static void start(void)
{
    start_draft(&fixture);
}

static hub_err reload(void)
{
    return reload_draft(&fixture);
}

static void stop(void)
{
    fixture_stop(&fixture);
    assert_int_equal(generations, 0);
}

/* Toolsets a, b, c of one tool x each, whose calls wait. */
static void begin(bool are_proxies)
{
    static const char *const KEYS[] = {"a", "b", "c"};
    memset(masters, 0, sizeof masters);
    taken_count = 0;
    generations = 0;
    fixture_init(&fixture);
    for (size_t i = 0; i < 3; i++) {
        masters[i].tools = "[" TOOL("x") "]";
        masters[i].on_call = take;
        (void)fixture_toolset(&fixture, KEYS[i], &masters[i], are_proxies);
    }
}

static void remove_toolset(size_t at)
{
    remove_from_draft(&fixture, at);
}

static hub_toolset *toolset(const char *key)
{
    return hub_find_toolset(fixture.hub, hub_str_of(key));
}

/* ---- what changes, and what does not --------------------------------------------------------- */

static void test_nothing(void **state)
{
    (void)state;
    begin(false);
    start();
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "a__x", "{}");
    hub_binding *binding = toolset("a")->binding;
    fixture.toolsets[0].source = "test:7"; /* a comment was added above */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reload(), HUB_OK);
        assert_int_equal(report.added.count + report.removed.count + report.changed.count, 0);
        assert_int_equal(report.restart.count, 0);
        fixture_settle(&fixture);
    }
    assert_ptr_equal(toolset("a")->binding, binding);
    assert_string_equal(toolset("a")->settings->source, "test:7");
    assert_int_equal(masters[0].creates, 1);
    assert_int_equal(client_count(c, LIST_CHANGED), 0);
    answer(0, "{\"content\":[]}");
    assert_non_null(client_wait(c, "1"));
    stop();
}

/* S5.9, S5.45: one is added, one goes, one is another; all clients are told once. */
static void test_difference(void **state)
{
    (void)state;
    begin(false);
    start();
    client *c = client_open(&fixture, LEGACY);
    client *d = client_open(&fixture, LEGACY);
    client_call(c, "1", "a__x", "{}");
    client_call(c, "2", "b__x", "{}");
    client_call(c, "3", "c__x", "{}");
    masters[3] = (puppet){.tools = "[" TOOL("y") "]", .on_call = take};
    masters[4] = (puppet){.tools = "[" TOOL("z") "]", .on_call = take};
    remove_toolset(1);
    (void)fixture_toolset(&fixture, "new", &masters[3], false);
    (void)snprintf(fixture.configs[5], sizeof fixture.configs[5], "{\"puppet\":\"%zu\"}",
                   (size_t)&masters[4]);
    fixture.toolsets[1].config_json = fixture.configs[5]; /* c */
    assert_int_equal(reload(), HUB_OK);
    assert_string_equal(report.added.text, "new");
    assert_string_equal(report.removed.text, "b");
    assert_string_equal(report.changed.text, "c");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 1);
    assert_int_equal(client_count(d, LIST_CHANGED), 1);
    const char *list = client_list(c, "4");
    assert_contains(list, "\"a__x\"");
    assert_contains(list, "\"c__z\"");
    assert_contains(list, "\"new__y\"");
    assert_lacks(list, "\"b__x\"");
    assert_lacks(list, "\"c__x\"");
    assert_contains(client_ask(c, "5", "b__x", "{}"), "nknown tool");
    assert_int_equal(masters[0].creates, 1);
    assert_int_equal(masters[1].destroys, 0); /* its call is not over */
    assert_int_equal(masters[2].destroys, 0);
    client_call(c, "6", "c__z", "{}");
    assert_ptr_equal(taken[3].instance->puppet, &masters[4]);
    for (size_t i = 0; i < 4; i++) {
        answer(i, "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}");
    }
    for (const char *id = "1236"; *id != '\0'; id++) {
        const char raw[] = {*id, '\0'};
        assert_contains(client_wait(c, raw), "done");
    }
    fixture_spin(&fixture, 5);
    assert_int_equal(masters[1].destroys, 1);
    assert_int_equal(masters[2].destroys, 1);
    stop();
}

/* What the hub alone decides needs no new instance. */
static void test_tuned(void **state)
{
    static const char *const DENIED[] = {"x"};
    (void)state;
    begin(false);
    masters[0].tools = "[" TOOL("x") "," TOOL("y") "]";
    start();
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "a__x", "{}");
    fixture.toolsets[0].tools_deny = (hub_names){.items = DENIED, .count = 1, .set = true};
    fixture.toolsets[0].max_calls = 1;
    assert_int_equal(reload(), HUB_OK);
    assert_string_equal(report.changed.text, "a");
    assert_int_equal(masters[0].creates, 1);
    assert_false(has_tool(&fixture, "a__x"));
    client_call(c, "2", "a__y", "{}"); /* one is in flight, and no more may be */
    assert_contains(client_wait(c, "2"), "\"isError\":true");
    answer(0, "{\"content\":[]}");
    assert_non_null(client_wait(c, "1"));
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 1);
    stop();
}

static hub_toolset_settings *settings_of(const char *text, uint32_t number, bool flag)
{
    static const char *items[2];
    static hub_toolset_settings settings;
    items[0] = text;
    items[1] = "same";
    const hub_names names = {.items = items, .count = 2, .set = true};
    settings = (hub_toolset_settings){.key = text,
                                      .module = text,
                                      .description = text,
                                      .config_json = text,
                                      .source = text,
                                      .enabled = flag,
                                      .active = flag,
                                      .lazy = flag,
                                      .sharing_session = flag,
                                      .is_isolated = flag,
                                      .memory_limit = number,
                                      .process_json = text,
                                      .cache = flag,
                                      .call_timeout_ms = number,
                                      .max_calls = number,
                                      .tools_allow = names,
                                      .tools_deny = names,
                                      .tags = names,
                                      .category = text,
                                      .forward_headers = names};
    return &settings;
}

/* Every member is compared and copied. */
static void test_compare(void **state)
{
    (void)state;
    hub_toolset_settings *a = hub_toolset_settings_dup(settings_of("one", 1, true));
    hub_toolset_settings *b = hub_toolset_settings_dup(settings_of("two", 2, false));
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a->key, settings_of("one", 1, true)->key);
    assert_int_equal(hub_toolset_settings_compare(a, settings_of("one", 1, true)),
                     HUB_TOOLSET_SAME);
#define ASSERT_MATTERS(member, difference)                                                         \
    do {                                                                                           \
        hub_toolset_settings other = *a;                                                           \
        other.member = b->member;                                                                  \
        assert_int_equal(hub_toolset_settings_compare(a, &other), difference);                     \
        assert_int_equal(hub_toolset_settings_compare(&other, a), difference);                     \
    } while (0)
    ASSERT_MATTERS(module, HUB_TOOLSET_ANOTHER);
    ASSERT_MATTERS(config_json, HUB_TOOLSET_ANOTHER);
    ASSERT_MATTERS(sharing_session, HUB_TOOLSET_ANOTHER);
    ASSERT_MATTERS(is_isolated, HUB_TOOLSET_ANOTHER);
    ASSERT_MATTERS(memory_limit, HUB_TOOLSET_ANOTHER);
    ASSERT_MATTERS(process_json, HUB_TOOLSET_ANOTHER);
    ASSERT_MATTERS(source, HUB_TOOLSET_SAME);
    ASSERT_MATTERS(description, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(enabled, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(active, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(lazy, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(cache, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(call_timeout_ms, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(max_calls, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(tools_allow, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(tools_deny, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(tags, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(category, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(forward_headers, HUB_TOOLSET_TUNED);
    ASSERT_MATTERS(tags.set, HUB_TOOLSET_SAME); /* both are */
    hub_toolset_settings empty = *a;
    empty.tags = (hub_names){.items = NULL};
    empty.category = NULL;
    hub_toolset_settings *dup = hub_toolset_settings_dup(&empty);
    assert_non_null(dup);
    assert_null(dup->category);
    assert_false(dup->tags.set);
    assert_int_equal(hub_toolset_settings_compare(&empty, dup), HUB_TOOLSET_SAME);
    assert_int_equal(hub_toolset_settings_compare(a, dup), HUB_TOOLSET_TUNED);
    free(dup);
    free(a);
    free(b);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

/* Everything is as it was, and goes on. */
static void assert_untouched(client *c, hub_err err, const char *reason)
{
    hub_binding *binding = toolset("a")->binding;
    const hub_settings *settings = fixture.hub->settings;
    unsigned creates = masters[0].creates;
    assert_int_equal(reload(), err);
    assert_contains(why.text, reason);
    assert_ptr_equal(toolset("a")->binding, binding);
    assert_ptr_equal(fixture.hub->settings, settings);
    assert_int_equal(masters[0].creates, creates);
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 0);
    assert_int_equal(generations, 1);
    assert_int_equal(fixture.hub->toolset_count, 3);
    const char *list = client_list(c, "\"l\"");
    assert_contains(list, "\"a__x\"");
    assert_contains(list, "\"b__x\"");
    assert_contains(list, "\"c__x\"");
    assert_lacks(list, "new");
}

/* S5.11, C02 */
static void test_bad(void **state)
{
    static const char *const NOBODY[] = {"nobody"};
    (void)state;
    begin(false);
    start();
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "a__x", "{}");
    masters[3] = (puppet){.tools = "[" TOOL("y") "]", .broken = "it is broken"};

    hub_toolset_settings *extra = fixture_toolset(&fixture, "new", &masters[3], false);
    extra->source = "hub.yaml:12";
    fixture.toolsets[0].call_timeout_ms = 5; /* good by itself */
    assert_untouched(c, HUB_EUNAVAILABLE, "hub.yaml:12: toolset \"new\": it is broken");
    extra->module = "missing";
    assert_untouched(c, HUB_ENOTFOUND, "hub.yaml:12: toolset \"new\": there is no plugin");
    extra->module = "puppet";
    extra->key = "No";
    assert_untouched(c, HUB_EINVAL, "No");
    extra->key = "new";
    extra->config_json = "{\"puppet\":5}";
    assert_untouched(c, HUB_EINVAL, "hub.yaml:12: toolset \"new\": config");
    fixture.settings.toolset_count--;

    fixture.toolsets[2].config_json = "{\"puppet\":5}"; /* the last one: the others were made */
    fixture.toolsets[0].config_json = "{}";
    assert_untouched(c, HUB_EINVAL, "test:1: toolset \"c\"");
    fixture.toolsets[0].config_json = fixture.configs[0];
    fixture.toolsets[2].config_json = fixture.configs[2];

    fixture.profiles[0].startup = HUB_STARTUP_STATIC;
    fixture.profiles[0].toolsets = (hub_names){.items = NOBODY, .count = 1, .set = true};
    fixture.profiles[0].policy.deny = (hub_names){.items = NOBODY, .count = 1, .set = true};
    fixture.toolsets[0].enabled = false;
    fixture.toolsets[1].enabled = false;
    fixture.toolsets[2].enabled = false;
    assert_untouched(c, HUB_EINVAL, "none of the toolsets");
    answer(0, "{\"content\":[]}");
    assert_non_null(client_wait(c, "1"));
    assert_int_equal(toolset("a")->settings->call_timeout_ms, FIXTURE_LONG_MS);
    stop();
}

/* One that could not be made at start is left alone, until its settings are others. */
static void test_mended(void **state)
{
    (void)state;
    begin(false);
    masters[1].broken = "it is broken";
    start();
    assert_false(is_active(&fixture, "b"));
    assert_int_equal(reload(), HUB_OK);
    assert_false(is_active(&fixture, "b"));
    masters[1].broken = NULL;
    fixture.toolsets[1].call_timeout_ms = 5;
    assert_int_equal(reload(), HUB_OK);
    assert_true(is_active(&fixture, "b"));
    stop();
}

/* ---- who is active --------------------------------------------------------------------------- */

/* What users switched stays, but where the settings have changed their mind. */
static void test_switches(void **state)
{
    (void)state;
    begin(false);
    fixture.toolsets[2].active = false; /* c */
    start();
    assert_int_equal(disable(&fixture, "a", &done), HUB_OK);
    assert_int_equal(enable(&fixture, "c", &done), HUB_OK);
    fixture.toolsets[0].call_timeout_ms = 5;
    assert_int_equal(reload(), HUB_OK);
    assert_false(is_active(&fixture, "a"));
    assert_true(is_active(&fixture, "b"));
    assert_true(is_active(&fixture, "c"));
    fixture.toolsets[1].active = false;
    assert_int_equal(reload(), HUB_OK);
    assert_false(is_active(&fixture, "b"));
    fixture_spin(&fixture, 3);
    assert_int_equal(masters[1].destroys, 1);
    fixture.toolsets[0].active = false;
    assert_int_equal(reload(), HUB_OK);
    fixture.toolsets[0].active = true;
    fixture.toolsets[2].enabled = false;
    assert_int_equal(reload(), HUB_OK);
    assert_true(is_active(&fixture, "a"));
    assert_false(is_active(&fixture, "c")); /* a user's wish, but it is switched off */
    assert_int_equal(enable(&fixture, "c", &done), HUB_EDENIED);
    stop();
}

/* A static profile is what its list says, in its order. */
static void test_static(void **state)
{
    static const char *const FIRST[] = {"c", " a ", "typo"};
    static const char *const SECOND[] = {"b", "a"};
    static const char *const ALL[] = {"ALL"};
    (void)state;
    begin(false);
    fixture.profiles[0].startup = HUB_STARTUP_STATIC;
    fixture.profiles[0].toolsets = (hub_names){.items = FIRST, .count = 3, .set = true};
    start();
    assert_true(is_active(&fixture, "c"));
    fixture.profiles[0].toolsets = (hub_names){.items = SECOND, .count = 2, .set = true};
    assert_int_equal(reload(), HUB_OK);
    assert_true(is_active(&fixture, "a"));
    assert_true(is_active(&fixture, "b"));
    assert_false(is_active(&fixture, "c"));
    assert_int_equal(masters[0].creates, 1);
    fixture.profiles[0].toolsets = (hub_names){.items = ALL, .count = 1, .set = true};
    assert_int_equal(reload(), HUB_OK);
    assert_true(is_active(&fixture, "c"));
    assert_false(has_tool(&fixture, "enable_toolset"));
    fixture.profiles[0].startup = HUB_STARTUP_DEFAULT;
    fixture.profiles[0].toolsets = (hub_names){.items = NULL};
    assert_int_equal(reload(), HUB_OK);
    assert_true(has_tool(&fixture, "enable_toolset"));
    fixture.profiles[0].meta_tools = false;
    assert_int_equal(reload(), HUB_OK);
    assert_false(has_tool(&fixture, "enable_toolset"));
    assert_int_equal(masters[0].creates, 1);
    stop();
}

/* What is switched off is skipped, as at the start, also where a list names it. */
static void test_static_off(void **state)
{
    static const char *const LISTED[] = {"a", "b"};
    (void)state;
    begin(false);
    fixture.profiles[0].startup = HUB_STARTUP_STATIC;
    fixture.profiles[0].toolsets = (hub_names){.items = LISTED, .count = 2, .set = true};
    fixture.toolsets[1].enabled = false;
    start();
    assert_false(is_active(&fixture, "b"));
    fixture.toolsets[1].description = "another one";
    if (reload() != HUB_OK) {
        fail_msg("%s", why.text);
    }
    assert_true(is_active(&fixture, "a"));
    assert_false(is_active(&fixture, "b"));
    fixture.toolsets[0].enabled = false; /* then there is none left */
    assert_int_equal(reload(), HUB_EINVAL);
    assert_true(is_active(&fixture, "a"));
    fixture.toolsets[0].enabled = true;
    fixture.toolsets[1].enabled = true;
    assert_int_equal(reload(), HUB_OK);
    assert_true(is_active(&fixture, "b"));
    stop();
}

static void test_policy(void **state)
{
    static const char *const DENY[] = {"b"};
    (void)state;
    begin(false);
    start();
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "b__x", "{}");
    fixture.settings.policy.deny = (hub_names){.items = DENY, .count = 1, .set = true};
    assert_int_equal(reload(), HUB_OK);
    assert_false(is_active(&fixture, "b"));
    assert_int_equal(enable(&fixture, "b", &done), HUB_ENOTFOUND); /* nothing is said of it */
    answer(0, "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}");
    assert_contains(client_wait(c, "1"), "done");
    fixture.settings.policy.deny = (hub_names){.items = NULL};
    fixture.profiles[0].policy.max_active = 2;
    assert_int_equal(reload(), HUB_OK); /* it is wanted again, but there is no room */
    assert_false(is_active(&fixture, "b"));
    assert_true(fixture_logged(&fixture, "toolset.skipped profile=default toolsets=b"));
    fixture.profiles[0].policy.max_active = 1;
    assert_int_equal(reload(), HUB_OK);
    assert_int_equal(
        hub_manager_active_count(hub_manager_of(hub_profile_audience(fixture_profile(&fixture)))),
        1);
    fixture.profiles[0].policy.max_active = 0;
    fixture.profiles[0].policy.read_only = true; /* no tool says that it is */
    assert_int_equal(reload(), HUB_OK);
    assert_true(is_active(&fixture, "a"));
    assert_false(has_tool(&fixture, "a__x"));
    stop();
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void test_profiles(void **state)
{
    (void)state;
    begin(false);
    start();
    assert_null(hub_find_profile(fixture.hub, "second"));
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    fixture.profiles[1].naming = HUB_NAMING_DOT;
    fixture.settings.profile_count = 2;
    assert_int_equal(reload(), HUB_OK);
    assert_int_equal(toolset("a")->users, 2);
    assert_int_equal(masters[0].creates, 1);
    client *c = client_open_in(&fixture, LEGACY, "second");
    client_call(c, "1", "a.x", "{}");

    fixture.settings.profile_count = 1; /* it goes, and its session sees nothing any more */
    assert_int_equal(reload(), HUB_OK);
    assert_int_equal(toolset("a")->users, 1);
    assert_null(hub_find_profile(fixture.hub, "second"));
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 1);
    assert_lacks(client_list(c, "2"), "a.x");
    answer(0, "{\"content\":[]}");
    assert_contains(client_wait(c, "1"), "\"content\"");
    assert_int_equal(reload(), HUB_OK);

    fixture.settings.profile_count = 2; /* and is back */
    assert_int_equal(reload(), HUB_OK);
    assert_contains(client_list(c, "3"), "a.x");
    fixture.settings.profile_count = 1;
    assert_int_equal(reload(), HUB_OK);
    assert_int_equal(fixture.hub->profile_count, 2);
    assert_int_equal(generations, 2);
    client_close(c); /* the last one */
    assert_int_equal(fixture.hub->profile_count, 1);
    assert_int_equal(generations, 1);
    stop();
}

/* ---- servers that are asked ------------------------------------------------------------------ */

static bool is_asked(void *ctx)
{
    return taken_count >= *(size_t *)ctx;
}

static void give(size_t at, const char *tools)
{
    assert_int_equal(
        taken[at].instance->api->set_tools(taken[at].instance->host, puppet_str(tools)),
        PATCHBAY_OK);
    answer(at, "{}");
}

/* Upstreams that are new are asked at once; clients are told when the last has answered. */
static void test_servers(void **state)
{
    size_t two = 2;
    (void)state;
    begin(false);
    start();
    client *c = client_open(&fixture, LEGACY);
    for (size_t i = 3; i < 5; i++) {
        masters[i] = (puppet){.defers = true, .on_call = take};
    }
    (void)fixture_toolset(&fixture, "up", &masters[3], true);
    (void)fixture_toolset(&fixture, "upper", &masters[4], true);
    assert_int_equal(reload(), HUB_OK);
    fixture_run_until(&fixture, is_asked, &two);
    give(0, "[" TOOL("one") "]");
    fixture_settle(&fixture);
    assert_true(has_tool(&fixture, "up__one"));
    assert_int_equal(client_count(c, LIST_CHANGED), 0);
    give(1, "[" TOOL("two") "]");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 1);

    /* another command: its tools are what they were until it says otherwise */
    masters[5] = (puppet){.defers = true, .on_call = take};
    (void)snprintf(fixture.configs[6], sizeof fixture.configs[6], "{\"puppet\":\"%zu\"}",
                   (size_t)&masters[5]);
    fixture.toolsets[3].config_json = fixture.configs[6];
    assert_int_equal(reload(), HUB_OK);
    assert_string_equal(report.changed.text, "up");
    assert_ptr_equal(taken[2].instance->puppet, &masters[5]);
    assert_true(has_tool(&fixture, "up__one"));
    client_call(c, "1", "up__one", "{}"); /* of an earlier server's tool */
    client_request(c, "2", "tools/list", "");
    assert_null(client_reply(c, "2")); /* waits */
    give(2, "[" TOOL("three") "]");
    assert_contains(client_wait(c, "1"), "no tool");
    assert_contains(client_wait(c, "2"), "up__three");
    fixture_settle(&fixture);
    assert_int_equal(client_count(c, LIST_CHANGED), 2);
    fixture_spin(&fixture, 3);
    assert_int_equal(masters[3].destroys, 1);
    stop();
}

/* A second reload while the first one's servers have not answered; then the end. */
static void test_impatient(void **state)
{
    (void)state;
    begin(false);
    start();
    client *c = client_open(&fixture, LEGACY);
    masters[3] = (puppet){.defers = true, .on_call = take};
    masters[4] = (puppet){.defers = true, .on_call = take};
    (void)fixture_toolset(&fixture, "up", &masters[3], true);
    assert_int_equal(reload(), HUB_OK);
    client_request(c, "1", "tools/list", "");
    assert_null(client_reply(c, "1"));
    remove_toolset(3); /* nobody need wait for it any more */
    assert_int_equal(reload(), HUB_OK);
    assert_non_null(client_wait(c, "1"));
    (void)fixture_toolset(&fixture, "up", &masters[4], true);
    assert_int_equal(reload(), HUB_OK);
    assert_null(toolset("up")->lists[HUB_KIND_TOOL]);
    assert_non_null(hub_reload_state_of(fixture.hub)->wait);
    stop();
}

/* An enable that waits for a server ends when a reload comes, and its toolset may be gone with it.
 */
static void test_enabling(void **state)
{
    const hub_str up = HUB_STR("up");
    (void)state;
    begin(false);
    masters[3] = (puppet){.defers = true, .on_call = take};
    (void)add_inactive(&fixture, "up", &masters[3], true);
    start();
    assert_int_equal(start_enabling(&fixture, &done, &up, 1, NULL), HUB_OK);
    assert_int_equal(done.times, 0);
    remove_toolset(3);
    assert_int_equal(reload(), HUB_OK);
    assert_int_equal(done.times, 1);
    assert_int_equal(done.results[0].err, HUB_OK);
    assert_true(done.results[0].is_starting);
    assert_null(toolset("up"));
    assert_int_equal(start_enabling(&fixture, &done, &up, 1, NULL), HUB_OK);
    assert_int_equal(done.results[0].err, HUB_ENOTFOUND);
    stop();
}

/* ---- what else belongs to a toolset ---------------------------------------------------------- */

#define RESOURCES "[{\"name\":\"r\",\"uri\":\"mem:r\"}]"

static void test_subscriptions(void **state)
{
    (void)state;
    begin(false);
    for (size_t i = 0; i < 2; i++) {
        masters[i].resources = RESOURCES;
        masters[i].capabilities = "{\"resources\":{\"subscribe\":true}}";
        masters[i].on_call = NULL;
    }
    masters[1].resources = "[{\"name\":\"s\",\"uri\":\"mem:s\"}]";
    start();
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "resources/subscribe", "\"uri\":\"mem:r\"");
    client_request(c, "2", "resources/subscribe", "\"uri\":\"mem:s\"");
    assert_contains(client_wait(c, "1"), "\"result\"");
    assert_contains(client_wait(c, "2"), "\"result\"");
    remove_toolset(1);
    (void)snprintf(fixture.configs[5], sizeof fixture.configs[5], "{\"puppet\":\"%zu\"}",
                   (size_t)&masters[3]);
    masters[3] = masters[0];
    masters[3].creates = 0;
    fixture.toolsets[0].config_json = fixture.configs[5];
    assert_int_equal(reload(), HUB_OK);
    assert_true(masters[3].calls > masters[0].calls - 1); /* it was told of the subscription */
    masters[3].latest->catalog->updated(masters[3].latest->host, puppet_str("mem:r"));
    fixture_spin(&fixture, 3);
    assert_int_equal(client_count(c, "notifications/resources/updated"), 1);
    client_request(c, "3", "resources/unsubscribe", "\"uri\":\"mem:s\"");
    assert_non_null(client_wait(c, "3"));
    stop();
}

/* Keys that take effect at the next start only are named. */
static void test_restart(void **state)
{
    static const char *const FOLDERS[] = {PUPPET_DIR, "/nowhere"};
    (void)state;
    begin(false);
    start();
    fixture.settings.limits.worker_threads++;
    fixture.settings.modules.watch = !fixture.settings.modules.watch;
    fixture.settings.modules.allow_writable = !fixture.settings.modules.allow_writable;
    fixture.settings.modules.paths = (hub_names){.items = FOLDERS, .count = 2, .set = true};
    fixture.settings.cache_folder = "/nowhere";
    assert_int_equal(reload(), HUB_OK);
    assert_string_equal(report.restart.text, "modules.paths,modules.watch,modules.allow_writable,"
                                             "hub.cache_dir,limits.worker_threads");
    assert_int_equal(reload(), HUB_OK);
    assert_int_equal(report.restart.count, 0);
    fixture.settings.title = "Another";
    fixture.settings.limits.list_page = 1;
    assert_int_equal(reload(), HUB_OK);
    client *c = client_open(&fixture, MODERN);
    client_request(c, "1", "server/discover", "");
    assert_contains(client_wait(c, "1"), "\"title\":\"Another\"");
    assert_contains(client_list(c, "2"), "nextCursor");
    stop();
}

/* Without a list, every module is a toolset; with one, only what it names. */
static void test_modules(void **state)
{
    (void)state;
    begin(false);
    fixture.settings.toolset_count = 0;
    fixture.settings.toolsets_listed = false;
    start();
    hub_toolset *own = toolset("puppet");
    assert_non_null(own);
    hub_binding *binding = own->binding;
    assert_int_equal(reload(), HUB_OK);
    assert_ptr_equal(toolset("puppet"), own);
    assert_ptr_equal(own->binding, binding);
    fixture.settings.toolset_count = 3;
    fixture.settings.toolsets_listed = true;
    assert_int_equal(reload(), HUB_OK);
    assert_string_equal(report.removed.text, "puppet,puppet_proxy");
    assert_string_equal(report.added.text, "a,b,c");
    assert_null(toolset("puppet"));
    stop();
}

/* ---- many ------------------------------------------------------------------------------------ */

static unsigned seed = 20260728;

static unsigned any(unsigned below)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % below;
}

/* Something of the draft is another: good or bad. */
static void shuffle(void)
{
    static const char *const DENY[] = {"b"};
    hub_toolset_settings *one = &fixture.toolsets[1 + any(2)];
    switch (any(8)) {
    case 0:
        fixture.settings.toolset_count = 2 + any(2);
        break;
    case 1:
        one->config_json = any(2) ? fixture.configs[4] : fixture.configs[2];
        break;
    case 2:
        one->config_json = any(2) ? "{\"puppet\":5}" : fixture.configs[1];
        break;
    case 3:
        one->enabled = any(2) != 0;
        break;
    case 4:
        one->max_calls = any(3);
        break;
    case 5:
        fixture.settings.policy.deny = (hub_names){.items = DENY, .count = 1, .set = any(2) != 0};
        fixture.settings.policy.deny.count = fixture.settings.policy.deny.set;
        break;
    case 6:
        fixture.settings.profile_count = 1 + any(2);
        break;
    default:
        fixture.profiles[1].naming = any(4);
        break;
    }
}

/* C02, C03: a thousand reloads under calls: one toolset is never touched, no call fails, nothing
 * grows. */
static void test_many(void **state)
{
    (void)state;
    begin(false);
    masters[4] = (puppet){.tools = "[" TOOL("x") "," TOOL("y") "]"};
    (void)snprintf(fixture.configs[4], sizeof fixture.configs[4], "{\"puppet\":\"%zu\"}",
                   (size_t)&masters[4]);
    for (size_t i = 0; i < 3; i++) {
        masters[i].on_call = i == 0 ? take : NULL;
    }
    fixture.profiles[1] = fixture.profiles[0];
    fixture.profiles[1].name = "second";
    start();
    client *c = client_open(&fixture, LEGACY);
    hub_instance *instance = toolset("a")->binding->instance;
    size_t before = 0;
    unsigned good = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i == ROUNDS / 2) {
            before = fixture_allocated();
        }
        client_call(c, "1", "a__x", "{}");
        shuffle();
        good += reload() == HUB_OK;
        answer(taken_count - 1, "{\"content\":[]}");
        taken_count = 0;
        assert_lacks(client_wait(c, "1"), "isError");
        fixture_spin(&fixture, 2);
        client_clear(c);
        assert_ptr_equal(toolset("a")->binding->instance, instance);
        assert_true(generations <= 2);
        fixture.log_len = 0;
    }
    assert_true(good > ROUNDS / 4 && good < ROUNDS);
    assert_int_equal(masters[0].creates, 1);
    fixture_settle(&fixture);
    size_t after = fixture_allocated();
    assert_true(after < before + 64 * 1024);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_difference),
        cmocka_unit_test(test_tuned),         cmocka_unit_test(test_compare),
        cmocka_unit_test(test_bad),           cmocka_unit_test(test_mended),
        cmocka_unit_test(test_switches),      cmocka_unit_test(test_static),
        cmocka_unit_test(test_static_off),    cmocka_unit_test(test_policy),
        cmocka_unit_test(test_profiles),      cmocka_unit_test(test_servers),
        cmocka_unit_test(test_impatient),     cmocka_unit_test(test_enabling),
        cmocka_unit_test(test_subscriptions), cmocka_unit_test(test_restart),
        cmocka_unit_test(test_modules),       cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
