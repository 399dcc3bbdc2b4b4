/* SPDX-License-Identifier: Apache-2.0 */
#include "http/pass.h"

#include "base/limits.h"
#include "base/log.h"
#include "hub/replicas/caller.h"
#include "http/peers.h"
#include "http/replicas.h"

#include <stdlib.h>

/* A request on its way. */
typedef struct passing {
    hub_http_connection *connection;
    hub_http_errand *errand;
    bool is_of_session; /* else of what a replica gave out to a modern client */
    size_t id_len;
    char id[]; /* of the request, raw; empty: it has none */
} passing;

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

static void on_head(void *ctx, int status, hub_str head)
{
    passing *this = ctx;
    (void)status;
    (void)hub_http_answer_raw(this->connection, head);
}

static void on_body(void *ctx, hub_str bytes)
{
    passing *this = ctx;
    (void)hub_http_answer_raw(this->connection, bytes);
}

static void on_done(void *ctx, bool closes)
{
    passing *this = ctx;
    hub_http_connection *connection = this->connection;
    free(this);
    hub_http_answer_raw_end(connection, closes);
}

/* What the client is told that is not served: its session is gone, or what it brought back, or nobody knows
 * whether the request was. */
static void answer_lost(const passing *this, bool is_unsent)
{
    hub_str id = {.ptr = this->id, .len = this->id_len};
    if (!is_unsent) {
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
                                      "gone: make the request anew"),
                              HUB_STR_EMPTY);
    }
}

static void on_lost(void *ctx, hub_http_loss loss)
{
    passing *this = ctx;
    if (loss == HUB_HTTP_LOSS_CUT) {
        this->connection->responder = NULL;
        hub_http_connection_drop(this->connection);
    } else {
        answer_lost(this, loss == HUB_HTTP_LOSS_UNSENT);
    }
    free(this);
}

static const hub_http_errand_events EVENTS = {
    .on_head = on_head, .on_body = on_body, .on_done = on_done, .on_lost = on_lost};

/* ---- the client ------------------------------------------------------------------------------ */

static void on_gone(void *ctx)
{
    passing *this = ctx;
    hub_http_errand_cancel(this->errand);
    free(this);
}

static void on_quiet(void *ctx)
{
    (void)ctx; /* the home says something on its own connection, and it comes from there */
}

static const hub_http_responder RESPONDER = {.on_gone = on_gone, .on_quiet = on_quiet};

/* ---- passing on ------------------------------------------------------------------------------ */

static passing *make_passing(const hub_http_task *task, hub_str id, bool is_of_session)
{
    passing *this = calloc(1, sizeof *this + id.len);
    if (this != NULL) {
        this->connection = task->connection;
        this->is_of_session = is_of_session;
        this->id_len = id.len;
        if (id.len > 0) {
            memcpy(this->id, id.ptr, id.len);
        }
    }
    return this;
}

static hub_err send_on(const hub_http_task *task, const hub_replica_place *place, passing *this)
{
    hub_buf head;
    hub_buf body;
    hub_buf_init(&head, 4 * HUB_HTTP_LIMIT_HEAD_BYTES + task->body.len);
    hub_buf_init(&body, task->body.len);
    write_head(task, &head);
    hub_buf_add(&body, task->body);
    hub_err err = hub_buf_ok(&head) ? body.failed : head.failed;
    if (err == HUB_OK && head.len > HUB_HTTP_LIMIT_HEAD_BYTES - HUB_HTTP_PEER_SEAL_BYTES) {
        err = HUB_ELIMIT;
    }
    if (err != HUB_OK) {
        hub_buf_fini(&head);
        hub_buf_fini(&body);
    } else {
        err = hub_http_peers_send(task->server->replicas->peers, place, &head, &body, &EVENTS, this,
                                  &this->errand);
    }
    return err;
}

/* Pass it on, or answer why not. */
static void pass(const hub_http_task *task, const hub_replica_place *place, passing *this)
{
    static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};
    hub_err err = this != NULL ? send_on(task, place, this) : HUB_ENOMEM;
    if (err == HUB_OK) {
        hub_http_connection_wait(task->connection, &RESPONDER, this);
        return;
    }
    free(this);
    if (err == HUB_ELIMIT) {
        hub_http_answer_refusal(task->connection, 431, NONE,
                                "The headers are too large to be passed on to another replica.");
    } else {
        hub_http_answer_refusal(task->connection, 503,
                                (hub_http_header){HUB_STR("Retry-After"), HUB_STR("1")},
                                hub_err_text(err));
    }
}

static bool passes_on(const hub_http_task *task)
{
    return task->server->replicas != NULL && !task->server->is_replica;
}

bool hub_http_pass(const hub_http_task *task, hub_str session_id, hub_str request_id)
{
    hub_replica_place place;
    if (!passes_on(task) || session_id.len != HUB_SESSION_ID_MOST) {
        return false;
    }
    hub_str random = {.ptr = session_id.ptr, .len = HUB_SESSION_ID_BYTES};
    if (hub_replicas_find_home(task->server->hub, random,
                               hub_str_from(session_id, HUB_SESSION_ID_BYTES),
                               &place) != HUB_HOME_ELSEWHERE) {
        return false;
    }
    pass(task, &place, make_passing(task, request_id, true));
    return true;
}

bool hub_http_pass_message(const hub_http_task *task, const hub_message *message)
{
    const hub_str brought[] = {message->at[HUB_M_REQUEST_STATE], message->at[HUB_M_TASK_ID]};
    hub_replica_place place;
    for (size_t i = 0; passes_on(task) && i < sizeof brought / sizeof brought[0]; i++) {
        if (brought[i].len > 0 && hub_replicas_find_home_in(task->server->hub, brought[i],
                                                            &place) == HUB_HOME_ELSEWHERE) {
            pass(task, &place, make_passing(task, message->at[HUB_M_ID], false));
            return true;
        }
    }
    return false;
}
