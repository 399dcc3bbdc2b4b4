/* SPDX-License-Identifier: Apache-2.0 */
#include "http/moving.h"

#include "base/limits.h"
#include "base/log.h"
#include "http/peers.h"
#include "wire/dialect.h"

#include <stdio.h>
#include <stdlib.h>

/* A request that came while its session was on its way. */
struct hub_http_moving_wait {
    hub_http_connection *connection;
    hub_http_session *session;
    struct hub_http_moving_wait *next;
    size_t id_len;
    char id[]; /* of the request, raw; empty: it has none */
};

/* What makes a session anew. A message follows when the one before has been answered: it may be that the
 * store has to say first what the principal sees. */
struct hub_http_remaking {
    hub_port port; /* first: a port is its remaking */
    hub_http_session *session;
    ev_timer next;
    bool is_awaited; /* an answer */
    bool is_inside;  /* the hub is at work on a message */
    hub_json_iter rest;
    char messages[];
};

static hub_move_id id_of(const hub_http_session *session)
{
    return (hub_move_id){.principal = hub_session_entry_principal(&session->entry),
                         .session = session->entry.id};
}

/* ---- who waits ------------------------------------------------------------------------------- */

static void on_gone(void *ctx)
{
    struct hub_http_moving_wait *one = ctx;
    struct hub_http_moving_wait **link = &one->session->awaiting;
    while (*link != one) {
        link = &(*link)->next;
    }
    *link = one->next;
    free(one);
}

static void on_quiet(void *ctx)
{
    (void)ctx; /* it takes no longer than a command of the store */
}

static const hub_http_responder RESPONDER = {.on_gone = on_gone, .on_quiet = on_quiet};

void hub_http_moving_await(const hub_http_task *task, hub_http_session *session, hub_str id)
{
    struct hub_http_moving_wait *one = malloc(sizeof *one + id.len);
    if (one == NULL) {
        hub_http_answer_last(task->connection, 503, "out of memory");
        return;
    }
    *one = (struct hub_http_moving_wait){.connection = task->connection,
                                         .session = session,
                                         .next = session->awaiting,
                                         .id_len = id.len};
    if (id.len > 0) {
        memcpy(one->id, id.ptr, id.len);
    }
    session->awaiting = one;
    hub_http_connection_wait(task->connection, &RESPONDER, one);
}

void hub_http_answer_not_here(hub_http_connection *connection, hub_str request_id)
{
    hub_buf error;
    hub_buf_init(&error, HUB_LIMIT_LOG_LINE_BYTES);
    hub_dialect_add_error(&error, HUB_RPC_INVALID_REQUEST,
                          HUB_STR("There is no such session (any more): send initialize without "
                                  "Mcp-Session-Id"),
                          HUB_STR_EMPTY);
    bool is_replica = connection->server->is_replica;
    hub_http_header header = {HUB_STR(HUB_HTTP_PEER_ELSEWHERE), HUB_STR("1")};
    hub_http_answer_rpc(connection, 404, is_replica ? header : (hub_http_header){0}, request_id,
                        hub_buf_str(&error));
    hub_buf_fini(&error);
}

