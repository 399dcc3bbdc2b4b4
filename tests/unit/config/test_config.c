/* SPDX-License-Identifier: Apache-2.0 */
/* Good manifests, member by member (S5.5, S5.10). */
#include "config_support.h"

#include "base/limits.h"

static const char *const VARIABLES[] = {"HOME=/home/u", "TOKEN=t0p\"s\\cret", NULL};

static hub_config *load_full(void)
{
    static const char *const FILES[] = {"fixtures/config/full.yaml"};
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    hub_err err = hub_config_load(FILES, 1, VARIABLES, NULL, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(err, HUB_OK);
    assert_int_equal(config->warning_count, 0);
    return config;
}

static void test_defaults(void **state)
{
    static const char *const EMPTY[] = {"", "# nothing\n", "{}", "hub:\nlog:\n", "---\n", "null"};
    (void)state;
    for (size_t i = 0; i < COUNT(EMPTY); i++) {
        hub_config *config = parse("m.yaml", EMPTY[i]);
        assert_string_equal(config->settings.name, "patchbay");
        assert_null(config->settings.title);
        assert_null(config->settings.instructions);
        assert_false(config->settings.modules.paths.set);
        assert_true(config->settings.modules.watch);
        assert_false(config->settings.modules.allow_writable);
        assert_int_equal(config->settings.toolset_count, 0);
        assert_false(config->settings.toolsets_listed);
        assert_false(config->settings.policy.allow.set);
        assert_false(config->settings.policy.deny.set);
        assert_int_equal(config->settings.policy.max_active, 0);
        assert_int_equal(config->settings.policy.filter_count, 0);
        assert_int_equal(config->settings.profile_count, 1);
        const hub_profile_settings *profile = &config->settings.profiles[0];
        assert_string_equal(profile->name, "default");
        assert_int_equal(profile->naming, HUB_NAMING_PREFIX);
        assert_int_equal(profile->max_name_bytes, HUB_LIMIT_EXPOSED_NAME_BYTES);
        assert_int_equal(profile->startup, HUB_STARTUP_DEFAULT);
        assert_false(profile->toolsets.set);
        assert_true(profile->meta_tools);
        assert_int_equal(config->settings.limits.client_message_bytes,
                         HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        assert_int_equal(config->settings.limits.upstream_message_bytes,
                         HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
        assert_int_equal(config->settings.limits.client_queue_bytes, HUB_LIMIT_CLIENT_QUEUE_BYTES);
        assert_int_equal(config->settings.limits.call_timeout_ms, HUB_LIMIT_CALL_MS);
        assert_int_equal(config->settings.limits.call_ceiling_ms, HUB_LIMIT_CALL_CEILING_MS);
        assert_int_equal(config->settings.limits.discover_timeout_ms, HUB_LIMIT_DISCOVER_MS);
        assert_int_equal(config->settings.limits.calls_per_session, HUB_LIMIT_CALLS_PER_SESSION);
        assert_int_equal(config->settings.limits.list_page, HUB_LIMIT_LIST_PAGE);
        assert_int_equal(config->settings.limits.worker_threads, 4);
        assert_int_equal(config->settings.log_level, HUB_LOG_INFO);
        assert_false(config->settings.log_json);
        assert_int_equal(config->warning_count, 0);
        hub_config_destroy(config);
    }
    hub_config_destroy(NULL);
}

static void test_sections(void **state)
{
    (void)state;
    hub_config *config = load_full();
    assert_string_equal(config->settings.name, "tools");
    assert_string_equal(config->settings.title, "All our tools");
    assert_string_equal(config->settings.instructions, "Be careful.\nAsk first.\n");
    assert_false(config->settings.modules.watch);
    assert_true(config->settings.modules.allow_writable);
    assert_int_equal(config->settings.limits.list_page, 100000);
    assert_int_equal(config->settings.limits.client_message_bytes, 1024);
    assert_int_equal(config->settings.limits.upstream_message_bytes, 1024 * 1024 * 1024);
    assert_int_equal(config->settings.limits.client_queue_bytes, 64 * 1024);
    assert_int_equal(config->settings.limits.call_timeout_ms, 90000);
    assert_int_equal(config->settings.limits.call_ceiling_ms, 24 * 3600 * 1000);
    assert_int_equal(config->settings.limits.discover_timeout_ms, 1);
    assert_int_equal(config->settings.limits.calls_per_session, 65536);
    assert_int_equal(config->settings.limits.calls_per_principal, 65536);
    assert_int_equal(config->settings.limits.calls_per_second, 1000000);
    assert_int_equal(config->settings.limits.calls_burst, 1000000);
    assert_int_equal(config->settings.limits.calls_per_second_per_principal, 1000000);
    assert_int_equal(config->settings.limits.calls_burst_per_principal, 1000000);
    assert_int_equal(config->settings.limits.worker_threads, 64);
    assert_int_equal(config->settings.log_level, HUB_LOG_WARNING);
    assert_true(config->settings.log_json);
    hub_config_destroy(config);
}

/* A toolset's word counts, else the hub's, whichever of the two is written first. */
static void test_middleware(void **state)
{
    (void)state;
    hub_config *config = parse(
        "m.yaml", "toolsets:\n  a: {middleware: {time: false, max_result_bytes: 0}}\n  b: {}\n"
                  "hub: {middleware: {time: true, log: true, max_result_bytes: 64KiB}}");
    const hub_toolset_settings *a = &config->settings.toolsets[0];
    const hub_toolset_settings *b = &config->settings.toolsets[1];
    assert_false(a->middleware.time);
    assert_true(a->middleware.log);
    assert_int_equal(a->results.max_bytes, 0);
    assert_true(b->middleware.time);
    assert_true(b->middleware.log);
    assert_int_equal(b->results.max_bytes, 65536);
    hub_config_destroy(config);
}

static void test_folders(void **state)
{
    (void)state;
    hub_config *config = load_full();
    char *here = realpath("fixtures/config", NULL);
    char plugins[4096];
    char up[4096];
    (void)snprintf(plugins, sizeof plugins, "%s/plugins", here);
    (void)snprintf(up, sizeof up, "%s/more/../plugins", here);
    ASSERT_LIST(config->settings.modules.paths, plugins, up, "/opt/plugins", here);
    hub_config_destroy(config);
    free(here);
    config = parse("/etc/hub/m.yaml", "modules: {paths: [././/a, ../b, .]}");
    ASSERT_LIST(config->settings.modules.paths, "/etc/hub/a", "/etc/hub/../b", "/etc/hub");
    hub_config_destroy(config);
    config = parse("/m.yaml", "modules: {paths: [a, ./]}");
    ASSERT_LIST(config->settings.modules.paths, "/a", "/");
    hub_config_destroy(config);
    config = parse("m.yaml", "modules: {paths: []}");
    assert_true(config->settings.modules.paths.set);
    assert_int_equal(config->settings.modules.paths.count, 0);
    hub_config_destroy(config);
}

static void test_server(void **state)
{
    (void)state;
    hub_config *config = load_full();
    const hub_toolset_settings *git = &config->settings.toolsets[0];
    assert_true(config->settings.toolsets_listed);
    assert_int_equal(config->settings.toolset_count, 4);
    assert_string_equal(git->key, "git");
    assert_string_equal(git->module, "mcp_upstream");
    assert_string_equal(git->source, "fixtures/config/full.yaml:19");
    assert_true(git->enabled);
    assert_false(git->active);
    assert_false(git->lazy);
    assert_true(git->sharing_session);
    assert_int_equal(git->call_timeout_ms, 120000);
    assert_int_equal(git->max_calls, 65536);
    assert_int_equal(git->queue, 65536);
    assert_int_equal(git->queue_timeout_ms, 24 * 3600 * 1000);
    assert_true(git->middleware.log);
    assert_false(git->middleware.time);
    assert_int_equal(git->results.max_bytes, 1024);
    ASSERT_LIST(git->tools_allow, "git_*", "status");
    assert_true(git->tools_deny.set);
    assert_int_equal(git->tools_deny.count, 0);
    ASSERT_LIST(git->tags, "code", "vcs");
    assert_string_equal(git->category, "development");
    assert_string_equal(git->description, "Versions of files.");
    char *here = realpath("fixtures/config", NULL);
    char expected[8192];
    (void)snprintf(expected, sizeof expected,
                   "{\"command\":\"/home/u/bin/uvx\",\"args\":[\"mcp-server-git\",\"--port\","
                   "\"8080\",\"true\",\"1.50\",\"$5\"],\"env\":{\"TOKEN\":\"t0p\\\"s\\\\cret\","
                   "\"PORT\":\"8080\",\"DEBUG\":\"False\",\"EMPTY\":\"\"},\"cwd\":\"%s/work\","
                   "\"inherit_env\":true,\"startup_timeout_ms\":1500,\"restart_delay_ms\":250,"
                   "\"restart_delay_max_ms\":30000,\"restart_reset_ms\":120000,"
                   "\"health_interval_ms\":0,\"idle_timeout_ms\":600000,\"type\":\"stdio\"}",
                   here);
    assert_string_equal(git->config_json, expected);
    free(here);
    const hub_toolset_settings *docs = &config->settings.toolsets[2];
    assert_string_equal(docs->module, "mcp_remote");
    assert_string_equal(docs->config_json,
                        "{\"url\":\"https://docs.example.com/mcp\",\"headers\":{"
                        "\"Authorization\":\"Bearer t0p\\\"s\\\\cret\",\"X-Count\":\"5\"},"
                        "\"type\":\"http\"}");
    hub_config_destroy(config);
}

static void test_modules(void **state)
{
    (void)state;
    hub_config *config = load_full();
    const hub_toolset_settings *notes = &config->settings.toolsets[1];
    assert_string_equal(notes->key, "notes");
    assert_string_equal(notes->module, "text");
    assert_string_equal(notes->config_json,
                        "{\"text\":\"nobody\",\"quoted\":\"5\",\"number\":1.50,"
                        "\"big\":123456789012345678901234567890,\"octal\":\"007\",\"hex\":\"0x1F\","
                        "\"yes\":\"yes\",\"on\":true,\"nothing\":null,"
                        "\"list\":[1,\"two\",{\"three\":3},[]],\"map\":{},"
                        "\"control\":\"a\\tb\\u0001\\\"\\\\\",\"price\":\"$5\"}");
    const hub_toolset_settings *plain = &config->settings.toolsets[3];
    assert_string_equal(plain->key, "plain");
    assert_string_equal(plain->module, "plain");
    assert_string_equal(plain->config_json, "{}");
    assert_true(plain->enabled);
    assert_true(plain->active);
    assert_true(plain->lazy);
    assert_false(plain->sharing_session);
    assert_int_equal(plain->call_timeout_ms, 90000); /* limits.call_timeout */
    assert_int_equal(plain->max_calls, 0);
    assert_int_equal(plain->queue, HUB_LIMIT_QUEUE);
    assert_int_equal(plain->queue_timeout_ms, HUB_LIMIT_QUEUE_MS);
    assert_false(plain->middleware.log);
    assert_int_equal(plain->results.max_bytes, 0);
    assert_false(plain->tools_allow.set);
    assert_false(plain->tools_deny.set);
    assert_false(plain->tags.set);
    assert_null(plain->category);
    assert_null(plain->description);
    hub_config_destroy(config);
}

static void test_policy(void **state)
{
    (void)state;
    hub_config *config = load_full();
    const hub_policy_rules *policy = &config->settings.policy;
    ASSERT_LIST(policy->allow, "git", "notes", "docs");
    ASSERT_LIST(policy->deny, "plain");
    assert_int_equal(policy->max_active, 3);
    assert_true(policy->read_only);
    assert_true(policy->deny_destructive);
    assert_int_equal(policy->filter_count, 7);
    static const hub_filter_kind KINDS[] = {
        HUB_FILTER_NAMESPACE, HUB_FILTER_TAGS_ANY,    HUB_FILTER_TAGS_ALL,   HUB_FILTER_TAGS_NONE,
        HUB_FILTER_CATEGORY,  HUB_FILTER_ALLOW_TOOLS, HUB_FILTER_DENY_TOOLS,
    };
    for (size_t i = 0; i < COUNT(KINDS); i++) {
        assert_int_equal(policy->filters[i].kind, KINDS[i]);
        assert_true(policy->filters[i].values.set);
    }
    ASSERT_LIST(policy->filters[1].values, "a", "b");
    assert_int_equal(policy->filters[3].values.count, 0);
    ASSERT_LIST(policy->filters[6].values, "*:delete_*");
    hub_config_destroy(config);
}

static void test_profiles(void **state)
{
    (void)state;
    hub_config *config = load_full();
    assert_int_equal(config->settings.profile_count, 4);
    const hub_profile_settings *first = &config->settings.profiles[0];
    assert_string_equal(first->name, "default");
    assert_int_equal(first->naming, HUB_NAMING_NONE); /* profiles.default, on top of hub */
    assert_int_equal(first->max_name_bytes, 128);
    assert_int_equal(first->startup, HUB_STARTUP_STATIC);
    ASSERT_LIST(first->toolsets, "git", "notes");
    assert_false(first->meta_tools);
    const hub_profile_settings *inherits = &config->settings.profiles[1];
    assert_string_equal(inherits->name, "inherits");
    assert_int_equal(inherits->naming, HUB_NAMING_DOT);
    assert_int_equal(inherits->startup, HUB_STARTUP_STATIC);
    ASSERT_LIST(inherits->toolsets, "git", "notes");
    assert_false(inherits->policy.allow.set);
    const hub_profile_settings *review = &config->settings.profiles[2];
    assert_string_equal(review->name, "review");
    assert_int_equal(review->naming, HUB_NAMING_FLAT);
    assert_int_equal(review->max_name_bytes, 16);
    assert_int_equal(review->startup, HUB_STARTUP_DYNAMIC);
    assert_false(review->toolsets.set); /* `startup` alone does not inherit the toolsets */
    assert_true(review->meta_tools);
    assert_true(review->policy.allow.set);
    assert_int_equal(review->policy.allow.count, 0);
    ASSERT_LIST(review->policy.deny, "git");
    assert_int_equal(review->policy.max_active, 1);
    assert_int_equal(review->policy.filter_count, 1);
    assert_true(review->policy.read_only);
    assert_false(review->policy.deny_destructive);
    const hub_profile_settings *all = &config->settings.profiles[3];
    assert_string_equal(all->name, "all");
    assert_int_equal(all->startup, HUB_STARTUP_STATIC);
    ASSERT_LIST(all->toolsets, "ALL");
    hub_config_destroy(config);
}

static void test_startup(void **state)
{
    static const struct {
        const char *hub;
        hub_startup startup;
        const char *first; /* of the toolsets; NULL: not set */
        const char *warning;
    } CASES[] = {
        {"{}", HUB_STARTUP_DEFAULT, NULL, NULL},
        {"{startup: default}", HUB_STARTUP_DEFAULT, NULL, NULL},
        {"{startup: dynamic}", HUB_STARTUP_DYNAMIC, NULL, NULL},
        {"{startup: dynamic, toolsets: [a]}", HUB_STARTUP_DYNAMIC, NULL,
         "m.yaml:1: hub.toolsets: ignored, because the start is dynamic"},
        {"{startup: dynamic, toolsets: []}", HUB_STARTUP_DYNAMIC, NULL,
         "m.yaml:1: hub.toolsets: ignored, because the start is dynamic"},
        {"{startup: static, toolsets: [a, b]}", HUB_STARTUP_STATIC, "a", NULL},
        {"{startup: static, toolsets: ALL}", HUB_STARTUP_STATIC, "ALL", NULL},
        {"{startup: static, toolsets: [ALL]}", HUB_STARTUP_STATIC, "ALL", NULL},
        {"{toolsets: [b]}", HUB_STARTUP_STATIC, "b", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "hub: %s\nprofiles: {x: {naming: flat}}", CASES[i].hub);
        hub_config *config = parse("m.yaml", text);
        for (size_t p = 0; p < config->settings.profile_count; p++) {
            const hub_profile_settings *profile = &config->settings.profiles[p];
            assert_int_equal(profile->startup, CASES[i].startup);
            assert_int_equal(profile->toolsets.set, CASES[i].first != NULL);
            if (CASES[i].first != NULL) {
                assert_string_equal(profile->toolsets.items[0], CASES[i].first);
            }
        }
        assert_int_equal(config->warning_count,
                         CASES[i].warning != NULL); /* once, not per profile */
        if (CASES[i].warning != NULL) {
            assert_string_equal(config->warnings[0], CASES[i].warning);
        }
        hub_config_destroy(config);
    }
}

/* A toolset that is switched off needs no variables, and reads no secrets. */
static void test_switched_off(void **state)
{
    (void)state;
    const char *text = "toolsets:\n  a: {command: '${NOPE}', disabled: true, cwd: '${NOPE}'}\n"
                       "  b: {module: x, config: {t: '${file:/nonexistent}'}, enabled: false}\n";
    hub_config *config = parse("/m.yaml", text);
    assert_false(config->settings.toolsets[0].enabled);
    assert_string_equal(config->settings.toolsets[0].config_json,
                        "{\"command\":\"${NOPE}\",\"cwd\":\"/${NOPE}\"}");
    assert_false(config->settings.toolsets[1].enabled);
    hub_config_destroy(config);
    expect_refused("/m.yaml", hub_str_of(text), ENV("PATCHBAY_A_ENABLED=true"), HUB_EINVAL,
                   "/m.yaml:2: toolsets.a.command: the variable NOPE is not set, and there is no "
                   "default");
}

static void test_timeouts_and_the_ceiling(void **state)
{
    (void)state;
    hub_config *config =
        parse("m.yaml", "limits: {call_timeout: 5s, call_ceiling: 5s}\n"
                        "toolsets:\n  a:\n  b: {timeout: 5s}\n  c: {timeout: 5001ms}\n");
    assert_int_equal(config->settings.toolsets[0].call_timeout_ms, 5000);
    assert_int_equal(config->settings.toolsets[1].call_timeout_ms, 5000);
    assert_int_equal(config->settings.toolsets[2].call_timeout_ms, 5001);
    assert_int_equal(config->warning_count, 1);
    assert_string_equal(config->warnings[0],
                        "m.yaml:5: toolsets.c: its timeout is longer than limits.call_ceiling, "
                        "which ends every call");
    hub_config_destroy(config);
}

static void test_json_manifest(void **state)
{
    (void)state;
    hub_config *config =
        parse("m.jsonc", "// Patchbay\n{\n  \"hub\": {\"name\": \"n\\u00e4me\",},\n"
                         "  \"toolsets\": {\n    /* one */\n    \"a\": {\n"
                         "      \"config\": {\"x\": [1.0, -0, \"\\u00e4\"],}},\n"
                         "  },\n}\n");
    assert_string_equal(config->settings.name, "n\xc3\xa4me");
    assert_string_equal(config->settings.toolsets[0].source, "m.jsonc:6");
    assert_string_equal(config->settings.toolsets[0].config_json, "{\"x\":[1.0,-0,\"\xc3\xa4\"]}");
    hub_config_destroy(config);
}

static void test_edges(void **state)
{
    static const char *const GOOD[] = {
        "hub: {page_size: 1}",
        "limits: {client_message: 1KiB, client_queue: 1GiB, upstream_message: 1073741824}",
        "limits: {call_timeout: 24h, call_ceiling: 24h, discover_timeout: 24h}",
        "limits: {call_timeout: 1ms, worker_threads: 1, calls_per_session: 1}",
        "limits: {client_message: 2048B, client_queue: 4 MiB}",
        "toolsets: {a: {command: x, startup_timeout: 1h}, b: {url: y, type: ws}}",
        "toolsets: {a: {command: x, restart_delay: 1h, restart_delay_max: 1h, restart_reset: 24h}}",
        "toolsets: {a: {url: x, restart_delay: 1ms, restart_delay_max: 1ms, restart_reset: 1ms}}",
        "toolsets: {a: {command: x, health_interval: 0s, idle_timeout: 0s}}",
        "toolsets: {a: {url: x, health_interval: 1h, idle_timeout: 24h}}",
        "toolsets: {a: {command: x, env: , args: []}, b: {url: y, headers: }}",
        "toolsets: {a-b_c9: , z: {tools: }}",
        "policy: {max_active: 0, filters: []}",
        "toolsets: {a: {config: }}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(GOOD); i++) {
        hub_config_destroy(parse("m.yaml", GOOD[i]));
    }
}

/* Whoever writes the key says what there is to serve, and be it nothing. */
static void test_no_toolsets(void **state)
{
    static const struct {
        const char *file;
        const char *text;
    } CASES[] = {
        {"m.yaml", "toolsets: {}"},          {"m.yaml", "toolsets:\n"},
        {"m.json", "{\"toolsets\": null}"},  {"m.json", "{\"mcpServers\": {}}"},
        {"m.json", "{\"servers\": {}}"},     {"m.json", "{\"mcpServers\": []}"},
        {"m.json", "{\"mcp.servers\": {}}"}, {"m.json", "{\"mcp\": {\"servers\": {}}}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        hub_config *config = parse(CASES[i].file, CASES[i].text);
        assert_true(config->settings.toolsets_listed);
        assert_int_equal(config->settings.toolset_count, 0);
        hub_config_destroy(config);
    }
}

/* Its own folder, unless said otherwise; an isolated module stays where the hub is. */
static void test_working_folders(void **state)
{
    (void)state;
    hub_config *config = parse("/p/m.yaml", "toolsets:\n"
                                            "  a: {command: ./s}\n"
                                            "  b: {command: ./s, cwd: x}\n"
                                            "  c: {module: time, isolation: process}\n"
                                            "  d: {url: \"http://x\"}\n"
                                            "  e: {command: ./s, enabled: false}\n");
    const hub_toolset_settings *toolsets = config->settings.toolsets;
    assert_string_equal(toolsets[0].config_json, "{\"command\":\"./s\",\"cwd\":\"/p\"}");
    assert_string_equal(toolsets[1].config_json, "{\"command\":\"./s\",\"cwd\":\"/p/x\"}");
    assert_string_equal(toolsets[2].process_json, "{}");
    assert_string_equal(toolsets[3].config_json, "{\"url\":\"http://x\"}");
    assert_string_equal(toolsets[4].config_json, "{\"command\":\"./s\",\"cwd\":\"/p\"}");
    hub_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_middleware),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_policy),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_startup),
        cmocka_unit_test(test_switched_off),
        cmocka_unit_test(test_timeouts_and_the_ceiling),
        cmocka_unit_test(test_json_manifest),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_no_toolsets),
        cmocka_unit_test(test_working_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
