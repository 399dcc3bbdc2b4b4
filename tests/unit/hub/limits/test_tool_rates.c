/* SPDX-License-Identifier: Apache-2.0 */
/* How often tools may be called (REQUIREMENTS S5.4): toolsets.KEY.tools.limits. */
#include "fake_wall.h"
#include "gcra_oracle.h"
#include "keeper_support.h"
#include "hub/limits/tool_rates.h"

static hub_fixture fixture;
static keeper t;
static hub_toolset_settings *settings;

#define TOOLS "[" TOOL("search") "," TOOL("search_all") "," TOOL("other") "]"

static void start(const hub_tool_limit *limits, size_t count)
{
    init_keeper(&t, TOOLS);
    fixture_init(&fixture);
    settings = fixture_toolset(&fixture, "t", &t.master, false);
    settings->tool_limits = (hub_tool_limits){.items = limits, .count = count};
    fixture_start(&fixture);
    fake_wall_mono_ms = hub_clock_now_ms();
}

static void stop(void)
{
    fake_wall_mono_ms = 0;
    fixture_stop(&fixture);
}

/* Whether the call got to its tool; what did not was told why. */
static bool gets_in(client *c, const char *tool)
{
    static unsigned last;
    char id[12];
    size_t before = t.count;
    (void)snprintf(id, sizeof id, "%u", ++last);
    client_call(c, id, tool, "{}");
    if (t.count > before) {
        answer(&t, before);
        assert_contains(client_reply(c, id), "\"result\"");
        t.count = before;
        return true;
    }
    assert_contains(client_reply(c, id), "\"code\":-31001");
    assert_contains(client_reply(c, id), "\"retryAfter\":");
    assert_contains(client_reply(c, id), "\"retryable\":true");
    return false;
}

/* A thousand calls at a rate of ten, of two clients in turn: what the algorithm lets in gets in. A
 * tool that no entry matches is not counted. */
static void test_a_thousand_calls(void **state)
{
    (void)state;
    const hub_tool_limit limits[] = {{"search", 10, 15}};
    const hub_bucket_rate rate = {.per_second = 10, .at_once = 15};
    oracle expected = {0};
    start(limits, 1);
    client *clients[] = {client_open(&fixture, LEGACY), client_open(&fixture, MODERN)};
    for (unsigned i = 0; i < 1000; i++) {
        fake_wall_mono_ms += i % 3 == 0 ? 47 : 0;
        bool is_due = oracle_takes(&expected, fake_wall_mono_ms, rate);
        assert_int_equal(gets_in(clients[i % 2], "t__search"), is_due);
        assert_true(gets_in(clients[i % 2], "t__other"));
    }
    assert_true(fixture.hub->refused > 700);
    stop();
}

/* A glob is one limit for all that it matches; a call that one entry refuses costs the others
 * nothing. */
static void test_globs(void **state)
{
    (void)state;
    const hub_tool_limit limits[] = {{"search*", 1, 3}, {"search_all", 1, 1}};
    start(limits, 2);
    client *c = client_open(&fixture, LEGACY);
    assert_true(gets_in(c, "t__search_all"));
    assert_false(gets_in(c, "t__search_all")); /* its own entry */
    assert_false(gets_in(c, "t__search_all"));
    assert_true(gets_in(c, "t__search"));
    assert_true(gets_in(c, "t__search"));
    assert_false(gets_in(c, "t__search")); /* three were all of them */
    client_call(c, "\"x\"", "t__search", "{}");
    assert_contains(client_reply(c, "\"x\""),
                    "\"limit\":\"toolsets.t.tools.limits.search*.calls_per_second\"");
    assert_contains(client_reply(c, "\"x\""), "try again in 1000 ms");
    fake_wall_mono_ms += 1000;
    assert_true(gets_in(c, "t__search"));
    assert_true(gets_in(c, "t__other"));
    stop();
}

/* A reload: entries of the same name go on where they were, others are new, and those that are gone
 * hold nobody up. */
static void test_reload(void **state)
{
    (void)state;
    const hub_tool_limit before[] = {{"search", 1, 2}, {"other", 1, 1}};
    const hub_tool_limit after[] = {{"search_all", 1, 1}, {"search", 1, 3}};
    start(before, 2);
    client *c = client_open(&fixture, LEGACY);
    assert_true(gets_in(c, "t__search"));
    assert_true(gets_in(c, "t__search"));
    assert_true(gets_in(c, "t__other"));
    assert_false(gets_in(c, "t__search"));
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("t"));
    settings->tool_limits = (hub_tool_limits){.items = after, .count = 2};
    hub_toolset_settings *copy = hub_toolset_settings_dup(settings);
    assert_non_null(copy);
    assert_int_equal(hub_toolset_settings_compare(hub_toolset_settings_of(toolset), copy),
                     HUB_TOOLSET_TUNED);
    free(hub_toolset_exchange_settings(toolset, copy));
    assert_true(gets_in(c, "t__search")); /* one more than before, not three */
    assert_false(gets_in(c, "t__search"));
    assert_true(gets_in(c, "t__search_all"));
    assert_true(gets_in(c, "t__other"));
    assert_true(gets_in(c, "t__other"));
    stop();
}

/* A call that becomes a task is a call. */
static void test_tasks_count(void **state)
{
    (void)state;
    const hub_tool_limit limits[] = {{"*", 1, 1}};
    start(limits, 1);
    client *c = client_open(&fixture, LEGACY);
    assert_true(gets_in(c, "t__search"));
    client_request(c, "\"task\"", "tools/call",
                   "\"name\":\"t__search\",\"arguments\":{},\"task\":{\"ttl\":1000}");
    assert_non_null(client_reply(c, "\"task\""));
    assert_int_equal(t.count, 0);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thousand_calls),
        cmocka_unit_test(test_globs),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_tasks_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
