/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up modes, what composes and what does not, plugins that come and change while the hub runs.
 */
#include "manager_support.h"

#define ABI_PLUGIN_DIR PUPPET_DIR /* for the parts of it that are not used here */
#include "plugin_files.h"

static hub_fixture fixture;
static outcome done;

/* Three toolsets: a, b (not active by default) and off (switched off by configuration). */
static puppet masters[3];

static void init_three(void)
{
    memset(masters, 0, sizeof masters);
    for (size_t i = 0; i < 3; i++) {
        masters[i].tools = "[" TOOL("x") "]";
    }
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "a", &masters[0], false);
    (void)add_inactive(&fixture, "b", &masters[1], false);
    fixture_toolset(&fixture, "off", &masters[2], false)->enabled = false;
}

static void list_toolsets(const char *const *keys, size_t count)
{
    fixture.profiles[0].toolsets = (hub_names){.items = keys, .count = count, .set = true};
}

static size_t active_count(void)
{
    return hub_manager_active_count(
        hub_manager_of(hub_profile_audience(fixture_profile(&fixture))));
}

/* ---- modes ----------------------------------------------------------------------------------- */

/* S1.3, S1.33: neither mode nor list: what is not marked inactive; clients may change it. */
static void test_default(void **state)
{
    (void)state;
    init_three();
    fixture_start(&fixture);
    assert_int_equal(active_count(), 1);
    assert_true(is_active(&fixture, "a"));
    assert_true(has_tool(&fixture, "enable_toolset"));
    assert_int_equal(enable(&fixture, "off", &done), HUB_EDENIED); /* S4.38 */
    assert_contains(done.results[0].why.text, "switched off by configuration");
    assert_int_equal(masters[2].creates, 0);
    fixture_stop(&fixture);
}

/* S1.33: dynamic ignores the list, with a warning. */
static void test_dynamic(void **state)
{
    static const char *const KEYS[] = {"a", "b"};
    (void)state;
    init_three();
    fixture.profiles[0].startup = HUB_STARTUP_DYNAMIC;
    list_toolsets(KEYS, 2);
    fixture_start(&fixture);
    assert_int_equal(active_count(), 0);
    assert_true(fixture_logged(&fixture, "startup.ignored"));
    assert_int_equal(masters[0].creates, 0); /* S4.1: nothing is even made */
    assert_int_equal(enable(&fixture, "a", &done), HUB_OK);
    fixture_stop(&fixture);
}

/* S1.32, S1.33: static is exactly the list, for good: of the meta-tools only list_tools. */
static void test_static(void **state)
{
    static const char *const KEYS[] = {" b ", "typo", "off"};
    (void)state;
    init_three();
    fixture.profiles[0].startup = HUB_STARTUP_STATIC;
    list_toolsets(KEYS, 3);
    fixture_start(&fixture);
    assert_int_equal(active_count(), 1);
    assert_true(is_active(&fixture, "b"));
    assert_true(fixture_logged(&fixture, "unknown toolset"));
    assert_true(fixture_logged(&fixture, "switched off by configuration"));
    client *c = client_open(&fixture, LEGACY);
    const char *list = client_list(c, "1");
    assert_contains(list, "\"list_tools\"");
    assert_lacks(list, "enable_toolset");
    assert_contains(client_ask(c, "2", "disable_toolset", "{\"toolset\":\"b\"}"), "Unknown tool");
    fixture_stop(&fixture);
}

static void test_static_all(void **state)
{
    static const char *const ALL[] = {"ALL"};
    (void)state;
    init_three();
    fixture.profiles[0].startup = HUB_STARTUP_STATIC;
    list_toolsets(ALL, 1);
    fixture_start(&fixture);
    assert_int_equal(active_count(), 2); /* all but what is switched off */
    fixture_stop(&fixture);
}

static void expect_start_fails(const char *text)
{
    hub_error why = {.text = ""};
    assert_int_equal(hub_orchestrator_create(fixture.loop, &fixture.settings, &fixture.hub, &why),
                     HUB_OK);
    assert_int_equal(hub_orchestrator_start(fixture.hub, &why), HUB_EINVAL);
    assert_contains(why.text, text);
    fixture_stop(&fixture);
}

