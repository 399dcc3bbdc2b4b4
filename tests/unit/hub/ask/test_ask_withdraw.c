/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that a toolset takes back, towards clients of both eras (patchbay/client.h). */
#include "ask_modern_support.h"

#include <pthread.h>

static client *open_legacy(void)
{
    return client_open_as(&fixture, &(client_options){.kind = LEGACY, .capabilities = ALL});
}

static int32_t withdraw(uint64_t call, const char *key)
{
    return tool.client->withdraw(tool.instance->host, (patchbay_call){.id = call}, puppet_str(key));
}

/* 2025-11-25 basic/utilities/cancellation: the client is told, the toolset hears that there is no
 * answer, and the call goes on. */
static void test_legacy(void **state)
{
    puppet master = {0};
    (void)state;
    for (int by_id = 0; by_id <= 1; by_id++) {
        start(&master);
        client *c = open_legacy();
        client_call(c, "\"1\"", "t__a", "{}");
        fixture_spin(&fixture, 1);
        uint64_t id = client_asked(c, NULL);
        client_clear(c);
        assert_int_equal(withdraw(by_id ? tool.call.id : 0, "k"), PATCHBAY_OK);
        assert_int_equal(tool.count, 0); /* later, never within */
        char want[64];
        (void)snprintf(want, sizeof want, "\"params\":{\"requestId\":%llu,",
                       (unsigned long long)id);
        assert_int_equal(c->count, 1);
        assert_contains(c->messages[0], "notifications/cancelled");
        assert_contains(c->messages[0], want);
        assert_int_equal(withdraw(tool.call.id, "k"), PATCHBAY_ENOTFOUND); /* once */
        fixture_spin(&fixture, 1);
        assert_int_equal(tool.count, 1);
        assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
        assert_string_equal(tool.answers[0].json, "the question was taken back");
        client_answer(c, id, "{\"action\":\"accept\"}"); /* it had not read that yet */
        assert_int_equal(tool.count, 1);
        asker_finish(&tool, tool.call.id, "{\"content\":[]}");
        assert_contains(client_reply(c, "\"1\""), "\"content\":[]");
        fixture_stop(&fixture);
    }
}

/* One that was not sent yet is never sent; another of the same call stays. */
static void test_before_it_is_sent(void **state)
{
    puppet master = {.on_call = asker_called};
    (void)state;
    start(&master);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(asker_elicit(&tool, 'a', "a"), PATCHBAY_OK);
    assert_int_equal(asker_elicit(&tool, 'b', "b"), PATCHBAY_OK);
    assert_int_equal(withdraw(tool.call.id, "a"), PATCHBAY_OK);
    fixture_spin(&fixture, 1);
    assert_int_equal(c->count, 1);
    assert_int_equal(tool.count, 1);
    assert_int_equal(tool.answers[0].name, 'a');
    tool.on_answer = NULL;
    client_answer(c, client_asked(c, NULL), "{\"action\":\"accept\"}");
    assert_int_equal(tool.answers[1].name, 'b');
    assert_int_equal(tool.answers[1].status, PATCHBAY_ANSWERED);
    asker_finish(&tool, tool.call.id, "{\"content\":[]}");
    fixture_stop(&fixture);
}

static void test_nothing_to_take_back(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    assert_int_equal(withdraw(0, "k"), PATCHBAY_ENOTFOUND);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(withdraw(tool.call.id, ""), PATCHBAY_EINVAL);
    assert_int_equal(withdraw(tool.call.id, "other"), PATCHBAY_ENOTFOUND);
    assert_int_equal(withdraw(tool.call.id + 1, "k"), PATCHBAY_ENOTFOUND);
    fixture_spin(&fixture, 1);
    client_answer(c, client_asked(c, NULL), "{}");
    assert_int_equal(withdraw(0, "k"), PATCHBAY_ENOTFOUND);
    assert_int_equal(tool.count, 1);
    fixture_stop(&fixture);
}

/* The client has the question already and cannot be told: its answer counts for nothing, but it has
 * to come back before it can be given a result. */
