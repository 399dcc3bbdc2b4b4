/* SPDX-License-Identifier: Apache-2.0 */
/* `isolation: process` in manifests, and what becomes of it: which modules stay outside of the hub,
 * and how mcp_upstream is told to run them. */
#include "config_support.h"

#include "base/limits.h"
#include "hub/kernel/isolation.h"
#include "wire/json.h"

static const hub_toolset_settings *toolset_of(const hub_config *config, const char *key)
{
    for (size_t i = 0; i < config->settings.toolset_count; i++) {
        if (strcmp(config->settings.toolsets[i].key, key) == 0) {
            return &config->settings.toolsets[i];
        }
    }
    fail_msg("there is no toolset %s", key);
    return NULL;
}

static void assert_isolated(const char *manifest, const char *key, bool is_isolated)
{
    hub_config *config = parse("m.yaml", manifest);
    assert_int_equal(toolset_of(config, key)->is_isolated, is_isolated);
    hub_config_destroy(config);
}

static void test_who_is(void **state)
{
    (void)state;
    assert_isolated("toolsets: {a: }", "a", false);
    assert_isolated("toolsets: {a: {isolation: none}}", "a", false);
    assert_isolated("toolsets: {a: {isolation: process}}", "a", true);
    assert_isolated("modules: {isolation: process}\ntoolsets: {a: }", "a", true);
    assert_isolated("toolsets: {a: }\nmodules: {isolation: process}", "a", true);
    assert_isolated("modules: {isolation: process}\ntoolsets: {a: {isolation: none}}", "a", false);
    assert_isolated("modules: {isolation: none}\ntoolsets: {a: {isolation: process}}", "a", true);
    /* Servers are processes already. */
    assert_isolated("modules: {isolation: process}\ntoolsets: {a: {command: x}}", "a", false);
    assert_isolated("modules: {isolation: process}\ntoolsets: {a: {url: http://x}}", "a", false);
    assert_isolated("toolsets: {a: {command: x, isolation: none}}", "a", false);
}

static void test_what_is_said_of_the_process(void **state)
{
    static const char MANIFEST[] =
        "toolsets:\n  a:\n    module: m\n    isolation: process\n    memory_limit: 64MiB\n"
        "    config: {x: 1}\n    env: {A: b}\n    cwd: /tmp\n    inherit_env: true\n"
        "    startup_timeout: 1s\n    restart_delay: 2ms\n    restart_delay_max: 3ms\n"
        "    restart_reset: 4ms\n    health_interval: 5ms\n    idle_timeout: 6ms\n";
    (void)state;
    hub_config *config = parse("m.yaml", MANIFEST);
    const hub_toolset_settings *a = toolset_of(config, "a");
    assert_string_equal(a->module, "m");
    assert_string_equal(a->config_json, "{\"x\":1}");
    assert_int_equal(a->memory_limit, HUB_LIMIT_LEAST_MODULE_BYTES);
    assert_string_equal(a->process_json,
                        "{\"env\":{\"A\":\"b\"},\"cwd\":\"/tmp\",\"inherit_env\":true,"
                        "\"startup_timeout_ms\":1000,\"restart_delay_ms\":2,"
                        "\"restart_delay_max_ms\":3,\"restart_reset_ms\":4,"
                        "\"health_interval_ms\":5,\"idle_timeout_ms\":6}");
    hub_config_destroy(config);
    hub_config_destroy(parse("m.yaml",
                             "modules: {isolation: process}\n"
                             "toolsets: {a: {memory_limit: 4095MiB}, b: {memory_limit: 0}}"));
}

static void refuse(const char *manifest, const char *text)
{
    expect_refused("m.yaml", hub_str_of(manifest), NULL, HUB_EINVAL, text);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("toolsets:\n  a:\n    isolation: proces",
           "m.yaml:3: toolsets.a.isolation: wanted one of \"none\", \"process\", found "
           "\"proces\"; did you mean \"process\"?");
    refuse("modules:\n  isolation: true",
           "m.yaml:2: modules.isolation: wanted one of \"none\", \"process\", found true");
    refuse("toolsets:\n  a:\n    command: x\n    isolation: process",
           "m.yaml:4: toolsets.a.isolation: is for plugins: a server, which \"command\" "
           "makes of this one, is a process of its own anyhow");
    refuse("toolsets:\n  a:\n    isolation: process\n    url: http://x",
           "m.yaml:3: toolsets.a.isolation: is for plugins: a server, which \"url\" makes "
           "of this one, is a process of its own anyhow");
    refuse("toolsets:\n  a:\n    isolation: none\n    module: x\n    idle_timeout: 1s",
           "m.yaml:4: toolsets.a.module: a toolset is either a plugin or a server: this "
           "one also has \"idle_timeout\"");
    refuse("toolsets:\n  a:\n    memory_limit: 64MiB",
           "m.yaml:2: toolsets.a: memory_limit wants `isolation: process`: it is the "
           "process that can be limited");
    refuse("toolsets:\n  a:\n    isolation: process\n    memory_limit: 67108863",
           "m.yaml:4: toolsets.a.memory_limit: wanted 0, or 64MiB to 4095MiB, found "
           "the number 67108863");
    refuse("toolsets:\n  a:\n    isolation: process\n    memory_limit: 4293918721",
           "m.yaml:4: toolsets.a.memory_limit: wanted 0, or 64MiB to 4095MiB, found the number "
           "4293918721");
}

static bool is_outside(const char *manifest, const char *module)
{
    hub_config *config = parse("m.yaml", manifest);
    bool found = hub_isolation_is_outside(&config->settings, hub_str_of(module));
    hub_config_destroy(config);
    return found;
}

