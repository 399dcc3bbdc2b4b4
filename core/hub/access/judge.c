/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/access/judge.h"

#include "base/limits.h"
#include "hub/access/classes.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/report/unknown.h"

#include <stdlib.h>
#include <time.h>

/* What is judged. */
typedef struct matter {
    hub_toolset *toolset;
    const hub_item *item; /* NULL: it is to be found */
    hub_str name;
    hub_str name_json;
    hub_str arguments; /* empty: they are not known any more */
    bool is_running;   /* somebody works on it already */
    bool is_new;       /* its user may yet be asked */
} matter;

/* ---- refusing -------------------------------------------------------------------------------- */

static void refuse_with(hub_call *call, const matter *what, const hub_buf *error)
{
    if (!hub_buf_ok(error)) {
        hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    } else if (what->is_running) {
        hub_call_abort(call, PATCHBAY_RPC_ERROR, hub_buf_str(error));
    } else {
        hub_call_finish(call, &(hub_outcome){.status = PATCHBAY_RPC_ERROR,
                                             .json = hub_buf_str(error),
                                             .is_refused = true});
    }
}

static void refuse(hub_call *call, const matter *what, int code, hub_str text, hub_str data)
{
    hub_buf error;
    hub_buf_init(&error, SIZE_MAX / 4);
    hub_dialect_add_error(&error, code, text, data);
    refuse_with(call, what, &error);
    hub_buf_fini(&error);
}

/* As an unknown name is answered. */
static void refuse_as_unknown(hub_call *call, const matter *what, hub_kind kind)
{
    hub_buf name;
    hub_buf error;
    hub_buf_init(&name, what->name_json.len + 1);
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (hub_json_decode(what->name_json, &name) == HUB_OK) { /* it was decoded before */
        hub_unknown_add_error(call, kind, hub_buf_str(&name), &error);
    } else {
        error.failed = HUB_ENOMEM;
    }
    refuse_with(call, what, &error);
    hub_buf_fini(&error);
    hub_buf_fini(&name);
}

static void challenge(hub_call *call, const matter *what, const hub_access_subject *subject,
                      const hub_access_decision *decision)
{
    hub_buf text;
    hub_buf data;
    access_add_challenge(hub_call_session(call), subject, decision, &text, &data);
    refuse(call, what, HUB_RPC_INSUFFICIENT_SCOPE, hub_buf_str(&text), hub_buf_str(&data));
    hub_buf_fini(&data);
    hub_buf_fini(&text);
}

static void refuse_unconfirmed(hub_call *call, const matter *what, const char *why,
                               const char *reason)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "%s%s%s", why, reason != NULL ? ": " : "", reason != NULL ? reason : "");
    refuse(call, what, HUB_RPC_NOT_CONFIRMED, hub_buf_str(&text),
           HUB_STR("{\"code\":\"not_confirmed\"}"));
    hub_buf_fini(&text);
}

void hub_access_refuse_unconfirmed(hub_call *call, const char *why)
{
    const call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
    const hub_access *access = hub_access_in(hub_session_hub(hub_call_session(call)));
    const matter what = {.is_running = false};
    refuse_unconfirmed(call, &what, why,
                       own->generation == access->generation ? own->reason : NULL);
}

/* ---- what it is about ------------------------------------------------------------------------ */

static hub_kind kind_of_completion(const hub_message *message)
{
    hub_str type = hub_json_get(message->at[HUB_M_REF], HUB_STR("type"));
    return hub_json_string_is(type, HUB_STR("ref/prompt")) ? HUB_KIND_PROMPT : HUB_KIND_TEMPLATE;
}

/* A skill is judged by the URI of what describes it, as a file of it is by its own. */
static bool is_of_resource(hub_str method)
{
    return hub_str_is(method, "resources/read") || hub_str_is(method, "skills/get") ||
           hub_str_is(method, "resources/directory/read");
}

static void note_kind(hub_call *call, const hub_message *message, call_access *own)
{
    if (hub_call_is_of_tool(call)) {
        own->kind = HUB_KIND_TOOL;
        return;
    }
    own->is_completion = hub_str_is(message->method, "completion/complete");
    own->kind = is_of_resource(message->method)              ? HUB_KIND_RESOURCE
                : hub_str_is(message->method, "prompts/get") ? HUB_KIND_PROMPT
                : own->is_completion                         ? kind_of_completion(message)
                                                             : HUB_KINDS;
}

