/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of which nobody can have all (docs/SECURITY.md, "Limits"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/share.h"

#include <stdio.h>

enum { MOST = 1000 };

/* Take one at a time, until no more is given. */
static size_t take_all(hub_pool *pool, const char *peer, hub_share **ret_share)
{
    size_t count = 0;
    while (hub_pool_take(pool, hub_str_of(peer), 1, ret_share) == HUB_OK) {
        count++;
    }
    assert_int_equal(hub_pool_own(pool, hub_str_of(peer)), count);
    return count;
}

static void test_one_alone(void **state)
{
    hub_pool pool = {.most = MOST};
    hub_share *share = NULL;
    hub_share *none = NULL;
    (void)state;
    assert_int_equal(take_all(&pool, "a", &share), MOST);
    assert_int_equal(pool.used, MOST);
    assert_int_equal(hub_pool_take(&pool, HUB_STR("a"), 1, &none), HUB_ELIMIT);
    hub_share_give(share, 1);
    assert_int_equal(hub_pool_take(&pool, HUB_STR("a"), 2, &none), HUB_ELIMIT);
    assert_int_equal(hub_share_more(share, 2), HUB_ELIMIT);
    assert_int_equal(hub_share_more(share, 1), HUB_OK);
    hub_share_give(share, 1);
    assert_int_equal(hub_pool_take(&pool, HUB_STR("a"), 1, &none), HUB_OK);
    assert_ptr_equal(none, share);
    hub_share_give(share, MOST);
    assert_int_equal(pool.used, 0);
    assert_null(pool.shares);
    assert_int_equal(hub_pool_take(&pool, HUB_STR("a"), MOST + 1, &share), HUB_ELIMIT);
    assert_int_equal(hub_pool_take(&pool, HUB_STR("a"), SIZE_MAX, &share), HUB_ELIMIT);
    assert_int_equal(hub_pool_take(&pool, HUB_STR("a"), MOST, &share), HUB_OK);
    hub_share_give(share, MOST);
    hub_share_give(NULL, MOST);
}

/* Whoever comes after one who has all that he may finds half as much; others less, but never nothing
 * before there are many of them; and all is given back. */
static void test_who_comes_next(void **state)
{
    hub_pool pool = {.most = MOST};
    hub_share *shares[9];
    char peer[16];
    size_t last = 2 * MOST;
    (void)state;
    for (int i = 0; i < 9; i++) {
        (void)snprintf(peer, sizeof peer, "p%d", i);
        size_t count = take_all(&pool, peer, &shares[i]);
        assert_in_range(count, last / 2, last / 2 + 1);
        last = count;
    }
    assert_true(pool.used <= 2 * MOST);
    for (int i = 0; i < 9; i++) {
        (void)snprintf(peer, sizeof peer, "p%d", i);
        hub_share_give(shares[i], hub_pool_own(&pool, hub_str_of(peer)));
    }
    assert_int_equal(pool.used, 0);
    assert_null(pool.shares);
}

/* Those who ask in turns have the same. */
static void test_in_turns(void **state)
{
    enum { PEERS = 4 };
    hub_pool pool = {.most = MOST};
    hub_share *shares[PEERS];
    const char *peers[PEERS] = {"a", "b", "c", "d"};
    size_t refused = 0;
    (void)state;
    while (refused < PEERS) {
        refused = 0;
        for (size_t i = 0; i < PEERS; i++) {
            refused += hub_pool_take(&pool, hub_str_of(peers[i]), 1, &shares[i]) != HUB_OK;
        }
    }
    for (size_t i = 0; i < PEERS; i++) {
        assert_in_range(hub_pool_own(&pool, hub_str_of(peers[i])), 2 * MOST / (PEERS + 1),
                        2 * MOST / (PEERS + 1) + 1);
        hub_share_give(shares[i], hub_pool_own(&pool, hub_str_of(peers[i])));
    }
}

/* The smallest limit there is: one each, of two. */
static void test_of_one(void **state)
{
    (void)state;
    assert_true(hub_share_may(1, 0, 0, 1));
    assert_false(hub_share_may(1, 1, 1, 1));
    assert_true(hub_share_may(1, 1, 0, 1));
    assert_false(hub_share_may(1, 2, 0, 1));
    assert_false(hub_share_may(0, 0, 0, 1));
    assert_true(hub_share_may(SIZE_MAX / 2, 0, 0, SIZE_MAX / 2));
    assert_false(hub_share_may(SIZE_MAX / 2, 1, 1, SIZE_MAX));
    assert_false(hub_share_may(1, 3, 0, 0)); /* the limit was higher before */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_alone),
        cmocka_unit_test(test_who_comes_next),
        cmocka_unit_test(test_in_turns),
        cmocka_unit_test(test_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
