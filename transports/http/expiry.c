/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials that end while something goes on by them: their time is up (A06), or a reload has
 * taken them away. */
#include "http/judge.h"

void hub_http_expiry_watch(hub_http_connection *connection)
{
    if (connection->identity != NULL && connection->identity->expires != 0) {
        hub_deadline_start(&connection->server->expiring, &connection->expiring, 0);
    } else {
        hub_deadline_stop(&connection->expiring);
    }
}

/* The credential behind a stream, or behind an answer to come, has expired (A06): who wants more
 * has to show another one. */
static void expire(hub_http_connection *connection, const char *why)
{
    const hub_http_responder *responder = connection->responder;
    connection->responder = NULL;
    responder->on_gone(connection->responder_ctx);
    if (connection->streaming) {
        hub_http_answer_end(connection);
    } else {
        hub_buf challenge;
        hub_buf_init(&challenge, HUB_HTTP_LIMIT_HEAD_BYTES);
        hub_buf_add(&challenge, HUB_STR("Bearer error=\"invalid_token\""));
        hub_http_add_metadata(connection, &challenge);
        hub_str value = hub_buf_ok(&challenge) ? hub_buf_str(&challenge) : HUB_STR("Bearer");
        hub_http_answer_refusal(connection, 401,
                                (hub_http_header){HUB_STR("WWW-Authenticate"), value}, why);
        hub_buf_fini(&challenge);
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
        if (hub_identity_is_over(connection->identity, now)) {
            expire(connection, "The token has expired.");
        }
        /* Where a call ends early, others may be answered: the next one may wait no more. */
        at = next == NULL || next->list != NULL ? next : server->expiring.first;
    }
}

/* One that reads the body of a request has been let in by a credential, too. */
static void recheck(hub_http_connection *connection)
{
    static const char WHY[] = "The token has been revoked.";
    const hub_http_server *server = connection->server;
    bool is_reading = hub_http_connection_is_in_body(connection);
    bool is_waiting = connection->responder != NULL;
    if ((!is_reading && !is_waiting) || connection->asks_nobody) {
        return;
    }
    bool is_good = hub_auth_renew(&server->settings->auth, &connection->identity);
    if (is_waiting && is_good) {
        hub_http_expiry_watch(connection);
    } else if (is_waiting) {
        expire(connection, WHY);
    } else if (!is_good) {
        hub_http_connection_refuse(connection, 401, WHY);
    }
}

void hub_http_connections_recheck(hub_http_server *server)
{
    hub_http_connection *next;
    for (hub_http_connection *at = server->connections; at != NULL; at = next) {
        next = at->next;
        recheck(at);
    }
}
