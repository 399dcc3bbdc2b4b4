/* SPDX-License-Identifier: Apache-2.0 */
/* What is done as the caller, by the way that a client's request goes. */
#include "base/limits.h"
#include "export/block.h"
#include "hub/admin/act.h"
#include "hub/kernel/transport.h"
#include "web/api/pending.h"
#include "web/api/route.h"
#include "wire/errors.h"

#include <stdlib.h>
#include <utlist.h>

typedef struct waiting_call {
    hub_api_pending pending; /* first: what is pending is its call */
    hub_api *api;
    hub_web_exchange *exchange;
    hub_act *act; /* NULL: it is not there yet, or over */
    bool unwraps; /* it is a tool of the hub's own: the answer is what it says */
    bool is_over;
    bool is_anthropic;
    char *block; /* what a model asked for, and wants to be answered in the shape of; or NULL */
} waiting_call;

static void drop(waiting_call *call)
{
    if (call != NULL) {
        free(call->block);
        free(call);
    }
}

static hub_err refuse_message(hub_port *port, const hub_outgoing *message)
{
    (void)port;
    (void)message;
    return HUB_OK;
}

hub_session *hub_api_look(const hub_api_asked *asked)
{
    static const hub_port_ops DEAF = {.send = refuse_message};
    static hub_port port = {.ops = &DEAF};
    hub_session *session = NULL;
    hub_error why = {.code = HUB_OK};
    const hub_session_options options = {.profile = asked->profile,
                                         .transport = "api",
                                         .identity = asked->identity,
                                         .is_one_request = true,
                                         .port = &port};
    if (hub_session_create(asked->hub, &options, &session, &why) != HUB_OK) {
        hub_api_fail_with(asked->exchange, &why);
        return NULL;
    }
    return session;
}

/* ---- answering ------------------------------------------------------------------------------- */

static int status_of(int64_t code)
{
    switch (code) {
    case HUB_RPC_INSUFFICIENT_SCOPE:
        return 403;
    case HUB_RPC_OVERLOADED:
        return 429;
    case HUB_RPC_INTERNAL_ERROR:
        return 503;
    default:
        return 400;
    }
}

static void answer_error(hub_web_exchange *exchange, hub_str error)
{
    int64_t code = HUB_RPC_INTERNAL_ERROR;
    hub_str message = hub_json_get(error, HUB_STR("message"));
    hub_str data = hub_json_get(error, HUB_STR("data"));
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    (void)hub_json_to_i64(hub_json_get(error, HUB_STR("code")), &code);
    hub_buf_printf(
        &out, "{\"error\":{\"code\":\"rpc_error\",\"rpcCode\":%lld,\"message\":", (long long)code);
    hub_buf_add(&out, message.len > 0 ? message : HUB_STR("\"out of memory\""));
    if (data.len > 0) {
        hub_json_add_key(&out, HUB_STR("data"));
        hub_buf_add(&out, data);
    }
    hub_buf_add(&out, HUB_STR("}}"));
    hub_api_answer(exchange, status_of(code), &out);
}

