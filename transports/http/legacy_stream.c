/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "http/challenge.h"
#include "http/legacy.h"

#include <stdlib.h>

/* Whether clients of the session know how to come back for the rest of a POST's stream: 2025-11-25
 * has priming events and `retry` (Sending Messages to the Server, 6). */
static bool can_poll(const hub_http_session *session)
{
    return !session->is_sse_2024 && hub_session_revision(session->hub) >= HUB_REVISION_2025_11_25;
}

static bool is_own(const hub_http_stream *stream)
{
    return stream == &stream->session->own;
}

static void leave_connection(hub_http_stream *stream)
{
    hub_http_session *session = stream->session;
    stream->connection = NULL;
    if (is_own(stream)) {
        hub_session_table_unuse(session->server->sessions, &session->entry, hub_clock_coarse_ms());
    }
}

/* ---- its life -------------------------------------------------------------------------------- */

static void on_gone(void *ctx)
{
    hub_http_stream *stream = ctx;
    if (stream->session->is_sse_2024) { /* the stream was the session */
        stream->connection = NULL;
        hub_http_session_destroy(stream->session);
    } else {
        leave_connection(stream);
    }
}

static hub_err begin_events(hub_http_stream *stream, uint64_t after);

static void on_quiet(void *ctx)
{
    hub_http_stream *stream = ctx;
    if (begin_events(stream, stream->sequence) == HUB_OK) {
        hub_http_answer_comment(stream->connection);
    }
}

static const hub_http_responder RESPONDER = {.on_gone = on_gone, .on_quiet = on_quiet};

hub_http_stream *hub_http_stream_create(hub_http_session *session, hub_http_connection *connection,
                                        hub_str ids, size_t pending)
{
    hub_http_stream *stream = malloc(sizeof *stream + ids.len);
    if (stream == NULL) {
        return NULL;
    }
    *stream = (hub_http_stream){.ids = {.ptr = (char *)(stream + 1), .len = ids.len}};
    memcpy(stream + 1, ids.ptr, ids.len);
    stream->port.ops = &HUB_HTTP_STREAM_PORT;
    stream->session = session;
    stream->connection = connection;
    stream->number = ++session->last_number;
    stream->pending = pending;
    hub_buf_init(&stream->answers, session->server->settings->limits.client_queue_bytes);
    stream->next = session->streams;
    if (stream->next != NULL) {
        stream->next->prev = stream;
    }
    session->streams = stream;
    hub_session_table_use(session->server->sessions, &session->entry);
    hub_http_connection_wait(connection, &RESPONDER, stream);
    return stream;
}

void hub_http_stream_destroy(hub_http_stream *stream)
{
    hub_http_session *session = stream->session;
    if (stream->prev != NULL) {
        stream->prev->next = stream->next;
    } else {
        session->streams = stream->next;
    }
    if (stream->next != NULL) {
        stream->next->prev = stream->prev;
    }
    hub_deadline_stop(&stream->ended);
    hub_session_table_unuse(session->server->sessions, &session->entry, hub_clock_coarse_ms());
    hub_buf_fini(&stream->answers);
    free(stream);
}

void hub_http_streams_reap(hub_http_server *server)
{
    hub_deadline *next;
    for (hub_deadline *at = server->ended_streams.first; at != NULL; at = next) {
        next = at->next;
        hub_http_stream_destroy(HUB_DEADLINE_OF(at, hub_http_stream, ended));
    }
}

