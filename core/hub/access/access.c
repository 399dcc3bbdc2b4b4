/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/access/access.h"

#include "base/limits.h"
#include "hub/access/classes.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

#include <time.h>

/* With a call. */
typedef struct call_access {
    hub_identity *identity; /* a reference: the credential of its request; NULL: not noted yet */
} call_access;

static bool configured(const hub_settings *settings)
{
    bool is = settings->access.is_set;
    for (size_t i = 0; !is && i < settings->toolset_count; i++) {
        is = settings->toolsets[i].scopes.count > 0 || settings->toolsets[i].tool_scopes.count > 0;
    }
    return is;
}

/* ---- what is seen ---------------------------------------------------------------------------- */

static hub_exposure *look(hub_session *session, hub_exposure *exposure)
{
    access_class *class = hub_access_class_get(session);
    hub_exposure *veil = NULL;
    if (class == NULL || hub_exposure_veil(exposure, &class->filter, &veil) != HUB_OK) {
        return hub_access_in(hub_session_hub(session))->nothing; /* rather than too much */
    }
    return veil;
}

static const hub_gate GATE = {.look = look};

bool hub_access_is_on(const hub_orchestrator *hub)
{
    return hub_access_in(hub)->is_on;
}

bool hub_access_may_show_others(const hub_orchestrator *hub)
{
    return hub_access_in(hub)->may_show_others;
}

bool hub_access_is_news(const hub_session *session, hub_kind kind, bool is_changed)
{
    if (!hub_access_in(hub_session_hub(session))->is_on) {
        return is_changed;
    }
    session_access *own = hub_access_of(session);
    hub_shown *now = hub_sight_shown(hub_session_sight(session), kind);
    bool is_news = own->told[kind] != NULL ? !hub_shown_equal(own->told[kind], now) : is_changed;
    (void)hub_shown_ref(now);
    hub_shown_unref(own->told[kind]);
    own->told[kind] = now;
    return is_news;
}

/* ---- refusing -------------------------------------------------------------------------------- */

static void refuse(hub_call *call, int code, hub_str text, hub_str data)
{
    hub_buf error;
    hub_buf_init(&error, SIZE_MAX / 4);
    hub_buf_printf(&error, "{\"code\":%d,\"message\":", code);
    hub_json_add_string(&error, text);
    if (data.len > 0) {
        hub_buf_add(&error, HUB_STR(",\"data\":"));
        hub_buf_add(&error, data);
    }
    hub_buf_add_char(&error, '}');
    if (hub_buf_ok(&error)) {
        hub_call_finish(call, &(hub_outcome){.status = PATCHBAY_RPC_ERROR,
                                             .json = hub_buf_str(&error),
                                             .is_refused = true});
    } else {
        hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    }
    hub_buf_fini(&error);
}

/* As the router and hub/content answer an unknown name. */
static void refuse_as_unknown(hub_call *call, hub_kind kind, hub_str name_json)
{
    static const char *const WORDS[HUB_KINDS] = {
        [HUB_KIND_TOOL] = "Unknown tool",
        [HUB_KIND_RESOURCE] = "Resource not found",
        [HUB_KIND_TEMPLATE] = "Resource not found",
        [HUB_KIND_PROMPT] = "Unknown prompt",
    };
    bool is_resource = kind == HUB_KIND_RESOURCE || kind == HUB_KIND_TEMPLATE;
    hub_buf name;
    hub_buf text;
    hub_buf data;
    hub_buf_init(&name, name_json.len + 1);
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_init(&data, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    bool is_text = hub_json_decode(name_json, &name) == HUB_OK; /* it was decoded before */
    hub_buf_printf(&text, "%s: %.*s", WORDS[kind], (int)(name.len < 200 ? name.len : 200),
                   is_text && name.len > 0 ? name.ptr : "");
    if (is_resource) {
        hub_buf_add(&data, HUB_STR("{\"uri\":"));
        hub_json_add_string(&data, hub_buf_str(&name));
        hub_buf_add_char(&data, '}');
    }
    refuse(call,
           is_resource ? hub_rpc_no_resource(hub_call_context(call)->era) : HUB_RPC_INVALID_PARAMS,
           hub_buf_str(&text), hub_buf_str(&data));
    hub_buf_fini(&data);
    hub_buf_fini(&text);
    hub_buf_fini(&name);
}

static void challenge(hub_call *call, const hub_access_subject *subject,
                      const hub_access_decision *decision)
{
    hub_buf scopes;
    hub_buf text;
    hub_buf data;
    hub_buf_init(&scopes, SIZE_MAX / 4);
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_init(&data, SIZE_MAX / 4);
    hub_access_add_scopes(subject, decision, &scopes);
    hub_buf_printf(&text, "This needs a credential with the scopes: " HUB_STR_FMT,
                   HUB_STR_ARG(hub_buf_str(&scopes)));
    hub_buf_add(&data, HUB_STR("{\"code\":\"insufficient_scope\",\"scope\":"));
    hub_json_add_string(&data, hub_buf_str(&scopes));
    hub_buf_add_char(&data, '}');
    refuse(call, HUB_RPC_INSUFFICIENT_SCOPE, hub_buf_str(&text), hub_buf_str(&data));
    hub_buf_fini(&data);
    hub_buf_fini(&text);
    hub_buf_fini(&scopes);
}

/* Nobody can be asked. */
static void refuse_unconfirmed(hub_call *call, const hub_access_decision *decision)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "This call has to be confirmed by its user, who cannot be asked%s%s",
                   decision->rule->reason != NULL ? ": " : "",
                   decision->rule->reason != NULL ? decision->rule->reason : "");
    refuse(call, HUB_RPC_NOT_CONFIRMED, hub_buf_str(&text),
           HUB_STR("{\"code\":\"not_confirmed\"}"));
    hub_buf_fini(&text);
}