static void test_modern(void **state)
{
    puppet master = {0};
    (void)state;
    for (int is_early = 0; is_early <= 1; is_early++) {
        start(&master);
        client *c = open_by("ann");
        char *state_text = begin(c, "\"1\"");
        assert_int_equal(withdraw(0, "k"), PATCHBAY_OK);
        fixture_spin(&fixture, 1);
        assert_int_equal(tool.count, 1);
        assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
        if (is_early) {
            asker_finish(&tool, tool.call.id, "{\"content\":[],\"done\":1}");
        }
        retry(c, "\"2\"", state_text, "{\"k\":{\"action\":\"accept\"}}");
        assert_int_equal(tool.count, 1);
        if (!is_early) {
            assert_null(client_reply(c, "\"2\""));
            asker_finish(&tool, tool.call.id, "{\"content\":[],\"done\":1}");
        }
        assert_contains(client_reply(c, "\"2\""), "\"done\":1");
        assert_int_equal(hub_asks_waiting(fixture.hub), 0);
        free(state_text);
        fixture_stop(&fixture);
    }
}

/* What is asked instead, while the client is away, goes out when it is back. */
static void test_modern_asked_anew(void **state)
{
    puppet master = {0};
    (void)state;
    start(&master);
    tool.on_answer = NULL;
    client *c = open_by("ann");
    char *one = begin(c, "\"1\"");
    assert_int_equal(withdraw(tool.call.id, "k"), PATCHBAY_OK);
    assert_int_equal(asker_elicit(&tool, 'n', "new"), PATCHBAY_OK);
    fixture_spin(&fixture, 2);
    assert_int_equal(c->count, 1);
    retry(c, "\"2\"", one, "{\"k\":{}}");
    const char *reply = client_wait(c, "\"2\"");
    assert_contains(reply, "\"new\":{");
    assert_lacks(reply, "\"k\":{");
    char *two = state_of(reply);
    retry(c, "\"3\"", two, "{\"new\":{\"action\":\"accept\"}}");
    assert_int_equal(tool.count, 2);
    assert_int_equal(tool.answers[1].name, 'n');
    assert_int_equal(tool.answers[1].status, PATCHBAY_ANSWERED);
    asker_finish(&tool, tool.call.id, "{\"content\":[]}");
    assert_non_null(client_reply(c, "\"3\""));
    free(one);
    free(two);
    fixture_stop(&fixture);
}

/* A client that does not come back costs no more than its time. */
static void test_modern_never_returns(void **state)
{
    puppet master = {0};
    (void)state;
    start_with(&master, 1000);
    client *c = open_by("ann");
    char *text = begin(c, "\"1\"");
    assert_int_equal(withdraw(0, "k"), PATCHBAY_OK);
    while (master.cancels == 0) {
        ev_run(fixture.loop, EVRUN_ONCE);
    }
    assert_int_equal(hub_call_count(fixture.hub->calls), 0);
    free(text);
    fixture_stop(&fixture);
}

/* From another thread, after the question: in that order. */
static void *ask_and_withdraw(void *arg)
{
    (void)arg;
    assert_int_equal(asker_elicit(&tool, 't', "thread"), PATCHBAY_OK);
    assert_int_equal(withdraw(tool.call.id, "thread"), PATCHBAY_OK);
    assert_int_equal(withdraw(tool.call.id, ""), PATCHBAY_EINVAL);
    return NULL;
}

static bool has_answer(void *ctx)
{
    (void)ctx;
    return tool.count > 0;
}

static void test_thread(void **state)
{
    puppet master = {.on_call = asker_called};
    pthread_t thread;
    (void)state;
    start(&master);
    client *c = open_legacy();
    client_call(c, "\"1\"", "t__a", "{}");
    assert_int_equal(pthread_create(&thread, NULL, ask_and_withdraw, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    fixture_run_until(&fixture, has_answer, NULL);
    assert_int_equal(tool.answers[0].status, PATCHBAY_NO_ANSWER);
    assert_int_equal(client_count(c, "elicitation/create"), client_count(c, "cancelled"));
    asker_finish(&tool, tool.call.id, "{\"content\":[]}");
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_before_it_is_sent),
        cmocka_unit_test(test_nothing_to_take_back),
        cmocka_unit_test(test_modern),
        cmocka_unit_test(test_modern_asked_anew),
        cmocka_unit_test(test_modern_never_returns),
        cmocka_unit_test(test_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
