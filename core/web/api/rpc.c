/* SPDX-License-Identifier: Apache-2.0 */
/* The API by a method of MCP: {"method": …, "path": …, "query": …, "body": {…}} is answered with
 * {"status": …, "body": …}. */
#include "base/limits.h"
#include "hub/admin/admin.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "web/api/route.h"

#include <stdlib.h>
#include <string.h>

typedef struct message_request {
    hub_web_request base; /* first: a request of the API is this */
    hub_identity *identity;
} message_request;

typedef struct message_exchange {
    hub_web_exchange base;      /* first: an exchange of the API is this */
    const hub_request *request; /* while it is served, else NULL */
    hub_call_table *calls;      /* of one that is answered later */
    uint64_t call;
    const hub_web_waiter *waiter;
    void *ctx;
    bool is_answered;
} message_exchange;

/* ---- what is asked --------------------------------------------------------------------------- */

static bool find_header(const hub_web_request *request, hub_str name, hub_str *ret_value)
{
    (void)request;
    *ret_value = HUB_STR("application/json");
    return hub_str_eq_nocase(name, HUB_STR("Content-Type"));
}

static const char *find_principal(const hub_web_request *request)
{
    return ((const message_request *)request)->identity->name;
}

static hub_identity *find_identity(const hub_web_request *request)
{
    return ((const message_request *)request)->identity;
}

static const hub_web_request_ops REQUEST = {
    .find_header = find_header, .find_principal = find_principal, .find_identity = find_identity};

/* ---- what is answered ------------------------------------------------------------------------ */

static void add_answer(const hub_web_answer *answer, hub_buf *out)
{
    hub_buf_printf(out, "{\"status\":%d,\"body\":", answer->status);
    for (size_t i = 0; i < answer->count; i++) {
        hub_buf_add(out, answer->parts[i]);
    }
    hub_buf_add(out, answer->count == 0 ? HUB_STR("null}") : HUB_STR("}"));
}

static hub_err answer_with(hub_web_exchange *base, const hub_web_answer *answer)
{
    message_exchange *exchange = (message_exchange *)base;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES + HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    add_answer(answer, &out);
    exchange->is_answered = true;
    hub_call *call =
        exchange->call != 0 ? hub_call_find(exchange->calls, exchange->call, NULL) : NULL;
    if (call != NULL) {
        hub_admin_on_end(call, NULL, NULL);
        hub_call_finish(call, &(hub_outcome){.status = hub_buf_ok(&out) ? PATCHBAY_RESULT
                                                                        : PATCHBAY_UNAVAILABLE,
                                             .json = hub_buf_ok(&out) ? hub_buf_str(&out)
                                                                      : HUB_STR("out of memory")});
    } else if (exchange->request != NULL && hub_buf_ok(&out)) {
        hub_respond_result(exchange->request, hub_buf_str(&out));
    } else if (exchange->request != NULL) {
        hub_respond_refusal(exchange->request, out.failed);
    }
    hub_buf_fini(&out);
    if (exchange->request == NULL) {
        free(exchange);
    }
    return HUB_OK;
}

/* Its client has gone, or has cancelled it. */
static void on_end(void *ctx)
{
    message_exchange *exchange = ctx;
    const hub_web_waiter *waiter = exchange->waiter;
    void *waiter_ctx = exchange->ctx;
    free(exchange);
    waiter->on_gone(waiter_ctx);
}

static void wait_for(hub_web_exchange *base, const hub_web_waiter *waiter, void *ctx)
{
    message_exchange *exchange = (message_exchange *)base;
    exchange->waiter = waiter;
    exchange->ctx = ctx;
}

static const hub_web_exchange_ops EXCHANGE = {.answer = answer_with, .wait = wait_for};

/* It is to be answered later: the request becomes a call. */
static void keep(message_exchange *exchange, const hub_request *request)
{
    exchange->request = NULL;
    hub_call *call = hub_request_begin(request);
    if (call == NULL) {
        on_end(exchange); /* it has been refused */
        return;
    }
    exchange->calls = hub_call_table_of(call);
    exchange->call = hub_call_id(call);
    hub_admin_on_end(call, on_end, exchange);
}

/* ---- one message ----------------------------------------------------------------------------- */

/* Append a member that is a string. False: it is none. */
static bool read_text(hub_str params, const char *key, const char *otherwise, hub_buf *out)
{
    hub_str raw = hub_json_get(params, hub_str_of(key));
    if (raw.len == 0 && otherwise != NULL) {
        hub_buf_add(out, hub_str_of(otherwise));
        return true;
    }
    return hub_json_decode(raw, out) == HUB_OK;
}

static void serve(hub_api *api, const hub_request *request, const message_request *asked)
{
    message_exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        hub_respond_refusal(request, HUB_ENOMEM);
        return;
    }
    *exchange = (message_exchange){.base = {.ops = &EXCHANGE}, .request = request};
    hub_api_serve(api, &asked->base, &exchange->base, hub_session_is_operator(request->session),
                  hub_profile_name(hub_session_profile(request->session)));
    if (exchange->is_answered) {
        free(exchange);
    } else {
        keep(exchange, request);
    }
}

void hub_api_serve_message(void *ctx, const hub_request *request)
{
    hub_str params = hub_json_get(request->message->whole, HUB_STR("params"));
    hub_buf texts[3];
    for (size_t i = 0; i < 3; i++) {
        hub_buf_init(&texts[i], params.len + 8);
    }
    if (!read_text(params, "method", "GET", &texts[0]) ||
        !read_text(params, "path", NULL, &texts[1]) || !read_text(params, "query", "", &texts[2])) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                          HUB_STR("params must have a path, and may have a method and a query, "
                                  "which are strings"),
                          HUB_STR_EMPTY);
    } else {
        const message_request asked = {.base = {.ops = &REQUEST,
                                                .method = hub_buf_str(&texts[0]),
                                                .path = hub_buf_str(&texts[1]),
                                                .query = hub_buf_str(&texts[2]),
                                                .body = hub_json_get(params, HUB_STR("body"))},
                                       .identity = hub_session_identity(request->session)};
        serve(ctx, request, &asked);
    }
    for (size_t i = 0; i < 3; i++) {
        hub_buf_fini(&texts[i]);
    }
}
