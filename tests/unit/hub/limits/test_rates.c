/* SPDX-License-Identifier: Apache-2.0 */
/* How much a client may ask for (REQUIREMENTS S5.4; RELIABILITY R07, R14). */
#include "fake_wall.h"
#include "gcra_oracle.h"
#include "keeper_support.h"
#include "hub/notices/logging_internal.h"

#include "base/bucket.h"
#include "hub/notices/logging.h"
#include "hub/limits/rates.h"
#include "hub/notices/subscription_internal.h"

static hub_fixture fixture;
static keeper t;

/* ---- requests per second --------------------------------------------------------------------- */

static hub_bucket *rate_of(const hub_session *session)
{
    return hub_session_part(session, &HUB_RATES_STATION);
}

static void init(void)
{
    init_keeper(&t, "[" TOOL("a") "]");
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "t", &t.master, false);
}

static client *open_as(client_kind kind, const char *principal)
{
    return client_open_as(&fixture, &(client_options){.kind = kind, .principal = principal});
}

/* n at once, and one more, which is told when to try again. ping is free, and so is a notification.
 * Another session of the same principal has its own. */
static void test_session_rate(void **state)
{
    (void)state;
    init();
    fixture.settings.limits.calls_per_second = 1;
    fixture.settings.limits.calls_burst = 3;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY); /* initialize is free */
    client *other = client_open(&fixture, LEGACY);
    client_call(c, "1", "t__a", "{}");
    client_call(c, "2", "t__a", "{}");
    assert_non_null(client_list(c, "3"));
    client_call(c, "4", "t__a", "{}");
    const char *reply = client_reply(c, "4");
    assert_contains(reply, "\"code\":-31001");
    assert_contains(reply, "\"limit\":\"limits.calls_per_second\"");
    assert_contains(reply, "\"retryAfter\":");
    assert_contains(reply, "\"retryable\":true");
    assert_int_equal(t.count, 2);
    assert_int_equal(fixture.hub->refused, 1);
    client_request(c, "5", "ping", "");
    assert_contains(client_reply(c, "5"), "\"result\":{}");
    client_cancel(c, "1");
    assert_int_equal(t.cancelled, 1);
    client_call(other, "1", "t__a", "{}");
    assert_int_equal(t.count, 3);
    fixture_stop(&fixture);
}

/* A thousand requests, a few at a time, at a rate of ten: those get in that the algorithm lets in,
 * the others are told which limit it was, and when to come back. */
static void ask_a_thousand(const client_options *as, const char *limit)
{
    const hub_bucket_rate rate = {.per_second = 10, .at_once = 15};
    oracle expected = {0};
    size_t admitted = 0;
    client *c = as->peer == NULL ? client_open_as(&fixture, as) : NULL;
    for (unsigned i = 0; i < 1000; i++) {
        char id[8];
        fake_wall_mono_ms += i % 3 == 0 ? 47 : 0;
        bool is_due = oracle_takes(&expected, fake_wall_mono_ms, rate);
        (void)snprintf(id, sizeof id, "%u", i);
        client *asks = c != NULL ? c : client_open_as(&fixture, as); /* each a session of its own */
        client_call(asks, id, "t__a", "{}");
        const char *reply = client_reply(asks, id);
        admitted += is_due;
        assert_int_equal(t.count, is_due); /* what is refused does not get to its tool */
        if (is_due) {
            assert_null(reply);
            answer(&t, t.count - 1);
            assert_contains(client_reply(asks, id), "\"result\"");
        } else {
            assert_contains(reply, limit);
            assert_contains(reply, "\"retryAfter\":");
        }
        if (c == NULL) {
            client_close(asks);
        }
        t.count = 0; /* answered */
    }
    assert_in_range(admitted, 15, 15 + 334 * 47 * 10 / 1000);
    assert_true(admitted < 200);
}

