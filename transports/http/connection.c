/* SPDX-License-Identifier: Apache-2.0 */
#include "http/connection.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/chunked.h"
#include "http/routes.h"

#include <stdlib.h>

/* A request while it comes; about 4 kB, and gone when it is served. The server keeps one for the
 * next request, so it is not zeroed as a whole. */
typedef struct hub_http_incoming {
    hub_http_scan scan;
    hub_buf head;
    hub_buf body;
    bool in_body;
    hub_http_request request; /* once the head is complete; points into `head` then */
    hub_http_task task;       /* likewise */
    hub_http_chunked chunked; /* while in_body */
} hub_http_incoming;

static void enter(hub_http_connection *connection, hub_deadlines *list)
{
    hub_deadline_start(list, &connection->deadline, hub_clock_coarse_ms());
}

/* Say what is kept for this client. */
static hub_err settle(const hub_http_connection *connection)
{
    const hub_http_incoming *incoming = connection->incoming;
    size_t bytes = connection->held.cap;
    if (incoming != NULL) {
        bytes += sizeof *incoming + incoming->head.cap + incoming->body.cap;
    }
    return hub_link_keep(connection->link, bytes);
}

/* What is kept grows with a request that is still on its way. False when it has been refused. */
static bool may_keep(hub_http_connection *connection)
{
    if (settle(connection) == HUB_OK) {
        return true;
    }
    connection->keep_alive = false;
    connection->is_head = false;
    hub_http_answer_refusal(connection, 503,
                            (hub_http_header){HUB_STR("Retry-After"), HUB_STR("1")},
                            "The hub keeps as much for its clients as limits.client_memory "
                            "allows: try again later.");
    return false;
}

static void drop_incoming(hub_http_connection *connection)
{
    hub_http_incoming *incoming = connection->incoming;
    hub_http_server *server = connection->server;
    connection->incoming = NULL;
    if (incoming == NULL) {
        return;
    }
    if (!connection->handed_over) {
        (void)settle(connection); /* less is never refused */
    }
    hub_buf_fini(&incoming->head);
    hub_buf_fini(&incoming->body);
    if (server->spare == NULL) {
        server->spare = incoming;
    } else {
        free(incoming);
    }
}

static bool begin_incoming(hub_http_connection *connection)
{
    hub_http_server *server = connection->server;
    size_t max_body = server->settings->limits.client_message_bytes;
    hub_http_incoming *incoming = server->spare;
    server->spare = NULL;
    if (incoming == NULL && (incoming = malloc(sizeof *incoming)) == NULL) {
        return false;
    }
    hub_http_scan_init(&incoming->scan, max_body);
    hub_buf_init(&incoming->head, HUB_HTTP_LIMIT_HELD_BYTES);
    hub_buf_init(&incoming->body, max_body);
    incoming->in_body = false;
    connection->incoming = incoming;
    return true;
}

/* Blank lines in front of a request do not begin it. */
static bool has_begun(const hub_http_incoming *incoming)
{
    return incoming->scan.checked > incoming->scan.begin;
}

/* Keep what has come before its turn, and let the rest wait in the socket. */
static void hold(hub_http_connection *connection, hub_str bytes)
{
    hub_buf_add(&connection->held, bytes);
    if (!hub_buf_ok(&connection->held) || settle(connection) != HUB_OK) {
        hub_log(HUB_LOG_INFO, "http.overflow", HUB_F_TEXT("peer", hub_link_peer(connection->link)),
                HUB_F_TEXT("reason", "too much was sent ahead"));
        connection->closing = true;
        hub_link_close(connection->link, false);
        return;
    }
    hub_link_pause(connection->link, true);
}

/* ---- one request ----------------------------------------------------------------------------- */

static void serve(hub_http_connection *connection, hub_http_task *task, hub_str body, hub_str early)
{
    hub_deadline_stop(&connection->deadline);
    connection->busy = true;
    task->body = body;
    task->early = early;
    hub_http_routes_serve(task);
    drop_incoming(connection);
}

