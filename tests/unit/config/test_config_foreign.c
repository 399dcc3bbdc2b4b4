/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other programs, as they are. Fixtures follow the documentation of each program. */
#include "config_support.h"

static const char *const VARIABLES[] = {"HOME=/home/u", "TOKEN=secret", NULL};

static hub_config *load_fixture(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "fixtures/config/%s", name);
    const char *file = path;
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    hub_err err = hub_config_load(&file, 1, VARIABLES, NULL, &config, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(err, HUB_OK);
    assert_true(config->settings.toolsets_listed);
    for (size_t i = 0; i < config->settings.toolset_count; i++) {
        const hub_toolset_settings *toolset = &config->settings.toolsets[i];
        bool has_url = strstr(toolset->config_json, "\"url\":") != NULL;
        assert_string_equal(toolset->module, has_url ? "mcp_remote" : "mcp_upstream");
    }
    return config;
}

static void assert_toolset(const hub_config *config, size_t i, const char *key, const char *json)
{
    assert_true(i < config->settings.toolset_count);
    assert_string_equal(config->settings.toolsets[i].key, key);
    assert_server_json(config->settings.toolsets[i].config_json, json);
}

static void test_claude_desktop(void **state)
{
    (void)state;
    hub_config *config = load_fixture("claude_desktop_config.json");
    assert_int_equal(config->settings.toolset_count, 2);
    assert_toolset(config, 0, "filesystem",
                   "{\"command\":\"npx\",\"args\":[\"-y\",\"@modelcontextprotocol/"
                   "server-filesystem\",\"/home/u/docs\"]}");
    assert_toolset(config, 1, "github",
                   "{\"command\":\"docker\",\"args\":[\"run\",\"-i\",\"--rm\",\"-e\","
                   "\"GITHUB_TOKEN\",\"ghcr.io/github/server\"],\"env\":{\"GITHUB_TOKEN\":"
                   "\"secret\"}}");
    assert_string_equal(config->settings.toolsets[1].source,
                        "fixtures/config/claude_desktop_config.json:8");
    assert_int_equal(config->warning_count, 0);
    hub_config_destroy(config);
}

static void test_claude_code(void **state)
{
    (void)state;
    hub_config *config = load_fixture("claude_code.mcp.json");
    assert_toolset(config, 0, "api",
                   "{\"url\":\"https://api.example.com/mcp\",\"headers\":{\"Authorization\":"
                   "\"Bearer secret\"},\"type\":\"http\"}");
    assert_toolset(config, 1, "events",
                   "{\"url\":\"https://events.example.com/sse\",\"type\":\"sse\"}");
    assert_toolset(config, 2, "local",
                   "{\"command\":\"./server\",\"args\":[],\"env\":{},\"type\":\"stdio\"}");
    assert_int_equal(config->warning_count, 0);
    hub_config_destroy(config);
}

static void test_cursor(void **state)
{
    (void)state;
    hub_config *config = load_fixture("cursor.json");
    assert_toolset(config, 0, "py-tools", "{\"command\":\"python\",\"args\":[\"/home/u/s.py\"]}");
    assert_toolset(config, 1, "remote",
                   "{\"url\":\"https://r.example.com/mcp\",\"headers\":{\"X-Key\":\"k\"}}");
    assert_int_equal(config->warning_count, 2);
    assert_string_equal(
        config->warnings[0],
        "fixtures/config/cursor.json:3: mcpServers.py tools.envFile: not supported, ignored");
    assert_string_equal(
        config->warnings[1],
        "fixtures/config/cursor.json:5: mcpServers.remote.auth: not supported, ignored");
    hub_config_destroy(config);
}

static void test_vscode(void **state)
{
    (void)state;
    hub_config *config = load_fixture("vscode.mcp.json");
    assert_toolset(config, 0, "playwright",
                   "{\"command\":\"npx\",\"args\":[\"-y\",\"@playwright/mcp@latest\"],"
                   "\"type\":\"stdio\"}");
    assert_toolset(config, 1, "fetch_it",
                   "{\"url\":\"https://f.example.com/mcp\",\"type\":\"http\"}");
    assert_string_equal(config->settings.toolsets[0].source, "fixtures/config/vscode.mcp.json:8");
    assert_int_equal(config->warning_count, 0);
    hub_config_destroy(config);
    config = load_fixture("vscode_settings.json");
    assert_toolset(config, 0, "time", "{\"command\":\"uvx\",\"args\":[\"mcp-server-time\"]}");
    hub_config_destroy(config);
    config = parse("settings.json", "{\"mcp.servers\": {\"a\": {\"command\": \"x\"}}}");
    assert_toolset(config, 0, "a", "{\"command\":\"x\"}");
    hub_config_destroy(config);
}

