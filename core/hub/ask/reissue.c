/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/reissue.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/ask/ask_internal.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct hub_reissue {
    patchbay_request request; /* its spans point into `text`, or are constants */
    size_t held;              /* bytes that count against the session */
    unsigned rounds;
    bool is_due;        /* all answers are there */
    bool has_responses; /* the server asked something, not only for the call to be made again */
    hub_buf responses;  /* members of inputResponses */
    char *state;        /* raw JSON of the server's requestState; NULL: none */
    char text[];
} hub_reissue;

/* ---- keeping --------------------------------------------------------------------------------- */

static void move_slices(patchbay_request *request, hub_str params, const char *copy)
{
    request->args_json = hub_str_moved(request->args_json, params, copy);
    request->meta_json = hub_str_moved(request->meta_json, params, copy);
    request->name_json = hub_str_moved(request->name_json, params, copy);
}

/* Keep what is needed to make the call again, if it may have to be. */
static hub_verdict keep(hub_call *call, hub_handover *handover)
{
    const hub_message *message = handover->way->message;
    const patchbay_request *request = &handover->request;
    const hub_request_context *context = hub_call_context(call);
    hub_session *session = hub_call_session(call);
    if (!hub_binding_expects_input(hub_call_binding(call)) || context->era != HUB_ERA_LEGACY ||
        !hub_input_is_possible(context->capabilities) ||
        message->at[HUB_M_INPUT_RESPONSES].len > 0 || message->at[HUB_M_REQUEST_STATE].len > 0) {
        return HUB_GO_ON;
    }
    hub_str params = request->params_json;
    size_t len = params.len + request->tool.len + request->method.len;
    hub_asking *asking = hub_asking_of(call);
    if (asking == NULL || !hub_session_hold(session, len)) {
        return HUB_GO_ON; /* the call is made; it fails only if the server does ask */
    }
    hub_reissue *reissue = calloc(1, sizeof *reissue + len);
    if (reissue == NULL) {
        hub_session_release(session, len);
        return HUB_GO_ON;
    }
    char *at = reissue->text;
    reissue->request = *request;
    reissue->request.params_json = hub_str_put(&at, params);
    reissue->request.tool = hub_str_put(&at, request->tool);
    reissue->request.method = hub_str_put(&at, request->method);
    move_slices(&reissue->request, params, reissue->text);
    hub_buf_init(&reissue->responses, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    reissue->held = len;
    asking->reissue = reissue;
    return HUB_GO_ON;
}

static void forget_round(hub_reissue *reissue)
{
    hub_buf_clear(&reissue->responses);
    free(reissue->state);
    reissue->state = NULL;
    reissue->is_due = false;
    reissue->has_responses = false;
}

void hub_reissue_forget(hub_asking *asking)
{
    hub_reissue *reissue = asking->reissue;
    if (reissue != NULL) {
        hub_session_release(hub_call_session(asking->call), reissue->held);
        forget_round(reissue);
        hub_buf_fini(&reissue->responses);
        free(reissue);
        asking->reissue = NULL;
    }
}

/* ---- asking the client ----------------------------------------------------------------------- */

static void add_response(hub_reissue *reissue, hub_str raw_key, hub_str response)
{
    hub_buf_add(&reissue->responses, reissue->responses.len > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
    hub_buf_add(&reissue->responses, raw_key);
    hub_buf_add_char(&reissue->responses, ':');
    hub_buf_add(&reissue->responses, response);
}

/* Fail the call because the client answered with a JSON-RPC error, for which inputResponses has no
 * place. */
static void fail_refused(hub_call *call, const hub_question *question, hub_str error)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_FAILURE_TEXT_BYTES);
    hub_buf_printf(&text, "the client refused %s: ", hub_input_method(question->kind));
    if (hub_json_decode(hub_json_get(error, HUB_STR("message")), &text) != HUB_OK) {
        hub_buf_clear(&text);
        hub_buf_printf(&text, "the client refused %s", hub_input_method(question->kind));
    }
    hub_call_fail(call, PATCHBAY_FAILED, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static void on_answer(const hub_question *question, int32_t status, hub_str json)
{
    hub_call *call = hub_call_at(
        hub_calls_of(hub_toolset_hub(hub_binding_toolset(question->binding))), question->call);
    if (call == NULL || status == PATCHBAY_NO_ANSWER) {
        return; /* the call is over */
    }
    hub_reissue *reissue = hub_asking_find(call)->reissue;
    if (status == PATCHBAY_ANSWERED) {
        add_response(reissue, question->key, json);
    } else if (question->kind == HUB_INPUT_ELICITATION) {
        /* Nobody has said yes or no: elicitation has a word for that. */
        add_response(reissue, question->key, HUB_STR("{\"action\":\"cancel\"}"));
    } else {
        fail_refused(call, question, json);
        return;
    }
    if (hub_asking_find(call)->first == NULL) {
        reissue->is_due = true;
        hub_asking_due(hub_asking_find(call));
    }
}

/* Ask one of the server's questions. False with a reason when that cannot be. */
static bool ask(hub_call *call, hub_str raw_key, hub_str input_request, hub_error *reterr)
{
    hub_str params = hub_json_get(input_request, HUB_STR("params"));
    hub_input_request what;
    hub_buf method;
    hub_buf_init(&method, 128);
    hub_err err = hub_json_decode(hub_json_get(input_request, HUB_STR("method")), &method);
    if (err == HUB_OK) {
        err = hub_input_request_read(hub_buf_str(&method), params, &what, reterr);
    } else {
        err = hub_fail(reterr, HUB_EINVAL, "an input request has no method");
    }
    hub_buf_fini(&method);
    if (err != HUB_OK) {
        return false;
    }
    if (!hub_input_request_fits(&what, hub_call_context(call)->revision,
                                hub_call_context(call)->capabilities)) {
        (void)hub_fail(reterr, HUB_ESTATE, "the client did not declare the capability for %s",
                       hub_input_method(what.kind));
        return false;
    }
    hub_new_question question = {
        .on_end = on_answer, .kind = what.kind, .key = raw_key, .params = params};
    if (hub_asking_add(call, &question) != PATCHBAY_OK) {
        (void)hub_fail(reterr, HUB_ELIMIT, "these are too many questions, or one key has two");
        return false;
    }
    return true;
}

static void fail(hub_call *call, const char *reason)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_FAILURE_TEXT_BYTES);
    hub_buf_printf(&text, "the server needs input from the client to go on: %s", reason);
    hub_call_fail(call, PATCHBAY_FAILED, hub_buf_str(&text));
    hub_buf_fini(&text);
}

