/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/status.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/audit/audit.h"
#include "hub/catalogs/discovery.h"
#include "hub/instances/principal_instance.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/overrides/overrides.h"
#include "hub/pins/pins.h"
#include "hub/limits/queue.h"
#include "hub/limits/servers.h"
#include "hub/replicas/manifests.h"
#include "hub/report/left_out.h"
#include "hub/report/refused_plugin.h"
#include "hub/report/reload_state.h"

#include <inttypes.h>
#include <unistd.h>

/* ---- counting -------------------------------------------------------------------------------- */

/* With a call: whose it counts as; NULL: it does not. */
typedef struct call_status {
    hub_status_counts *counts;
    const hub_status_observer *observer; /* if it has seen it */
    hub_status_seen seen;
} call_status;

/* An instance of a session, or of a principal, has none of its own. */
static hub_status_counts *counts_of(const hub_toolset *toolset)
{
    const hub_toolset *shared = hub_toolset_is_apart(toolset)
                                    ? hub_principal_instance_shared(toolset)
                                : hub_toolset_is_own(toolset) ? hub_session_instance_shared(toolset)
                                                              : toolset;
    return hub_toolset_part(shared != NULL ? shared : toolset, &HUB_STATUS_STATION);
}

const hub_status_counts *hub_status_counts_of(const hub_toolset *toolset)
{
    return counts_of(toolset);
}

/* With the hub. */
static const hub_status_observer **observer_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_STATUS_STATION);
}

void hub_status_observe(hub_orchestrator *hub, const hub_status_observer *observer)
{
    *observer_of(hub) = observer;
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    call_status *part = hub_call_part_of(call, &HUB_STATUS_STATION);
    const hub_status_observer *observer = *observer_of(hub_toolset_hub(way->toolset));
    part->counts = hub_toolset_is_meta(way->toolset) ? NULL : counts_of(way->toolset);
    if (observer != NULL) {
        observer->begun(call, way, &part->seen);
        part->observer = observer;
    }
    return HUB_GO_ON;
}

/* What its toolset never got, because there was no place for it, is counted apart; what ended before
 * it was sent for another reason, not at all. */
static void tally(const hub_call *call, hub_status_counts *counts, const hub_outcome *outcome,
                  bool is_error, uint64_t now_us)
{
    if (hub_call_binding(call) == NULL) {
        counts->refused +=
            outcome != NULL && outcome->is_refused && outcome->status == PATCHBAY_UNAVAILABLE;
        return;
    }
    counts->calls++;
    if (outcome == NULL) {
        counts->cancelled++;
        return;
    }
    uint64_t took_us = now_us - hub_call_begin_us(call);
    counts->errors += is_error;
    counts->latency_us += took_us;
    counts->latency_max_us = took_us > counts->latency_max_us ? took_us : counts->latency_max_us;
}

/* Count a call that ends now; NULL: it was cancelled. */
static void count(hub_call *call, const hub_outcome *outcome)
{
    call_status *part = hub_call_part_of(call, &HUB_STATUS_STATION);
    if (part->counts == NULL && part->seen.what == NULL) {
        return;
    }
    uint64_t now_us = hub_clock_now_us();
    bool is_error = outcome != NULL && hub_outcome_is_error(call, outcome);
    if (part->counts != NULL) {
        tally(call, part->counts, outcome, is_error, now_us);
        part->counts = NULL;
    }
    if (part->seen.what != NULL) {
        part->observer->ended(call, &part->seen, outcome, is_error, now_us);
        part->seen.what = NULL;
    }
}

/* Counted when the outcome is known: its client may be away. */
static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    count(call, outcome);
    return HUB_GO_ON;
}

static bool wants_hub(const hub_orchestrator *hub)
{
    (void)hub;
    return true;
}

static hub_station_place place;

const hub_station HUB_STATUS_STATION = {
    .name = "status",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(const hub_status_observer *),
              [HUB_PART_TOOLSET] = sizeof(hub_status_counts),
              [HUB_PART_CALL] = sizeof(call_status)},
    .wants_hub = wants_hub,
    .begin = begin,
    .answer = answer,
    .end = count,
};

/* ---- telling --------------------------------------------------------------------------------- */

