/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/metrics/exposition.h"

#include "hub/metrics/exposition_otlp.h"

#include <inttypes.h>

static const char *const KINDS[] = {
    [HUB_METRICS_GAUGE] = "gauge",
    [HUB_METRICS_COUNTER] = "counter",
    [HUB_METRICS_HISTOGRAM] = "histogram",
};

/* The unit that a name ends in; NULL: none. */
static const char *unit_of(const char *name)
{
    static const char *const UNITS[] = {"seconds", "bytes"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        size_t unit = strlen(UNITS[i]);
        if (len > unit && name[len - unit - 1] == '_' && strcmp(name + len - unit, UNITS[i]) == 0) {
            return UNITS[i];
        }
    }
    return NULL;
}

/* The older format names a counter as its samples are. */
void hub_exposition_family(hub_exposition *to, const char *name, hub_metrics_kind kind,
                           const char *help)
{
    const char *end = kind == HUB_METRICS_COUNTER && !to->is_openmetrics ? "_total" : "";
    to->name = name;
    to->kind = kind;
    if (to->otlp != NULL) {
        hub_otlp_family(to, help);
        return;
    }
    hub_buf_printf(to->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, end, help, name, end,
                   KINDS[kind]);
    if (to->is_openmetrics && unit_of(name) != NULL) {
        hub_buf_printf(to->out, "# UNIT %s %s\n", name, unit_of(name));
    }
}

static void add_value(hub_buf *out, hub_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '\n') {
            hub_buf_add(out, HUB_STR("\\n"));
        } else {
            hub_buf_add(out, c == '"' || c == '\\' ? HUB_STR("\\") : HUB_STR_EMPTY);
            hub_buf_add_char(out, c);
        }
    }
}

/* Name and labels of a sample; `le` is the bound of a bucket, or NULL. */
static void begin_sample(hub_exposition *to, const char *suffix, const hub_label *labels,
                         const char *le)
{
    hub_buf *out = to->out;
    char before = '{';
    hub_buf_add(out, hub_str_of(to->name));
    hub_buf_add(out, hub_str_of(suffix));
    for (; labels->key != NULL; labels++) {
        if (labels->value.len > 0) {
            hub_buf_add_char(out, before);
            hub_buf_add(out, hub_str_of(labels->key));
            hub_buf_add(out, HUB_STR("=\""));
            add_value(out, labels->value);
            hub_buf_add_char(out, '"');
            before = ',';
        }
    }
    if (le != NULL) {
        hub_buf_add_char(out, before);
        hub_buf_add(out, HUB_STR("le=\""));
        hub_buf_add(out, hub_str_of(le));
        hub_buf_add_char(out, '"');
        before = ',';
    }
    hub_buf_add(out, before == ',' ? HUB_STR("} ") : HUB_STR(" "));
}

static void add_seconds(hub_buf *out, uint64_t us)
{
    hub_buf_printf(out, "%" PRIu64 ".%06u", us / 1000000, (unsigned)(us % 1000000));
}

static const char *suffix_of(const hub_exposition *to)
{
    return to->kind == HUB_METRICS_COUNTER ? "_total" : "";
}

void hub_exposition_count(hub_exposition *to, const hub_label *labels, uint64_t value)
{
    if (to->otlp != NULL) {
        hub_otlp_count(to, labels, value);
        return;
    }
    begin_sample(to, suffix_of(to), labels, NULL);
    hub_buf_add_u64(to->out, value);
    hub_buf_add_char(to->out, '\n');
}

void hub_exposition_seconds(hub_exposition *to, const hub_label *labels, uint64_t us)
{
    if (to->otlp != NULL) {
        hub_otlp_seconds(to, labels, us);
        return;
    }
    begin_sample(to, suffix_of(to), labels, NULL);
    add_seconds(to->out, us);
    hub_buf_add_char(to->out, '\n');
}

static void add_exemplar(hub_buf *out, const hub_histogram *histogram)
{
    hub_buf_printf(out, " # {trace_id=\"%.*s\"} ", HUB_METRICS_TRACE_BYTES, histogram->trace);
    add_seconds(out, histogram->trace_us);
    hub_buf_printf(out, " %" PRId64 ".%03d", histogram->trace_at_ms / 1000,
                   (int)(histogram->trace_at_ms % 1000));
}

/* Whether the exemplar lies in the bucket. */
static bool is_in(const hub_histogram *histogram, size_t bucket)
{
    uint64_t us = histogram->trace_us;
    return histogram->trace_at_ms > 0 && (bucket == 0 || us > HUB_METRICS_BOUNDS_US[bucket - 1]) &&
           (bucket == HUB_METRICS_BUCKETS - 1 || us <= HUB_METRICS_BOUNDS_US[bucket]);
}

void hub_exposition_histogram(hub_exposition *to, const hub_label *labels,
                              const hub_histogram *histogram)
{
    uint64_t count = 0;
    if (to->otlp != NULL) {
        hub_otlp_histogram(to, labels, histogram);
        return;
    }
    for (size_t i = 0; i < HUB_METRICS_BUCKETS; i++) {
        count += histogram->counts[i];
        begin_sample(to, "_bucket", labels, HUB_METRICS_BOUND_TEXTS[i]);
        hub_buf_add_u64(to->out, count);
        if (to->is_openmetrics && is_in(histogram, i)) {
            add_exemplar(to->out, histogram);
        }
        hub_buf_add_char(to->out, '\n');
    }
    begin_sample(to, "_sum", labels, NULL);
    add_seconds(to->out, histogram->sum_us);
    hub_buf_add_char(to->out, '\n');
    begin_sample(to, "_count", labels, NULL);
    hub_buf_add_u64(to->out, count);
    hub_buf_add_char(to->out, '\n');
}

void hub_exposition_end(hub_exposition *to)
{
    if (to->otlp != NULL) {
        hub_otlp_end(to);
    } else if (to->is_openmetrics) {
        hub_buf_add(to->out, HUB_STR("# EOF\n"));
    }
}
