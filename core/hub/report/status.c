/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/status.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/audit/audit.h"
#include "hub/report/describe.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"

#include <inttypes.h>
#include <unistd.h>

#define COUNT "{\"type\":\"integer\",\"minimum\":0}"
#define TEXT  "{\"type\":\"string\"}"

const char HUB_STATUS_SCHEMA[] =
    "{\"type\":\"object\",\"required\":[\"state\",\"tools\",\"calls\",\"errors\",\"cancelled\","
    "\"refused\",\"restarts\",\"failures\",\"inFlight\",\"latencyMs\"],\"properties\":{"
    "\"state\":{\"enum\":[\"off\",\"inactive\",\"idle\",\"connecting\",\"ready\",\"failed\","
    "\"unknown\"]},\"pid\":" COUNT ",\"era\":{\"enum\":[\"legacy\",\"modern\"]},\"protocol\":" TEXT
    ",\"tools\":" COUNT ",\"calls\":" COUNT ",\"errors\":" COUNT ",\"cancelled\":" COUNT
    ",\"refused\":" COUNT ",\"restarts\":" COUNT ",\"failures\":" COUNT ",\"lastError\":" TEXT
    ",\"nextAttemptMs\":" COUNT ",\"catalogAgeMs\":" COUNT ",\"inFlight\":" COUNT
    ",\"queued\":" COUNT ",\"queueLimit\":" COUNT ",\"instances\":" COUNT
    ",\"latencyMs\":{\"type\":\"object\",\"required\":[\"mean\",\"max\"],\"properties\":{"
    "\"mean\":{\"type\":\"number\"},\"max\":{\"type\":\"number\"}}}}}";

/* ---- counting -------------------------------------------------------------------------------- */

/* Almost no result has the member: looking for its name is cheaper than reading the result, and
 * looking for its one capital is cheaper still. */
static bool names_is_error(hub_str result)
{
    static const hub_str after = {.ptr = "Error\"", .len = 6};
    const char *end = result.ptr + result.len;
    for (const char *at = result.ptr; at < end; at++) {
        at = memchr(at, 'E', (size_t)(end - at));
        if (at == NULL) {
            return false;
        }
        if (hub_str_starts(hub_str_between(at, end), after)) {
            return true;
        }
    }
    return false;
}

bool hub_status_is_error(const hub_call *call, const hub_outcome *outcome)
{
    if (outcome->status != PATCHBAY_RESULT) {
        return true;
    }
    hub_str result = outcome->json;
    return call->is_tool_call && names_is_error(result) &&
           hub_json_type_of(hub_json_get(result, HUB_STR("isError"))) == HUB_JSON_TRUE;
}

/* One session's own instance has none of its own. */
static hub_status_counts *counts_of(hub_toolset *toolset)
{
    return toolset->session != NULL ? &toolset->shared->counts : &toolset->counts;
}

void hub_status_count_refused(hub_toolset *toolset)
{
    counts_of(toolset)->refused++;
}

void hub_status_count(const hub_call *call, const hub_outcome *outcome)
{
    if (call->binding == NULL || call->on_outcome != NULL) {
        return;
    }
    hub_status_counts *counts = counts_of(call->binding->toolset);
    counts->calls++;
    if (outcome == NULL) {
        counts->cancelled++;
        return;
    }
    uint64_t took_us = hub_clock_now_us() - call->begin_us;
    counts->errors += hub_status_is_error(call, outcome);
    counts->latency_us += took_us;
    counts->latency_max_us = took_us > counts->latency_max_us ? took_us : counts->latency_max_us;
}

/* ---- telling --------------------------------------------------------------------------------- */

const char *hub_status_state(const hub_toolset *toolset, bool is_active)
{
    static const char *const WORDS[] = {
        [PATCHBAY_STATE_IDLE] = "idle",
        [PATCHBAY_STATE_CONNECTING] = "connecting",
        [PATCHBAY_STATE_READY] = "ready",
        [PATCHBAY_STATE_FAILED] = "failed",
    };
    if (!toolset->settings->enabled) {
        return "off";
    }
    if (!is_active) {
        return "inactive";
    }
    if (toolset->native) {
        return "ready";
    }
    return toolset->state <= PATCHBAY_STATE_FAILED ? WORDS[toolset->state] : "unknown";
}

static void add_count(hub_buf *out, const char *key, uint64_t count)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_add_u64(out, count);
}

