/* SPDX-License-Identifier: Apache-2.0 */
#include "web/conversation/conversation.h"

#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "wire/json.h"
#include "wire/own_request.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>

#define JSON "application/json"

struct hub_web_conversation {
    hub_port port; /* first: a port is its conversation */
    ev_timer soon; /* never started, only fed: an answer is complete */
    hub_orchestrator *hub;
    hub_web_exchange *exchange;
    hub_session *session; /* of one message; NULL only while the next one cannot begin */
    bool has_asked;       /* it has had its message */
    void (*drop)(void *ctx);
    void *ctx;
    hub_buf forwarded; /* headers of the request: hub_forwarded_add */
    hub_buf answer;    /* the last message, while it is looked at */
    int code;
    uint32_t retry_s;
    hub_web_on_heard *on_heard;
    hub_web_on_tools *on_tools;
    hub_buf tools; /* of the pages so far */
};

/* ---- beginning and end ----------------------------------------------------------------------- */

static void destroy(hub_web_conversation *talk)
{
    ev_clear_pending(hub_loop(talk->hub), &talk->soon);
    hub_session_close(talk->session);
    talk->drop(talk->ctx);
    hub_buf_fini(&talk->forwarded);
    hub_buf_fini(&talk->answer);
    hub_buf_fini(&talk->tools);
    free(talk);
}

static void on_gone(void *ctx)
{
    destroy(ctx);
}

static const hub_web_waiter WAITER = {.on_gone = on_gone};

/* Take a message for the client. Only the answer counts: who speaks this way has nobody to tell of
 * progress. */
static hub_err take(hub_port *port, const hub_outgoing *message)
{
    hub_web_conversation *talk = (hub_web_conversation *)port;
    if (!message->last) {
        return HUB_OK;
    }
    hub_buf_clear(&talk->answer);
    for (size_t i = 0; i < message->count; i++) {
        hub_buf_add(&talk->answer, message->parts[i]);
    }
    talk->code = message->code;
    talk->retry_s = message->retry_s;
    ev_feed_event(hub_loop(talk->hub), &talk->soon, EV_CUSTOM);
    return HUB_OK; /* that it is too long is said when it is looked at */
}

static bool add_header(hub_port *port, hub_str name, hub_buf *value)
{
    const hub_web_conversation *talk = (const hub_web_conversation *)port;
    hub_str found;
    bool is_there = hub_forwarded_find(hub_buf_str(&talk->forwarded), name, &found);
    if (is_there) {
        hub_buf_add(value, found);
    }
    return is_there;
}

static const hub_port_ops PORT = {.send = take, .add_header = add_header};

static void collect_headers(hub_web_conversation *talk, const hub_web_request *request)
{
    const hub_names *names = hub_forwarded_names(talk->hub);
    hub_buf value;
    hub_buf_init(&value, SIZE_MAX / 4);
    for (size_t i = 0; i < names->count; i++) {
        hub_buf_clear(&value);
        if (hub_web_add_forwarded(request, hub_str_of(names->items[i]), &value)) {
            talk->forwarded.failed = hub_buf_ok(&value) ? talk->forwarded.failed : value.failed;
            hub_forwarded_add(&talk->forwarded, hub_str_of(names->items[i]), hub_buf_str(&value));
        }
    }
    hub_buf_fini(&value);
}

void hub_web_refuse(hub_web_exchange *exchange, int status, const char *text)
{
    hub_buf body;
    hub_buf_init(&body, SIZE_MAX / 4);
    hub_buf_add(&body, HUB_STR("{\"error\":{\"message\":"));
    hub_json_add_string(&body, hub_str_of(text));
    hub_buf_add(&body, HUB_STR("}}"));
    hub_str part = hub_buf_str(&body);
    (void)hub_web_answer_with(/* whoever asks will ask again */
                              exchange,
                              &(hub_web_answer){.status = hub_buf_ok(&body) ? status : 503,
                                                .type = JSON,
                                                .parts = &part,
                                                .count = hub_buf_ok(&body)});
    hub_buf_fini(&body);
}

