/* SPDX-License-Identifier: Apache-2.0 */
/* Where catalogs are remembered, and for how long they count as current. */
#include "config_support.h"

#include "base/limits.h"

static void expect_folder(const char *text, const char *const *env, const char *want)
{
    hub_config *config = parse_with("/etc/hub.yaml", text, env, NULL);
    const char *folder = config->settings.cache_folder;
    if (want == NULL) {
        assert_null(folder);
    } else {
        assert_non_null(folder);
        assert_string_equal(folder, want);
    }
    hub_config_destroy(config);
}

/* XDG Base Directory Specification: what is not absolute is ignored. */
static void test_folder(void **state)
{
    (void)state;
    const char *const none = "toolsets: {}";
    expect_folder(none, ENV("XDG_CACHE_HOME=/c", "HOME=/h"), "/c/patchbay");
    expect_folder(none, ENV("HOME=/h"), "/h/.cache/patchbay");
    expect_folder(none, ENV("XDG_CACHE_HOME=c", "HOME=/h"), "/h/.cache/patchbay");
    expect_folder(none, ENV("XDG_CACHE_HOME=", "HOME=h"), NULL);
    expect_folder(none, NULL, NULL);
    expect_folder("hub: {cache_dir: x/y}", ENV("HOME=/h"), "/etc/x/y");
    expect_folder("hub: {cache_dir: '${HOME}/z'}", ENV("HOME=/h"), "/h/z");
    expect_folder("hub: {cache: false}", ENV("HOME=/h"), NULL);
    expect_folder("hub: {cache: false, cache_dir: /x}", ENV("HOME=/h"), NULL);
    expect_folder("hub: {cache: true}", ENV("HOME=/h"), "/h/.cache/patchbay");
}

static void test_toolset(void **state)
{
    (void)state;
    hub_config *config = parse("h.yaml", "toolsets: {a: {cache: false}, b: {}}");
    assert_false(config->settings.toolsets[0].cache);
    assert_true(config->settings.toolsets[1].cache);
    hub_config_destroy(config);
    config = parse("mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"cache\": false}}}");
    assert_false(config->settings.toolsets[0].cache);
    hub_config_destroy(config);
}

static void expect_times(const char *text, uint32_t ttl_ms, uint32_t straggler_ms)
{
    hub_config *config = parse("h.yaml", text);
    assert_int_equal(config->settings.limits.catalog_ttl_ms, ttl_ms);
    assert_int_equal(config->settings.limits.straggler_ms, straggler_ms);
    hub_config_destroy(config);
}

static void test_times(void **state)
{
    (void)state;
    enum { DAY_MS = 24 * 3600 * 1000 };
    expect_times("toolsets: {}", HUB_LIMIT_CATALOG_TTL_MS, HUB_LIMIT_STRAGGLER_MS);
    expect_times("hub: {cache_ttl: 0s}\nlimits: {straggler_timeout: 0s}", 0, 0);
    expect_times("hub: {cache_ttl: 24h}\nlimits: {straggler_timeout: 24h}", DAY_MS, DAY_MS);
    expect_refused("h.yaml", HUB_STR("hub: {cache_ttl: 86400001ms}"), NULL, HUB_EINVAL,
                   "h.yaml:1: hub.cache_ttl: wanted 0ms to 24h, found \"86400001ms\"");
}

static void test_mistakes(void **state)
{
    (void)state;
    expect_refused("h.yaml", HUB_STR("hub: {cache: maybe}"), NULL, HUB_EINVAL,
                   "h.yaml:1: hub.cache: wanted true or false, found \"maybe\"");
    expect_refused("h.yaml", HUB_STR("hub: {cache_dir: '~/x'}"), NULL, HUB_EINVAL,
                   "h.yaml:1: hub.cache_dir: \"~\" has no meaning here: write the path out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_toolset),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
