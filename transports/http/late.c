/* SPDX-License-Identifier: Apache-2.0 */
/* Connections whose time is up: for a head, a body, another request, or something to write. */
#include "http/internal.h"

static hub_http_connection *find_late(const hub_deadlines *list, uint64_t now_ms, uint32_t after_ms)
{
    hub_deadline *late = hub_deadline_late(list, now_ms, after_ms);
    return late != NULL ? HUB_DEADLINE_OF(late, hub_http_connection, deadline) : NULL;
}

static void end_late(const hub_deadlines *list, uint64_t now_ms, uint32_t after_ms, bool say_so)
{
    hub_http_connection *connection;
    while ((connection = find_late(list, now_ms, after_ms)) != NULL) {
        if (say_so) {
            hub_http_connection_refuse(connection, 408, "The request did not arrive in time.");
            continue;
        }
        hub_http_connection_drop(connection);
    }
}

void hub_http_connections_check(hub_http_server *server, uint64_t now_ms)
{
    const hub_net_limits *limits = &server->settings->limits.net;
    hub_http_connection *connection;
    end_late(&server->fresh, now_ms, limits->header_ms, false);
    end_late(&server->idle, now_ms,
             server->is_replica ? HUB_HTTP_LIMIT_PEER_KEPT_MS : limits->idle_ms, false);
    end_late(&server->heads, now_ms, limits->header_ms, true);
    end_late(&server->bodies, now_ms, limits->body_ms, true);
    hub_http_expiry_check(server);
    while ((connection = find_late(&server->quiet, now_ms, limits->sse_comment_ms)) != NULL) {
        hub_deadline_start(&server->quiet, &connection->deadline, now_ms);
        if (!connection->streaming) {
            connection->responder->on_quiet(connection->responder_ctx);
        } else {
            hub_http_answer_comment(connection);
        }
    }
}
