/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/notices/logging.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "hub/ask/ask.h"
#include "hub/kernel/hub.h"

#include <inttypes.h>

static const hub_bucket_rate RATE = {.per_second = HUB_LIMIT_LOG_MESSAGES_PER_S,
                                     .at_once = HUB_LIMIT_LOG_MESSAGES_BURST};
static const hub_str METHOD = {.ptr = "notifications/message", .len = 21};

/* ---- what toolsets are told ------------------------------------------------------------------ */

/* The most talkative level that anybody asked the toolset for. */
static int wanted_level(const hub_toolset *toolset)
{
    const hub_orchestrator *hub = toolset->hub;
    int level = toolset->level_asked;
    if (toolset->shared != NULL) {
        const hub_session *session = toolset->session;
        bool has_level = session != NULL && session->has_log_level && session->log_level < level;
        return has_level ? session->log_level : level;
    }
    for (size_t i = 0; i < hub->profile_count; i++) {
        const hub_profile *profile = hub->profiles[i];
        if (profile->registry == NULL ||
            hub_registry_find(profile->registry, hub_str_of(toolset->settings->key)) == NULL) {
            continue;
        }
        for (int at = 0; at < level; at++) {
            if (profile->level_counts[at] > 0) {
                level = at;
            }
        }
    }
    return level;
}

static void on_told(void *ctx, const hub_outcome *outcome)
{
    const hub_toolset *toolset = ctx;
    if (outcome->status != PATCHBAY_RESULT) {
        hub_log(HUB_LOG_DEBUG, "toolset.level_refused",
                HUB_F_TEXT("toolset", toolset->settings->key), HUB_F_STR("reason", outcome->json));
    }
}

void hub_logging_refresh(hub_toolset *toolset)
{
    if (!toolset->capabilities.logs || toolset->binding == NULL ||
        toolset->binding->instance == NULL) {
        return;
    }
    int level = wanted_level(toolset);
    toolset->level_users = toolset->users;
    if (level == HUB_LEVEL_NONE || level == toolset->level_told) {
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
    toolset->level_told = level;
    if (!hub_buf_ok(&params) ||
        hub_toolset_request(toolset, &request, toolset->settings->call_timeout_ms, on_told, toolset,
                            &call) != HUB_OK) {
        toolset->level_told = HUB_LEVEL_NONE;
        toolset->level_users = 0; /* the next call tries again */
    }
    hub_buf_fini(&params);
}

/* Besides what calls ask for, only a further profile can have changed what is wanted. */
void hub_logging_note_call(const hub_call *call, hub_toolset *toolset)
{
    if (!toolset->capabilities.logs) {
        return;
    }
    int level = call->context.era == HUB_ERA_MODERN ? hub_level_read(call->context.log_level)
                                                    : HUB_LEVEL_NONE;
    bool is_new = level < toolset->level_asked;
    if (is_new) {
        toolset->level_asked = level;
    }
    if (is_new || toolset->level_users != toolset->users) {
        hub_logging_refresh(toolset);
    }
}

/* Tell the toolsets of a profile, whose clients want something else now. A toolset may change the
 * registry when it hears of it, so the list is read anew each time. */
static void refresh_all(const hub_profile *profile)
{
    for (size_t i = 0;; i++) {
        size_t count;
        const hub_source *sources = hub_registry_sources(profile->registry, &count);
        if (i >= count) {
            return;
        }
        if (!sources[i].bare) {
            hub_logging_refresh(sources[i].owner);
        }
    }
}

/* Tell those who work for a session: its own instances, and what all share. */
static void refresh_for(const hub_session *session)
{
    for (hub_toolset *own = session->instances; own != NULL; own = own->next_of_session) {
        hub_logging_refresh(own);
    }
    refresh_all(session->profile);
}

/* ---- what clients ask for -------------------------------------------------------------------- */

hub_str hub_logging_level_json(const hub_session *session)
{
    return session->has_log_level ? hub_level_json(session->log_level) : HUB_STR_EMPTY;
}

void hub_logging_set_level(const hub_request *request)
{
    hub_session *session = request->session;
    hub_profile *profile = session->profile;
    int level = hub_level_read(request->message->at[HUB_M_LEVEL]);
    if (level == HUB_LEVEL_NONE) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                          HUB_STR("params.level must be one of debug, info, notice, warning, "
                                  "error, critical, alert, emergency"),
                          HUB_STR_EMPTY);
        return;
    }
    if (session->has_log_level) {
        profile->level_counts[session->log_level]--;
    }
    session->has_log_level = true;
    session->log_level = level;
    profile->level_counts[level]++;
    hub_respond_result(request, HUB_STR("{}"));
    refresh_for(session);
}

