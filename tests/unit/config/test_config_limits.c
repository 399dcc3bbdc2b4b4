/* SPDX-License-Identifier: Apache-2.0 */
/* The network's part of `limits`: every one has a key, a default, and bounds that hold. */
#include "config_support.h"

#include "base/limits.h"

typedef struct limit {
    const char *key;
    size_t offset;
    const char *least;
    uint32_t least_value;
    const char *most;
    uint32_t most_value;
    const char *below; /* refused */
    const char *above;
} limit;

#define NET(member) offsetof(hub_net_limits, member)
#define COUNTED(k, member, most)                                                                   \
    {                                                                                              \
        k, NET(member), "1", 1, #most, most, "0", #most "1"                                        \
    }
#define TIMED(k, member)                                                                           \
    {                                                                                              \
        k, NET(member), "100ms", 100, "24h", 86400000, "99ms", "1441m"                             \
    }

static const limit LIMITS[] = {
    COUNTED("connections", connections, 1000000),
    COUNTED("connections_per_address", connections_per_address, 1000000),
    TIMED("header_timeout", header_ms),
    TIMED("body_timeout", body_ms),
    TIMED("idle_timeout", idle_ms),
    TIMED("stall_timeout", stall_ms),
    TIMED("sse_comment", sse_comment_ms),
    TIMED("ping_interval", ping_ms),
    TIMED("pong_timeout", pong_ms),
    TIMED("session_idle", session_idle_ms),
    COUNTED("sessions", sessions, 1000000),
    COUNTED("sessions_per_principal", sessions_per_principal, 1000000),
    {"replay_bytes", NET(replay_bytes), "1KiB", 1024, "1GiB", 1073741824, "1023B", "1073741825"},
    COUNTED("replay_events", replay_events, 100000),
};

static uint32_t limit_of(const char *key, const char *value, size_t offset)
{
    char text[128];
    uint32_t number = 0;
    (void)snprintf(text, sizeof text, "limits: {%s: %s}", key, value);
    hub_config *config = parse("m.yaml", text);
    memcpy(&number, (const char *)&config->settings.limits.net + offset, sizeof number);
    hub_config_destroy(config);
    return number;
}

static void expect_limit_refused(const char *key, const char *value)
{
    char text[128];
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    (void)snprintf(text, sizeof text, "limits: {%s: %s}", key, value);
    assert_int_equal(hub_config_parse("m.yaml", hub_str_of(text), NULL, NULL, &config, &error),
                     HUB_EINVAL);
    (void)snprintf(text, sizeof text, "m.yaml:1: limits.%s: wanted ", key);
    assert_true(hub_str_starts(hub_str_of(error.text), hub_str_of(text)));
}

static void test_limits(void **state)
{
    (void)state;
    assert_int_equal(COUNT(LIMITS) * sizeof(uint32_t), sizeof(hub_net_limits)); /* each has a key */
    for (size_t i = 0; i < COUNT(LIMITS); i++) {
        const limit *row = &LIMITS[i];
        assert_int_equal(limit_of(row->key, row->least, row->offset), row->least_value);
        assert_int_equal(limit_of(row->key, row->most, row->offset), row->most_value);
        expect_limit_refused(row->key, row->below);
        expect_limit_refused(row->key, row->above);
    }
}

static void test_default_limits(void **state)
{
    (void)state;
    hub_config *config = parse("m.yaml", "");
    const hub_net_limits *net = &config->settings.limits.net;
    assert_int_equal(net->connections, HUB_LIMIT_CONNECTIONS);
    assert_int_equal(net->connections_per_address, HUB_LIMIT_CONNECTIONS_PER_ADDRESS);
    assert_int_equal(net->header_ms, HUB_LIMIT_HEADER_MS);
    assert_int_equal(net->body_ms, HUB_LIMIT_BODY_MS);
    assert_int_equal(net->idle_ms, HUB_LIMIT_IDLE_MS);
    assert_int_equal(net->stall_ms, HUB_LIMIT_STALL_MS);
    assert_int_equal(net->sse_comment_ms, HUB_LIMIT_SSE_COMMENT_MS);
    assert_int_equal(net->ping_ms, HUB_LIMIT_PING_MS);
    assert_int_equal(net->pong_ms, HUB_LIMIT_PONG_MS);
    assert_int_equal(net->session_idle_ms, HUB_LIMIT_SESSION_IDLE_MS);
    assert_int_equal(net->sessions, HUB_LIMIT_SESSIONS);
    assert_int_equal(net->sessions_per_principal, HUB_LIMIT_SESSIONS_PER_PRINCIPAL);
    assert_int_equal(net->replay_bytes, HUB_LIMIT_REPLAY_BYTES);
    assert_int_equal(net->replay_events, HUB_LIMIT_REPLAY_EVENTS);
    hub_config_destroy(config);
}

/* tools.limits: as many entries as there may be, and one more; the longest name, and one more. */
static void expect_tool_limits(size_t count, size_t name_bytes, bool fits)
{
    hub_buf text;
    hub_config *config = NULL;
    hub_error error = {.text = ""};
    hub_buf_init(&text, 65536);
    hub_buf_add(&text, HUB_STR("toolsets: {a: {tools: {limits: {"));
    for (size_t i = 0; i < count; i++) {
        hub_buf_printf(&text, "%0*zu: {calls_per_second: %zu},", (int)name_bytes, i, i + 1);
    }
    hub_buf_add(&text, HUB_STR("z: {calls_per_second: 1000000, calls_burst: 7}}}}}\n"));
    hub_err err = hub_config_parse("m.yaml", hub_buf_str(&text), NULL, NULL, &config, &error);
    assert_int_equal(err == HUB_OK, fits);
    if (fits) {
        const hub_tool_limits *limits = &config->settings.toolsets[0].tool_limits;
        assert_int_equal(limits->count, count + 1);
        assert_int_equal(limits->items[0].calls_per_second, 1);
        assert_int_equal(limits->items[0].calls_burst, 0);
        assert_int_equal(limits->items[count].calls_per_second, 1000000);
        assert_int_equal(limits->items[count].calls_burst, 7);
        assert_string_equal(limits->items[count].match, "z");
        hub_config_destroy(config);
    }
    hub_buf_fini(&text);
}

static void test_tool_limits(void **state)
{
    (void)state;
    expect_tool_limits(HUB_LIMIT_TOOL_LIMITS - 1, 3, true);
    expect_tool_limits(HUB_LIMIT_TOOL_LIMITS, 3, false);
    expect_tool_limits(1, HUB_LIMIT_TOOL_NAME_BYTES, true);
    expect_tool_limits(1, HUB_LIMIT_TOOL_NAME_BYTES + 1, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_default_limits),
        cmocka_unit_test(test_tool_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
