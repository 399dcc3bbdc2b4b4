/* SPDX-License-Identifier: Apache-2.0 */
/* A budget of bad credentials per address (RELIABILITY A13). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/failures.h"
#include "http/limits.h"

#include <stdio.h>

enum { MOST = HUB_HTTP_LIMIT_AUTH_FAILURES, WINDOW = HUB_HTTP_LIMIT_AUTH_WINDOW_MS };

static void note(hub_http_failures *failures, const char *address, int times, uint64_t now_ms)
{
    for (int i = 0; i < times; i++) {
        hub_http_failures_note(failures, address, now_ms);
    }
}

static void test_the_budget(void **state)
{
    (void)state;
    hub_http_failures *failures = hub_http_failures_create();
    note(failures, "10.0.0.1", MOST - 1, 5000);
    assert_int_equal(hub_http_failures_wait_s(failures, "10.0.0.1", 5000), 0);
    note(failures, "10.0.0.1", 1, 6000);
    assert_int_equal(hub_http_failures_wait_s(failures, "10.0.0.1", 6000), (WINDOW - 1000) / 1000);
    assert_int_equal(hub_http_failures_wait_s(failures, "10.0.0.1", 5001 + WINDOW - 2), 1);
    assert_int_equal(hub_http_failures_wait_s(failures, "10.0.0.1", 5000 + WINDOW), 0);
    assert_int_equal(hub_http_failures_wait_s(failures, "10.0.0.2", 6000), 0);
    assert_int_equal(hub_http_failures_wait_s(failures, "10.0.0.10", 6000), 0);
    hub_http_failures_destroy(failures);
}

/* When the window has passed, all begins anew. */
static void test_a_new_window(void **state)
{
    (void)state;
    hub_http_failures *failures = hub_http_failures_create();
    note(failures, "::1", MOST, 0);
    note(failures, "::1", 1, WINDOW);
    assert_int_equal(hub_http_failures_wait_s(failures, "::1", WINDOW), 0);
    note(failures, "::1", MOST - 1, WINDOW + 1);
    assert_int_equal(hub_http_failures_wait_s(failures, "::1", WINDOW + 1), WINDOW / 1000);
    hub_http_failures_destroy(failures);
}

static void test_how_many_are_remembered(void **state)
{
    (void)state;
    hub_http_failures *failures = hub_http_failures_create();
    char address[32];
    note(failures, "first", MOST, 1);
    for (int i = 1; i < HUB_HTTP_LIMIT_AUTH_ADDRESSES; i++) {
        (void)snprintf(address, sizeof address, "10.0.%d.%d", i / 256, i % 256);
        note(failures, address, 1, 1);
    }
    assert_true(hub_http_failures_wait_s(failures, "first", 2) > 0);
    note(failures, "last", MOST, 2);
    assert_int_equal(hub_http_failures_wait_s(failures, "first", 2), 0);
    assert_true(hub_http_failures_wait_s(failures, "last", 2) > 0);
    hub_http_failures_destroy(failures);
}

static void test_what_is_no_address(void **state)
{
    (void)state;
    char address[80];
    memset(address, 'a', sizeof address - 1);
    address[sizeof address - 1] = '\0';
    hub_http_failures *failures = hub_http_failures_create();
    note(failures, address, MOST, 1);
    assert_int_equal(hub_http_failures_wait_s(failures, address, 1), 0);
    hub_http_failures_destroy(failures);
    hub_http_failures_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_budget),
        cmocka_unit_test(test_a_new_window),
        cmocka_unit_test(test_how_many_are_remembered),
        cmocka_unit_test(test_what_is_no_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
