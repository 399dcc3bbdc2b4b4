/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are those of RELIABILITY.md, group B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/mcp_headers.h"

#define B64(text) "=?base64?" text "?="
#define ABSENT    NULL

/* P12: what the header says, what the body says, and whether they agree. */
static const struct {
    const char *header;
    const char *json;
    bool agree;
} CHECKS[] = {
    /* the specification's examples */
    {"us-west1", "\"us-west1\"", true},
    {B64("SGVsbG8sIOS4lueVjA=="), "\"Hello, \xe4\xb8\x96\xe7\x95\x8c\"", true},
    {B64("SGVsbG8sIOS4lueVjA=="), "\"Hello, \\u4e16\\u754C\"", true},
    {B64("IHBhZGRlZCA="), "\" padded \"", true},
    {B64("bGluZTEKbGluZTI="), "\"line1\\nline2\"", true},
    {B64("PT9iYXNlNjQ/bGl0ZXJhbD89"), "\"=?base64?literal?=\"", true},
    /* strings: values are case-sensitive, white space around them is not theirs */
    {" \tus-west1\t ", "\"us-west1\"", true},
    {"US-west1", "\"us-west1\"", false},
    {"us-west", "\"us-west1\"", false},
    {"us-west12", "\"us-west1\"", false},
    {"\"us-west1\"", "\"us-west1\"", false},
    {"\"us-west1\"", "\"\\\"us-west1\\\"\"", true},
    {"padded", "\" padded \"", false},
    {"a b\tc", "\"a b\\tc\"", true},
    {"a,b", "\"a,b\"", true},
    {"", "\"\"", true},
    {"  ", "\"\"", true},
    {"", "\" \"", false},
    {"x", "\"\"", false},
    {"a/b", "\"a\\/b\"", true},
    {"a\\b", "\"a\\\\b\"", true},
    {"a\\/b", "\"a\\/b\"", false},
    {"A", "\"\\u0041\"", true},
    {"\\u0041", "\"\\u0041\"", false},
    {B64("CAwKDQk="), "\"\\b\\f\\n\\r\\t\"", true},
    {B64("AA=="), "\"\\u0000\"", true},
    {B64("YQBi"), "\"a\\u0000b\"", true},
    {"a", "\"a\\u0000b\"", false},
    {B64("8J+YgA=="), "\"\\ud83d\\ude00\"", true},
    {B64("8J+YgA=="), "\"\\uD83D\\uDE00\"", true},
    {B64("77+9"), "\"\\ud83d\"", false},
    {B64("77+9"), "\"\\ude00\"", false},
    {B64("77+9"), "\"\\ud83d\\u0041\"", false},
    {B64("77+9"), "\"\\ud83dx\"", false},
    {B64("w6k="), "\"\\u00e9\"", true},
    {B64("w6k="), "\"\xc3\xa9\"", true},
    {B64("w6k="), "\"e\\u0301\"", false}, /* nothing is normalised */
    {"null", "\"null\"", true},
    {"42", "\"42\"", true},
    {"42.0", "\"42\"", false},
    {"true", "\"true\"", true},
    /* the encoded form */
    {B64("dXMtd2VzdDE="), "\"us-west1\"", true},
    {" " B64("dXMtd2VzdDE=") "\t", "\"us-west1\"", true},
    {B64(""), "\"\"", true},
    {"=?BASE64?dXMtd2VzdDE=?=", "\"us-west1\"", false},
    {"=?Base64?dXMtd2VzdDE=?=", "\"us-west1\"", false},
    {"=?BASE64?dXMtd2VzdDE=?=", "\"=?BASE64?dXMtd2VzdDE=?=\"", true}, /* plain text */
    {"=?utf-8?B?dXMtd2VzdDE=?=", "\"us-west1\"", false},
    {"=?base64?dXMtd2VzdDE=", "\"us-west1\"", false},
    {"=?base64?dXMtd2VzdDE=", "\"=?base64?dXMtd2VzdDE=\"", true}, /* plain text, no end */
    {"=?base64?dXMtd2VzdDE=?", "\"us-west1\"", false},
    {"=?base64dXMtd2VzdDE=?=", "\"us-west1\"", false},
    {"?base64?dXMtd2VzdDE=?=", "\"us-west1\"", false},
    {"x" B64("dXMtd2VzdDE="), "\"us-west1\"", false},
    {B64("dXMtd2VzdDE=") "x", "\"us-west1\"", false},
    {"dXMtd2VzdDE=", "\"us-west1\"", false},
    {"=?base64?literal?=", "\"=?base64?literal?=\"", false}, /* must have been encoded */
    {"=?base64?=", "\"=?base64?=\"", false},
    {"=?base64?=", "\"\"", false},
    {"=?base64?", "\"=?base64?\"", true},
    {B64("PT9iYXNlNjQ/WlE9PT89"), "\"=?base64?ZQ==?=\"", true}, /* decoded once only */
    {B64("PT9iYXNlNjQ/WlE9PT89"), "\"e\"", false},
    /* Base64 that is not canonical */
    {B64("dXMtd2VzdDE"), "\"us-west1\"", false},
    {B64("dXMtd2VzdDF="), "\"us-west1\"", false},
    {B64("dXMtd2VzdDG="), "\"us-west1\"", false},
    {B64("dXMtd2VzdDE=="), "\"us-west1\"", false},
    {B64("dXMtd2VzdDE===="), "\"us-west1\"", false},
    {B64("dXMtd2VzdDE= "), "\"us-west1\"", false},
    {B64(" dXMtd2VzdDE="), "\"us-west1\"", false},
    {B64("dXMt d2VzdDE="), "\"us-west1\"", false},
    {B64("dXMt\td2VzdDE="), "\"us-west1\"", false},
    {B64("dXM=dXM="), "\"usus\"", false},
    {B64("dX=t"), "\"us\"", false},
    {B64("d==="), "\"u\"", false},
    {B64("===="), "\"\"", false},
    {B64("="), "\"\"", false},
    {B64("=="), "\"\"", false},
    {B64("ZQ=="), "\"e\"", true},
    {B64("ZR=="), "\"e\"", false},
    {B64("Zf=="), "\"e\"", false},
    {B64("ZWU="), "\"ee\"", true},
    {B64("ZWV="), "\"ee\"", false},
    {B64("ZWVl"), "\"eee\"", true},
    {B64("Pz8/"), "\"???\"", true},
    {B64("Pz8_"), "\"???\"", false},
    {B64("fn5+"), "\"~~~\"", true},
    {B64("fn5-"), "\"~~~\"", false},
    {B64("ZQ%3D%3D"), "\"e\"", false},
    {B64("Z?=="), "\"e\"", false},
    {B64("*Q=="), "\"e\"", false},
    /* what is encoded is not UTF-8 */
    {B64("/w=="), "\"\xff\"", false},
    {B64("wIA="), "\"\\u0000\"", false},
    {B64("7aC9"), "\"\\ud83d\"", false},
    {B64("w6k=") "x", "\"\xc3\xa9x\"", false},
    /* invalid characters */
    {"\xc3\xa9", "\"\xc3\xa9\"", false},
    {"a\x01", "\"a\\u0001\"", false},
    {"a\x7f", "\"a\x7f\"", false},
    {"a\nb", "\"a\\nb\"", false},
    {"a\r", "\"a\\r\"", false},
    /* integers: as numbers */
    {"42", "42", true},
    {"42.0", "42", true},
    {"42", "42.0", true},
    {"42", "42.000", true},
    {"4.2e1", "42", true},
    {"42", "4.2E+1", true},
    {"420e-1", "42", true},
    {"0.42e2", "42", true},
    {"42e0", "42", true},
    {" 42 ", "42", true},
    {B64("NDI="), "42", true},
    {"43", "42", false},
    {"42.5", "42.5", false},
    {"42.1", "42", false},
    {"4.2", "42", false},
    {"-7", "-7", true},
    {"7", "-7", false},
    {"-7", "7", false},
    {"0", "0", true},
    {"-0", "0", true},
    {"0.0", "0", true},
    {"0e5", "0", true},
    {"0", "0e999999999999999999999", true},
    {"100", "1e2", true},
    {"1e2", "100", true},
    {"10200", "1.02e4", true},
    {"10", "1", false},
    {"1000000000000000", "1e15", true},
    {"1e-1", "0.1", false},
    {"+42", "42", false},
    {"042", "42", false},
    {"00", "0", false},
    {"-", "0", false},
    {"", "0", false},
    {"42.", "42", false},
    {".42e2", "42", false},
    {"42e", "42", false},
    {"42e+", "42", false},
    {"42ee0", "42", false},
    {"42 0", "42", false},
    {"4_2", "42", false},
    {"0x2a", "42", false},
    {"--42", "42", false},
    {"42abc", "42", false},
    {"42,42", "42", false},
    {"NaN", "0", false},
    {"true", "1", false},
    {"\"42\"", "42", false},
    {"9007199254740991", "9007199254740991", true},
    {"-9007199254740991", "-9007199254740991", true},
    {"9007199254740991.0", "9.007199254740991e15", true},
    {"9007199254740992", "9007199254740992", false},
    {"9007199254740993", "9007199254740992", false},
    {"-9007199254740992", "-9007199254740992", false},
    {"18446744073709551658", "42", false}, /* 2^64 + 42 */
    {"1e400", "1e400", false},
    {"1e999999999999999999999", "1e999999999999999999999", false},
    {"10000000000000000000000000000000000000001", "1", false},
    {"0.00000000000000000000000000000000000042e38", "42", true},
    /* booleans: as written */
    {"true", "true", true},
    {"false", "false", true},
    {"false", "true", false},
    {"True", "true", false},
    {"TRUE", "true", false},
    {"1", "true", false},
    {"0", "false", false},
    {"", "false", false},
    {B64("dHJ1ZQ=="), "true", true},
    /* absent on one side */
    {ABSENT, "", true},
    {ABSENT, "null", true},
    {ABSENT, "\"x\"", false},
    {ABSENT, "\"\"", false},
    {ABSENT, "0", false},
    {ABSENT, "false", false},
    {"x", "", false},
    {"", "", false},
    {"null", "null", false},
    {"", "null", false},
    /* values that no header repeats, and no JSON */
    {"{}", "{}", false},
    {"[]", "[]", false},
    {"x", "x", false},
    {"", "\"", false},
    {"\"", "\"", false},
    {"x", "\"x", false},
    {"x\"y", "\"x\"y\"", false},
    {"x", "\"\\x\"", false},
    {"x", "\"x\\\"", false},
    {"x", "\"\\u\"", false},
    {"A", "\"\\u004\"", false},
    {"A", "\"\\u004g\"", false},
};

