/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/input_required.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/loop.h"
#include "base/share.h"
#include "hub/ask/ask_internal.h"
#include "hub/ask/sealed_state.h"
#include "hub/replicas/replicas.h"

#include <stdlib.h>

/* ---- calls that wait ------------------------------------------------------------------------- */

static size_t count_of(const hub_asks *asks, hub_str whose)
{
    size_t count = 0;
    for (const hub_asking *at = asks->waiting; at != NULL; at = at->waiting_next) {
        count += hub_str_is(whose, at->whose);
    }
    return count;
}

/* Note whose call it is, for as long as it is nobody's. False when out of memory. */
static bool note_who(hub_asking *asking, const hub_session *session, hub_str whose)
{
    if (asking->principal == NULL) {
        asking->principal = hub_str_dup(hub_str_of(hub_session_who(session)));
    }
    if (asking->whose == NULL) {
        asking->whose = hub_str_dup(whose);
    }
    return asking->principal != NULL && asking->whose != NULL;
}

int32_t hub_input_required_wait(hub_asking *asking)
{
    hub_asks *asks = asking->asks;
    const hub_session *session = hub_call_session(asking->call);
    char text[HUB_WHOSE_BYTES];
    if (asking->is_waiting) {
        return PATCHBAY_OK;
    }
    hub_str whose = hub_session_whose(session, text);
    size_t own = count_of(asks, whose);
    if (own >= HUB_LIMIT_ASKING_CALLS_PER_PRINCIPAL ||
        !hub_share_may(HUB_LIMIT_ASKING_CALLS / 2, asks->waiting_count, own, 1)) {
        return PATCHBAY_ELIMIT;
    }
    if (!note_who(asking, session, whose)) {
        return PATCHBAY_ENOMEM;
    }
    asking->is_waiting = true;
    asking->waiting_prev = NULL;
    asking->waiting_next = asks->waiting;
    if (asks->waiting != NULL) {
        asks->waiting->waiting_prev = asking;
    }
    asks->waiting = asking;
    asks->waiting_count++;
    return PATCHBAY_OK;
}

void hub_input_required_unwait(hub_asking *asking)
{
    hub_asks *asks = asking->asks;
    if (!asking->is_waiting) {
        return;
    }
    if (asking->waiting_prev != NULL) {
        asking->waiting_prev->waiting_next = asking->waiting_next;
    } else {
        asks->waiting = asking->waiting_next;
    }
    if (asking->waiting_next != NULL) {
        asking->waiting_next->waiting_prev = asking->waiting_prev;
    }
    asking->is_waiting = false;
    asks->waiting_count--;
}

static void drop_outcome(hub_asking *asking)
{
    hub_outcome_room_give(&asking->room);
    free((char *)(uintptr_t)asking->outcome.json.ptr);
    asking->outcome = (hub_outcome){.status = 0};
    asking->is_finished = false;
}

void hub_input_required_forget(hub_asking *asking)
{
    ev_timer_stop(hub_loop(asking->asks->hub), &asking->gather);
    hub_input_required_unwait(asking);
    if (asking->is_finished) {
        drop_outcome(asking);
    }
    free(asking->principal);
    free(asking->whose);
    free((char *)(uintptr_t)asking->supplied.ptr);
}

/* ---- an outcome without a client ------------------------------------------------------------- */

/* Room for the outcome of a call; where there is none it is another one, which says so. */
static void take_room(const hub_call *call, hub_asking *asking)
{
    const hub_binding *binding = hub_call_binding(call);
    const char *toolset = binding != NULL ? hub_toolset_key(hub_binding_toolset(binding)) : "";
    if (hub_outcome_room_take(&asking->asks->kept, hub_str_of(asking->whose), hub_str_of(toolset),
                              asking->outcome.json.len, &asking->room) != HUB_OK) {
        asking->outcome = (hub_outcome){
            .status = PATCHBAY_FAILED,
            .json = HUB_STR("the call ended before its questions were answered, with more than "
                            "could be kept of this client's calls, or of this toolset's: try "
                            "again, and answer at once"),
        };
    }
}

