/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/metrics/metrics.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/metrics/metrics_internal.h"
#include "hub/report/status.h"
#include "wire/json.h"
#include "wire/trace.h"

#include <stdlib.h>

/* With a toolset: its entries by the places of its items, for as long as the list is that one. */
typedef struct index_of_kind {
    hub_catalog *catalog;  /* a reference; NULL: no list was needed yet */
    const hub_item *items; /* of it */
    size_t count;
    hub_series **entries; /* one for each item; NULL: not looked for yet */
} index_of_kind;

typedef struct toolset_metrics {
    index_of_kind tools;
    index_of_kind prompts;
    uint64_t ready_us; /* since when its server is connected; 0: it is not */
} toolset_metrics;

hub_metrics *hub_metrics_of(const hub_orchestrator *hub)
{
    hub_metrics *const *metrics = hub_hub_part(hub, &HUB_METRICS_STATION);
    return *metrics;
}

static toolset_metrics *part_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_METRICS_STATION);
}

/* ---- which entry ----------------------------------------------------------------------------- */

static void forget(index_of_kind *index)
{
    free(index->entries);
    hub_catalog_unref(index->catalog);
    *index = (index_of_kind){.catalog = NULL};
}

/* Its entries are those of the toolset's list from now on. */
static void renew(const hub_toolset *toolset, hub_kind kind, index_of_kind *index)
{
    hub_catalog *list = hub_toolset_list(toolset, kind);
    forget(index);
    index->entries = list != NULL ? calloc(list->count, sizeof *index->entries) : NULL;
    if (index->entries != NULL) {
        index->catalog = hub_catalog_ref(list);
        index->items = list->items;
        index->count = list->count;
    }
}

/* Of the items of the index; another number for what is none of them. */
static size_t place_in(const index_of_kind *index, const hub_item *item)
{
    return ((uintptr_t)item - (uintptr_t)index->items) / sizeof *item;
}

/* Methods that a toolset answers; what is asked beside these is of tasks. */
static const char *method_of(hub_str method)
{
    static const char *const METHODS[] = {"tools/call", "prompts/get", "resources/read",
                                          "completion/complete"};
    for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; i++) {
        if (hub_str_is(method, METHODS[i])) {
            return METHODS[i];
        }
    }
    return "other";
}

/* By name: for what is called for the first time, and for what is no item of a list. Names of
 * resources are anybody's, and would be without end. */
static hub_series *look_up(const hub_toolset *toolset, const hub_way *way, bool is_named)
{
    hub_metrics *metrics = hub_metrics_of(hub_toolset_hub(toolset));
    return hub_series_of(metrics->series, method_of(way->message->method),
                         hub_str_of(hub_toolset_key(toolset)),
                         is_named ? way->item->name : HUB_STR_EMPTY);
}

/* Of what is not found at once. */
__attribute__((noinline)) static hub_series *find_series(const hub_toolset *toolset,
                                                         const hub_way *way, hub_kind kind)
{
    toolset_metrics *part = part_of(toolset);
    index_of_kind *index = kind == HUB_KIND_TOOL ? &part->tools : &part->prompts;
    if (way->item == NULL) {
        return look_up(toolset, way, false);
    }
    if (place_in(index, way->item) >= index->count) {
        renew(toolset, kind, index);
    }
    size_t at = place_in(index, way->item);
    if (at >= index->count) {
        return look_up(toolset, way, false); /* a resource */
    }
    index->entries[at] = look_up(toolset, way, true);
    return index->entries[at];
}

