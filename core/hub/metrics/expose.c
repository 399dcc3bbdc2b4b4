/* SPDX-License-Identifier: Apache-2.0 */
/* All that is told of the hub: what was counted, and what is there when somebody asks. */
#include "base/clock.h"
#include "hub/audit/audit.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/metrics/metrics_internal.h"
#include "hub/metrics/process.h"
#include "hub/report/reload_state.h"
#include "hub/report/status.h"

static void add_one(hub_exposition *to, const char *name, hub_metrics_kind kind, const char *help,
                    uint64_t value)
{
    hub_exposition_family(to, name, kind, help);
    hub_exposition_count(to, HUB_NO_LABELS, value);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void add_ended(hub_exposition *to, const hub_series *series, hub_metrics_end end)
{
    for (size_t i = 0; i < HUB_METRICS_CLASSES; i++) {
        const hub_label labels[] = {
            {"method", hub_str_of(series->method)},
            {"toolset", hub_str_of(series->toolset)},
            {"tool", hub_str_of(series->name)},
            {"principal_class", hub_str_of(hub_metrics_class_word((hub_metrics_class)i))},
            {"outcome", hub_str_of(hub_metrics_outcome_word(end))},
            {"error_type", hub_str_of(hub_metrics_error_word(end))},
            {.key = NULL},
        };
        if (series->cells[end]->ended[i] > 0) {
            hub_exposition_count(to, labels, series->cells[end]->ended[i]);
        }
    }
}

static void add_calls(hub_exposition *to, const hub_series_table *table)
{
    hub_exposition_family(
        to, "patchbay_calls", HUB_METRICS_COUNTER,
        "Calls of clients that have ended, by tool, kind of principal and outcome.");
    for (const hub_series *series = hub_series_first(table); series != NULL;
         series = series->next) {
        for (size_t end = 0; end < HUB_METRICS_ENDS; end++) {
            if (series->cells[end] != NULL) {
                add_ended(to, series, (hub_metrics_end)end);
            }
        }
    }
}

static bool is_empty(const hub_histogram *histogram)
{
    for (size_t i = 0; i < HUB_METRICS_BUCKETS; i++) {
        if (histogram->counts[i] > 0) {
            return false;
        }
    }
    return true;
}

static void add_durations(hub_exposition *to, const hub_series_table *table, bool is_server)
{
    for (const hub_series *series = hub_series_first(table); series != NULL;
         series = series->next) {
        bool is_prompt = strcmp(series->method, "prompts/get") == 0;
        hub_str name = hub_str_of(series->name);
        for (size_t end = 0; end < HUB_METRICS_ENDS; end++) {
            const hub_metrics_cell *cell = series->cells[end];
            const hub_label labels[] = {
                {"mcp_method_name", hub_str_of(series->method)},
                {"toolset", hub_str_of(series->toolset)},
                {"gen_ai_tool_name", is_prompt ? HUB_STR_EMPTY : name},
                {"gen_ai_prompt_name", is_prompt ? name : HUB_STR_EMPTY},
                {"error_type", hub_str_of(hub_metrics_error_word((hub_metrics_end)end))},
                {.key = NULL},
            };
            const hub_histogram *of = cell == NULL ? NULL
                                      : is_server  ? &cell->server
                                                   : &cell->client;
            if (of != NULL && !is_empty(of)) {
                hub_exposition_histogram(to, labels, of);
            }
        }
    }
}

static void add_operations(hub_exposition *to, const hub_metrics *metrics)
{
    hub_exposition_family(to, "mcp_server_operation_duration_seconds", HUB_METRICS_HISTOGRAM,
                          "From the request of a client to the answer to it.");
    add_durations(to, metrics->series, true);
    hub_exposition_family(to, "mcp_client_operation_duration_seconds", HUB_METRICS_HISTOGRAM,
                          "From the request to a server behind the hub to the answer of it.");
    add_durations(to, metrics->series, false);
}

/* ---- sessions -------------------------------------------------------------------------------- */

const char *hub_metrics_network_of(const char *transport)
{
    if (strcmp(transport, "stdio") == 0) {
        return "pipe";
    }
    return strcmp(transport, "unix") == 0 ? "unix" : "tcp";
}

static void add_session_durations(hub_exposition *to, const hub_metrics *metrics)
{
    hub_exposition_family(to, "mcp_server_session_duration_seconds", HUB_METRICS_HISTOGRAM,
                          "How long sessions of clients lasted.");
    for (size_t i = 0; i < HUB_METRICS_TRANSPORTS; i++) {
        const char *transport = metrics->sessions[i].transport;
        if (transport != NULL) {
            const hub_label labels[] = {
                {"transport", hub_str_of(transport)},
                {"network_transport", hub_str_of(hub_metrics_network_of(transport))},
                {.key = NULL}};
            hub_exposition_histogram(to, labels, &metrics->sessions[i].lived);
        }
    }
    hub_exposition_family(
        to, "mcp_client_session_duration_seconds", HUB_METRICS_HISTOGRAM,
        "How long the hub was connected with servers, of connections that ended.");
    hub_exposition_histogram(to, HUB_NO_LABELS, &metrics->upstream_lived);
}

/* Sessions that are open, by transport; requests that are sessions to the hub alone are not told. */
static void add_sessions(hub_exposition *to, const hub_orchestrator *hub)
{
    static const char *const TRANSPORTS[] = {"stdio", "unix", "http", "websocket", "sse"};
    enum { KNOWN = sizeof TRANSPORTS / sizeof TRANSPORTS[0] };
    uint64_t open[KNOWN + 1] = {0};
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_session *session = hub_profile_sessions(hub_profile_at(hub, i));
             session != NULL; session = hub_session_next(session)) {
            size_t k = 0;
            while (k < KNOWN && strcmp(hub_session_transport(session), TRANSPORTS[k]) != 0) {
                k++;
            }
            open[k] += !hub_session_is_one_request(session);
        }
    }
    hub_exposition_family(to, "patchbay_sessions", HUB_METRICS_GAUGE, "Sessions of clients.");
    for (size_t k = 0; k <= KNOWN; k++) {
        const hub_label labels[] = {{"transport", hub_str_of(k < KNOWN ? TRANSPORTS[k] : "other")},
                                    {.key = NULL}};
        if (k < KNOWN || open[k] > 0) {
            hub_exposition_count(to, labels, open[k]);
        }
    }
}

