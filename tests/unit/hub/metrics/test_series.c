/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted of calls, with its bound, and how it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub/metrics/exposition.h"

#include <stdio.h>

enum {
    CELL = HUB_METRICS_CLASSES + 2 * HUB_METRICS_HISTOGRAM_SERIES,
    OTHERS = HUB_METRICS_ENDS * CELL,
};

static hub_series *tool(hub_series_table *table, const char *name)
{
    return hub_series_of(table, "tools/call", HUB_STR("t"), hub_str_of(name));
}

static bool is_other(const hub_series *series)
{
    return strcmp(series->name, "other") == 0 && strcmp(series->toolset, "other") == 0;
}

/* One entry for each tool, and the same one again; neither the toolset nor the method runs into the
 * name. */
static void test_entries(void **state)
{
    (void)state;
    hub_series_table *table = hub_series_table_create();
    hub_series *one = tool(table, "one");
    assert_ptr_equal(tool(table, "one"), one);
    assert_ptr_not_equal(tool(table, "two"), one);
    assert_ptr_not_equal(hub_series_of(table, "tools/call", HUB_STR("to"), HUB_STR("ne")), one);
    assert_ptr_not_equal(hub_series_of(table, "prompts/get", HUB_STR("t"), HUB_STR("one")), one);
    assert_string_equal(one->toolset, "t");
    assert_string_equal(one->name, "one");
    assert_true(is_other(tool(table, "a\nb")));
    assert_true(is_other(hub_series_of(table, "tools/call", HUB_STR("t"), HUB_STR("a\0b"))));
    hub_series_table_destroy(table);
}

/* At the bound all are told apart; what is beyond it is "other", and is not lost. */
static void test_bound(void **state)
{
    (void)state;
    hub_series_table *table = hub_series_table_create();
    hub_series_table_limit(table, OTHERS + 2 * CELL);
    hub_series *one = tool(table, "one");
    hub_series *two = tool(table, "two");
    hub_series *late = tool(table, "three"); /* is there, but no call of it has ended */
    assert_false(is_other(late));
    hub_series_cell(one, HUB_METRICS_OK)->ended[HUB_METRICS_LOCAL]++;
    hub_series_cell(two, HUB_METRICS_OK)->ended[HUB_METRICS_LOCAL]++;
    assert_int_equal(hub_series_table_used(table), 2 * CELL);
    assert_int_equal(hub_series_table_overflows(table), 0);
    hub_series_cell(late, HUB_METRICS_OK)->ended[HUB_METRICS_LOCAL]++;
    hub_series_cell(one, HUB_METRICS_FAILED)->ended[HUB_METRICS_LOCAL]++;
    hub_series_cell(one, HUB_METRICS_FAILED)->ended[HUB_METRICS_LOCAL]++;
    assert_int_equal(hub_series_table_used(table), 2 * CELL);
    assert_int_equal(hub_series_table_overflows(table), 3);
    hub_series *other = tool(table, "four");
    assert_true(is_other(other));
    assert_int_equal(hub_series_cell(other, HUB_METRICS_OK)->ended[HUB_METRICS_LOCAL], 1);
    assert_int_equal(hub_series_cell(other, HUB_METRICS_FAILED)->ended[HUB_METRICS_LOCAL], 2);
    assert_int_equal(hub_series_cell(one, HUB_METRICS_OK)->ended[HUB_METRICS_LOCAL], 1);
    hub_series_table_limit(table, OTHERS + 3 * CELL); /* a reload gives more room */
    assert_false(is_other(tool(table, "four")));
    hub_series_table_destroy(table);
}