static void test_a_thousand_requests(void **state)
{
    (void)state;
    for (unsigned shared = 0; shared < 2; shared++) {
        init();
        if (shared) {
            fixture.settings.limits.calls_per_second_per_principal = 10;
            fixture.settings.limits.calls_burst_per_principal = 15;
        } else {
            fixture.settings.limits.calls_per_second = 10;
            fixture.settings.limits.calls_burst = 15;
        }
        const char *limit =
            shared ? "limits.calls_per_second_per_principal" : "limits.calls_per_second\"";
        fixture_start(&fixture);
        fake_wall_mono_ms = hub_clock_now_ms();
        ask_a_thousand(&(client_options){.kind = LEGACY, .principal = "a"}, limit);
        ask_a_thousand(&(client_options){.kind = MODERN, .principal = "b"}, limit);
        ask_a_thousand(&(client_options){.kind = MODERN, .principal = "c", .peer = "192.0.2.1"},
                       limit);
        fake_wall_mono_ms = 0;
        fixture_stop(&fixture);
    }
}

/* Requests without a session are one client's if one principal sends them from one address, over
 * however many connections: rate and calls in flight. Another address, another principal has its own,
 * and so has a session of the same principal. */
static void test_clients_without_sessions(void **state)
{
    (void)state;
    init();
    fixture.settings.limits.calls_per_session = 2;
    fixture.settings.limits.calls_per_second = 1;
    fixture.settings.limits.calls_burst = 5;
    fixture_start(&fixture);
    fake_wall_mono_ms = hub_clock_now_ms();
    const client_options here = {.kind = MODERN, .principal = "one", .peer = "192.0.2.1"};
    client *first = client_open_as(&fixture, &here);
    client *second = client_open_as(&fixture, &here);
    client *third = client_open_as(&fixture, &here);
    client_call(first, "1", "t__a", "{}");
    client_call(second, "1", "t__a", "{}");
    client_call(third, "1", "t__a", "{}");
    assert_contains(client_reply(third, "1"), "\"limit\":\"limits.calls_per_session\"");
    assert_contains(client_reply(third, "1"), "\"retryAfter\":1.000");
    client_close(first); /* cancels */
    client_call(third, "2", "t__a", "{}");
    assert_null(client_reply(third, "2"));
    client *fourth = client_open_as(&fixture, &here);
    client_call(fourth, "1", "t__a", "{}"); /* the fifth at once: let in, and refused a place */
    assert_contains(client_reply(fourth, "1"), "limits.calls_per_session");
    client_call(fourth, "2", "t__a", "{}");
    assert_contains(client_reply(fourth, "2"), "\"limit\":\"limits.calls_per_second\"");
    const client_options others[] = {{.kind = MODERN, .principal = "one", .peer = "192.0.2.2"},
                                     {.kind = MODERN, .principal = "two", .peer = "192.0.2.1"},
                                     {.kind = MODERN, .principal = "one"},
                                     {.kind = LEGACY, .principal = "one"}};
    for (size_t i = 0; i < 4; i++) {
        client *other = client_open_as(&fixture, &others[i]);
        client_call(other, "1", "t__a", "{}");
        assert_null(client_reply(other, "1"));
    }
    fake_wall_mono_ms = 0;
    fixture_stop(&fixture);
}

/* A reload that changes a rate forgives nobody, and keeps nobody out for longer. */
static void test_rates_that_change(void **state)
{
    (void)state;
    init();
    fixture.settings.limits.calls_per_second = 1;
    fixture.settings.limits.calls_burst = 2;
    fixture_start(&fixture);
    fake_wall_mono_ms = hub_clock_now_ms();
    const client_options here = {.kind = MODERN, .principal = "one", .peer = "192.0.2.1"};
    client *session = client_open(&fixture, LEGACY);
    client *request = client_open_as(&fixture, &here);
    for (unsigned i = 0; i < 2; i++) {
        char id[2] = {(char)('1' + i), '\0'};
        client_call(session, id, "t__a", "{}");
        client_call(request, id, "t__a", "{}");
    }
    fixture.settings.limits.calls_per_second = 1000;
    fixture.settings.limits.calls_burst = 1;
    HUB_RATES_STATION.settings_changed(fixture.hub);
    client_call(session, "3", "t__a", "{}");
    client_call(request, "3", "t__a", "{}");
    assert_contains(client_reply(session, "3"), "try again in 1 ms");
    assert_contains(client_reply(request, "3"), "try again in 1 ms");
    fake_wall_mono_ms += 1;
    client_call(session, "4", "t__a", "{}");
    client_call(request, "4", "t__a", "{}");
    assert_null(client_reply(session, "4"));
    assert_null(client_reply(request, "4"));
    fake_wall_mono_ms = 0;
    fixture_stop(&fixture);
}

