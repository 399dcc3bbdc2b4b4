/* SPDX-License-Identifier: Apache-2.0 */
/* Records of choices: what is read of them, and that what is written is read as the same. */
#include "hub/remember/record.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_written(const char *document, const char *expected)
{
    remember_record record;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    assert_int_equal(remember_record_read(hub_str_of(document), &record), HUB_OK);
    remember_record_write(&record, &out);
    assert_true(hub_buf_ok(&out));
    hub_str text = hub_buf_str(&out);
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.ptr, expected, text.len);
    hub_buf_fini(&out);
    remember_record_fini(&record);
}

static void test_it_is_read_and_written(void **state)
{
    (void)state;
    assert_written("{}", "{}");
    assert_written("{\"enabled\":[\"b\",\"a\",\"ab\"],\"disabled\":[\"c\"],\"equipped\":\"x\"}",
                   "{\"enabled\":[\"a\",\"ab\",\"b\"],\"disabled\":[\"c\"],\"equipped\":\"x\"}");
    assert_written("{\"equipped\":\"a \\u0022 \\u00e4\",\"new\":[{}],\"disabled\":[]}",
                   "{\"equipped\":\"a \\\" \xc3\xa4\"}");
}

static void test_what_it_has(void **state)
{
    (void)state;
    remember_record record;
    assert_int_equal(
        remember_record_read(HUB_STR("{\"enabled\":[\"git\",\"a\",\"docs\"]}"), &record), HUB_OK);
    assert_true(remember_keys_have(&record.enabled, HUB_STR("git")));
    assert_true(remember_keys_have(&record.enabled, HUB_STR("a")));
    assert_false(remember_keys_have(&record.enabled, HUB_STR("gi")));
    assert_false(remember_keys_have(&record.enabled, HUB_STR("gitt")));
    assert_false(remember_keys_have(&record.disabled, HUB_STR("git")));
    assert_false(remember_record_is_empty(&record));
    remember_record_fini(&record);
    assert_true(remember_record_is_empty(&record));
}

static void test_what_is_no_record(void **state)
{
    (void)state;
    static const char *const BAD[] = {
        "",
        "[]",
        "null",
        "{",
        "{\"enabled\":\"a\"}",
        "{\"enabled\":[1]}",
        "{\"enabled\":[\"a\\u0062\"]}",
        "{\"disabled\":{}}",
        "{\"disabled\":[[]]}",
        "{\"equipped\":[]}",
        "{\"equipped\":null}",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        remember_record record;
        assert_int_equal(remember_record_read(hub_str_of(BAD[i]), &record), HUB_EINVAL);
    }
}

/* A name is as long as it may be, and a byte longer. */
static void test_a_long_name(void **state)
{
    (void)state;
    char document[HUB_LIMIT_REMEMBER_NAME_BYTES + 64];
    for (int more = 0; more <= 1; more++) {
        remember_record record = {.text = NULL};
        int len = snprintf(document, sizeof document, "{\"equipped\":\"%0*d\"}",
                           HUB_LIMIT_REMEMBER_NAME_BYTES + more, 0);
        assert_int_equal(
            remember_record_read((hub_str){.ptr = document, .len = (size_t)len}, &record),
            more == 0 ? HUB_OK : HUB_EINVAL);
        assert_int_equal(record.equipped.len, more == 0 ? HUB_LIMIT_REMEMBER_NAME_BYTES : 0);
        remember_record_fini(&record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_read_and_written),
        cmocka_unit_test(test_what_it_has),
        cmocka_unit_test(test_what_is_no_record),
        cmocka_unit_test(test_a_long_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