/* The entry of a tool that was called before; NULL: it is not found so. */
static inline hub_series *known_series(const hub_call *call, const hub_way *way)
{
    const index_of_kind *index = &part_of(way->toolset)->tools;
    size_t at = place_in(index, way->item);
    return hub_call_is_of_tool(call) && at < index->count ? index->entries[at] : NULL;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Traces are looked for once in a while: reading `_meta` costs more than all of the counting. */
__attribute__((noinline)) static void keep_trace(const hub_call *call, hub_series *series,
                                                 hub_str meta, uint64_t now_us)
{
    series->look_us = now_us + HUB_LIMIT_METRICS_TRACE_US;
    hub_str trace = hub_trace_id_in(meta);
    if (trace.len == HUB_METRICS_TRACE_BYTES) {
        memcpy(series->trace, trace.ptr, HUB_METRICS_TRACE_BYTES);
        series->traced = hub_call_id(call);
    }
}

/* What not every call needs: its entry is to be looked up, or a trace to be looked for. */
__attribute__((noinline)) static void begun_first(const hub_call *call, const hub_way *way,
                                                  hub_status_seen *ret_seen)
{
    hub_series *series = ret_seen->what;
    hub_kind kind = hub_call_is_of_tool(call) ? HUB_KIND_TOOL : HUB_KIND_PROMPT;
    hub_str meta = way->message->at[HUB_M_META];
    if (series == NULL) {
        series = find_series(way->toolset, way, kind);
        ret_seen->what = series;
    }
    if (meta.len > 0 && ret_seen->begin_us >= series->look_us) {
        keep_trace(call, series, meta, ret_seen->begin_us);
    }
}

/* Each call pays for what is in here: the rest is in functions that this one ends with. */
static void begun(hub_call *call, const hub_way *way, hub_status_seen *ret_seen)
{
    hub_series *series = known_series(call, way);
    ret_seen->what = series;
    ret_seen->begin_us = hub_clock_turn_us();
    ret_seen->more = hub_metrics_class_of(hub_session_who(hub_call_session(call)));
    if (series == NULL || way->message->at[HUB_M_META].len > 0) {
        begun_first(call, way, ret_seen);
    }
}

static hub_metrics_end end_of_rpc_error(hub_str error)
{
    int64_t code = 0;
    (void)hub_json_to_i64(hub_json_get(error, HUB_STR("code")), &code);
    switch (code) {
    case HUB_RPC_INVALID_PARAMS:
        return HUB_METRICS_RPC_INVALID_PARAMS;
    case HUB_RPC_METHOD_NOT_FOUND:
        return HUB_METRICS_RPC_METHOD_NOT_FOUND;
    case HUB_RPC_INTERNAL_ERROR:
        return HUB_METRICS_RPC_INTERNAL;
    default:
        return HUB_METRICS_RPC_OTHER;
    }
}

__attribute__((noinline)) static hub_metrics_end end_of_trouble(const hub_outcome *outcome)
{
    if (outcome == NULL) {
        return HUB_METRICS_CANCELLED;
    }
    if (outcome->is_refused) {
        return HUB_METRICS_REFUSED;
    }
    switch (outcome->status) {
    case PATCHBAY_RESULT:
        return HUB_METRICS_TOOL_ERROR;
    case PATCHBAY_RPC_ERROR:
        return end_of_rpc_error(outcome->json);
    case PATCHBAY_NOT_IMPLEMENTED:
        return HUB_METRICS_NOT_IMPLEMENTED;
    case PATCHBAY_INVALID_INPUT:
        return HUB_METRICS_INVALID_INPUT;
    case PATCHBAY_UNAVAILABLE:
        return HUB_METRICS_UNAVAILABLE;
    default:
        return HUB_METRICS_FAILED;
    }
}

__attribute__((noinline)) static void note_trace(hub_series *series, hub_histogram *histogram,
                                                 uint64_t took_us)
{
    memcpy(histogram->trace, series->trace, HUB_METRICS_TRACE_BYTES);
    histogram->trace_us = took_us;
    histogram->trace_at_ms = hub_clock_wall_ms();
    series->traced = 0;
}

__attribute__((noinline)) static void ended_otherwise(const hub_call *call,
                                                      const hub_status_seen *seen,
                                                      const hub_outcome *outcome, bool is_error,
                                                      uint64_t now_us)
{
    hub_series *series = seen->what;
    const hub_binding *binding = hub_call_binding(call);
    bool is_good = outcome != NULL && !is_error;
    hub_metrics_cell *cell =
        hub_series_cell(series, is_good ? HUB_METRICS_OK : end_of_trouble(outcome));
    cell->ended[seen->more]++;
    hub_histogram_add(&cell->server, now_us - seen->begin_us);
    if (binding != NULL && !hub_binding_is_native(binding)) {
        hub_histogram_add(&cell->client, now_us - hub_call_begin_us(call));
    }
    if (series->traced == hub_call_id(call)) {
        note_trace(series, &cell->server, now_us - seen->begin_us);
    }
}

/* Likewise: a call that succeeds at once, of a tool that has done so before. What its server took is no
 * longer than the whole. */
static void ended(hub_call *call, const hub_status_seen *seen, const hub_outcome *outcome,
                  bool is_error, uint64_t now_us)
{
    const hub_series *series = seen->what;
    const hub_binding *binding = hub_call_binding(call);
    hub_metrics_cell *cell = series->cells[HUB_METRICS_OK];
    uint64_t took_us = now_us - seen->begin_us;
    if (cell == NULL || outcome == NULL || is_error || took_us > HUB_METRICS_FIRST_BOUND_US ||
        series->traced == hub_call_id(call)) {
        ended_otherwise(call, seen, outcome, is_error, now_us);
        return;
    }
    cell->ended[seen->more]++;
    cell->server.counts[0]++;
    cell->server.sum_us += took_us;
    if (binding != NULL && !hub_binding_is_native(binding)) {
        cell->client.counts[0]++;
        cell->client.sum_us += now_us - hub_call_begin_us(call);
    }
}

static const hub_status_observer OBSERVER = {.begun = begun, .ended = ended};

static void note_refused(const hub_request *request)
{
    hub_metrics *metrics = hub_metrics_of(hub_session_hub(request->session));
    metrics->refused += metrics->is_on;
}

/* ---- lives ----------------------------------------------------------------------------------- */

static hub_histogram *lived_over(hub_metrics *metrics, const char *transport)
{
    size_t i = 0;
    while (i < HUB_METRICS_TRANSPORTS - 1 && metrics->sessions[i].transport != NULL &&
           strcmp(metrics->sessions[i].transport, transport) != 0) {
        i++;
    }
    if (metrics->sessions[i].transport == NULL) {
        metrics->sessions[i].transport = transport;
    }
    return &metrics->sessions[i].lived;
}

/* A request of 2026-07-28 over HTTP is no session to anybody but the hub. */
static void end_session(hub_session *session)
{
    hub_metrics *metrics = hub_metrics_of(hub_session_hub(session));
    if (metrics->is_on && !hub_session_is_one_request(session)) {
        hub_histogram_add(lived_over(metrics, hub_session_transport(session)),
                          hub_clock_turn_us() - hub_session_begun_us(session));
    }
}

/* Its server is connected, or is not any more. */
static void note_state(hub_toolset *toolset)
{
    hub_metrics *metrics = hub_metrics_of(hub_toolset_hub(toolset));
    toolset_metrics *part = part_of(toolset);
    bool is_ready = hub_toolset_binding(toolset) != NULL && !hub_toolset_is_native(toolset) &&
                    hub_toolset_state(toolset) == PATCHBAY_STATE_READY;
    if (is_ready && part->ready_us == 0) {
        part->ready_us = hub_clock_turn_us();
    } else if (!is_ready && part->ready_us != 0) {
        if (metrics->is_on) {
            hub_histogram_add(&metrics->upstream_lived, hub_clock_turn_us() - part->ready_us);
        }
        part->ready_us = 0;
    }
}

/* The list is another one: nothing is found by the places in the one before. */
static void forget_list(hub_toolset *toolset, hub_kind kind)
{
    toolset_metrics *part = part_of(toolset);
    if (kind == HUB_KIND_TOOL) {
        forget(&part->tools);
    } else if (kind == HUB_KIND_PROMPT) {
        forget(&part->prompts);
    }
}

static void forget_lists(hub_toolset *toolset)
{
    toolset_metrics *part = part_of(toolset);
    forget(&part->tools);
    forget(&part->prompts);
}

/* ---- the loop -------------------------------------------------------------------------------- */

enum { LOOK_MS = 1000 };

/* How much later than it wanted to be the timer is called: so long did whatever came meanwhile wait. */
static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    hub_metrics *metrics = timer->data;
    uint64_t now_us = hub_clock_now_us();
    uint64_t late_us = now_us > metrics->due_us ? now_us - metrics->due_us : 0;
    hub_histogram_add(&metrics->lags, late_us);
    if (late_us > metrics->longest_lag_us) {
        metrics->longest_lag_us = late_us;
    }
    metrics->due_us = now_us + LOOK_MS * 1000;
    hub_loop_start_timer(loop, timer, LOOK_MS / 1000.);
}

