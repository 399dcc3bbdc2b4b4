/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What arrives from the server, told apart.
 * spec: MCP 2026-07-28 basic/transports/stdio (Receiving Messages), server/utilities/logging;
 * 2025-11-25 server/utilities/logging, basic/utilities/progress
 */
#include "upstream.h"

/* ---- notifications ------------------------------------------------------------------------- */

static void take_progress(mcp_server *server, const patchbay_message *message)
{
    if (message->progress_token_number != UINT64_MAX) {
        patchbay_call call = {.id = message->progress_token_number};
        (void)server->api->notify(server->host, call, message->params); /* late: dropped */
    }
}

/* A log message names no request. Over HTTP its stream does. Over pipes, if one call is being
 * worked on, it is about that one; if all of them are one session's, it is that one's. Otherwise
 * one of a legacy server is for the connection, so for all; a modern server logs for requests only,
 * and a guess could tell one client of another's. */
static void take_log(mcp_server *server, const patchbay_message *message, patchbay_call origin)
{
    static const patchbay_call SOME_CALL = {.id = PATCHBAY_SOME_CALL};
    const patchbay_client_v1 *client = server->client;
    patchbay_call call = origin;
    if (call.id == 0 && server->in_flight.count == 1) {
        call = server->in_flight.items[0].call;
    } else if (call.id == 0 && (server->in_flight.count > 1 || server->era == ERA_MODERN)) {
        call = SOME_CALL;
    }
    int32_t result = client->message(server->host, call, message->params);
    if (result == PATCHBAY_EINVAL) {
        upstream_log(server, PATCHBAY_LOG_DEBUG, "a log message without level or data was dropped");
    } else if (result == PATCHBAY_ESTATE && server->era == ERA_LEGACY) {
        (void)client->message(server->host, origin, message->params);
    } else if (result == PATCHBAY_ESTATE) {
        upstream_log(server, PATCHBAY_LOG_DEBUG,
                     "a log message was dropped: it may belong to any of several clients, or none");
    }
}

/* Something that a client was sent to by URL is done. */
static void take_elicited(mcp_server *server, const patchbay_message *message, patchbay_call origin)
{
    if (!PATCHBAY_HAS(patchbay_client_v1, server->client, elicitation_complete) ||
        server->client->elicitation_complete(server->host, origin, message->params) !=
            PATCHBAY_OK) {
        upstream_log(server, PATCHBAY_LOG_DEBUG,
                     "notifications/elicitation/complete was dropped: it is of no client");
    }
}

static void list_changed(mcp_server *server, const patchbay_message *message, uint32_t kind)
{
    int is_up = server->phase == PHASE_READY || server->phase == PHASE_LISTING;
    if (is_up && upstream_listen_hears(server, message->params)) {
        upstream_list_changed(server, kind);
    }
}

static void take_tools_changed(mcp_server *server, const patchbay_message *message)
{
    list_changed(server, message, PATCHBAY_TOOLS);
}

static void take_resources_changed(mcp_server *server, const patchbay_message *message)
{
    uint32_t connection = server->connection;
    list_changed(server, message, PATCHBAY_RESOURCES);
    if (server->connection == connection) {
        list_changed(server, message, PATCHBAY_RESOURCE_TEMPLATES);
    }
}

static void take_prompts_changed(mcp_server *server, const patchbay_message *message)
{
    list_changed(server, message, PATCHBAY_PROMPTS);
}

static void take_updated(mcp_server *server, const patchbay_message *message)
{
    patchbay_out uri = {0};
    if (upstream_listen_hears(server, message->params) &&
        patchbay_json_decode(patchbay_json_get(message->params, "uri"), &uri) && !uri.failed) {
        (void)server->catalog->updated(server->host, patchbay_str_make(uri.ptr, uri.len));
    }
    patchbay_out_free(&uri);
}