/* ---- deciding -------------------------------------------------------------------------------- */

static hub_kind kind_of(const hub_call *call, const hub_message *message)
{
    return hub_call_is_of_tool(call)                       ? HUB_KIND_TOOL
           : hub_str_is(message->method, "resources/read") ? HUB_KIND_RESOURCE
           : hub_str_is(message->method, "prompts/get")    ? HUB_KIND_PROMPT
                                                           : HUB_KINDS;
}

/* What a held call was about may have another catalog by now. A session's own instance has none. */
static const hub_item *find_item(const hub_way *way, hub_kind kind)
{
    const hub_toolset *shared = hub_session_instance_shared(way->toolset);
    const hub_catalog *list = hub_toolset_list(shared != NULL ? shared : way->toolset, kind);
    return way->item != NULL ? way->item : list != NULL ? hub_catalog_find(list, way->name) : NULL;
}

/* HUB_GO_ON, or it has been answered. */
static hub_verdict decide(hub_call *call, const hub_way *way, const hub_identity *identity,
                          const access_class *class)
{
    hub_kind kind = kind_of(call, way->message);
    hub_access_subject subject =
        hub_access_subject_of(way->toolset, way->name, find_item(way, kind), kind == HUB_KIND_TOOL);
    hub_access_decision decision;
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_access_decide(class->settings, identity, &class->who, &subject,
                                    way->arguments, &decision, &why);
    if (err != HUB_OK) {
        refuse(call, err == HUB_ENOMEM ? HUB_RPC_INTERNAL_ERROR : HUB_RPC_INVALID_PARAMS,
               hub_str_of(why.text), HUB_STR_EMPTY);
        return HUB_ANSWERED;
    }
    switch (decision.verdict) {
    case HUB_ACCESS_ALLOW:
        return HUB_GO_ON;
    case HUB_ACCESS_CHALLENGE:
        challenge(call, &subject, &decision);
        return HUB_ANSWERED;
    case HUB_ACCESS_CONFIRM:
        refuse_unconfirmed(call, &decision);
        return HUB_ANSWERED;
    case HUB_ACCESS_DENY:
        break;
    }
    refuse_as_unknown(call, kind, way->name_json);
    return HUB_ANSWERED;
}

/* The credential that a call came with, as it is now: NULL when it is good for nothing any more. */
static const hub_identity *renew(call_access *own, const hub_settings *settings)
{
    bool is_of_token = hub_identity_is_of_token(own->identity);
    bool is_good = (!is_of_token || hub_auth_renew(&settings->auth, &own->identity)) &&
                   !hub_identity_is_over(own->identity, time(NULL));
    return is_good ? own->identity : NULL;
}

/* A call that was held since it came: by the rules and by its credential as they are now. */
static hub_verdict decide_again(hub_call *call, const hub_way *way, call_access *own)
{
    const hub_session *session = hub_call_session(call);
    const hub_settings *settings = hub_settings_of(hub_session_hub(session));
    const hub_identity *identity = renew(own, settings);
    if (identity == NULL) {
        refuse_as_unknown(call, kind_of(call, way->message), way->name_json);
        return HUB_ANSWERED;
    }
    access_class class = {.settings = &settings->access};
    hub_access_class_of(&settings->access, identity, hub_profile_name(hub_session_profile(session)),
                        hub_session_transport(session), &class.who);
    return decide(call, way, identity, &class);
}