static void watch_loop(hub_metrics *metrics, bool is_on)
{
    struct ev_loop *loop = hub_loop(metrics->hub);
    if (is_on == metrics->is_watching) {
        return;
    }
    metrics->is_watching = is_on;
    if (is_on) {
        metrics->due_us = hub_clock_now_us() + LOOK_MS * 1000;
        hub_loop_start_timer(loop, &metrics->look, LOOK_MS / 1000.);
    } else {
        ev_timer_stop(loop, &metrics->look);
    }
}

/* ---- the station ----------------------------------------------------------------------------- */

static bool is_asked_for(const hub_orchestrator *hub)
{
    const hub_settings *settings = hub_settings_of(hub);
    for (size_t i = 0; i < settings->listen_count; i++) {
        if (settings->listens[i].metrics) {
            return true;
        }
    }
    return false;
}

static void configure(hub_orchestrator *hub)
{
    hub_metrics *metrics = hub_metrics_of(hub);
    size_t most = hub_settings_of(hub)->max_series;
    metrics->is_on = metrics->is_wanted || is_asked_for(hub);
    hub_series_table_limit(metrics->series, most > 0 ? most : HUB_LIMIT_METRICS_SERIES);
    hub_status_observe(hub, metrics->is_on ? &OBSERVER : NULL);
    watch_loop(metrics, metrics->is_on);
}