const char *hub_status_state(const hub_toolset *toolset, bool is_active)
{
    static const char *const WORDS[] = {
        [PATCHBAY_STATE_IDLE] = "idle",
        [PATCHBAY_STATE_CONNECTING] = "connecting",
        [PATCHBAY_STATE_READY] = "ready",
        [PATCHBAY_STATE_FAILED] = "failed",
    };
    if (!hub_toolset_settings_of(toolset)->enabled) {
        return "off";
    }
    if (!is_active) { /* wanted, perhaps, and impossible */
        bool has_failed = hub_toolset_unusable(toolset)[0] != '\0' ||
                          hub_toolset_last_failure(toolset)[0] != '\0';
        return has_failed ? "failed" : "inactive";
    }
    if (hub_toolset_is_native(toolset)) {
        return "ready";
    }
    return hub_toolset_state(toolset) <= PATCHBAY_STATE_FAILED ? WORDS[hub_toolset_state(toolset)]
                                                               : "unknown";
}

/* Of the server behind it, if it has one. */
static void add_server(const hub_toolset *toolset, hub_buf *out)
{
    const hub_toolset_health *health = hub_toolset_health_of(toolset);
    hub_revision revision = hub_revision_parse(hub_str_of(health->protocol));
    if (health->pid != 0) {
        hub_json_add_count(out, "pid", health->pid);
    }
    if (revision != HUB_REVISION_NONE) {
        hub_json_add_member(
            out, "era",
            hub_str_of(hub_revision_era(revision) == HUB_ERA_MODERN ? "modern" : "legacy"));
        hub_json_add_member(out, "protocol", hub_str_of(health->protocol));
    }
}

static const char *last_error_of(const hub_toolset *toolset, bool is_active)
{
    if (!is_active && hub_toolset_unusable(toolset)[0] != '\0') {
        return hub_toolset_unusable(toolset);
    }
    const char *failure = hub_toolset_last_failure(toolset);
    return failure[0] != '\0' ? failure : hub_toolset_health_of(toolset)->last_error;
}

static void add_troubles(const hub_toolset *toolset, bool is_active, hub_buf *out)
{
    const hub_toolset_health *health = hub_toolset_health_of(toolset);
    const char *last = last_error_of(toolset, is_active);
    uint64_t now = hub_clock_now_ms();
    hub_json_add_count(out, "restarts", health->restarts);
    hub_json_add_count(out, "failures", health->failures);
    if (last[0] != '\0') {
        hub_json_add_member(out, "lastError", hub_str_of(last));
    }
    if (health->next_attempt_ms > now) {
        hub_json_add_count(out, "nextAttemptMs", health->next_attempt_ms - now);
    }
}

/* How long ago the server has said what it offers. */
static void add_age(const hub_toolset *toolset, hub_buf *out)
{
    if (hub_discovery_learned_at(toolset) > 0) {
        int64_t age = hub_clock_wall_ms() - hub_discovery_learned_at(toolset);
        hub_json_add_count(out, "catalogAgeMs",
                           age > 0 ? (uint64_t)age : 0); /* the clock may be set back */
    }
}

void hub_status_load(const hub_toolset *toolset, size_t *ret_in_flight, size_t *ret_queued)
{
    size_t in_flight =
        hub_toolset_binding(toolset) != NULL ? hub_binding_places(hub_toolset_binding(toolset)) : 0;
    size_t queued = hub_queue_count(toolset);
    for (const hub_toolset *own = hub_session_instances_of(toolset); own != NULL;
         own = hub_session_instances_next(own)) {
        const hub_binding *binding = hub_toolset_binding(own);
        in_flight += binding != NULL ? hub_binding_places(binding) : 0;
        queued += hub_queue_count(own);
    }
    for (const hub_toolset *own = hub_principal_instances_of(toolset); own != NULL;
         own = hub_principal_instances_next(own)) {
        const hub_binding *binding = hub_toolset_binding(own);
        in_flight += binding != NULL ? hub_binding_places(binding) : 0;
        queued += hub_queue_count(own);
    }
    *ret_in_flight = in_flight;
    *ret_queued = queued;
}

static void add_load(const hub_toolset *toolset, hub_buf *out)
{
    size_t in_flight;
    size_t queued;
    hub_status_load(toolset, &in_flight, &queued);
    hub_json_add_count(out, "inFlight", in_flight);
    hub_json_add_count(out, "queued", queued);
    if (hub_toolset_settings_of(toolset)->max_calls > 0) {
        hub_json_add_count(out, "queueLimit", hub_toolset_settings_of(toolset)->queue);
    }
    if (hub_toolset_settings_of(toolset)->sharing_session) {
        hub_json_add_count(out, "instances", hub_session_instance_count(toolset));
    }
    if (hub_toolset_is_stand_in(toolset)) {
        hub_json_add_count(out, "principals", hub_principal_instance_count(toolset));
    }
}

