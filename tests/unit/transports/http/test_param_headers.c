/* SPDX-License-Identifier: Apache-2.0 */
/* Mcp-Param-*: which arguments have to be repeated, and that each member is looked at once.
 * spec: MCP 2026-07-28 basic/transports/streamable-http, Server Behavior for Custom Headers */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "base/limits.h"
#include "http/param_headers.h"
#include "wire/json.h"

#define ANNOTATED(name) "\"x-mcp-header\":\"" name "\""

/* Headers as "Name: value" lines. */
static hub_http_request make_request(const char *const *lines, size_t count)
{
    hub_http_request request = {.header_count = count};
    for (size_t i = 0; i < count; i++) {
        hub_str line = hub_str_of(lines[i]);
        size_t colon = hub_str_find(line, HUB_STR(": "));
        request.headers[i] = (hub_http_header){.name = {.ptr = line.ptr, .len = colon},
                                               .value = hub_str_from(line, colon + 2)};
    }
    return request;
}

static hub_err check(const char *const *lines, size_t count, hub_str schema, hub_str arguments,
                     size_t *steps)
{
    hub_http_request request = make_request(lines, count);
    hub_error why = {.code = HUB_OK};
    assert_int_equal(hub_json_check(schema, NULL, NULL), HUB_OK);
    assert_true(arguments.len == 0 || hub_json_check(arguments, NULL, NULL) == HUB_OK);
    hub_err err = hub_http_check_params(&request, schema, arguments, steps, &why);
    assert_int_equal(why.code, err);
    return err;
}