/* A question about a task, or a completion, is about what its sender sees; nothing more. */
static hub_verdict begin(hub_call *call, hub_way *way)
{
    hub_session *session = hub_call_session(call);
    if (session == NULL || kind_of(call, way->message) == HUB_KINDS) {
        return HUB_GO_ON;
    }
    call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
    if (own->identity != NULL) {
        return decide_again(call, way, own);
    }
    const access_class *class = hub_access_class_get(session);
    if (class == NULL) {
        hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        return HUB_ANSWERED;
    }
    own->identity = hub_identity_ref(hub_session_identity(session));
    return decide(call, way, own->identity, class);
}

/* It leaves for its server, and may have been held since it was decided. */
static hub_verdict hand_over(hub_call *call, hub_handover *handover)
{
    call_access *own = hub_call_find_part(call, &HUB_ACCESS_STATION);
    bool is_judged = own != NULL && own->identity != NULL && hub_call_session(call) != NULL &&
                     kind_of(call, handover->way->message) != HUB_KINDS;
    return is_judged ? decide_again(call, handover->way, own) : HUB_GO_ON;
}

/* The calls of a session came with the credential that it has now. */
static void note_credential(hub_session *session)
{
    for (hub_call *call = hub_session_calls(session); call != NULL;
         call = hub_call_next_of_session(call)) {
        call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
        if (own->identity == NULL) {
            own->identity = hub_identity_ref(hub_session_identity(session));
        }
    }
}

static void drop(hub_call *call)
{
    call_access *own = hub_call_find_part(call, &HUB_ACCESS_STATION);
    if (own != NULL) {
        hub_identity_unref(own->identity);
    }
}

/* ---- the rules ------------------------------------------------------------------------------- */

/* What came before there were rules, and is held, goes by them as well. */
static void judge_held(hub_session *session)
{
    note_credential(session);
    for (hub_call *call = hub_session_calls(session); call != NULL;
         call = hub_call_next_of_session(call)) {
        hub_call_visit(call, &HUB_ACCESS_STATION);
    }
}

static void renew_sessions(hub_orchestrator *hub, bool holds_judged)
{
    const hub_settings *settings = hub_settings_of(hub);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (hub_session *at = hub_profile_sessions(hub_profile_at(hub, i)); at != NULL;
             at = hub_session_next(at)) {
            if (!holds_judged) {
                judge_held(at);
            }
            hub_session_renew(at, &settings->auth);
        }
    }
}

static void settings_changed(hub_orchestrator *hub)
{
    hub_access *access = hub_access_in(hub);
    bool was_on = access->is_on;
    access->is_on = configured(hub_settings_of(hub));
    renew_sessions(hub, was_on || !access->is_on);
    hub_access_drop_classes(hub);
    hub_set_gate(hub, access->is_on ? &GATE : NULL);
    access->may_show_others = was_on || access->is_on;
}

static hub_err hub_begins(hub_orchestrator *hub, hub_error *reterr)
{
    static const hub_exposure_rules NO_RULES = {.policies = {NULL, NULL}};
    static const hub_naming_rule RULE = {.naming = HUB_NAMING_PREFIX,
                                         .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES};
    hub_access *access = hub_access_in(hub);
    hub_err err = hub_base_create(&RULE, NULL, 0, NULL, &access->no_base, reterr);
    if (err == HUB_OK) {
        err = hub_exposure_create(access->no_base, &NO_RULES, NULL, 0, NULL, NULL, &access->nothing,
                                  reterr);
    }
    access->generation = 1;
    access->is_on = configured(hub_settings_of(hub));
    hub_set_gate(hub, access->is_on ? &GATE : NULL);
    return err;
}

static void hub_drops(hub_orchestrator *hub)
{
    hub_access *access = hub_access_in(hub);
    hub_exposure_destroy(access->nothing);
    hub_base_unref(access->no_base);
    access->nothing = NULL;
    access->no_base = NULL;
}

static void hub_ends(hub_orchestrator *hub)
{
    hub_access_drop_classes(hub);
}

static void session_ends(hub_session *session)
{
    session_access *own = hub_access_of(session);
    hub_identity_unref(own->judged);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_shown_unref(own->told[kind]);
    }
}

static bool wants_hub(const hub_orchestrator *hub)
{
    return hub_access_in(hub)->is_on;
}

static hub_station_place place;

const hub_station HUB_ACCESS_STATION = {
    .name = "access",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_access),
              [HUB_PART_SESSION] = sizeof(session_access),
              [HUB_PART_CALL] = sizeof(call_access)},
    .begin = begin,
    .hand_over = hand_over,
    .drop = drop,
    .wants_hub = wants_hub,
    .hub_begins = hub_begins,
    .hub_ends = hub_ends,
    .hub_drops = hub_drops,
    .settings_changed = settings_changed,
    .session_ends = session_ends,
    .session_judged = note_credential,
};