static void add_milliseconds(hub_buf *out, const char *key, uint64_t us)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_printf(out, "%" PRIu64 ".%03u", us / 1000, (unsigned)(us % 1000));
}

/* How many tools it has, and of whose server: of what rules hide, and of a server that others use
 * alone, who is asking hears nothing. */
static void add_what_there_is(hub_exposure *seen, const hub_toolset *toolset, bool is_active,
                              hub_buf *out)
{
    bool is_gated = seen != NULL && hub_is_gated(hub_toolset_hub(toolset));
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    if (is_active || !is_gated) {
        add_server(toolset, out);
    }
    hub_json_add_count(out, "tools",
                       is_gated ? hub_exposure_count(seen, key, HUB_KIND_TOOL)
                                : hub_toolset_count(toolset, HUB_KIND_TOOL));
}

/* Whether it is active for who has that exposure; NULL: for anybody. */
static bool is_active_for(const hub_exposure *seen, const hub_toolset *toolset)
{
    return seen != NULL ? hub_exposure_source(seen, hub_str_of(hub_toolset_key(toolset))) != NULL
                        : hub_toolset_users(toolset) > 0;
}

/* Who is asking hears of its own instance, and of nobody else's. */
static const hub_toolset *as_seen(const hub_exposure *seen, const hub_toolset *toolset)
{
    const hub_source *source =
        seen != NULL ? hub_exposure_source(seen, hub_str_of(hub_toolset_key(toolset))) : NULL;
    return source != NULL ? source->owner : toolset;
}

void hub_status_add_toolset(hub_exposure *seen, const hub_toolset *registered, hub_buf *out)
{
    const hub_toolset *toolset = as_seen(seen, registered);
    bool is_active = is_active_for(seen, toolset);
    const hub_status_counts *counts = counts_of(toolset);
    uint64_t timed = counts->calls - counts->cancelled;
    hub_buf_add_char(out, '{');
    hub_json_add_member(out, "state", hub_str_of(hub_status_state(toolset, is_active)));
    add_what_there_is(seen, toolset, is_active, out);
    if (hub_overrides_unused(toolset)->count > 0) {
        hub_json_add_count(out, "overridesUnused", hub_overrides_unused(toolset)->count);
    }
    hub_json_add_count(out, "calls", counts->calls);
    hub_json_add_count(out, "errors", counts->errors);
    hub_json_add_count(out, "cancelled", counts->cancelled);
    hub_json_add_count(out, "refused", counts->refused);
    hub_json_add_count(out, "redefined", hub_toolset_redefined(toolset));
    hub_pins_add_counts(toolset, out);
    add_troubles(toolset, is_active, out);
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
    return hub_profile_settings_enable(hub_profile_settings_of(profile));
}

/* Whether who sees that may know of a toolset. */
static bool may_tell_of(hub_exposure *seen, const hub_toolset *toolset)
{
    return hub_exposure_may_tell_of(seen, hub_str_of(hub_toolset_key(toolset)));
}

/* Whom the status is for. */
typedef struct viewer {
    const hub_orchestrator *hub;
    const hub_profile *profile;
    hub_exposure *seen; /* NULL: somebody who may see all there is */
} viewer;

static bool may_tell_of_all(const viewer *who)
{
    const hub_orchestrator *hub = who->hub;
    hub_exposure *seen = who->seen;
    if (seen == NULL) {
        return true;
    }
    bool may = shows_inactive(who->profile);
    for (size_t i = 0; may && i < hub_toolset_total(hub); i++) {
        may = may_tell_of(seen, hub_toolset_at(hub, i));
    }
    return may;
}

/* Whether there are rules for who is asking: then others' doings are not told, not even in sums. */
static bool is_narrowed(const viewer *who)
{
    return who->seen != NULL && hub_is_gated(who->hub);
}

/* Only if there is one. */
static void add_audit(const viewer *who, hub_buf *out)
{
    hub_audit_numbers numbers = hub_audit_count(hub_audit_of(who->hub));
    if (!hub_settings_of(who->hub)->audit.is_on) {
        return;
    }
    hub_json_add_key(out, HUB_STR("audit"));
    hub_buf_add_char(out, '{');
    if (!is_narrowed(who)) {
        hub_json_add_count(out, "written", numbers.written);
        hub_json_add_count(out, "waiting", numbers.waiting);
        hub_json_add_count(out, "dropped", numbers.dropped);
        hub_json_add_count(out, "refused", numbers.refused);
    }
    hub_json_add_key(out, HUB_STR("failing"));
    hub_buf_printf(out, "%s}", numbers.is_failing ? "true" : "false");
}

