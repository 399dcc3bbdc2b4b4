/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/notices/logging_internal.h"

#include "base/bucket.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "hub/instances/principal_instance.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

#include <inttypes.h>

static const hub_bucket_rate RATE = {.per_second = HUB_LIMIT_LOG_MESSAGES_PER_S,
                                     .at_once = HUB_LIMIT_LOG_MESSAGES_BURST};
/* With a toolset. */
typedef struct toolset_logging {
    int told;       /* the level that its instance was told */
    unsigned users; /* … when it had so many */
    int asked;      /* the most talkative that a modern request had */
} toolset_logging;

/* With an audience. */
typedef struct audience_logging {
    uint32_t counts[HUB_LEVEL_NONE]; /* sessions that asked for that level */
} audience_logging;

static const hub_str METHOD = {.ptr = "notifications/message", .len = 21};

static toolset_logging *of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_LOGGING_STATION);
}

session_logging *hub_logging_in(const hub_session *session)
{
    return hub_session_part(session, &HUB_LOGGING_STATION);
}

static audience_logging *within(const hub_audience *audience)
{
    return hub_audience_part(audience, &HUB_LOGGING_STATION);
}

/* ---- what toolsets are told ------------------------------------------------------------------ */

/* The most talkative level of that one and those that sessions which see the toolset asked for. */
static int more_talkative(const hub_audience *audience, const hub_toolset *toolset, int level)
{
    for (int at = 0; at < level; at++) {
        if (within(audience)->counts[at] > 0 && hub_audience_has(audience, toolset)) {
            return at;
        }
    }
    return level;
}

/* The most talkative level that anybody asked the toolset for. */
static int wanted_level(const hub_toolset *toolset)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    int level = of(toolset)->asked;
    if (hub_toolset_is_own(toolset) && !hub_toolset_is_apart(toolset)) {
        const hub_session *session = hub_session_instance_owner(toolset);
        bool has_level = session != NULL && hub_logging_in(session)->has_level &&
                         hub_logging_in(session)->level < level;
        return has_level ? hub_logging_in(session)->level : level;
    }
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *audience = hub_profile_audience(hub_profile_at(hub, i));
             audience != NULL; audience = hub_audience_next(audience)) {
            level = more_talkative(audience, toolset, level);
        }
    }
    return level;
}

static void on_told(void *ctx, const hub_outcome *outcome)
{
    const hub_toolset *toolset = ctx;
    if (outcome->status != PATCHBAY_RESULT) {
        hub_log(HUB_LOG_DEBUG, "toolset.level_refused",
                HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_STR("reason", outcome->json));
    }
}

void hub_logging_refresh(hub_toolset *toolset)
{
    if (!hub_toolset_capabilities(toolset)->logs || hub_toolset_binding(toolset) == NULL ||
        hub_binding_instance(hub_toolset_binding(toolset)) == NULL) {
        return;
    }
    int level = wanted_level(toolset);
    of(toolset)->users = hub_toolset_users(toolset);
    if (level == HUB_LEVEL_NONE || level == of(toolset)->told) {
        return;
    }
    hub_str name = hub_level_json(level);
    hub_buf params;
    hub_call *call;
    hub_buf_init(&params, 64);
    hub_buf_printf(&params, "{\"level\":" HUB_STR_FMT "}", HUB_STR_ARG(name));
    patchbay_request request = {
        .args_json = HUB_STR("{}"),
        .method = HUB_STR("logging/setLevel"),
        .params_json = hub_buf_str(&params),
    };
    of(toolset)->told = level;
    if (!hub_buf_ok(&params) ||
        hub_toolset_request(toolset, &request, hub_toolset_settings_of(toolset)->call_timeout_ms,
                            on_told, toolset, &call) != HUB_OK) {
        of(toolset)->told = HUB_LEVEL_NONE;
        of(toolset)->users = 0; /* the next call tries again */
    }
    hub_buf_fini(&params);
}

/* A call leaves for a toolset, which is to know by then what the call wants. Besides that, only a
 * further audience can have changed what is wanted. */
static hub_verdict note_call(hub_call *call, hub_handover *handover)
{
    hub_toolset *toolset = handover->way->toolset;
    const hub_request_context *context = hub_call_context(call);
    if (!hub_toolset_capabilities(toolset)->logs) {
        return HUB_GO_ON;
    }
    int level =
        context->era == HUB_ERA_MODERN ? hub_level_read(context->log_level) : HUB_LEVEL_NONE;
    bool is_new = level < of(toolset)->asked;
    if (is_new) {
        of(toolset)->asked = level;
    }
    if (is_new || of(toolset)->users != hub_toolset_users(toolset)) {
        hub_logging_refresh(toolset);
    }
    return HUB_GO_ON;
}

