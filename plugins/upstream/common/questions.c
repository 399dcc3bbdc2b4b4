/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a legacy server asks of clients: sampling, elicitation, roots. It does not say for which
 * call, unless it asks on the stream of one (HTTP); so the hub finds the client, if it is a single
 * one whose calls the server is working on. Roots may be asked for without any call: servers do so
 * when they have begun, and when they hear that the roots have changed.
 * Its answer goes back under the server's id, byte for byte. A modern server asks in its results
 * (`input_required`) and never comes here.
 * spec: MCP 2025-11-25 client/sampling, client/elicitation, client/roots, basic/utilities/ping,
 * basic/utilities/cancellation
 */
#include "upstream.h"

enum {
    CODE_METHOD_NOT_FOUND = -32601,
    CODE_INVALID_PARAMS = -32602,
    CODE_INTERNAL_ERROR = -32603,
};

static const patchbay_call ANY_CALL = {.id = 0};
static const patchbay_call NO_CALL = {.id = PATCHBAY_NO_CALL};

struct server_question {
    mcp_server *server;
    server_question *next;
    uint32_t connection; /* that it came on: the next one knows nothing of it */
    uint32_t number;     /* what its key is made of */
    int is_unwanted;     /* the server took it back */
    size_t id_len;
    char id[]; /* raw */
};

static void respond(mcp_server *server, patchbay_call call, patchbay_str id, const char *member,
                    patchbay_str json)
{
    patchbay_str parts[] = {
        patchbay_str_of("{\"jsonrpc\":\"2.0\",\"id\":"),
        id,
        patchbay_str_of(",\""),
        patchbay_str_of(member),
        patchbay_str_of("\":"),
        json,
        patchbay_str_of("}"),
    };
    int is_result = strcmp(member, "result") == 0;
    upstream_outgoing message = {
        .parts = parts,
        .part_count = sizeof parts / sizeof parts[0],
        .kind = is_result ? PATCHBAY_MSG_RESULT : PATCHBAY_MSG_ERROR,
        .call = call,
    };
    upstream_send(server, &message);
}

static void refuse_with(mcp_server *server, patchbay_call call, patchbay_str id, int32_t code,
                        patchbay_str text)
{
    patchbay_out error = {0};
    patchbay_out_printf(&error, "{\"code\":%d,\"message\":", (int)code);
    patchbay_out_string(&error, text);
    patchbay_out_text(&error, "}");
    if (!error.failed) {
        respond(server, call, id, "error", patchbay_str_make(error.ptr, error.len));
    }
    patchbay_out_free(&error);
}

static void take_out(server_question *question)
{
    server_question **link = &question->server->questions;
    while (*link != question) {
        link = &(*link)->next;
    }
    *link = question->next;
}

static void on_answer(void *arg, patchbay_call call, int32_t status, patchbay_str json)
{
    server_question *question = arg;
    mcp_server *server = question->server;
    patchbay_str id = patchbay_str_make(question->id, question->id_len);
    take_out(question);
    if (!question->is_unwanted && question->connection == server->connection) {
        if (status == PATCHBAY_ANSWERED) {
            respond(server, call, id, "result", json);
        } else if (status == PATCHBAY_REFUSED) {
            respond(server, call, id, "error", json);
        } else {
            refuse_with(server, call, id, CODE_INTERNAL_ERROR, json);
        }
    }
    free(question);
}

/* The key of a question: no other one of this instance has it. */
static patchbay_str key_of(const server_question *question, char *text, size_t size)
{
    int len = snprintf(text, size, "ask-%u", (unsigned)question->number);
    return patchbay_str_make(text, (size_t)len);
}

static server_question *make_question(mcp_server *server, patchbay_str id)
{
    server_question *question = calloc(1, sizeof *question + id.len);
    if (question != NULL) {
        question->server = server;
        question->connection = server->connection;
        question->number = ++server->last_question;
        question->id_len = id.len;
        memcpy(question->id, id.ptr, id.len);
        question->next = server->questions;
        server->questions = question;
    }
    return question;
}

