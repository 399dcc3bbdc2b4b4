/* SPDX-License-Identifier: Apache-2.0 */
/* Toolsets whose url is that of a Unix socket, and which module a url means. */
#include "config_support.h"

static void expect_module(const char *url, const char *const *env, const char *module,
                          const char *config_json)
{
    char text[512];
    (void)snprintf(text, sizeof text, "toolsets: {a: {url: \"%s\"}}", url);
    hub_config *config = parse_with("/m.yaml", text, env, NULL);
    assert_string_equal(config->settings.toolsets[0].module, module);
    assert_string_equal(config->settings.toolsets[0].config_json, config_json);
    hub_config_destroy(config);
}

static void test_which_module(void **state)
{
    (void)state;
    expect_module("unix:///run/x.sock", NULL, "mcp_upstream", "{\"url\":\"unix:///run/x.sock\"}");
    expect_module("unix:/x", NULL, "mcp_upstream", "{\"url\":\"unix:/x\"}");
    expect_module("UNIX:///x", NULL, "mcp_upstream", "{\"url\":\"UNIX:///x\"}");
    expect_module("unix:///a b?c#d%20", NULL, "mcp_upstream", "{\"url\":\"unix:///a b?c#d%20\"}");
    expect_module("${WHERE}", ENV("WHERE=unix:///x"), "mcp_upstream", "{\"url\":\"unix:///x\"}");
    expect_module("${WHERE}", ENV("WHERE=ws://x"), "mcp_remote", "{\"url\":\"ws://x\"}");
    expect_module("wss://x", NULL, "mcp_remote", "{\"url\":\"wss://x\"}");
    expect_module("unixx:///x", NULL, "mcp_remote", "{\"url\":\"unixx:///x\"}");
    expect_module("unix", NULL, "mcp_remote", "{\"url\":\"unix\"}");
}

/* What is switched off needs none of its variables, so its module is not known. */
static void test_switched_off(void **state)
{
    (void)state;
    hub_config *config = parse("/m.yaml", "toolsets: {a: {url: \"${NOPE}\", enabled: false}}");
    assert_string_equal(config->settings.toolsets[0].module, "mcp_remote");
    hub_config_destroy(config);
}

#define WANTS_PATH "wants the absolute path of a Unix socket, as in unix:///run/mcp.sock"

static void test_refused(void **state)
{
    static const struct {
        const char *entry;
        const char *expected;
    } CASES[] = {
        {"url: \"unix:\"", "url: " WANTS_PATH},
        {"url: \"unix://\"", "url: " WANTS_PATH},
        {"url: unix:x", "url: " WANTS_PATH},
        {"url: unix://host/x", "url: " WANTS_PATH},
        {"url: unix:///x, type: http",
         "type: a Unix socket carries lines of JSON, as pipes do: it has no type"},
        {"url: unix:///x, type: ws",
         "type: a Unix socket carries lines of JSON, as pipes do: it has no type"},
        {"url: unix:///x, headers: {A: b}", "headers: wants a \"url\" of http, https, ws or wss"},
        {"url: unix:///x, ca: a.pem", "ca: wants a \"url\" of http, https, ws or wss"},
        {"url: unix:///x, certificate: a, key: b",
         "certificate: wants a \"url\" of http, https, ws or wss"},
        {"url: unix:///x, connect_timeout: 1s",
         "connect_timeout: wants a \"url\" of http, https, ws or wss"},
        {"url: unix:///x, forward_headers: [A]",
         "forward_headers: wants a \"url\" of http, https, ws or wss"},
        {"url: unix:///x, args: [a]", "args: wants a \"command\""},
        {"url: unix:///x, cwd: a", "cwd: wants a \"command\""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[256];
        char expected[256];
        (void)snprintf(text, sizeof text, "toolsets: {a: {%s}}", CASES[i].entry);
        (void)snprintf(expected, sizeof expected, "/m.yaml:1: toolsets.a.%s", CASES[i].expected);
        expect_refused("/m.yaml", hub_str_of(text), NULL, HUB_EINVAL, expected);
    }
}

/* A socket's path has 107 bytes and a NUL: unix(7). */
static void test_length(void **state)
{
    char path[110];
    char text[256];
    (void)state;
    memset(path, 'p', sizeof path);
    path[0] = '/';
    path[107] = '\0';
    (void)snprintf(text, sizeof text, "toolsets: {a: {url: \"unix://%s\"}}", path);
    hub_config *config = parse("/m.yaml", text);
    assert_string_equal(config->settings.toolsets[0].module, "mcp_upstream");
    hub_config_destroy(config);
    path[107] = 'p';
    path[108] = '\0';
    (void)snprintf(text, sizeof text, "toolsets: {a: {url: \"unix:%s\"}}", path);
    expect_refused("/m.yaml", hub_str_of(text), NULL, HUB_EINVAL,
                   "/m.yaml:1: toolsets.a.url: the path of a Unix socket has at most 107 bytes, "
                   "this one has 108");
}

/* Other programs write keys that mean nothing here; but a type they mean. */
static void test_foreign(void **state)
{
    (void)state;
    hub_config *config = parse("/m.json", "{\"mcpServers\": {\"a\": {\"url\": \"unix:///x\", "
                                          "\"headers\": {\"A\": \"b\"}, \"args\": []}}}");
    assert_string_equal(config->settings.toolsets[0].module, "mcp_upstream");
    assert_string_equal(config->settings.toolsets[0].config_json, "{\"url\":\"unix:///x\"}");
    assert_int_equal(config->warning_count, 2);
    hub_config_destroy(config);
    expect_refused("/m.json", HUB_STR("{\"mcpServers\": {\"a\": {\"httpUrl\": \"unix:///x\"}}}"),
                   NULL, HUB_EINVAL,
                   "/m.json:1: mcpServers.a.httpUrl: a Unix socket carries lines of JSON, as pipes "
                   "do: it has no type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_module), cmocka_unit_test(test_switched_off),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_length),
        cmocka_unit_test(test_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
