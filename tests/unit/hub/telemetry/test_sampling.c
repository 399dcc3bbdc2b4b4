/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests are recorded: so many of those that have no parent, and what a parent says of others. */
#include "hub/telemetry/telemetry_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PARENT     "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
#define SAMPLED    "{\"traceparent\":\"00-" PARENT "-01\"}"
#define UNSAMPLED  "{\"traceparent\":\"00-" PARENT "-00\"}"
#define NO_PARENT  "{\"progressToken\":1}"
#define HALF_TIMES (HUB_OTEL_ALL_TRACES / 2)

enum { TRIES = 400000 };

/* A share of the traces; what is drawn is the same in each run, but for the first. */
static void begin(hub_telemetry *telemetry, uint64_t bound, bool asks_parent)
{
    memset(telemetry, 0, sizeof *telemetry);
    telemetry->settings.sampler = (hub_otel_sampler){.asks_parent = asks_parent, .bound = bound};
    hub_telemetry_shuffle(telemetry);
    telemetry->drawn = 42;
}

static bool is_recorded(hub_telemetry *telemetry, hub_str meta, hub_trace *own, char *parent)
{
    return hub_telemetry_look(telemetry, meta) &&
           hub_telemetry_choose(telemetry, meta, own, parent);
}

static uint64_t number_of(const hub_trace *trace)
{
    uint64_t number = 0;
    for (size_t i = 16; i < 32; i++) {
        number = number << 4 | (uint64_t)hub_str_hex_digit(trace->trace_id[i]);
    }
    return number >> 1;
}

/* As many as the share says, within five standard deviations, and as often two in succession as if each
 * were drawn for by itself; their ids say so to others who go by the same share. Whether a request has a
 * `_meta` without a parent makes no difference. */
static void test_share(void **state)
{
    static const uint64_t BOUNDS[] = {HUB_OTEL_ALL_TRACES / 100, HUB_OTEL_ALL_TRACES / 4,
                                      HALF_TIMES, HUB_OTEL_ALL_TRACES - HUB_OTEL_ALL_TRACES / 8};
    (void)state;
    for (size_t i = 0; i < sizeof BOUNDS / sizeof BOUNDS[0]; i++) {
        hub_telemetry telemetry;
        hub_trace own;
        char parent[HUB_SPAN_ID_BYTES];
        double share = (double)BOUNDS[i] / (double)HUB_OTEL_ALL_TRACES;
        double count = 0;
        double pairs = 0;
        double low = 0; /* in the lower half of what ids may be */
        bool was_recorded = false;
        begin(&telemetry, BOUNDS[i], true);
        telemetry.passing = 0; /* what was drawn at random */
        for (int one = 0; one < TRIES; one++) {
            hub_str meta = one % 3 == 0 ? HUB_STR(NO_PARENT) : HUB_STR_EMPTY;
            bool is = is_recorded(&telemetry, meta, &own, parent);
            count += is;
            pairs += is && was_recorded;
            was_recorded = is;
            if (is) {
                assert_true(number_of(&own) < BOUNDS[i]);
                assert_int_equal(parent[0], '\0');
                low += number_of(&own) < BOUNDS[i] / 2;
            }
        }
        double off = count - share * TRIES;
        assert_true(off * off < 25 * share * (1 - share) * TRIES);
        off = pairs - share * share * TRIES; /* pairs overlap: thrice the variance is enough */
        assert_true(off * off < 3 * 25 * share * share * TRIES);
        off = low - count / 2;
        assert_true(off * off < 25 * count / 4);
    }
}

static void test_all_and_none(void **state)
{
    hub_telemetry telemetry;
    hub_trace own;
    char parent[HUB_SPAN_ID_BYTES];
    (void)state;
    begin(&telemetry, HUB_OTEL_ALL_TRACES, true);
    for (int i = 0; i < 1000; i++) {
        assert_true(is_recorded(&telemetry, HUB_STR_EMPTY, &own, parent));
    }
    begin(&telemetry, 0, true);
    for (int i = 0; i < TRIES; i++) {
        assert_false(is_recorded(&telemetry, HUB_STR_EMPTY, &own, parent));
    }
    assert_false(is_recorded(&telemetry, HUB_STR(NO_PARENT), &own, parent));
}

/* The least share that there is does not make a walk without end of drawing an id. */
static void test_least(void **state)
{
    hub_telemetry telemetry;
    hub_trace own;
    char parent[HUB_SPAN_ID_BYTES];
    (void)state;
    begin(&telemetry, 1, true);
    assert_true(telemetry.passing > UINT32_MAX);
    telemetry.passing = 0; /* that many later */
    assert_true(is_recorded(&telemetry, HUB_STR_EMPTY, &own, parent));
    assert_true(number_of(&own) == 0);
}

/* A parent's word, or, for who does not ask it, its trace's id; neither counts as one that was passed over. */
static void test_parents(void **state)
{
    hub_telemetry telemetry;
    hub_trace own;
    char parent[HUB_SPAN_ID_BYTES];
    (void)state;
    begin(&telemetry, HUB_OTEL_ALL_TRACES / 100, true);
    uint64_t passing = telemetry.passing;
    for (int i = 0; i < 1000; i++) {
        assert_true(is_recorded(&telemetry, HUB_STR(SAMPLED), &own, parent));
        assert_false(is_recorded(&telemetry, HUB_STR(UNSAMPLED), &own, parent));
    }
    assert_memory_equal(own.trace_id, PARENT, HUB_TRACE_ID_BYTES - 1);
    assert_string_equal(parent, "00f067aa0ba902b7");
    assert_string_not_equal(own.span_id, parent);
    assert_true(telemetry.passing == passing);
    /* a3ce929d0e0e4736 / 2: beyond a half, within three quarters */
    begin(&telemetry, HALF_TIMES, false);
    assert_false(is_recorded(&telemetry, HUB_STR(SAMPLED), &own, parent));
    begin(&telemetry, HALF_TIMES / 2 * 3, false);
    assert_true(is_recorded(&telemetry, HUB_STR(UNSAMPLED), &own, parent));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_all_and_none),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