/* Note what the server says, and ask what it asks. False with a reason when that cannot be. */
static bool begin_round(hub_call *call, hub_str result, hub_error *reterr)
{
    hub_reissue *reissue = hub_asking_find(call)->reissue;
    hub_str requests = hub_json_get(result, HUB_STR("inputRequests"));
    hub_str state = hub_json_get(result, HUB_STR("requestState"));
    hub_json_iter it = hub_json_iterate(requests);
    hub_str key;
    hub_str value;
    forget_round(reissue);
    bool is_good = (requests.len == 0 || hub_json_type_of(requests) == HUB_JSON_OBJECT) &&
                   (state.len == 0 || hub_json_type_of(state) == HUB_JSON_STRING) &&
                   requests.len + state.len > 0;
    if (!is_good) {
        (void)hub_fail(reterr, HUB_EINVAL, "its result is not an InputRequiredResult");
        return false;
    }
    if (++reissue->rounds > HUB_LIMIT_ASK_ROUNDS) {
        (void)hub_fail(reterr, HUB_ELIMIT, "it has asked %d times", HUB_LIMIT_ASK_ROUNDS);
        return false;
    }
    reissue->has_responses = requests.len > 0;
    reissue->state = state.len > 0 ? hub_str_dup(state) : NULL;
    if (state.len > 0 && reissue->state == NULL) {
        (void)hub_fail(reterr, HUB_ENOMEM, "out of memory");
        return false;
    }
    while (hub_json_next(&it, &key, &value)) {
        if (!ask(call, key, value, reterr)) {
            return false;
        }
    }
    if (hub_asking_find(call)->first == NULL) { /* only to be made again */
        reissue->is_due = true;
        hub_asking_due(hub_asking_find(call));
    }
    return true;
}

