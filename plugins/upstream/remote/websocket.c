/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket.h"

#include "../common/duplex.h"
#include "url.h"
#include "websocket_link.h"
#include "websocket_upgrade.h"

#include <stdarg.h>
#include <strings.h>

enum { CLOSE_NORMAL = 1000 };

/* One connection, from the attempt to its end. */
typedef struct ws_connection {
    mcp_remote *remote;
    ws_link *link;
    ws_frames *frames;
    ws_upgrade upgrade;
    patchbay_out head; /* of the answer, as far as it has come */
    upstream_era era;  /* as it was remembered when the attempt began */
    int is_up;         /* the handshake is over */
    int is_tested;     /* a ping is out, and nothing has come since */
    int busy;          /* what has come is being read */
    int is_over;       /* freed when that is done */
} ws_connection;

struct remote_socket {
    const patchbay_loop_v1 *loop;
    ws_connection *connection; /* NULL: there is none */
    patchbay_timer *timer;     /* of the attempt; then of pings */
    duplex_noise noise;
};

static mcp_remote *remote_of(mcp_server *server)
{
    return (mcp_remote *)server;
}

static void free_connection(ws_connection *connection)
{
    ws_frames_free(connection->frames);
    patchbay_out_free(&connection->head);
    free(connection);
}

/* ---- the end ------------------------------------------------------------------------------- */