/* ---- toolsets -------------------------------------------------------------------------------- */

typedef uint64_t of_toolset(const hub_toolset *toolset);

static uint64_t is_up(const hub_toolset *toolset)
{
    return hub_toolset_binding(toolset) != NULL &&
           (hub_toolset_is_native(toolset) || hub_toolset_state(toolset) == PATCHBAY_STATE_READY);
}

static uint64_t has_failed(const hub_toolset *toolset)
{
    return hub_toolset_state(toolset) == PATCHBAY_STATE_FAILED ||
           hub_toolset_unusable(toolset)[0] != '\0';
}

static uint64_t restarts(const hub_toolset *toolset)
{
    return hub_toolset_health_of(toolset)->restarts;
}

static uint64_t failures(const hub_toolset *toolset)
{
    return hub_toolset_health_of(toolset)->failures;
}

static uint64_t tools(const hub_toolset *toolset)
{
    return hub_toolset_count(toolset, HUB_KIND_TOOL);
}

static uint64_t in_flight(const hub_toolset *toolset)
{
    size_t under_way;
    size_t waiting;
    hub_status_load(toolset, &under_way, &waiting);
    return under_way;
}

static uint64_t queued(const hub_toolset *toolset)
{
    size_t under_way;
    size_t waiting;
    hub_status_load(toolset, &under_way, &waiting);
    return waiting;
}

static uint64_t without_place(const hub_toolset *toolset)
{
    return hub_status_counts_of(toolset)->refused;
}