static void test_cline(void **state)
{
    (void)state;
    hub_config *config = load_fixture("cline_mcp_settings.json");
    assert_toolset(config, 0, "weather", "{\"command\":\"node\",\"args\":[\"build/index.js\"]}");
    assert_true(config->settings.toolsets[0].enabled);
    assert_int_equal(config->settings.toolsets[0].call_timeout_ms, 60);
    assert_false(config->settings.toolsets[1].enabled);
    assert_int_equal(config->warning_count, 1);
    assert_string_equal(config->warnings[0],
                        "fixtures/config/cline_mcp_settings.json:9: mcpServers.weather.timeout: "
                        "read as 60 milliseconds; for seconds write \"60s\"");
    hub_config_destroy(config);
}

static void test_gemini(void **state)
{
    (void)state;
    hub_config *config = load_fixture("gemini_settings.json");
    assert_toolset(config, 0, "stream",
                   "{\"url\":\"https://s.example.com/mcp\",\"type\":\"http\"}");
    assert_int_equal(config->settings.toolsets[0].call_timeout_ms, 30000);
    ASSERT_LIST(config->settings.toolsets[0].tools_allow, "read_*", "list");
    ASSERT_LIST(config->settings.toolsets[0].tools_deny, "read_all");
    assert_toolset(config, 1, "events", "{\"url\":\"https://s.example.com/sse\"}");
    assert_int_equal(config->warning_count, 0);
    hub_config_destroy(config);
}

static void test_windsurf(void **state)
{
    (void)state;
    hub_config *config = load_fixture("windsurf.json");
    assert_toolset(config, 0, "figma", "{\"url\":\"https://figma.example.com/sse\"}");
    ASSERT_LIST(config->settings.toolsets[0].tools_deny, "a");
    hub_config_destroy(config);
}

static void test_continue(void **state)
{
    (void)state;
    hub_config *config = load_fixture("continue.yaml");
    assert_toolset(config, 0, "sqlite-server",
                   "{\"command\":\"npx\",\"args\":[\"-y\",\"mcp-sqlite\",\"db.sqlite\"]}");
    assert_toolset(config, 1, "web", "{\"url\":\"https://w.example.com/mcp\",\"type\":\"http\"}");
    assert_int_equal(config->warning_count, 0);
    hub_config_destroy(config);
}

static void test_other_dialects(void **state)
{
    (void)state;
    hub_config *config = load_fixture("many_dialects.json");
    assert_toolset(config, 0, "onemcp",
                   "{\"command\":\"a\",\"inherit_env\":true,\"startup_timeout_ms\":5000}");
    ASSERT_LIST(config->settings.toolsets[0].tags, "x");
    assert_int_equal(config->settings.toolsets[0].call_timeout_ms, 90000);
    assert_toolset(config, 1, "mcpproxy", "{\"command\":\"b\",\"cwd\":\"/w\"}");
    assert_false(config->settings.toolsets[1].enabled);
    ASSERT_LIST(config->settings.toolsets[1].tools_allow, "t");
    ASSERT_LIST(config->settings.toolsets[1].tools_deny, "u");
    assert_toolset(config, 2, "toolbox", "{\"url\":\"https://t.example.com\",\"type\":\"sse\"}");
    assert_toolset(config, 3, "copilot", "{\"command\":\"c\",\"type\":\"stdio\"}");
    ASSERT_LIST(config->settings.toolsets[3].tools_allow, "*");
    assert_toolset(config, 4, "codex",
                   "{\"url\":\"https://c.example.com\",\"headers\":{\"A\":\"b\"},"
                   "\"type\":\"http\"}");
    const hub_toolset_settings *ours = &config->settings.toolsets[5];
    assert_toolset(config, 5, "ours",
                   "{\"command\":\"d\",\"inherit_env\":false,\"startup_timeout_ms\":2000}");
    assert_false(ours->lazy);
    assert_false(ours->active);
    assert_true(ours->sharing_session);
    assert_int_equal(ours->max_calls, 3);
    assert_int_equal(ours->call_timeout_ms, 10000);
    assert_string_equal(ours->category, "c");
    assert_string_equal(ours->description, "d");
    static const char *const WARNINGS[] = {
        ":4: mcpServers.onemcp.envFilter: not supported, ignored",
        ":4: mcpServers.onemcp.restartOnExit: not supported, ignored",
        ":6: mcpServers.mcpproxy.oauth: not supported, ignored",
        ":7: mcpServers.toolbox.tools: not supported, ignored",
        ":8: mcpServers.copilot.headrs: unknown key, ignored; did you mean \"headers\"?",
    };
    assert_int_equal(config->warning_count, COUNT(WARNINGS));
    for (size_t i = 0; i < COUNT(WARNINGS); i++) {
        assert_string_equal(config->warnings[i] + strlen("fixtures/config/many_dialects.json"),
                            WARNINGS[i]);
        assert_null(strstr(config->warnings[i], "hidden"));
    }
    hub_config_destroy(config);
}

