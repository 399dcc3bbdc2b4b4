/* SPDX-License-Identifier: Apache-2.0 */
/* From HTTP to WebSocket: the handshake of RFC 6455 section 4.2, after the guards. */
#include "http/upgrade.h"

#include "http/judge.h"

#include <stdlib.h>

struct hub_http_upgraded {
    hub_http_server *server;
    hub_websocket *websocket;
    hub_identity *identity; /* a reference */
    hub_identity *shown;    /* by its certificate; NULL: none. A reference */
    struct hub_http_upgraded *next;
    struct hub_http_upgraded *prev;
};

static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};

static void forget(struct hub_http_upgraded *upgraded)
{
    hub_http_server *server = upgraded->server;
    if (upgraded->prev != NULL) {
        upgraded->prev->next = upgraded->next;
    } else {
        server->upgraded = upgraded->next;
    }
    if (upgraded->next != NULL) {
        upgraded->next->prev = upgraded->prev;
    }
    hub_identity_unref(upgraded->identity);
    hub_identity_unref(upgraded->shown);
    free(upgraded);
}

static void on_end(void *ctx, hub_websocket *websocket)
{
    struct hub_http_upgraded *upgraded = ctx;
    hub_http_server *server = upgraded->server;
    (void)websocket;
    forget(upgraded);
    hub_http_server_free_if_done(server);
}

/* Answer what is no handshake that can be served. */
static bool check_handshake(const hub_http_task *task)
{
    const hub_http_request *request = task->request;
    if (request->minor == 0 ||
        !hub_http_has_element(request, HUB_STR("upgrade"), HUB_STR("websocket")) ||
        !hub_http_has_element(request, HUB_STR("connection"), HUB_STR("upgrade"))) {
        hub_http_answer_refusal(task->connection, 426,
                                (hub_http_header){HUB_STR("Upgrade"), HUB_STR("websocket")},
                                "This is a WebSocket.");
        return false;
    }
    if (!hub_str_is(hub_http_value(request, "sec-websocket-version"), "13")) {
        hub_http_answer_refusal(task->connection, 426,
                                (hub_http_header){HUB_STR("Sec-WebSocket-Version"), HUB_STR("13")},
                                "Sec-WebSocket-Version must be 13.");
        return false;
    }
    if (!hub_websocket_is_key(hub_http_value(request, "sec-websocket-key"))) {
        hub_http_answer_refusal(task->connection, 400, NONE,
                                "Sec-WebSocket-Key must be the Base64 of 16 bytes.");
        return false;
    }
    return true;
}

/* What of the handshake's headers goes on with each message. */
static void add_headers(const hub_http_task *task, hub_buf *lines)
{
    const hub_names *names = hub_forwarded_names(task->server->hub);
    hub_buf value;
    hub_buf_init(&value, HUB_HTTP_LIMIT_HEAD_BYTES);
    for (size_t i = 0; i < names->count; i++) {
        hub_str name = hub_str_of(names->items[i]);
        hub_buf_clear(&value);
        if (hub_http_add_value(task->request, name, &value)) {
            lines->failed = hub_buf_ok(&value) ? lines->failed : value.failed;
            hub_forwarded_add(lines, name, hub_buf_str(&value));
        }
    }
    hub_buf_fini(&value);
}

static hub_err open_websocket(const hub_http_task *task, struct hub_http_upgraded *upgraded,
                              hub_error *reterr)
{
    char profile[HUB_HTTP_PROFILE_BYTES + 1];
    if (!hub_http_task_profile(task, profile)) {
        return HUB_ENOTFOUND;
    }
    hub_buf headers;
    hub_buf_init(&headers, 2 * HUB_HTTP_LIMIT_HEAD_BYTES);
    add_headers(task, &headers);
    if (!hub_buf_ok(&headers)) {
        hub_err failed = headers.failed;
        hub_buf_fini(&headers);
        return hub_fail(reterr, failed, "out of memory");
    }
    hub_websocket_options options = {
        .hub = task->server->hub,
        .pool = task->server->websockets,
        .profile = profile[0] != '\0' ? profile : NULL,
        .identity = task->identity,
        .listener = task->server,
        .peer = hub_http_connection_peer(task->connection),
        .metadata = task->connection->metadata,
        .expires = hub_http_end_of(task->identity, task->connection->shown),
        .key = hub_http_value(task->request, "sec-websocket-key"),
        .offers_mcp =
            hub_http_has_element(task->request, HUB_STR("sec-websocket-protocol"), HUB_STR("mcp")),
        .headers = hub_buf_str(&headers),
        .early = task->early,
        .on_end = on_end,
        .ctx = upgraded,
    };
    hub_err err =
        hub_websocket_open(task->connection->link, &options, &upgraded->websocket, reterr);
    hub_buf_fini(&headers);
    return err;
}

void hub_http_serve_upgrade(const hub_http_task *task)
{
    hub_http_server *server = task->server;
    hub_error why = {.code = HUB_OK};
    if (!check_handshake(task) || hub_http_task_is_late(task, HUB_STR_EMPTY)) {
        return;
    }
    struct hub_http_upgraded *upgraded = calloc(1, sizeof *upgraded);
    if (upgraded == NULL) {
        hub_http_answer_refusal(task->connection, 503, NONE, "out of memory");
        return;
    }
    *upgraded = (struct hub_http_upgraded){
        .server = server, .identity = hub_identity_ref(task->identity), .next = server->upgraded};
    if (task->connection->shown != NULL) {
        upgraded->shown = hub_identity_ref(task->connection->shown);
    }
    if (server->upgraded != NULL) {
        server->upgraded->prev = upgraded;
    }
    server->upgraded = upgraded;
    hub_err err = open_websocket(task, upgraded, &why);
    if (err == HUB_OK) {
        hub_http_connection_hand_over(task->connection);
        return;
    }
    forget(upgraded);
    hub_http_task_refuse_session(task, err, &why);
}

void hub_http_upgraded_close(hub_http_server *server)
{
    for (struct hub_http_upgraded *at = server->upgraded; at != NULL; at = at->next) {
        hub_websocket_close(at->websocket); /* on_end follows, from the loop */
    }
}

void hub_http_upgraded_recheck(hub_http_server *server)
{
    for (struct hub_http_upgraded *at = server->upgraded; at != NULL; at = at->next) {
        bool is_good = hub_http_is_still_good(server, &at->identity, at->shown);
        hub_websocket_expire(at->websocket,
                             is_good ? hub_http_end_of(at->identity, at->shown) : 1); /* long ago */
    }
}

bool hub_http_upgraded_owe(const hub_http_server *server)
{
    const struct hub_http_upgraded *at = server->upgraded;
    while (at != NULL && !hub_websocket_owes(at->websocket)) {
        at = at->next;
    }
    return at != NULL;
}

size_t hub_http_upgraded_count(const hub_http_server *server)
{
    size_t count = 0;
    for (const struct hub_http_upgraded *at = server->upgraded; at != NULL; at = at->next) {
        count++;
    }
    return count;
}
