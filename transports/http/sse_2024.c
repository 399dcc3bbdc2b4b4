/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP+SSE, for clients of before 2025: GET /sse is the session, in whose stream everything comes;
 * POST /messages?sessionId=ID is what the client says. It ends with its stream.
 * spec: MCP 2024-11-05 basic/transports, HTTP with SSE
 */
#include "http/legacy.h"
#include "http/mcp.h"
#include "http/pass.h"

static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};

static hub_err begin(hub_http_session *session, hub_http_connection *connection)
{
    hub_str endpoint[] = {HUB_STR("/messages?sessionId="), hub_str_of(session->entry.id)};
    hub_http_event event = {.name = HUB_STR("endpoint"), .parts = endpoint, .count = 2};
    hub_err err = hub_http_answer_stream(connection, NULL, 0);
    return err == HUB_OK ? hub_http_answer_event(connection, &event) : err;
}

void hub_http_serve_sse(const hub_http_task *task)
{
    hub_http_session *session =
        hub_http_task_is_late(task, HUB_STR_EMPTY) ? NULL : hub_http_session_create(task, true);
    if (session != NULL) {
        hub_http_stream_open(session, task->connection);
        (void)begin(session, task->connection); /* else the link ends, and the session with it */
    }
}

/* The value of sessionId in "a=b&sessionId=…"; ids need no decoding. */
static hub_str session_id_of(hub_str query)
{
    hub_str name = HUB_STR("sessionId=");
    while (query.len > 0) {
        const char *end = memchr(query.ptr, '&', query.len);
        hub_str pair = end != NULL ? hub_str_between(query.ptr, end) : query;
        if (hub_str_starts(pair, name)) {
            return hub_str_from(pair, name.len);
        }
        query = hub_str_from(query, end != NULL ? pair.len + 1 : query.len);
    }
    return HUB_STR_EMPTY;
}

void hub_http_serve_messages(const hub_http_task *task)
{
    hub_str id = session_id_of(task->request->query);
    hub_http_session *session = hub_http_session_find(task, id, true);
    hub_message message;
    hub_error why = {.code = HUB_OK};
    if (session == NULL && hub_http_pass(task, id, HUB_STR_EMPTY, false)) {
        return;
    }
    if (session == NULL) {
        hub_http_answer_refusal(task->connection, id.len > 0 ? 404 : 400, NONE,
                                id.len > 0 ? "There is no such session (any more): open /sse again."
                                           : "The query must name the session: ?sessionId=ID");
        return;
    }
    hub_err err = hub_message_scan(task->body, &message, &why);
    if (err == HUB_OK && message.kind == HUB_MESSAGE_BATCH) {
        err = hub_fail(&why, HUB_EINVAL, "HTTP+SSE has no batches");
    }
    if (err != HUB_OK) {
        hub_http_answer_no_message(task, &message, err, why.text);
        return;
    }
    if (message.kind == HUB_MESSAGE_REQUEST && hub_http_task_is_late(task, message.at[HUB_M_ID])) {
        return;
    }
    hub_http_answer_status(task->connection, 202); /* before what it causes */
    if (message.kind == HUB_MESSAGE_REQUEST) {
        session->own.request = task->request;
        hub_session_take(session->hub, &session->own.port, &message);
        session->own.request = NULL;
    } else {
        hub_http_session_tell(session, &message);
    }
}
