/* SPDX-License-Identifier: Apache-2.0 */
#include "http/legacy.h"

#include "base/clock.h"
#include "base/limits.h"
#include "http/mcp.h"
#include "http/moving.h"
#include "http/pass.h"
#include "http/replicas.h"

#include <stdio.h>
#include <stdlib.h>

static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};

/* ---- sessions -------------------------------------------------------------------------------- */

static void refuse_full(const hub_http_task *task, hub_session_room room)
{
    bool is_principal = room == HUB_SESSION_PRINCIPAL_FULL;
    hub_http_answer_refusal(
        task->connection, is_principal ? 429 : 503,
        (hub_http_header){HUB_STR("Retry-After"), HUB_STR("10")},
        is_principal
            ? "You have as many sessions as you may (limits.sessions_per_principal): end one with "
              "DELETE."
            : "The hub has as many sessions as it may (limits.sessions): try again later.");
}

/* Room for one more session, if need be in place of one that nobody uses. */
static bool make_room(const hub_http_task *task)
{
    hub_session_entry *victim;
    hub_session_room room;
    while ((room = hub_session_table_room(task->server->sessions, task->identity->name,
                                          hub_http_connection_peer(task->connection), &victim)) ==
           HUB_SESSION_EVICT) {
        hub_http_session_destroy((hub_http_session *)victim);
    }
    if (room != HUB_SESSION_ROOM) {
        refuse_full(task, room);
    }
    return room == HUB_SESSION_ROOM;
}

hub_http_session *hub_http_session_create(const hub_http_task *task, bool is_sse_2024)
{
    return hub_http_session_create_as(task, is_sse_2024, "");
}

hub_http_session *hub_http_session_create_as(const hub_http_task *task, bool is_sse_2024,
                                             const char *id)
{
    hub_http_server *server = task->server;
    const hub_net_limits *limits = &server->settings->limits.net;
    if (!make_room(task)) {
        return NULL;
    }
    hub_http_session *session = calloc(1, sizeof *session);
    if (session == NULL || (session->profile = hub_str_dup(task->profile)) == NULL) {
        free(session);
        hub_http_answer_refusal(task->connection, 503, NONE, "out of memory");
        return NULL;
    }
    (void)snprintf(session->entry.id, sizeof session->entry.id, "%s", id);
    session->server = server;
    session->is_sse_2024 = is_sse_2024;
    session->own.port.ops = &HUB_HTTP_STREAM_PORT;
    session->own.session = session;
    hub_replay_init(&session->replay, limits->replay_bytes, limits->replay_events,
                    hub_net_budget(server->net));
    session->hub =
        hub_http_task_begin_session(task, is_sse_2024 ? "sse" : "http", NULL, &session->own.port);
    if (session->hub == NULL) {
        free(session->profile);
        free(session);
        return NULL;
    }
    hub_err err = hub_session_table_add(server->sessions, &session->entry, task->identity->name,
                                        hub_http_connection_peer(task->connection));
    if (err != HUB_OK) {
        hub_session_close(session->hub);
        free(session->profile);
        free(session);
        hub_http_answer_refusal(task->connection, 503, NONE, hub_err_text(err));
        return NULL;
    }
    return session;
}

static void end_stream(hub_http_stream *stream)
{
    hub_http_connection *connection = stream->connection;
    stream->connection = NULL;
    if (connection == NULL) {
        return;
    }
    if (connection->streaming) {
        hub_http_answer_end(connection);
    } else {
        hub_http_answer_refusal(connection, 404, NONE, "The session has ended.");
    }
}

void hub_http_session_destroy(hub_http_session *session)
{
    hub_session_close(session->hub);
    hub_http_moving_end(session);
    while (session->streams != NULL) {
        end_stream(session->streams);
        hub_http_stream_destroy(session->streams);
    }
    end_stream(&session->own);
    hub_session_table_remove(session->server->sessions, &session->entry);
    hub_replay_fini(&session->replay);
    free(session->profile);
    free(session);
}

/* What a replica brings is for a session of any listener. */
static hub_session_entry *find_entry(const hub_http_task *task, hub_str id)
{
    const hub_http_server *server = task->server;
    const char *principal = task->identity->name;
    return server->is_replica ? hub_http_replicas_find(server->replicas, id, principal)
                              : hub_session_table_find(server->sessions, id, principal);
}

hub_http_session *hub_http_session_find(const hub_http_task *task, hub_str id, bool is_sse_2024)
{
    hub_http_session *session = (hub_http_session *)find_entry(task, id);
    bool fits = session != NULL && session->is_sse_2024 == is_sse_2024 &&
                hub_session_judge(session->hub, task->identity);
    if (fits) {
        hub_session_set_peer(session->hub, hub_http_connection_peer(task->connection));
    }
    return fits ? session : NULL;
}

