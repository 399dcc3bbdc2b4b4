/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/library.h"

#include <string.h>

static void test_loading(void **state)
{
    (void)state;
    struct {
        size_t before;
        size_t (*length)(const char *text);
    } libc = {.before = 7};
    const hub_library_function good[] = {
        {"strlen", (size_t)((char *)&libc.length - (char *)&libc)}};
    const hub_library_function bad[] = {good[0], {"no_such_function", 0}};
    hub_error why = {.text = ""};
    assert_int_equal(hub_library_load("libc.so.6", "", good, 1, &libc, &why), HUB_OK);
    assert_int_equal(libc.length("four"), 4);
    assert_int_equal(libc.before, 7);
    assert_int_equal(hub_library_load("libc.so.6", "", bad, 2, &libc, &why), HUB_EUNAVAILABLE);
    assert_string_equal(why.text, "libc.so.6 is too old: it has no no_such_function");
    assert_int_equal(hub_library_load("no-such.so", "install it", good, 1, &libc, &why),
                     HUB_EUNAVAILABLE);
    assert_non_null(strstr(why.text, "no-such.so cannot be loaded: install it: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
