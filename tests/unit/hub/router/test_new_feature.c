/* SPDX-License-Identifier: Apache-2.0 */
/* A new feature that sees each call is one file (tool_counts.c) and one row in the table of stations: no
 * other file of the hub is changed for it, which is what this program is built from. */
#include "keeper_support.h"

#include "hub/router/stations.h"

#include "tool_counts.c"

static hub_fixture fixture;
static keeper t;
static keeper u;

/* The table of router/stations.c with one row more. */
static void add_the_row(void)
{
    static const hub_station *table[HUB_STATIONS_MOST];
    assert_true(HUB_STATION_COUNT < HUB_STATIONS_MOST);
    memcpy(table, HUB_STATIONS, HUB_STATION_COUNT * sizeof table[0]);
    table[HUB_STATION_COUNT] = &TOOL_COUNTS_STATION;
    hub_stations_lay_out(table, HUB_STATION_COUNT + 1);
}

static void expect_counts(const char *id, size_t results, size_t failures, size_t cancelled)
{
    const tool_count *counted = tool_counts_find(fixture.hub, id);
    assert_non_null(counted);
    assert_int_equal(counted->results, results);
    assert_int_equal(counted->failures, failures);
    assert_int_equal(counted->cancelled, cancelled);
    assert_int_equal(counted->calls, results + failures + cancelled);
}

static void test_calls_are_counted_per_tool(void **state)
{
    (void)state;
    init_keeper(&t, "[" TOOL("a") "," TOOL("b") "]");
    init_keeper(&u, "[" TOOL("a") "," TOOL("b") "]");
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &t.master, false);
    (void)fixture_toolset(&fixture, "u", &u.master, false);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    client_call(c, "3", "t__b", "{}");
    client_call(c, "4", "u__a", "{}");
    client_call(c, "5", "t__a", "{}");
    client_cancel(c, "5");
    (void)client_ask(c, "6", "t__nothing", "{}");
    (void)client_ask(c, "7", "list_tools", "{}");
    answer(&t, 0);
    answer(&t, 1);
    assert_int_equal(t.count, 4);
    puppet_instance *instance = t.master.latest;
    (void)instance->api->finish(instance->host, t.calls[2], PATCHBAY_FAILED, puppet_str("no"));
    assert_non_null(client_wait(c, "1"));
    assert_non_null(client_wait(c, "2"));
    assert_non_null(client_wait(c, "3"));
    expect_counts("t:a", 2, 0, 1);
    expect_counts("t:b", 0, 1, 0);
    expect_counts("_meta:list_tools", 1, 0, 0);
    assert_int_equal(tool_counts_find(fixture.hub, "u:a")->calls, 1);
    assert_null(tool_counts_find(fixture.hub, "t:nothing"));
    assert_null(tool_counts_find(fixture.hub, "u:b"));
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls_are_counted_per_tool)};
    add_the_row();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