/* A result that asks a legacy client for input: the call is taken over, or fails. */
static hub_verdict take_over(hub_call *call, hub_outcome *outcome)
{
    hub_error why = {.code = HUB_OK};
    const hub_asking *asking = hub_asking_find(call);
    hub_str result = outcome->json;
    if (!outcome->is_partial || hub_call_session(call) == NULL ||
        hub_call_context(call)->era != HUB_ERA_LEGACY ||
        !hub_json_string_is(hub_json_get(result, HUB_STR("resultType")),
                            HUB_STR("input_required"))) {
        return HUB_GO_ON;
    }
    if (asking == NULL || asking->reissue == NULL) {
        fail(call, hub_input_is_possible(hub_call_context(call)->capabilities)
                       ? "the request was not kept, and cannot be repeated"
                       : "it declared no capability to be asked");
        return HUB_ANSWERED;
    }
    hub_asking_cancel_all(
        hub_asking_find(call)); /* what was asked for the call that it has ended */
    hub_call_set_idle(call, true);
    hub_call_renew(call);
    if (!begin_round(call, result, &why)) {
        fail(call, why.text);
        return HUB_ANSWERED;
    }
    return HUB_HOLD;
}

/* ---- making the call again ------------------------------------------------------------------- */

/* Append the params with the answers at their end: every slice of them stays where it was. */
static void add_params(const hub_reissue *reissue, hub_buf *out)
{
    hub_str params = reissue->request.params_json;
    bool is_empty = hub_json_count(params) == 0;
    hub_buf_add(out, (hub_str){.ptr = params.ptr, .len = params.len - 1});
    if (reissue->has_responses) {
        hub_buf_add(out, is_empty ? HUB_STR_EMPTY : HUB_STR(","));
        hub_buf_add(out, HUB_STR("\"inputResponses\":{"));
        hub_buf_add(out, hub_buf_str(&reissue->responses));
        hub_buf_add_char(out, '}');
        is_empty = false;
    }
    if (reissue->state != NULL) {
        hub_buf_add(out, is_empty ? HUB_STR_EMPTY : HUB_STR(","));
        hub_buf_add(out, HUB_STR("\"requestState\":"));
        hub_buf_add(out, hub_str_of(reissue->state));
    }
    hub_buf_add_char(out, '}');
}

void hub_reissue_run(hub_asking *asking)
{
    hub_reissue *reissue = asking->reissue;
    hub_call *call = asking->call;
    hub_buf params;
    if (!reissue->is_due) {
        return;
    }
    reissue->is_due = false;
    hub_buf_init(&params, SIZE_MAX / 2);
    add_params(reissue, &params);
    if (hub_buf_ok(&params) && hub_buf_ok(&reissue->responses)) {
        patchbay_request request = reissue->request;
        move_slices(&request, request.params_json, params.ptr);
        request.params_json = hub_buf_str(&params);
        request.deadline_ms = hub_call_deadline_ms(call, hub_clock_now_ms());
        hub_call_hand_over_again(call, &request);
    } else {
        fail(call, "the answers are too large");
    }
    hub_buf_fini(&params);
}

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_binding *binding = hub_toolset_binding(toolset);
    return binding != NULL && hub_binding_expects_input(binding);
}

static hub_station_place place;

const hub_station HUB_REISSUE_STATION = {
    .name = "reissue",
    .place = &place,
    .triggers = HUB_ON_TYPED,
    .wants_toolset = wants_toolset,
    .hand_over = keep,
    .answer = take_over,
};