static void no_step(const char *what)
{
    (void)what;
}

/* A module is linked into the hub only if somebody wants it there. */
static void test_which_modules_stay_outside(void **state)
{
    static const char BOTH[] = "toolsets: {a: {module: m, isolation: process}, b: {module: m}}";
    static const char OFF[] =
        "toolsets: {a: {module: m, isolation: process}, b: {module: m, enabled: false}}";
    (void)state;
    assert_true(is_outside("toolsets: {m: {isolation: process}}", "m"));
    assert_false(is_outside("toolsets: {m: {isolation: process}}", "other"));
    assert_false(is_outside("toolsets: {m: }", "m"));
    assert_false(is_outside(BOTH, "m"));
    assert_true(is_outside(OFF, "m"));
    assert_true(is_outside("modules: {isolation: process}", "m"));
    assert_true(is_outside("modules: {isolation: process}\ntoolsets: {x: }", "m"));
    assert_false(is_outside("modules: {isolation: process}", "mcp_upstream"));
    assert_false(is_outside("modules: {isolation: process}", "mcp_remote"));
    hub_config *config = parse("m.yaml", "toolsets: {m: {isolation: process}}");
    config->settings.on_step = no_step; /* who checks wants to see it here */
    assert_false(hub_isolation_is_outside(&config->settings, HUB_STR("m")));
    hub_config_destroy(config);
}

static bool is_left_out(const char *manifest, const char *module)
{
    hub_config *config = parse("m.yaml", manifest);
    bool found = hub_isolation_leaves_out(&config->settings, hub_str_of(module));
    hub_config_destroy(config);
    return found;
}

/* What no enabled toolset needs is left out, unless somebody wants to see all of them. */
static void test_which_modules_are_left_out(void **state)
{
    (void)state;
    assert_false(is_left_out("toolsets: {a: {module: m}}", "m"));
    assert_true(is_left_out("toolsets: {a: {module: m}}", "other"));
    assert_true(is_left_out("toolsets: {a: {module: m, enabled: false}}", "m"));
    assert_false(is_left_out("toolsets: {a: {module: m, active: false}}", "m"));
    assert_true(is_left_out("toolsets: {}", "m"));             /* nothing is to be served */
    assert_false(is_left_out("modules: {watch: false}", "m")); /* all are toolsets */
    assert_true(is_left_out("toolsets: {a: {module: m}}", "mcp_upstream"));
    assert_false(is_left_out("toolsets: {a: {command: x}}", "mcp_upstream"));
    assert_true(is_left_out("toolsets: {a: {command: x}}", "mcp_remote"));
    assert_false(is_left_out("toolsets: {a: {url: 'http://x'}}", "mcp_remote"));
    assert_true(is_left_out("toolsets: {a: {module: m, isolation: process}}", "m"));
    assert_false(is_left_out("toolsets: {a: {module: m, isolation: process}}", "mcp_upstream"));
    assert_true(is_left_out("modules: {isolation: process}", "m"));
    assert_false(is_left_out("modules: {isolation: process}", "mcp_upstream"));
    hub_config *config = parse("m.yaml", "toolsets: {a: {module: m, isolation: process}}");
    config->settings.modules.links_all = true;
    assert_true(hub_isolation_leaves_out(&config->settings, HUB_STR("m")));
    assert_false(hub_isolation_leaves_out(&config->settings, HUB_STR("other")));
    config->settings.modules.links_all = false;
    config->settings.on_step = no_step;
    assert_false(hub_isolation_leaves_out(&config->settings, HUB_STR("m")));
    assert_false(hub_isolation_leaves_out(&config->settings, HUB_STR("other")));
    hub_config_destroy(config);
}

static void test_how_it_is_run(void **state)
{
    (void)state;
    hub_config *config =
        parse("m.yaml", "toolsets: {a: {module: m, isolation: process, memory_limit: 64MiB, "
                        "config: {s: secret}, idle_timeout: 6ms}}");
    const hub_module module = {.name = "m", .path = "/p/m.so", .is_outside = true};
    hub_error error = {.text = ""};
    hub_buf out;
    hub_str value;
    hub_buf_init(&out, 65536);
    assert_int_equal(
        hub_isolation_configure(&config->settings, toolset_of(config, "a"), &module, &out, &error),
        HUB_OK);
    hub_str json = hub_buf_str(&out);
    assert_int_equal(hub_json_check(json, &value, &error), HUB_OK);
    hub_str args = hub_json_get(json, HUB_STR("args"));
    assert_true(hub_str_is(args, "[\"module-host\",\"/p/m.so\",\"--config-json\",\"-\","
                                 "\"--log-level\",\"warning\",\"--memory-limit\",\"67108864\"]"));
    assert_true(
        hub_str_is(hub_json_get(json, HUB_STR("first_line")), "\"{\\\"s\\\":\\\"secret\\\"}\""));
    assert_true(hub_str_is(hub_json_get(json, HUB_STR("module")), "\"m\""));
    assert_true(hub_str_is(hub_json_get(json, HUB_STR("idle_timeout_ms")), "6"));
    hub_buf_fini(&out);
    hub_buf_init(&out, 16); /* no memory for it */
    assert_int_equal(
        hub_isolation_configure(&config->settings, toolset_of(config, "a"), &module, &out, &error),
        HUB_ELIMIT);
    hub_buf_fini(&out);
    hub_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is),
        cmocka_unit_test(test_what_is_said_of_the_process),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_which_modules_stay_outside),
        cmocka_unit_test(test_which_modules_are_left_out),
        cmocka_unit_test(test_how_it_is_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