/* Tell the toolsets that an audience sees, whose clients want something else now. A toolset may change the
 * registry when it hears of it, so the list is read anew each time. */
static void refresh_all(const hub_audience *audience)
{
    for (size_t i = 0;; i++) {
        size_t count;
        const hub_source *const *sources =
            hub_exposure_sources(hub_audience_exposure(audience), &count);
        if (i >= count) {
            return;
        }
        if (!sources[i]->bare) {
            hub_logging_refresh(sources[i]->owner);
        }
    }
}

/* Tell those who work for a session: its own instances, and what all share. */
static void refresh_for(const hub_session *session)
{
    for (hub_toolset *own = hub_session_instance_first(session); own != NULL;
         own = hub_session_instance_next(own)) {
        hub_logging_refresh(own);
    }
    refresh_all(hub_session_audience(session));
}

/* ---- what clients ask for -------------------------------------------------------------------- */

void hub_logging_set_level(const hub_request *request)
{
    hub_session *session = request->session;
    hub_audience *audience = hub_session_audience(session);
    int level = hub_level_read(request->message->at[HUB_M_LEVEL]);
    if (level == HUB_LEVEL_NONE) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                          HUB_STR("params.level must be one of debug, info, notice, warning, "
                                  "error, critical, alert, emergency"),
                          HUB_STR_EMPTY);
        return;
    }
    if (hub_logging_in(session)->has_level) {
        within(audience)->counts[hub_logging_in(session)->level]--;
    }
    hub_logging_in(session)->has_level = true;
    hub_logging_in(session)->level = level;
    hub_session_note_log_level(session, hub_level_json(level));
    within(audience)->counts[level]++;
    hub_respond_result(request, HUB_STR("{}"));
    refresh_for(session);
}

