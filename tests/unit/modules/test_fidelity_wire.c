/* SPDX-License-Identifier: Apache-2.0 */
/* The host interface wire/1, as modules that carry messages use it: what it says of a message does
 * not depend on how the message is spelled. */
#include "modules/instance_internal.h"

#include <patchbay/json.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct type_case {
    const char *result;
    const char *type; /* as it is reported */
} type_case;

static const type_case TYPES[] = {
    {"{\"resultType\":\"complete\"}", "\"complete\""},
    {"{\"a\":1, \"resultType\" : \"input_required\" }", "\"input_required\""},
    {"{\"resultType\":\"c\\u006fmplete\"}", "\"c\\u006fmplete\""},
    {"{\"resul\\u0074Type\":\"complete\"}", "\"complete\""},
    {"{\"resultType\":null}", "null"},
    {"{\"content\":[{\"resultType\":\"complete\"}]}", ""},
    {"{}", ""},
};

static patchbay_message scan(const char *text)
{
    patchbay_message message = {.struct_size = sizeof message};
    patchbay_error why = {.struct_size = sizeof why};
    assert_int_equal(HUB_HOST_WIRE.scan(NULL, patchbay_str_of(text), &message, &why), PATCHBAY_OK);
    return message;
}

/* Whoever passes a result on must know whether it has a type, or it gets a second one. */
static void test_the_type_of_a_result(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}",
                       TYPES[i].result);
        patchbay_message message = scan(text);
        assert_true(patchbay_str_eq(message.result, patchbay_str_of(TYPES[i].result)));
        assert_true(patchbay_str_eq(message.result_type, patchbay_str_of(TYPES[i].type)));
    }
}

/* Ids and tokens of the hub's own are numbers; what a peer made up is none of them. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        uint64_t number;
    } IDS[] = {
        {"0", 0},
        {"9007199254740991", UINT64_C(9007199254740991)},
        {"9007199254740992", UINT64_MAX},
        {"-1", UINT64_MAX},
        {"\"7\"", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof IDS / sizeof IDS[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"m\","
                       "\"params\":{\"progressToken\":%s}}",
                       IDS[i].id, IDS[i].id);
        patchbay_message message = scan(text);
        assert_true(patchbay_str_eq(message.id, patchbay_str_of(IDS[i].id)));
        assert_int_equal(message.id_number, IDS[i].number);
        assert_int_equal(message.progress_token_number, IDS[i].number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_type_of_a_result),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
