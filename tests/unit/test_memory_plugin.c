/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that runs out in the code that plugins are built with, at every allocation in turn. */
#include "fail_memory.h"

#include <patchbay/toolset.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void never_called(patchbay_tool_call *call)
{
    (void)call;
    fail();
}

/* A list for which there is no memory is not one that is wrong. */
static void test_templates(void **state)
{
    (void)state;
    static const patchbay_resource_template one = {
        .uri_template = "x://{a}", .name = "x", .handler = never_called};
    size_t failed = 0;
    bool is_failing = true;
    for (size_t n = 1; is_failing; n++) {
        patchbay_toolset toolset = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* of a hub without lists */
        is_failing = memory_fails_at(n);
        int32_t result = patchbay_set_templates(&toolset, &one, 1);
        bool has_failed = memory_has_failed();
        assert_int_equal(result, has_failed ? PATCHBAY_ENOMEM : PATCHBAY_ENOTFOUND);
        failed += has_failed;
    }
    assert_int_equal(failed, 2); /* the list, and what the template matches */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
