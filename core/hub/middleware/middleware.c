/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/middleware/middleware.h"

#include "base/clock.h"
#include "base/log.h"
#include "hub/kernel/hub.h"
#include "hub/middleware/result_cut.h"
#include "hub/report/status.h"

#include <inttypes.h>
#include <stdlib.h>

#define DURATION "patchbay/duration_ms"

/* The settings of who works on it; NULL: nobody does, or it is the hub's own. */
static const hub_middleware_settings *settings_of(const hub_call *call)
{
    bool is_clients = call->binding != NULL && call->on_outcome == NULL;
    return is_clients ? &call->binding->toolset->settings->middleware : NULL;
}

/* ---- log ------------------------------------------------------------------------------------- */

void hub_middleware_begin(hub_call *call, const hub_toolset *toolset, hub_str method, hub_str name)
{
    if (toolset->settings->middleware.log && call->log == NULL) {
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 2);
        hub_buf_add(&text, hub_str_of(toolset->key));
        hub_buf_add_char(&text, '\0');
        hub_buf_add(&text, method);
        hub_buf_add_char(&text, '\0');
        hub_buf_add(&text, name);
        call->log = hub_buf_ok(&text) ? hub_buf_take(&text) : NULL; /* then it goes unlogged */
        hub_buf_fini(&text);
        hub_call_begin_clock(call);
    }
}

static const char *word_for(const hub_call *call, const hub_outcome *outcome)
{
    if (outcome == NULL) {
        return "cancelled";
    }
    if (call->is_refused) {
        return "refused";
    }
    switch (outcome->status) {
    case PATCHBAY_RESULT:
        return hub_status_is_error(call, outcome) ? "tool_error" : "ok";
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

static void log_call(hub_call *call, const hub_outcome *outcome)
{
    const char *toolset = call->log;
    const char *method = toolset + strlen(toolset) + 1;
    const char *name = method + strlen(method) + 1;
    hub_log(HUB_LOG_INFO, "call.ended", HUB_F_TEXT("toolset", toolset),
            HUB_F_TEXT("method", method), HUB_F_TEXT("name", name),
            HUB_F_TEXT("principal", call->session != NULL ? call->session->principal : ""),
            HUB_F_INT("duration_us", hub_clock_now_us() - call->begin_us),
            HUB_F_TEXT("outcome", word_for(call, outcome)),
            HUB_F_INT("bytes", outcome != NULL ? outcome->json.len : 0));
    free(call->log);
    call->log = NULL;
}

void hub_middleware_drop(hub_call *call)
{
    if (call->log != NULL) {
        log_call(call, NULL);
    }
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
    uint64_t took_us = hub_clock_now_us() - call->begin_us;
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

/* ---- size ------------------------------------------------------------------------------------ */

static void cut_result(const hub_call *call, hub_outcome *outcome, uint32_t most, hub_buf *out)
{
    bool is_of_tool = call->is_tool_call || call->task_role == HUB_TASK_RESULT;
    if (most == 0 || outcome->json.len <= most || !is_of_tool ||
        !hub_result_is_cuttable(outcome->json)) {
        return;
    }
    hub_result_cut(outcome->json, most, out);
    if (hub_buf_ok(out)) {
        outcome->json = hub_buf_str(out);
    } else { /* what is too large is not passed on for want of memory */
        *outcome = (hub_outcome){.status = PATCHBAY_FAILED,
                                 .json = HUB_STR("out of memory while the result was cut")};
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool hub_middleware_is_wanted(const hub_call *call, const hub_outcome *outcome)
{
    const hub_middleware_settings *does = settings_of(call);
    return call->log != NULL || (does != NULL && outcome->status == PATCHBAY_RESULT &&
                                 (does->time || does->max_result_bytes > 0));
}

void hub_middleware_run(hub_call *call, const hub_outcome *outcome,
                        void (*next)(hub_call *call, const hub_outcome *outcome))
{
    const hub_middleware_settings *does = settings_of(call);
    hub_outcome passed = *outcome;
    hub_buf cut;
    hub_buf timed;
    hub_buf_init(&cut, SIZE_MAX / 2);
    hub_buf_init(&timed, SIZE_MAX / 2);
    if (call->log != NULL) {
        log_call(call, outcome);
    }
    if (does != NULL && outcome->status == PATCHBAY_RESULT) {
        cut_result(call, &passed, does->max_result_bytes, &cut);
        if (does->time && passed.status == PATCHBAY_RESULT) {
            time_result(call, &passed, &timed);
        }
    }
    next(call, &passed);
    hub_buf_fini(&timed);
    hub_buf_fini(&cut);
}
