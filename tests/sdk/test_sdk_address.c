/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses are public: the first and last of each range that is not, and those beside it. */
#include <patchbay/address.h>

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int is_public(const char *text)
{
    uint8_t bytes[16];
    if (inet_pton(AF_INET, text, bytes) == 1) {
        return patchbay_address_is_public_v4(bytes);
    }
    assert_int_equal(inet_pton(AF_INET6, text, bytes), 1);
    return patchbay_address_is_public_v6(bytes);
}

static void test_public(void **state)
{
    static const char *const ADDRESSES[] = {
        "1.0.0.0",         "9.255.255.255",    "11.0.0.0",        "100.63.255.255",
        "100.128.0.0",     "126.255.255.255",  "128.0.0.0",       "169.253.255.255",
        "169.255.0.0",     "172.15.255.255",   "172.32.0.0",      "192.0.1.0",
        "192.167.255.255", "192.169.0.0",      "198.17.255.255",  "198.20.0.0",
        "223.255.255.255", "2000::",           "2606:4700::1111", "3ffe::1",
        "::ffff:8.8.8.8",  "64:ff9b::808:808", "2002:808:808::1", "2001:200::1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof ADDRESSES / sizeof ADDRESSES[0]; i++) {
        if (!is_public(ADDRESSES[i])) {
            fail_msg("%s is public", ADDRESSES[i]);
        }
    }
}

static void test_internal(void **state)
{
    static const char *const ADDRESSES[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.0",
        "127.255.255.255",
        "169.254.0.0",
        "169.254.169.254",
        "169.254.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.0",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:a00:1::1",
        "2001::1",
        "2001:1ff::1",
        "2001:db8::1",
        "3fff::1",
        "4000::",
        "5f00::1",
        "fc00::",
        "fdff::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "100::1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof ADDRESSES / sizeof ADDRESSES[0]; i++) {
        if (is_public(ADDRESSES[i])) {
            fail_msg("%s is not public", ADDRESSES[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_public),
                                       cmocka_unit_test(test_internal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