static void forget(hub_session *session)
{
    if (hub_logging_in(session)->dropped > 0) {
        hub_log(HUB_LOG_INFO, "client.log_dropped",
                HUB_F_TEXT("transport", hub_session_transport(session)),
                HUB_F_INT("count", hub_logging_in(session)->dropped));
    }
    if (hub_logging_in(session)->has_level) {
        hub_logging_in(session)->has_level = false;
        within(hub_session_audience(session))->counts[hub_logging_in(session)->level]--;
        refresh_all(hub_session_audience(session));
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static int level_of(hub_str params_json)
{
    return hub_level_read(hub_json_get(params_json, HUB_STR("level")));
}

/* The level from which on a legacy client is sent messages: none, while it was not told that there
 * are any and has not asked for them. */
static int session_level(const hub_session *session)
{
    int unasked = hub_session_announced(session)->logs ? HUB_LEVEL_INFO : HUB_LEVEL_NONE;
    return hub_logging_in(session)->has_level ? hub_logging_in(session)->level : unasked;
}

/* The level from which on the client of a call is sent messages for it. */
static int call_level(const hub_call *call)
{
    return hub_call_context(call)->era == HUB_ERA_MODERN
               ? hub_level_read(hub_call_context(call)->log_level)
               : session_level(hub_call_session(call));
}

/* Say in the place of messages that were left out how many they were, at the level of the one that
 * comes next. */
static void tell_dropped(hub_session *session, hub_port *port, hub_str params_json)
{
    hub_str level = hub_json_get(params_json, HUB_STR("level"));
    hub_buf params;
    hub_buf_init(&params, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_add(&params, HUB_STR("{\"level\":"));
    hub_buf_add(&params, level);
    hub_buf_printf(&params,
                   ",\"logger\":\"patchbay\",\"data\":\"%" PRIu64
                   " messages were left out here: there were more than %u per second\"}",
                   hub_logging_in(session)->dropped, HUB_LIMIT_LOG_MESSAGES_PER_S);
    if (hub_buf_ok(&params)) {
        hub_logging_in(session)->dropped = 0;
        hub_respond_notify(port, METHOD, hub_buf_str(&params));
    }
    hub_buf_fini(&params);
}

/* Send a message of which the client wants to hear, unless it has had too many. */
static void send_message(hub_session *session, hub_port *port, hub_str params_json)
{
    if (!hub_bucket_take(&hub_logging_in(session)->messages, hub_clock_now_ms(), RATE)) {
        hub_logging_in(session)->dropped++;
        return;
    }
    if (hub_logging_in(session)->dropped > 0) {
        tell_dropped(session, port, params_json);
    }
    hub_respond_notify(port, METHOD, params_json);
}

void hub_logging_forward(const hub_call *call, hub_str params_json)
{
    const hub_session *session = hub_call_session(call);
    if (session != NULL && !hub_session_is_closing(session) &&
        level_of(params_json) >= call_level(call)) {
        send_message(hub_call_session(call), hub_call_port(call), params_json);
    }
}

bool hub_logging_forward_to_only(const hub_binding *binding, hub_str params_json)
{
    const hub_call *newest = hub_binding_only_client(binding);
    if (newest == NULL) {
        return false;
    }
    bool is_wanted =
        hub_call_session(newest) != NULL && !hub_session_is_closing(hub_call_session(newest));
    for (const hub_call *at = hub_binding_calls(binding); is_wanted && at != NULL;
         at = hub_call_next_of_binding(at)) {
        is_wanted = hub_call_is_internal(at) || level_of(params_json) >= call_level(at);
    }
    if (is_wanted) {
        send_message(hub_call_session(newest), hub_call_port(newest), params_json);
    }
    return true;
}

void hub_logging_tell(hub_session *session, hub_str params_json)
{
    if (hub_session_is_initialized(session) && !hub_session_is_closing(session) &&
        level_of(params_json) >= session_level(session)) {
        send_message(session, hub_session_port(session), params_json);
    }
}

/* Rules may hide the toolset from some of the audience. */
static bool may_hear_of(const hub_session *session, const hub_toolset *toolset)
{
    return hub_exposure_source(hub_session_exposure(session),
                               hub_str_of(hub_toolset_key(toolset))) != NULL;
}

static void tell_audience(const hub_audience *audience, const hub_toolset *toolset, int level,
                          hub_str params_json)
{
    for (hub_session *session = hub_audience_sessions(audience); session != NULL;
         session = hub_session_next_of_audience(session)) {
        if (hub_principal_instance_is_for(toolset, session) && may_hear_of(session, toolset) &&
            hub_session_is_initialized(session) && !hub_session_is_closing(session) &&
            level >= session_level(session)) {
            send_message(session, hub_session_port(session), params_json);
        }
    }
}

void hub_logging_broadcast(hub_toolset *toolset, hub_str params_json)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    if (hub_toolset_is_own(toolset) && !hub_toolset_is_apart(toolset)) {
        hub_session *session = hub_session_instance_owner(toolset);
        if (session != NULL) {
            hub_logging_tell(session, params_json);
        }
        return;
    }
    int level = level_of(params_json);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *audience = hub_profile_audience(hub_profile_at(hub, i));
             audience != NULL; audience = hub_audience_next(audience)) {
            if (hub_audience_sessions(audience) != NULL && hub_audience_has(audience, toolset)) {
                tell_audience(audience, toolset, level, params_json);
            }
        }
    }
}

/* ---- the station ----------------------------------------------------------------------------- */

static bool wants_toolset(const hub_toolset *toolset)
{
    return hub_toolset_capabilities(toolset)->logs;
}

static void move_level(hub_session *session, hub_audience *from)
{
    const session_logging *own = hub_logging_in(session);
    if (own->has_level) {
        within(from)->counts[own->level]--;
        within(hub_session_audience(session))->counts[own->level]++;
    }
}

static void begin_toolset(hub_toolset *toolset)
{
    of(toolset)->told = HUB_LEVEL_NONE;
    of(toolset)->asked = HUB_LEVEL_NONE;
}

static void begin_anew(hub_toolset *toolset)
{
    of(toolset)->told = HUB_LEVEL_NONE;
}

static hub_station_place place;

const hub_station HUB_LOGGING_STATION = {
    .name = "logging",
    .place = &place,
    .bytes = {[HUB_PART_AUDIENCE] = sizeof(audience_logging),
              [HUB_PART_SESSION] = sizeof(session_logging),
              [HUB_PART_TOOLSET] = sizeof(toolset_logging)},
    .wants_toolset = wants_toolset,
    .hand_over = note_call,
    .session_ends = forget,
    .session_moved = move_level,
    .toolset_begins = begin_toolset,
    .toolset_begins_anew = begin_anew,
    .toolset_can = hub_logging_refresh,
};