/* A server is started where its file lies; a folder such as .vscode belongs to the one around it. */
static void test_working_folders(void **state)
{
    static const struct {
        const char *file;
        const char *entry;
        const char *json;
    } CASES[] = {
        {"/p/.mcp.json", "", "{\"command\":\"./s\",\"cwd\":\"/p\"}"},
        {"/p/.vscode/mcp.json", "", "{\"command\":\"./s\",\"cwd\":\"/p\"}"},
        {"/.cursor/mcp.json", "", "{\"command\":\"./s\",\"cwd\":\"/\"}"},
        {"/p/a.b/mcp.json", "", "{\"command\":\"./s\",\"cwd\":\"/p/a.b\"}"},
        {"/mcp.json", "", "{\"command\":\"./s\",\"cwd\":\"/\"}"},
        {"/p/.vscode/m.json", ", \"cwd\": \"x\"", "{\"command\":\"./s\",\"cwd\":\"/p/x\"}"},
        {"/p/m.json", ", \"cwd\": \"/x\"", "{\"command\":\"./s\",\"cwd\":\"/x\"}"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{\"mcpServers\": {\"a\": {\"command\": \"./s\"%s}}}",
                       CASES[i].entry);
        hub_config *config = parse(CASES[i].file, text);
        assert_string_equal(config->settings.toolsets[0].config_json, CASES[i].json);
        hub_config_destroy(config);
    }
}

/* A server's settings are those of the manifest, whoever's file it is. */
static void test_settings_of_servers(void **state)
{
    (void)state;
    hub_config *config = parse(
        "/p/m.json", "{\"mcpServers\": {\"a\": {\"command\": \"s\", \"restart_delay\": 7, "
                     "\"restart_delay_max\": \"8s\", \"restart_reset\": 9, \"module\": \"x\"}}}");
    assert_string_equal(config->settings.toolsets[0].config_json,
                        "{\"command\":\"s\",\"cwd\":\"/p\",\"restart_delay_ms\":7,"
                        "\"restart_delay_max_ms\":8000,\"restart_reset_ms\":9}");
    assert_int_equal(config->warning_count, 1); /* there are no modules in such a file */
    hub_config_destroy(config);
}

static void test_names(void **state)
{
    static const struct {
        const char *name;
        const char *key;
    } CASES[] = {
        {"git", "git"},
        {"GitHub", "github"},
        {"my server", "my-server"},
        {"a.b/c:d@e", "a-b-c-d-e"},
        {"a__b", "a_b"},
        {"a____b", "a_b"},
        {"__a", "a"},
        {"--a--", "a--"},
        {"a_-_b", "a_-_b"},
        {"7zip", "server-7zip"},
        {"-7", "server-7"},
        {"caf\xc3\xa9", "caf-"},
        {"a\xf0\x9f\x98\x80z", "a-z"},
        {"_x", "x"},
        {"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk",
         "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{\"servers\": {\"%s\": {\"command\": \"x\"}}}",
                       CASES[i].name);
        hub_config *config = parse("m.json", text);
        assert_string_equal(config->settings.toolsets[0].key, CASES[i].key);
        hub_config_destroy(config);
    }
}

#define KEY_RULE                                                                                   \
    "a toolset's key is a lower-case letter, then lower-case letters, digits, \"-\" and \"_\", "   \
    "at most 64 in all"

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } CASES[] = {
        {"{\"mcpServers\": 5}", "m.json:1: mcpServers: wanted a map of servers, found a number"},
        {"{\"mcpServers\": null}", "m.json:1: mcpServers: wanted a map of servers, found nothing"},
        {"{\"mcpServers\": {\n\"a\": \"uvx\"}}",
         "m.json:2: mcpServers.a: wanted a map, found text"},
        {"{\"mcpServers\": {\n\"a\": null}}",
         "m.json:2: mcpServers.a: wanted a map, found nothing"},
        {"{\"mcpServers\": {\n\"a\": {}}}",
         "m.json:2: mcpServers.a: a server wants a \"command\" or a \"url\""},
        {"{\"mcpServers\": {\n\"a\": {\"command\": \"x\",\n\"url\": \"y\"}}}",
         "m.json:3: mcpServers.a.url: a server has either a \"command\" or a \"url\""},
        {"{\"mcpServers\": {\n\"_meta\": {\"command\": \"x\"}}}",
         "m.json:2: mcpServers._meta: \"_meta\" is reserved for the hub's meta-tools"},
        {"{\"mcpServers\": {\n\"\": {\"command\": \"x\"}}}",
         "m.json:2: mcpServers.: no toolset's key can be made of this name: it has no letter or "
         "digit of ASCII"},
        {"{\"mcpServers\": {\n\"\xe6\x97\xa5\xe6\x9c\xac\": {\"command\": \"x\"}}}",
         "m.json:2: mcpServers.\xe6\x97\xa5\xe6\x9c\xac: no toolset's key can be made of this "
         "name: it has no letter or digit of ASCII"},
        {"{\"mcpServers\": {\n"
         "\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\": {}}}",
         "m.json:2: mcpServers.kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
         "...: " KEY_RULE},
        {"{\"servers\": {\"a\": {\"command\": \"x\",\n\"args\": \"y\"}}}",
         "m.json:2: servers.a.args: wanted a list, found text"},
        {"{\"mcp\": {\"servers\": {\"a\": {\"command\": \"x\",\n\"env\": {\"K\": null}}}}}",
         "m.json:2: mcp.servers.a.env.K: wanted text, found nothing"},
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"env\": {\"K\": \"${KEY}\"}}}}",
         "m.json:2: mcpServers.a.env.K: the variable KEY is not set, and there is no default"},
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"timeout\": 0}}}",
         "m.json:2: mcpServers.a.timeout: wanted 1ms to 24h, found the number 0"},
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"timeout\": 1.5}}}",
         "m.json:2: mcpServers.a.timeout: wanted a duration like \"500ms\", \"30s\", \"2m\", "
         "\"1h\", found the number 1.5"},
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"timeout\": \"60\"}}}",
         "m.json:2: mcpServers.a.timeout: wanted a duration like \"500ms\", \"30s\", \"2m\", "
         "\"1h\", found \"60\""},
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"disabled\": \"yes\"}}}",
         "m.json:2: mcpServers.a.disabled: wanted true or false, found \"yes\""},
        {"{\"mcpServers\": {\"a\": {\"url\": \"x\",\n\"type\": \"grpc\"}}}",
         "m.json:2: mcpServers.a.type: wanted one of \"stdio\", \"http\", \"sse\", "
         "\"websocket\", found \"grpc\""},
        {"{\"mcpServers\": {\"a\": {\"url\": \"x\",\n\"excludeTools\": [5]}}}",
         "m.json:2: mcpServers.a.excludeTools[0]: wanted a name, found the number 5"},
        {"{\"hub\": {},\n\"mcpServers\": {}}",
         "m.json:2: mcpServers: cannot stand beside \"hub\": move the servers into \"toolsets\""},
        {"{\"servers\": {},\n\"toolsets\": {}}",
         "m.json:1: servers: cannot stand beside \"toolsets\": move the servers into \"toolsets\""},
        {"{\"listen\": [{\"http\": 1}],\n\"mcpServers\": {}}",
         "m.json:2: mcpServers: cannot stand beside \"listen\": move the servers into "
         "\"toolsets\""},
        {"{\"auth\": {\"tokens\": \"f\"},\n\"mcpServers\": {}}",
         "m.json:2: mcpServers: cannot stand beside \"auth\": move the servers into \"toolsets\""},
        {"{\"mcpServers\": [\n{\"command\": \"x\"}]}",
         "m.json:2: mcpServers[0]: a server in a list wants a \"name\""},
        {"{\"mcpServers\": [\n5]}", "m.json:2: mcpServers[0]: a server in a list wants a \"name\""},
        {"{\"mcpServers\": {\n\"a\": {},\n\"b\": 5, \"c\": []}}",
         "m.json:2: mcpServers.a: a server wants a \"command\" or a \"url\"; 2 more servers cannot "
         "be served, and no other is there"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        expect_refused("m.json", hub_str_of(CASES[i].text), NULL, HUB_EINVAL, CASES[i].expected);
    }
}

