/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/login/asking.h"

#include "hub/ask/ask.h"
#include "hub/ask/elicitation.h"
#include "hub/instances/principal_instance.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/login/logins.h"
#include "wire/errors.h"
#include "wire/input_request.h"
#include "wire/json.h"

#include <inttypes.h>

enum { QUESTION_BYTES = 128 * 1024 };

static const hub_str KEY = {.ptr = "patchbay-login", .len = 14};

static login_asked *find(const hub_call *call)
{
    return hub_call_find_part(call, &HUB_LOGINS_STATION);
}

bool hub_login_may(hub_str principal)
{
    return hub_str_is(principal, "local") || hub_str_is(principal, "anonymous") ||
           hub_str_starts(principal, HUB_STR("uid:"));
}

/* Whether its user may log in there: for itself always. */
static bool may_log_in(const hub_call *call, const hub_toolset *toolset)
{
    const hub_session *session = hub_call_session(call);
    if (hub_toolset_settings_of(toolset)->is_per_principal) {
        return session != NULL && hub_toolset_is_apart(toolset) &&
               hub_principal_instance_is_for(toolset, session);
    }
    return session != NULL && hub_login_may(hub_str_of(hub_session_who(session)));
}

static void on_answer(void *arg, patchbay_call id, int32_t status, patchbay_str json)
{
    hub_binding *binding = arg;
    hub_toolset *toolset = hub_binding_toolset(binding);
    hub_call *call = hub_call_find(hub_calls_of(hub_toolset_hub(toolset)), id.id, binding);
    login_asked *asked = call != NULL ? find(call) : NULL;
    if (asked == NULL || status == PATCHBAY_NO_ANSWER) {
        return; /* it is over, or the login is done */
    }
    asked->has_said_yes =
        status == PATCHBAY_ANSWERED &&
        hub_json_string_is(hub_json_get(json, HUB_STR("action")), HUB_STR("accept"));
    if (!asked->has_said_yes) {
        hub_buf text;
        hub_buf_init(&text, QUESTION_BYTES);
        hub_buf_printf(&text, "toolset \"%s\" wants a login, and the user did not log in",
                       hub_toolset_key(toolset));
        hub_call_abort(call, PATCHBAY_UNAVAILABLE, hub_buf_str(&text));
        hub_buf_fini(&text);
    }
}

static void add_id(hub_buf *out, const hub_call *call)
{
    hub_buf_printf(out, "\"elicitationId\":\"patchbay-login-%" PRIu64 "\"", hub_call_id(call));
}

/* What a client is told that cannot send its user anywhere. */
static void add_advice(hub_buf *text, const hub_toolset *toolset, const hub_call *call,
                       const char *link)
{
    const char *code = hub_logins_code(toolset);
    hub_buf_printf(text, "toolset \"%s\" wants a login: ", hub_toolset_key(toolset));
    if (may_log_in(call, toolset)) {
        hub_buf_printf(text, "open %s%s%s and call again, or run ", link,
                       code != NULL ? ", enter the code " : "", code != NULL ? code : "");
    } else {
        hub_buf_add(text, HUB_STR("the operator of the hub has to run "));
    }
    hub_logins_add_command(toolset, text);
}

static void tell(hub_binding *binding, hub_call *call, const char *link)
{
    hub_buf text;
    hub_buf_init_secret(&text, QUESTION_BYTES);
    add_advice(&text, hub_binding_toolset(binding), call, link);
    hub_call_abort(call, PATCHBAY_UNAVAILABLE, hub_buf_str(&text));
    hub_buf_fini(&text);
}

/* ---- calls that nobody works on yet ---------------------------------------------------------- */

/* What a client is to send its user to: params of elicitation/create. */
static void add_params(hub_buf *out, const hub_toolset *toolset, const hub_call *call,
                       const char *link)
{
    hub_buf message;
    hub_buf_init(&message, QUESTION_BYTES);
    hub_buf_printf(&message, "The server of the toolset \"%s\" wants you to log in.",
                   hub_toolset_key(toolset));
    if (hub_logins_code(toolset) != NULL) {
        hub_buf_printf(&message, " Enter this code there: %s", hub_logins_code(toolset));
    }
    hub_buf_add(out, HUB_STR("{\"mode\":\"url\",\"message\":"));
    hub_json_add_string(out, hub_buf_str(&message));
    hub_buf_add(out, HUB_STR(",\"url\":"));
    hub_json_add_string(out, hub_str_of(link));
    hub_buf_add_char(out, ',');
    add_id(out, call);
    hub_buf_add_char(out, '}');
    hub_buf_fini(&message);
}

