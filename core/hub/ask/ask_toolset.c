/* SPDX-License-Identifier: Apache-2.0 */
/* What toolsets ask (patchbay/client.h): whom a question is put to, and how its end is told. */
#include "hub/ask/ask.h"
#include "hub/ask/ask_internal.h"
#include "hub/ask/roots.h"
#include "hub/tasks/tasks.h"

#include <stdio.h>

static void tell_plugin(const hub_question *question, int32_t status, hub_str json)
{
    hub_binding *binding = question->binding;
    hub_call *call = hub_call_find(hub_calls_of(hub_toolset_hub(hub_binding_toolset(binding))),
                                   question->call, binding);
    if (question->kind == HUB_INPUT_ROOTS && status == PATCHBAY_ANSWERED) {
        hub_roots_note(binding, call);
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    if (status == PATCHBAY_ANSWERED && call != NULL) {
        json = hub_tasks_answer(call, json, &text);
    }
    hub_instance_answer(hub_binding_instance(binding), question->on_answer, question->arg,
                        question->call, status, json);
    hub_buf_fini(&text);
    hub_roots_settle(binding, question->call);
}

/* A key that the call has not used. */
static hub_str make_key(const hub_call *call, char *text, size_t size)
{
    for (unsigned number = 1;; number++) {
        hub_str key = {.ptr = text, .len = (size_t)snprintf(text, size, "input-%u", number)};
        if (hub_asking_find(call) == NULL || !hub_asking_has_key(hub_asking_find(call), key)) {
            return key;
        }
    }
}

/* The call whose client is to be asked, or NULL. */
static hub_call *find_asked(hub_binding *binding, uint64_t id, hub_input_kind kind)
{
    switch (id) {
    case 0:
        return hub_binding_only_client(binding);
    case PATCHBAY_NO_CALL:
        return kind == HUB_INPUT_ROOTS ? hub_roots_carrier(binding) : NULL;
    default:
        return hub_call_find(hub_calls_of(hub_toolset_hub(hub_binding_toolset(binding))), id,
                             binding);
    }
}

static bool has_digest(const hub_call *call)
{
    const call_ask *part = hub_ask_find(call);
    return part != NULL && part->has_digest;
}

bool hub_asking_fits(const hub_call *call, const hub_input_request *what)
{
    return (hub_call_context(call)->era == HUB_ERA_LEGACY || has_digest(call)) &&
           hub_input_request_fits(what, hub_call_context(call)->revision,
                                  hub_call_context(call)->capabilities);
}

/* Whether the client of a call can be asked this now. */
static bool can_ask(const hub_call *call, const hub_input_request *what)
{
    bool is_ours = hub_call_is_internal(call) && !hub_call_is_unasked(call);
    return !is_ours && (!hub_call_is_idle(call) || hub_call_is_unasked(call)) &&
           hub_asking_fits(call, what);
}

int32_t hub_ask(hub_binding *binding, uint64_t id, const patchbay_question *question)
{
    hub_input_request what;
    char made[32];
    if (hub_input_request_read(question->method, question->params_json, &what, NULL) != HUB_OK) {
        return PATCHBAY_EINVAL;
    }
    hub_call *call;
    bool is_of_task = hub_tasks_find_waiting(binding, question->params_json, &call);
    if (!is_of_task) {
        call = find_asked(binding, id, what.kind);
    }
    if (call == NULL) {
        bool is_named = id != 0 && id != PATCHBAY_NO_CALL && !is_of_task;
        return is_named ? PATCHBAY_ESTALE : PATCHBAY_ESTATE;
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_new_question new_question = {
        .on_end = tell_plugin,
        .on_answer = question->on_answer,
        .arg = question->arg,
        .kind = what.kind,
        .key = question->key.len > 0 ? question->key : make_key(call, made, sizeof made),
        .params = hub_tasks_question(call, question->params_json, &text),
    };
    id = hub_call_id(call);
    int32_t result = can_ask(call, &what) ? hub_asking_add(call, &new_question) : PATCHBAY_ESTATE;
    hub_roots_settle(binding, id);
    hub_buf_fini(&text);
    return result;
}

int32_t hub_ask_withdraw(hub_binding *binding, uint64_t id, hub_str key)
{
    for (hub_call *call = hub_binding_calls(binding); call != NULL;
         call = hub_call_next_of_binding(call)) {
        if ((id == 0 || hub_call_id(call) == id) && hub_asking_find(call) != NULL &&
            hub_asking_withdraw(hub_asking_find(call), key)) {
            return PATCHBAY_OK;
        }
    }
    return PATCHBAY_ENOTFOUND;
}