static void add_text(hub_buf *out, const char *key, const char *text)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_json_add_string(out, hub_str_of(text));
}

/* Of the server behind it, if it has one. */
static void add_server(const hub_toolset *toolset, hub_buf *out)
{
    const hub_toolset_health *health = &toolset->health;
    hub_revision revision = hub_revision_parse(hub_str_of(health->protocol));
    if (health->pid != 0) {
        add_count(out, "pid", health->pid);
    }
    if (revision != HUB_REVISION_NONE) {
        add_text(out, "era", hub_revision_era(revision) == HUB_ERA_MODERN ? "modern" : "legacy");
        add_text(out, "protocol", health->protocol);
    }
}

static void add_troubles(const hub_toolset *toolset, hub_buf *out)
{
    const hub_toolset_health *health = &toolset->health;
    bool has_failed = toolset->state == PATCHBAY_STATE_FAILED && toolset->detail[0] != '\0';
    const char *last = has_failed ? toolset->detail : health->last_error;
    uint64_t now = hub_clock_now_ms();
    add_count(out, "restarts", health->restarts);
    add_count(out, "failures", health->failures);
    if (last[0] != '\0') {
        add_text(out, "lastError", last);
    }
    if (health->next_attempt_ms > now) {
        add_count(out, "nextAttemptMs", health->next_attempt_ms - now);
    }
}

/* How long ago the server has said what it offers. */
static void add_age(const hub_toolset *toolset, hub_buf *out)
{
    if (toolset->learned_at_ms > 0) {
        int64_t age = hub_clock_wall_ms() - toolset->learned_at_ms;
        add_count(out, "catalogAgeMs", age > 0 ? (uint64_t)age : 0); /* the clock may be set back */
    }
}

/* What is under way, with the instances that sessions have of their own. */
static void add_load(const hub_toolset *toolset, hub_buf *out)
{
    size_t in_flight = toolset->binding != NULL ? toolset->binding->client_calls : 0;
    size_t queued = toolset->queue.count;
    for (const hub_toolset *own = toolset->instances; own != NULL; own = own->next_instance) {
        in_flight += own->binding != NULL ? own->binding->client_calls : 0;
        queued += own->queue.count;
    }
    add_count(out, "inFlight", in_flight);
    add_count(out, "queued", queued);
    if (toolset->settings->max_calls > 0) {
        add_count(out, "queueLimit", toolset->settings->queue);
    }
    if (toolset->settings->sharing_session) {
        add_count(out, "instances", toolset->instance_count);
    }
}

static void add_milliseconds(hub_buf *out, const char *key, uint64_t us)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_printf(out, "%" PRIu64 ".%03u", us / 1000, (unsigned)(us % 1000));
}

void hub_status_add_toolset(const hub_profile *profile, const hub_toolset *toolset, hub_buf *out)
{
    const hub_status_counts *counts = &toolset->counts;
    uint64_t timed = counts->calls - counts->cancelled;
    hub_buf_add_char(out, '{');
    add_text(out, "state", hub_status_state(toolset, hub_describe_is_active(profile, toolset)));
    add_server(toolset, out);
    add_count(out, "tools", hub_toolset_count(toolset, HUB_KIND_TOOL));
    add_count(out, "calls", counts->calls);
    add_count(out, "errors", counts->errors);
    add_count(out, "cancelled", counts->cancelled);
    add_count(out, "refused", counts->refused);
    add_troubles(toolset, out);
    add_age(toolset, out);
    add_load(toolset, out);
    hub_json_add_key(out, HUB_STR("latencyMs"));
    hub_buf_add_char(out, '{');
    add_milliseconds(out, "mean", timed > 0 ? counts->latency_us / timed : 0);
    add_milliseconds(out, "max", counts->latency_max_us);
    hub_buf_add(out, HUB_STR("}}"));
}

/* Whether the profile's clients may know of toolsets that are not active in it: they may enable
 * them. */
static bool shows_inactive(const hub_profile *profile)
{
    return profile->settings->meta_tools && profile->settings->startup != HUB_STARTUP_STATIC;
}

/* Only if there is one. */
static void add_audit(const hub_orchestrator *hub, hub_buf *out)
{
    hub_audit_numbers numbers = hub_audit_count(hub->audit);
    if (hub->settings->audit.is_on) {
        hub_json_add_key(out, HUB_STR("audit"));
        hub_buf_add_char(out, '{');
        add_count(out, "written", numbers.written);
        add_count(out, "waiting", numbers.waiting);
        add_count(out, "dropped", numbers.dropped);
        add_count(out, "refused", numbers.refused);
        hub_buf_printf(out, ",\"failing\":%s}", numbers.is_failing ? "true" : "false");
    }
}

