/* SPDX-License-Identifier: Apache-2.0 */
/* Results without structuredContent: every other byte stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub/output/output.h"
#include "wire/json.h"

static void test_leave_out(void **state)
{
    static const struct {
        const char *result;
        const char *left; /* NULL: all of it */
    } CASES[] = {
        {"{}", NULL},
        {"{\"content\":[]}", NULL},
        {"{\"content\":[{\"structuredContent\":1}],\"_meta\":{\"structuredContent\":2}}", NULL},
        {"{\"structuredcontent\":1,\"structuredContent2\":2}", NULL},
        {"[\"structuredContent\"]", NULL},
        {"{\"structuredContent\":[1]}", "{}"},
        {"{ \"structuredContent\" : [1] }", "{ }"},
        {"{\"structuredContent\":{\"a\":[{}]},\"content\":[]}", "{\"content\":[]}"},
        {"{ \"structuredContent\" : 1 , \"content\" : [ ] }", "{\"content\" : [ ] }"},
        {"{\"content\":[],\"structuredContent\":null}", "{\"content\":[]}"},
        {"{\"a\":1, \"structuredContent\":1 ,\"b\":1.50}", "{\"a\":1 ,\"b\":1.50}"},
        {"{\"a\":1,\"struct\\u0075redContent\":1,\"b\":2}", "{\"a\":1,\"b\":2}"},
        {"{\"structuredContent\":1,\"structuredContent\":2,\"a\":1}", "{\"a\":1}"},
        {"{\"a\":1,\"structuredContent\":1,\"structuredContent\":2,\"b\":2,\"structuredContent\":"
         "3}",
         "{\"a\":1,\"b\":2}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_buf out;
        hub_buf_init(&out, 4096);
        hub_str result = hub_str_of(CASES[i].result);
        assert_int_equal(hub_json_check(result, NULL, NULL), HUB_OK);
        assert_int_equal(hub_output_leave_out(result, false, &out), CASES[i].left != NULL);
        assert_int_equal(out.len, CASES[i].left != NULL ? strlen(CASES[i].left) : 0);
        if (CASES[i].left != NULL) {
            assert_memory_equal(out.ptr, CASES[i].left, out.len);
            assert_int_equal(hub_json_check(hub_buf_str(&out), NULL, NULL), HUB_OK);
        }
        hub_buf_fini(&out);
    }
}

static void test_objects_stay(void **state)
{
    static const struct {
        const char *result;
        const char *left; /* NULL: all of it */
    } CASES[] = {
        {"{\"content\":[],\"structuredContent\":{}}", NULL},
        {"{\"content\":[],\"structuredContent\" : { \"a\":[1]} }", NULL},
        {"{\"content\":[],\"structuredContent\":[{}]}", "{\"content\":[]}"},
        {"{\"structuredContent\":\"{}\",\"content\":[]}", "{\"content\":[]}"},
        {"{\"structuredContent\":{},\"structuredContent\":5}", "{\"structuredContent\":{}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_buf out;
        hub_buf_init(&out, 4096);
        assert_int_equal(hub_output_leave_out(hub_str_of(CASES[i].result), true, &out),
                         CASES[i].left != NULL);
        if (CASES[i].left != NULL) {
            assert_int_equal(out.len, strlen(CASES[i].left));
            assert_memory_equal(out.ptr, CASES[i].left, out.len);
        }
        hub_buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leave_out),
        cmocka_unit_test(test_objects_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