static hub_err begin_hub(hub_orchestrator *hub, hub_error *reterr)
{
    hub_metrics **place_of_it = hub_hub_part(hub, &HUB_METRICS_STATION);
    hub_metrics *metrics = calloc(1, sizeof *metrics);
    hub_series_table *series = hub_series_table_create();
    if (metrics == NULL || series == NULL) {
        hub_series_table_destroy(series);
        free(metrics);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    metrics->hub = hub;
    metrics->series = series;
    ev_timer_init(&metrics->look, on_look, 0., 0.);
    metrics->look.data = metrics;
    *place_of_it = metrics;
    configure(hub);
    return HUB_OK;
}

static void end_hub(hub_orchestrator *hub)
{
    if (hub_metrics_of(hub) != NULL) {
        watch_loop(hub_metrics_of(hub), false);
    }
}

static void drop_hub(hub_orchestrator *hub)
{
    hub_metrics **place_of_it = hub_hub_part(hub, &HUB_METRICS_STATION);
    if (*place_of_it != NULL) {
        hub_series_table_destroy((*place_of_it)->series);
    }
    free(*place_of_it);
    *place_of_it = NULL;
}

void hub_metrics_want(hub_orchestrator *hub, bool is_wanted)
{
    hub_metrics_of(hub)->is_wanted = is_wanted;
    configure(hub);
}

void hub_metrics_add_source(hub_orchestrator *hub, hub_metrics_add *add, void *ctx)
{
    hub_metrics *metrics = hub_metrics_of(hub);
    size_t at = 0;
    while (at < HUB_METRICS_SOURCES && metrics->sources[at].ctx != ctx) {
        at++;
    }
    for (size_t i = 0; at == HUB_METRICS_SOURCES && i < HUB_METRICS_SOURCES; i++) {
        at = metrics->sources[i].add == NULL ? i : at;
    }
    hub_assert(at < HUB_METRICS_SOURCES);
    metrics->sources[at].add = add;
    metrics->sources[at].ctx = add != NULL ? ctx : NULL;
}

static hub_station_place place;

const hub_station HUB_METRICS_STATION = {
    .name = "metrics",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_metrics *), [HUB_PART_TOOLSET] = sizeof(toolset_metrics)},
    .refuse = note_refused,
    .hub_begins = begin_hub,
    .hub_ends = end_hub,
    .hub_drops = drop_hub,
    .settings_changed = configure,
    .session_ends = end_session,
    .toolset_state_changed = note_state,
    .toolset_unbound = note_state,
    .toolset_listed = forget_list,
    .toolset_forgotten = forget_lists,
    .toolset_recalled = forget_lists,
    .toolset_ends = forget_lists,
};
