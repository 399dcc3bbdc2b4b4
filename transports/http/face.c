/* SPDX-License-Identifier: Apache-2.0 */
#include "http/face.h"

#include "http/challenge.h"
#include "http/face_table.h"
#include "http/routes.h"

#include <stdlib.h>

typedef struct face_request {
    hub_web_request base; /* first: a request of a face is this */
    const hub_http_task *task;
} face_request;

typedef struct face_exchange {
    hub_web_exchange base;           /* first: an exchange of a face is this */
    hub_http_connection *connection; /* NULL when it is answered */
    const hub_web_waiter *waiter;    /* NULL: it has not been left for later */
    void *ctx;
    bool inside; /* the row's function is at work */
} face_exchange;

/* ---- what is asked --------------------------------------------------------------------------- */

static bool find_header(const hub_web_request *base, hub_str name, hub_str *ret_value)
{
    const hub_http_request *request = ((const face_request *)base)->task->request;
    bool is_secret = hub_str_eq_nocase(name, HUB_STR("Authorization")) ||
                     hub_str_eq_nocase(name, HUB_STR("Proxy-Authorization")) ||
                     hub_str_eq_nocase(name, HUB_STR("Cookie"));
    const hub_http_header *header = is_secret ? NULL : hub_http_find_header(request, name, NULL);
    if (header != NULL) {
        *ret_value = header->value;
    }
    return header != NULL;
}

static const char *find_principal(const hub_web_request *base)
{
    return hub_http_routes_identify(((const face_request *)base)->task);
}

static bool add_header(const hub_web_request *base, hub_str name, hub_buf *value)
{
    return hub_http_add_value(((const face_request *)base)->task->request, name, value);
}

static hub_identity *find_identity(const hub_web_request *base)
{
    const hub_http_task *task = ((const face_request *)base)->task;
    return hub_http_routes_identify(task) != NULL ? task->connection->identity : NULL;
}

static const hub_web_request_ops REQUEST = {.find_header = find_header,
                                            .find_principal = find_principal,
                                            .add_header = add_header,
                                            .find_identity = find_identity};

/* ---- what is answered ------------------------------------------------------------------------ */

static hub_err answer_with(hub_web_exchange *base, const hub_web_answer *said)
{
    face_exchange *exchange = (face_exchange *)base;
    hub_http_header headers[HUB_WEB_ANSWER_HEADERS];
    hub_assert(exchange->connection != NULL && said->header_count <= HUB_WEB_ANSWER_HEADERS);
    for (size_t i = 0; i < said->header_count; i++) {
        headers[i] = (hub_http_header){said->headers[i].name, said->headers[i].value};
    }
    hub_http_connection *connection = exchange->connection;
    exchange->connection = NULL;
    hub_err err = hub_http_answer_whole(connection, &(hub_http_answer){
                                                        .status = said->status,
                                                        .headers = headers,
                                                        .header_count = said->header_count,
                                                        .type = said->type,
                                                        .parts = said->parts,
                                                        .count = said->count,
                                                    });
    if (!exchange->inside) {
        free(exchange);
    }
    return err;
}

static void on_gone(void *ctx)
{
    face_exchange *exchange = ctx;
    const hub_web_waiter *waiter = exchange->waiter;
    void *waiter_ctx = exchange->ctx;
    free(exchange);
    waiter->on_gone(waiter_ctx);
}

/* How long an answer may take is the face's to decide. */
static void on_quiet(void *ctx)
{
    const face_exchange *exchange = ctx;
    if (exchange->connection->streaming) {
        hub_http_answer_comment(exchange->connection);
    }
}

static const hub_http_responder RESPONDER = {.on_gone = on_gone, .on_quiet = on_quiet};

static void wait_for(hub_web_exchange *base, const hub_web_waiter *waiter, void *ctx)
{
    face_exchange *exchange = (face_exchange *)base;
    hub_assert(exchange->inside && exchange->connection != NULL && exchange->waiter == NULL);
    exchange->waiter = waiter;
    exchange->ctx = ctx;
    hub_http_connection_wait(exchange->connection, &RESPONDER, exchange);
}