/* Without a burst of its own, as many at once as per second. */
static void test_burst_default(void **state)
{
    (void)state;
    init();
    fixture.settings.limits.calls_per_second = 4;
    fixture_start(&fixture);
    client *c = client_open(&fixture, MODERN);
    rate_of(c->session)->full = 0;
    uint64_t before_ms = hub_clock_now_ms();
    unsigned taken = 0;
    for (unsigned i = 0; i < 50; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "%u", i);
        client_call(c, id, "t__a", "{}");
        taken += client_reply(c, id) == NULL;
    }
    uint64_t passed_ms = hub_clock_now_ms() - before_ms;
    assert_in_range(taken, 4, 5 + passed_ms * 4 / 1000);
    fixture_stop(&fixture);
}

/* The principal's rate is that of all its sessions, and of sessions that are over: a request over
 * HTTP may be one. Others have their own. A refused request costs its session nothing. */
static void test_principal_rate(void **state)
{
    (void)state;
    init();
    fixture.settings.limits.calls_per_second_per_principal = 1;
    fixture.settings.limits.calls_burst_per_principal = 2;
    fixture.settings.limits.calls_per_second = 1;
    fixture.settings.limits.calls_burst = 3;
    fixture_start(&fixture);
    client *c = open_as(MODERN, "one");
    client_call(c, "1", "t__a", "{}");
    client_close(c);
    client *again = open_as(MODERN, "one");
    client_call(again, "1", "t__a", "{}");
    client_call(again, "2", "t__a", "{}");
    assert_contains(client_reply(again, "2"), "limits.calls_per_second_per_principal");
    hub_bucket own = *rate_of(again->session);
    client_call(again, "3", "t__a", "{}");
    assert_int_equal(rate_of(again->session)->full, own.full);
    client *other = open_as(MODERN, "two");
    client_call(other, "1", "t__a", "{}");
    assert_null(client_reply(other, "1"));
    assert_int_equal(t.count, 3);
    fixture_stop(&fixture);
}

/* A request that has waited for a catalog was admitted when it came. */
static void test_parked_is_admitted_once(void **state)
{
    (void)state;
    init_keeper(&t, NULL);
    fixture_init(&fixture);
    (void)fixture_toolset(&fixture, "up", &t.master, true);
    fixture.settings.limits.calls_per_second = 1;
    fixture.settings.limits.calls_burst = 1;
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    client_request(c, "1", "tools/list", "");
    assert_null(client_reply(c, "1"));
    give_catalog(&t, "[" TOOL("a") "]");
    assert_contains(client_wait(c, "1"), "up__a");
    fixture_stop(&fixture);
}

/* ---- accounts -------------------------------------------------------------------------------- */

/* Where nothing is counted, nothing is kept; what is counted is kept until the bucket is full. */
static void test_accounts(void **state)
{
    (void)state;
    init();
    fixture_start(&fixture);
    client_close(open_as(MODERN, "one"));
    assert_null(fixture.hub->principals);
    client *a = open_as(MODERN, "one");
    client *b = open_as(MODERN, "one");
    assert_ptr_equal(a->session->principal, b->session->principal);
    client_close(a);
    assert_non_null(fixture.hub->principals);
    client_close(b);
    assert_null(fixture.hub->principals);
    fixture_stop(&fixture);
}

static void leave_with_debt(unsigned number)
{
    char name[16];
    (void)snprintf(name, sizeof name, "p%u", number);
    hub_principal *principal = hub_principal_join(fixture.hub, name);
    assert_non_null(principal);
    hub_bucket_spend(hub_principal_part(principal, &HUB_RATES_STATION), hub_clock_now_ms(),
                     (hub_bucket_rate){.per_second = 1, .at_once = 1});
    hub_principal_leave(fixture.hub, principal);
}

