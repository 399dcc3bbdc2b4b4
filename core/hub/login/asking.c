/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/login/asking.h"

#include "base/limits.h"
#include "hub/ask/ask.h"
#include "hub/ask/elicitation.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/login/logins.h"
#include "wire/json.h"

#include <inttypes.h>

enum { QUESTION_BYTES = 128 * 1024 };

static const hub_str KEY = {.ptr = "patchbay-login", .len = 14};

static login_asked *find(const hub_call *call)
{
    return hub_call_find_part(call, &HUB_LOGINS_STATION);
}

/* Whether its user may log the hub in for everybody: not where the hub tells its users apart. */
static bool may_log_in(const hub_call *call)
{
    const hub_session *session = hub_call_session(call);
    hub_str who = hub_str_of(session != NULL ? hub_session_who(session) : "");
    return hub_str_is(who, "local") || hub_str_is(who, "anonymous") ||
           hub_str_starts(who, HUB_STR("uid:"));
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

static int32_t ask(hub_binding *binding, const hub_call *call, const char *link)
{
    hub_buf message;
    hub_buf params;
    hub_buf_init(&message, QUESTION_BYTES);
    hub_buf_init(&params, QUESTION_BYTES);
    hub_buf_printf(&message, "The server of the toolset \"%s\" wants you to log in.",
                   hub_toolset_key(hub_binding_toolset(binding)));
    hub_buf_add(&params, HUB_STR("{\"mode\":\"url\",\"message\":"));
    hub_json_add_string(&params, hub_buf_str(&message));
    hub_buf_add(&params, HUB_STR(",\"url\":"));
    hub_json_add_string(&params, hub_str_of(link));
    hub_buf_add_char(&params, ',');
    add_id(&params, call);
    hub_buf_add_char(&params, '}');
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
    hub_buf_wipe(&params);
    hub_buf_fini(&message);
    return result;
}

/* A client that cannot send its user anywhere is told where to. */
static void tell(hub_binding *binding, hub_call *call, const char *link)
{
    const char *key = hub_toolset_key(hub_binding_toolset(binding));
    hub_buf text;
    hub_buf_init(&text, QUESTION_BYTES);
    hub_buf_printf(&text, "toolset \"%s\" wants a login: ", key);
    if (may_log_in(call)) {
        hub_buf_printf(&text, "open %s and call again, or run `patchbay login %s`", link, key);
    } else {
        hub_buf_printf(&text, "whoever runs the hub has to run `patchbay login %s`", key);
    }
    hub_call_abort(call, PATCHBAY_UNAVAILABLE, hub_buf_str(&text));
    hub_buf_wipe(&text);
}

bool hub_login_ask_client(hub_binding *binding, hub_call *call, const char *link)
{
    if (hub_call_is_internal(call)) {
        return false;
    }
    if (find(call) != NULL && find(call)->is_asked) {
        return true;
    }
    if (may_log_in(call) && ask(binding, call, link) == PATCHBAY_OK) {
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
