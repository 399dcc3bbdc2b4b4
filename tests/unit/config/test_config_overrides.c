/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment and the command line put on top of the files. */
#include "config_support.h"

#include "base/limits.h"

#include <unistd.h>

static void test_environment(void **state)
{
    static const struct {
        const char *variable;
        bool git;
        bool off;
    } CASES[] = {
        {"PATCHBAY_GIT_HUB_ENABLED=false", false, false},
        {"PATCHBAY_GIT_HUB_ENABLED=0", false, false},
        {"PATCHBAY_GIT_HUB_ENABLED=no", false, false},
        {"PATCHBAY_GIT_HUB_ENABLED=OFF", false, false},
        {"PATCHBAY_GIT_HUB_ENABLED=true", true, false},
        {"PATCHBAY_OFF_ENABLED=1", true, true},
        {"PATCHBAY_OFF_ENABLED=Yes", true, true},
        {"PATCHBAY_OFF_ENABLED=on", true, true},
        {"PATCHBAY_OFF_ENABLED=TRUE", true, true},
        {"PATCHBAY_OTHER_ENABLED=nonsense", true, false},
        {"PATCHBAY_git_hub_ENABLED=false", true, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_config *config = parse_with("m.yaml", "toolsets: {git-hub: , off: {enabled: false}}",
                                        ENV("PATH=/bin", CASES[i].variable), NULL);
        assert_int_equal(config->settings.toolsets[0].enabled, CASES[i].git);
        assert_int_equal(config->settings.toolsets[1].enabled, CASES[i].off);
        hub_config_destroy(config);
    }
    static const char *const BAD[] = {"", "maybe", "2", " true", "falsefalse"};
    for (size_t i = 0; i < COUNT(BAD); i++) {
        char variable[64];
        char expected[256];
        (void)snprintf(variable, sizeof variable, "PATCHBAY_GIT_HUB_ENABLED=%s", BAD[i]);
        (void)snprintf(expected, sizeof expected,
                       "environment: PATCHBAY_GIT_HUB_ENABLED: wanted true or false (or 1, yes, "
                       "on, 0, no, off), found \"%s\"",
                       BAD[i]);
        expect_refused("m.yaml", HUB_STR("toolsets: {git-hub: }"), ENV(variable), HUB_EINVAL,
                       expected);
    }
}

static void test_environment_of_unlisted_modules(void **state)
{
    (void)state;
    bool enabled = true;
    assert_int_equal(hub_config_env_enabled(ENV("A=b"), "time", &enabled, NULL), HUB_OK);
    assert_true(enabled);
    assert_int_equal(hub_config_env_enabled(NULL, "time", &enabled, NULL), HUB_OK);
    assert_true(enabled);
    assert_int_equal(
        hub_config_env_enabled(ENV("PATCHBAY_TIME_ENABLED=no"), "time", &enabled, NULL), HUB_OK);
    assert_false(enabled);
    char key[HUB_LIMIT_TOOLSET_KEY_BYTES + 2];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    assert_int_equal(hub_config_env_enabled(ENV("A=b"), key, &enabled, NULL), HUB_OK);
}

#define LIST(...)                                                                                  \
    {                                                                                              \
        .items = (const char *const[]){__VA_ARGS__},                                               \
        .count = COUNT(((const char *const[]){__VA_ARGS__})), .set = true                          \
    }

static void test_overrides(void **state)
{
    (void)state;
    const hub_config_overrides overrides = {
        .plugin_dirs = LIST("/a", "b"),
        .toolsets = LIST("x", "y"),
        .allow = LIST("x"),
        .deny = {.items = NULL, .count = 0, .set = true},
        .startup = "static",
        .max_active = "7",
        .naming = "flat",
        .log_level = "debug",
        .log_format = "json",
        .no_meta_tools = true,
        .allow_writable = true,
    };
    hub_config *config = parse_with("/etc/m.yaml",
                                    "modules: {paths: [p]}\nhub: {naming: dot, startup: dynamic}\n"
                                    "policy: {allow: [q], deny: [r], max_active: 1}\n"
                                    "log: {level: error}\nprofiles: {p: {toolsets: [q]}}",
                                    NULL, &overrides);
    char here[4096];
    char folder_b[4100];
    assert_non_null(getcwd(here, sizeof here));
    (void)snprintf(folder_b, sizeof folder_b, "%s/b", here);
    ASSERT_LIST(config->settings.modules.paths, "/a", folder_b);
    assert_true(config->settings.modules.allow_writable);
    ASSERT_LIST(config->settings.policy.allow, "x");
    assert_true(config->settings.policy.deny.set);
    assert_int_equal(config->settings.policy.deny.count, 0);
    assert_int_equal(config->settings.policy.max_active, 7);
    assert_int_equal(config->settings.log_level, HUB_LOG_DEBUG);
    assert_true(config->settings.log_json);
    assert_int_equal(config->settings.profile_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(config->settings.profiles[i].naming, HUB_NAMING_FLAT);
        assert_int_equal(config->settings.profiles[i].startup, HUB_STARTUP_STATIC);
        ASSERT_LIST(config->settings.profiles[i].toolsets, "x", "y");
        assert_false(config->settings.profiles[i].meta_tools);
    }
    assert_int_equal(config->warning_count, 0);
    hub_config_destroy(config);
}

static void test_overrides_of_the_start(void **state)
{
    (void)state;
    const hub_config_overrides toolsets = {.toolsets = LIST("ALL")};
    hub_config *config = parse_with("m.yaml", "", NULL, &toolsets);
    assert_int_equal(config->settings.profiles[0].startup, HUB_STARTUP_STATIC);
    ASSERT_LIST(config->settings.profiles[0].toolsets, "ALL");
    hub_config_destroy(config);
    config = parse_with("m.yaml", "hub: {startup: dynamic}\nprofiles: {p: }", NULL, &toolsets);
    assert_int_equal(config->settings.profiles[0].startup, HUB_STARTUP_DYNAMIC);
    assert_false(config->settings.profiles[0].toolsets.set);
    assert_int_equal(config->warning_count, 1);
    assert_string_equal(config->warnings[0],
                        "command line: --toolsets: ignored, because the start is dynamic");
    hub_config_destroy(config);
}

static void test_overrides_refused(void **state)
{
    const struct {
        hub_config_overrides overrides;
        const char *expected;
    } CASES[] = {
        {{.startup = "statc"},
         "command line: --startup: wanted one of \"default\", \"dynamic\", \"static\", found "
         "\"statc\"; did you mean \"static\"?"},
        {{.startup = "static"},
         "command line: --startup: a static start wants at least one toolset, or ALL, in "
         "\"toolsets\""},
        {{.naming = ""},
         "command line: --naming: wanted one of \"prefix\", \"flat\", \"dot\", \"none\", found "
         "\"\""},
        {{.max_active = "many"},
         "command line: --max-active: wanted a whole number, found \"many\""},
        {{.max_active = "-1"},
         "command line: --max-active: wanted a whole number, found the number -1"},
        {{.log_level = "5"},
         "command line: --log-level: wanted one of \"debug\", \"info\", \"warning\", \"error\", "
         "\"off\", found the number 5"},
        {{.log_format = "xml"},
         "command line: --log-format: wanted one of \"text\", \"json\", found \"xml\""},
        {{.allow = LIST("a", "B")},
         "command line: --allow[1]: a toolset's key is a lower-case letter, then lower-case "
         "letters, digits, \"-\" and \"_\", at most 64 in all"},
        {{.deny = LIST("_meta")},
         "command line: --deny[0]: \"_meta\" is reserved for the hub's meta-tools"},
        {{.toolsets = LIST("a__b")},
         "command line: --toolsets[0]: a toolset's key cannot contain \"__\", which separates it "
         "from a tool"},
        {{.plugin_dirs = LIST("")}, "command line: --plugins-dir[0]: wanted a folder, found \"\""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_config *config = NULL;
        hub_error error = {.text = ""};
        assert_int_equal(hub_config_load(NULL, 0, NULL, &CASES[i].overrides, &config, &error),
                         HUB_EINVAL);
        assert_string_equal(error.text, CASES[i].expected);
    }
}

/* A variable of two toolsets says nothing of either. */
static void test_variable_of_two(void **state)
{
    static const char TEXT[] =
        "toolsets:\n  a-b: {module: x}\n  c: {module: x}\n  a_b: {module: x}\n"
        "  a-c: {module: x}\n";
    (void)state;
    expect_refused(
        "m.yaml", hub_str_of(TEXT), ENV("PATCHBAY_A_B_ENABLED=false"), HUB_EINVAL,
        "environment: PATCHBAY_A_B_ENABLED: means the toolsets \"a-b\" and \"a_b\" alike: "
        "write `enabled` in the file instead");
    expect_refused(
        "m.json",
        HUB_STR("{\"mcpServers\": {\"a b\": {\"command\": \"x\"}, \"A_B\": {\"url\": "
                "\"http://x\"}}}"),
        ENV("PATCHBAY_A_B_ENABLED=true"), HUB_EINVAL,
        "environment: PATCHBAY_A_B_ENABLED: means the toolsets \"a-b\" and \"a_b\" alike: "
        "write `enabled` in the file instead");
    hub_config *config =
        parse_with("m.yaml", TEXT, ENV("PATCHBAY_A_C_ENABLED=false", "PATCHBAY_C_ENABLED=0"), NULL);
    assert_true(config->settings.toolsets[0].enabled);
    assert_false(config->settings.toolsets[1].enabled);
    assert_true(config->settings.toolsets[2].enabled);
    assert_false(config->settings.toolsets[3].enabled);
    hub_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_environment_of_unlisted_modules),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_overrides_of_the_start),
        cmocka_unit_test(test_overrides_refused),
        cmocka_unit_test(test_variable_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
