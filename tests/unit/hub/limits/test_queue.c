/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait for a place of their toolset (REQUIREMENTS S5.17; RELIABILITY R07). */
#include "fake_wall.h"
#include "keeper_support.h"
#include "hub/report/status.h"
#include "hub/limits/queue.h"

static hub_fixture fixture;
static keeper t;

/* A toolset with `max_calls` places and a queue. */
static hub_toolset_settings *init(uint32_t max_calls, uint32_t queue)
{
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    hub_toolset_settings *settings = fixture_toolset(&fixture, "t", &t.master, false);
    settings->max_calls = max_calls;
    settings->queue = queue;
    settings->queue_timeout_ms = FIXTURE_LONG_MS;
    return settings;
}

static client *open_as(const char *principal)
{
    return client_open_as(&fixture, &(client_options){.kind = LEGACY, .principal = principal});
}

static size_t queued(void)
{
    return hub_queue_count(hub_find_toolset(fixture.hub, HUB_STR("t")));
}

/* S5.17: n calls in flight, m that wait, and one more: it is refused at once, as something to try
 * again, with the names of the limits. */
static void test_edges(void **state)
{
    (void)state;
    (void)init(2, 3);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    assert_int_equal(queued(), 0);
    client_call(c, "3", "t__a", "{}");
    client_call(c, "4", "t__a", "{}");
    client_call(c, "5", "t__a", "{}");
    assert_int_equal(c->count, 0);
    assert_int_equal(t.count, 2);
    assert_int_equal(queued(), 3);
    client_call(c, "6", "t__a", "{}");
    const char *reply = client_reply(c, "6");
    assert_contains(reply, "TOOL_UNAVAILABLE");
    assert_contains(reply, "\"retryable\":true");
    assert_contains(reply, "max_calls: 2");
    assert_contains(reply, "queue: 3");
    assert_int_equal(hub_status_counts_of(hub_find_toolset(fixture.hub, HUB_STR("t")))->refused, 1);
    for (size_t at = 0; at < 5; at++) {
        answer(&t, at);
        fixture_spin(&fixture, 3);
    }
    assert_int_equal(t.count, 5);
    assert_int_equal(c->count, 6);
    assert_int_equal(queued(), 0);
    fixture_stop(&fixture);
}

/* One who has as many that wait as it may keeps nobody else from waiting: another principal, or of those
 * whom nobody knows another address. */
static void test_one_fills_his_share(void **state)
{
    static const char *const NAMED[] = {"\\\"eve\\\" has as many",
                                        "\\\"anonymous at 10.0.0.1\\\" has"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        (void)init(1, 4);
        fixture_start(&fixture);
        client *eve = open_as(i == 0 ? "eve" : "anonymous");
        client *again = open_as(i == 0 ? "eve" : "anonymous");
        client *bob = open_as(i == 0 ? "bob" : "anonymous");
        hub_session_set_peer(eve->session, "10.0.0.1");
        hub_session_set_peer(again->session, "10.0.0.1");
        hub_session_set_peer(bob->session, "10.0.0.2");
        for (int call = 0; call < 6; call++) {
            char id[16];
            (void)snprintf(id, sizeof id, "%d", call);
            client_call(eve, id, "t__a", "{}");
        }
        assert_int_equal(queued(), 4);
        assert_contains(client_reply(eve, "5"), NAMED[i]);
        client_call(again, "7", "t__a", "{}");
        assert_contains(client_reply(again, "7"), NAMED[i]);
        client_call(bob, "1", "t__a", "{}");
        client_call(bob, "2", "t__a", "{}");
        assert_int_equal(bob->count, 0);
        assert_int_equal(queued(), 6);
        answer(&t, 0);
        fixture_spin(&fixture, 3);
        answer(&t, 1);
        fixture_spin(&fixture, 3);
        answer(&t, 2);
        fixture_spin(&fixture, 3);
        assert_non_null(client_reply(bob, "1")); /* in turns */
        client_close(eve);
        client_close(bob);
        assert_int_equal(queued(), 0);
        fixture_stop(&fixture);
    }
}

/* Without a queue the call is refused, and told nothing of one. */
static void test_no_queue(void **state)
{
    (void)state;
    (void)init(1, 0);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    assert_contains(client_reply(c, "2"), "max_calls: 1");
    assert_lacks(client_reply(c, "2"), "queue");
    fixture_stop(&fixture);
}

/* The arguments of each call, in the order in which the toolset got them. */
static char order[256];

static void note_order(puppet_instance *instance, patchbay_call call,
                       const patchbay_request *request)
{
    size_t used = strlen(order);
    (void)snprintf(order + used, sizeof order - used, HUB_STR_FMT, HUB_STR_ARG(request->args_json));
    keep(instance, call, request);
}

static void finish_all(size_t count)
{
    for (size_t at = 0; at < count; at++) {
        answer(&t, at);
        fixture_spin(&fixture, 3);
    }
}

