/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/tool_rates.h"

#include "base/bucket.h"
#include "base/clock.h"
#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/limits/takes.h"

#include <stdlib.h>

/* One entry of the settings, and what has been used up of it. */
typedef struct counter {
    hub_bucket bucket;
    hub_bucket_rate rate;
    hub_bucket share; /* of this replica, while the store is gone */
    char match[HUB_LIMIT_TOOL_NAME_BYTES + 1];
} counter;

/* With a toolset. */
typedef struct counters {
    counter *items; /* one for each entry of its settings, in their order, … */
    size_t count;
    bool is_current; /* … unless these are others by now */
    hub_take *first; /* calls that wait for the store */
} counters;

static counters *counters_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_TOOL_RATES_STATION);
}

static bool wants_toolset(const hub_toolset *toolset)
{
    return hub_toolset_settings_of(toolset)->tool_limits.count > 0;
}

/* ---- entries --------------------------------------------------------------------------------- */

static counter make_counter(const hub_tool_limit *limit)
{
    uint32_t per_second = limit->calls_per_second;
    counter made = {.rate = {.per_second = per_second,
                             .at_once = limit->calls_burst > 0 ? limit->calls_burst : per_second}};
    size_t len = strlen(limit->match);
    hub_assert(len < sizeof made.match); /* or the manifest was refused */
    memcpy(made.match, limit->match, len);
    return made;
}

/* What was used up of an entry of the same name stays used up. */
static void carry_over(const counters *old, counter *to, uint64_t now_ms)
{
    for (size_t i = 0; i < old->count; i++) {
        if (strcmp(old->items[i].match, to->match) == 0) {
            to->bucket = old->items[i].bucket;
            hub_bucket_change(&to->bucket, now_ms, old->items[i].rate, to->rate);
            return;
        }
    }
}

/* As the settings have them now. False when out of memory: then they are as before. */
static bool renew(counters *of, const hub_tool_limits *limits, uint64_t now_ms)
{
    counter *items = calloc(limits->count, sizeof *items);
    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < limits->count; i++) {
        items[i] = make_counter(&limits->items[i]);
        carry_over(of, &items[i], now_ms);
    }
    free(of->items);
    of->items = items;
    of->count = limits->count;
    of->is_current = true;
    return true;
}

static void forget_entries(hub_toolset *toolset)
{
    counters_of(toolset)->is_current = false;
}