/* The bounds are in their buckets: `le` is "at most". */
static void test_buckets(void **state)
{
    (void)state;
    hub_histogram of = {.sum_us = 0};
    hub_histogram_add(&of, 0);
    for (size_t i = 0; i < HUB_METRICS_BUCKETS - 1; i++) {
        char text[32];
        hub_histogram_add(&of, HUB_METRICS_BOUNDS_US[i]);
        hub_histogram_add(&of, HUB_METRICS_BOUNDS_US[i] + 1);
        (void)snprintf(text, sizeof text, "%g", (double)HUB_METRICS_BOUNDS_US[i] / 1e6);
        assert_memory_equal(text, HUB_METRICS_BOUND_TEXTS[i], strlen(text));
    }
    hub_histogram_add(&of, UINT32_MAX);
    for (size_t i = 0; i < HUB_METRICS_BUCKETS; i++) {
        assert_int_equal(of.counts[i], 2);
    }
}

static const char *expose(bool is_openmetrics, hub_buf *out)
{
    static const hub_label LABELS[] = {
        {"a", {.ptr = "x\"y\\z\n", .len = 6}}, {"none", {.ptr = "", .len = 0}}, {.key = NULL}};
    hub_histogram of = {.sum_us = 0};
    hub_exposition to = {.out = out, .is_openmetrics = is_openmetrics};
    hub_histogram_add(&of, 1);
    hub_histogram_add(&of, 15000);
    memset(of.trace, 'a', sizeof of.trace);
    of.trace_us = 15000;
    of.trace_at_ms = 1700000000123;
    hub_exposition_family(&to, "calls", HUB_METRICS_COUNTER, "Calls.");
    hub_exposition_count(&to, LABELS, 7);
    hub_exposition_family(&to, "age_seconds", HUB_METRICS_GAUGE, "Age.");
    hub_exposition_seconds(&to, HUB_NO_LABELS, 1000002);
    hub_exposition_family(&to, "took_seconds", HUB_METRICS_HISTOGRAM, "Took.");
    hub_exposition_histogram(&to, HUB_NO_LABELS, &of);
    hub_exposition_end(&to);
    hub_buf_add_char(out, '\0');
    assert_true(hub_buf_ok(out));
    return out->ptr;
}

#define assert_has(text, part)   assert_non_null(strstr(text, part))
#define assert_lacks(text, part) assert_null(strstr(text, part))

static void test_formats(void **state)
{
    (void)state;
    hub_buf out;
    hub_buf_init(&out, 65536);
    const char *text = expose(false, &out);
    assert_has(text, "# TYPE calls_total counter\ncalls_total{a=\"x\\\"y\\\\z\\n\"} 7\n");
    assert_has(text, "\nage_seconds 1.000002\n");
    assert_has(text, "took_seconds_bucket{le=\"0.01\"} 1\ntook_seconds_bucket{le=\"0.02\"} 2\n");
    assert_has(text, "took_seconds_bucket{le=\"+Inf\"} 2\ntook_seconds_sum 0.015001\n"
                     "took_seconds_count 2\n");
    assert_lacks(text, "EOF");
    assert_lacks(text, "trace_id");
    assert_lacks(text, "UNIT");
    hub_buf_fini(&out);
    text = expose(true, &out);
    assert_has(text, "# TYPE calls counter\ncalls_total{");
    assert_has(text, "# UNIT age_seconds seconds\n");
    assert_has(text, "took_seconds_bucket{le=\"0.01\"} 1\n");
    assert_has(
        text, "took_seconds_bucket{le=\"0.02\"} 2 # {trace_id=\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}"
              " 0.015000 1700000000.123\n");
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    hub_buf_fini(&out);
}

/* Every kind of principal that there is has a class of its own. */
static void test_classes(void **state)
{
    static const char *const NAMES[] = {"nobody",  "local",  "anonymous", "token:x",
                                        "jwt:i#s", "cert:x", "uid:1000"};
    (void)state;
    for (size_t i = 0; i < HUB_METRICS_CLASSES; i++) {
        assert_int_equal(hub_metrics_class_of(NAMES[i]), i);
        assert_int_equal(strncmp(NAMES[i], hub_metrics_class_word((hub_metrics_class)i), 3) == 0,
                         i != HUB_METRICS_OTHER_CLASS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries), cmocka_unit_test(test_bound),
        cmocka_unit_test(test_buckets), cmocka_unit_test(test_formats),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