/* Where it is, and why not, only for those who may know of all toolsets. */
static void add_state(const viewer *who, hub_buf *out)
{
    static const char *const CONDITIONS[] = {
        [HUB_STATE_OFF] = "off", [HUB_STATE_OK] = "ok", [HUB_STATE_UNAVAILABLE] = "unavailable"};
    const hub_store *store = hub_store_of(who->hub);
    if (store == NULL) {
        return; /* the hub ends */
    }
    hub_state_health health = hub_store_health(store);
    hub_json_add_key(out, HUB_STR("state"));
    hub_buf_add_char(out, '{');
    hub_json_add_member(out, "condition", hub_str_of(CONDITIONS[health.condition]));
    if (may_tell_of_all(who) && health.reason[0] != '\0') {
        hub_json_add_member(out, "reason", hub_str_of(health.reason));
    }
    if (may_tell_of_all(who) && health.notice[0] != '\0') {
        hub_json_add_member(out, "notice", hub_str_of(health.notice));
    }
    hub_buf_printf(out, ",\"encrypted\":%s}", health.has_key ? "true" : "false");
}

/* The other hubs of the store, only for those who may know of all toolsets. */
static void add_replicas(const viewer *who, hub_buf *out)
{
    if (may_tell_of_all(who) && hub_manifests_compares(who->hub)) {
        hub_json_add_key(out, HUB_STR("replicas"));
        hub_manifests_add(who->hub, out);
    }
}

/* Why, only for those who may know of all toolsets: the reason can name any. */
static void add_refused_reload(const viewer *who, hub_buf *out)
{
    const hub_reload_state *state = hub_reload_state_of(who->hub);
    if (state->refused_ms > 0) {
        hub_json_add_key(out, HUB_STR("refusedReload"));
        hub_buf_add_char(out, '{');
        hub_json_add_count(out, "agoMs", hub_clock_now_ms() - state->refused_ms);
        if (may_tell_of_all(who)) {
            hub_json_add_member(out, "reason", hub_str_of(state->refusal.text));
        }
        hub_buf_add_char(out, '}');
    }
}

/* What the hub does in all. */
typedef struct totals {
    size_t in_flight;
    uint64_t refused;
    size_t servers; /* that run */
} totals;

/* Of the toolsets that are active for who is asking, where there are rules: what others do with others,
 * and that they do, is not told. */
static totals totals_for(const viewer *who)
{
    const hub_orchestrator *hub = who->hub;
    totals of = {.in_flight = hub_call_count(hub_calls_of(hub)),
                 .refused = hub_refused(hub),
                 .servers = hub_servers_running(hub)};
    if (!is_narrowed(who)) {
        return of;
    }
    of = (totals){.in_flight = 0};
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        size_t in_flight;
        size_t queued;
        if (is_active_for(who->seen, toolset)) {
            hub_status_load(toolset, &in_flight, &queued);
            of.in_flight += in_flight + queued;
            of.refused += counts_of(toolset)->refused;
            of.servers += hub_toolset_health_of(toolset)->pid != 0;
            of.servers += hub_session_instance_count(toolset);
        }
    }
    return of;
}

static void add_totals(const viewer *who, hub_buf *out)
{
    totals of = totals_for(who);
    size_t most = hub_settings_of(who->hub)->limits.running_servers;
    hub_json_add_count(out, "inFlight", of.in_flight);
    hub_json_add_count(out, "refused", of.refused);
    hub_json_add_count(out, "servers", of.servers);
    if (most > 0) {
        hub_json_add_count(out, "serversLimit", most);
    }
}

static void add_hub(const viewer *who, hub_buf *out)
{
    const hub_orchestrator *hub = who->hub;
    const hub_generation *generation = hub_settings_of(hub)->generation;
    hub_buf_add_char(out, '{');
    hub_json_add_member(out, "name", hub_str_of(hub_settings_of(hub)->name));
    hub_json_add_member(out, "version", hub_str_of(PATCHBAY_VERSION));
    hub_json_add_count(out, "pid", (uint64_t)getpid());
    hub_json_add_count(out, "upMs", hub_clock_now_ms() - hub_begun_ms(hub));
    hub_json_add_count(out, "generation", generation != NULL ? generation->number : 1);
    add_totals(who, out);
    add_refused_reload(who, out);
    add_audit(who, out);
    add_state(who, out);
    add_replicas(who, out);
    hub_buf_add_char(out, '}');
}