static const struct {
    const char *name;
    hub_metrics_kind kind;
    const char *help;
    of_toolset *value;
} TOOLSETS[] = {
    {"patchbay_toolset_up", HUB_METRICS_GAUGE,
     "1: it answers. 0: it has failed, or has not been needed yet.", is_up},
    {"patchbay_toolset_failed", HUB_METRICS_GAUGE, "1: its server cannot be reached.", has_failed},
    {"patchbay_toolset_restarts", HUB_METRICS_COUNTER, "Restarts of its server.", restarts},
    {"patchbay_toolset_failures", HUB_METRICS_GAUGE,
     "Failures in a row to reach its server; 0 when it was reached.", failures},
    {"patchbay_toolset_tools", HUB_METRICS_GAUGE, "Tools that it is known to have.", tools},
    {"patchbay_toolset_calls_in_flight", HUB_METRICS_GAUGE, "Calls that it works on.", in_flight},
    {"patchbay_toolset_calls_queued", HUB_METRICS_GAUGE, "Calls that wait for a place (max_calls).",
     queued},
    {"patchbay_toolset_calls_without_place", HUB_METRICS_COUNTER,
     "Calls that were refused because there was no place (max_calls, queue).", without_place},
    {"patchbay_toolset_redefined", HUB_METRICS_COUNTER,
     "Definitions that were replaced by others of the same name.", hub_toolset_redefined},
};

static void add_catalog_ages(hub_exposition *to, const hub_orchestrator *hub)
{
    int64_t now_ms = hub_clock_wall_ms();
    hub_exposition_family(to, "patchbay_toolset_catalog_age_seconds", HUB_METRICS_GAUGE,
                          "Since its server has said what it offers.");
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        int64_t learned_ms = hub_discovery_learned_at(toolset);
        const hub_label labels[] = {{"toolset", hub_str_of(hub_toolset_key(toolset))},
                                    {.key = NULL}};
        if (learned_ms > 0) { /* the clock may be set back */
            hub_exposition_seconds(
                to, labels, now_ms > learned_ms ? (uint64_t)(now_ms - learned_ms) * 1000 : 0);
        }
    }
}

static void add_toolsets(hub_exposition *to, const hub_orchestrator *hub)
{
    for (size_t k = 0; k < sizeof TOOLSETS / sizeof TOOLSETS[0]; k++) {
        hub_exposition_family(to, TOOLSETS[k].name, TOOLSETS[k].kind, TOOLSETS[k].help);
        for (size_t i = 0; i < hub_toolset_total(hub); i++) {
            const hub_toolset *toolset = hub_toolset_at(hub, i);
            const hub_label labels[] = {{"toolset", hub_str_of(hub_toolset_key(toolset))},
                                        {.key = NULL}};
            hub_exposition_count(to, labels, TOOLSETS[k].value(toolset));
        }
    }
    add_catalog_ages(to, hub);
}

/* ---- the hub --------------------------------------------------------------------------------- */

static void add_audit(hub_exposition *to, const hub_orchestrator *hub)
{
    hub_audit_numbers numbers = hub_audit_count(hub_audit_of(hub));
    if (!hub_settings_of(hub)->audit.is_on) {
        return;
    }
    add_one(to, "patchbay_audit_written", HUB_METRICS_COUNTER, "Records of the audit.",
            numbers.written);
    add_one(to, "patchbay_audit_dropped", HUB_METRICS_COUNTER,
            "Records of the audit that were lost.", numbers.dropped);
    add_one(to, "patchbay_audit_refused", HUB_METRICS_COUNTER,
            "Calls that were refused because they could not be recorded.", numbers.refused);
    add_one(to, "patchbay_audit_waiting", HUB_METRICS_GAUGE,
            "Records of the audit that wait to be written.", numbers.waiting);
    add_one(to, "patchbay_audit_failing", HUB_METRICS_GAUGE, "1: the audit cannot be written.",
            numbers.is_failing);
}

static void add_store(hub_exposition *to, const hub_orchestrator *hub)
{
    const hub_store *store = hub_store_of(hub);
    if (store != NULL && hub_store_health(store).condition != HUB_STATE_OFF) {
        add_one(to, "patchbay_store_up", HUB_METRICS_GAUGE,
                "1: what outlives the hub can be read and written.",
                hub_store_health(store).condition == HUB_STATE_OK);
    }
}