static void test_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CHECKS / sizeof CHECKS[0]; i++) {
        hub_error error = {.code = HUB_OK};
        hub_str value = hub_str_of(CHECKS[i].header);
        hub_err err = hub_mcp_header_check(CHECKS[i].header != NULL ? &value : NULL, HUB_MCP_BASE64,
                                           hub_str_of(CHECKS[i].json), &error);
        if (err != (CHECKS[i].agree ? HUB_OK : HUB_EINVAL)) {
            print_error("%s and %s: %d\n", CHECKS[i].header, CHECKS[i].json, (int)err);
        }
        assert_int_equal(err, CHECKS[i].agree ? HUB_OK : HUB_EINVAL);
        assert_int_equal(error.code, err);
    }
}

/* P12: Mcp-Method and MCP-Protocol-Version have no encoded form. */
static void test_plain(void **state)
{
    (void)state;
    static const hub_str ENCODED = {.ptr = B64("ZQ=="), .len = 15};
    static const hub_str PLAIN = {.ptr = " tools/call ", .len = 12};
    assert_int_equal(hub_mcp_header_check(&PLAIN, HUB_MCP_PLAIN, HUB_STR("\"tools/call\""), NULL),
                     HUB_OK);
    assert_int_equal(hub_mcp_header_check(&PLAIN, HUB_MCP_PLAIN, HUB_STR("\"Tools/call\""), NULL),
                     HUB_EINVAL);
    assert_int_equal(hub_mcp_header_check(&ENCODED, HUB_MCP_PLAIN, HUB_STR("\"e\""), NULL),
                     HUB_EINVAL);
    assert_int_equal(
        hub_mcp_header_check(&ENCODED, HUB_MCP_PLAIN, HUB_STR("\"" B64("ZQ==") "\""), NULL),
        HUB_OK);
}