void hub_http_sessions_recheck(hub_http_server *server)
{
    hub_session_entry *next;
    for (hub_session_entry *at = hub_session_table_any(server->sessions); at != NULL; at = next) {
        next = at->hh.next;
        const char *principal = hub_session_entry_principal(at);
        if (!hub_auth_knows(&server->settings->auth, principal) &&
            !hub_http_certificates_know(server->certificates,
                                        hub_principal_of_credential(principal))) {
            hub_http_session_destroy((hub_http_session *)at);
        }
    }
}

void hub_http_sessions_check(hub_http_server *server, uint64_t now_ms)
{
    hub_session_entry *late;
    while ((late = hub_session_table_late(server->sessions, now_ms,
                                          server->settings->limits.net.session_idle_ms)) != NULL) {
        hub_http_session_destroy((hub_http_session *)late);
    }
}

void hub_http_session_tell(hub_http_session *session, const hub_message *message)
{
    bool is_cancel = message->kind == HUB_MESSAGE_NOTIFICATION &&
                     hub_str_is(message->method, "notifications/cancelled");
    size_t before = hub_session_in_flight(session->hub) + session->answered;
    hub_session_take(session->hub, &session->own.port, message);
    /* One that left without an answer: nobody else says so. */
    if (is_cancel && hub_session_in_flight(session->hub) + session->answered < before) {
        hub_http_stream_cancelled(session, message->at[HUB_M_REQUEST_ID]);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The session that Mcp-Session-Id names, for as long as the request takes, or NULL: it lives at another
 * replica, to which the request has been passed on, or nowhere, and the answer is 404: the client has to
 * initialize again (Session Management, 3 and 4); or it is about to live elsewhere, and the request waits. */
static hub_http_session *use_session(const hub_http_task *task, hub_str request_id)
{
    hub_str id = hub_http_known_value(task->request, HUB_HTTP_MCP_SESSION_ID);
    hub_http_session *session = hub_http_session_find(task, id, false);
    if (session == NULL && hub_http_pass(task, id, request_id, true)) {
        return NULL;
    }
    if (session == NULL || !hub_str_is(task->profile, session->profile)) {
        hub_http_answer_not_here(task->connection, request_id);
        return NULL;
    }
    if (session->moving != NULL) {
        hub_http_moving_await(task, session, request_id);
        return NULL;
    }
    hub_session_table_use(session->server->sessions, &session->entry);
    return session;
}

static void unuse_session(hub_http_session *session)
{
    hub_session_table_unuse(session->server->sessions, &session->entry, hub_clock_coarse_ms());
}

/* A stream for `pending` answers to the requests with these ids (empty: there was no memory for
 * them); NULL with an answer given. */
static hub_http_stream *begin_stream(const hub_http_task *task, hub_http_session *session,
                                     hub_str ids, size_t pending)
{
    hub_http_stream *stream =
        ids.len > 0 ? hub_http_stream_create(session, task->connection, ids, pending) : NULL;
    if (stream == NULL) {
        hub_http_answer_refusal(task->connection, 503, NONE, "out of memory");
    }
    return stream;
}

static void serve_request(const hub_http_task *task, hub_http_session *session,
                          const hub_message *message, bool initializes)
{
    char text[HUB_LIMIT_ID_BYTES + 2];
    hub_str id = message->at[HUB_M_ID];
    hub_assert(id.len <= HUB_LIMIT_ID_BYTES); /* or it were no message */
    text[0] = '[';
    memcpy(text + 1, id.ptr, id.len);
    text[1 + id.len] = ']';
    hub_http_stream *stream =
        begin_stream(task, session, (hub_str){.ptr = text, .len = id.len + 2}, 1);
    if (stream == NULL) {
        return;
    }
    stream->initializes = initializes;
    stream->inside = true;
    stream->request = task->request;
    hub_session_take(session->hub, &stream->port, message);
    stream->request = NULL;
    stream->inside = false;
    if (stream->done) {
        hub_http_stream_destroy(stream);
    }
}

void hub_http_legacy_initialize(const hub_http_task *task, const hub_message *message)
{
    hub_http_session *session = hub_http_session_create(task, false);
    if (session == NULL) {
        return;
    }
    serve_request(task, session, message, true);
    if (hub_session_revision(session->hub) == HUB_REVISION_NONE) {
        hub_http_session_destroy(session); /* it was refused */
    } else {
        unuse_session(session);
    }
}

void hub_http_legacy_get(const hub_http_task *task)
{
    hub_event_id after;
    const hub_http_header *last = hub_http_known(task->request, HUB_HTTP_LAST_EVENT_ID);
    hub_http_session *session = use_session(task, HUB_STR_EMPTY);
    if (session == NULL) {
        return;
    }
    if (last != NULL && !hub_event_id_read(last->value, &after)) {
        hub_http_answer_refusal(task->connection, 400, NONE,
                                "Last-Event-ID is none that was given out.");
    } else if (!hub_http_stream_attach(session, task->connection, last != NULL ? &after : NULL)) {
        hub_http_answer_refusal(task->connection, 405,
                                (hub_http_header){HUB_STR("Allow"), HUB_STR("POST, DELETE")},
                                "Nothing is left of the stream that Last-Event-ID names.");
    }
    unuse_session(session);
}

void hub_http_legacy_delete(const hub_http_task *task)
{
    hub_http_session *session = use_session(task, HUB_STR_EMPTY);
    if (session != NULL) {
        hub_http_session_destroy(session);
        hub_http_answer_status(task->connection, 204);
    }
}

/* ---- batches (2025-03-26) -------------------------------------------------------------------- */

/* Count the answers that a batch is due, and note the ids of its requests. */
static size_t count_answers(hub_str array, hub_buf *ids)
{
    hub_json_iter it = hub_json_iterate(array);
    hub_str key;
    hub_str element;
    size_t count = 0;
    hub_buf_add_char(ids, '[');
    while (hub_json_next(&it, &key, &element)) {
        hub_message message;
        bool is_message = hub_message_scan(element, &message, NULL) == HUB_OK;
        if (is_message && message.kind == HUB_MESSAGE_REQUEST) {
            hub_json_add_comma(ids);
            hub_buf_add(ids, message.at[HUB_M_ID]);
        }
        /* What is no message, or another batch, is answered with an error. */
        count +=
            !is_message || message.kind == HUB_MESSAGE_REQUEST || message.kind == HUB_MESSAGE_BATCH;
    }
    hub_buf_add_char(ids, ']');
    return count;
}

static void take_elements(hub_http_session *session, hub_port *port, hub_str array)
{
    hub_json_iter it = hub_json_iterate(array);
    hub_str key;
    hub_str element;
    while (hub_json_next(&it, &key, &element)) {
        hub_message message;
        if (hub_message_scan(element, &message, NULL) != HUB_OK) {
            hub_session_receive(session->hub, port, element);
        } else if (message.kind == HUB_MESSAGE_REQUEST || message.kind == HUB_MESSAGE_BATCH) {
            hub_session_take(session->hub, port, &message);
        } else {
            hub_http_session_tell(session, &message);
        }
    }
}

static void serve_batch(const hub_http_task *task, hub_http_session *session,
                        const hub_message *message)
{
    size_t length = hub_json_count(message->whole);
    if (hub_session_revision(session->hub) != HUB_REVISION_2025_03_26 || length == 0 ||
        length > HUB_HTTP_LIMIT_BATCH) {
        char why[128];
        (void)snprintf(why, sizeof why,
                       "a batch needs protocol version 2025-03-26 and 1 to %d messages",
                       HUB_HTTP_LIMIT_BATCH);
        hub_http_answer_no_message(task, message, HUB_EINVAL, why);
        return;
    }
    hub_buf ids;
    hub_buf_init(&ids, HUB_HTTP_LIMIT_BATCH * (HUB_LIMIT_ID_BYTES + 1) + 2);
    size_t pending = count_answers(message->whole, &ids);
    hub_http_stream *stream =
        pending > 0 ? begin_stream(task, session,
                                   hub_buf_ok(&ids) ? hub_buf_str(&ids) : HUB_STR_EMPTY, pending)
                    : NULL;
    hub_buf_fini(&ids);
    if (pending == 0) {
        take_elements(session, &session->own.port, message->whole);
        hub_http_answer_status(task->connection, 202);
    } else if (stream != NULL) {
        stream->is_batch = true;
        stream->inside = true;
        stream->request = task->request;
        take_elements(session, &stream->port, message->whole);
        stream->request = NULL;
        stream->inside = false;
        if (stream->done) {
            hub_http_stream_destroy(stream);
        }
    }
}

void hub_http_legacy_post(const hub_http_task *task, const hub_message *message)
{
    hub_http_session *session = use_session(task, message->at[HUB_M_ID]);
    if (session == NULL) {
        return;
    }
    switch (message->kind) {
    case HUB_MESSAGE_REQUEST:
        serve_request(task, session, message, false);
        break;
    case HUB_MESSAGE_BATCH:
        serve_batch(task, session, message);
        break;
    default:
        hub_http_session_tell(session, message);
        hub_http_answer_status(task->connection, 202);
    }
    unuse_session(session);
}
