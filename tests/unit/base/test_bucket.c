/* SPDX-License-Identifier: Apache-2.0 */
/* Token buckets (REQUIREMENTS S5.4; RELIABILITY R07). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gcra_oracle.h"

/* As many as it holds at once, and no more; each time a step has passed, one. */
static void test_bucket(void **state)
{
    (void)state;
    hub_bucket bucket = {0};
    const hub_bucket_rate rate = {.per_second = 10, .at_once = 3};
    uint64_t now = 5000;
    assert_true(hub_bucket_is_full(&bucket, now, rate));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hub_bucket_wait_ms(&bucket, now, rate), 0);
        assert_true(hub_bucket_take(&bucket, now, rate));
    }
    assert_int_equal(hub_bucket_wait_ms(&bucket, now, rate), 100);
    assert_false(hub_bucket_take(&bucket, now, rate));
    assert_false(hub_bucket_take(&bucket, now + 99, rate));
    assert_int_equal(hub_bucket_wait_ms(&bucket, now + 99, rate), 1);
    assert_true(hub_bucket_take(&bucket, now + 100, rate));
    assert_false(hub_bucket_take(&bucket, now + 100, rate));
    assert_false(hub_bucket_is_full(&bucket, now + 399, rate));
    assert_true(hub_bucket_is_full(&bucket, now + 400, rate));
}

/* However long it was left alone, it holds no more than it holds. */
static void test_bucket_after_rest(void **state)
{
    (void)state;
    hub_bucket bucket = {0};
    const hub_bucket_rate rate = {.per_second = 1000, .at_once = 5};
    for (uint64_t now = 1000; now < 100000000; now *= 10) {
        unsigned taken = 0;
        while (hub_bucket_take(&bucket, now, rate)) {
            taken++;
        }
        assert_int_equal(taken, 5);
    }
}

/* The extremes: once a second, a million at once and per second; steps that are no whole number of
 * milliseconds do not add up to an error. */
static void test_bucket_extremes(void **state)
{
    (void)state;
    hub_bucket slow = {0};
    const hub_bucket_rate once = {.per_second = 1, .at_once = 1};
    assert_true(hub_bucket_take(&slow, 1, once));
    assert_int_equal(hub_bucket_wait_ms(&slow, 1, once), 1000);
    hub_bucket fast = {0};
    const hub_bucket_rate most = {.per_second = HUB_BUCKET_MOST, .at_once = HUB_BUCKET_MOST};
    unsigned taken = 0;
    while (hub_bucket_take(&fast, 1, most)) {
        taken++;
    }
    assert_int_equal(taken, HUB_BUCKET_MOST);
    hub_bucket odd = {0};
    const hub_bucket_rate seven = {.per_second = 7, .at_once = 1};
    taken = 0;
    for (uint64_t now = 1; now <= 100000; now++) {
        taken += hub_bucket_take(&odd, now, seven);
    }
    assert_int_equal(taken, 1 + 99999 * 7 / 1000);
}

/* At odd rates, bursts and times, after a year of uptime and after fifty: the same requests get in. */
static void test_bucket_is_exact(void **state)
{
    static const uint32_t RATES[] = {1, 3, 7, 10, 997, 65537, 999983, HUB_BUCKET_MOST};
    static const uint32_t BURSTS[] = {1, 2, 10, 1000, HUB_BUCKET_MOST};
    static const uint64_t BEGINS[] = {1, 31536000000, 1576800000000};
    (void)state;
    uint32_t random = 1;
    for (size_t i = 0; i < 8 * 5 * 3; i++) {
        const hub_bucket_rate rate = {.per_second = RATES[i % 8], .at_once = BURSTS[i / 8 % 5]};
        uint64_t now = BEGINS[i / 40];
        hub_bucket bucket = {0};
        oracle expected = {0};
        for (unsigned k = 0; k < 3000; k++) {
            random = random * 1664525u + 1013904223u;
            now += (random >> 24) % 4 == 0 ? (random >> 16) % 300 : 0;
            uint32_t wait_ms = hub_bucket_wait_ms(&bucket, now, rate);
            assert_int_equal(hub_bucket_take(&bucket, now, rate),
                             oracle_takes(&expected, now, rate));
            if (wait_ms > 0) { /* neither too early nor too late */
                assert_int_not_equal(hub_bucket_wait_ms(&bucket, now + wait_ms - 1, rate), 0);
                assert_int_equal(hub_bucket_wait_ms(&bucket, now + wait_ms, rate), 0);
            }
        }
    }
}

/* What was taken at one rate is taken at the next, as far as that has room for it. */
static void test_bucket_changes(void **state)
{
    (void)state;
    const hub_bucket_rate slow = {.per_second = 10, .at_once = 10};
    const hub_bucket_rate fast = {.per_second = 1000, .at_once = 20};
    const hub_bucket_rate tight = {.per_second = 10, .at_once = 2};
    hub_bucket bucket = {0};
    for (int i = 0; i < 10; i++) {
        assert_true(hub_bucket_take(&bucket, 5000, slow));
    }
    hub_bucket_change(&bucket, 5000, slow, fast);
    unsigned taken = 0;
    while (hub_bucket_take(&bucket, 5000, fast)) {
        taken++;
    }
    assert_int_equal(taken, 10);
    hub_bucket_change(&bucket, 5000, fast, tight);
    assert_int_equal(hub_bucket_wait_ms(&bucket, 5000, tight), 100);
    hub_bucket_change(&bucket, 5000, tight, (hub_bucket_rate){0});
    assert_int_equal(bucket.full, 0);
    hub_bucket_change(&bucket, 5000, (hub_bucket_rate){0}, slow);
    assert_true(hub_bucket_is_full(&bucket, 5000, slow));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bucket),          cmocka_unit_test(test_bucket_after_rest),
        cmocka_unit_test(test_bucket_extremes), cmocka_unit_test(test_bucket_is_exact),
        cmocka_unit_test(test_bucket_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