static void end_with(mcp_remote *remote, upstream_cause cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void end_with(mcp_remote *remote, upstream_cause cause, const char *format, ...)
{
    char reason[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    upstream_disconnect(&remote->server, reason, cause);
}

static void close_channel(mcp_server *server)
{
    struct remote_socket *socket = remote_of(server)->socket;
    ws_connection *connection = socket->connection;
    duplex_forget_guess(server);
    server->loop->timer_stop(socket->timer);
    if (connection == NULL) {
        return;
    }
    socket->connection = NULL;
    if (connection->is_up) {
        ws_link_send(connection->link, ws_frames_close(connection->frames, CLOSE_NORMAL));
    }
    ws_link_close(connection->link);
    connection->is_over = 1;
    if (connection->busy) {
        ws_frames_stop(connection->frames);
    } else {
        free_connection(connection);
    }
}

/* It has closed, or broken the rules; what is answered to that is on its way. */
static void end_conversation(ws_connection *connection, const ws_frames_end *end)
{
    mcp_remote *remote = connection->remote;
    connection->is_up = 0; /* a close frame has been sent already */
    if (!end->by_server) {
        enum { CODE_TOO_BIG = 1009 }; /* RFC 6455 section 7.4.1 */
        upstream_fail_as(&remote->server, end->text,
                         end->code == CODE_TOO_BIG ? upstream_cause_of_size(&remote->server)
                                                   : CAUSE_FAILURE);
    } else if (!duplex_retry_as_legacy(&remote->server)) {
        char code[16] = "";
        char words[sizeof end->text];
        upstream_quote(patchbay_str_of(end->text), words, sizeof words);
        if (end->code != 0) {
            (void)snprintf(code, sizeof code, " with %d", end->code);
        }
        end_with(remote, CAUSE_FAILURE, "server \"%s\" closed the connection%s%s%s",
                 remote->server.name, code, words[0] != '\0' ? ": " : "", words);
    }
}

static void on_end(void *ctx, int was_connected, const char *why)
{
    ws_connection *connection = ctx;
    mcp_remote *remote = connection->remote;
    const char *name = remote->server.name;
    if (!was_connected) {
        end_with(remote, CAUSE_FAILURE, "cannot reach %s: %s", name, why);
    } else if (!connection->is_up) {
        end_with(remote, CAUSE_FAILURE,
                 "server \"%s\" closed the connection before it was a WebSocket%s%s", name,
                 why[0] != '\0' ? ": " : "", why);
    } else if (!duplex_retry_as_legacy(&remote->server)) {
        end_with(remote, CAUSE_FAILURE, "the connection to server \"%s\" broke%s%s", name,
                 why[0] != '\0' ? ": " : "", why);
    }
}

/* ---- what arrives -------------------------------------------------------------------------- */

static void on_message(void *ctx, patchbay_str text)
{
    ws_connection *connection = ctx;
    mcp_remote *remote = connection->remote;
    duplex_take(&remote->server, &remote->socket->noise, text,
                "sends messages that are not JSON-RPC");
}

static void read_frames(ws_connection *connection, patchbay_str bytes)
{
    ws_chunk *answers = NULL;
    ws_frames_end end;
    connection->is_tested = 0;
    int goes_on = ws_frames_read(connection->frames, bytes, &answers, &end);
    if (connection->is_over) {
        free(answers);
        return;
    }
    ws_link_send(connection->link, answers);
    if (!goes_on) {
        end_conversation(connection, &end);
    } else if (ws_link_queued(connection->link) > DUPLEX_QUEUE_BYTES) {
        upstream_fail(&connection->remote->server, "does not read its input");
    }
}

/* ---- the handshake ------------------------------------------------------------------------- */

/* Nobody asks again and again with a credential that is refused. */
static void take_refused_credential(mcp_remote *remote, int status)
{
    mcp_server *server = &remote->server;
    (void)snprintf(remote->refusal, sizeof remote->refusal,
                   "credential refused: HTTP %d from %s: look at the headers of its entry", status,
                   remote->shown);
    server->not_before_ms = server->loop->now_ms(server->host) + REMOTE_REFUSED_MS;
    end_with(remote, CAUSE_CONFIG, "%s", remote->refusal);
}

/* Where a redirect leads, for people; NULL when that cannot be said. */
static char *dup_target(const mcp_remote *remote, patchbay_str location)
{
    char *shown = NULL;
    patchbay_out text = {0};
    if (location.len > 2 && strncasecmp(location.ptr, "ws", 2) == 0) { /* as config.c has it */
        patchbay_out_text(&text, "http");
        location = patchbay_str_make(location.ptr + 2, location.len - 2);
    }
    patchbay_out_raw(&text, location);
    if (location.len > 0 && !text.failed) {
        char *whole = url_dup_resolved(remote->config.url, text.ptr);
        shown = whole != NULL ? websocket_dup_shown(whole) : NULL;
        free(whole);
    }
    patchbay_out_free(&text);
    return shown;
}

static void take_redirect(mcp_remote *remote, const ws_upgrade_answer *answer)
{
    char *target = dup_target(remote, answer->location);
    end_with(remote, CAUSE_CONFIG,
             "%s redirects to %s (HTTP %d), which is not followed: configure that address",
             remote->shown, target != NULL ? target : "another address", answer->status);
    free(target);
}

static void take_refusal(mcp_remote *remote, const ws_upgrade_answer *answer)
{
    if (answer->why != NULL) {
        upstream_fail(&remote->server, answer->why);
    } else if (answer->status == 401 || answer->status == 403) {
        take_refused_credential(remote, answer->status);
    } else if (answer->status >= 300 && answer->status < 400) {
        take_redirect(remote, answer);
    } else {
        int is_lasting = answer->status < 500 && answer->status != 408 && answer->status != 429;
        end_with(remote, is_lasting ? CAUSE_CONFIG : CAUSE_FAILURE,
                 "%s answered with HTTP %d instead of becoming a WebSocket", remote->shown,
                 answer->status);
    }
}

/* Nothing that was said before the connection was there has left, and only the handshake of MCP
 * can have been: it begins now, and so does its time. */
static void begin(ws_connection *connection)
{
    mcp_server *server = &connection->remote->server;
    connection->is_up = 1;
    server->era = connection->era;
    server->started_ms = server->loop->now_ms(server->host);
    server->loop->timer_start(connection->remote->socket->timer, WEBSOCKET_PING_MS);
    upstream_handshake_begin(server);
}

static void read_answer(ws_connection *connection, patchbay_str bytes)
{
    mcp_remote *remote = connection->remote;
    ws_upgrade_answer answer;
    patchbay_out_raw(&connection->head, bytes);
    if (connection->head.failed) {
        upstream_fail(&remote->server, "cannot be heard: out of memory");
        return;
    }
    const patchbay_str all = patchbay_str_make(connection->head.ptr, connection->head.len);
    ws_upgrade_state state = ws_upgrade_read(&connection->upgrade, all, &answer);
    if (state == UPGRADE_REFUSED) {
        take_refusal(remote, &answer);
    }
    if (state != UPGRADE_DONE) {
        return;
    }
    begin(connection);
    if (!connection->is_over && answer.used < all.len) { /* frames have come with it */
        read_frames(connection, patchbay_str_make(all.ptr + answer.used, all.len - answer.used));
    }
    patchbay_out_free(&connection->head);
}

static void on_bytes(void *ctx, patchbay_str bytes)
{
    ws_connection *connection = ctx;
    connection->busy = 1;
    if (connection->is_up) {
        read_frames(connection, bytes);
    } else {
        read_answer(connection, bytes);
    }
    connection->busy = 0;
    if (connection->is_over) {
        free_connection(connection);
    }
}

static ws_chunk *make_request(const ws_connection *connection)
{
    const remote_config *config = &connection->remote->config;
    ws_chunk *chunk = NULL;
    patchbay_out text = {0};
    if (ws_upgrade_write(&connection->upgrade, config->url, config->headers, &text)) {
        chunk = calloc(1, sizeof *chunk + text.len);
    }
    if (chunk != NULL) {
        chunk->len = text.len;
        memcpy(chunk->bytes, text.ptr, text.len);
    }
    patchbay_out_free(&text);
    return chunk;
}

static void on_connected(void *ctx)
{
    ws_connection *connection = ctx;
    ws_chunk *request = make_request(connection);
    if (request == NULL) {
        upstream_fail(&connection->remote->server, "cannot be asked: out of memory");
        return;
    }
    ws_link_send(connection->link, request);
}

/* ---- the channel --------------------------------------------------------------------------- */

/* The attempt has taken too long; or it is time for a ping. */
static void on_time(void *ctx)
{
    mcp_remote *remote = ctx;
    ws_connection *connection = remote->socket->connection;
    if (connection == NULL) {
        return;
    }
    if (!connection->is_up) {
        char time[UPSTREAM_TIME_BYTES];
        upstream_write_time(remote->config.connect_timeout_ms, time);
        end_with(remote, CAUSE_FAILURE, "cannot reach %s: no WebSocket within %s (connect_timeout)",
                 remote->server.name, time);
    } else if (connection->is_tested) {
        upstream_fail(&remote->server, "does not answer pings");
    } else {
        connection->is_tested = 1;
        remote->server.loop->timer_start(remote->socket->timer, WEBSOCKET_PING_MS);
        ws_link_send(connection->link, ws_frames_ping(connection->frames));
    }
}

static int open_channel(mcp_server *server)
{
    static const ws_link_events EVENTS = {
        .on_connected = on_connected, .on_bytes = on_bytes, .on_end = on_end};
    mcp_remote *remote = remote_of(server);
    if (server->loop->now_ms(server->host) < server->not_before_ms) {
        end_with(remote, CAUSE_CONFIG, "%s", remote->refusal);
        return 0;
    }
    ws_connection *made = calloc(1, sizeof *made);
    if (made == NULL) {
        upstream_fail(server, "cannot be reached: out of memory");
        return 0;
    }
    made->remote = remote;
    made->era = server->era;
    made->frames = ws_frames_create(remote_message_bytes(remote), on_message, made);
    if (made->frames == NULL || !ws_upgrade_begin(&made->upgrade) ||
        ws_link_open(server->loop, server->host, remote->http, remote->config.url, &EVENTS, made,
                     &made->link) != PATCHBAY_OK) {
        free_connection(made);
        upstream_fail(server, "cannot be reached: out of memory");
        return 0;
    }
    remote->socket->connection = made;
    server->loop->timer_start(remote->socket->timer, remote->config.connect_timeout_ms);
    return 1;
}

static int32_t send_message(mcp_server *server, const upstream_outgoing *message)
{
    const ws_connection *connection = remote_of(server)->socket->connection;
    size_t len = 0;
    if (connection == NULL) {
        return PATCHBAY_ESTATE;
    }
    if (!connection->is_up) {
        return PATCHBAY_OK; /* begin() says it again */
    }
    for (uint32_t i = 0; i < message->part_count; i++) {
        len += message->parts[i].len;
    }
    if (ws_link_queued(connection->link) + len > DUPLEX_QUEUE_BYTES) {
        return PATCHBAY_ELIMIT;
    }
    ws_chunk *chunk = ws_frames_message(connection->frames, message->parts, message->part_count);
    ws_link_send(connection->link, chunk);
    return chunk != NULL ? PATCHBAY_OK : PATCHBAY_ENOMEM;
}

const upstream_channel websocket_channel = {
    .open = open_channel,
    .send = send_message,
    .cancel = duplex_cancel,
    .close = close_channel,
};

char *websocket_dup_shown(const char *url)
{
    char *shown = url_dup_shown(url);
    if (shown != NULL) {
        shown[0] = 'w';
        shown[1] = 's';
        memmove(shown + 2, shown + 4, strlen(shown + 4) + 1);
    }
    return shown;
}

int32_t websocket_init(mcp_remote *remote, const patchbay_host_api *api, patchbay_host *host)
{
    struct remote_socket *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return PATCHBAY_ENOMEM;
    }
    remote->socket = made;
    made->loop = api->get_interface(host, PATCHBAY_LOOP_V1);
    made->timer = made->loop != NULL ? made->loop->timer(host, on_time, remote) : NULL;
    return made->timer != NULL ? PATCHBAY_OK : PATCHBAY_ENOMEM;
}

void websocket_fini(mcp_remote *remote)
{
    struct remote_socket *socket = remote->socket;
    if (socket != NULL && socket->loop != NULL) {
        socket->loop->timer_free(socket->timer);
    }
    free(socket);
    remote->socket = NULL;
}
