/* SPDX-License-Identifier: Apache-2.0 */
/* What the hub itself asks: whether its user accepts a call that is held, and on which nobody works
 * yet. */
#include "hub/ask/ask.h"
#include "hub/ask/ask_internal.h"

static const hub_str KEY = {.ptr = "patchbay-accept", .len = 15};

static void tell_station(const hub_question *question, int32_t status, hub_str json)
{
    hub_call *call = hub_call_at(hub_calls_of(question->asks->hub), question->call);
    if (call == NULL) { /* it ended, and with it the question */
        return;
    }
    hub_str action =
        status == PATCHBAY_ANSWERED ? hub_json_get(json, HUB_STR("action")) : HUB_STR_EMPTY;
    question->on_said(call, hub_json_string_is(action, HUB_STR("accept")) ? HUB_SAID_YES
                            : action.len > 0                              ? HUB_SAID_NO
                                                                          : HUB_SAID_NOTHING);
}

int32_t hub_ask_yes_or_no(hub_call *call, hub_str text, hub_on_yes_or_no *on_said)
{
    const hub_input_request form = {.kind = HUB_INPUT_ELICITATION};
    hub_assert(hub_call_binding(call) == NULL && hub_call_session(call) != NULL);
    if (!hub_asking_fits(call, &form)) {
        return PATCHBAY_ESTATE;
    }
    hub_buf params;
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&params, HUB_STR("{\"message\":"));
    hub_json_add_string(&params, text);
    hub_buf_add(&params, HUB_STR(",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}"));
    const hub_new_question question = {
        .on_end = tell_station,
        .on_said = on_said,
        .kind = HUB_INPUT_ELICITATION,
        .key = KEY,
        .params = hub_buf_str(&params),
    };
    int32_t result = hub_buf_ok(&params) ? hub_asking_add(call, &question) : PATCHBAY_ENOMEM;
    if (result == PATCHBAY_OK) {
        hub_asking_find(call)->has_gathered = true; /* nobody else asks for it yet */
    }
    hub_buf_fini(&params);
    return result;
}
