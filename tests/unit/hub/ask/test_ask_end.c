/* SPDX-License-Identifier: Apache-2.0 */
/* How questions end without an answer: whatever dies, and whoever stops, each ends exactly once,
 * before the toolset is destroyed. And what is asked on other threads. */
#include "ask_support.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/ask/ask.h"

#include <pthread.h>

static hub_fixture fixture;
static asker tool;
static size_t told_at_destroy; /* answers heard when destroy() came */

static void on_destroy(puppet_instance *instance)
{
    (void)instance;
    told_at_destroy = tool.count;
}

static void start(puppet *master)
{
    told_at_destroy = SIZE_MAX;
    master->on_destroy = on_destroy;
    asker_start(&fixture, master, &tool);
}

static client *open_legacy(void)
{
    return client_open_as(&fixture, &(client_options){.kind = LEGACY, .capabilities = ALL});
}

static client *open_modern(void)
{
    return client_open_as(&fixture, &(client_options){.kind = MODERN, .capabilities = ALL});
}

/* A legacy client with one question open. */
static client *ask_legacy(void)
{
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_elicit(&tool, 'k', "k"), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    assert_true(client_asked(c, NULL) > 0);
    return c;
}

/* All questions have ended, without an answer. */
static void expect_no_answers(size_t count)
{
    fixture_spin(&fixture, 2);
    assert_int_equal(tool.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(tool.answers[i].status, PATCHBAY_NO_ANSWER);
        assert_true(tool.answers[i].json[0] != '\0');
    }
}

/* 2025-11-25 basic/utilities/cancellation: what is not needed any more is taken back, and before
 * the answer, since nothing may follow that. */
static void test_finished_with_an_open_question(void **state)
{
    puppet master = {0};
    char want[96];
    (void)state;
    start(&master);
    client *c = ask_legacy();
    uint64_t id = client_asked(c, NULL);
    asker_finish(&tool, tool.call.id, "{\"content\":[]}");
    assert_int_equal(tool.count, 0); /* never within another call of the toolset's */
    assert_int_equal(c->count, 3);
    (void)snprintf(want, sizeof want,
                   "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%llu,",
                   (unsigned long long)id);
    assert_contains(c->messages[1], want);
    assert_contains(c->messages[2], "\"id\":\"1\",\"result\"");
    expect_no_answers(1);
    client_answer(c, id, "{}"); /* too late */
    assert_int_equal(tool.count, 1);
    fixture_stop(&fixture);
}

/* A question that did not go out is not taken back. */
static void test_finished_in_the_same_turn(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *clients[] = {open_legacy(), open_modern()};
    for (size_t i = 0; i < 2; i++) {
        client_call(clients[i], "\"1\"", "t__a", "{}");
        assert_int_equal(asker_elicit(&tool, 'k', "k"), PATCHBAY_OK);
        asker_finish(&tool, tool.call.id, "{\"content\":[]}");
        expect_no_answers(i + 1);
        assert_int_equal(clients[i]->count, 1);
        assert_contains(clients[i]->messages[0], "\"content\":[]");
    }
    assert_int_equal(hub_asks_waiting(fixture.hub), 0);
    fixture_stop(&fixture);
}

static void test_cancelled(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = ask_legacy();
    client_cancel(c, "\"1\"");
    assert_int_equal(master.cancels, 1);
    expect_no_answers(1);
    assert_int_equal(client_count(c, "notifications/cancelled"), 1);
    assert_null(client_reply(c, "\"1\""));
    client_answer(c, client_asked(c, NULL), "{}");
    assert_int_equal(tool.count, 1);
    fixture_stop(&fixture);
}

static void test_client_gone(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client_close(ask_legacy()); /* the fixture sees to it that nothing is written */
    assert_int_equal(master.cancels, 1);
    expect_no_answers(1);
    client *c = open_modern(); /* gone before it was sent away */
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_elicit(&tool, 'k', "k"), PATCHBAY_OK);
    client_close(c);
    assert_int_equal(master.cancels, 2);
    expect_no_answers(2);
    assert_int_equal(hub_asks_waiting(fixture.hub), 0);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    fixture_stop(&fixture);
}

/* A client that does not read cannot be asked: the call fails, it does not wait. */
static void test_client_does_not_read(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_elicit(&tool, 'k', "k"), PATCHBAY_OK);
    assert_int_equal(asker_elicit(&tool, 'l', "l"), PATCHBAY_OK);
    c->refuses = HUB_ELIMIT;
    expect_no_answers(2);
    assert_int_equal(master.cancels, 1);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    fixture_stop(&fixture);
}

static bool is_answered(void *ctx)
{
    return client_reply(ctx, "\"1\"") != NULL;
}

