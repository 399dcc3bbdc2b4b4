/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to clients of the handshake revisions: requests on the port of their call, whose
 * responses are looked up in the session that sent them. */
#include "hub/ask/ask_internal.h"
#include "hub/ask/elicitation.h"
#include "hub/kernel/respond.h"

#include <inttypes.h>
#include <stdio.h>

/* Elicitation by URL had an id of the elicitation in 2025-11-25 alone. */
static bool wants_elicitation_id(const hub_call *call, const hub_question *question)
{
    return question->kind == HUB_INPUT_ELICITATION &&
           hub_call_context(call)->revision == HUB_REVISION_2025_11_25 &&
           hub_json_string_is(hub_json_get(question->params, HUB_STR("mode")), HUB_STR("url")) &&
           hub_json_get(question->params, HUB_STR("elicitationId")).len == 0;
}

/* Send it as a request to a client of a handshake revision. */
static hub_err send_question(const hub_call *call, hub_question *question, uint64_t number)
{
    char head[96];
    char id[64] = "";
    hub_str params = question->params;
    int len =
        snprintf(head, sizeof head, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"method\":\"%s\"",
                 number, hub_input_method(question->kind));
    if (wants_elicitation_id(call, question)) {
        (void)snprintf(id, sizeof id, "{\"elicitationId\":\"patchbay-%" PRIu64 "\",", number);
        params = hub_str_from(params, 1);
    }
    hub_str parts[] = {
        {.ptr = head, .len = (size_t)len},
        params.len > 0 ? HUB_STR(",\"params\":") : HUB_STR_EMPTY,
        hub_str_of(id),
        params,
        HUB_STR("}"),
    };
    question->number = number;
    if (question->kind == HUB_INPUT_ELICITATION && question->binding != NULL) {
        hub_elicitation_note(call, question->params);
    }
    return hub_call_port(call)->ops->send(
        hub_call_port(call),
        &(hub_outgoing){.parts = parts, .count = sizeof parts / sizeof *parts});
}

void hub_ask_legacy_send(hub_asking *asking)
{
    hub_call *call = asking->call;
    for (hub_question *question = asking->first; question != NULL; question = question->next) {
        if (question->number == 0 &&
            send_question(call, question, ++asking->asks->last_number) != HUB_OK) {
            hub_call_abort(call, PATCHBAY_FAILED,
                           HUB_STR("the client does not read what it is asked"));
            return;
        }
    }
}

void hub_ask_legacy_take_back(const hub_call *call, const hub_question *question,
                              const char *reason)
{
    char params[128];
    if (hub_call_session(call) == NULL || hub_session_is_closing(hub_call_session(call))) {
        return;
    }
    int len = snprintf(params, sizeof params, "{\"requestId\":%" PRIu64 ",\"reason\":\"%s\"}",
                       question->number, reason);
    hub_respond_notify(hub_call_port(call), HUB_STR("notifications/cancelled"),
                       (hub_str){.ptr = params, .len = (size_t)len});
}

void hub_ask_legacy_take_all_back(const hub_asking *asking)
{
    for (const hub_question *at = asking->first; at != NULL; at = at->next) {
        if (at->number != 0) {
            hub_ask_legacy_take_back(asking->call, at, "the call that asked is over");
        }
    }
}

/* Where the call's question with that number is linked, or where there is none. */
static hub_question **find_question(hub_asking *asking, uint64_t number)
{
    hub_question **link = &asking->first;
    while (*link != NULL && (*link)->number != number) {
        link = &(*link)->next;
    }
    return link;
}

/* Its client has answered a question of the call. */
static void take_answer(hub_call *call, hub_question **link, const hub_message *message)
{
    bool is_result = message->kind == HUB_MESSAGE_RESULT;
    hub_question *question = *link;
    if (!hub_call_client_returns(call)) {
        return;
    }
    *link = question->next;
    question->next = NULL;
    hub_asking_settle(hub_asking_find(call));
    hub_question_tell(question, is_result ? PATCHBAY_ANSWERED : PATCHBAY_REFUSED,
                      message->at[is_result ? HUB_M_RESULT : HUB_M_ERROR]);
}

bool hub_ask_take_answer(hub_session *session, const hub_message *message)
{
    uint64_t number;
    if (!hub_json_to_u64(message->at[HUB_M_ID], &number) || number == 0) {
        return false;
    }
    for (hub_call *call = hub_session_calls(session); call != NULL;
         call = hub_call_next_of_session(call)) {
        hub_asking *asking = hub_asking_find(call);
        hub_question **link = asking != NULL ? find_question(asking, number) : NULL;
        if (link != NULL && *link != NULL) {
            take_answer(call, link, message);
            return true;
        }
    }
    return false;
}