/* A principal's calls keep their order; principals take turns, whoever came first with many. */
static void test_turns(void **state)
{
    (void)state;
    (void)init(1, 10);
    order[0] = '\0';
    t.master.on_call = note_order;
    fixture_start(&fixture);
    client *greedy = open_as("greedy");
    client *again = open_as("greedy"); /* another session is no other principal */
    client *modest = open_as("modest");
    client *late = open_as("late");
    client_call(greedy, "1", "t__a", "{\"g\":1}");
    client_call(greedy, "2", "t__a", "{\"g\":2}");
    client_call(greedy, "3", "t__a", "{\"g\":3}");
    client_call(again, "4", "t__a", "{\"g\":4}");
    client_call(modest, "1", "t__a", "{\"m\":1}");
    client_call(modest, "2", "t__a", "{\"m\":2}");
    client_call(late, "1", "t__a", "{\"l\":1}");
    finish_all(7);
    assert_string_equal(order, "{\"g\":1}{\"g\":2}{\"m\":1}{\"l\":1}{\"g\":3}{\"m\":2}{\"g\":4}");
    assert_non_null(client_reply(late, "1"));
    assert_non_null(client_reply(again, "4"));
    fixture_stop(&fixture);
}

/* Nobody overtakes: a call that comes while a place is free, but promised, waits behind. */
static void test_no_overtaking(void **state)
{
    (void)state;
    (void)init(1, 10);
    order[0] = '\0';
    t.master.on_call = note_order;
    fixture_start(&fixture);
    client *c = open_as("one");
    client *other = open_as("two");
    client_call(c, "1", "t__a", "{\"n\":1}");
    client_call(c, "2", "t__a", "{\"n\":2}");
    client_cancel(c, "1"); /* its place is free now, and the loop has not gone on */
    client_call(other, "3", "t__a", "{\"n\":3}");
    assert_int_equal(t.count, 1);
    fixture_spin(&fixture, 3);
    assert_int_equal(t.count, 2);
    finish_all(0);
    answer(&t, 1);
    fixture_spin(&fixture, 3);
    assert_string_equal(order, "{\"n\":1}{\"n\":2}{\"n\":3}");
    fixture_stop(&fixture);
}

/* A call that waits can be cancelled, counts against its session, and ends with it. */
static void test_cancel_and_close(void **state)
{
    (void)state;
    (void)init(1, 3);
    fixture.settings.limits.calls_per_session = 3;
    fixture_start(&fixture);
    client *c = open_as("one");
    client *other = open_as("two");
    client_call(other, "1", "t__a", "{}");
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    client_call(c, "3", "t__a", "{}");
    assert_int_equal(hub_session_in_flight(c->session), 3);
    client_call(c, "4", "t__a", "{}");
    assert_contains(client_reply(c, "4"), "limits.calls_per_session");
    client_cancel(c, "2");
    assert_int_equal(queued(), 2);
    assert_int_equal(hub_session_in_flight(c->session), 2);
    assert_int_equal(t.cancelled, 0); /* the toolset never heard of it */
    client_call(c, "2", "t__a", "{}");
    assert_int_equal(queued(), 3);
    client_close(c);
    assert_int_equal(queued(), 0);
    answer(&t, 0);
    fixture_spin(&fixture, 3);
    assert_int_equal(t.count, 1);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    fixture_stop(&fixture);
}

/* Who waits too long is told; its place in the queue is free again, and the others wait on. */
static void test_queue_timeout(void **state)
{
    (void)state;
    init(1, 1)->queue_timeout_ms = 20;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    uint64_t begin_ms = hub_clock_now_ms();
    client_call(c, "2", "t__a", "{}");
    const char *reply = client_wait(c, "2");
    assert_true(hub_clock_now_ms() - begin_ms >= 20);
    assert_contains(reply, "TOOL_UNAVAILABLE");
    assert_contains(reply, "queue_timeout");
    assert_contains(reply, "max_calls (1)");
    assert_null(client_reply(c, "1"));
    client_call(c, "3", "t__a", "{}");
    assert_null(client_reply(c, "3"));
    fixture_stop(&fixture);
}

/* Somebody sets the clock: a wait is as long as it was. */
static void test_queue_timeout_after_set_clock(void **state)
{
    static const long STEPS_S[] = {3600, -3600};
    (void)state;
    for (size_t i = 0; i < sizeof STEPS_S / sizeof STEPS_S[0]; i++) {
        init(1, 1)->queue_timeout_ms = 20;
        fixture_start(&fixture);
        client *c = client_open(&fixture, LEGACY);
        client_call(c, "1", "t__a", "{}");
        fake_wall_step_s = STEPS_S[i];
        uint64_t begin_ms = hub_clock_now_ms();
        client_call(c, "2", "t__a", "{}");
        assert_contains(client_wait(c, "2"), "queue_timeout");
        assert_true(hub_clock_now_ms() - begin_ms >= 20);
        fake_wall_step_s = 0;
        fixture_stop(&fixture);
    }
}

/* The time in the queue is part of the call's own: it waits no longer than its timeout, and what it
 * has waited is not given to the toolset again. */