static void test_client_does_not_answer(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    fixture.settings.limits.ask_timeout_ms = 5;
    client *c = ask_legacy();
    fixture_run_until(&fixture, is_answered, c);
    assert_contains(client_reply(c, "\"1\""),
                    "the client was asked for input and did not answer within 5 ms");
    assert_contains(client_reply(c, "\"1\""), "\"isError\":true");
    assert_int_equal(master.cancels, 1);
    expect_no_answers(1);
    assert_string_equal(tool.answers[0].json, "the client did not answer in time");
    assert_int_equal(client_count(c, "notifications/cancelled"), 1);
    fixture_stop(&fixture);
}

/* The clock of a call stands still while its client is asked, and runs again afterwards. */
static void test_clock_stands_still(void **state)
{
    puppet master = {0};
    (void)state;
    memset(&tool, 0, sizeof tool);
    master = (puppet){.tools = "[" TOOL("a") "]",
                      .ctx = &tool,
                      .on_create = asker_created,
                      .on_call = asker_called_elicits};
    fixture_init(&fixture);
    fixture.settings.limits.call_ceiling_ms = 10;
    fixture_toolset(&fixture, "t", &master, true)->call_timeout_ms = 5;
    fixture_start(&fixture);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    const hub_call *call = hub_call_at(fixture.hub->calls, tool.call.id);
    uint64_t ceiling_ms = call->ceiling_ms;
    for (int i = 0; i < 2; i++) {
        uint64_t begin_ms = hub_clock_now_ms();
        while (hub_clock_now_ms() - begin_ms < 20) {
            fixture_settle(&fixture);
        }
        assert_null(client_reply(c, "\"1\""));
        if (i == 0) { /* progress does not start it */
            puppet_instance *at = tool.instance;
            assert_int_equal(at->api->notify(at->host, tool.call, puppet_str("{\"progress\":1}")),
                             PATCHBAY_OK);
        }
    }
    client_answer(c, client_asked(c, NULL), "{}");
    assert_int_equal(tool.count, 1);
    assert_true(call->ceiling_ms >= ceiling_ms + 40);
    assert_contains(client_wait(c, "\"1\""), "no answer within"); /* of the tool, this time */
    fixture_stop(&fixture);
}

static bool is_destroyed(void *ctx)
{
    const puppet *master = ctx;
    return master->destroys > 0;
}