void hub_logging_forget(hub_session *session)
{
    if (session->rates.log_dropped > 0) {
        hub_log(HUB_LOG_INFO, "client.log_dropped", HUB_F_TEXT("transport", session->transport),
                HUB_F_INT("count", session->rates.log_dropped));
    }
    if (session->has_log_level) {
        session->has_log_level = false;
        session->profile->level_counts[session->log_level]--;
        refresh_all(session->profile);
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
    int unasked = session->announced.logs ? HUB_LEVEL_INFO : HUB_LEVEL_NONE;
    return session->has_log_level ? session->log_level : unasked;
}

/* The level from which on the client of a call is sent messages for it. */
static int call_level(const hub_call *call)
{
    return call->context.era == HUB_ERA_MODERN ? hub_level_read(call->context.log_level)
                                               : session_level(call->session);
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
                   session->rates.log_dropped, HUB_LIMIT_LOG_MESSAGES_PER_S);
    if (hub_buf_ok(&params)) {
        session->rates.log_dropped = 0;
        hub_respond_notify(port, METHOD, hub_buf_str(&params));
    }
    hub_buf_fini(&params);
}

/* Send a message of which the client wants to hear, unless it has had too many. */
static void send_message(hub_session *session, hub_port *port, hub_str params_json)
{
    if (!hub_bucket_take(&session->rates.log_messages, hub_clock_now_ms(), RATE)) {
        session->rates.log_dropped++;
        return;
    }
    if (session->rates.log_dropped > 0) {
        tell_dropped(session, port, params_json);
    }
    hub_respond_notify(port, METHOD, params_json);
}

void hub_logging_forward(const hub_call *call, hub_str params_json)
{
    const hub_session *session = call->session;
    if (session != NULL && !session->closing && level_of(params_json) >= call_level(call)) {
        send_message(call->session, call->port, params_json);
    }
}

bool hub_logging_forward_to_only(const hub_binding *binding, hub_str params_json)
{
    const hub_call *newest = hub_ask_only_client(binding);
    if (newest == NULL) {
        return false;
    }
    bool is_wanted = newest->session != NULL && !newest->session->closing;
    for (const hub_call *at = binding->calls; is_wanted && at != NULL; at = at->binding_next) {
        is_wanted = at->on_outcome != NULL || level_of(params_json) >= call_level(at);
    }
    if (is_wanted) {
        send_message(newest->session, newest->port, params_json);
    }
    return true;
}

void hub_logging_tell(hub_session *session, hub_str params_json)
{
    if (session->initialized && !session->closing &&
        level_of(params_json) >= session_level(session)) {
        send_message(session, session->port, params_json);
    }
}

void hub_logging_broadcast(hub_toolset *toolset, hub_str params_json)
{
    const hub_orchestrator *hub = toolset->hub;
    if (toolset->shared != NULL) {
        if (toolset->session != NULL) {
            hub_logging_tell(toolset->session, params_json);
        }
        return;
    }
    int level = level_of(params_json);
    for (size_t i = 0; i < hub->profile_count; i++) {
        const hub_profile *profile = hub->profiles[i];
        if (profile->registry == NULL ||
            hub_registry_find(profile->registry, hub_str_of(toolset->settings->key)) == NULL) {
            continue;
        }
        for (hub_session *session = profile->sessions; session != NULL; session = session->next) {
            if (session->initialized && !session->closing && level >= session_level(session)) {
                send_message(session, session->port, params_json);
            }
        }
    }
}
