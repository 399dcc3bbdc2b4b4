/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool promises of its results, and what is said of one that breaks it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "tools/promise.h"

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"type\":\"integer\"}}}"

static void test_results(void **state)
{
    static const struct {
        const char *result;
        const char *reason; /* NULL: it is as promised */
    } CASES[] = {
        {"{\"content\":[],\"structuredContent\":{\"n\":1}}", NULL},
        {"{\"structuredContent\":{\"n\":1.0,\"more\":null}}", NULL},
        {"{\"struct\\u0075redContent\":{\"n\":1}}", NULL},
        {"{\"content\":[]}", "tool \"t\" answered without the structuredContent that its "
                             "outputSchema promises"},
        {"{\"structuredContent\":null}",
         "tool \"t\" broke its outputSchema: structuredContent: must be an object, is null"},
        {"{\"structuredContent\":{}}",
         "tool \"t\" broke its outputSchema: structuredContent: \"n\" is missing"},
        {"{\"structuredContent\":{\"n\":\"1\"}}",
         "tool \"t\" broke its outputSchema: structuredContent.n: must be an integer, is a string"},
    };
    hub_promise *promise = NULL;
    (void)state;
    assert_int_equal(hub_promise_make(HUB_STR("t"), HUB_STR(SCHEMA), &promise, NULL), HUB_OK);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_error why = {.text = ""};
        hub_err err = hub_promise_check(promise, hub_str_of(CASES[i].result), &why);
        assert_int_equal(err, CASES[i].reason != NULL ? HUB_EINVAL : HUB_OK);
        assert_string_equal(why.text, CASES[i].reason != NULL ? CASES[i].reason : "");
    }
    hub_promise_unref(promise);
}

/* A call outlives the catalog that the promise was found in. */
static void test_references(void **state)
{
    hub_promise *promise = NULL;
    (void)state;
    assert_int_equal(hub_promise_make(HUB_STR("t"), HUB_STR(SCHEMA), &promise, NULL), HUB_OK);
    hub_promise *kept = hub_promise_ref(promise);
    hub_promise_unref(promise);
    assert_int_equal(hub_promise_check(kept, HUB_STR("{\"structuredContent\":{\"n\":1}}"), NULL),
                     HUB_OK);
    hub_promise_unref(kept);
    assert_null(hub_promise_ref(NULL));
    hub_promise_unref(NULL);
}

static void test_bad_schema(void **state)
{
    hub_promise *promise = NULL;
    hub_error why;
    (void)state;
    assert_int_equal(hub_promise_make(HUB_STR("t"), HUB_STR("{\"properties\":1}"), &promise, &why),
                     HUB_EINVAL);
    assert_string_equal(why.text, "outputSchema: /properties: must be an object");
    assert_null(promise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_bad_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
