/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/middleware/middleware.h"

#include "base/clock.h"
#include "base/log.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

#include <inttypes.h>
#include <stdlib.h>

#define DURATION "patchbay/duration_ms"

/* With a call. */
typedef struct middleware_part {
    hub_middleware_settings does;
    char *log;     /* what its line in the log will say; NULL: none, or it was said */
    hub_buf timed; /* what its outcome has become */
} middleware_part;

static const hub_middleware_settings *settings_of(const hub_toolset *toolset)
{
    return &hub_toolset_settings_of(toolset)->middleware;
}

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_middleware_settings *does = settings_of(toolset);
    return does->log || does->time;
}

/* ---- log ------------------------------------------------------------------------------------- */

static hub_verdict begin(hub_call *call, hub_way *way)
{
    middleware_part *part = hub_call_part_of(call, &HUB_MIDDLEWARE_STATION);
    part->does = *settings_of(way->toolset);
    hub_buf_init(&part->timed, SIZE_MAX / 2);
    if (part->does.log) {
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 2);
        hub_buf_add(&text, hub_str_of(hub_toolset_key(way->toolset)));
        hub_buf_add_char(&text, '\0');
        hub_buf_add(&text, way->message->method);
        hub_buf_add_char(&text, '\0');
        hub_buf_add(&text, way->name);
        hub_buf_add_char(&text, '\0');
        part->log = hub_buf_ok(&text) ? hub_buf_take(&text) : NULL; /* then it goes unlogged */
        hub_buf_fini(&text);
        hub_call_begin_clock(call);
    }
    return HUB_GO_ON;
}

static const char *word_for(const hub_call *call, const hub_outcome *outcome)
{
    if (outcome == NULL) {
        return "cancelled";
    }
    if (outcome->is_refused) {
        return "refused";
    }
    switch (outcome->status) {
    case PATCHBAY_RESULT:
        return hub_outcome_is_error(call, outcome) ? "tool_error" : "ok";
    case PATCHBAY_RPC_ERROR:
        return "rpc_error";
    case PATCHBAY_NOT_IMPLEMENTED:
        return "not_implemented";
    case PATCHBAY_INVALID_INPUT:
        return "invalid_input";
    case PATCHBAY_UNAVAILABLE:
        return "unavailable";
    default:
        return "failed";
    }
}

static void log_call(const hub_call *call, middleware_part *part, const hub_outcome *outcome)
{
    const hub_session *session = hub_call_session(call);
    const char *toolset = part->log;
    const char *method = toolset + strlen(toolset) + 1;
    const char *name = method + strlen(method) + 1;
    const hub_trace *trace = hub_call_trace(call);
    hub_log_field fields[] = {
        HUB_F_TEXT("toolset", toolset),
        HUB_F_TEXT("method", method),
        HUB_F_TEXT("name", name),
        HUB_F_TEXT("principal", session != NULL ? hub_session_who(session) : ""),
        HUB_F_INT("duration_us", hub_clock_now_us() - hub_call_begin_us(call)),
        HUB_F_TEXT("outcome", word_for(call, outcome)),
        HUB_F_INT("bytes", outcome != NULL ? outcome->json.len : 0),
        HUB_F_TEXT("peer", session != NULL ? hub_session_peer(session) : ""),
        {.key = NULL}, /* here begins what is known of recorded calls alone */
        {.key = NULL},
        {.key = NULL},
    };
    if (trace != NULL) {
        hub_log_field *more = &fields[sizeof fields / sizeof fields[0] - 3];
        more[0] = HUB_F_TEXT("traceId", trace->trace_id);
        more[1] = HUB_F_TEXT("spanId", trace->span_id);
    }
    hub_log_fields(HUB_LOG_INFO, "call.ended", fields);
    free(part->log);
    part->log = NULL;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Append the members of `_meta` but a duration that somebody further away has measured. */
static void add_others(hub_str meta, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(meta);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (!hub_json_string_is(key, HUB_STR(DURATION))) {
            hub_buf_add_char(out, ',');
            hub_buf_add(out, key);
            hub_buf_add_char(out, ':');
            hub_buf_add(out, value);
        }
    }
}

/* Append the result with the duration in it. */
static void add_timed(const hub_call *call, hub_str result, hub_str meta, hub_buf *out)
{
    uint64_t took_us = hub_clock_now_us() - hub_call_begin_us(call);
    const char *end = result.ptr + result.len;
    if (meta.len > 0) {
        hub_buf_add(out, hub_str_between(result.ptr, meta.ptr));
    } else {
        hub_buf_add(out, hub_str_between(result.ptr, end - 1));
        hub_buf_add(out,
                    hub_json_count(result) > 0 ? HUB_STR(",\"_meta\":") : HUB_STR("\"_meta\":"));
    }
    hub_buf_printf(out, "{\"" DURATION "\":%" PRIu64 ".%03" PRIu64, took_us / 1000, took_us % 1000);
    add_others(meta, out);
    hub_buf_add_char(out, '}');
    hub_buf_add(out, meta.len > 0 ? hub_str_between(meta.ptr + meta.len, end) : HUB_STR("}"));
}

static void time_result(const hub_call *call, hub_outcome *outcome, hub_buf *out)
{
    hub_str meta = hub_json_get(outcome->json, HUB_STR("_meta"));
    hub_json_type type = hub_json_type_of(meta);
    if (hub_json_type_of(outcome->json) != HUB_JSON_OBJECT ||
        (type != HUB_JSON_NONE && type != HUB_JSON_OBJECT)) {
        return;
    }
    add_timed(call, outcome->json, meta, out);
    if (hub_buf_ok(out)) {
        outcome->json = hub_buf_str(out);
    }
}

/* ---- on the way back ------------------------------------------------------------------------- */

static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    middleware_part *part = hub_call_find_part(call, &HUB_MIDDLEWARE_STATION);
    if (part->log != NULL) {
        log_call(call, part, outcome);
    }
    if (hub_call_binding(call) != NULL && outcome->status == PATCHBAY_RESULT && part->does.time) {
        time_result(call, outcome, &part->timed);
    }
    return HUB_GO_ON;
}

/* Without an outcome its client has cancelled it, or is gone. */
static void end(hub_call *call, const hub_outcome *outcome)
{
    middleware_part *part = hub_call_find_part(call, &HUB_MIDDLEWARE_STATION);
    if (part->log != NULL) {
        log_call(call, part, outcome);
    }
}

static void drop(hub_call *call)
{
    middleware_part *part = hub_call_find_part(call, &HUB_MIDDLEWARE_STATION);
    hub_buf_fini(&part->timed);
}

static hub_station_place place;

const hub_station HUB_MIDDLEWARE_STATION = {
    .name = "middleware",
    .place = &place,
    .bytes = {[HUB_PART_CALL] = sizeof(middleware_part)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .answer = answer,
    .end = end,
    .drop = drop,
};
