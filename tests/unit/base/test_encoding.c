/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/encoding.h"

static void test_hexadecimal(void **state)
{
    (void)state;
    static const unsigned char BYTES[] = {0x00, 0x9a, 0xff};
    unsigned char read[3];
    hub_buf out;
    hub_buf_init(&out, 6);
    hub_hex_add(&out, (hub_str){.ptr = (const char *)BYTES, .len = sizeof BYTES});
    assert_true(hub_str_is(hub_buf_str(&out), "009aff"));
    assert_true(hub_hex_read(hub_buf_str(&out), read, sizeof read));
    assert_memory_equal(read, BYTES, sizeof BYTES);
    hub_hex_add(&out, HUB_STR("x"));
    assert_int_equal(out.failed, HUB_ELIMIT);
    hub_buf_fini(&out);
}

/* Who signs a text must not find the same bytes in another one. */
static void test_one_spelling(void **state)
{
    (void)state;
    static const char *const BAD[] = {"009aF",   "009aF0", "009afg", "009af",
                                      "009aff0", "009a f", "",       "/:`@GF"};
    unsigned char read[3];
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_false(hub_hex_read(hub_str_of(BAD[i]), read, sizeof read));
    }
    assert_true(hub_hex_is(HUB_STR("0123456789abcdef")));
    assert_false(hub_hex_is(HUB_STR("A")));
    assert_false(hub_hex_is((hub_str){.ptr = "a\0", .len = 2}));
}

static void test_percent_signs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *as_form;
        const char *plain;
        bool is_whole;
    } CASES[] = {
        {"", "", "", true},
        {"a+b%20c", "a b c", "a+b c", true},
        {"%2b%2B%e2%82%AC", "++\xe2\x82\xac", "++\xe2\x82\xac", true},
        {"%", "%", "%", false},
        {"%4", "%4", "%4", false},
        {"%4g%41", "%4gA", "%4gA", false},
        {"%%41", "%A", "%A", false},
        {"%\x14\x11", "%\x14\x11", "%\x14\x11", false}, /* digits, but for one bit */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        for (int is_form = 0; is_form < 2; is_form++) {
            hub_buf out;
            hub_buf_init(&out, 64);
            assert_int_equal(hub_percent_decode(hub_str_of(CASES[i].text), is_form, &out),
                             CASES[i].is_whole);
            assert_true(hub_str_is(hub_buf_str(&out), is_form ? CASES[i].as_form : CASES[i].plain));
            hub_buf_fini(&out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hexadecimal),
        cmocka_unit_test(test_one_spelling),
        cmocka_unit_test(test_percent_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