static void refuse_question(mcp_server *server, patchbay_call origin, patchbay_str id,
                            int32_t result)
{
    int32_t code = CODE_INTERNAL_ERROR;
    const char *text = "the client could not be asked";
    switch (result) {
    case PATCHBAY_EINVAL:
        code = CODE_INVALID_PARAMS;
        text = "the params are not what the method asks for";
        break;
    case PATCHBAY_ESTATE:
    case PATCHBAY_ESTALE:
        code = CODE_METHOD_NOT_FOUND;
        text = "there is no single client to ask: none has a call here, several have, or the one "
               "that has does not offer this";
        break;
    case PATCHBAY_ELIMIT:
        text = "too many questions are open: wait for their answers";
        break;
    default:
        break;
    }
    refuse_with(server, origin, id, code, patchbay_str_of(text));
}

static void ask(mcp_server *server, const patchbay_message *message, patchbay_call origin)
{
    server_question *question = make_question(server, message->id);
    if (question == NULL) {
        refuse_question(server, origin, message->id, PATCHBAY_ENOMEM);
        return;
    }
    char key[24];
    patchbay_question asked = {
        .struct_size = sizeof asked,
        .key = key_of(question, key, sizeof key),
        .method = message->method,
        .params_json = message->params,
        .on_answer = on_answer,
        .arg = question,
    };
    int32_t result = server->client->ask(server->host, origin, &asked);
    if (result != PATCHBAY_OK) {
        take_out(question);
        free(question);
        refuse_question(server, origin, message->id, result);
    }
}

void upstream_ask(mcp_server *server, const patchbay_message *message, patchbay_call origin)
{
    static const char *const QUESTIONS[] = {"sampling/createMessage", "elicitation/create",
                                            "roots/list"};
    if (patchbay_str_eq(message->method, patchbay_str_of("ping"))) {
        respond(server, origin, message->id, "result", patchbay_str_of("{}"));
        return;
    }
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof QUESTIONS[0]; i++) {
        if (patchbay_str_eq(message->method, patchbay_str_of(QUESTIONS[i]))) {
            /* Without a call that was sent, nobody is the cause. */
            ask(server, message, server->in_flight.count > 0 ? origin : NO_CALL);
            return;
        }
    }
    refuse_with(server, origin, message->id, CODE_METHOD_NOT_FOUND,
                patchbay_str_of("there is no such method"));
}

void upstream_refuse(mcp_server *server, patchbay_str id, int32_t code, const char *why)
{
    refuse_with(server, ANY_CALL, id, code, patchbay_str_of(why));
}

void upstream_ask_cancelled(mcp_server *server, patchbay_str id)
{
    for (server_question *at = server->questions; at != NULL; at = at->next) {
        if (at->connection == server->connection &&
            patchbay_str_eq(patchbay_str_make(at->id, at->id_len), id)) {
            char key[24];
            at->is_unwanted = 1;
            if (PATCHBAY_HAS(patchbay_client_v1, server->client, withdraw)) {
                (void)server->client->withdraw(server->host, ANY_CALL,
                                               key_of(at, key, sizeof key)); /* or it is answered */
            }
            return;
        }
    }
}

void upstream_roots_changed(mcp_server *server, patchbay_call call, const patchbay_request *request)
{
    (void)request;
    if (server->phase == PHASE_READY && server->era == ERA_LEGACY) {
        patchbay_str changed = patchbay_str_of(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}");
        upstream_outgoing notification = {
            .parts = &changed,
            .part_count = 1,
            .kind = PATCHBAY_MSG_NOTIFICATION,
            .method = patchbay_str_of("notifications/roots/list_changed"),
        };
        upstream_send(server, &notification);
    }
    upstream_finish_text(server, call, PATCHBAY_RESULT, "{}"); /* the next process asks anew */
}