/* An object that is not closed yet. */
static void add_members(const viewer *who, hub_buf *out)
{
    const hub_orchestrator *hub = who->hub;
    hub_exposure *seen = who->seen;
    hub_buf_add(out, HUB_STR("{\"hub\":"));
    add_hub(who, out);
    hub_buf_add(out, HUB_STR(",\"toolsets\":["));
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        bool is_active = is_active_for(seen, toolset);
        if (is_active || seen == NULL ||
            (shows_inactive(who->profile) && may_tell_of(seen, toolset))) {
            hub_json_add_comma(out);
            hub_buf_add_char(out, '{');
            hub_json_add_member(out, "key", hub_str_of(hub_toolset_settings_of(toolset)->key));
            hub_buf_printf(out, ",\"active\":%s,\"status\":", is_active ? "true" : "false");
            hub_status_add_toolset(seen, toolset, out);
            hub_refused_plugin_add(as_seen(seen, toolset), out);
            hub_pins_add_withheld(toolset, seen, out);
            if (seen == NULL || !hub_is_gated(hub)) { /* rules are about whole definitions */
                hub_left_out_add(toolset, seen, HUB_CATALOG_KEPT, out);
            }
            hub_buf_add_char(out, '}');
        }
    }
    hub_buf_add_char(out, ']');
}

static viewer viewer_of(const hub_audience *audience, hub_exposure *seen)
{
    return (viewer){
        .hub = hub_audience_hub(audience), .profile = hub_audience_profile(audience), .seen = seen};
}

void hub_status_add(const hub_audience *audience, hub_exposure *seen, hub_buf *out)
{
    viewer who = viewer_of(audience, seen);
    add_members(&who, out);
    hub_buf_add_char(out, '}');
}

void hub_status_add_all(const hub_orchestrator *hub, hub_buf *out)
{
    viewer who = {.hub = hub};
    add_members(&who, out);
    hub_buf_add_char(out, '}');
}

bool hub_status_add_not_ready(const hub_orchestrator *hub, hub_buf *out)
{
    bool has_any = false;
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        if (!hub_toolset_is_native(toolset) &&
            (hub_toolset_state(toolset) == PATCHBAY_STATE_FAILED ||
             hub_toolset_state(toolset) == PATCHBAY_STATE_CONNECTING)) {
            hub_json_add_comma(out);
            hub_buf_add_char(out, '{');
            hub_json_add_member(out, "toolset", hub_str_of(hub_toolset_settings_of(toolset)->key));
            hub_json_add_member(out, "state", hub_str_of(hub_status_state(toolset, true)));
            hub_buf_add_char(out, '}');
            has_any = true;
        }
    }
    hub_buf_add_char(out, ']');
    return has_any;
}

hub_err hub_status_ask(hub_orchestrator *hub, hub_str toolset, hub_str method, hub_str params,
                       uint32_t timeout_ms, hub_call_on_outcome *on_outcome, void *ctx)
{
    hub_toolset *found = hub_find_toolset(hub, toolset);
    if (found == NULL || hub_toolset_binding(found) == NULL) {
        return found == NULL ? HUB_ENOTFOUND : HUB_EUNAVAILABLE;
    }
    hub_call *call;
    patchbay_request request = {
        .args_json = HUB_STR("{}"), .method = method, .params_json = params};
    return hub_toolset_request(found, &request, timeout_ms, on_outcome, ctx, &call);
}

void hub_status_respond(const hub_request *request, hub_status_add_more *add_more)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    viewer who =
        viewer_of(hub_session_audience(request->session), hub_session_exposure(request->session));
    if (hub_is_gated(who.hub) && hub_session_may_read_all(request->session)) {
        who.seen = NULL; /* rules are about tools: the operator is told of every server */
    }
    add_members(&who, &out);
    add_more(request->session, &out);
    hub_buf_add_char(&out, '}');
    if (hub_buf_ok(&out)) {
        hub_respond_result(request, hub_buf_str(&out));
    } else {
        hub_respond_refusal(request, out.failed);
    }
    hub_buf_fini(&out);
}
