/* SPDX-License-Identifier: Apache-2.0 */
/* The event stream at its bounds: how many may read, and what becomes of a reader who is too slow. */
#include "hub_fixture.h"

#include "base/limits.h"
#include "hub/admin/events.h"
#include "hub/admin/events_internal.h"

static hub_fixture fixture;
static hub_event_reader readers[HUB_LIMIT_EVENT_READERS + 1];

static void on_turn(hub_event_reader *reader)
{
    (void)reader; /* it looks when the test does */
}

static int set_up(void **state)
{
    (void)state;
    memset(readers, 0, sizeof readers);
    for (size_t i = 0; i <= HUB_LIMIT_EVENT_READERS; i++) {
        readers[i].on_turn = on_turn;
    }
    fixture_init(&fixture);
    fixture_start(&fixture);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_stop(&fixture);
    return 0;
}

/* As many as there is room for; the next is refused, until somebody leaves. */
static void test_readers(void **state)
{
    hub_event_reader *last = &readers[HUB_LIMIT_EVENT_READERS];
    (void)state;
    for (size_t i = 0; i < HUB_LIMIT_EVENT_READERS; i++) {
        assert_int_equal(hub_events_join(fixture.hub, &readers[i], 0), HUB_OK);
    }
    assert_int_equal(hub_events_readers(fixture.hub), HUB_LIMIT_EVENT_READERS);
    assert_int_equal(hub_events_join(fixture.hub, last, 0), HUB_ELIMIT);
    hub_events_leave(fixture.hub, &readers[0]);
    assert_int_equal(hub_events_join(fixture.hub, last, 0), HUB_OK);
    for (size_t i = 1; i <= HUB_LIMIT_EVENT_READERS; i++) {
        hub_events_leave(fixture.hub, &readers[i]);
    }
}

/* Add so many, and see how many of them were missed, and how many were not. */
static void check_missed(size_t added, uint64_t wanted)
{
    uint64_t before = hub_events_missed(fixture.hub);
    uint64_t missed = 0;
    uint64_t all_missed = 0;
    size_t seen = 0;
    assert_int_equal(hub_events_join(fixture.hub, &readers[0], 0), HUB_OK);
    for (size_t i = 0; i < added; i++) {
        hub_events_add(fixture.hub, HUB_STR("x"), HUB_STR("{}"));
    }
    while (hub_events_next(fixture.hub, &readers[0], &missed) != NULL) {
        all_missed += missed;
        seen++;
    }
    hub_events_leave(fixture.hub, &readers[0]);
    assert_int_equal(all_missed, wanted);
    assert_int_equal(seen, added - wanted);
    assert_int_equal(hub_events_missed(fixture.hub) - before, wanted);
}

/* All but the oldest are kept, and who comes for those hears how many are gone. */
static void test_missed(void **state)
{
    (void)state;
    check_missed(10, 0);
    check_missed(HUB_LIMIT_EVENTS, 0);
    check_missed(HUB_LIMIT_EVENTS + 1, 1);
    check_missed(HUB_LIMIT_EVENTS + 9, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_readers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
