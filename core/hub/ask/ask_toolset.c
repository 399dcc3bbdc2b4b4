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
    hub_call *call = hub_call_find(binding->toolset->hub->calls, question->call, binding);
    if (question->kind == HUB_INPUT_ROOTS && status == PATCHBAY_ANSWERED) {
        hub_roots_note(binding, call);
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    if (status == PATCHBAY_ANSWERED && call != NULL) {
        json = hub_tasks_answer(call, json, &text);
    }
    hub_instance_answer(binding->instance, question->on_answer, question->arg, question->call,
                        status, json);
    hub_buf_fini(&text);
    hub_roots_settle(binding, question->call);
}

hub_call *hub_ask_only_client(const hub_binding *binding)
{
    hub_call *newest = NULL;
    for (hub_call *call = binding->calls; call != NULL; call = call->binding_next) {
        if (call->on_outcome != NULL) {
            continue; /* the hub's own */
        }
        if (newest != NULL && (newest->session == NULL || call->session != newest->session)) {
            return NULL;
        }
        newest = newest == NULL ? call : newest;
    }
    return newest;
}

/* A key that the call has not used. */
static hub_str make_key(const hub_call *call, char *text, size_t size)
{
    for (unsigned number = 1;; number++) {
        hub_str key = {.ptr = text, .len = (size_t)snprintf(text, size, "input-%u", number)};
        if (call->asking == NULL || !hub_asking_has_key(call->asking, key)) {
            return key;
        }
    }
}

/* The call whose client is to be asked, or NULL. */
static hub_call *find_asked(hub_binding *binding, uint64_t id, hub_input_kind kind)
{
    switch (id) {
    case 0:
        return hub_ask_only_client(binding);
    case PATCHBAY_NO_CALL:
        return kind == HUB_INPUT_ROOTS ? hub_roots_carrier(binding) : NULL;
    default:
        return hub_call_find(binding->toolset->hub->calls, id, binding);
    }
}

/* Whether the client of a call can be asked this now. */
static bool can_ask(const hub_call *call, const hub_input_request *what)
{
    bool is_ours = call->on_outcome != NULL && !call->is_carrier;
    return !is_ours && (!call->idle || call->is_carrier) &&
           (call->context.era == HUB_ERA_LEGACY || call->has_digest) &&
           hub_input_request_fits(what, call->context.revision, call->context.capabilities);
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
    id = call->id;
    int32_t result = can_ask(call, &what) ? hub_asking_add(call, &new_question) : PATCHBAY_ESTATE;
    hub_roots_settle(binding, id);
    hub_buf_fini(&text);
    return result;
}

int32_t hub_ask_withdraw(hub_binding *binding, uint64_t id, hub_str key)
{
    for (hub_call *call = binding->calls; call != NULL; call = call->binding_next) {
        if ((id == 0 || call->id == id) && call->asking != NULL &&
            hub_asking_withdraw(call->asking, key)) {
            return PATCHBAY_OK;
        }
    }
    return PATCHBAY_ENOTFOUND;
}