/* One entry that is wrong does not stop the others, whatever is wrong with it. */
static void test_entries_left_out(void **state)
{
    static const struct {
        const char *entry;
        const char *key; /* NULL: the entry has none, or another one has it */
        const char *text;
    } CASES[] = {
        {"\"bad\": {\"command\": \"x\", \"env\": {\"T\": \"${GITHUB_TOKEN}\"}}", "bad",
         "bad.env.T: the variable GITHUB_TOKEN is not set, and there is no default"},
        {"\"bad\": {\"command\": \"${workspaceFolder}/x\"}", "bad",
         "bad.command: the variable workspaceFolder is not set, and there is no default"},
        {"\"bad\": {\"url\": \"http://x\", \"headers\": {\"A\": \"${input:key}\"}}", "bad",
         "bad.headers.A: ${input:key} is not a variable; known are ${VAR}, ${VAR:-default}, "
         "${env:VAR}, ${file:/path}, ${secret:NAME} and ${credential:NAME}"},
        {"\"bad\": {\"args\": [\"x\"]}", "bad", "bad: a server wants a \"command\" or a \"url\""},
        {"\"bad\": {\"command\": 5}", "bad", "bad.command: wanted text, found a number"},
        {"\"bad\": \"npx\"", "bad", "bad: wanted a map, found text"},
        {"\"bad\": {\"command\": \"x\", \"tags\": 5}", "bad",
         "bad.tags: wanted a list, found the number 5"},
        {"\"bad\": {\"command\": \"x\", \"middleware\": {\"log\": 5}}", "bad",
         "bad.middleware.log: wanted true or false, found the number 5"},
        {"\"bad\": {\"command\": \"x\", \"args\": [\"${file:/none/at/all}\"]}", "bad",
         "bad.args[0]: ${file:...} is not possible here"},
        {"\"GOOD\": {\"command\": \"y\"}", NULL,
         "GOOD: there is a toolset \"good\" already, from m.json:1"},
        {"\"\xe6\x97\xa5\": {\"command\": \"y\"}", "",
         "\xe6\x97\xa5: no toolset's key can be made of this name: it has no letter or digit of "
         "ASCII"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[512];
        char expected[256];
        (void)snprintf(
            text, sizeof text,
            "{\"mcpServers\": {\"good\": {\"command\": \"g\"},\n%s,\n\"last\": {\"url\": "
            "\"http://l\"}}}",
            CASES[i].entry);
        hub_config *config = parse("m.json", text);
        assert_int_equal(config->settings.toolset_count, 2);
        assert_string_equal(config->settings.toolsets[0].key, "good");
        assert_server_json(config->settings.toolsets[0].config_json, "{\"command\":\"g\"}");
        assert_string_equal(config->settings.toolsets[1].key, "last");
        assert_int_equal(config->refused_count, 1);
        (void)snprintf(expected, sizeof expected, "m.json:2: mcpServers.%s", CASES[i].text);
        assert_string_equal(config->refused[0].text, expected);
        if (CASES[i].key == NULL) {
            assert_null(config->refused[0].key);
        } else {
            assert_string_equal(config->refused[0].key, CASES[i].key);
        }
        hub_config_destroy(config);
    }
}

/* What an entry needs that is switched off is nobody's business; a list of servers is no other. */
static void test_entries_kept(void **state)
{
    (void)state;
    hub_config *config = parse(
        "m.json", "{\"mcpServers\": [{\"name\": \"a\", \"command\": \"x\"}, 5, {\"command\": "
                  "\"y\"}, {\"name\": \"b\", \"command\": \"${NONE}\", \"disabled\": true}]}");
    assert_int_equal(config->settings.toolset_count, 2);
    assert_int_equal(config->refused_count, 2);
    assert_null(config->refused[1].key);
    assert_string_equal(config->refused[1].text,
                        "m.json:1: mcpServers[2]: a server in a list wants a \"name\"");
    hub_config_destroy(config);
}

/* Words that another program's file has for something else are left alone. */
static void test_no_servers(void **state)
{
    (void)state;
    hub_config *config = parse("m.json", "{\"mcpServers\": {}, \"listen\": \":8080\", "
                                         "\"auth\": {\"user\": \"x\"}, \"limits\": 3}");
    assert_int_equal(config->settings.listen_count, 0);
    assert_null(config->tokens_file);
    assert_int_equal(config->settings.toolset_count, 0);
    assert_int_equal(config->warning_count, 0);
    hub_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claude_desktop),
        cmocka_unit_test(test_claude_code),
        cmocka_unit_test(test_cursor),
        cmocka_unit_test(test_vscode),
        cmocka_unit_test(test_cline),
        cmocka_unit_test(test_gemini),
        cmocka_unit_test(test_windsurf),
        cmocka_unit_test(test_continue),
        cmocka_unit_test(test_other_dialects),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_entries_left_out),
        cmocka_unit_test(test_entries_kept),
        cmocka_unit_test(test_working_folders),
        cmocka_unit_test(test_settings_of_servers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