/* It appends, or leaves what was there. */
static void test_decode(void **state)
{
    (void)state;
    hub_buf out;
    hub_buf_init(&out, 12);
    hub_buf_add(&out, HUB_STR("a"));
    assert_int_equal(hub_mcp_header_decode(HUB_STR(" b "), HUB_MCP_BASE64, &out, NULL), HUB_OK);
    assert_int_equal(hub_mcp_header_decode(HUB_STR(B64("Yw==")), HUB_MCP_BASE64, &out, NULL),
                     HUB_OK);
    assert_int_equal(hub_mcp_header_decode(HUB_STR(B64("ZGVmZZ==")), HUB_MCP_BASE64, &out, NULL),
                     HUB_EINVAL);
    assert_int_equal(hub_mcp_header_decode(HUB_STR(B64("ZGVm/w==")), HUB_MCP_BASE64, &out, NULL),
                     HUB_EINVAL);
    assert_true(hub_str_is(hub_buf_str(&out), "abc"));
    assert_int_equal(hub_mcp_header_decode(HUB_STR("0123456789"), HUB_MCP_BASE64, &out, NULL),
                     HUB_ELIMIT);
    assert_true(hub_str_is(hub_buf_str(&out), "abc"));
    hub_buf_clear(&out);
    assert_int_equal(
        hub_mcp_header_decode(HUB_STR(B64("MDEyMzQ1Njc4OTAxMjM0")), HUB_MCP_BASE64, &out, NULL),
        HUB_ELIMIT);
    assert_int_equal(out.len, 0);
    hub_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_decode),
    };
    return cmocka_run_group_tests_name("mcp_headers", tests, NULL, NULL);
}
