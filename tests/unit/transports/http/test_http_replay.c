/* SPDX-License-Identifier: Apache-2.0 */
/* The event store: MCP 2025-11-25 basic/transports, Resumability and Redelivery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/replay.h"

static void add(hub_replay *replay, uint32_t stream, uint64_t sequence, const char *text)
{
    hub_str parts[] = {hub_str_of(text), HUB_STR_EMPTY, {.ptr = NULL, .len = 0}, HUB_STR(".")};
    hub_replay_add(replay, (hub_event_id){stream, sequence}, parts, 4);
}

/* The texts behind an event, concatenated. */
static void check(const hub_replay *replay, uint32_t stream, uint64_t after, const char *texts)
{
    hub_buf found;
    hub_buf_init(&found, 1000);
    hub_event_id at = {stream, after};
    const hub_replay_event *event;
    while ((event = hub_replay_next(replay, at)) != NULL) {
        assert_int_equal(event->stream, stream);
        hub_buf_add(&found, (hub_str){.ptr = event->text, .len = event->len});
        at.sequence = event->sequence;
    }
    hub_buf_add_char(&found, '\0');
    assert_string_equal(found.ptr, texts);
    hub_buf_fini(&found);
}

static void test_streams_are_kept_apart(void **state)
{
    (void)state;
    hub_replay replay;
    hub_replay_init(&replay, 1000, 100, NULL);
    check(&replay, 0, 0, "");
    add(&replay, 1, 1, "a");
    add(&replay, 2, 1, "x");
    add(&replay, 1, 2, "b");
    add(&replay, 2, 2, "y");
    add(&replay, 1, 3, "c");
    check(&replay, 1, 0, "a.b.c.");
    check(&replay, 1, 1, "b.c.");
    check(&replay, 1, 3, "");
    check(&replay, 2, 0, "x.y.");
    check(&replay, 3, 0, "");
    assert_int_equal(replay.count, 5);
    assert_int_equal(replay.bytes, 10);
    hub_replay_fini(&replay);
    assert_null(replay.first);
    assert_null(replay.last);
}

static void test_the_oldest_make_way(void **state)
{
    (void)state;
    hub_replay replay;
    hub_replay_init(&replay, 1000, 3, NULL);
    for (uint64_t i = 1; i <= 3; i++) {
        add(&replay, 0, i, "e");
    }
    check(&replay, 0, 0, "e.e.e.");
    add(&replay, 0, 4, "f");
    check(&replay, 0, 0, "e.e.f.");
    hub_replay_fini(&replay);

    hub_replay_init(&replay, 10, 100, NULL);
    add(&replay, 0, 1, "1234");
    add(&replay, 0, 2, "5678");
    assert_int_equal(replay.bytes, 10);
    add(&replay, 0, 3, "9");
    check(&replay, 0, 0, "5678.9.");
    add(&replay, 0, 4, "123456789"); /* exactly all of it */
    check(&replay, 0, 0, "123456789.");
    add(&replay, 0, 5, "1234567890"); /* one more: not kept, and nothing lost for it */
    check(&replay, 0, 0, "123456789.");
    hub_replay_fini(&replay);
    assert_int_equal(replay.count, 0);

    hub_replay_init(&replay, 10, 0, NULL);
    add(&replay, 0, 1, "a");
    check(&replay, 0, 0, "");
    hub_replay_fini(&replay);
}

/* Of what all may hold together, a store keeps the newest that fits, and gives all to who needs it. */
static void test_what_others_need(void **state)
{
    (void)state;
    enum { EACH = sizeof(hub_replay_event) + 2 };
    hub_budget budget;
    hub_replay replay;
    hub_replay other;
    hub_budget_init(&budget, 3 * EACH);
    hub_replay_init(&replay, 1000, 100, &budget);
    hub_replay_init(&other, 1000, 100, &budget);
    for (uint64_t i = 1; i <= 3; i++) {
        add(&replay, 0, i, "e");
    }
    check(&replay, 0, 0, "e.e.e.");
    assert_int_equal(budget.bytes, 3 * EACH);
    add(&replay, 0, 4, "f");
    check(&replay, 0, 0, "e.e.f.");
    add(&other, 0, 1, "g"); /* below its share */
    check(&other, 0, 0, "g.");
    check(&replay, 0, 0, "");
    assert_int_equal(budget.bytes, EACH);
    add(&replay, 0, 5, "h");
    check(&replay, 0, 0, "h.");
    hub_budget_limit(&budget, EACH - 1);
    add(&replay, 0, 6, "i"); /* in the place of another */
    check(&replay, 0, 0, "i.");
    add(&replay, 0, 7, "jj");
    check(&replay, 0, 0, "");
    assert_int_equal(budget.bytes, EACH);
    hub_replay_fini(&replay);
    hub_replay_fini(&other);
    assert_int_equal(budget.bytes, 0);
}

static void test_ids(void **state)
{
    (void)state;
    static const struct {
        hub_event_id id;
        const char *text;
    } CASES[] = {
        {{0, 0}, "0-0"},
        {{7, 10}, "7-10"},
        {{UINT32_MAX, UINT64_MAX}, "4294967295-18446744073709551615"},
    };
    char text[HUB_EVENT_ID_BYTES];
    hub_event_id id;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_true(hub_str_is(hub_event_id_write(CASES[i].id, text), CASES[i].text));
        assert_true(hub_event_id_read(hub_str_of(CASES[i].text), &id));
        assert_int_equal(id.stream, CASES[i].id.stream);
        assert_true(id.sequence == CASES[i].id.sequence);
    }
    static const char *const BAD[] = {"",
                                      "-",
                                      "1",
                                      "1-",
                                      "-1",
                                      "a-1",
                                      "1-a",
                                      "01-1",
                                      "1-01",
                                      "1--1",
                                      "+1-1",
                                      "1-1-1",
                                      "1-1 ",
                                      " 1-1",
                                      "1_1",
                                      "4294967296-0",
                                      "0-18446744073709551616"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        if (hub_event_id_read(hub_str_of(BAD[i]), &id)) {
            fail_msg("%s", BAD[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_are_kept_apart),
        cmocka_unit_test(test_the_oldest_make_way),
        cmocka_unit_test(test_what_others_need),
        cmocka_unit_test(test_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
