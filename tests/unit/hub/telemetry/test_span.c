/* SPDX-License-Identifier: Apache-2.0 */
/* A span's text, to the byte: whatever others call things, it is JSON. */
#include "hub/telemetry/span.h"

#include "base/limits.h"
#include "redact/redact.h"
#include "wire/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define OWN   "b7ad6b7169203331"
#define OTHER "00f067aa0ba902b7"

static hub_span_start start_of(hub_span_kind kind)
{
    return (hub_span_start){
        .own = {.trace_id = TRACE, .span_id = OWN, .is_sampled = true},
        .kind = kind,
        .method = HUB_STR("tools/call"),
        .name = HUB_STR("tools/call"),
        .begin_ns = UINT64_C(1700000000000000000),
        .begin_us = 1000,
    };
}

static void check(hub_span *span, uint64_t now_us, const char *expected)
{
    hub_str value;
    hub_span_end(span, now_us);
    assert_true(hub_buf_ok(&span->text));
    assert_int_equal(hub_json_check(hub_buf_str(&span->text), &value, NULL), HUB_OK);
    if (expected != NULL) {
        assert_int_equal(span->text.len, strlen(expected));
        assert_memory_equal(span->text.ptr, expected, span->text.len);
    }
}

static void test_the_least(void **state)
{
    (void)state;
    hub_span_start start = start_of(HUB_SPAN_SERVER);
    hub_span *span = hub_span_create(&start);
    check(
        span, 1500,
        "{\"traceId\":\"" TRACE "\",\"spanId\":\"" OWN "\",\"flags\":257,\"kind\":2,"
        "\"startTimeUnixNano\":\"1700000000000000000\",\"name\":\"tools/call\","
        "\"attributes\":[{\"key\":\"mcp.method.name\",\"value\":{\"stringValue\":\"tools/call\"}}],"
        "\"endTimeUnixNano\":\"1700000000000500000\"}");
    hub_span_destroy(span);
    hub_span_destroy(NULL);
}

static void test_all(void **state)
{
    (void)state;
    hub_span_start start = start_of(HUB_SPAN_CLIENT);
    memcpy(start.parent_id, OTHER, sizeof OTHER);
    start.is_remote = true;
    start.state = HUB_STR("\"a=b\"");
    start.target = HUB_STR("echo");
    start.has_link = true;
    start.link = (hub_trace){.trace_id = TRACE, .span_id = OTHER, .is_sampled = true};
    hub_span *span = hub_span_create(&start);
    hub_str said = hub_span_state(span);
    assert_memory_equal(said.ptr, "\"a=b\"", said.len);
    assert_int_equal(said.len, 5);
    hub_span_add_text(span, HUB_SPAN_TEXT("a"), HUB_STR("b"));
    hub_span_add_text(span, HUB_SPAN_TEXT("left.out"), HUB_STR_EMPTY);
    hub_span_add_word(span, HUB_SPAN_TEXT("w"), HUB_STR("pipe"));
    hub_span_add_digits(span, HUB_SPAN_TEXT("d"), UINT64_MAX);
    hub_span_add_digits(span, HUB_SPAN_NUMBER("n"), 0);
    hub_span_fail(span, HUB_STR("tool_error"), HUB_STR("no"));
    check(
        span, 900, /* it never ends before it begins */
        "{\"traceId\":\"" TRACE "\",\"spanId\":\"" OWN "\",\"parentSpanId\":\"" OTHER "\","
        "\"traceState\":\"a=b\",\"flags\":769,\"kind\":3,"
        "\"startTimeUnixNano\":\"1700000000000000000\","
        "\"links\":[{\"traceId\":\"" TRACE "\",\"spanId\":\"" OTHER "\",\"flags\":769}],"
        "\"name\":\"tools/call echo\","
        "\"attributes\":[{\"key\":\"mcp.method.name\",\"value\":{\"stringValue\":\"tools/call\"}},"
        "{\"key\":\"a\",\"value\":{\"stringValue\":\"b\"}},"
        "{\"key\":\"w\",\"value\":{\"stringValue\":\"pipe\"}},"
        "{\"key\":\"d\",\"value\":{\"stringValue\":\"18446744073709551615\"}},"
        "{\"key\":\"n\",\"value\":{\"intValue\":\"0\"}},"
        "{\"key\":\"error.type\",\"value\":{\"stringValue\":\"tool_error\"}}],"
        "\"endTimeUnixNano\":\"1700000000000000000\",\"status\":{\"code\":2,\"message\":\"no\"}}");
    hub_span_destroy(span);
}

