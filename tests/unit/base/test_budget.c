/* SPDX-License-Identifier: Apache-2.0 */
/* A bound on what many hold together: at its edge, one beyond, and who pays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/budget.h"

#include <stdlib.h>

enum { MOST = 1000, MANY = 100 };

static hub_budget budget;
static hub_budget_account accounts[MANY];
static hub_budget_account *evicted;
static size_t evictions;

static void on_evict(hub_budget_account *account)
{
    evicted = account;
    evictions++;
}

static int set_up(void **state)
{
    (void)state;
    evicted = NULL;
    evictions = 0;
    hub_budget_init(&budget, MOST);
    for (size_t i = 0; i < MANY; i++) {
        hub_budget_open(&accounts[i], &budget, on_evict);
    }
    return 0;
}

static void hold(size_t which, size_t bytes, hub_err err)
{
    assert_int_equal(hub_budget_settle(&accounts[which], bytes), err);
}

static void test_one_may_have_all(void **state)
{
    (void)state;
    hold(0, MOST, HUB_OK);
    hold(0, MOST + 1, HUB_ELIMIT);
    assert_int_equal(accounts[0].bytes, MOST);
    assert_int_equal(budget.bytes, MOST);
    hold(0, 0, HUB_OK);
    assert_int_equal(budget.bytes, 0);
    assert_int_equal(budget.count, 0);
    hold(1, SIZE_MAX, HUB_ELIMIT);
    hold(1, MOST, HUB_OK);
}

/* Nobody gets more than his share of what is not there. */
static void test_who_has_his_share_is_refused(void **state)
{
    (void)state;
    hold(0, 500, HUB_OK);
    hold(1, 500, HUB_OK);
    hold(1, 501, HUB_ELIMIT);
    hold(0, 501, HUB_ELIMIT);
    hold(2, 334, HUB_ELIMIT); /* a third, and one more */
    assert_int_equal(evictions, 0);
    assert_int_equal(budget.bytes, MOST);
    assert_int_equal(budget.refused, 3);
}

/* … and everybody gets his share, at the cost of the largest. */
static void test_who_has_less_is_not(void **state)
{
    (void)state;
    hold(0, 400, HUB_OK);
    hold(1, 401, HUB_OK); /* of the same size */
    hold(2, 199, HUB_OK);
    hold(3, 250, HUB_OK);
    assert_ptr_equal(evicted, &accounts[1]);
    assert_int_equal(evictions, 1);
    assert_int_equal(budget.bytes, 849);
    hold(1, 1, HUB_ELIMIT); /* it has been told to go */
    hold(1, 0, HUB_OK);
    hub_budget_close(&accounts[1]);
    assert_int_equal(budget.bytes, 849);
    hold(2, 333, HUB_OK);
    assert_int_equal(budget.bytes, 983);
}

static void test_several_may_have_to_go(void **state)
{
    (void)state;
    hold(0, 350, HUB_OK);
    hold(1, 650, HUB_OK);
    hub_budget_limit(&budget, 300);
    hold(0, 349, HUB_OK); /* less is never refused */
    hold(2, 101, HUB_ELIMIT);
    hold(2, 100, HUB_OK);
    assert_int_equal(evictions, 2);
    assert_int_equal(budget.bytes, 100);
    assert_int_equal(budget.count, 1);
}

/* Whatever order they come and go in, the sum is theirs, and never more than there is. */
static void test_the_sum(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (size_t i = 0; i < 100000; i++) {
        random = random * 1664525u + 1013904223u;
        hub_budget_account *account = &accounts[(random >> 8) % MANY];
        size_t before = account->bytes;
        size_t bytes = (random >> 16) % 60;
        hub_err err = hub_budget_settle(account, bytes);
        assert_int_equal(account->bytes, err == HUB_OK ? bytes : before);
        if (evicted != NULL) {
            hub_budget_close(evicted);
            hub_budget_open(evicted, &budget, on_evict);
            evicted = NULL;
        }
        assert_true(budget.bytes <= MOST);
    }
    size_t sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < MANY; i++) {
        sum += accounts[i].bytes;
        count += accounts[i].bytes > 0;
    }
    assert_int_equal(budget.bytes, sum);
    assert_int_equal(budget.count, count);
    assert_true(evictions > 0 && budget.refused > 0);
    for (size_t i = 0; i < MANY; i++) {
        hub_budget_close(&accounts[i]);
        hub_budget_close(&accounts[i]);
    }
    assert_int_equal(budget.bytes, 0);
}

static void test_no_budget(void **state)
{
    (void)state;
    hub_budget_account account = {0};
    hub_budget_close(&account);
    hub_budget_open(&account, NULL, on_evict);
    assert_int_equal(hub_budget_settle(&account, SIZE_MAX), HUB_OK);
    hub_budget_close(&account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_may_have_all, set_up),
        cmocka_unit_test_setup(test_who_has_his_share_is_refused, set_up),
        cmocka_unit_test_setup(test_who_has_less_is_not, set_up),
        cmocka_unit_test_setup(test_several_may_have_to_go, set_up),
        cmocka_unit_test_setup(test_the_sum, set_up),
        cmocka_unit_test_setup(test_no_budget, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