/* S1.33: static with no valid toolset is an error. */
static void test_static_without_toolsets(void **state)
{
    static const char *const KEYS[] = {"typo", "off"};
    (void)state;
    init_three();
    fixture.profiles[0].startup = HUB_STARTUP_STATIC;
    expect_start_fails("none of the toolsets that it starts with can be used");
    init_three();
    fixture.profiles[0].startup = HUB_STARTUP_STATIC;
    list_toolsets(KEYS, 2);
    expect_start_fails("none of the toolsets that it starts with can be used: unknown toolset");
}

/* S1.42: what fails at start is skipped with a warning; the policy binds start-up, too. */
static void test_failures_at_start(void **state)
{
    static const char *const DENY[] = {"a"};
    (void)state;
    init_three();
    masters[1].broken = "cannot";
    fixture.toolsets[1].active = true;
    fixture.settings.policy.deny = (hub_names){.items = DENY, .count = 1, .set = true};
    fixture_start(&fixture);
    assert_int_equal(active_count(), 0);
    assert_int_equal(masters[0].creates, 0);
    assert_true(fixture_logged(&fixture, "denied by policy"));
    assert_true(fixture_logged(&fixture, "cannot"));
    fixture_stop(&fixture);
}

/* S1.4: without meta-tools there are none, and `_meta` does not count. */
static void test_without_meta_tools(void **state)
{
    (void)state;
    init_three();
    fixture.profiles[0].meta_tools = false;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    const char *list = client_list(c, "1");
    assert_lacks(list, "list_tools");
    assert_contains(list, "a__x");
    fixture_stop(&fixture);
}

/* ---- settings that do not compose ------------------------------------------------------------ */

static void expect_refused(hub_err err, const char *text)
{
    hub_error why = {.text = ""};
    assert_int_equal(hub_orchestrator_create(fixture.loop, &fixture.settings, &fixture.hub, &why),
                     err);
    assert_contains(why.text, text);
    hub_loop_destroy(fixture.loop);
    hub_log_capture(NULL, NULL);
}

/* S1.31: `_meta` as a key; other keys that are none; S3.44, S5.7: a key twice. Nothing leaks, and
 * nothing that was not made is taken down. */
static void test_bad_settings(void **state)
{
    static const char *const RELATIVE[] = {"plugins"};
    (void)state;
    init_three();
    fixture.toolsets[1].key = "_meta";
    expect_refused(HUB_EINVAL, "reserved");
    init_three();
    fixture.toolsets[1].key = "a__b";
    expect_refused(HUB_EINVAL, "not a toolset key");
    init_three();
    fixture.toolsets[1].key = "a";
    expect_refused(HUB_EINVAL, "two toolsets are called \"a\"");
    init_three();
    fixture.settings.modules.paths.items = RELATIVE;
    expect_refused(HUB_EINVAL, "absolute");
    init_three();
    fixture.settings.limits.worker_threads = 0;
    expect_refused(HUB_EINVAL, "");
    assert_true(hub_orchestrator_destroy(NULL, 0));
}

/* ---- plugins that come and change ------------------------------------------------------------ */

/* A plugins folder of our own, watched. */
static path folder;

static void init_watched(void)
{
    folder = make_scratch();
    fixture_init(&fixture);
    fixture.folders[0] = folder.text;
    fixture.settings.modules.watch = true;
}

/* Put the puppet's file there, with this version (as long as the original's). */
static void drop_puppet(const char *name, const char *version)
{
    char file[80];
    size_t size;
    (void)snprintf(file, sizeof file, "%s.so", name);
    path from = join(PUPPET_DIR, file);
    char *bytes = read_whole(from.text, &size);
    replace_all(bytes, size, "1.0.0000", version);
    path hidden = join(folder.text, ".new");
    write_whole(hidden.text, bytes, size, 0644);
    assert_int_equal(rename(hidden.text, join(folder.text, file).text), 0);
    free(bytes);
}

static void stop_watched(void)
{
    fixture_stop(&fixture);
    remove_tree(folder.text);
}

