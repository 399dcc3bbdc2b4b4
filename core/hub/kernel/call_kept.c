/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/call_kept.h"

#include "base/limits.h"
#include "hub/kernel/objects.h"

#include <stdlib.h>

static size_t size_to_keep(hub_str id, const hub_request_context *context, bool with_capabilities)
{
    return id.len + (with_capabilities ? context->capabilities.len : 0) + context->client_info.len +
           context->log_level.len + context->progress_token.len + context->headers.len;
}

static void keep_at(hub_call *call, char *at, hub_str id, const hub_request_context *context,
                    bool with_capabilities)
{
    hub_str capabilities =
        with_capabilities ? hub_str_put(&at, context->capabilities) : context->capabilities;
    call->context = *context;
    call->context.capabilities = capabilities;
    call->client_id = hub_str_put(&at, id);
    call->context.client_info = hub_str_put(&at, context->client_info);
    call->context.log_level = hub_str_put(&at, context->log_level);
    call->context.progress_token = hub_str_put(&at, context->progress_token);
    call->context.headers = hub_str_put(&at, context->headers);
}

hub_err hub_call_keep(hub_call *call, const hub_session *session, hub_str id,
                      const hub_request_context *context)
{
    hub_assert(call->kept == call->inline_kept && call->kept_later == NULL);
    bool is_declared =
        session->capabilities != NULL && context->capabilities.ptr == session->capabilities;
    size_t need = size_to_keep(id, context, !is_declared);
    if (need > sizeof call->inline_kept) {
        call->kept = malloc(need);
        if (call->kept == NULL) {
            call->kept = call->inline_kept;
            return HUB_ENOMEM;
        }
    }
    keep_at(call, call->kept, id, context, !is_declared);
    return HUB_OK;
}

hub_err hub_call_keep_later(hub_call *call, hub_str id, const hub_request_context *context)
{
    hub_assert(call->session == NULL);
    hub_request_context known = *context;
    bool is_new = !hub_str_eq(context->capabilities, call->context.capabilities);
    size_t total = size_to_keep(id, context, is_new);
    hub_call_kept *kept = malloc(sizeof *kept + total);
    if (kept == NULL) {
        return HUB_ENOMEM;
    }
    kept->older = call->kept_later;
    kept->len = total;
    for (const hub_call_kept *older = kept->older; older != NULL; older = older->older) {
        total += older->len;
    }
    if (total > HUB_LIMIT_CLIENT_MESSAGE_BYTES) {
        free(kept);
        return HUB_ELIMIT;
    }
    if (!is_new) {
        known.capabilities = call->context.capabilities;
    }
    call->kept_later = kept;
    keep_at(call, kept->bytes, id, &known, is_new);
    return HUB_OK;
}

void hub_call_forget_kept(hub_call *call)
{
    if (call->kept != call->inline_kept) {
        free(call->kept);
    }
    while (call->kept_later != NULL) {
        hub_call_kept *kept = call->kept_later;
        call->kept_later = kept->older;
        free(kept);
    }
}
