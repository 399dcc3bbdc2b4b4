/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of addresses: which texts are some, and what lies in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cidr.h"

static bool lies_in(const char *block, const char *address)
{
    hub_cidr cidr;
    assert_true(hub_cidr_parse(hub_str_of(block), &cidr));
    return hub_cidr_any_has(&cidr, 1, address);
}

static void test_blocks(void **state)
{
    (void)state;
    assert_true(lies_in("10.0.0.0/8", "10.255.255.255"));
    assert_false(lies_in("10.0.0.0/8", "11.0.0.0"));
    assert_true(lies_in("192.0.2.128/25", "192.0.2.128"));
    assert_false(lies_in("192.0.2.128/25", "192.0.2.127"));
    assert_true(lies_in("0.0.0.0/0", "203.0.113.9"));
    assert_false(lies_in("0.0.0.0/0", "::1"));
    assert_true(lies_in("192.0.2.7", "192.0.2.7"));
    assert_false(lies_in("192.0.2.7", "192.0.2.6"));
    assert_true(lies_in("::ffff:192.0.2.7", "192.0.2.7"));
    assert_true(lies_in("fd00::/8", "fdff::1"));
    assert_false(lies_in("fd00::/8", "fe00::1"));
    assert_true(lies_in("2001:db8::/127", "2001:db8::1"));
    assert_false(lies_in("2001:db8::/127", "2001:db8::2"));
    assert_true(lies_in("::/0", "2001:db8::2"));
    assert_false(lies_in("::1", "nonsense"));
    assert_false(lies_in("::1", ""));
    assert_false(hub_cidr_any_has(NULL, 0, "::1"));
}

static void test_what_is_none(void **state)
{
    static const char *const WRONG[] = {"",           "10",          "10.0.0.0/33", "10.0.0.1/8",
                                        "10.0.0.0/",  "10.0.0.0/-1", "10.0.0.0/8 ", " 10.0.0.0",
                                        "fd00::/129", "fd00::1/64",  "hub",         "10.0.0.0/0008",
                                        "1.2.3.4:80", "[::1]",       "fe80::1%lo"};
    hub_cidr cidr;
    (void)state;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        if (hub_cidr_parse(hub_str_of(WRONG[i]), &cidr)) {
            fail_msg("\"%s\" was taken", WRONG[i]);
        }
    }
    assert_false(hub_cidr_parse((hub_str){.ptr = "1.2.3.4\0", .len = 8}, &cidr));
}

static void test_usual_form(void **state)
{
    char text[HUB_ADDRESS_TEXT_BYTES];
    (void)state;
    assert_true(hub_address_parse(HUB_STR("2001:DB8:0:0:0:0:0:1"), text));
    assert_string_equal(text, "2001:db8::1");
    assert_true(hub_address_parse(HUB_STR("::ffff:1.2.3.4"), text));
    assert_string_equal(text, "1.2.3.4");
    assert_false(hub_address_parse(HUB_STR("1.2.3.4/32"), text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_usual_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
