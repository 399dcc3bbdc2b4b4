/* SPDX-License-Identifier: Apache-2.0 */
/* W3C Trace Context as requests carry it. */
#include "wire/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN  "b7ad6b7169203331"

static void test_read(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
        bool is_sampled;
    } CASES[] = {
        {"00-" TRACE "-" SPAN "-01", true, true},
        {"00-" TRACE "-" SPAN "-00", true, false},
        {"00-" TRACE "-" SPAN "-ff", true, true},
        {"00-" TRACE "-" SPAN "-02", true, false},
        {"01-" TRACE "-" SPAN "-01", true, true},
        {"cc-" TRACE "-" SPAN "-01-more", true, true},
        {"cc-" TRACE "-" SPAN "-01.more", false, false},
        {"00-" TRACE "-" SPAN "-01-more", false, false},
        {"00-" TRACE "-" SPAN "-01 ", false, false},
        {"ff-" TRACE "-" SPAN "-01", false, false},
        {"0g-" TRACE "-" SPAN "-01", false, false},
        {"00-" TRACE "-" SPAN "-0", false, false},
        {"00-" TRACE "-" SPAN "-0g", false, false},
        {"00-" TRACE "-" SPAN "", false, false},
        {"00-" TRACE "_" SPAN "-01", false, false},
        {"00-0AF7651916cd43dd8448eb211c80319c-" SPAN "-01", false, false},
        {"00-" TRACE "-B7AD6B7169203331-01", false, false},
        {"00-00000000000000000000000000000000-" SPAN "-01", false, false},
        {"00-" TRACE "-0000000000000000-01", false, false},
        {"", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_trace trace;
        char text[HUB_TRACEPARENT_BYTES];
        assert_int_equal(hub_trace_read(hub_str_of(CASES[i].text), &trace), CASES[i].is_good);
        if (CASES[i].is_good) {
            assert_string_equal(trace.trace_id, TRACE);
            assert_string_equal(trace.span_id, SPAN);
            assert_int_equal(trace.is_sampled, CASES[i].is_sampled);
            hub_trace_write(&trace, text);
            assert_string_equal(text, CASES[i].is_sampled ? "00-" TRACE "-" SPAN "-01"
                                                          : "00-" TRACE "-" SPAN "-00");
        }
    }
}

static void test_in_meta(void **state)
{
    static const char GOOD[] = "{\"a\":1,\"traceparent\":\"00-" TRACE "-" SPAN "-01\"}";
    static const char *const NONE[] = {
        "",
        "{}",
        "[]",
        "\"traceparent\"",
        "{\"traceparent\":7}",
        "{\"traceparent\":\"00-" TRACE "\"}",
        "{\"a\":{\"traceparent\":\"00-" TRACE "-" SPAN "-01\"}}",
        "{\"traceparent\":\"00-" TRACE "-" SPAN "-01\",\"traceparent\":\"00-" TRACE "-" SPAN
        "-01\"}",
    };
    hub_trace trace;
    (void)state;
    assert_true(hub_trace_of_meta(hub_str_of(GOOD), &trace));
    hub_str id = hub_trace_id_in(hub_str_of(GOOD));
    assert_true(hub_str_is(id, TRACE));
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        assert_false(hub_trace_of_meta(hub_str_of(NONE[i]), &trace));
        assert_int_equal(hub_trace_id_in(hub_str_of(NONE[i])).len, 0);
    }
}

static void check_meta(const char *meta, bool belongs, const char *wanted)
{
    const hub_trace trace = {.trace_id = TRACE, .span_id = SPAN, .is_sampled = true};
    hub_buf out;
    hub_buf_init(&out, 4096);
    hub_trace_add_meta(&out, hub_str_of(meta), &trace, belongs);
    assert_true(hub_str_is(hub_buf_str(&out), wanted));
    hub_buf_fini(&out);
}

/* All other members stay as they are, in their order. */
static void test_add(void **state)
{
#define OURS "{\"traceparent\":\"00-" TRACE "-" SPAN "-01\""
    (void)state;
    check_meta("", true, OURS "}");
    check_meta("{}", true, OURS "}");
    check_meta("{ \"x\" : [1, 2] , \"baggage\":\"k=v\" }", true,
               OURS ",\"x\":[1, 2],\"baggage\":\"k=v\"}");
    check_meta("{\"traceparent\":1,\"x\":1,\"traceparent\":2}", true, OURS ",\"x\":1}");
    check_meta("{\"\\u0074raceparent\":1}", true, OURS "}");
    check_meta("{\"tracestate\":\"a=b\"}", true, OURS ",\"tracestate\":\"a=b\"}");
    check_meta("{\"tracestate\":\"a=b\",\"y\":0}", false, OURS ",\"y\":0}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_in_meta),
        cmocka_unit_test(test_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