/* Another replica looks where the session is; who came here himself comes again. */
static void answer_awaiting(hub_http_session *session, bool has_left)
{
    struct hub_http_moving_wait *one;
    while ((one = session->awaiting) != NULL) {
        hub_http_connection *connection = one->connection;
        hub_str id = {.ptr = one->id, .len = one->id_len};
        session->awaiting = one->next;
        if (has_left && connection->server->is_replica) {
            hub_http_answer_not_here(connection, id);
        } else {
            hub_http_answer_late(connection, id);
        }
        free(one);
    }
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* A store that hesitates is asked again. */
static void fail(hub_http_session *session, const char *why)
{
    session->stays = ++session->tries >= HUB_HTTP_MOVE_TRIES;
    session->again_ms = hub_clock_now_ms() + HUB_HTTP_MOVE_AGAIN_MS;
    if (session->stays) {
        hub_log(HUB_LOG_WARNING, "session.not_moved", HUB_F_TEXT("reason", why));
    }
}

static void on_recorded(void *ctx, const hub_state_result *result)
{
    hub_http_session *session = ctx;
    session->moving = NULL;
    if (result->err == HUB_OK) {
        answer_awaiting(session, true);
        session->is_recorded = false; /* what is there is another's now */
        hub_http_session_destroy(session);
        return;
    }
    fail(session, result->why);
    answer_awaiting(session, false);
}

/* No payload: what its client has said to have the session as it is. */
static hub_err record(hub_http_session *session)
{
    hub_buf messages;
    hub_buf_init(&messages, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_move_add_messages(session->hub, &messages);
    const hub_move move = {.profile = hub_str_of(session->profile),
                           .streams = session->last_number,
                           .sequence = session->own.sequence,
                           .delivered = session->own.delivered,
                           .messages = hub_buf_str(&messages)};
    hub_err err = messages.failed;
    if (err == HUB_OK) {
        err = hub_moves_put(session->server->hub, id_of(session), HUB_STATE_ANY, &move, on_recorded,
                            session, &session->moving);
    }
    hub_buf_fini(&messages);
    return err;
}

/* Whether nothing binds it: no request of it is under way, and nothing that it sees is its own. */
static bool can_move(const hub_http_session *session)
{
    return !session->is_sse_2024 && !session->stays && hub_move_obstacle(session->hub) == NULL;
}

size_t hub_http_sessions_move(hub_http_server *server)
{
    size_t left = 0;
    uint64_t now = hub_clock_now_ms();
    hub_session_entry *at = hub_session_table_any(server->sessions);
    for (; at != NULL; at = at->hh.next) {
        hub_http_session *session = (hub_http_session *)at;
        bool is_idle = session->streams == NULL && hub_session_in_flight(session->hub) == 0;
        if (!can_move(session)) {
            continue;
        }
        left++;
        if (session->moving == NULL && is_idle && now >= session->again_ms &&
            hub_moves_have_room(server->hub)) {
            hub_err err = record(session);
            if (err != HUB_OK) {
                fail(session, hub_err_text(err));
            }
        }
    }
    return left;
}

void hub_http_moving_end(hub_http_session *session)
{
    if (session->moving != NULL) {
        hub_state_cancel(session->moving);
        session->moving = NULL;
    }
    answer_awaiting(session, false);
    if (session->is_recorded) {
        hub_moves_delete(session->server->hub, id_of(session), HUB_STATE_ANY);
    }
    if (session->remaking != NULL) {
        ev_timer_stop(hub_net_loop(session->server->net), &session->remaking->next);
        free(session->remaking);
    }
}

/* ---- arriving -------------------------------------------------------------------------------- */

static void go_on(struct hub_http_remaking *this)
{
    hub_str key;
    hub_str text;
    hub_message message;
    bool is_more = true;
    this->is_inside = true;
    while (!this->is_awaited && (is_more = hub_json_next(&this->rest, &key, &text))) {
        if (hub_message_scan(text, &message, NULL) == HUB_OK &&
            hub_move_has_method(message.method)) {
            this->is_awaited = message.kind == HUB_MESSAGE_REQUEST;
            hub_session_take(this->session->hub, &this->port, &message);
        }
    }
    this->is_inside = false;
    if (!is_more) {
        hub_move_tell_lists(this->session->hub);
    }
}

static void on_next(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    go_on(timer->data);
}

/* The answers are nobody's. */
static hub_err send(hub_port *port, const hub_outgoing *message)
{
    struct hub_http_remaking *this = (struct hub_http_remaking *)port;
    (void)message;
    this->is_awaited = false;
    if (!this->is_inside) {
        ev_timer_start(hub_net_loop(this->session->server->net), &this->next);
    }
    return HUB_OK;
}

static const hub_port_ops NOBODY = {.send = send};

bool hub_http_session_remake(hub_http_connection *connection, const char *id, const hub_move *move)
{
    hub_str messages = move->messages;
    const hub_http_task task = {.connection = connection,
                                .server = connection->server,
                                .identity = connection->identity,
                                .profile = move->profile};
    struct hub_http_remaking *this = calloc(1, sizeof *this + messages.len);
    if (this == NULL) {
        hub_http_answer_last(connection, 503, "out of memory");
        return false;
    }
    hub_http_session *session = hub_http_session_create_as(&task, false, id);
    if (session == NULL) {
        free(this);
        return false;
    }
    session->last_number = move->streams;
    session->own.sequence = move->sequence;
    session->own.delivered = move->delivered;
    session->is_recorded = true;
    session->remaking = this;
    memcpy(this->messages, messages.ptr, messages.len);
    this->port.ops = &NOBODY;
    this->session = session;
    this->rest = hub_json_iterate((hub_str){.ptr = this->messages, .len = messages.len});
    ev_timer_init(&this->next, on_next, 0., 0.);
    this->next.data = this;
    go_on(this);
    hub_session_table_unuse(session->server->sessions, &session->entry, hub_clock_coarse_ms());
    return true;
}