/* Keep the outcome of a call whose client is away, for when it comes back. */
static hub_verdict keep_outcome(hub_call *call, hub_outcome *outcome)
{
    hub_asking *asking = hub_asking_find(call);
    if (asking == NULL || !asking->is_away || asking->is_finished) {
        return HUB_GO_ON;
    }
    asking->is_finished = true;
    asking->outcome = *outcome;
    asking->outcome.judged = NULL; /* a copy */
    take_room(call, asking);
    char *copy = hub_str_dup(asking->outcome.json);
    asking->outcome.json.ptr = copy;
    asking->outcome.json.len = copy != NULL ? asking->outcome.json.len : 0;
    if (copy == NULL) {
        asking->outcome.status = PATCHBAY_FAILED;
    }
    hub_asking_cancel_all(asking);
    hub_call_unbind(call);
    return HUB_HOLD;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Append the result: every open question, and how to come back. */
static void add_result(const hub_asking *asking, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\"resultType\":\"input_required\",\"inputRequests\":{"));
    for (const hub_question *at = asking->first; at != NULL; at = at->next) {
        hub_json_add_comma(out);
        hub_json_add_string(out, at->key);
        hub_buf_printf(out, ":{\"method\":\"%s\"", hub_input_method(at->kind));
        if (at->params.len > 0) {
            hub_buf_add(out, HUB_STR(",\"params\":"));
            hub_buf_add(out, at->params);
        }
        hub_buf_add_char(out, '}');
    }
    hub_request_state state = {
        .call = hub_call_id(asking->call),
        .serial = asking->serial,
        .expires_ms =
            asking->first->asked_ms + hub_settings_of(asking->asks->hub)->limits.ask_timeout_ms,
    };
    hub_state_binding binding = {
        .principal = hub_str_of(asking->principal),
        .profile = hub_str_of(
            hub_profile_settings_of(hub_session_profile(hub_call_session(asking->call)))->name),
        .digest = hub_ask_find(asking->call)->digest,
    };
    hub_buf_add(out, HUB_STR("},\"requestState\":\""));
    hub_request_state_add(out, &asking->asks->key, &state, &binding);
    hub_replicas_add_home(asking->asks->hub, out, HUB_REQUEST_STATE_DIGITS);
    hub_buf_add(out, HUB_STR("\"}"));
}

