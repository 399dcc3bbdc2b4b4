/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials that end while something goes on by them: their time is up (A06), or a reload has
 * taken them away. */
#include "http/judge.h"

static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};

void hub_http_expiry_watch(hub_http_connection *connection)
{
    if (hub_http_end_of(connection->identity, connection->shown) != 0) {
        hub_deadline_start(&connection->server->expiring, &connection->expiring, 0);
    } else {
        hub_deadline_stop(&connection->expiring);
    }
}

static void refuse_token(hub_http_connection *connection, bool is_revoked)
{
    hub_buf challenge;
    hub_buf_init(&challenge, HUB_HTTP_LIMIT_HEAD_BYTES);
    hub_buf_add(&challenge, HUB_STR("Bearer error=\"invalid_token\""));
    hub_http_add_metadata(connection, &challenge);
    hub_str value = hub_buf_ok(&challenge) ? hub_buf_str(&challenge) : HUB_STR("Bearer");
    hub_http_answer_refusal(connection, 401, (hub_http_header){HUB_STR("WWW-Authenticate"), value},
                            is_revoked ? "The token has been revoked." : "The token has expired.");
    hub_buf_fini(&challenge);
}

/* The credential behind a stream, or behind an answer to come, has expired (A06): who wants more
 * has to show another one. Another certificate takes another connection. */
static void expire(hub_http_connection *connection, bool is_certificate, bool is_revoked)
{
    const hub_http_responder *responder = connection->responder;
    connection->responder = NULL;
    responder->on_gone(connection->responder_ctx);
    connection->keep_alive = connection->keep_alive && !is_certificate;
    if (connection->relaying) {
        hub_http_connection_drop(connection);
    } else if (connection->streaming) {
        hub_http_answer_end(connection);
    } else if (is_certificate) {
        hub_http_answer_refusal(connection, 403, NONE,
                                is_revoked ? "The client certificate is not accepted any more."
                                           : "The client certificate has expired.");
    } else {
        refuse_token(connection, is_revoked);
    }
}

void hub_http_expiry_check(hub_http_server *server)
{
    time_t now = time(NULL);
    if (now == server->expiring_s) {
        return;
    }
    server->expiring_s = now;
    hub_deadline *at = server->expiring.first;
    while (at != NULL) {
        hub_http_connection *connection = HUB_DEADLINE_OF(at, hub_http_connection, expiring);
        hub_deadline *next = at->next;
        if (connection->shown != NULL && hub_identity_is_over(connection->shown, now)) {
            expire(connection, true, false);
        } else if (connection->identity != NULL &&
                   hub_identity_is_over(connection->identity, now)) {
            expire(connection, false, false);
        }
        /* Where a call ends early, others may be answered: the next one may wait no more. */
        at = next == NULL || next->list != NULL ? next : server->expiring.first;
    }
}

/* Nothing is asked over it, and the certificate that it began with is not good any more. */
static bool is_idle_stranger(const hub_http_connection *connection)
{
    return connection->shown != NULL && !connection->busy && !connection->closing &&
           !hub_http_certificates_accept(connection->server->certificates, connection->shown);
}

/* One that reads the body of a request has been let in by a credential, too. */
static void recheck(hub_http_connection *connection)
{
    const hub_http_server *server = connection->server;
    bool is_reading = hub_http_connection_is_in_body(connection);
    bool is_waiting = connection->responder != NULL;
    if (!is_reading && !is_waiting && is_idle_stranger(connection)) {
        hub_http_connection_drop(connection);
    }
    if ((!is_reading && !is_waiting) || connection->asks_nobody) {
        return;
    }
    bool is_certified = hub_http_certificates_accept(server->certificates, connection->shown);
    bool is_good = hub_http_is_still_good(server, &connection->identity, connection->shown);
    if (is_waiting && is_good) {
        hub_http_expiry_watch(connection);
    } else if (is_waiting) {
        expire(connection, !is_certified, true);
    } else if (!is_good) {
        hub_http_connection_refuse(connection, is_certified ? 401 : 403,
                                   is_certified
                                       ? "The token has been revoked."
                                       : "The client certificate is not accepted any more.");
    }
}

void hub_http_connections_recheck(hub_http_server *server)
{
    hub_http_connection *next;
    if (server->is_replica) { /* who was let in by a credential is with another replica */
        return;
    }
    for (hub_http_connection *at = server->connections; at != NULL; at = next) {
        next = at->next;
        recheck(at);
    }
}