/* The first text of a result. */
static void answer_tool_error(hub_web_exchange *exchange, hub_str result)
{
    hub_json_iter it = hub_json_iterate(hub_json_get(result, HUB_STR("content")));
    hub_str key;
    hub_str item = HUB_STR_EMPTY;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    (void)hub_json_next(&it, &key, &item);
    if (hub_json_decode(hub_json_get(item, HUB_STR("text")), &text) != HUB_OK) {
        hub_buf_clear(&text);
    }
    hub_api_fail(exchange, 409, "refused", HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    hub_buf_fini(&text);
}

static void answer_result(const waiting_call *call, hub_str result)
{
    hub_str structured = hub_json_get(result, HUB_STR("structuredContent"));
    hub_buf out;
    if (call->unwraps && hub_str_is(hub_json_get(result, HUB_STR("isError")), "true")) {
        answer_tool_error(call->exchange, result);
        return;
    }
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES + HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (call->unwraps && structured.len > 0) {
        hub_buf_add(&out, structured);
    } else {
        hub_buf_add(&out, HUB_STR("{\"result\":"));
        hub_buf_add(&out, result);
        hub_buf_add_char(&out, '}');
    }
    hub_api_answer(call->exchange, 200, &out);
}

/* Also of a call that has failed: the model is to see why. */
static void answer_block(const waiting_call *call, hub_str result, hub_str error)
{
    bool is_failed =
        result.len == 0 || hub_str_is(hub_json_get(result, HUB_STR("isError")), "true");
    hub_block block;
    hub_buf text;
    hub_buf out;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES + HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_err err = hub_block_read(call->is_anthropic, hub_str_of(call->block), &text, &block, NULL);
    if (err == HUB_OK) {
        err = hub_block_answer(&block, result.len > 0 ? result : error, is_failed, &out);
    }
    if (err != HUB_OK && hub_buf_ok(&out)) {
        out.failed = err;
    }
    hub_api_answer(call->exchange, 200, &out);
    hub_buf_fini(&text);
}

static void leave(waiting_call *call)
{
    hub_api_pending **list = hub_api_pending_of(call->api);
    DL_DELETE(*list, &call->pending);
}

static void on_done(void *ctx, hub_str message)
{
    waiting_call *call = ctx;
    hub_str result = hub_json_get(message, HUB_STR("result"));
    bool is_inside = call->act == NULL;
    leave(call);
    if (call->block != NULL) {
        answer_block(call, result, hub_json_get(message, HUB_STR("error")));
    } else if (result.len > 0) {
        answer_result(call, result);
    } else {
        answer_error(call->exchange, hub_json_get(message, HUB_STR("error")));
    }
    call->is_over = true;
    if (!is_inside) {
        drop(call);
    }
}

/* Whoever asked has gone. */
static void on_gone(void *ctx)
{
    waiting_call *call = ctx;
    leave(call);
    hub_act_cancel(call->act);
    drop(call);
}

static void end(hub_api_pending *pending)
{
    waiting_call *call = (waiting_call *)pending;
    leave(call);
    hub_act_cancel(call->act);
    hub_api_fail(call->exchange, 503, "unavailable", "the hub is shutting down: try again");
    drop(call);
}

static const hub_web_waiter WAITER = {.on_gone = on_gone};

/* Begin `call`, which is taken; NULL: out of memory. */
static void begin_call(hub_api_asked *asked, hub_str name, hub_str arguments, waiting_call *call)
{
    const hub_act_as as = {
        .identity = asked->identity, .profile = asked->profile, .transport = "api"};
    hub_error why = {.code = HUB_OK};
    hub_buf params;
    hub_buf_init(&params, 6 * name.len + arguments.len + 64);
    hub_buf_add(&params, HUB_STR("\"name\":"));
    hub_json_add_string(&params, name);
    hub_buf_add(&params, HUB_STR(",\"arguments\":"));
    hub_buf_add(&params, arguments);
    if (call == NULL || !hub_buf_ok(&params)) {
        hub_api_fail(asked->exchange, 503, "unavailable", "out of memory");
        hub_buf_fini(&params);
        drop(call);
        return;
    }
    hub_api_pending **list = hub_api_pending_of(asked->api);
    call->pending.end = end;
    call->api = asked->api;
    call->exchange = asked->exchange;
    DL_APPEND(*list, &call->pending);
    hub_act *act = NULL;
    hub_err err = hub_act_begin(asked->hub, &as, call->unwraps ? HUB_ACT_OWN_TOOL : "tools/call",
                                hub_buf_str(&params), on_done, call, &act, &why);
    if (err != HUB_OK) {
        leave(call);
        hub_api_fail_with(asked->exchange, &why);
        drop(call);
    } else if (call->is_over) {
        drop(call);
    } else {
        call->act = act;
        hub_web_wait(asked->exchange, &WAITER, call);
    }
    hub_buf_fini(&params);
}

/* Call a tool as the caller, by the name that clients know; answers with its result. `arguments` is a
 * JSON object. */
static void call_tool(hub_api_asked *asked, hub_str name, hub_str arguments)
{
    begin_call(asked, name, arguments, calloc(1, sizeof(waiting_call)));
}

void hub_api_call_own(hub_api_asked *asked, const char *name, hub_str arguments)
{
    waiting_call *call = calloc(1, sizeof *call);
    if (call != NULL) {
        call->unwraps = true;
    }
    begin_call(asked, hub_str_of(name), arguments, call);
}

void hub_api_call_block(hub_api_asked *asked, hub_str name, hub_str arguments, bool is_anthropic,
                        hub_str block)
{
    waiting_call *call = calloc(1, sizeof *call);
    if (call != NULL) {
        call->is_anthropic = is_anthropic;
        call->block = hub_str_dup(block);
    }
    if (call != NULL && call->block == NULL) {
        drop(call);
        call = NULL;
    }
    begin_call(asked, name, arguments, call);
}

/* ---- POST /call ------------------------------------------------------------------------------ */

static void serve_call(hub_api_asked *asked)
{
    hub_str body = asked->request->body;
    hub_str arguments = hub_json_get(body, HUB_STR("arguments"));
    hub_buf name;
    hub_buf_init(&name, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (hub_json_decode(hub_json_get(body, HUB_STR("name")), &name) != HUB_OK) {
        hub_api_fail(asked->exchange, 400, "invalid_input",
                     "name must be a string: the name by which clients know the tool");
    } else if (arguments.len > 0 && hub_json_type_of(arguments) != HUB_JSON_OBJECT) {
        hub_api_fail(asked->exchange, 400, "invalid_input", "arguments must be an object");
    } else {
        call_tool(asked, hub_buf_str(&name), arguments.len > 0 ? arguments : HUB_STR("{}"));
    }
    hub_buf_fini(&name);
}

const hub_api_route HUB_API_CALL_ROUTES[] = {
    {.method = "POST",
     .path = "/call",
     .scope = HUB_API_CALLER,
     .summary = "Call a tool as the caller, under the rules that hold for it.",
     .body = "{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":"
             "\"string\"},\"arguments\":{\"type\":\"object\"}}}",
     .handle = serve_call},
    {.method = NULL},
};