/* Why, only for those who may know of all toolsets: the reason can name any. */
static void add_refused_reload(const hub_profile *profile, hub_buf *out)
{
    const hub_orchestrator *hub = profile->hub;
    if (hub->refused_ms > 0) {
        hub_json_add_key(out, HUB_STR("refusedReload"));
        hub_buf_add_char(out, '{');
        add_count(out, "agoMs", hub_clock_now_ms() - hub->refused_ms);
        if (shows_inactive(profile)) {
            add_text(out, "reason", hub->refusal.text);
        }
        hub_buf_add_char(out, '}');
    }
}

static void add_hub(const hub_profile *profile, hub_buf *out)
{
    const hub_orchestrator *hub = profile->hub;
    const hub_generation *generation = hub->settings->generation;
    hub_buf_add_char(out, '{');
    add_text(out, "name", hub->settings->name);
    add_text(out, "version", PATCHBAY_VERSION);
    add_count(out, "pid", (uint64_t)getpid());
    add_count(out, "upMs", hub_clock_now_ms() - hub->begun_ms);
    add_count(out, "generation", generation != NULL ? generation->number : 1);
    add_count(out, "inFlight", hub_call_count(hub->calls));
    add_count(out, "refused", hub->accounts.refused);
    add_refused_reload(profile, out);
    add_audit(hub, out);
    hub_buf_add_char(out, '}');
}

void hub_status_add(const hub_profile *profile, hub_buf *out)
{
    const hub_orchestrator *hub = profile->hub;
    hub_buf_add(out, HUB_STR("{\"hub\":"));
    add_hub(profile, out);
    hub_buf_add(out, HUB_STR(",\"toolsets\":["));
    for (size_t i = 0; i < hub->toolset_count; i++) {
        const hub_toolset *toolset = hub->toolsets[i];
        bool is_active = hub_describe_is_active(profile, toolset);
        if (is_active || shows_inactive(profile)) {
            hub_json_add_comma(out);
            hub_buf_add_char(out, '{');
            add_text(out, "key", toolset->settings->key);
            hub_buf_printf(out, ",\"active\":%s,\"status\":", is_active ? "true" : "false");
            hub_status_add_toolset(profile, toolset, out);
            hub_buf_add_char(out, '}');
        }
    }
    hub_buf_add(out, HUB_STR("]}"));
}

bool hub_orchestrator_add_not_ready(const hub_orchestrator *hub, hub_buf *out)
{
    bool has_any = false;
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < hub->toolset_count; i++) {
        const hub_toolset *toolset = hub->toolsets[i];
        if (!toolset->native && (toolset->state == PATCHBAY_STATE_FAILED ||
                                 toolset->state == PATCHBAY_STATE_CONNECTING)) {
            hub_json_add_comma(out);
            hub_buf_add_char(out, '{');
            add_text(out, "toolset", toolset->settings->key);
            add_text(out, "state", hub_status_state(toolset, true));
            hub_buf_add_char(out, '}');
            has_any = true;
        }
    }
    hub_buf_add_char(out, ']');
    return has_any;
}

hub_err hub_status_ask(hub_orchestrator *hub, hub_str toolset, uint32_t timeout_ms,
                       hub_call_on_outcome *on_outcome, void *ctx)
{
    hub_toolset *found = hub_find_toolset(hub, toolset);
    if (found == NULL || found->binding == NULL) {
        return found == NULL ? HUB_ENOTFOUND : HUB_EUNAVAILABLE;
    }
    hub_call *call;
    patchbay_request request = {.args_json = HUB_STR("{}"),
                                .method = HUB_STR(HUB_STATUS_METHOD),
                                .params_json = HUB_STR("{}")};
    return hub_toolset_request(found, &request, timeout_ms, on_outcome, ctx, &call);
}

void hub_status_respond(const hub_request *request)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_status_add(request->session->profile, &out);
    if (hub_buf_ok(&out)) {
        hub_respond_result(request, hub_buf_str(&out));
    } else {
        hub_respond_refusal(request, out.failed);
    }
    hub_buf_fini(&out);
}