/* What a completion says of the arguments that are to be: those that are complete, and the one that
 * is asked about. */
static void add_completed(const hub_message *message, hub_buf *out)
{
    hub_str params = message->at[HUB_M_PARAMS];
    hub_str argument = hub_json_get(params, HUB_STR("argument"));
    hub_str known = hub_json_get(hub_json_get(params, HUB_STR("context")), HUB_STR("arguments"));
    hub_json_iter it = hub_json_iterate(known);
    hub_str key;
    hub_str value;
    hub_buf_add_char(out, '{');
    while (hub_json_type_of(known) == HUB_JSON_OBJECT && hub_json_next(&it, &key, &value)) {
        hub_json_add_comma(out);
        hub_buf_add(out, key);
        hub_buf_add_char(out, ':');
        hub_buf_add(out, value);
    }
    hub_json_add_comma(out);
    hub_buf_add(out, hub_json_get(argument, HUB_STR("name")));
    hub_buf_add_char(out, ':');
    hub_buf_add(out, hub_json_get(argument, HUB_STR("value")));
    hub_buf_add_char(out, '}');
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* A rule wants a yes: it is asked for (hub/confirm), or was said to just this definition. */
static hub_verdict confirm(hub_call *call, const matter *what, const hub_item *item,
                           const hub_access_decision *decision, call_access *own)
{
    unsigned char definition[HUB_DIGEST_BYTES];
    hub_digest_of(item != NULL ? item->json : HUB_STR_EMPTY, definition);
    if (own->is_completion) {
        return HUB_GO_ON; /* nothing is done */
    }
    if (what->is_new) {
        own->wants_yes = true;
        own->reason = decision->rule->reason;
        memcpy(own->definition, definition, sizeof definition);
        return HUB_GO_ON;
    }
    if (!own->has_yes) {
        refuse_unconfirmed(call, what,
                           "This call has to be confirmed by its user, who was not asked",
                           decision->rule->reason);
        return HUB_ANSWERED;
    }
    if (memcmp(own->definition, definition, sizeof definition) != 0) {
        refuse_unconfirmed(call, what,
                           "The tool that the user confirmed has another definition by now: "
                           "call it again",
                           decision->rule->reason);
        return HUB_ANSWERED;
    }
    return HUB_GO_ON;
}

/* HUB_GO_ON, or it has been answered. */
static hub_verdict decide(hub_call *call, const matter *what, const access_class *class,
                          call_access *own)
{
    const hub_item *item =
        what->item != NULL
            ? what->item
            : access_find_item(hub_call_session(call), what->toolset, own->kind, what->name);
    hub_access_subject subject =
        hub_access_subject_of(what->toolset, what->name, item, own->kind == HUB_KIND_TOOL);
    hub_str arguments = what->arguments.len > 0 ? what->arguments : HUB_STR("{}");
    hub_access_decision decision;
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_access_decide(class->settings, own->identity, &class->who, &subject,
                                    arguments, &decision, &why);
    own->generation = hub_access_in(hub_session_hub(hub_call_session(call)))->generation;
    if (err != HUB_OK) {
        refuse(call, what, err == HUB_ENOMEM ? HUB_RPC_INTERNAL_ERROR : HUB_RPC_INVALID_PARAMS,
               hub_str_of(why.text), HUB_STR_EMPTY);
        return HUB_ANSWERED;
    }
    if (what->arguments.len == 0 && decision.is_conditional) {
        decision.verdict = HUB_ACCESS_DENY; /* nobody can tell */
    }
    switch (decision.verdict) {
    case HUB_ACCESS_ALLOW:
        return HUB_GO_ON;
    case HUB_ACCESS_CHALLENGE:
        challenge(call, what, &subject, &decision);
        return HUB_ANSWERED;
    case HUB_ACCESS_CONFIRM:
        return confirm(call, what, item, &decision, own);
    case HUB_ACCESS_DENY:
        break;
    }
    refuse_as_unknown(call, what, own->kind);
    return HUB_ANSWERED;
}

static hub_verdict decide_way(hub_call *call, const hub_way *way, const hub_message *message,
                              bool is_new, const access_class *class, call_access *own)
{
    matter what = {.toolset = way->toolset,
                   .item = way->item,
                   .name = way->name,
                   .name_json = way->name_json,
                   .arguments = way->arguments,
                   .is_new = is_new};
    hub_buf arguments;
    hub_buf_init(&arguments, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (own->is_completion && message != NULL) {
        add_completed(message, &arguments);
        what.arguments = hub_buf_str(&arguments);
    }
    hub_verdict verdict = HUB_ANSWERED;
    if (hub_buf_ok(&arguments)) {
        verdict = decide(call, &what, class, own);
    } else {
        hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    }
    hub_buf_fini(&arguments);
    return verdict;
}

/* Whether the credential that a call came with is still good for something. */
static bool renew(call_access *own, const hub_settings *settings)
{
    bool is_of_token = hub_identity_is_of_token(own->identity);
    return (!is_of_token || hub_auth_renew(&settings->auth, &own->identity)) &&
           !hub_identity_is_over(own->identity, time(NULL));
}

/* The class that a call belongs to by its own credential, and by the rules as they are now. */
static access_class class_of(const hub_session *session, const call_access *own)
{
    const hub_access_settings *settings = &hub_settings_of(hub_session_hub(session))->access;
    access_class class = {.settings = settings};
    hub_access_class_of(settings, own->identity, hub_profile_name(hub_session_profile(session)),
                        hub_session_transport(session), &class.who);
    return class;
}

/* A call that was held since it came: by the rules and by its credential as they are now. */
static hub_verdict decide_again(hub_call *call, const hub_way *way, const hub_message *message,
                                call_access *own)
{
    const hub_session *session = hub_call_session(call);
    const matter what = {.toolset = way->toolset, .name_json = way->name_json};
    if (!renew(own, hub_settings_of(hub_session_hub(session)))) {
        refuse_as_unknown(call, &what, own->kind);
        return HUB_ANSWERED;
    }
    access_class class = class_of(session, own);
    return decide_way(call, way, message, false, &class, own);
}

/* A task is judged by the tool that made it, or by its toolset if nobody knows that: whoever sees it
 * goes on with the task. */
static hub_verdict judge_task(hub_call *call, const matter *what)
{
    hub_session *session = hub_call_session(call);
    const hub_exposure *exposure = hub_session_exposure(session);
    if (hub_exposure_source(exposure, hub_str_of(hub_toolset_key(what->toolset))) != NULL &&
        (what->name.len == 0 || hub_access_shows_tool(session, what->toolset, what->name))) {
        return HUB_GO_ON;
    }
    refuse(call, what, HUB_RPC_INVALID_PARAMS, HUB_STR(HUB_UNKNOWN_TASK), HUB_STR_EMPTY);
    return HUB_ANSWERED;
}

/* ---- the way of a call ----------------------------------------------------------------------- */

/* Whether a call that has just come is decided by its sender's having found what it is for: under plain
 * rules whatever is seen is allowed. */
static bool is_decided_by_sight(const hub_access *access, const hub_way *way)
{
    return access->is_plain && way->item != NULL;
}

/* Whether the client of a call can be asked something before it has its answer: it must know how to
 * be, and the toolset how to ask. */
static bool can_be_asked(const hub_call *call, const hub_way *way)
{
    const hub_binding *binding = hub_toolset_binding(way->toolset);
    return hub_call_context(call)->capabilities.len > 2 &&
           (binding == NULL || hub_binding_may_ask(binding));
}

static bool keeps_names(const hub_call *call, const hub_way *way)
{
    return hub_call_is_of_tool(call) && way->name_json.len > 0 &&
           way->name.len + way->name_json.len <= HUB_CALL_NAMES_BYTES;
}

/* Of a tool there is room in the call itself for what is kept for later, if its client can be asked. */
bool access_is_open(const hub_call *call, const hub_way *way)
{
    const hub_session *session = hub_call_session(call);
    const hub_identity *identity = hub_session_identity(session);
    return is_decided_by_sight(hub_access_in(hub_session_hub(session)), way) &&
           (keeps_names(call, way) || !can_be_asked(call, way)) &&
           (identity->expires == 0 || !hub_identity_is_over(identity, time(NULL)));
}

void access_note_held(hub_call *call, const hub_way *way)
{
    const hub_session *session = hub_call_session(call);
    call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
    note_kind(call, way->message, own);
    own->identity = hub_identity_ref(hub_session_identity(session));
    own->generation = hub_access_in(hub_session_hub(session))->generation;
}

/* A question about a task is about what its sender sees; nothing more. */
hub_verdict access_begin(hub_call *call, hub_way *way)
{
    hub_session *session = hub_call_session(call);
    if (session == NULL) {
        return HUB_GO_ON;
    }
    call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
    note_kind(call, way->message, own);
    if (own->identity != NULL && own->kind != HUB_KINDS) { /* it was parked meanwhile */
        const matter what = {.toolset = way->toolset, .name_json = way->name_json};
        if (!renew(own, hub_settings_of(hub_session_hub(session)))) {
            refuse_as_unknown(call, &what, own->kind);
            return HUB_ANSWERED;
        }
        access_class class = class_of(session, own);
        return decide_way(call, way, way->message, true, &class, own);
    }
    if (own->identity == NULL) {
        own->identity = hub_identity_ref(hub_session_identity(session));
    }
    const hub_access *access = hub_access_in(hub_session_hub(session));
    if (is_decided_by_sight(access, way)) {
        own->generation = access->generation;
        return HUB_GO_ON;
    }
    const access_class *class = hub_access_class_get(session);
    if (class == NULL) {
        hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        return HUB_ANSWERED;
    }
    return own->kind == HUB_KINDS ? HUB_GO_ON
                                  : decide_way(call, way, way->message, true, class, own);
}

/* Keep what a call is about for when its client has answered. Without memory, what the client answers is
 * not good for anything. */
static void keep(kept_call *kept, const matter *what)
{
    hub_str key = hub_str_of(hub_toolset_key(what->toolset));
    size_t len = key.len + what->name.len + what->name_json.len + what->arguments.len;
    char *at = len <= sizeof kept->text ? kept->text : (kept->longer = malloc(len));
    if (at != NULL) {
        kept->toolset = hub_str_put(&at, key);
        kept->name = hub_str_put(&at, what->name);
        kept->name_json = hub_str_put(&at, what->name_json);
        kept->arguments = hub_str_put(&at, what->arguments);
        kept->is_there = true;
    }
}

/* … if that can be asked something before it has its answer. */
static void keep_way(hub_call *call, const hub_way *way, call_access *own)
{
    const hub_access *access = hub_access_in(hub_session_hub(hub_call_session(call)));
    if (own->kept.is_there || !can_be_asked(call, way)) {
        return;
    }
    const matter what = {.toolset = way->toolset,
                         .name = own->kind == HUB_KINDS ? way->of_tool : way->name,
                         .name_json = way->name_json,
                         .arguments = access->looks_at_arguments ? way->arguments : HUB_STR_EMPTY};
    keep(&own->kept, &what);
}

void access_note_asked(hub_call *call)
{
    matter what = {.toolset = hub_call_toolset(call)};
    call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
    if (own->kept.is_there || what.toolset == NULL ||
        !hub_call_names(call, &what.name, &what.name_json)) {
        return;
    }
    own->kind = HUB_KIND_TOOL; /* of others nothing is kept in the call itself */
    if (own->identity == NULL) {
        own->identity = hub_identity_ref(hub_session_identity(hub_call_session(call)));
    }
    own->generation = hub_access_in(hub_session_hub(hub_call_session(call)))->generation;
    keep(&own->kept, &what);
}

/* It leaves for its server, and may have been held since it was decided. */
hub_verdict access_hand_over(hub_call *call, hub_handover *handover)
{
    call_access *own = hub_call_find_part(call, &HUB_ACCESS_STATION);
    hub_session *session = hub_call_session(call);
    const hub_way *way = handover->way;
    if (own == NULL || own->identity == NULL || session == NULL) {
        return HUB_GO_ON;
    }
    if (own->generation == 0) { /* there were no rules when it came */
        note_kind(call, way->message, own);
    }
    if (own->kind == HUB_KINDS) {
        const matter what = {.toolset = way->toolset, .name = way->of_tool};
        if (judge_task(call, &what) != HUB_GO_ON) {
            return HUB_ANSWERED;
        }
        keep_way(call, way, own);
        return HUB_GO_ON;
    }
    bool is_as_decided = way->item != NULL && !own->wants_yes &&
                         own->generation == hub_access_in(hub_session_hub(session))->generation &&
                         !hub_identity_is_over(own->identity, time(NULL));
    hub_verdict verdict = is_as_decided ? HUB_GO_ON : decide_again(call, way, way->message, own);
    if (verdict == HUB_GO_ON) {
        keep_way(call, way, own);
    }
    return verdict;
}

bool hub_access_wants_yes(const hub_call *call, const char **ret_reason)
{
    const call_access *own = hub_call_find_part(call, &HUB_ACCESS_STATION);
    if (own == NULL || !own->wants_yes || own->has_yes) {
        return false;
    }
    const hub_access *access = hub_access_in(hub_session_hub(hub_call_session(call)));
    *ret_reason = own->generation == access->generation ? own->reason : NULL;
    return true;
}

hub_verdict hub_access_take_yes(hub_call *call, const hub_way *way)
{
    call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
    own->has_yes = true;
    return decide_again(call, way, NULL, own);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Whether a call of a toolset that was not known to ask has its rules and its credential still: nothing
 * is to be decided again. A modern client comes back with another credential. */
static bool is_as_it_came(const hub_call *call)
{
    const hub_access *access = hub_access_in(hub_session_hub(hub_call_session(call)));
    return hub_call_find_part(call, &HUB_ACCESS_STATION) == NULL &&
           hub_call_context(call)->era == HUB_ERA_LEGACY &&
           hub_call_begin_us(call) > access->since_us;
}

/* Whose call it is; NULL: nothing was kept of it, or there is no such toolset any more. */
static hub_toolset *find_kept_toolset(const hub_call *call, const kept_call *kept)
{
    const hub_session *session = hub_call_session(call);
    hub_toolset *toolset = hub_call_toolset(call);
    if (!kept->is_there || toolset != NULL) {
        return kept->is_there ? toolset : NULL;
    }
    toolset = hub_find_toolset(hub_session_hub(session), kept->toolset); /* its outcome waits */
    return toolset != NULL ? hub_sight_toolset(hub_session_sight(session), toolset) : NULL;
}

/* Its client has answered what its server asked: what was let through once is decided again. A modern
 * client comes back with another request, whose credential counts from now on. */
hub_verdict access_client_returns(hub_call *call)
{
    hub_session *session = hub_call_session(call);
    bool is_held = hub_call_binding(call) == NULL && !hub_call_is_ending(call);
    if (session == NULL || !hub_access_is_on(hub_session_hub(session))) {
        return HUB_GO_ON;
    }
    if (!is_held && is_as_it_came(call)) {
        return HUB_GO_ON;
    }
    call_access *own = hub_call_part_of(call, &HUB_ACCESS_STATION);
    if (own->identity == NULL || hub_call_context(call)->era == HUB_ERA_MODERN) {
        hub_identity_unref(own->identity);
        own->identity = hub_identity_ref(hub_session_identity(session));
    }
    if (is_held || hub_call_is_unasked(call)) { /* decided when it goes on; of nobody */
        return HUB_GO_ON;
    }
    const kept_call *kept = &own->kept;
    matter what = {.toolset = find_kept_toolset(call, kept), .is_running = true};
    if (what.toolset == NULL || !renew(own, hub_settings_of(hub_session_hub(session)))) {
        refuse(
            call, &what, HUB_RPC_INVALID_PARAMS,
            HUB_STR("tools or access rules have changed since this call was made: make it again"),
            HUB_STR_EMPTY);
        return HUB_ANSWERED;
    }
    what.name = kept->name;
    what.name_json = kept->name_json;
    what.arguments = kept->arguments;
    access_class class = class_of(session, own);
    return own->kind == HUB_KINDS ? judge_task(call, &what) : decide(call, &what, &class, own);
}