/* A modern server says it on listen streams, which do not ask for it. */
static void take_task(mcp_server *server, const patchbay_message *message)
{
    if (server->era == ERA_LEGACY &&
        PATCHBAY_HAS(patchbay_client_v1, server->client, task_changed)) {
        (void)server->client->task_changed(server->host, message->params); /* it is a courtesy */
    }
}

static void take_acknowledgement(mcp_server *server, const patchbay_message *message)
{
    patchbay_str name;
    patchbay_str id = patchbay_json_get(patchbay_json_get(message->params, "_meta"),
                                        "io.modelcontextprotocol/subscriptionId");
    upstream_listen_acknowledged(server, upstream_read_id(id, &name),
                                 patchbay_json_get(message->params, "notifications"));
}

/* A legacy server takes back a question; a modern one ends a listen stream. */
static void take_cancellation(mcp_server *server, const patchbay_message *message)
{
    patchbay_str name;
    patchbay_str id = patchbay_json_get(message->params, "requestId");
    if (server->era == ERA_MODERN) {
        upstream_listen_ended(server, upstream_read_id(id, &name), patchbay_str_make(NULL, 0));
    } else {
        upstream_ask_cancelled(server, id);
    }
}

static void take_notification(mcp_server *server, const patchbay_message *message,
                              patchbay_call origin)
{
    static const struct {
        const char *method;
        void (*take)(mcp_server *server, const patchbay_message *message);
    } TAKERS[] = {
        {"notifications/progress", take_progress},
        {"notifications/tools/list_changed", take_tools_changed},
        {"notifications/resources/list_changed", take_resources_changed},
        {"notifications/prompts/list_changed", take_prompts_changed},
        {"notifications/resources/updated", take_updated},
        {"notifications/tasks/status", take_task},
        {"notifications/subscriptions/acknowledged", take_acknowledgement},
        {"notifications/cancelled", take_cancellation},
    };
    if (patchbay_str_eq(message->method, patchbay_str_of("notifications/message"))) {
        take_log(server, message, origin);
        return;
    }
    if (patchbay_str_eq(message->method, patchbay_str_of("notifications/elicitation/complete"))) {
        take_elicited(server, message, origin);
        return;
    }
    for (size_t i = 0; i < sizeof TAKERS / sizeof TAKERS[0]; i++) {
        if (patchbay_str_eq(message->method, patchbay_str_of(TAKERS[i].method))) {
            TAKERS[i].take(server, message);
            return;
        }
    }
}

/* ---- answers to our requests --------------------------------------------------------------- */

uint32_t upstream_read_id(patchbay_str raw, patchbay_str *ret_name)
{
    int64_t number = 0;
    size_t dash = raw.len;
    while (dash > 0 && raw.ptr[dash - 1] != '-') {
        dash--;
    }
    if (dash < 2 || raw.ptr[0] != '"' ||
        !patchbay_json_int(patchbay_str_make(raw.ptr + dash, raw.len - dash - 1), &number) ||
        number <= 0 || number > UINT32_MAX) {
        return 0;
    }
    *ret_name = patchbay_str_make(raw.ptr + 1, dash - 2);
    return (uint32_t)number;
}

/* An id that was never sent. A call of that number fails, for its answer will not come; an error
 * without an id says that the server could not read something. */
static void take_foreign_answer(mcp_server *server, const patchbay_message *message)
{
    char why[UPSTREAM_REASON_BYTES];
    char words[UPSTREAM_QUOTE_BYTES];
    if (message->id.len > 0 && message->id.ptr[0] == '"') {
        upstream_quote(message->id, words, 64);
        (void)snprintf(why, sizeof why, "its id is the string %s, and not the number that was sent",
                       words);
        if (upstream_settle(server, message->id, why) != 0) {
            return;
        }
    }
    if (message->id.len == 0 || message->id.ptr[0] == 'n') {
        upstream_quote_error(message->error, words, sizeof words);
        (void)snprintf(why, sizeof why, "the server reports an error of no request: %s", words);
        upstream_log(server, PATCHBAY_LOG_WARNING, why);
        return;
    }
    upstream_stray(server, message->id);
}