static bool made_first(void *ctx)
{
    return ((const puppet *)ctx)->creates == 1;
}

static bool made_second(void *ctx)
{
    return ((const puppet *)ctx)->creates == 2;
}

/* DESIGN, Modules: a module dropped in while the hub runs serves the toolset that waited for it. */
static void test_dropped_in(void **state)
{
    puppet git = {.tools = "[" TOOL("x") "]"};
    puppet idle = {.tools = "[" TOOL("x") "]"};
    (void)state;
    init_watched();
    (void)fixture_toolset(&fixture, "git", &git, false);
    (void)add_inactive(&fixture, "idle", &idle, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    assert_int_equal(active_count(), 0);
    assert_true(fixture_logged(&fixture, "no plugin"));
    drop_puppet("puppet", "1.0.0001");
    fixture_run_until(&fixture, made_first, &git);
    fixture_settle(&fixture);
    assert_true(has_tool(&fixture, "git__x"));
    assert_false(is_active(&fixture, "idle")); /* as start-up would have had it */
    assert_int_equal(client_count(c, LIST_CHANGED), 1);
    stop_watched();
}

static bool has_puppet(void *ctx)
{
    return hub_find_toolset(ctx, HUB_STR("puppet")) != NULL;
}

/* Where no file names toolsets, each module that needs no configuration is one, now and later. */
static void test_unlisted(void **state)
{
    (void)state;
    init_watched();
    fixture.settings.toolsets_listed = false;
    drop_puppet("puppet_proxy", "1.0.0001");
    fixture_start(&fixture);
    assert_true(is_active(&fixture, "puppet_proxy"));
    assert_null(hub_find_toolset(fixture.hub, HUB_STR("puppet")));
    drop_puppet("puppet", "1.0.0001");
    fixture_run_until(&fixture, has_puppet, fixture.hub);
    assert_true(is_active(&fixture, "puppet"));
    stop_watched();
}

/* Start-up that makes nothing active makes nothing active later. */
static void test_dropped_in_dynamic(void **state)
{
    static const char *const ALL[] = {"ALL"};
    (void)state;
    init_watched();
    fixture.settings.toolsets_listed = false;
    fixture.profiles[0].startup = HUB_STARTUP_DYNAMIC;
    list_toolsets(ALL, 1);
    fixture_start(&fixture);
    drop_puppet("puppet", "1.0.0001");
    fixture_run_until(&fixture, has_puppet, fixture.hub);
    assert_int_equal(active_count(), 0);
    assert_int_equal(enable(&fixture, "puppet", &done), HUB_OK);
    stop_watched();
}

/* DESIGN, Modules: a replaced module is swapped in, whatever its toolset is called; a toolset that
 * a user has switched off stays off. */
static void test_replaced(void **state)
{
    puppet git = {.tools = "[" TOOL("old") "]"};
    puppet off = {.tools = "[" TOOL("x") "]"};
    (void)state;
    init_watched();
    (void)fixture_toolset(&fixture, "git", &git, false);
    (void)fixture_toolset(&fixture, "off", &off, false);
    drop_puppet("puppet", "1.0.0001");
    fixture_start(&fixture);
    assert_int_equal(disable(&fixture, "off", &done), HUB_OK);
    fixture_settle(&fixture);
    git.tools = "[" TOOL("new") "]";
    drop_puppet("puppet", "1.0.0002");
    fixture_run_until(&fixture, made_second, &git);
    fixture_settle(&fixture);
    assert_true(has_tool(&fixture, "git__new"));
    assert_false(has_tool(&fixture, "git__old"));
    assert_int_equal(git.destroys, 1);
    assert_int_equal(off.creates, 1);
    assert_false(is_active(&fixture, "off"));
    stop_watched();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_static_all),
        cmocka_unit_test(test_static_without_toolsets),
        cmocka_unit_test(test_failures_at_start),
        cmocka_unit_test(test_without_meta_tools),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_dropped_in),
        cmocka_unit_test(test_unlisted),
        cmocka_unit_test(test_dropped_in_dynamic),
        cmocka_unit_test(test_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