/* The head is complete; `rest` is what came behind it. Decide whether its body is wanted. */
static bool admit(hub_http_connection *connection, hub_str rest)
{
    hub_http_incoming *incoming = connection->incoming;
    const hub_http_request *request = &incoming->request;
    bool is_whole = request->framing != HUB_HTTP_CHUNKED && rest.len >= request->content_length;
    connection->busy = true;
    connection->is_1_0 = request->minor == 0;
    connection->is_head = hub_str_is(request->method, "HEAD");
    /* Until the body is here, an answer is the last one: nobody waits for what is not wanted. */
    connection->keep_alive = request->keep_alive && is_whole;
    incoming->task =
        (hub_http_task){.connection = connection, .server = connection->server, .request = request};
    hub_identity_unref(connection->identity);
    connection->identity = NULL;
    hub_http_forwarded_read(request, connection->server->listen, hub_link_peer(connection->link),
                            &connection->forwarded);
    if (!hub_http_routes_admit(&incoming->task)) {
        return false;
    }
    connection->keep_alive = request->keep_alive;
    connection->asks_nobody = incoming->task.identity == NULL;
    incoming->body.max = incoming->task.max_body_bytes;
    return true;
}

/* Keep the head for as long as the body comes. False when there is no memory. */
static bool keep_head(hub_http_incoming *incoming, hub_str head)
{
    hub_http_request *request = &incoming->request;
    if (incoming->head.len == 0) {
        hub_buf_add(&incoming->head, head);
    }
    if (!hub_buf_ok(&incoming->head)) {
        return false;
    }
    /* Read it again where it lies now. */
    hub_http_task task = incoming->task;
    hub_http_scan_init(&incoming->scan, incoming->scan.max_body_bytes);
    hub_http_progress progress =
        hub_http_request_next(&incoming->scan, hub_buf_str(&incoming->head), request);
    hub_assert(progress == HUB_HTTP_DONE);
    if (task.profile.len > 0) { /* it is the end of the path */
        task.profile.ptr = request->path.ptr + (request->path.len - task.profile.len);
    }
    incoming->task = task;
    return true;
}

/* The body of an admitted request. Returns how many bytes were used. */
static size_t read_body(hub_http_connection *connection, hub_str bytes)
{
    hub_http_incoming *incoming = connection->incoming;
    const hub_http_request *request = &incoming->request;
    size_t used = bytes.len;
    if (request->framing == HUB_HTTP_CHUNKED) {
        hub_http_progress progress =
            hub_http_chunked_next(&incoming->chunked, bytes, &incoming->body, &used);
        if (progress == HUB_HTTP_REFUSED) {
            hub_http_answer_last(connection, incoming->chunked.status, incoming->chunked.reason);
            return bytes.len;
        }
        if (progress == HUB_HTTP_MORE) {
            (void)may_keep(connection); /* what there is has been used either way */
            return bytes.len;
        }
    } else {
        size_t missing = request->content_length - incoming->body.len;
        used = bytes.len < missing ? bytes.len : missing;
        hub_buf_add(&incoming->body, (hub_str){.ptr = bytes.ptr, .len = used});
        if (!hub_buf_ok(&incoming->body)) {
            hub_http_answer_last(connection, 503, "out of memory");
            return bytes.len;
        }
        if (used < missing) {
            (void)may_keep(connection); /* what there is has been used either way */
            return used;
        }
    }
    serve(connection, &incoming->task, hub_buf_str(&incoming->body), hub_str_from(bytes, used));
    return used;
}

/* An admitted request whose body is not complete: say that it may come, and take what has. */
static size_t begin_body(hub_http_connection *connection, hub_str all)
{
    hub_http_incoming *incoming = connection->incoming;
    size_t head_bytes = incoming->request.used;
    hub_str rest = hub_str_from(all, head_bytes);
    bool expects_continue = incoming->request.expects_continue && rest.len == 0;
    /* `all` may lie in the buffer that keeps the head: what follows the head stays behind it. */
    if (!keep_head(incoming, (hub_str){.ptr = all.ptr, .len = head_bytes})) {
        hub_http_answer_last(connection, 503, "out of memory");
        return all.len;
    }
    incoming->in_body = true;
    connection->busy = false;
    enter(connection, &connection->server->bodies);
    if (incoming->request.framing == HUB_HTTP_CHUNKED) {
        hub_http_chunked_init(&incoming->chunked, incoming->body.max);
    }
    if (expects_continue) {
        hub_str go_on = HUB_HTTP_CONTINUE;
        if (hub_link_write(connection->link, &go_on, 1) != HUB_OK) {
            return all.len; /* the link ends */
        }
    }
    return head_bytes + (rest.len > 0 ? read_body(connection, rest) : 0);
}

/* The token has to be verified first: the request is read again from its first byte then. */
static void await_judgement(hub_http_connection *connection, hub_str all)
{
    connection->was_judged = true;
    hold(connection, all);
    drop_incoming(connection);
    if (connection->closing) {
        hub_issuers_leave(&connection->judged);
    } else {
        enter(connection, &connection->server->heads);
    }
}