/* Answer the request that the call has with its questions; from now on it has none. */
static void send_away(hub_asking *asking)
{
    hub_call *call = asking->call;
    hub_buf result;
    hub_buf_init(&result, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    asking->serial = ++asking->asks->last_serial;
    add_result(asking, &result);
    if (!hub_buf_ok(&result)) {
        hub_buf_fini(&result);
        hub_call_abort(call, PATCHBAY_FAILED,
                       HUB_STR("what the client was to be asked is too large"));
        return;
    }
    hub_outcome outcome = {.status = PATCHBAY_RESULT,
                           .json = hub_buf_str(&result),
                           .has_type = true,
                           .is_partial = true};
    asking->is_away = true;
    asking->has_gathered = false;
    hub_call_send_away(call, &outcome);
    hub_buf_fini(&result);
}

static void on_gathered(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_asking *asking = timer->data;
    asking->has_gathered = true;
    hub_asking_due(asking);
}

/* Send the client away with its questions; a moment later, for a server sends each by itself, and
 * what it asks together has to go out together. */
static void gather(hub_asking *asking)
{
    struct ev_loop *loop = hub_loop(asking->asks->hub);
    double wait = hub_settings_of(asking->asks->hub)->limits.ask_gather_ms / 1000.;
    if (asking->has_gathered || wait <= 0.) {
        send_away(asking);
    } else if (!ev_is_active(&asking->gather)) {
        ev_timer_init(&asking->gather, on_gathered, 0., 0.);
        asking->gather.data = asking;
        hub_loop_start_timer(loop, &asking->gather, wait);
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Take the questions out that an object of answers has an object for: a list of them. What else the
 * object holds is ignored, and so is what is no object (the question stays open). */
static hub_question *take_answered(hub_asking *asking, hub_str answers)
{
    hub_question *answered = NULL;
    hub_question **end = &answered;
    hub_question **link = &asking->first;
    while (*link != NULL) {
        hub_question *question = *link;
        question->answer = hub_json_get(answers, question->key);
        if (hub_json_type_of(question->answer) == HUB_JSON_OBJECT) {
            *link = question->next;
            question->next = NULL;
            *end = question;
            end = &question->next;
        } else {
            link = &question->next;
        }
    }
    return answered;
}

static bool is_answered(const hub_question *answered, hub_str raw_key)
{
    while (answered != NULL && !hub_json_string_is(raw_key, answered->key)) {
        answered = answered->next;
    }
    return answered != NULL;
}

/* Keep the answers that nothing was asked for yet: each is good for one question. */
static void keep_supplied(hub_asking *asking, hub_str answers, const hub_question *answered)
{
    hub_json_iter it = hub_json_iterate(answers);
    hub_str key;
    hub_str value;
    hub_buf rest;
    hub_buf_init(&rest, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    while (hub_json_next(&it, &key, &value)) {
        if (hub_json_type_of(value) == HUB_JSON_OBJECT && !is_answered(answered, key)) {
            hub_buf_add_char(&rest, rest.len == 0 ? '{' : ',');
            hub_buf_add(&rest, key);
            hub_buf_add_char(&rest, ':');
            hub_buf_add(&rest, value);
        }
    }
    if (rest.len > 0) {
        hub_buf_add_char(&rest, '}');
    }
    size_t len = rest.len;
    char *text = len > 0 ? hub_buf_take(&rest) : NULL; /* without memory they are asked for again */
    asking->supplied = (hub_str){.ptr = text, .len = text != NULL ? len : 0};
    hub_buf_fini(&rest);
}

/* Tell the questions that were taken out; the rest is asked again, or the call goes on. */
static void go_on(hub_asking *asking, hub_question *answered)
{
    if (asking->first != NULL) {
        hub_asking_due(asking);
    }
    hub_asking_settle(asking);
    hub_questions_tell(answered);
}

void hub_input_required_attend(hub_asking *asking)
{
    hub_str supplied = asking->supplied;
    if (asking->is_away || asking->first == NULL) {
        asking->has_gathered = false;
        return;
    }
    hub_question *answered = supplied.len > 0 ? take_answered(asking, supplied) : NULL;
    if (answered == NULL) {
        gather(asking);
        return;
    }
    keep_supplied(asking, supplied, answered);
    go_on(asking, answered);
    free((char *)(uintptr_t)supplied.ptr);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Only these may be answered with input_required (basic/patterns/mrtr, Supported Requests). */
static bool may_ask(hub_str method)
{
    return hub_str_is(method, "tools/call") || hub_str_is(method, "prompts/get") ||
           hub_str_is(method, "resources/read");
}

#define BAD_RESPONSES "params.inputResponses must be an object"
#define BAD_STATE                                                                                  \
    "params.requestState was not made here for this request and this client, or it was changed: "  \
    "repeat the request without it"

/* Note what a retry has to match, if the client can be asked: its own message, which may be given to
 * a binding in other words. */
static hub_verdict note(hub_call *call, hub_way *way)
{
    if (hub_call_may_ask(call) && hub_input_is_possible(hub_call_context(call)->capabilities)) {
        call_ask *part = hub_ask_of(call);
        part->has_digest = hub_request_digest(way->message->method, way->message->at[HUB_M_PARAMS],
                                              part->digest) == HUB_OK;
    }
    return HUB_GO_ON;
}

const char *hub_input_required_principal(const hub_call *call)
{
    const hub_session *session = hub_call_session(call);
    return session != NULL ? hub_session_who(session) : hub_asking_find(call)->principal;
}

/* Only a server that asks has states of its own, and only a modern client brings them back. */
static bool is_good_state(const hub_call *call, const hub_binding *binding, hub_str state)
{
    if (hub_call_context(call)->era != HUB_ERA_MODERN) {
        return state.len == 0 ||
               !hub_binding_expects_input(binding); /* to others the word means nothing */
    }
    return state.len == 0 ||
           (hub_binding_expects_input(binding) && hub_sealed_state_fits(call, state));
}

hub_verdict hub_input_required_admit(hub_call *call, hub_way *way)
{
    const hub_message *message = way->message;
    hub_str answers = message->at[HUB_M_INPUT_RESPONSES];
    const char *fault = NULL;
    if (!may_ask(message->method)) {
        return HUB_GO_ON;
    }
    if (!is_good_state(call, hub_toolset_binding(way->toolset), message->at[HUB_M_REQUEST_STATE])) {
        fault = BAD_STATE;
    } else if (hub_call_may_ask(call) && answers.len > 0 &&
               hub_json_type_of(answers) != HUB_JSON_OBJECT) {
        fault = BAD_RESPONSES;
    }
    if (fault != NULL) {
        hub_call_fail_rpc(call, HUB_RPC_INVALID_PARAMS, hub_str_of(fault));
        return HUB_ANSWERED;
    }
    return HUB_GO_ON;
}

void hub_input_required_supply(hub_call *call, const hub_message *message)
{
    hub_str answers = message->at[HUB_M_INPUT_RESPONSES];
    if (hub_ask_of(call)->has_digest && answers.len > 0 &&
        message->at[HUB_M_REQUEST_STATE].len == 0) {
        hub_asking *asking = hub_asking_of(call);
        if (asking != NULL) {
            keep_supplied(asking, answers, NULL);
        }
    }
}

/* The call that a state means and that waits for it, or NULL with the reason why not. */
static hub_call *find_call(const hub_request *request, const char **ret_reason)
{
    const hub_session *session = request->session;
    const hub_orchestrator *hub = hub_session_hub(session);
    const hub_message *message = request->message;
    unsigned char digest[HUB_DIGEST_BYTES];
    hub_state_binding binding = {
        .principal = hub_str_of(hub_session_who(session)),
        .profile = hub_str_of(hub_profile_settings_of(hub_session_profile(session))->name),
        .digest = digest,
    };
    hub_request_state state;
    *ret_reason = BAD_STATE;
    if (hub_request_digest(message->method, message->at[HUB_M_PARAMS], digest) != HUB_OK ||
        hub_request_state_read(&hub_ask_all(hub)->key, message->at[HUB_M_REQUEST_STATE], &binding,
                               &state) != HUB_OK) {
        return NULL;
    }
    *ret_reason =
        "params.requestState has expired, or was used already: repeat the request without it";
    hub_call *call = hub_call_at(hub_calls_of(hub), state.call);
    bool waits = call != NULL && hub_asking_find(call) != NULL && hub_asking_find(call)->is_away &&
                 hub_asking_find(call)->serial == state.serial &&
                 hub_clock_now_ms() < state.expires_ms;
    return waits ? call : NULL;
}

/* The call ended while its client was away. */
static void respond_kept(hub_call *call)
{
    hub_asking *asking = hub_asking_find(call);
    hub_outcome outcome = asking->outcome;
    asking->outcome.json = HUB_STR_EMPTY;
    hub_outcome_room_give(&asking->room);
    asking->is_finished = false;
    hub_call_finish_from(call, &HUB_AWAY_STATION, &outcome);
    free((char *)(uintptr_t)outcome.json.ptr);
}

static hub_verdict resume(const hub_request *request)
{
    const hub_message *message = request->message;
    hub_str answers = message->at[HUB_M_INPUT_RESPONSES];
    const char *reason;
    if (request->context.era != HUB_ERA_MODERN || !may_ask(message->method) ||
        !hub_request_state_is_ours(message->at[HUB_M_REQUEST_STATE])) {
        return HUB_GO_ON;
    }
    if (answers.len > 0 && hub_json_type_of(answers) != HUB_JSON_OBJECT) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS, HUB_STR(BAD_RESPONSES), HUB_STR_EMPTY);
        return HUB_ANSWERED;
    }
    hub_call *call = find_call(request, &reason);
    if (call == NULL) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS, hub_str_of(reason), HUB_STR_EMPTY);
        return HUB_ANSWERED;
    }
    hub_err err = hub_call_meet_client(call, request->session, request->port, message->at[HUB_M_ID],
                                       &request->context);
    if (err != HUB_OK) {
        hub_respond_refusal(request, err);
        return HUB_ANSWERED;
    }
    hub_asking_find(call)->is_away = false;
    if (!hub_call_client_returns(call)) {
        return HUB_ANSWERED;
    }
    if (hub_asking_find(call)->is_finished) {
        respond_kept(call);
    } else {
        go_on(hub_asking_find(call), take_answered(hub_asking_find(call), answers));
    }
    return HUB_ANSWERED;
}

static hub_station_place place;

const hub_station HUB_AWAY_STATION = {
    .name = "away",
    .place = &place,
    .triggers = HUB_ON_CAPABLE | HUB_ON_STATE,
    .arrive = resume,
    .begin = note,
    .answer = keep_outcome,
};