static void test_toolset_disabled(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *legacy = ask_legacy();
    client *modern = open_modern();
    client_call(modern, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_elicit(&tool, 'k', "k"), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    char *one = state_of(client_wait(modern, "\"1\""));
    client_call(legacy, "\"2\"", "disable_toolset", "{\"toolset\":\"t\"}");
    fixture_run_until(&fixture, is_destroyed, &master);
    assert_int_equal(told_at_destroy, 2);
    expect_no_answers(2);
    assert_int_equal(master.cancels, 2);
    assert_contains(client_reply(legacy, "\"1\""), "the toolset was disabled");
    /* The other client hears of it when it is back. */
    client_retry(modern, "\"3\"", "t__a", "{}", one, "{\"k\":{}}");
    assert_contains(client_reply(modern, "\"3\""), "the toolset was disabled");
    assert_int_equal(tool.count, 2);
    free(one);
    fixture_stop(&fixture);
}

static void test_hub_stops(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *legacy = ask_legacy();
    client *modern = open_modern();
    client_call(modern, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_elicit(&tool, 'k', "k"), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    char *one = state_of(client_wait(modern, "\"1\""));
    hub_orchestrator_stop(fixture.hub);
    assert_contains(client_reply(legacy, "\"1\""), "shutting down");
    assert_int_equal(master.cancels, 2);
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    client_retry(modern, "\"2\"", "t__a", "{}", one, "{\"k\":{}}");
    assert_contains(client_reply(modern, "\"2\""), "shutting down");
    free(one);
    fixture_stop(&fixture); /* what has not been told until now is told before destroy() */
    assert_int_equal(told_at_destroy, 2);
    assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
    assert_int_equal(tool.answers[1].status, PATCHBAY_NO_ANSWER);
}

/* A toolset that ends another of its calls when it hears that a question was in vain. */
static void finish_the_other(asker *a, const asker_answer *answer)
{
    (void)answer;
    (void)puppet_finish(a->instance, a->call, "{}");
}

static void cancel_finishes_the_other(puppet_instance *instance, patchbay_call call)
{
    (void)call;
    (void)puppet_finish(instance, tool.call, "{}");
}

static void test_ends_within_ends(void **state)
{
    puppet master = {.on_cancel = cancel_finishes_the_other};
    (void)state;
    start(&master);
    tool.on_answer = finish_the_other;
    client *clients[] = {open_modern(), open_modern(), open_modern()};
    for (size_t i = 0; i < 3; i++) {
        client_call(clients[i], "\"1\"", "t__a", "{}");
        assert_int_equal(asker_elicit(&tool, 'k', "k"), PATCHBAY_OK);
        fixture_spin(&fixture, 1);
    }
    assert_int_equal(hub_asks_waiting(fixture.hub), 3);
    hub_orchestrator_stop(fixture.hub);
    assert_int_equal(hub_asks_waiting(fixture.hub), 0);
    fixture_stop(&fixture);
    assert_int_equal(told_at_destroy, 3);
}

/* ---- other threads --------------------------------------------------------------------------- */

static void *ask_elsewhere(void *arg)
{
    (void)arg;
    (void)asker_elicit(&tool, 't', "t");
    return NULL;
}

/* Ask on another thread, and wait until it has said so. */
static void ask_on_a_thread(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static bool was_asked(void *ctx)
{
    return client_asked(ctx, NULL) > 0;
}

static bool was_told(void *ctx)
{
    (void)ctx;
    return tool.count > 0;
}

static void test_ask_on_a_thread(void **state)
{
    puppet master = {0};
    const char *text = NULL;
    (void)state;
    start(&master);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    ask_on_a_thread();
    assert_int_equal(tool.result, PATCHBAY_OK);
    assert_int_equal(c->count, 0);
    fixture_run_until(&fixture, was_asked, c);
    uint64_t id = client_asked(c, &text);
    assert_contains(text, "\"params\":" ELICIT "}");
    client_answer(c, id, "{\"action\":\"accept\"}");
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].name, 't');
    assert_int_equal(tool.answers[0].status, PATCHBAY_ANSWERED);
    fixture_stop(&fixture);
}

/* What cannot be known there is told afterwards, once. */
static void test_ask_on_a_thread_in_vain(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_elicit(&tool, 'k', "t"), PATCHBAY_OK); /* the same key */
    ask_on_a_thread();
    assert_int_equal(tool.result, PATCHBAY_OK);
    fixture_run_until(&fixture, was_told, NULL);
    assert_int_equal(tool.answers[0].name, 't');
    assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
    assert_string_equal(tool.answers[0].json, "the key of the question is used already");
    client_answer(c, client_asked(c, NULL), "{}");
    asker_finish(&tool, tool.call.id, "{}");
    ask_on_a_thread();
    assert_int_equal(tool.count, 2);
    fixture_spin(&fixture, 2);
    assert_int_equal(tool.count, 3);
    assert_string_equal(tool.answers[2].json, "the call is over");
    client_close(c);
    c = client_open(&fixture, LEGACY); /* can nothing */
    client_call(c, "\"1\"", "t__a", "{}");
    ask_on_a_thread();
    fixture_spin(&fixture, 2);
    assert_int_equal(tool.count, 4);
    assert_contains(tool.answers[3].json, "did not declare the capability");
    fixture_stop(&fixture);
}

/* Asked just before the toolset ends: told before it is destroyed. */
static void test_thread_and_the_end(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    ask_on_a_thread(); /* the loop has not heard it yet */
    assert_int_equal(tool.result, PATCHBAY_OK);
    client_call(c, "\"2\"", "disable_toolset", "{\"toolset\":\"t\"}");
    assert_int_equal(tool.count, 0);
    ask_on_a_thread(); /* and this is later than the end */
    assert_int_equal(tool.result, PATCHBAY_ESTATE);
    fixture_run_until(&fixture, is_destroyed, &master);
    assert_int_equal(told_at_destroy, 1);
    assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
    fixture_stop(&fixture);
}

/* The mailbox bounds what a thread can ask before the loop hears of it. */
static void test_too_much_from_threads(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    size_t taken = 0;
    do {
        ask_on_a_thread();
        taken += tool.result == PATCHBAY_OK;
    } while (tool.result == PATCHBAY_OK);
    assert_int_equal(tool.result, PATCHBAY_ELIMIT);
    assert_int_equal(taken, HUB_LIMIT_PLUGIN_MAILS);
    fixture_stop(&fixture);
    assert_int_equal(tool.count, taken);
    assert_int_equal(told_at_destroy, taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finished_with_an_open_question),
        cmocka_unit_test(test_finished_in_the_same_turn),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_client_gone),
        cmocka_unit_test(test_client_does_not_read),
        cmocka_unit_test(test_client_does_not_answer),
        cmocka_unit_test(test_clock_stands_still),
        cmocka_unit_test(test_toolset_disabled),
        cmocka_unit_test(test_hub_stops),
        cmocka_unit_test(test_ends_within_ends),
        cmocka_unit_test(test_ask_on_a_thread),
        cmocka_unit_test(test_ask_on_a_thread_in_vain),
        cmocka_unit_test(test_thread_and_the_end),
        cmocka_unit_test(test_too_much_from_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
