/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streamable HTTP of 2026-07-28: each POST is a conversation of its own. The answer is one JSON
 * object, unless something comes before it (progress, log messages, the acknowledgement of a
 * subscription) or it takes long: then it is an event stream. When the peer hangs up, the request
 * is cancelled.
 * spec: MCP 2026-07-28 basic/transports/streamable-http
 */
#include "http/mcp.h"

#include "http/modern.h"
#include "http/pass.h"

#include "http/challenge.h"

#include <stdlib.h>

typedef struct exchange {
    hub_port port; /* first: a port is its exchange */
    hub_deadline ended;
    hub_http_connection *connection; /* NULL when the answer is complete */
    hub_session *session;
    const hub_http_request *request; /* while the hub takes it, else NULL */
    bool inside; /* the hub is at work on the request and may not be re-entered */
} exchange;

/* The HTTP status of a JSON-RPC answer. Errors that say "this request cannot be served as it is"
 * have one by the specification (basic/index, _meta; streamable-http, Protocol Version Header and
 * Server Validation); others are results of the method, and 200. */
static int status_of(int code)
{
    switch (code) {
    case HUB_RPC_INSUFFICIENT_SCOPE:
        return 403;
    case HUB_RPC_METHOD_NOT_FOUND:
        return 404;
    case HUB_RPC_PARSE_ERROR:
    case HUB_RPC_INVALID_REQUEST:
    case HUB_RPC_INVALID_PARAMS:
    case HUB_RPC_HEADER_MISMATCH:
    case HUB_RPC_MISSING_CAPABILITY:
    case HUB_RPC_UNSUPPORTED_VERSION:
        return 400;
    case HUB_RPC_OVERLOADED:
        return 429;
    default:
        return 200;
    }
}

static void destroy(exchange *this)
{
    hub_deadline_stop(&this->ended);
    hub_session_close(this->session);
    free(this);
}

static hub_err send_event(exchange *this, const hub_outgoing *message)
{
    hub_http_connection *connection = this->connection;
    hub_err err = HUB_OK;
    if (!connection->streaming) {
        err = hub_http_answer_stream(connection, NULL, 0);
    }
    if (err == HUB_OK) {
        hub_http_event event = {.parts = message->parts, .count = message->count};
        err = hub_http_answer_event(connection, &event);
    }
    return err;
}

static hub_err send_message(hub_port *port, const hub_outgoing *message)
{
    exchange *this = (exchange *)port;
    hub_http_connection *connection = this->connection;
    hub_err err;
    if (connection == NULL) {
        return HUB_ESTATE;
    }
    if (!message->last) {
        return send_event(this, message);
    }
    if (connection->streaming) {
        err = send_event(this, message);
        hub_http_answer_end(connection);
    } else {
        hub_http_retry_text text;
        hub_http_challenge asked;
        hub_http_header headers[2];
        size_t header_count = 0;
        hub_http_challenge_read(connection, message, &asked);
        if (message->retry_s > 0) {
            headers[header_count++] = hub_http_retry_after(message->retry_s, &text);
        }
        if (asked.is_there) {
            headers[header_count++] = asked.header;
        }
        err = hub_http_answer_whole(connection, &(hub_http_answer){
                                                    .status = status_of(message->code),
                                                    .headers = headers,
                                                    .header_count = header_count,
                                                    .type = HUB_HTTP_JSON,
                                                    .parts = message->parts,
                                                    .count = message->count,
                                                });
        hub_http_challenge_fini(&asked);
    }
    this->connection = NULL;
    if (!this->inside) {
        hub_http_server *server = connection->server;
        hub_deadline_start(&server->ended_exchanges, &this->ended, 0);
        hub_http_server_soon(server);
    }
    return err;
}

/* The peer has hung up: that is how a request is cancelled (Cancellation). */
static void on_gone(void *ctx)
{
    destroy(ctx);
}

static void on_quiet(void *ctx)
{
    exchange *this = ctx;
    if (hub_http_answer_stream(this->connection, NULL, 0) == HUB_OK) {
        hub_http_answer_comment(this->connection);
    }
}

static bool add_header(hub_port *port, hub_str name, hub_buf *value)
{
    const exchange *this = (const exchange *)port;
    return this->request != NULL && hub_http_add_value(this->request, name, value);
}

static const hub_port_ops PORT = {.send = send_message, .add_header = add_header};
static const hub_http_responder RESPONDER = {.on_gone = on_gone, .on_quiet = on_quiet};

void hub_http_modern_reap(hub_http_server *server)
{
    hub_deadline *next;
    for (hub_deadline *at = server->ended_exchanges.first; at != NULL; at = next) {
        next = at->next; /* those that end meanwhile have their turn later */
        destroy(HUB_DEADLINE_OF(at, exchange, ended));
    }
}

hub_client *hub_http_connection_client(hub_http_connection *connection,
                                       const hub_identity *identity)
{
    const char *peer = hub_http_connection_peer(connection);
    if (connection->client != NULL && !hub_client_is_of(connection->client, identity->name, peer)) {
        hub_client_leave(
            connection->client); /* another token than before, or another client of a proxy */
        connection->client = NULL;
    }
    if (connection->client == NULL) {
        connection->client = hub_client_join(connection->server->hub, identity->name, peer);
    }
    return connection->client;
}

static void serve_request(const hub_http_task *task, const hub_message *message)
{
    hub_error why = {.code = HUB_OK};
    exchange *this = calloc(1, sizeof *this);
    if (this == NULL) {
        hub_http_answer_last(task->connection, 503, "out of memory");
        return;
    }
    this->port.ops = &PORT;
    this->connection = task->connection;
    hub_client *client = hub_http_connection_client(task->connection, task->identity);
    if (client == NULL) {
        free(this);
        hub_http_answer_last(task->connection, 503, "out of memory");
        return;
    }
    this->session = hub_http_task_begin_session(task, "http", client, &this->port);
    if (this->session == NULL) {
        free(this);
        return;
    }
    hub_err err = hub_http_check_headers(task->request, this->session, message, &why);
    if (err != HUB_OK) {
        int code = err == HUB_EINVAL ? HUB_RPC_HEADER_MISMATCH : HUB_RPC_INTERNAL_ERROR;
        hub_http_answer_error(task->connection, err == HUB_EINVAL ? 400 : 500,
                              message->at[HUB_M_ID], code, hub_str_of(why.text), HUB_STR_EMPTY);
        destroy(this);
        return;
    }
    this->inside = true;
    this->request = task->request;
    hub_http_connection_wait(task->connection, &RESPONDER, this);
    hub_session_take(this->session, &this->port, message);
    this->request = NULL;
    this->inside = false;
    if (this->connection == NULL) {
        destroy(this);
    }
}

void hub_http_modern_post(const hub_http_task *task, const hub_message *message)
{
    switch (message->kind) {
    case HUB_MESSAGE_REQUEST:
        if (!hub_http_pass_message(task, message)) {
            serve_request(task, message);
        }
        break;
    case HUB_MESSAGE_NOTIFICATION: /* without a session there is nobody to tell */
        hub_http_answer_status(task->connection, 202);
        break;
    default:
        hub_http_answer_error(task->connection, 400, message->at[HUB_M_ID], HUB_RPC_INVALID_REQUEST,
                              HUB_STR("The body must be one request or notification"),
                              HUB_STR_EMPTY);
    }
}
