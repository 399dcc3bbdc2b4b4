/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a call: who asks, and who works on it. */
#include "hub/kernel/call.h"

#include "hub/kernel/call_kept.h"
#include "hub/kernel/call_table.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/session.h"

hub_err hub_call_begin(hub_session *session, hub_port *port, hub_str id,
                       const hub_request_context *context, hub_call **ret_call)
{
    HUB_IS(session, SESSION);
    hub_assert(id.len > 0);
    if (!hub_session_has_place(session)) {
        return HUB_ELIMIT;
    }
    hub_call *call;
    hub_err err = hub_call_take_slot(session->profile->hub->calls, &call);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_call_keep(call, session, id, context);
    if (err != HUB_OK) {
        hub_call_give_slot_back(call);
        return err;
    }
    call->port = port;
    hub_call_join(call, session);
    *ret_call = call;
    return HUB_OK;
}

hub_err hub_call_begin_internal(hub_orchestrator *hub, hub_call_on_outcome *on_outcome, void *ctx,
                                hub_call **ret_call)
{
    hub_err err = hub_call_take_slot(hub->calls, ret_call);
    if (err == HUB_OK) {
        (*ret_call)->on_outcome = on_outcome;
        (*ret_call)->ctx = ctx;
        (*ret_call)->context.capabilities = HUB_STR("{}");
    }
    return err;
}

void hub_call_attend(hub_call *call, hub_session *session)
{
    HUB_IS(session, SESSION);
    hub_assert(call->on_outcome != NULL && call->session == NULL);
    call->is_unasked = true;
    call->port = session->port;
    call->context.revision = session->revision;
    call->context.capabilities = hub_session_capabilities(session);
    hub_call_join(call, session);
}

void hub_call_bind(hub_call *call, hub_binding *binding, bool takes_place)
{
    HUB_IS(binding, BINDING);
    hub_assert(call->binding == NULL && !binding->retired);
    hub_assert(binding->calls == NULL || binding->calls->binding_prev == NULL);
    call->binding = binding;
    call->binding_prev = NULL;
    call->binding_next = binding->calls;
    if (binding->calls != NULL) {
        binding->calls->binding_prev = call;
    }
    binding->calls = call;
    binding->in_flight++;
    call->takes_place = takes_place;
    binding->places += takes_place ? 1 : 0;
}

hub_err hub_call_meet_client(hub_call *call, hub_session *session, hub_port *port, hub_str id,
                             const hub_request_context *context)
{
    HUB_IS(session, SESSION);
    hub_assert(call->session == NULL && call->on_outcome == NULL);
    if (!hub_session_has_place(session)) {
        return HUB_ELIMIT;
    }
    hub_err err = hub_call_keep_later(call, id, context);
    if (err == HUB_OK) {
        call->port = port;
        hub_call_join(call, session);
    }
    return err;
}
