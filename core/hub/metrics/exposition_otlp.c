/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/metrics/exposition_otlp.h"

#include "wire/json.h"

#include <inttypes.h>

/* Units that a name ends in, and what OTLP calls them (UCUM). */
static const struct {
    const char *ending;
    const char *unit;
} UNITS[] = {{"_seconds", "s"}, {"_bytes", "By"}};

/* Labels that the conventions have another name for. */
static const struct {
    const char *label;
    const char *attribute;
} ATTRIBUTES[] = {
    {"mcp_method_name", "mcp.method.name"},
    {"gen_ai_tool_name", "gen_ai.tool.name"},
    {"gen_ai_prompt_name", "gen_ai.prompt.name"},
    {"network_transport", "network.transport"},
    {"error_type", "error.type"},
    {"toolset", "patchbay.toolset"},
};

static const char *attribute_of(const char *label)
{
    for (size_t i = 0; i < sizeof ATTRIBUTES / sizeof ATTRIBUTES[0]; i++) {
        if (strcmp(ATTRIBUTES[i].label, label) == 0) {
            return ATTRIBUTES[i].attribute;
        }
    }
    return label;
}

/* Without its unit; of a name of the conventions each part ends with a dot, of others the first. */
static void add_name(hub_exposition *to)
{
    hub_str name = hub_str_of(to->name);
    bool is_conventional = hub_str_starts(name, HUB_STR("mcp_"));
    bool is_first = true;
    const char *unit = "";
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        hub_str ending = hub_str_of(UNITS[i].ending);
        if (name.len > ending.len &&
            hub_str_eq(hub_str_from(name, name.len - ending.len), ending)) {
            name.len -= ending.len;
            unit = UNITS[i].unit;
            break;
        }
    }
    hub_buf_add(to->out, HUB_STR("{\"name\":\""));
    for (size_t i = 0; i < name.len; i++) {
        bool is_dot = name.ptr[i] == '_' && (is_conventional || is_first);
        hub_buf_add_char(to->out, is_dot ? '.' : name.ptr[i]);
        is_first = is_first && !is_dot;
    }
    hub_buf_printf(to->out, "\",\"unit\":\"%s\"", unit);
}

/* A family without points is none. */
static void close_family(hub_exposition *to)
{
    hub_exposition_otlp *otlp = to->otlp;
    if (otlp->is_open && otlp->has_points) {
        hub_buf_add(to->out, HUB_STR("]}}"));
    } else if (otlp->is_open && hub_buf_ok(to->out)) {
        to->out->len = otlp->family_at;
    }
    otlp->is_open = false;
}

void hub_otlp_family(hub_exposition *to, const char *help)
{
    static const char *const BEGINNINGS[] = {
        [HUB_METRICS_GAUGE] = "\"gauge\":{",
        [HUB_METRICS_COUNTER] = "\"sum\":{\"aggregationTemporality\":2,\"isMonotonic\":true,",
        [HUB_METRICS_HISTOGRAM] = "\"histogram\":{\"aggregationTemporality\":2,",
    };
    close_family(to);
    *to->otlp = (hub_exposition_otlp){.begun_ns = to->otlp->begun_ns,
                                      .now_ns = to->otlp->now_ns,
                                      .family_at = to->out->len,
                                      .is_open = true};
    hub_buf_add(to->out, to->out->len > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
    add_name(to);
    hub_buf_add(to->out, HUB_STR(",\"description\":"));
    hub_json_add_string(to->out, hub_str_of(help));
    hub_buf_printf(to->out, ",%s\"dataPoints\":[", BEGINNINGS[to->kind]);
}

static void begin_point(hub_exposition *to, const hub_label *labels)
{
    hub_buf *out = to->out;
    const char *comma = "";
    hub_buf_add(out, to->otlp->has_points ? HUB_STR(",") : HUB_STR_EMPTY);
    to->otlp->has_points = true;
    hub_buf_add(out, HUB_STR("{\"attributes\":["));
    for (; labels->key != NULL; labels++) {
        if (labels->value.len > 0) {
            hub_buf_printf(out, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", comma,
                           attribute_of(labels->key));
            hub_json_add_string(out, labels->value);
            hub_buf_add(out, HUB_STR("}}"));
            comma = ",";
        }
    }
    hub_buf_add_char(out, ']');
    if (to->kind != HUB_METRICS_GAUGE) {
        hub_buf_printf(out, ",\"startTimeUnixNano\":\"%" PRIu64 "\"", to->otlp->begun_ns);
    }
    hub_buf_printf(out, ",\"timeUnixNano\":\"%" PRIu64 "\"", to->otlp->now_ns);
}

void hub_otlp_count(hub_exposition *to, const hub_label *labels, uint64_t value)
{
    uint64_t most = INT64_MAX; /* "unlimited" is all ones */
    begin_point(to, labels);
    hub_buf_printf(to->out, ",\"asInt\":\"%" PRIu64 "\"}", value < most ? value : most);
}

void hub_otlp_seconds(hub_exposition *to, const hub_label *labels, uint64_t us)
{
    begin_point(to, labels);
    hub_buf_printf(to->out, ",\"asDouble\":%" PRIu64 ".%06u}", us / 1000000,
                   (unsigned)(us % 1000000));
}

static void add_exemplar(hub_exposition *to, const hub_histogram *histogram)
{
    if (histogram->trace_at_ms > 0) {
        hub_buf_printf(to->out,
                       ",\"exemplars\":[{\"traceId\":\"%.*s\",\"timeUnixNano\":\"%" PRId64
                       "000000\",\"asDouble\":%" PRIu64 ".%06u}]",
                       HUB_METRICS_TRACE_BYTES, histogram->trace, histogram->trace_at_ms,
                       histogram->trace_us / 1000000, (unsigned)(histogram->trace_us % 1000000));
    }
}

void hub_otlp_histogram(hub_exposition *to, const hub_label *labels, const hub_histogram *histogram)
{
    uint64_t count = 0;
    begin_point(to, labels);
    hub_buf_add(to->out, HUB_STR(",\"explicitBounds\":["));
    for (size_t i = 0; i < HUB_METRICS_BUCKETS - 1; i++) {
        hub_json_add_comma(to->out);
        hub_buf_add(to->out, hub_str_of(HUB_METRICS_BOUND_TEXTS[i]));
    }
    hub_buf_add(to->out, HUB_STR("],\"bucketCounts\":["));
    for (size_t i = 0; i < HUB_METRICS_BUCKETS; i++) {
        hub_buf_printf(to->out, "%s\"%" PRIu64 "\"", i > 0 ? "," : "", histogram->counts[i]);
        count += histogram->counts[i];
    }
    hub_buf_printf(to->out, "],\"count\":\"%" PRIu64 "\",\"sum\":%" PRIu64 ".%06u", count,
                   histogram->sum_us / 1000000, (unsigned)(histogram->sum_us % 1000000));
    add_exemplar(to, histogram);
    hub_buf_add_char(to->out, '}');
}

void hub_otlp_end(hub_exposition *to)
{
    close_family(to);
}
