/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a line: as many as fit, and how many more there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/name_list.h"

#include <stdio.h>

static void test_few(void **state)
{
    (void)state;
    hub_name_list list = {.count = 0};
    assert_string_equal(list.text, "");
    hub_name_list_add(&list, HUB_STR("a"));
    hub_name_list_add(&list, HUB_STR("b"));
    assert_string_equal(list.text, "a,b");
    assert_int_equal(list.count, 2);
}

/* What does not fit is counted; nothing behind it fills the gap. */
static void test_many(void **state)
{
    (void)state;
    hub_name_list list = {.count = 0};
    char name[32];
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof name, "toolset%04d", i);
        hub_name_list_add(&list, hub_str_of(name));
        assert_true(strlen(list.text) < sizeof list.text);
    }
    hub_name_list_add(&list, HUB_STR("z"));
    assert_int_equal(list.count, 5001);
    assert_true(list.shown > 60);
    char end[64];
    (void)snprintf(end, sizeof end, ",toolset%04zu and %zu more", list.shown - 1,
                   list.count - list.shown);
    assert_string_equal(list.text + strlen(list.text) - strlen(end), end);
}

/* The longest that fits, and one byte more. */
static void test_edge(void **state)
{
    static char bytes[HUB_LIMIT_NAME_LIST_BYTES];
    (void)state;
    memset(bytes, 'x', sizeof bytes);
    size_t most = 0;
    for (size_t len = 1; len < sizeof bytes; len++) {
        hub_name_list list = {.count = 0};
        hub_name_list_add(&list, (hub_str){.ptr = bytes, .len = len});
        most = list.shown == 1 ? len : most;
        assert_int_equal(strlen(list.text), list.shown == 1 ? len : 1);
    }
    assert_true(most > HUB_LIMIT_NAME_LIST_BYTES - 40 && most < HUB_LIMIT_NAME_LIST_BYTES);
    hub_name_list list = {.count = 0};
    hub_name_list_add(&list, (hub_str){.ptr = bytes, .len = most});
    hub_name_list_add(&list, HUB_STR("b"));
    assert_string_equal(list.text + most, " and 1 more");
    hub_name_list longer = {.count = 0};
    hub_name_list_add(&longer, (hub_str){.ptr = bytes, .len = most + 1});
    hub_name_list_add(&longer, HUB_STR("b"));
    assert_string_equal(longer.text, "2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