static void end_toolset(hub_toolset *toolset)
{
    hub_assert(counters_of(toolset)->first == NULL);
    free(counters_of(toolset)->items);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void refuse(hub_call *call, const hub_toolset *toolset, const counter *of, uint32_t wait_ms)
{
    hub_buf limit;
    hub_buf text;
    hub_buf_init(&limit, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&limit, "toolsets.%s.tools.limits.%s.calls_per_second", hub_toolset_key(toolset),
                   of->match);
    hub_buf_printf(&text, "too many calls of this tool (" HUB_STR_FMT ": %u): try again in %u ms",
                   HUB_STR_ARG(hub_buf_str(&limit)), of->rate.per_second, wait_ms);
    hub_call_refuse_overload(call, hub_buf_str(&limit), hub_buf_str(&text), wait_ms);
    hub_buf_fini(&text);
    hub_buf_fini(&limit);
}

/* Whether this hub alone admits it. */
static hub_verdict admit(hub_call *call, const hub_toolset *toolset, hub_str name)
{
    counters *of = counters_of(toolset);
    uint64_t now_ms = hub_clock_now_ms();
    for (size_t i = 0; i < of->count; i++) {
        const counter *at = &of->items[i];
        uint32_t wait_ms = hub_bucket_wait_ms(&at->bucket, now_ms, at->rate);
        if (wait_ms > 0 && hub_str_glob(hub_str_of(at->match), name)) {
            refuse(call, toolset, at, wait_ms);
            return HUB_ANSWERED;
        }
    }
    for (size_t i = 0; i < of->count; i++) {
        counter *at = &of->items[i];
        if (hub_str_glob(hub_str_of(at->match), name)) {
            hub_bucket_spend(&at->bucket, now_ms, at->rate);
        }
    }
    return HUB_GO_ON;
}

/* ---- with other hubs ------------------------------------------------------------------------- */

/* Whether this hub's share admits it. */
static hub_verdict admit_share(hub_call *call, const hub_toolset *toolset, hub_str name)
{
    counters *of = counters_of(toolset);
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    uint64_t now_ms = hub_clock_now_ms();
    for (int round = 0; round < 2; round++) { /* all of them, or none, is charged */
        for (size_t i = 0; i < of->count; i++) {
            counter *at = &of->items[i];
            hub_bucket_rate rate = hub_take_share(hub, at->rate);
            uint32_t wait_ms = hub_bucket_wait_ms(&at->share, now_ms, rate);
            if (!hub_str_glob(hub_str_of(at->match), name)) {
                continue;
            }
            if (round == 0 && wait_ms > 0) {
                refuse(call, toolset, at, wait_ms);
                return HUB_ANSWERED;
            }
            if (round == 1) {
                hub_bucket_spend(&at->share, now_ms, rate);
            }
        }
    }
    return HUB_GO_ON;
}

/* The entry that was named by its place among those that match; NULL: a reload took it away. */
static const counter *find_match(const counters *of, hub_str name, size_t place)
{
    for (size_t i = 0; i < of->count; i++) {
        if (hub_str_glob(hub_str_of(of->items[i].match), name) && place-- == 0) {
            return &of->items[i];
        }
    }
    return NULL;
}

/* What the store has said. */
static hub_verdict said(hub_call *call, const hub_way *way, hub_err err, uint32_t wait_ms,
                        size_t over)
{
    const hub_toolset *toolset = way->toolset;
    if (err != HUB_OK) {
        hub_verdict verdict = hub_take_without(call, hub_toolset_hub(toolset));
        return verdict == HUB_HOLD ? admit_share(call, toolset, way->name) : verdict;
    }
    const counter *of = find_match(counters_of(toolset), way->name, over);
    if (wait_ms > 0 && of != NULL) {
        refuse(call, toolset, of, wait_ms);
        return HUB_ANSWERED;
    }
    return HUB_GO_ON;
}

/* Have the store say whether it may come, by all entries that match. */
static hub_verdict ask(hub_call *call, const hub_way *way)
{
    hub_take_limits limits;
    counters *of = counters_of(way->toolset);
    hub_take_limits_init(&limits);
    for (size_t i = 0; i < of->count; i++) {
        hub_str match = hub_str_of(of->items[i].match);
        if (hub_str_glob(match, way->name)) {
            hub_take_limits_add(&limits, of->items[i].rate,
                                hub_str_of(hub_toolset_key(way->toolset)), match);
        }
    }
    hub_verdict verdict =
        hub_take_ask(call, way, &HUB_TOOL_RATES_STATION, &limits, said, &of->first);
    hub_take_limits_fini(&limits);
    return verdict;
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    const hub_toolset *toolset = way->toolset;
    counters *of = counters_of(toolset);
    uint64_t now_ms = hub_clock_now_ms();
    if (!hub_str_is(way->message->method, "tools/call")) {
        return HUB_GO_ON;
    }
    if (!of->is_current && !renew(of, &hub_toolset_settings_of(toolset)->tool_limits, now_ms)) {
        hub_call_refuse(call, PATCHBAY_UNAVAILABLE, HUB_STR("out of memory"));
        return HUB_ANSWERED;
    }
    hub_store *store = hub_store_of(hub_toolset_hub(toolset));
    return store != NULL && hub_store_is_shared(store) ? ask(call, way)
                                                       : admit(call, toolset, way->name);
}

static void end(hub_call *call, const struct hub_outcome *outcome)
{
    (void)outcome;
    hub_take_end(call, &HUB_TOOL_RATES_STATION);
}

/* ---- toolsets that go ------------------------------------------------------------------------ */

static void fail_all(hub_toolset *toolset)
{
    hub_take_fail_all(&counters_of(toolset)->first);
}

static hub_station_place place;

const hub_station HUB_TOOL_RATES_STATION = {
    .name = "tool rates",
    .place = &place,
    .bytes = {[HUB_PART_TOOLSET] = sizeof(counters), [HUB_PART_CALL] = sizeof(hub_take)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .end = end,
    .toolset_unbound = fail_all,
    .toolset_tuned = forget_entries,
    .toolset_ends = end_toolset,
};
