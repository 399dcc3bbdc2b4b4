/* SPDX-License-Identifier: Apache-2.0 */
/* Who is late first (RELIABILITY H10, R02). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/deadline.h"

#include <string.h>

typedef struct thing {
    int number;
    hub_deadline deadline;
} thing;

static void test_the_first_is_late_first(void **state)
{
    (void)state;
    hub_deadlines list = {NULL, NULL};
    thing things[3];
    memset(things, 0, sizeof things);
    for (int i = 0; i < 3; i++) {
        things[i].number = i;
        hub_deadline_start(&list, &things[i].deadline, 1000 + (uint64_t)i * 10);
    }
    assert_null(hub_deadline_late(&list, 1099, 100));
    assert_ptr_equal(hub_deadline_late(&list, 1100, 100), &things[0].deadline);
    assert_int_equal(HUB_DEADLINE_OF(list.first, thing, deadline)->number, 0);
    hub_deadline_stop(&things[0].deadline);
    assert_null(hub_deadline_late(&list, 1109, 100));
    assert_ptr_equal(hub_deadline_late(&list, 1110, 100), &things[1].deadline);
    assert_ptr_equal(hub_deadline_late(&list, UINT64_MAX, 0), &things[1].deadline);
}

static void test_starting_again_is_going_to_the_end(void **state)
{
    (void)state;
    hub_deadlines list = {NULL, NULL};
    hub_deadlines other = {NULL, NULL};
    thing a = {0};
    thing b = {0};
    hub_deadline_start(&list, &a.deadline, 1);
    hub_deadline_start(&list, &b.deadline, 2);
    hub_deadline_start(&list, &a.deadline, 3);
    assert_ptr_equal(list.first, &b.deadline);
    assert_ptr_equal(list.last, &a.deadline);
    hub_deadline_start(&other, &b.deadline, 4);
    assert_ptr_equal(list.first, &a.deadline);
    assert_ptr_equal(list.first, list.last);
    assert_ptr_equal(other.first, &b.deadline);
    assert_ptr_equal(b.deadline.list, &other);
    hub_deadline_stop(&a.deadline);
    assert_null(list.first);
    assert_null(list.last);
    assert_null(a.deadline.list);
    hub_deadline_stop(&a.deadline); /* in none: fine */
    assert_null(hub_deadline_late(&list, UINT64_MAX, 0));
}

/* Any of them may leave: the rest keeps its order. */
static void test_leaving_from_anywhere(void **state)
{
    (void)state;
    for (size_t leaver = 0; leaver < 4; leaver++) {
        hub_deadlines list = {NULL, NULL};
        thing things[4];
        memset(things, 0, sizeof things);
        for (size_t i = 0; i < 4; i++) {
            hub_deadline_start(&list, &things[i].deadline, i);
        }
        hub_deadline_stop(&things[leaver].deadline);
        size_t seen = 0;
        const hub_deadline *before = NULL;
        for (const hub_deadline *at = list.first; at != NULL; at = at->next) {
            assert_ptr_not_equal(at, &things[leaver].deadline);
            assert_ptr_equal(at->prev, before);
            assert_true(before == NULL || before->since_ms < at->since_ms);
            before = at;
            seen++;
        }
        assert_int_equal(seen, 3);
        assert_ptr_equal(list.last, before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_is_late_first),
        cmocka_unit_test(test_starting_again_is_going_to_the_end),
        cmocka_unit_test(test_leaving_from_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