static hub_err begin_session(const hub_web_exchange *base, hub_port *port,
                             hub_session **ret_session, hub_error *reterr)
{
    hub_http_connection *connection = ((const face_exchange *)base)->connection;
    hub_assert(connection != NULL && connection->identity != NULL);
    hub_client *client = hub_http_connection_client(connection, connection->identity);
    if (client == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    const hub_session_options options = {
        .transport = "http",
        .identity = connection->identity,
        .client = client,
        .is_one_request = true,
        .port = port,
        .listener = connection->server,
        .peer = hub_http_connection_peer(connection),
        .metadata = connection->metadata,
    };
    return hub_session_create(connection->server->hub, &options, ret_session, reterr);
}

static void add_challenge(const hub_web_exchange *base, const hub_outgoing *message, hub_buf *value)
{
    hub_http_challenge asked;
    hub_http_challenge_read(((const face_exchange *)base)->connection, message, &asked);
    if (asked.is_there) {
        hub_buf_add(value, asked.header.value);
    }
    hub_http_challenge_fini(&asked);
}

/* ---- streams --------------------------------------------------------------------------------- */

static hub_err begin_stream(hub_web_exchange *base)
{
    face_exchange *exchange = (face_exchange *)base;
    hub_assert(exchange->connection != NULL && exchange->waiter != NULL);
    return hub_http_answer_stream(exchange->connection, NULL, 0);
}

static void write_event(hub_buf *out, const hub_web_event *event)
{
    const hub_http_event written = {
        .name = event->name, .id = event->id, .parts = &event->data, .count = 1};
    hub_err err = hub_http_write_event(out, &written);
    out->failed = err != HUB_OK ? err : out->failed;
}

static hub_err send_written(hub_web_exchange *base, hub_str written)
{
    face_exchange *exchange = (face_exchange *)base;
    hub_assert(exchange->connection != NULL);
    return hub_http_answer_written(exchange->connection, written);
}

static size_t count_owed(const hub_web_exchange *base)
{
    const face_exchange *exchange = (const face_exchange *)base;
    return hub_link_queued(exchange->connection->link);
}

static void end_stream(hub_web_exchange *base)
{
    face_exchange *exchange = (face_exchange *)base;
    hub_assert(exchange->connection != NULL && !exchange->inside);
    hub_http_answer_end(exchange->connection);
    free(exchange);
}

static const hub_web_exchange_ops EXCHANGE = {
    .answer = answer_with,
    .wait = wait_for,
    .begin_session = begin_session,
    .add_challenge = add_challenge,
    .stream = begin_stream,
    .write_event = write_event,
    .send = send_written,
    .owed = count_owed,
    .end = end_stream,
};

void hub_http_face_serve(const hub_http_task *task)
{
    const hub_http_request *request = task->request;
    const hub_http_place *place = task->place;
    const hub_http_face_row *at = task->row;
    face_request asked = {
        .base = {.ops = &REQUEST,
                 .method = hub_str_of(at->row->method),
                 .path = request->path,
                 .rest = hub_str_from(request->path, place->path.len),
                 .host = request->host,
                 .is_secure = hub_http_connection_is_secure(task->connection),
                 .query = request->query,
                 .body = task->body},
        .task = task,
    };
    face_exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        hub_http_answer_refusal(task->connection, 503, (hub_http_header){0}, "out of memory");
        return;
    }
    exchange->base.ops = &EXCHANGE;
    exchange->connection = task->connection;
    exchange->inside = true;
    at->row->handle(at->instance, &asked.base, &exchange->base);
    exchange->inside = false;
    if (exchange->connection == NULL) {
        free(exchange);
    } else {
        hub_assert(exchange->waiter != NULL);
    }
}
