/* SPDX-License-Identifier: Apache-2.0 */
/* A hub that drains (RELIABILITY L01, L03): what it still does, and what not. */
#include "hub/orchestrator/drain.h"
#include "hub_fixture.h"

static hub_fixture fixture;
static puppet master;
static puppet_instance *holder;
static patchbay_call held[4];
static size_t held_count;

static void hold(puppet_instance *instance, patchbay_call call, const patchbay_request *request)
{
    (void)request;
    assert_true(held_count < sizeof held / sizeof *held);
    holder = instance;
    held[held_count++] = call;
}

static void start(void)
{
    held_count = 0;
    master = (puppet){.tools = "[" TOOL("hold") "]", .on_call = hold};
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &master, false);
    fixture_start(&fixture);
}

static void test_calls_end_and_no_more_begin(void **state)
{
    (void)state;
    start();
    client *legacy = client_open(&fixture, LEGACY);
    client *modern = client_open(&fixture, MODERN);
    assert_int_equal(hub_drain_owed(fixture.hub), 0);
    client_call(legacy, "1", "up__hold", "{}");
    client_call(modern, "2", "up__hold", "{}");
    assert_int_equal(hub_drain_owed(fixture.hub), 2);
    assert_true(hub_orchestrator_is_ready(fixture.hub));
    hub_drain_begin(fixture.hub);
    hub_drain_begin(fixture.hub);
    assert_false(hub_orchestrator_is_ready(fixture.hub));
    assert_int_equal(hub_drain_owed(fixture.hub), 2);
    assert_null(client_reply(legacy, "1"));
    client_call(legacy, "3", "up__hold", "{}");
    const char *refused = client_reply(legacy, "3");
    assert_contains(refused, "\"code\":-31004");
    assert_contains(refused, "\"data\":{\"retryable\":true}");
    client_request(modern, "4", "tools/list", "");
    assert_contains(client_reply(modern, "4"), "\"code\":-31004");
    assert_int_equal(held_count, 2);
    hub_session *session;
    hub_error why = {.code = HUB_OK};
    hub_session_options options = {.transport = "test", .principal = "late", .port = &legacy->port};
    assert_int_equal(hub_session_create(fixture.hub, &options, &session, &why), HUB_ESTATE);
    assert_int_equal(puppet_finish(holder, held[0], "{\"content\":[]}"), PATCHBAY_OK);
    assert_contains(client_wait(legacy, "1"), "\"content\":[]");
    assert_int_equal(hub_drain_owed(fixture.hub), 1);
    client_cancel(modern, "2");
    assert_int_equal(hub_drain_owed(fixture.hub), 0);
    assert_int_equal(master.cancels, 1);
    fixture_stop(&fixture);
}

/* Of all, or of one client that will not be there: errors for it, and a cancel for the toolset. */
static void test_aborted(void **state)
{
    (void)state;
    start();
    client *one = client_open(&fixture, LEGACY);
    client *other = client_open(&fixture, LEGACY);
    client_call(one, "1", "up__hold", "{}");
    client_call(one, "2", "up__hold", "{}");
    client_call(other, "1", "up__hold", "{}");
    hub_drain_begin(fixture.hub);
    hub_session_abort(one->session);
    assert_contains(client_reply(one, "1"), "shutting down: try again");
    assert_contains(client_reply(one, "2"), "\"retryable\":true");
    assert_null(client_reply(other, "1"));
    assert_int_equal(master.cancels, 2);
    assert_int_equal(hub_drain_owed(fixture.hub), 1);
    hub_orchestrator_stop(fixture.hub);
    assert_contains(client_reply(other, "1"), "shutting down: try again");
    assert_int_equal(hub_drain_owed(fixture.hub), 0);
    assert_int_equal(master.cancels, 3);
    fixture_stop(&fixture);
}

/* 2026-07-28 basic/patterns/subscriptions, Graceful Closure: with the result, before calls end. */
static void test_subscriptions(void **state)
{
    (void)state;
    start();
    client *c = client_open(&fixture, MODERN);
    client_call(c, "1", "up__hold", "{}");
    client_request(c, "\"s\"", "subscriptions/listen",
                   "\"notifications\":{\"toolsListChanged\":true}");
    hub_drain_begin(fixture.hub);
    assert_contains(client_reply(c, "\"s\""), "subscriptionId\":\"s\"");
    assert_int_equal(client_count(c, "\"requestId\":\"s\""), 1);
    assert_null(client_reply(c, "1"));
    hub_orchestrator_stop(fixture.hub);
    assert_int_equal(client_count(c, "\"requestId\":\"s\""), 1);
    fixture_stop(&fixture);
}

/* What the hub asks on its own account is nobody's call. */
static void test_own_requests_are_not_owed(void **state)
{
    (void)state;
    start();
    hub_call *call;
    assert_int_equal(hub_call_begin_internal(fixture.hub, NULL, NULL, &call), HUB_OK);
    assert_int_equal(hub_call_count(fixture.hub->calls), 1);
    assert_int_equal(hub_drain_owed(fixture.hub), 0);
    hub_call_drop(call);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_end_and_no_more_begin),
        cmocka_unit_test(test_aborted),
        cmocka_unit_test(test_subscriptions),
        cmocka_unit_test(test_own_requests_are_not_owed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
