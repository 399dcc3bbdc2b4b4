/* SPDX-License-Identifier: Apache-2.0 */
#include "http/pass.h"

#include "base/log.h"
#include "hub/replicas/caller.h"
#include "http/answer_head.h"
#include "http/peers.h"
#include "http/replicas.h"
#include "http/takeover.h"
#include "hub/moves/moves.h"

#include <stdlib.h>

/* A request on its way. */
typedef struct passing {
    hub_http_connection *connection;
    hub_http_errand *errand;   /* NULL: it is being looked for, by … */
    hub_http_finding *finding; /* … this */
    hub_replica_place place;   /* where it goes; port 0: nobody knows yet */
    hub_buf head;
    hub_buf body;
    bool is_of_session; /* else of what a replica gave out to a modern client */
    bool moves;         /* the session may be elsewhere */
    bool is_refused;    /* it is: the answer says no more than that */
    bool is_there;      /* … but the record says that it is where it was asked for */
    bool is_unsent;     /* whoever worked on it last knows nothing of it */
    unsigned tries;     /* to find it */
    struct ev_loop *loop;
    ev_timer again; /* before it is looked for again */
    char session[HUB_SESSION_ID_MOST + 1];
    size_t id_len;
    char id[]; /* of the request, raw; empty: it has none */
} passing;

static void free_passing(passing *this)
{
    hub_buf_fini(&this->head);
    hub_buf_fini(&this->body);
    ev_timer_stop(this->loop, &this->again);
    free(this);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* What is the connection's own, or this replica's to say: RFC 9110 section 7.6.1. A credential stays
 * where it was shown. */
static bool is_passed(hub_str name)
{
    static const char *const OWN[] = {
        "authorization",
        "connection",
        "content-length",
        "cookie",
        "expect",
        "forwarded",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-forwarded-for",
        "x-forwarded-proto",
    };
    static const hub_str PREFIX = {.ptr = "patchbay-", .len = 9};
    hub_str start = {.ptr = name.ptr, .len = name.len < PREFIX.len ? name.len : PREFIX.len};
    bool is_own = hub_str_eq_nocase(start, PREFIX);
    for (size_t i = 0; !is_own && i < sizeof OWN / sizeof OWN[0]; i++) {
        is_own = hub_str_eq_nocase(name, hub_str_of(OWN[i]));
    }
    return !is_own;
}

static void add_header(hub_buf *head, hub_str name, hub_str value)
{
    const hub_str parts[] = {name, HUB_STR(": "), value, HUB_STR("\r\n")};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        hub_buf_add(head, parts[i]);
    }
}

