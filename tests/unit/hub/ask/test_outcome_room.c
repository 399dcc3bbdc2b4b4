/* SPDX-License-Identifier: Apache-2.0 */
/* Room for outcomes of calls whose clients are away: neither a client nor a server has all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "hub/ask/outcome_room.h"

#include <stdio.h>

enum { PART = HUB_LIMIT_ASKING_BYTES / 16, MOST_PARTS = 64 };

static hub_outcome_rooms rooms;
static hub_outcome_room taken[MOST_PARTS];
static size_t count;

static size_t fill(const char *client, const char *toolset)
{
    size_t before = count;
    while (hub_outcome_room_take(&rooms, hub_str_of(client), hub_str_of(toolset), PART,
                                 &taken[count]) == HUB_OK) {
        count++;
        assert_true(count < MOST_PARTS);
    }
    assert_int_equal(taken[count].bytes, 0);
    return count - before;
}

static void give_all(void)
{
    while (count > 0) {
        hub_outcome_room_give(&taken[--count]);
    }
    for (size_t i = 0; i < HUB_OUTCOME_POOLS; i++) {
        assert_int_equal(rooms.pools[i].used, 0);
        assert_null(rooms.pools[i].shares);
    }
}

static void test_one_and_others(void **state)
{
    (void)state;
    hub_outcome_rooms_init(&rooms);
    assert_int_equal(fill("eve", "good"), 8); /* a client that does not come back … */
    assert_true(fill("bob", "good") > 0);     /* … keeps no other from the same server's … */
    assert_true(fill("ann", "other") > 0);
    give_all();
    assert_int_equal(fill("bob", "bad"), 8); /* a server that fills it … */
    assert_true(fill("bob", "good") > 0);    /* … not its clients from those of others */
    assert_true(fill("ann", "good") > 0);
    give_all();
}

/* A server that does it to all of its clients. */
static void test_a_server_with_many_clients(void **state)
{
    char client[16];
    (void)state;
    hub_outcome_rooms_init(&rooms);
    for (int i = 0; i < 30; i++) {
        (void)snprintf(client, sizeof client, "c%d", i);
        (void)fill(client, "bad");
    }
    assert_int_equal(hub_pool_own(&rooms.pools[1], HUB_STR("bad")) / PART, count);
    assert_true(count <= 16);
    assert_true(fill("c0", "good") > 0);
    assert_true(fill("c29", "good") > 0);
    give_all();
}

static void test_nothing(void **state)
{
    hub_outcome_room room = {.bytes = 0};
    (void)state;
    hub_outcome_rooms_init(&rooms);
    assert_int_equal(hub_outcome_room_take(&rooms, HUB_STR("a"), HUB_STR("b"), 0, &room), HUB_OK);
    hub_outcome_room_give(&room);
    hub_outcome_room_give(&room);
    assert_int_equal(rooms.pools[0].used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_and_others),
        cmocka_unit_test(test_a_server_with_many_clients),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