static void fail(hub_web_conversation *talk, int status, const char *text)
{
    hub_web_refuse(talk->exchange, status, text);
    destroy(talk);
}

static int status_of_begin(hub_err err)
{
    return err == HUB_ENOTFOUND ? 404 : 503;
}

static void on_soon(struct ev_loop *loop, ev_timer *timer, int events);

hub_web_conversation *hub_web_conversation_create(hub_orchestrator *hub,
                                                  const hub_web_request *request,
                                                  hub_web_exchange *exchange, void (*drop)(void *),
                                                  void *ctx)
{
    hub_error why = {.text = "out of memory"};
    hub_web_conversation *talk = calloc(1, sizeof *talk);
    if (talk == NULL) {
        hub_web_refuse(exchange, 503, why.text);
        drop(ctx);
        return NULL;
    }
    talk->port.ops = &PORT;
    talk->hub = hub;
    talk->exchange = exchange;
    talk->drop = drop;
    talk->ctx = ctx;
    ev_init(&talk->soon, on_soon);
    talk->soon.data = talk;
    hub_buf_init(&talk->forwarded, SIZE_MAX / 4);
    hub_buf_init(&talk->answer, 2 * HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_init(&talk->tools, HUB_LIMIT_WEB_TOOLS_BYTES);
    collect_headers(talk, request);
    hub_err err = hub_buf_ok(&talk->forwarded)
                      ? hub_web_begin_session(exchange, &talk->port, &talk->session, &why)
                      : HUB_ENOMEM;
    if (err != HUB_OK) {
        fail(talk, status_of_begin(err), why.text);
        return NULL;
    }
    hub_web_wait(exchange, &WAITER, talk);
    return talk;
}

const hub_session *hub_web_conversation_session(const hub_web_conversation *talk)
{
    return talk->session;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void read_answer(const hub_web_conversation *talk, hub_web_heard *ret_heard)
{
    hub_str text = hub_str_trim(hub_buf_str(&talk->answer));
    *ret_heard = (hub_web_heard){.result = hub_json_get(text, HUB_STR("result")),
                                 .error = hub_json_get(text, HUB_STR("error")),
                                 .code = talk->code,
                                 .retry_s = talk->retry_s};
}

static void on_soon(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_web_conversation *talk = timer->data;
    hub_web_heard heard;
    (void)loop;
    (void)events;
    if (!hub_buf_ok(&talk->answer)) {
        fail(talk, 503,
             talk->answer.failed == HUB_ELIMIT ? "the answer is too large" : "out of memory");
        return;
    }
    read_answer(talk, &heard);
    talk->on_heard(talk, talk->ctx, &heard);
}

/* Each message has a session of its own, as in MCP over HTTP. */
static bool take_session(hub_web_conversation *talk)
{
    hub_error why = {.text = "out of memory"};
    if (talk->has_asked) {
        hub_session_close(talk->session);
        talk->session = NULL;
        hub_err err = hub_web_begin_session(talk->exchange, &talk->port, &talk->session, &why);
        if (err != HUB_OK) {
            fail(talk, status_of_begin(err), why.text);
            return false;
        }
    }
    talk->has_asked = true;
    return true;
}

void hub_web_ask(hub_web_conversation *talk, const char *method, hub_str params,
                 hub_web_on_heard *on_heard)
{
    hub_buf message;
    if (!take_session(talk)) {
        return;
    }
    hub_buf_init(&message, SIZE_MAX / 4);
    hub_own_request_add(&message, 1, method, params, "patchbay-rest");
    talk->on_heard = on_heard;
    if (hub_buf_ok(&message)) {
        hub_session_receive(talk->session, &talk->port, hub_buf_str(&message));
    } else {
        fail(talk, 503, "out of memory");
    }
    hub_buf_fini(&message);
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void on_page(hub_web_conversation *talk, void *ctx, const hub_web_heard *heard)
{
    hub_str tools = hub_json_get(heard->result, HUB_STR("tools"));
    hub_str cursor = hub_json_get(heard->result, HUB_STR("nextCursor"));
    hub_buf params;
    if (heard->result.len == 0) {
        hub_web_conversation_refuse(talk, heard, 0);
        return;
    }
    if (tools.len > 2) {
        hub_json_add_comma(&talk->tools);
        hub_buf_add(&talk->tools, (hub_str){.ptr = tools.ptr + 1, .len = tools.len - 2});
    }
    if (cursor.len == 0) {
        hub_buf_add_char(&talk->tools, ']');
    }
    if (!hub_buf_ok(&talk->tools)) {
        fail(talk, 503,
             talk->tools.failed == HUB_ELIMIT
                 ? "there are too many tools for one document: choose fewer with a "
                   "profile or a saved toolset"
                 : "out of memory");
        return;
    }
    if (cursor.len == 0) {
        talk->on_tools(talk, ctx, hub_buf_str(&talk->tools));
        return;
    }
    hub_buf_init(&params, SIZE_MAX / 4);
    hub_buf_add(&params, HUB_STR("\"cursor\":"));
    hub_buf_add(&params, cursor);
    if (hub_buf_ok(&params)) {
        hub_web_ask(talk, "tools/list", hub_buf_str(&params), on_page);
    } else {
        fail(talk, 503, "out of memory");
    }
    hub_buf_fini(&params);
}

void hub_web_ask_tools(hub_web_conversation *talk, hub_web_on_tools *on_tools)
{
    talk->on_tools = on_tools;
    hub_buf_clear(&talk->tools);
    hub_buf_add_char(&talk->tools, '[');
    hub_web_ask(talk, "tools/list", HUB_STR_EMPTY, on_page);
}

/* ---- answering ------------------------------------------------------------------------------- */

void hub_web_conversation_answer(hub_web_conversation *talk, const hub_web_answer *answer)
{
    (void)hub_web_answer_with(talk->exchange, answer); /* whoever asks will ask again */
    destroy(talk);
}

/* Codes that the hub has not made are those of a server behind it. */
static int status_of(int code)
{
    switch (code) {
    case HUB_RPC_PARSE_ERROR:
    case HUB_RPC_INVALID_REQUEST:
    case HUB_RPC_INVALID_PARAMS:
    case HUB_RPC_MISSING_CAPABILITY:
        return 400;
    case HUB_RPC_INSUFFICIENT_SCOPE:
    case HUB_RPC_NOT_CONFIRMED:
        return 403;
    case HUB_RPC_OVERLOADED:
        return 429;
    case HUB_RPC_INTERNAL_ERROR:
        return 500;
    case HUB_RPC_UNAVAILABLE:
    case HUB_RPC_SHUTTING_DOWN:
        return 503;
    default:
        return 502;
    }
}

void hub_web_conversation_refuse(hub_web_conversation *talk, const hub_web_heard *heard, int status)
{
    const hub_str whole = hub_buf_str(&talk->answer);
    const hub_outgoing message = {
        .parts = &whole, .count = 1, .last = true, .code = heard->code, .retry_s = heard->retry_s};
    const hub_str parts[] = {HUB_STR("{\"error\":"), heard->error, HUB_STR("}")};
    hub_web_header headers[2];
    size_t count = 0;
    char seconds[16];
    hub_buf challenge;
    hub_buf_init(&challenge, SIZE_MAX / 4);
    hub_web_add_challenge(talk->exchange, &message, &challenge);
    if (challenge.len > 0 && hub_buf_ok(&challenge)) {
        headers[count++] = (hub_web_header){HUB_STR("WWW-Authenticate"), hub_buf_str(&challenge)};
    }
    if (heard->retry_s > 0) {
        (void)snprintf(seconds, sizeof seconds, "%u", (unsigned)heard->retry_s);
        headers[count++] = (hub_web_header){HUB_STR("Retry-After"), hub_str_of(seconds)};
    }
    (void)hub_web_answer_with(/* whoever asks will ask again */
                              talk->exchange,
                              &(hub_web_answer){.status =
                                                    status != 0 ? status : status_of(heard->code),
                                                .type = JSON,
                                                .headers = headers,
                                                .header_count = count,
                                                .parts = parts,
                                                .count = 3});
    hub_buf_fini(&challenge);
    destroy(talk);
}