/* R14: as many principals are remembered as the limit says, and one more makes the oldest go. */
static void test_idle_accounts(void **state)
{
    (void)state;
    init();
    fixture.settings.limits.calls_per_second_per_principal = 1;
    fixture.settings.limits.calls_burst_per_principal = HUB_BUCKET_MOST;
    fixture_start(&fixture);
    fixture.settings.limits.calls_burst_per_principal = 1;
    for (unsigned i = 0; i < HUB_LIMIT_IDLE_ACCOUNTS; i++) {
        leave_with_debt(i);
    }
    size_t before = fixture.hub->idle_count;
    assert_in_range(before, 1, HUB_LIMIT_IDLE_ACCOUNTS);
    for (unsigned i = 0; i < HUB_LIMIT_IDLE_ACCOUNTS; i++) {
        leave_with_debt(HUB_LIMIT_IDLE_ACCOUNTS + i);
        assert_true(fixture.hub->idle_count <= HUB_LIMIT_IDLE_ACCOUNTS);
    }
    fixture_stop(&fixture);
}

/* ---- calls in flight of a principal ---------------------------------------------------------- */

/* R07: n in flight, in whichever sessions, and one more; room again after an answer, a cancel and
 * the end of a session. */
static void test_calls_per_principal(void **state)
{
    (void)state;
    init();
    fixture.settings.limits.calls_per_principal = 3;
    fixture_start(&fixture);
    client *a = open_as(LEGACY, "greedy");
    client *b = open_as(MODERN, "greedy");
    client *modest = open_as(LEGACY, "modest");
    client_call(a, "1", "t__a", "{}");
    client_call(a, "2", "t__a", "{}");
    client_call(b, "1", "t__a", "{}");
    assert_int_equal(hub_principal_in_flight(a->session->principal), 3);
    client_call(b, "2", "t__a", "{}");
    const char *reply = client_reply(b, "2");
    assert_contains(reply, "\"code\":-31001");
    assert_contains(reply, "\"limit\":\"limits.calls_per_principal\"");
    client_call(modest, "1", "t__a", "{}");
    assert_null(client_reply(modest, "1"));
    answer(&t, 0);
    client_call(b, "3", "t__a", "{}");
    assert_null(client_reply(b, "3"));
    client_cancel(b, "3");
    client_call(b, "4", "t__a", "{}");
    assert_null(client_reply(b, "4"));
    client_close(a);
    assert_int_equal(hub_principal_in_flight(b->session->principal), 2);
    client_call(b, "5", "t__a", "{}");
    assert_null(client_reply(b, "5"));
    client_call(b, "6", "t__a", "{}");
    assert_non_null(client_reply(b, "6"));
    fixture_stop(&fixture);
}

/* ---- what clients are told ------------------------------------------------------------------- */

static void say(const char *data)
{
    char params[128];
    (void)snprintf(params, sizeof params, "{\"level\":\"error\",\"data\":\"%s\"}", data);
    hub_logging_broadcast(hub_find_toolset(fixture.hub, HUB_STR("t")), hub_str_of(params));
}

/* As many log messages as the limit at once, and one more: it is left out, and the next one that is
 * sent says so first, at its own level. Another session has its own. */
static void test_log_messages(void **state)
{
    (void)state;
    init();
    t.master.capabilities = "{\"logging\":{}}";
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    const hub_bucket_rate rate = {.per_second = HUB_LIMIT_LOG_MESSAGES_PER_S,
                                  .at_once = HUB_LIMIT_LOG_MESSAGES_BURST};
    uint64_t before_ms = hub_clock_now_ms();
    for (unsigned i = 0; i < HUB_LIMIT_LOG_MESSAGES_BURST; i++) {
        say("first");
    }
    assert_int_equal(client_count(c, "\"first\""), HUB_LIMIT_LOG_MESSAGES_BURST);
    hub_logging_in(c->session)->messages.full =
        (before_ms + FIXTURE_LONG_MS) * rate.per_second; /* none is earned while the test runs */
    say("lost");
    say("lost");
    say("lost");
    assert_int_equal(client_count(c, "lost"), 0);
    assert_int_equal(hub_logging_in(c->session)->dropped, 3);
    client *other = client_open(&fixture, LEGACY);
    say("other");
    assert_int_equal(client_count(other, "\"other\""), 1);
    hub_logging_in(c->session)->messages.full =
        hub_clock_now_ms() * rate.per_second + (rate.at_once - 1) * HUB_BUCKET_TOKEN;
    client_clear(c);
    say("next");
    assert_int_equal(c->count, 2);
    assert_contains(c->messages[0], "{\"level\":\"error\",\"logger\":\"patchbay\",\"data\":"
                                    "\"4 messages were left out here");
    assert_contains(c->messages[1], "\"next\"");
    hub_logging_in(c->session)->dropped = 7;
    client_close(c);
    assert_true(fixture_logged(&fixture, "client.log_dropped transport=test count=7"));
    fixture_stop(&fixture);
}

