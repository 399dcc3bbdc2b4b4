/* SPDX-License-Identifier: Apache-2.0 */
/* Places of a toolset (max_calls) whose users do not answer: one of them does not keep all from others. */
#include "ask_modern_support.h"
#include "fake_wall.h"

#include "base/clock.h"

enum { PLACES = 3, WAIT_MS = 1000 };

static puppet master;

static void begin_test(void)
{
    master = (puppet){.on_call = asker_called_elicits};
    fake_wall_mono_ms = 0;
    start(&master);
    hub_toolset *toolset = hub_find_toolset(fixture.hub, HUB_STR("t"));
    assert_non_null(toolset);
    toolset->settings->max_calls = PLACES;
    toolset->settings->queue = 10;
    toolset->settings->queue_timeout_ms = WAIT_MS;
    hub_review(fixture.hub);
    fake_wall_mono_ms = hub_clock_now_ms();
}

static void end_test(void)
{
    fake_wall_mono_ms = 0;
    fixture_stop(&fixture);
}

static client *open_asked(client_kind kind, const char *principal)
{
    return client_open_as(
        &fixture, &(client_options){.kind = kind, .capabilities = ALL, .principal = principal});
}

/* Each a little later than the one before. */
static void call(client *c, const char *id)
{
    fake_wall_mono_ms++;
    client_call(c, id, "t__a", "{}");
    fixture_spin(&fixture, 3);
}

/* More than that. */
static void let_time_pass(uint64_t ms)
{
    fake_wall_mono_ms += ms + 1;
    fixture_spin(&fixture, 5);
}

static void expect_no_place(const client *c, const char *id)
{
    assert_contains(client_reply(c, id), "none of its max_calls (3) became free");
}

/* Others get in, until one more would have less than whom it takes a place from. */
static void give_others_their_share(client_kind kind)
{
    begin_test();
    client *eve = open_asked(kind, "eve");
    call(eve, "\"c1\"");
    call(eve, "\"c2\"");
    call(eve, "\"c3\"");
    assert_int_equal(master.calls, PLACES);
    client *bob = open_asked(LEGACY, "bob");
    call(bob, "\"c1\"");
    assert_int_equal(master.calls, PLACES);
    let_time_pass(WAIT_MS);
    assert_int_equal(master.calls, PLACES + 1); /* his, instead of her oldest */
    assert_int_equal(master.cancels, 1);
    client *ann = open_asked(LEGACY, "ann");
    call(ann, "\"c1\"");
    let_time_pass(WAIT_MS);
    assert_int_equal(master.calls, PLACES + 2);
    assert_int_equal(master.cancels, 2);
    client *joe = open_asked(LEGACY, "joe"); /* each of the others has one */
    call(joe, "\"c1\"");
    call(bob, "\"c2\"");
    let_time_pass(WAIT_MS);
    expect_no_place(joe, "\"c1\"");
    expect_no_place(bob, "\"c2\"");
    assert_int_equal(master.calls, PLACES + 2);
    assert_int_equal(master.cancels, 2);
    assert_null(client_reply(bob, "\"c1\""));
    if (kind == LEGACY) {
        assert_contains(client_reply(eve, "\"c1\""),
                        "did not answer, while calls of others waited");
        assert_contains(client_reply(eve, "\"c2\""),
                        "did not answer, while calls of others waited");
        assert_null(client_reply(eve, "\"c3\""));
    }
    end_test();
}

static void test_who_is_asked_in_between(void **state)
{
    (void)state;
    give_others_their_share(LEGACY);
}

static void test_who_is_sent_away(void **state)
{
    (void)state;
    give_others_their_share(MODERN);
}

/* Whose questions are younger than the time that others wait, or who asks nobody, keeps all places. */
static void test_who_may_answer_yet(void **state)
{
    (void)state;
    begin_test();
    master.on_call = asker_called;
    client *eve = open_asked(LEGACY, "eve");
    uint64_t calls[PLACES];
    for (size_t i = 0; i < PLACES; i++) {
        const char *const ids[PLACES] = {"\"c1\"", "\"c2\"", "\"c3\""};
        call(eve, ids[i]);
        calls[i] = tool.call.id;
    }
    client *bob = open_asked(LEGACY, "bob");
    call(bob, "\"c1\"");
    let_time_pass(WAIT_MS / 2);
    for (size_t i = 0; i < PLACES; i++) {
        assert_int_equal(asker_ask(&tool, calls[i], 'k', "k", "elicitation/create", ELICIT),
                         PATCHBAY_OK);
    }
    let_time_pass(WAIT_MS / 2);
    expect_no_place(bob, "\"c1\"");
    assert_int_equal(master.cancels, 0);
    end_test();
}

/* Each has one, though their clients are away: there is none to give. */
static void test_one_of_each(void **state)
{
    (void)state;
    begin_test();
    call(open_asked(MODERN, "eve"), "\"c1\"");
    call(open_asked(MODERN, "ann"), "\"c1\"");
    call(open_asked(MODERN, "joe"), "\"c1\"");
    client *bob = open_asked(LEGACY, "bob");
    call(bob, "\"c1\"");
    let_time_pass(WAIT_MS);
    expect_no_place(bob, "\"c1\"");
    assert_int_equal(master.cancels, 0);
    end_test();
}

/* A client that waits behind its own questions waits for itself. */
static void test_ones_own(void **state)
{
    (void)state;
    begin_test();
    client *eve = open_asked(LEGACY, "eve");
    call(eve, "\"c1\"");
    call(eve, "\"c2\"");
    call(eve, "\"c3\"");
    call(eve, "\"c4\"");
    let_time_pass(WAIT_MS);
    expect_no_place(eve, "\"c4\"");
    assert_int_equal(master.cancels, 0);
    end_test();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_is_asked_in_between),
        cmocka_unit_test(test_who_is_sent_away),
        cmocka_unit_test(test_who_may_answer_yet),
        cmocka_unit_test(test_one_of_each),
        cmocka_unit_test(test_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