static void on_judged(hub_issuers_waiter *waiter)
{
    hub_http_connection *connection = HUB_DEADLINE_OF(waiter, hub_http_connection, judged);
    connection->busy = false;
    hub_http_connection_resume(connection);
}

/* `all` begins with a complete head. Returns how many bytes of it were used. */
static size_t take_request(hub_http_connection *connection, hub_str all)
{
    hub_http_incoming *incoming = connection->incoming;
    hub_str rest = hub_str_from(all, incoming->request.used);
    size_t length = incoming->request.content_length;
    bool is_whole = incoming->request.framing != HUB_HTTP_CHUNKED && rest.len >= length;
    size_t used = incoming->request.used + (is_whole ? length : rest.len);
    hub_deadline_stop(&connection->deadline);
    if (!admit(connection, rest)) {
        if (incoming->task.is_later) {
            await_judgement(connection, all);
            return all.len;
        }
        drop_incoming(connection);
        return is_whole ? used : all.len;
    }
    if (!is_whole) {
        return begin_body(connection, all);
    }
    serve(connection, &incoming->task, (hub_str){.ptr = rest.ptr, .len = length},
          hub_str_from(rest, length));
    return used;
}

/* Bytes of a head. Returns how many of `bytes` were used. */
static size_t read_head(hub_http_connection *connection, hub_str bytes)
{
    hub_http_incoming *incoming = connection->incoming;
    size_t before = incoming->head.len;
    hub_str all = bytes;
    if (before > 0) {
        hub_buf_add(&incoming->head, bytes);
        all = hub_buf_str(&incoming->head);
    }
    if (!hub_buf_ok(&incoming->head)) {
        hub_http_answer_last(connection, 503, "out of memory");
        return bytes.len;
    }
    switch (hub_http_request_next(&incoming->scan, all, &incoming->request)) {
    case HUB_HTTP_REFUSED:
        hub_http_answer_last(connection, incoming->request.status, incoming->request.reason);
        return bytes.len;
    case HUB_HTTP_DONE:
        return take_request(connection, all) - before;
    default:
        if (before == 0) {
            hub_buf_add(&incoming->head, bytes);
        }
        if (!may_keep(connection)) {
            return bytes.len;
        }
        if (has_begun(incoming) && connection->deadline.list != &connection->server->heads) {
            enter(connection, &connection->server->heads);
        }
        return bytes.len;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void destroy(hub_http_connection *connection)
{
    hub_http_server *server = connection->server;
    hub_deadline_stop(&connection->deadline);
    hub_deadline_stop(&connection->expiring);
    if (connection->prev != NULL) {
        connection->prev->next = connection->next;
    } else {
        server->connections = connection->next;
    }
    if (connection->next != NULL) {
        connection->next->prev = connection->prev;
    }
    drop_incoming(connection);
    hub_buf_fini(&connection->held);
    hub_client_leave(connection->client);
    free(connection->origin);
    free(connection->metadata);
    free(connection->greeted);
    hub_issuers_leave(&connection->judged);
    hub_identity_unref(connection->identity);
    hub_identity_unref(connection->shown);
    free(connection);
}

/* Who does not take his answers need not ask for more. */
static bool is_behind(const hub_http_connection *connection)
{
    return hub_link_queued(connection->link) > HUB_HTTP_LIMIT_UNREAD_BYTES;
}

static void read_requests(hub_http_connection *connection, hub_str bytes)
{
    connection->reading = true;
    while (bytes.len > 0 && !connection->busy && !connection->closing && !is_behind(connection)) {
        if (connection->incoming == NULL && !begin_incoming(connection)) {
            hub_http_answer_last(connection, 503, "out of memory");
            break;
        }
        bool in_body = connection->incoming->in_body;
        bytes = hub_str_from(bytes,
                             in_body ? read_body(connection, bytes) : read_head(connection, bytes));
    }
    connection->reading = false;
    if (connection->handed_over) {
        destroy(connection);
        return;
    }
    if (connection->closing) {
        drop_incoming(connection);
        hub_deadline_stop(&connection->deadline);
    } else if (bytes.len > 0) {
        hold(connection, bytes);
    } else if (!connection->busy && connection->deadline.list == NULL) {
        enter(connection, &connection->server->idle);
    }
}

static void on_bytes(void *owner, hub_str bytes)
{
    hub_http_connection *connection = owner;
    if (connection->busy && !connection->closing) {
        hold(connection, bytes);
    } else if (!connection->closing) {
        read_requests(connection, bytes);
    }
}

static void on_drained(void *owner)
{
    hub_http_connection *connection = owner;
    if (connection->held.len > 0) {
        hub_http_connection_resume(connection);
    }
}

static void on_end(void *owner)
{
    hub_http_connection *connection = owner;
    const hub_http_responder *responder = connection->responder;
    connection->responder = NULL;
    if (responder != NULL) {
        responder->on_gone(connection->responder_ctx);
    }
    destroy(connection);
}

static const hub_link_events EVENTS = {
    .on_bytes = on_bytes, .on_drained = on_drained, .on_end = on_end};

static void ignore_bytes(void *owner, hub_str bytes)
{
    (void)owner;
    (void)bytes;
}

static void ignore_end(void *owner)
{
    (void)owner;
}

/* Of a link that has been closed and whose owner has gone. */
static const hub_link_events NOBODY = {.on_bytes = ignore_bytes, .on_end = ignore_end};

const char *hub_http_connection_peer(const hub_http_connection *connection)
{
    const char *client = connection->forwarded.client;
    return client[0] != '\0' ? client : hub_link_peer(connection->link);
}

void hub_http_connection_accept(void *ctx, hub_link *link)
{
    hub_http_server *server = ctx;
    hub_http_connection *connection = server->stopping ? NULL : calloc(1, sizeof *connection);
    if (connection == NULL) {
        hub_log(HUB_LOG_WARNING, "http.refused",
                HUB_F_TEXT("reason", server->stopping ? "the hub stops" : "out of memory"));
        hub_link_set_owner(link, &NOBODY, NULL);
        hub_link_close(link, false);
        return;
    }
    connection->server = server;
    connection->link = link;
    connection->judged.on_judged = on_judged;
    hub_buf_init(&connection->held, HUB_HTTP_LIMIT_HELD_BYTES);
    connection->next = server->connections;
    if (connection->next != NULL) {
        connection->next->prev = connection;
    }
    server->connections = connection;
    hub_link_set_owner(link, &EVENTS, connection);
    enter(connection, &server->fresh);
}

void hub_http_connection_resume(hub_http_connection *connection)
{
    hub_deadline_stop(&connection->deadline);
    if (connection->closing || connection->busy) {
        return;
    }
    if (connection->held.len == 0) {
        enter(connection, &connection->server->idle);
        return;
    }
    hub_buf held = connection->held;
    hub_buf_init(&connection->held, held.max);
    (void)settle(connection); /* less is never refused */
    hub_link_pause(connection->link, false);
    read_requests(connection, hub_buf_str(&held));
    hub_buf_fini(&held);
}

void hub_http_connection_stop(hub_http_connection *connection)
{
    if (!connection->busy && !connection->closing) {
        connection->closing = true;
        hub_deadline_stop(&connection->deadline);
        hub_link_close(connection->link, true);
    }
}

void hub_http_connection_destroy(hub_http_connection *connection)
{
    const hub_http_responder *responder = connection->responder;
    connection->responder = NULL;
    if (responder != NULL) {
        responder->on_gone(connection->responder_ctx);
    }
    hub_link_set_owner(connection->link, &NOBODY, NULL);
    hub_link_close(connection->link, false);
    destroy(connection);
}

void hub_http_connection_hand_over(hub_http_connection *connection)
{
    connection->handed_over = true;
    connection->closing = true;
}

void hub_http_connection_wait(hub_http_connection *connection, const hub_http_responder *responder,
                              void *ctx)
{
    connection->responder = responder;
    connection->responder_ctx = ctx;
    enter(connection, &connection->server->quiet);
    hub_http_expiry_watch(connection);
}

/* ---- giving up ------------------------------------------------------------------------------- */

bool hub_http_connection_is_in_body(const hub_http_connection *connection)
{
    return connection->incoming != NULL && connection->incoming->in_body;
}

void hub_http_connection_refuse(hub_http_connection *connection, int status, const char *reason)
{
    hub_issuers_leave(&connection->judged);
    hub_http_answer_last(connection, status, reason);
    hub_deadline_stop(&connection->deadline);
    drop_incoming(connection);
}

void hub_http_connection_drop(hub_http_connection *connection)
{
    connection->closing = true;
    hub_link_close(connection->link, false);
    hub_deadline_stop(&connection->deadline);
    drop_incoming(connection);
}
