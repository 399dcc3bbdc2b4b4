/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that become calls, that are held, and that are refused. */
#include "hub/kernel/objects.h"
#include "hub/kernel/respond.h"

hub_call *hub_request_begin(const hub_request *request)
{
    hub_call *call = request->call;
    if (call != NULL) {
        HUB_IS(call, CALL);
        hub_assert(!call->is_taken && call->session == request->session);
        call->is_taken = true;
        return call;
    }
    hub_err err = hub_call_begin(request->session, request->port, request->message->at[HUB_M_ID],
                                 &request->context, &call);
    if (err != HUB_OK) {
        hub_respond_refusal(request, err);
        return NULL;
    }
    return call;
}

void hub_request_resume(hub_call *call, const hub_message *message, hub_request_handler *handle)
{
    HUB_IS(call, CALL);
    hub_assert(call->session != NULL);
    call->is_taken = false; /* by the one that held it */
    hub_call_table *table = call->table;
    uint64_t id = call->id;
    hub_request request = {.session = call->session,
                           .port = call->port,
                           .message = message,
                           .context = call->context,
                           .handle = handle,
                           .call = call};
    handle(&request);
    call = hub_call_at(table, id);
    if (call != NULL && !call->is_taken) {
        hub_call_drop(call); /* it was answered as a request */
    }
}

void hub_request_refuse(const hub_request *request)
{
    const hub_orchestrator *hub = request->session->profile->hub;
    for (hub_station_mask left = hub->wanted; left != 0; left &= left - 1) {
        const hub_station *station = hub_stations_at((size_t)__builtin_ctzll(left));
        if (station->refuse != NULL) {
            station->refuse(request);
        }
    }
}