static void test_deadline_from_arrival(void **state)
{
    (void)state;
    (void)init(1, 2);
    fixture_start(&fixture);
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("t"));
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    uint64_t begin_ms = hub_clock_now_ms();
    client_call(c, "2", "t__a", "{}");
    uint64_t waits_since = hub_clock_now_ms();
    while (hub_clock_now_ms() < waits_since + 30) {
        fixture_spin(&fixture, 1);
    }
    answer(&t, 0);
    fixture_spin(&fixture, 3);
    assert_int_equal(t.count, 2);
    assert_in_range(t.deadline_ms, begin_ms + FIXTURE_LONG_MS, waits_since + FIXTURE_LONG_MS);
    toolset->settings->call_timeout_ms = 20; /* shorter than the queue's */
    client_call(c, "3", "t__a", "{}");
    assert_contains(client_wait(c, "3"), "the call's own timeout");
    fixture_stop(&fixture);
}

/* A toolset that is switched off tells everybody who waits. */
static void test_disabled(void **state)
{
    (void)state;
    (void)init(1, 2);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    client_call(c, "3", "t__a", "{}");
    assert_lacks(client_ask(c, "4", "disable_toolset", "{\"toolset\":\"t\"}"), "isError");
    assert_contains(client_reply(c, "2"), "the toolset was disabled");
    assert_contains(client_reply(c, "3"), "TOOL_UNAVAILABLE");
    assert_int_equal(t.count, 1);
    assert_int_equal(queued(), 0);
    fixture_stop(&fixture);
}

/* Other methods than tools/call wait in the same queue. Their refusal is a JSON-RPC error. */
static void test_other_methods(void **state)
{
    (void)state;
    (void)init(1, 1);
    t.master.resources = "[{\"uri\":\"x:1\",\"name\":\"one\"}]";
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_request(c, "2", "resources/read", "\"uri\":\"x:1\"");
    client_request(c, "3", "resources/read", "\"uri\":\"x:1\"");
    assert_contains(client_reply(c, "3"), "\"code\":-31002");
    assert_contains(client_reply(c, "3"), "max_calls: 1");
    answer(&t, 0);
    fixture_spin(&fixture, 3);
    assert_int_equal(t.count, 2);
    assert_int_equal(puppet_finish(t.master.latest, t.calls[1], "{\"contents\":[]}"), PATCHBAY_OK);
    assert_contains(client_wait(c, "2"), "\"contents\":[]");
    fixture_stop(&fixture);
}

/* As long as a message lets them be. owns:    the result */
static char *largest_arguments(void)
{
    size_t len = HUB_LIMIT_CLIENT_MESSAGE_BYTES - 200;
    char *arguments = malloc(len + 16);
    assert_non_null(arguments);
    memset(arguments, 'x', len);
    memcpy(arguments, "{\"v\":\"", 6);
    memcpy(arguments + len, "\"}", 3);
    return arguments;
}

/* What a client has that waits is bounded in bytes, too: its queue is. */
static void test_held_bytes(void **state)
{
    (void)state;
    (void)init(1, 100);
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    char *arguments = largest_arguments();
    client_call(c, "0", "t__a", "{}");
    unsigned waiting = 0;
    for (unsigned i = 1; i <= 9; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_call(c, id, "t__a", arguments);
        waiting += client_reply(c, id) == NULL;
    }
    assert_int_equal(waiting, HUB_LIMIT_HELD_BYTES / HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    assert_contains(client_reply(c, "9"), "no room for the call to wait");
    assert_true(c->session->held_bytes > 0);
    client_cancel(c, "1");
    client_call(c, "10", "t__a", arguments);
    assert_null(client_reply(c, "10"));
    free(arguments);
    fixture_stop(&fixture);
}

/* … in all its sessions: each request of a client over HTTP may be one. Others have a share. */
static void test_held_bytes_of_sessions(void **state)
{
    (void)state;
    (void)init(1, 100);
    fixture_start(&fixture);
    client *first = client_open(&fixture, LEGACY);
    char *arguments = largest_arguments();
    client_call(first, "0", "t__a", "{}");
    unsigned waiting = 0;
    for (unsigned i = 0; i <= 9; i++) {
        client *c = client_open_as(&fixture, &(client_options){.kind = LEGACY, .principal = "eve"});
        client_call(c, "1", "t__a", arguments);
        waiting += client_reply(c, "1") == NULL;
    }
    assert_int_equal(waiting, HUB_LIMIT_HELD_BYTES / HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    client *bob = client_open_as(&fixture, &(client_options){.kind = LEGACY, .principal = "bob"});
    client_call(bob, "1", "t__a", arguments);
    assert_null(client_reply(bob, "1"));
    free(arguments);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_no_queue),
        cmocka_unit_test(test_one_fills_his_share),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_no_overtaking),
        cmocka_unit_test(test_cancel_and_close),
        cmocka_unit_test(test_queue_timeout),
        cmocka_unit_test(test_queue_timeout_after_set_clock),
        cmocka_unit_test(test_deadline_from_arrival),
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_other_methods),
        cmocka_unit_test(test_held_bytes),
        cmocka_unit_test(test_held_bytes_of_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