/* Answer it at once, for it to be made again: with URLElicitationRequiredError to a client of
 * 2025-11-25, and with what stands for that in 2026-07-28. */
static void finish_with_link(hub_call *call, const hub_toolset *toolset, const char *link)
{
    bool is_modern = hub_call_context(call)->era == HUB_ERA_MODERN;
    hub_buf text;
    hub_buf_init_secret(&text, QUESTION_BYTES);
    if (is_modern) {
        hub_buf_add(&text, HUB_STR("{\"resultType\":\"input_required\",\"inputRequests\":{"
                                   "\"patchbay-login\":{\"method\":\"elicitation/create\","
                                   "\"params\":"));
        add_params(&text, toolset, call, link);
        hub_buf_add(&text, HUB_STR("}}}"));
    } else {
        hub_buf_printf(&text,
                       "{\"code\":%d,\"message\":\"the user must log in first\",\"data\":{"
                       "\"elicitations\":[",
                       HUB_RPC_URL_ELICITATION);
        add_params(&text, toolset, call, link);
        hub_buf_add(&text, HUB_STR("]}}"));
    }
    const hub_outcome outcome = {.status = is_modern ? PATCHBAY_RESULT : PATCHBAY_RPC_ERROR,
                                 .json = hub_buf_str(&text),
                                 .has_type = is_modern};
    if (hub_buf_ok(&text)) {
        hub_call_finish(call, &outcome);
    } else {
        hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    }
    hub_buf_fini(&text);
}

hub_verdict hub_login_answer(hub_call *call, const hub_toolset *toolset)
{
    static const hub_input_request BY_URL = {.kind = HUB_INPUT_ELICITATION, .is_url = true};
    const char *link = hub_logins_link(toolset);
    if (link == NULL) {
        return HUB_GO_ON;
    }
    const hub_request_context *context = hub_call_context(call);
    if (may_log_in(call, toolset) &&
        hub_input_request_fits(&BY_URL, context->revision, context->capabilities)) {
        finish_with_link(call, toolset, link);
        return HUB_ANSWERED;
    }
    hub_buf text;
    hub_buf_init_secret(&text, QUESTION_BYTES);
    add_advice(&text, toolset, call, link);
    hub_call_refuse(call, PATCHBAY_UNAVAILABLE, hub_buf_str(&text));
    hub_buf_fini(&text);
    return HUB_ANSWERED;
}

/* ---- calls that a proxy has ------------------------------------------------------------------ */

static int32_t ask(hub_binding *binding, const hub_call *call, const char *link)
{
    hub_buf params;
    hub_buf_init_secret(&params, QUESTION_BYTES);
    add_params(&params, hub_binding_toolset(binding), call, link);
    const patchbay_question question = {
        .struct_size = sizeof question,
        .key = KEY,
        .method = HUB_STR("elicitation/create"),
        .params_json = hub_buf_str(&params),
        .on_answer = on_answer,
        .arg = binding,
    };
    int32_t result =
        hub_buf_ok(&params) ? hub_ask(binding, hub_call_id(call), &question) : PATCHBAY_ENOMEM;
    hub_buf_fini(&params);
    return result;
}

bool hub_login_ask_client(hub_binding *binding, hub_call *call, const char *link)
{
    if (hub_call_is_internal(call)) {
        return false;
    }
    if (find(call) != NULL && find(call)->is_asked) {
        return true;
    }
    if (may_log_in(call, hub_binding_toolset(binding)) && ask(binding, call, link) == PATCHBAY_OK) {
        login_asked *asked = hub_call_part_of(call, &HUB_LOGINS_STATION);
        *asked = (login_asked){.is_asked = true};
        return true;
    }
    tell(binding, call, link);
    return false;
}

void hub_login_ask_no_more(hub_binding *binding)
{
    hub_call *next;
    for (hub_call *call = hub_binding_calls(binding); call != NULL; call = next) {
        login_asked *asked = find(call);
        next = hub_call_next_of_binding(call);
        if (asked == NULL || !asked->is_asked) {
            continue;
        }
        asked->is_asked = false;
        if (!asked->has_said_yes) {
            (void)hub_ask_withdraw(binding, hub_call_id(call), KEY); /* answered just now */
        }
        hub_buf params;
        hub_buf_init(&params, 128);
        hub_buf_add_char(&params, '{');
        add_id(&params, call);
        hub_buf_add_char(&params, '}');
        if (asked->has_said_yes && hub_buf_ok(&params)) {
            (void)hub_elicitation_complete(binding, hub_call_id(call), hub_buf_str(&params));
        }
        hub_buf_fini(&params);
    }
}