/* All has been said: the stream goes when the hub is out of it. */
static void finish(hub_http_stream *stream)
{
    hub_http_server *server = stream->session->server;
    stream->done = true;
    stream->connection = NULL;
    if (!stream->inside) {
        hub_deadline_start(&server->ended_streams, &stream->ended, 0);
        hub_http_server_soon(server);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The response becomes an event stream; what follows has an id behind `after`. */
static hub_err begin_events(hub_http_stream *stream, uint64_t after)
{
    hub_http_session *session = stream->session;
    const hub_http_header id = {HUB_STR("Mcp-Session-Id"), hub_str_of(session->entry.id)};
    hub_err err = hub_http_answer_stream(stream->connection, &id, stream->initializes ? 1 : 0);
    if (err == HUB_OK && can_poll(session)) {
        char text[HUB_EVENT_ID_BYTES];
        hub_http_event priming = {
            .id = hub_event_id_write((hub_event_id){stream->number, after}, text),
            .retry_ms = HUB_HTTP_RETRY_MS};
        stream->has_ids = true;
        err = hub_http_answer_event(stream->connection, &priming);
    }
    return err;
}

static hub_err write_event(hub_http_stream *stream, uint64_t sequence, const hub_str *parts,
                           size_t count)
{
    char text[HUB_EVENT_ID_BYTES];
    hub_http_event event = {.parts = parts, .count = count};
    if (stream->session->is_sse_2024) {
        event.name = HUB_STR("message");
    } else {
        event.id = hub_event_id_write((hub_event_id){stream->number, sequence}, text);
        stream->has_ids = true;
    }
    hub_err err = hub_http_answer_event(stream->connection, &event);
    if (err == HUB_OK) {
        stream->delivered = sequence;
    }
    return err;
}

static hub_err send_event(hub_http_stream *stream, const hub_str *parts, size_t count)
{
    hub_http_session *session = stream->session;
    hub_err err = HUB_OK;
    if (stream->connection == NULL && !stream->has_ids && !is_own(stream)) {
        return HUB_ESTATE; /* nobody could ever ask for it */
    }
    if (stream->connection != NULL && !stream->connection->streaming) {
        err = begin_events(stream, stream->sequence);
    }
    stream->sequence++;
    if (!session->is_sse_2024) {
        hub_event_id id = {.stream = stream->number, .sequence = stream->sequence};
        hub_replay_add(&session->replay, id, parts, count);
    }
    if (err == HUB_OK && stream->connection != NULL) {
        err = write_event(stream, stream->sequence, parts, count);
    }
    return err;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Answer with a refusal for want of scopes, which has a status of its own. */
static hub_err answer_challenge(hub_http_stream *stream, const hub_outgoing *message)
{
    hub_http_challenge asked;
    hub_http_challenge_read(stream->connection, message, &asked);
    hub_err err = hub_http_answer_whole(stream->connection, &(hub_http_answer){
                                                                .status = 403,
                                                                .headers = &asked.header,
                                                                .header_count = asked.is_there,
                                                                .type = HUB_HTTP_JSON,
                                                                .parts = message->parts,
                                                                .count = message->count,
                                                            });
    hub_http_challenge_fini(&asked);
    return err;
}

/* The status stays 200 when a limit was exceeded: clients of these revisions take any other for the
 * end of the session, or of the connection, and not for the answer to one request. */
static hub_err answer_json(hub_http_stream *stream, const hub_str *parts, size_t count)
{
    hub_http_session *session = stream->session;
    bool begins = stream->initializes && hub_session_revision(session->hub) != HUB_REVISION_NONE;
    hub_http_header headers[2];
    size_t header_count = 0;
    hub_http_retry_text text;
    if (begins) {
        headers[header_count++] =
            (hub_http_header){HUB_STR("Mcp-Session-Id"), hub_str_of(session->entry.id)};
    }
    if (stream->retry_s > 0) {
        headers[header_count++] = hub_http_retry_after(stream->retry_s, &text);
    }
    return hub_http_answer_whole(stream->connection, &(hub_http_answer){
                                                         .status = 200,
                                                         .headers = headers,
                                                         .header_count = header_count,
                                                         .type = HUB_HTTP_JSON,
                                                         .parts = parts,
                                                         .count = count,
                                                     });
}

/* The collected answers of a batch, as one array. */
static hub_err send_collected(hub_http_stream *stream)
{
    hub_str parts[] = {HUB_STR("["), hub_buf_str(&stream->answers), HUB_STR("]")};
    hub_err err = hub_buf_ok(&stream->answers) ? HUB_OK : HUB_ENOMEM;
    if (err == HUB_OK && stream->connection != NULL && !stream->connection->streaming) {
        return answer_json(stream, parts, 3);
    }
    if (err == HUB_OK) {
        err = send_event(stream, parts, 3);
    }
    if (stream->connection != NULL && stream->connection->streaming) {
        hub_http_answer_end(stream->connection);
    } else if (stream->connection != NULL) {
        hub_http_answer_last(stream->connection, 503,
                             "The answers are too large for one response.");
    }
    return err;
}

static hub_err collect(hub_http_stream *stream, const hub_outgoing *message)
{
    if (stream->answers.len > 0) {
        hub_buf_add_char(&stream->answers, ',');
    }
    for (size_t i = 0; i < message->count; i++) {
        hub_buf_add(&stream->answers, message->parts[i]);
    }
    return stream->answers.failed;
}

static hub_err send_last(hub_http_stream *stream, const hub_outgoing *message)
{
    bool is_final = stream->pending <= 1;
    hub_err err;
    stream->session->answered++;
    stream->retry_s = message->retry_s > stream->retry_s ? message->retry_s : stream->retry_s;
    if (stream->pending > 0) {
        stream->pending--;
    }
    if (stream->is_batch) {
        err = collect(stream, message);
        if (is_final) {
            err = send_collected(stream);
        }
    } else if (stream->connection != NULL && !stream->connection->streaming && !stream->has_ids) {
        err = message->code == HUB_RPC_INSUFFICIENT_SCOPE
                  ? answer_challenge(stream, message)
                  : answer_json(stream, message->parts, message->count);
    } else {
        err = send_event(stream, message->parts, message->count);
        if (stream->connection != NULL) {
            hub_http_answer_end(stream->connection);
        }
    }
    if (is_final) {
        finish(stream);
    }
    return err;
}

static hub_err send_message(hub_port *port, const hub_outgoing *message)
{
    hub_http_stream *stream = (hub_http_stream *)port;
    if (stream->done) {
        return HUB_ESTATE;
    }
    if (is_own(stream) || !message->last) {
        return send_event(stream, message->parts, message->count);
    }
    return send_last(stream, message);
}

/* SSE polling: the client comes back for the rest (Sending Messages to the Server, 6). */
static void release(hub_port *port)
{
    hub_http_stream *stream = (hub_http_stream *)port;
    hub_err err = HUB_OK;
    if (stream->connection == NULL || is_own(stream) || !can_poll(stream->session)) {
        return;
    }
    if (!stream->connection->streaming) {
        err = begin_events(stream, stream->sequence);
    }
    if (err == HUB_OK) {
        hub_http_connection *connection = stream->connection;
        stream->connection = NULL;
        hub_http_answer_end(connection);
    }
}

static bool add_header(hub_port *port, hub_str name, hub_buf *value)
{
    const hub_http_stream *stream = (const hub_http_stream *)port;
    return stream->request != NULL && hub_http_add_value(stream->request, name, value);
}

const hub_port_ops HUB_HTTP_STREAM_PORT = {
    .send = send_message, .release = release, .add_header = add_header};

/* ---- cancelling ------------------------------------------------------------------------------ */

static bool has_id(const hub_http_stream *stream, hub_str id)
{
    hub_json_iter it = hub_json_iterate(stream->ids);
    hub_str key;
    hub_str own;
    while (hub_json_next(&it, &key, &own)) {
        if (hub_str_eq(own, id)) {
            return true;
        }
    }
    return false;
}

void hub_http_stream_cancelled(hub_http_session *session, hub_str id)
{
    hub_http_stream *stream = session->streams;
    while (stream != NULL && (stream->done || !has_id(stream, id))) {
        stream = stream->next;
    }
    if (stream == NULL || stream->pending-- > 1) {
        return;
    }
    if (stream->answers.len > 0) {
        (void)send_collected(stream);
    } else if (stream->connection != NULL) {
        /* No answer is due, and a stream without events says so. */
        hub_err err = stream->connection->streaming
                          ? HUB_OK
                          : hub_http_answer_stream(stream->connection, NULL, 0);
        if (err == HUB_OK) {
            hub_http_answer_end(stream->connection);
        }
    }
    finish(stream);
}

/* ---- coming back ----------------------------------------------------------------------------- */

static hub_http_stream *find_stream(hub_http_session *session, uint32_t number)
{
    hub_http_stream *stream = number == 0 ? &session->own : session->streams;
    while (stream != NULL && (stream->number != number || stream->done)) {
        stream = stream->next;
    }
    return stream;
}

/* Write what the store has behind `after`. */
static hub_err replay(hub_http_stream *stream, hub_event_id after)
{
    const hub_replay_event *event;
    hub_err err = HUB_OK;
    while (err == HUB_OK && (event = hub_replay_next(&stream->session->replay, after)) != NULL) {
        hub_str text = {.ptr = event->text, .len = event->len};
        after.sequence = event->sequence;
        err = write_event(stream, event->sequence, &text, 1);
    }
    return err;
}

/* A stream that has ended, as far as it is still kept. */
static bool replay_ended(hub_http_session *session, hub_http_connection *connection,
                         hub_event_id after)
{
    if (hub_replay_next(&session->replay, after) == NULL) {
        return false;
    }
    hub_http_stream past = {
        .session = session, .connection = connection, .number = after.stream, .done = true};
    if (hub_http_answer_stream(connection, NULL, 0) == HUB_OK && replay(&past, after) == HUB_OK) {
        hub_http_answer_end(connection);
    }
    return true;
}

void hub_http_stream_open(hub_http_session *session, hub_http_connection *connection)
{
    session->own.connection = connection;
    hub_http_connection_wait(connection, &RESPONDER, &session->own);
}

bool hub_http_stream_attach(hub_http_session *session, hub_http_connection *connection,
                            const hub_event_id *after)
{
    hub_event_id from = {.stream = 0, .sequence = session->own.delivered};
    if (after != NULL) {
        from = *after;
    }
    hub_http_stream *stream = find_stream(session, from.stream);
    if (stream == NULL) {
        return replay_ended(session, connection, from);
    }
    if (from.sequence > stream->sequence || (!stream->has_ids && !is_own(stream))) {
        return false; /* no such event was ever sent */
    }
    if (stream->connection != NULL) { /* the client knows better which of them is alive */
        hub_http_connection *earlier = stream->connection;
        stream->connection = NULL;
        hub_http_answer_end(earlier);
    } else if (is_own(stream)) {
        hub_session_table_use(session->server->sessions, &session->entry);
    }
    stream->connection = connection;
    hub_http_connection_wait(connection, &RESPONDER, stream);
    if (begin_events(stream, from.sequence) == HUB_OK) {
        (void)replay(stream, from);
    }
    return true;
}