static void write_head(const hub_http_task *task, hub_buf *head)
{
    const hub_http_request *request = task->request;
    const hub_http_connection *connection = task->connection;
    hub_buf caller;
    hub_buf_printf(head, HUB_STR_FMT " " HUB_STR_FMT "%s" HUB_STR_FMT " HTTP/1.%d\r\n",
                   HUB_STR_ARG(request->method), HUB_STR_ARG(request->path),
                   request->query.len > 0 ? "?" : "", HUB_STR_ARG(request->query), request->minor);
    for (size_t i = 0; i < request->header_count; i++) {
        if (is_passed(request->headers[i].name)) {
            add_header(head, request->headers[i].name, request->headers[i].value);
        }
    }
    add_header(head, HUB_STR("X-Forwarded-For"),
               hub_str_of(hub_http_connection_peer(task->connection)));
    if (hub_http_connection_is_secure(connection)) {
        add_header(head, HUB_STR("X-Forwarded-Proto"), HUB_STR("https"));
    }
    hub_buf_init(&caller, HUB_HTTP_LIMIT_HEAD_BYTES);
    hub_replica_caller_add(&caller, task->identity);
    if (!hub_buf_ok(&caller)) {
        head->failed = caller.failed;
    }
    add_header(head, HUB_STR(HUB_HTTP_PEER_CALLER), hub_buf_str(&caller));
    hub_buf_fini(&caller);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void look(passing *this);

static void on_head(void *ctx, int status, hub_str head)
{
    passing *this = ctx;
    this->is_refused = this->moves && status == 404 &&
                       hub_http_answer_header(head, HUB_STR(HUB_HTTP_PEER_ELSEWHERE)).len > 0;
    if (!this->is_refused) {
        (void)hub_http_answer_raw_head(this->connection, head);
    }
}

static void on_body(void *ctx, hub_str bytes)
{
    passing *this = ctx;
    if (!this->is_refused) {
        (void)hub_http_answer_raw(this->connection, bytes);
    }
}

static void on_done(void *ctx, bool closes)
{
    passing *this = ctx;
    hub_http_connection *connection = this->connection;
    if (this->is_refused) {
        this->is_unsent = true;
        look(this);
    } else {
        free_passing(this);
        hub_http_answer_raw_end(connection, closes);
    }
}

/* What the client is told that is not served: its session is gone, or what it brought back, or nobody knows
 * whether the request was. */
static void answer_lost(passing *this)
{
    hub_str id = {.ptr = this->id, .len = this->id_len};
    if (!this->is_unsent) {
        hub_http_answer_error(this->connection, 502, id, HUB_RPC_INTERNAL_ERROR,
                              HUB_STR("The replica that worked on this request is gone: whether it "
                                      "has done what was asked is not known"),
                              HUB_STR_EMPTY);
    } else if (this->is_of_session) {
        hub_http_answer_error(this->connection, 404, id, HUB_RPC_INVALID_REQUEST,
                              HUB_STR("The replica that had this session is gone: send initialize "
                                      "without Mcp-Session-Id"),
                              HUB_STR_EMPTY);
    } else {
        hub_http_answer_error(this->connection, 400, id, HUB_RPC_INVALID_PARAMS,
                              HUB_STR("The replica that asked this question, or has this task, is "
                                      "gone: make the request again"),
                              HUB_STR_EMPTY);
    }
    free_passing(this);
}

/* A session leaves its home when all that it was asked has been answered. So a request of a session that has
 * left was not done there, even if nobody has heard of it since it was sent. */
static void on_lost(void *ctx, hub_http_loss loss)
{
    passing *this = ctx;
    this->is_unsent = loss == HUB_HTTP_LOSS_UNSENT;
    if (loss == HUB_HTTP_LOSS_CUT) {
        this->connection->responder = NULL;
        hub_http_connection_drop(this->connection);
        free_passing(this);
    } else {
        look(this);
    }
}

static const hub_http_errand_events EVENTS = {
    .on_head = on_head, .on_body = on_body, .on_done = on_done, .on_lost = on_lost};

/* ---- the client ------------------------------------------------------------------------------ */

static void on_gone(void *ctx)
{
    passing *this = ctx;
    if (this->finding != NULL) {
        hub_http_finding_cancel(this->finding);
    } else if (this->errand != NULL) {
        hub_http_errand_cancel(this->errand);
    }
    free_passing(this);
}

static void on_quiet(void *ctx)
{
    (void)ctx; /* the home says something on its own connection, and it comes from there */
}

static const hub_http_responder RESPONDER = {.on_gone = on_gone, .on_quiet = on_quiet};

/* ---- passing on ------------------------------------------------------------------------------ */

static void refuse(hub_http_connection *connection, hub_err err)
{
    if (err == HUB_ELIMIT) {
        hub_http_answer_refusal(connection, 431, (hub_http_header){0},
                                "The headers are too large to be passed on to another replica.");
    } else {
        hub_http_answer_refusal(connection, 503,
                                (hub_http_header){HUB_STR("Retry-After"), HUB_STR("1")},
                                hub_err_text(err));
    }
}

static hub_err send_to(passing *this, const hub_replica_place *place)
{
    hub_replica_place to = *place; /* which may be its own */
    this->place = to;
    this->is_refused = false;
    return hub_http_peers_send(this->connection->server->replicas->peers, &this->place,
                               hub_buf_str(&this->head), hub_buf_str(&this->body), &EVENTS, this,
                               &this->errand);
}

static void send_or_refuse(passing *this, const hub_replica_place *place)
{
    hub_http_connection *connection = this->connection;
    hub_err err = send_to(this, place);
    if (err != HUB_OK) {
        free_passing(this);
        refuse(connection, err);
    }
}

static void on_found(void *ctx, hub_http_found found, const hub_replica_place *place)
{
    passing *this = ctx;
    hub_http_connection *connection = this->connection;
    this->finding = NULL;
    if (found == HUB_HTTP_FOUND_ANSWERED) {
        free_passing(this);
        return;
    }
    bool is_same = found == HUB_HTTP_FOUND_AT && hub_replica_places_eq(place, &this->place);
    if (found == HUB_HTTP_FOUND_UNKNOWN || (is_same && this->is_refused)) {
        this->is_there = is_same;
        ev_timer_start(this->loop, &this->again);
        return;
    }
    if (found == HUB_HTTP_FOUND_NOWHERE || is_same) {
        answer_lost(this);
        return;
    }
    hub_http_replicas_note(connection->server->replicas, this->session, place);
    send_or_refuse(this, place);
}

/* Whoever has just written itself into the record will have the session in a moment; and a store that hesitates
 * is asked again. */
static void on_again(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    passing *this = timer->data;
    if (this->is_there) {
        send_or_refuse(this, &this->place);
    } else {
        look(this);
    }
}

/* It is not where it was thought to be. */
static void look(passing *this)
{
    this->errand = NULL;
    hub_http_replicas_forget(this->connection->server->replicas, this->session);
    if (!this->moves || this->tries++ >= HUB_HTTP_MOVE_TRIES ||
        hub_http_find_moved(this->connection, this->session, on_found, this, &this->finding) !=
            HUB_OK) {
        answer_lost(this);
    }
}

static passing *make_passing(const hub_http_task *task, hub_str id)
{
    passing *this = calloc(1, sizeof *this + id.len);
    if (this != NULL) {
        this->connection = task->connection;
        this->is_unsent = true;
        this->loop = hub_net_loop(task->server->net);
        ev_timer_init(&this->again, on_again, HUB_HTTP_MOVE_AGAIN_MS / 1000., 0.);
        this->again.data = this;
        this->id_len = id.len;
        hub_buf_init(&this->head, 4 * HUB_HTTP_LIMIT_HEAD_BYTES);
        hub_buf_init(&this->body, task->body.len);
        if (id.len > 0) {
            memcpy(this->id, id.ptr, id.len);
        }
    }
    return this;
}

static hub_err write_request(const hub_http_task *task, passing *this)
{
    write_head(task, &this->head);
    hub_buf_add(&this->body, task->body);
    hub_err err = hub_buf_ok(&this->head) ? this->body.failed : this->head.failed;
    bool is_large = this->head.len > HUB_HTTP_LIMIT_HEAD_BYTES - HUB_HTTP_PEER_SEAL_BYTES;
    return err == HUB_OK && is_large ? HUB_ELIMIT : err;
}

/* Pass it on to a place (NULL: look for it first), or answer why not. */
static void pass(const hub_http_task *task, const hub_replica_place *place, passing *this)
{
    hub_err err = this != NULL ? write_request(task, this) : HUB_ENOMEM;
    if (err == HUB_OK && place != NULL) {
        err = send_to(this, place);
    } else if (err == HUB_OK) {
        err = hub_http_find_moved(task->connection, this->session, on_found, this, &this->finding);
    }
    if (err == HUB_OK) {
        hub_http_connection_wait(task->connection, &RESPONDER, this);
        return;
    }
    if (this != NULL) {
        free_passing(this);
    }
    refuse(task->connection, err);
}

static bool passes_on(const hub_http_task *task)
{
    return task->server->replicas != NULL && !task->server->is_replica;
}

bool hub_http_pass(const hub_http_task *task, hub_str session_id, hub_str request_id, bool moves)
{
    hub_replica_place place;
    if (!passes_on(task) || session_id.len != HUB_SESSION_ID_MOST) {
        return false;
    }
    hub_str random = {.ptr = session_id.ptr, .len = HUB_SESSION_ID_BYTES};
    hub_replica_home home = hub_replicas_find_home(
        task->server->hub, random, hub_str_from(session_id, HUB_SESSION_ID_BYTES), &place);
    moves = moves && hub_moves_are_kept(task->server->hub);
    if (home == HUB_HOME_NOWHERE || (home == HUB_HOME_HERE && !moves)) {
        return false;
    }
    bool is_known = moves && hub_http_replicas_recall(task->server->replicas, session_id, &place);
    passing *this = make_passing(task, request_id);
    if (this != NULL) {
        this->is_of_session = true;
        this->moves = moves;
        memcpy(this->session, session_id.ptr, session_id.len);
    }
    pass(task, home == HUB_HOME_ELSEWHERE || is_known ? &place : NULL, this);
    return true;
}

bool hub_http_pass_message(const hub_http_task *task, const hub_message *message)
{
    const hub_str brought[] = {message->at[HUB_M_REQUEST_STATE], message->at[HUB_M_TASK_ID]};
    hub_replica_place place;
    for (size_t i = 0; passes_on(task) && i < sizeof brought / sizeof brought[0]; i++) {
        if (brought[i].len > 0 && hub_replicas_find_home_in(task->server->hub, brought[i],
                                                            &place) == HUB_HOME_ELSEWHERE) {
            pass(task, &place, make_passing(task, message->at[HUB_M_ID]));
            return true;
        }
    }
    return false;
}