static void test_agree(void **state)
{
    static const char SCHEMA[] =
        "{\"type\":\"object\",\"x-mcp-header\":\"Root\",\"properties\":{"
        "\"a\":{\"type\":\"string\"," ANNOTATED(
            "A") "},"
                 "\"plain\":{\"type\":\"string\"},"
                 "\"o\":{\"properties\":{\"in\":{" ANNOTATED("In") "},\"\\u0061\":{" ANNOTATED(
                     "OA") "}},"
                           "\"properties\":{\"late\":{" ANNOTATED(
                               "Late") "}}},"
                                       "\"items\":{\"items\":{\"properties\":{\"a\":"
                                       "{" ANNOTATED(
                                           "Item") "}}}},"
                                                   "\"bad\":{\"x-mcp-header\":5},\"odd\":"
                                                   "{" ANNOTATED(
                                                       "no token") "},\"no\":true,"
                                                                   "\"\\u00e4\":{" ANNOTATED(
                                                                       "Ae") "},"
                                                                             "\"two\":"
                                                                             "{" ANNOTATED(
                                                                                 "Fir"
                                                                                 "st") "," ANNOTATED("Second") "}}"
                                                                                                               "}";
    static const struct {
        const char *arguments;
        const char *headers[4];
        bool agrees;
    } CASES[] = {
        {"{}", {NULL}, true},
        {"", {NULL}, true},
        {"[1]", {NULL}, true},
        {"{\"a\":\"x\"}", {"Mcp-Param-A: x"}, true},
        {"{\"a\":\"x\"}", {"mcp-param-a: x"}, true},
        {"{\"\\u0061\":\"x\"}", {"Mcp-Param-A: x"}, true},
        {"{\"a\":\"x\"}", {NULL}, false},
        {"{\"a\":\"x\"}", {"Mcp-Param-A: y"}, false},
        {"{}", {"Mcp-Param-A: x"}, false},
        {"{\"a\":null}", {NULL}, true},
        {"{\"a\":null}", {"Mcp-Param-A: null"}, false},
        {"{\"a\":\"x\",\"a\":\"y\"}", {"Mcp-Param-A: x"}, true}, /* the first counts */
        {"{\"a\":\"x\",\"a\":\"y\"}", {"Mcp-Param-A: y"}, false},
        {"{\"plain\":\"x\"}", {NULL}, true},
        {"{\"plain\":\"x\"}", {"Mcp-Param-Plain: other", "Mcp-Param-: x"}, true},
        {"{\"o\":{\"in\":7}}", {"Mcp-Param-In: 7"}, true},
        {"{\"o\":{\"in\":7}}", {"Mcp-Param-In: 8"}, false},
        {"{\"o\":{\"in\":7}}", {NULL}, false},
        {"{\"o\":{\"in\":7},\"o\":{\"in\":8}}", {"Mcp-Param-In: 7"}, true},
        {"{\"o\":1,\"a\":\"x\"}", {"Mcp-Param-A: x"}, true},
        {"{\"o\":{\"a\":true,\"x\":{}},\"a\":\"x\"}",
         {"Mcp-Param-OA: true", "Mcp-Param-A: x"},
         true},
        {"{\"in\":7}", {NULL}, true},
        {"{\"o\":{\"late\":7}}", {NULL}, true},
        {"{\"items\":[{\"a\":1}]}", {NULL}, true},
        {"{\"bad\":\"x\",\"odd\":\"x\",\"no\":1}", {NULL}, true},
        {"{\"\\u00e4\":\"x\"}", {"Mcp-Param-Ae: x"}, true},
        {"{\"\xc3\xa4\":\"x\"}", {"Mcp-Param-Ae: x"}, true},
        {"{\"\xc3\xa4\":\"x\"}", {NULL}, false},
        {"{\"two\":\"x\"}", {"Mcp-Param-First: x"}, true},
        {"{\"two\":\"x\"}", {"Mcp-Param-Second: x"}, false},
        {"{\"a\":{}}", {NULL}, false},
        {"{\"a\":{}}", {"Mcp-Param-A: {}"}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        size_t count = 0;
        while (CASES[i].headers[count] != NULL) {
            count++;
        }
        hub_err err = check(CASES[i].headers, count, hub_str_of(SCHEMA),
                            hub_str_of(CASES[i].arguments), NULL);
        if (err != (CASES[i].agrees ? HUB_OK : HUB_EINVAL)) {
            fail_msg("%s: %d", CASES[i].arguments, err);
        }
    }
}

/* The innermost property that is looked for, and the one inside of it. */
static void test_depth(void **state)
{
    (void)state;
    for (int depth = HUB_LIMIT_SCHEMA_DEPTH - 1; depth <= HUB_LIMIT_SCHEMA_DEPTH; depth++) {
        hub_buf schema;
        hub_buf arguments;
        hub_buf_init(&schema, 1 << 16);
        hub_buf_init(&arguments, 1 << 16);
        for (int i = 0; i < depth; i++) {
            hub_buf_add(&schema, HUB_STR("{\"properties\":{\"p\":"));
            hub_buf_add(&arguments, HUB_STR("{\"p\":"));
        }
        hub_buf_add(&schema, HUB_STR("{\"properties\":{\"p\":{" ANNOTATED("P") "}}}"));
        hub_buf_add(&arguments, HUB_STR("{\"p\":1}"));
        for (int i = 0; i < depth; i++) {
            hub_buf_add(&schema, HUB_STR("}}"));
            hub_buf_add_char(&arguments, '}');
        }
        hub_http_request request = make_request(NULL, 0);
        assert_int_equal(hub_http_check_params(&request, hub_buf_str(&schema),
                                               hub_buf_str(&arguments), NULL, NULL),
                         depth < HUB_LIMIT_SCHEMA_DEPTH ? HUB_EINVAL : HUB_OK);
        hub_buf_fini(&schema);
        hub_buf_fini(&arguments);
    }
}

/* Members are looked at once, of the one and of the other, whatever they are. */
static void test_cost(void **state)
{
    enum { MANY = 20000 };
    static const char *const SHAPES[] = {
        "\"p%d\":{\"type\":\"string\"}",                               /* nothing is asked for */
        "\"p%d\":{\"x-mcp-header\":\"P%d\"}",                          /* all are */
        "\"p\":{\"x-mcp-header\":\"P%d\"}",                            /* under one name */
        "\"o\":{\"properties\":{\"p%d\":{\"x-mcp-header\":\"P%d\"}}}", /* inside of one */
        "\"o%d\":{\"properties\":{\"p\":{\"x-mcp-header\":\"P%d\"}}}",
    };
    (void)state;
    for (size_t shape = 0; shape < sizeof SHAPES / sizeof SHAPES[0]; shape++) {
        hub_buf schema;
        hub_buf arguments;
        size_t steps = 0;
        hub_buf_init(&schema, 1 << 22);
        hub_buf_init(&arguments, 1 << 22);
        hub_buf_add(&schema, HUB_STR("{\"properties\":{"));
        hub_buf_add(&arguments, HUB_STR("{\"o\":{"));
        for (int i = 0; i < MANY; i++) {
            char text[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(text, sizeof text, SHAPES[shape], i, i);
#pragma GCC diagnostic pop
            hub_json_add_comma(&schema);
            hub_buf_add(&schema, hub_str_of(text));
            hub_json_add_comma(&arguments);
            hub_buf_printf(&arguments, "\"q%d\":null", i);
        }
        hub_buf_add_char(&arguments, '}');
        for (int i = 0; i < MANY; i++) {
            hub_buf_printf(&arguments, ",\"q%d\":null,\"o%d\":{}", i, i);
        }
        hub_buf_add(&schema, HUB_STR("}}"));
        hub_buf_add_char(&arguments, '}');
        assert_true(hub_buf_ok(&schema) && hub_buf_ok(&arguments));
        assert_int_equal(check(NULL, 0, hub_buf_str(&schema), hub_buf_str(&arguments), &steps),
                         HUB_OK);
        assert_in_range(steps, MANY, 4 * MANY + 3 * MANY + 2);
        hub_buf_fini(&schema);
        hub_buf_fini(&arguments);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agree),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