static void take_own_answer(mcp_server *server, const patchbay_message *message)
{
    patchbay_str name = {.ptr = NULL};
    uint32_t number = upstream_read_id(message->id, &name);
    if (number == 0) {
        take_foreign_answer(server, message);
        return;
    }
    if (upstream_list_take(server, name, number, message)) {
        return;
    }
    if (patchbay_str_eq(name, patchbay_str_of("discover"))) {
        upstream_take_discovery(server, message);
    } else if (patchbay_str_eq(name, patchbay_str_of("initialize"))) {
        upstream_take_initialization(server, message);
    } else if (patchbay_str_eq(name, patchbay_str_of("listen"))) {
        upstream_listen_ended(server, number, message->error);
    } else if (patchbay_str_eq(name, patchbay_str_of("subscribe"))) {
        upstream_retold(server, number);
    } else if (patchbay_str_eq(name, patchbay_str_of(UPSTREAM_PULSE))) {
        server->pulse.has_answered = server->pulse.has_answered || server->pulse.questions == 1;
    }
    /* Nobody waits for the others: the level that a restarted server is told again. */
}

/* ---- what the channel reports -------------------------------------------------------------- */

void upstream_take(mcp_server *server, const patchbay_message *message, patchbay_call origin)
{
    server->pulse.is_heard = 1;
    switch (message->kind) {
    case PATCHBAY_MSG_REQUEST:
        if (server->era != ERA_MODERN) { /* a modern server has none */
            upstream_ask(server, message, origin);
        }
        break;
    case PATCHBAY_MSG_NOTIFICATION:
        take_notification(server, message, origin);
        break;
    default:
        if (message->id_number != UINT64_MAX) {
            upstream_answer(server, message);
        } else {
            take_own_answer(server, message);
        }
    }
}

/* The answer to a request of our own cannot be used. 0: that is an answer like any error. */
static int take_unusable(mcp_server *server, patchbay_str name, uint32_t number, const char *why)
{
    if (patchbay_str_eq(name, patchbay_str_of(UPSTREAM_PULSE))) {
        server->pulse.is_heard = 1; /* whatever it said: it lives */
        return 1;
    }
    if (patchbay_str_eq(name, patchbay_str_of("initialize"))) {
        if (server->phase == PHASE_INITIALIZING) {
            char text[UPSTREAM_REASON_BYTES];
            (void)snprintf(text, sizeof text,
                           "gave an answer to initialize that cannot be used: %s", why);
            upstream_fail(server, text);
        }
        return 1;
    }
    return upstream_list_refused(server, name, number, why);
}

void upstream_undelivered(mcp_server *server, patchbay_call call, patchbay_str id, int32_t status,
                          const char *why)
{
    enum { CODE_INTERNAL_ERROR = -32603 };
    if (call.id != 0) {
        upstream_fail_call(server, call, status, why);
        return;
    }
    patchbay_str name = {.ptr = NULL};
    uint32_t number = upstream_read_id(id, &name);
    if (status == PATCHBAY_FAILED && number != 0 && take_unusable(server, name, number, why)) {
        return;
    }
    if (number != 0 && patchbay_str_eq(name, patchbay_str_of(UPSTREAM_PULSE))) {
        char text[256];
        (void)snprintf(text, sizeof text, "cannot be reached: %s", why);
        upstream_fail(server, text);
        return;
    }
    patchbay_out error = {0};
    patchbay_out_printf(&error, "{\"code\":%d,\"message\":", CODE_INTERNAL_ERROR);
    patchbay_out_string(&error, patchbay_str_of(why));
    patchbay_out_text(&error, "}");
    patchbay_message message = {
        .struct_size = sizeof message,
        .kind = PATCHBAY_MSG_ERROR,
        .id_number = UINT64_MAX,
        .id = id,
        .error = error.failed ? patchbay_str_of("{}") : patchbay_str_make(error.ptr, error.len),
    };
    take_own_answer(server, &message);
    patchbay_out_free(&error);
}