static void change(puppet_instance *instance, const char *uri)
{
    (void)instance->catalog->updated(instance->host, puppet_str(uri));
}

/* As many changes as the limit at once; of what comes more often each subscription is told once, as
 * soon as there is room, and none of one that has ended. */
static void test_updates(void **state)
{
    (void)state;
    init();
    t.master.capabilities = "{\"resources\":{\"subscribe\":true}}";
    t.master.resources = "[{\"uri\":\"x:1\",\"name\":\"one\"},{\"uri\":\"x:2\",\"name\":\"two\"},"
                         "{\"uri\":\"x:3\",\"name\":\"three\"}]";
    fixture_start(&fixture);
    client *c = client_open(&fixture, LEGACY);
    for (unsigned i = 0; i < 3; i++) {
        char id[8];
        char params[32];
        (void)snprintf(id, sizeof id, "%u", i);
        (void)snprintf(params, sizeof params, "\"uri\":\"x:%u\"", i + 1);
        client_request(c, id, "resources/subscribe", params);
        if (i < t.count) {
            assert_int_equal(puppet_finish(t.master.latest, t.calls[i], "{}"), PATCHBAY_OK);
        }
        assert_contains(client_wait(c, id), "\"result\"");
    }
    client_clear(c);
    size_t wanted = HUB_LIMIT_UPDATES_BURST;
    for (size_t i = 0; i < wanted; i++) {
        change(t.master.latest, "x:1");
    }
    assert_int_equal(client_count(c, "resources/updated"), wanted);
    fake_wall_step_s = 3600;        /* somebody sets the clock: it is the same */
    change(t.master.latest, "x:2"); /* one more: it comes when its time has */
    fake_wall_step_s = 0;
    wanted++;
    while (client_count(c, "resources/updated") < wanted) {
        ev_run(fixture.loop, EVRUN_ONCE);
    }
    assert_null(hub_notices_in(c->session)->updates_due);
    hub_notices_in(c->session)->updates.full = /* the next is far away */
        (hub_clock_now_ms() + FIXTURE_LONG_MS) * HUB_LIMIT_UPDATES_PER_S;
    for (unsigned i = 0; i < 1000; i++) {
        change(t.master.latest, "x:1");
        change(t.master.latest, "x:2");
        change(t.master.latest, "x:3");
    }
    change(t.master.latest, "x:1"); /* it keeps its place */
    fixture_spin(&fixture, 50);
    assert_int_equal(c->count, wanted);
    size_t due = 0;
    for (const hub_subscriber *at = hub_notices_in(c->session)->updates_due; at != NULL && due <= 3;
         at = at->due_next) {
        due++;
    }
    assert_int_equal(due, 3);
    client_request(c, "\"u\"", "resources/unsubscribe", "\"uri\":\"x:3\"");
    client_clear(c);
    hub_notices_in(c->session)->updates.full = 0;
    ev_feed_event(fixture.loop, &hub_notices_in(c->session)->updates_timer, EV_TIMER);
    fixture_spin(&fixture, 1);
    assert_int_equal(client_count(c, "resources/updated"), 2);
    assert_int_equal(client_count(c, "x:1"), 1);
    assert_int_equal(client_count(c, "x:2"), 1);
    assert_int_equal(client_count(c, "x:3"), 0);
    assert_null(hub_notices_in(c->session)->updates_due);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thousand_requests),
        cmocka_unit_test(test_clients_without_sessions),
        cmocka_unit_test(test_rates_that_change),
        cmocka_unit_test(test_session_rate),
        cmocka_unit_test(test_burst_default),
        cmocka_unit_test(test_principal_rate),
        cmocka_unit_test(test_parked_is_admitted_once),
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_idle_accounts),
        cmocka_unit_test(test_calls_per_principal),
        cmocka_unit_test(test_log_messages),
        cmocka_unit_test(test_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