/* A failure that says nothing. */
static void test_no_message(void **state)
{
    (void)state;
    hub_span_start start = start_of(HUB_SPAN_SERVER);
    hub_span *span = hub_span_create(&start);
    hub_span_fail(span, HUB_STR("-32603"), HUB_STR_EMPTY);
    check(span, 1000, NULL);
    assert_true(hub_str_find(hub_buf_str(&span->text),
                             HUB_STR("\"status\":{\"code\":2,\"message\":\"\"}}")) != SIZE_MAX);
    hub_span_destroy(span);
}

/* Whatever somebody calls a tool: control characters, quotes, no UTF-8, and longer than any may be. */
static void test_texts_of_others(void **state)
{
    static char longest[3 * HUB_LIMIT_SPAN_CONTENT_BYTES];
    static const char *const TEXTS[] = {"\"",        "\\",   "\x01\x1b[31m", "\xff\xfe",
                                        "a\xe2\x82", "\t\n", "\x7f",         "\xe2\x80\xae"};
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        hub_span_start start = start_of(HUB_SPAN_SERVER);
        start.method = start.name = start.target = hub_str_of(TEXTS[i]);
        hub_span *span = hub_span_create(&start);
        hub_span_add_text(span, HUB_SPAN_TEXT("t"), hub_str_of(TEXTS[i]));
        hub_span_fail(span, hub_str_of(TEXTS[i]), hub_str_of(TEXTS[i]));
        check(span, 1000, NULL);
        hub_span_destroy(span);
    }
    for (size_t i = 0; i < sizeof longest; i++) {
        longest[i] = "\xe2\x82\xac"[i % 3];
    }
    hub_span_start start = start_of(HUB_SPAN_SERVER);
    start.method = start.name = start.target = (hub_str){.ptr = longest, .len = sizeof longest};
    hub_span *span = hub_span_create(&start);
    size_t before = span->text.len;
    assert_in_range(before, 3 * (HUB_LIMIT_SPAN_TEXT_BYTES - 2),
                    3 * HUB_LIMIT_SPAN_TEXT_BYTES + 400);
    hub_span_add_content(span, HUB_SPAN_TEXT("c"), start.target);
    assert_in_range(span->text.len - before, HUB_LIMIT_SPAN_CONTENT_BYTES - 2,
                    HUB_LIMIT_SPAN_CONTENT_BYTES + 50);
    check(span, 1000, NULL);
    hub_span_destroy(span);
}

/* In each place that a text of others comes to. */
static void test_secrets(void **state)
{
    (void)state;
    hub_str secret = HUB_STR("the-canary-of-all");
    hub_redact_set *set = hub_redact_set_create();
    assert_int_equal(hub_redact_set_add(set, secret), HUB_OK);
    hub_span_start start = start_of(HUB_SPAN_SERVER);
    start.method = start.name = start.target = secret;
    hub_span *span = hub_span_create(&start);
    hub_span_add_text(span, HUB_SPAN_TEXT("t"), secret);
    hub_span_add_text(span, HUB_SPAN_TEXT("token"), HUB_STR("Bearer canary-token"));
    hub_span_add_content(span, HUB_SPAN_TEXT("c"), secret);
    hub_span_fail(span, secret, secret);
    check(span, 1000, NULL);
    assert_true(hub_str_find(hub_buf_str(&span->text), HUB_STR("canary")) == SIZE_MAX);
    hub_span_destroy(span);
    hub_redact_set_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_least),  cmocka_unit_test(test_all),
        cmocka_unit_test(test_no_message), cmocka_unit_test(test_texts_of_others),
        cmocka_unit_test(test_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