static void add_build(hub_exposition *to)
{
    static const hub_label LABELS[] = {
        {"version", {.ptr = PATCHBAY_VERSION, .len = sizeof PATCHBAY_VERSION - 1}}, {.key = NULL}};
    hub_exposition_family(to, "patchbay_build_info", HUB_METRICS_GAUGE, "The version that runs.");
    hub_exposition_count(to, LABELS, 1);
}

static void add_hub(hub_exposition *to, hub_metrics *metrics)
{
    const hub_orchestrator *hub = metrics->hub;
    const hub_generation *generation = hub_settings_of(hub)->generation;
    add_build(to);
    add_one(to, "patchbay_calls_in_flight", HUB_METRICS_GAUGE, "Calls under way.",
            hub_call_count(hub_calls_of(hub)));
    add_one(to, "patchbay_requests_refused", HUB_METRICS_COUNTER,
            "Requests that were refused before they became a call.", metrics->refused);
    add_one(to, "patchbay_limit_hits", HUB_METRICS_COUNTER,
            "Requests that were refused for a rate, or because too many were in flight.",
            hub_refused(hub));
    add_one(to, "patchbay_configuration_generation", HUB_METRICS_GAUGE,
            "1 at the start, one more with each reload.",
            generation != NULL ? generation->number : 1);
    add_one(to, "patchbay_reload_refused", HUB_METRICS_GAUGE,
            "1: the last reload was refused, and the hub runs with what it had.",
            hub_reload_state_of(hub)->refused_ms > 0);
    add_one(to, "patchbay_series", HUB_METRICS_GAUGE,
            "Time series about calls; metrics.max_series bounds them.",
            hub_series_table_used(metrics->series));
    add_one(to, "patchbay_series_overflows", HUB_METRICS_COUNTER,
            "Calls that were counted as tool \"other\", for want of time series.",
            hub_series_table_overflows(metrics->series));
    hub_exposition_family(to, "patchbay_loop_lag_seconds", HUB_METRICS_HISTOGRAM,
                          "How late the event loop came to a timer, tried each second.");
    hub_exposition_histogram(to, HUB_NO_LABELS, &metrics->lags);
    hub_exposition_family(to, "patchbay_loop_longest_lag_seconds", HUB_METRICS_GAUGE,
                          "The longest of these lags since the start.");
    hub_exposition_seconds(to, HUB_NO_LABELS, metrics->longest_lag_us);
}

static void add_all(hub_exposition *to, hub_metrics *metrics)
{
    const hub_orchestrator *hub = metrics->hub;
    add_hub(to, metrics);
    add_calls(to, metrics->series);
    add_operations(to, metrics);
    add_session_durations(to, metrics);
    add_sessions(to, hub);
    add_toolsets(to, hub);
    add_audit(to, hub);
    add_store(to, hub);
    hub_metrics_add_process(to);
    for (size_t i = 0; i < HUB_METRICS_SOURCES; i++) {
        if (metrics->sources[i].add != NULL) {
            metrics->sources[i].add(metrics->sources[i].ctx, to);
        }
    }
    hub_exposition_end(to);
}

void hub_metrics_expose(hub_orchestrator *hub, bool is_openmetrics, hub_buf *out)
{
    hub_exposition to = {.out = out, .is_openmetrics = is_openmetrics};
    add_all(&to, hub_metrics_of(hub));
}

void hub_metrics_expose_otlp(hub_orchestrator *hub, hub_buf *out)
{
    uint64_t now_ns = hub_clock_wall_ns();
    hub_exposition_otlp otlp = {
        .begun_ns = now_ns - (hub_clock_now_ms() - hub_begun_ms(hub)) * 1000000u, .now_ns = now_ns};
    hub_exposition to = {.out = out, .otlp = &otlp};
    add_all(&to, hub_metrics_of(hub));
}
