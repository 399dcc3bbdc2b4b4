/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/websocket.h"

#include "base/bucket.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/deadline.h"
#include "websocket/handshake.h"
#include "websocket/limits.h"
#include "websocket/reader.h"

#include <stdlib.h>
#include <time.h>

enum { MESSAGE_PARTS = 32, HELD_BYTES = 1024 * 1024 };

static const hub_bucket_rate FRAMES = {.per_second = HUB_WEBSOCKET_LIMIT_FRAMES_PER_SECOND,
                                       .at_once = HUB_WEBSOCKET_LIMIT_FRAMES};
static const hub_bucket_rate CONTROLS = {.per_second = HUB_WEBSOCKET_LIMIT_CONTROLS_PER_SECOND,
                                         .at_once = HUB_WEBSOCKET_LIMIT_CONTROLS};

struct hub_websockets {
    hub_net *net;
    const hub_settings *settings;
    hub_net_tick tick;
    uint64_t now_ms;        /* as of the last tick, or of a socket opened since */
    hub_deadlines quiet;    /* to be pinged after ping_ms */
    hub_deadlines pinged;   /* something has to come within pong_ms */
    hub_deadlines reading;  /* the rest of a message is due within body_ms */
    hub_deadlines slowed;   /* their frames are read from the next tick on */
    hub_deadlines expired;  /* their calls in flight have until the end of the grace */
    hub_websocket *sockets; /* list */
    int64_t next_expiry;    /* of a credential; seconds since 1970, INT64_MAX: none */
};

struct hub_websocket {
    hub_port port; /* first: a port is its transport */
    hub_websockets *pool;
    hub_link *link;
    hub_session *session; /* NULL: closing, nothing is sent or taken any more */
    hub_websocket *next;
    hub_websocket *prev;
    void (*on_end)(void *ctx, hub_websocket *websocket);
    void *ctx;
    hub_deadline alive;   /* quiet or pinged */
    hub_deadline message; /* reading */
    hub_deadline slow;    /* slowed */
    hub_deadline expiry;  /* expired */
    int64_t expires;      /* INT64_MAX: never */
    hub_ws_reader reader;
    hub_bucket frames;
    hub_bucket controls;
    hub_buf held;   /* came before a pause, is read after it */
    bool is_behind; /* paused until the peer has read what waits */
    char *headers;  /* of its handshake, that are to be forwarded; NULL: none */
};

/* ---- out ------------------------------------------------------------------------------------- */

static bool is_paused(const hub_websocket *socket)
{
    return socket->is_behind || socket->slow.list != NULL || socket->expiry.list != NULL;
}

static hub_err send_message(hub_port *port, const hub_outgoing *message)
{
    hub_websocket *socket = (hub_websocket *)port;
    char head[10];
    hub_str parts[1 + MESSAGE_PARTS];
    size_t len = 0;
    if (socket->session == NULL) {
        return HUB_ESTATE;
    }
    hub_assert(message->count <= MESSAGE_PARTS);
    for (size_t i = 0; i < message->count; i++) {
        parts[1 + i] = message->parts[i];
        len += message->parts[i].len;
    }
    parts[0] = (hub_str){.ptr = head, .len = hub_ws_head_write(HUB_WS_TEXT, len, head)};
    hub_err err = hub_link_write(socket->link, parts, 1 + message->count);
    if (err == HUB_OK && hub_link_queued(socket->link) > HUB_WEBSOCKET_PAUSE_BYTES) {
        socket->is_behind = true;
        hub_link_pause(socket->link, true);
    }
    return err;
}

static bool add_header(hub_port *port, hub_str name, hub_buf *value)
{
    const hub_websocket *socket = (const hub_websocket *)port;
    hub_str found = HUB_STR_EMPTY;
    bool is_there = hub_forwarded_find(hub_str_of(socket->headers), name, &found);
    hub_buf_add(value, found);
    return is_there;
}

static const hub_port_ops PORT = {.send = send_message, .add_header = add_header};

static bool write_control(hub_websocket *socket, hub_ws_opcode opcode, hub_str payload)
{
    char head[10];
    const hub_str parts[] = {
        {.ptr = head, .len = hub_ws_head_write(opcode, payload.len, head)},
        payload,
    };
    return hub_link_write(socket->link, parts, 2) == HUB_OK;
}

/* Nothing is heard or said any more. */
static void end_session(hub_websocket *socket)
{
    hub_session *session = socket->session;
    socket->session = NULL;
    hub_deadline_stop(&socket->alive);
    hub_deadline_stop(&socket->message);
    hub_deadline_stop(&socket->slow);
    hub_deadline_stop(&socket->expiry);
    hub_session_close(session);
}

/* The last word, if there is one, is said: the link lets the peer read it, and ends. */
static void finish(hub_websocket *socket, bool flush)
{
    hub_link_close(socket->link, flush);
    end_session(socket);
}

static void close_with(hub_websocket *socket, hub_ws_code code, const char *reason)
{
    char payload[HUB_WS_CONTROL_BYTES];
    size_t len = strlen(reason);
    if (socket->session == NULL) {
        return;
    }
    hub_assert(len <= sizeof payload - 2);
    payload[0] = (char)((unsigned)code >> 8);
    payload[1] = (char)((unsigned)code & 0xff);
    memcpy(payload + 2, reason, len);
    hub_log(HUB_LOG_DEBUG, "websocket.closing", HUB_F_TEXT("peer", hub_link_peer(socket->link)),
            HUB_F_INT("code", code), HUB_F_TEXT("reason", reason));
    const hub_str text = {.ptr = payload, .len = 2 + len};
    finish(socket, write_control(socket, HUB_WS_CLOSE, text));
}

/* ---- in -------------------------------------------------------------------------------------- */

/* A frame begins: may it? */
static void take_head(hub_websocket *socket, hub_ws_opcode opcode)
{
    hub_websockets *pool = socket->pool;
    if (hub_ws_is_control(opcode)) {
        if (!hub_bucket_take(&socket->controls, pool->now_ms, CONTROLS)) {
            close_with(socket, HUB_WS_POLICY, "too many pings");
        }
        return;
    }
    if (!hub_bucket_take(&socket->frames, pool->now_ms, FRAMES)) {
        hub_deadline_start(&pool->slowed, &socket->slow, pool->now_ms);
    }
    if (socket->message.list == NULL) {
        hub_deadline_start(&pool->reading, &socket->message, pool->now_ms);
    }
}

static void take_event(hub_websocket *socket, const hub_ws_event *event)
{
    switch (event->kind) {
    case HUB_WS_EVENT_HEAD:
        take_head(socket, event->opcode);
        break;
    case HUB_WS_EVENT_MESSAGE:
        hub_deadline_stop(&socket->message);
        hub_session_receive(socket->session, &socket->port, event->text);
        break;
    case HUB_WS_EVENT_PING:
        if (!write_control(socket, HUB_WS_PONG, event->text)) {
            finish(socket, false);
        }
        break;
    case HUB_WS_EVENT_CLOSE:
        finish(socket, write_control(socket, HUB_WS_CLOSE, event->text));
        break;
    case HUB_WS_EVENT_FAULT:
        close_with(socket, event->fault.code, event->fault.reason);
        break;
    case HUB_WS_EVENT_PONG: /* whatever comes shows that the peer lives */
    case HUB_WS_EVENT_NONE:
        break;
    }
}

/* Read until everything is read, or a pause. What is left is kept. */
static void read_bytes(hub_websocket *socket, hub_str bytes)
{
    while (bytes.len > 0 && socket->session != NULL && !is_paused(socket)) {
        hub_ws_event event;
        bytes = hub_str_from(bytes, hub_ws_reader_next(&socket->reader, bytes, &event));
        take_event(socket, &event);
    }
    if (socket->session == NULL) {
        hub_ws_reader_fini(&socket->reader);
        return;
    }
    hub_ws_reader_rest(&socket->reader);
    if (hub_link_keep(socket->link, hub_ws_reader_bytes(&socket->reader) + socket->held.cap) !=
        HUB_OK) {
        close_with(socket, HUB_WS_TRY_AGAIN, "limits.client_memory is used up");
        return;
    }
    if (bytes.len > 0) {
        hub_link_pause(socket->link, true);
        hub_buf_add(&socket->held, bytes);
        if (!hub_buf_ok(&socket->held)) {
            close_with(socket, HUB_WS_INTERNAL, "out of memory");
        }
    }
}

/* A reason to pause is gone. If it was the last one, go on. */
static void resume(hub_websocket *socket)
{
    if (socket->session == NULL || is_paused(socket)) {
        return;
    }
    hub_buf held = socket->held;
    hub_buf_init(&socket->held, HELD_BYTES);
    read_bytes(socket, hub_buf_str(&held));
    hub_buf_fini(&held);
    if (socket->session != NULL && !is_paused(socket)) {
        hub_link_pause(socket->link, false);
    }
}

/* ---- the link -------------------------------------------------------------------------------- */

static void on_bytes(void *owner, hub_str bytes)
{
    hub_websocket *socket = owner;
    if (socket->session == NULL) {
        return;
    }
    hub_deadline_start(&socket->pool->quiet, &socket->alive, socket->pool->now_ms);
    if (is_paused(socket) || socket->held.len > 0) {
        hub_buf_add(&socket->held, bytes);
        if (!hub_buf_ok(&socket->held)) {
            close_with(socket, HUB_WS_INTERNAL, "out of memory");
        }
    } else {
        read_bytes(socket, bytes);
    }
}

static void on_drained(void *owner)
{
    hub_websocket *socket = owner;
    if (socket->is_behind) {
        socket->is_behind = false;
        resume(socket);
    }
}

static void on_end(void *owner)
{
    hub_websocket *socket = owner;
    hub_websockets *pool = socket->pool;
    if (socket->session != NULL) {
        end_session(socket);
    }
    if (socket->prev != NULL) {
        socket->prev->next = socket->next;
    } else {
        pool->sockets = socket->next;
    }
    if (socket->next != NULL) {
        socket->next->prev = socket->prev;
    }
    socket->on_end(socket->ctx, socket); /* which may destroy the pool */
    hub_ws_reader_fini(&socket->reader);
    hub_buf_fini(&socket->held);
    free(socket->headers);
    free(socket);
}

static const hub_link_events LINK_EVENTS = {
    .on_bytes = on_bytes, .on_drained = on_drained, .on_end = on_end};

static void join_pool(hub_websocket *socket, hub_websockets *pool)
{
    uint64_t now_ms = hub_clock_now_ms(); /* without sockets, nobody may have ticked */
    pool->now_ms = now_ms > pool->now_ms ? now_ms : pool->now_ms;
    socket->next = pool->sockets;
    if (socket->next != NULL) {
        socket->next->prev = socket;
    }
    pool->sockets = socket;
    pool->next_expiry = socket->expires < pool->next_expiry ? socket->expires : pool->next_expiry;
    hub_deadline_start(&pool->quiet, &socket->alive, pool->now_ms);
}

hub_err hub_websocket_open(hub_link *link, const hub_websocket_options *options,
                           hub_websocket **ret_websocket, hub_error *reterr)
{
    hub_websockets *pool = options->pool;
    hub_websocket *socket = calloc(1, sizeof *socket);
    if (socket == NULL ||
        (options->headers.len > 0 && (socket->headers = hub_str_dup(options->headers)) == NULL)) {
        free(socket);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    socket->port.ops = &PORT;
    const hub_session_options session = {.profile = options->profile,
                                         .transport = "websocket",
                                         .identity = options->identity,
                                         .port = &socket->port,
                                         .listener = options->listener,
                                         .peer = options->peer,
                                         .metadata = options->metadata};
    hub_err err = hub_session_create(options->hub, &session, &socket->session, reterr);
    if (err != HUB_OK) {
        free(socket->headers);
        free(socket);
        return err;
    }
    socket->pool = pool;
    socket->link = link;
    socket->on_end = options->on_end;
    socket->ctx = options->ctx;
    socket->expires = options->expires > 0 ? options->expires : INT64_MAX;
    hub_ws_reader_init(&socket->reader, pool->settings->limits.client_message_bytes);
    hub_buf_init(&socket->held, HELD_BYTES);
    join_pool(socket, pool);
    hub_link_set_owner(link, &LINK_EVENTS, socket);
    hub_link_pause(link, false);
    *ret_websocket = socket;
    if (hub_websocket_greet(link, options->key, options->offers_mcp)) {
        read_bytes(socket, options->early);
    } else {
        finish(socket, false);
    }
    return HUB_OK;
}

void hub_websocket_expire(hub_websocket *websocket, int64_t expires)
{
    hub_websockets *pool = websocket->pool;
    websocket->expires = expires > 0 ? expires : INT64_MAX;
    pool->next_expiry =
        websocket->expires < pool->next_expiry ? websocket->expires : pool->next_expiry;
}

bool hub_websocket_owes(const hub_websocket *websocket)
{
    return hub_link_queued(websocket->link) > 0;
}

void hub_websocket_close(hub_websocket *websocket)
{
    close_with(websocket, HUB_WS_GOING_AWAY, "the hub is shutting down");
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Whether the hub is to blame when nothing comes: it does not read now. */
static bool is_unheard(const hub_websocket *socket)
{
    return is_paused(socket) || hub_link_queued(socket->link) > 0;
}

static void ping_the_quiet(hub_websockets *pool)
{
    hub_deadline *late;
    uint64_t ping_ms = pool->settings->limits.net.ping_ms;
    while ((late = hub_deadline_late(&pool->quiet, pool->now_ms, ping_ms)) != NULL) {
        hub_websocket *socket = HUB_DEADLINE_OF(late, hub_websocket, alive);
        if (is_unheard(socket)) {
            hub_deadline_start(&pool->quiet, late, pool->now_ms);
            continue;
        }
        hub_deadline_start(&pool->pinged, late, pool->now_ms);
        if (!write_control(socket, HUB_WS_PING, HUB_STR_EMPTY)) {
            finish(socket, false);
        }
    }
}

static void drop_the_silent(hub_websockets *pool)
{
    hub_deadline *late;
    uint64_t pong_ms = pool->settings->limits.net.pong_ms;
    while ((late = hub_deadline_late(&pool->pinged, pool->now_ms, pong_ms)) != NULL) {
        hub_websocket *socket = HUB_DEADLINE_OF(late, hub_websocket, alive);
        if (is_unheard(socket)) {
            hub_deadline_start(&pool->quiet, late, pool->now_ms);
            continue;
        }
        hub_log(HUB_LOG_DEBUG, "websocket.silent", HUB_F_TEXT("peer", hub_link_peer(socket->link)));
        finish(socket, false);
    }
}

static void close_the_unfinished(hub_websockets *pool)
{
    hub_deadline *late;
    uint64_t body_ms = pool->settings->limits.net.body_ms;
    while ((late = hub_deadline_late(&pool->reading, pool->now_ms, body_ms)) != NULL) {
        hub_websocket *socket = HUB_DEADLINE_OF(late, hub_websocket, message);
        if (is_unheard(socket)) {
            hub_deadline_start(&pool->reading, late, pool->now_ms);
            continue;
        }
        close_with(socket, HUB_WS_POLICY, "the message did not end in time");
    }
}

static void resume_the_slowed(hub_websockets *pool)
{
    hub_deadline *late;
    while ((late = hub_deadline_late(&pool->slowed, pool->now_ms, 1)) != NULL) {
        hub_deadline_stop(late);
        resume(HUB_DEADLINE_OF(late, hub_websocket, slow));
    }
}

/* From now on they are not heard any more; what they have asked for is still answered. */
static void find_the_expired(hub_websockets *pool, int64_t now)
{
    pool->next_expiry = INT64_MAX;
    for (hub_websocket *socket = pool->sockets; socket != NULL; socket = socket->next) {
        if (socket->session == NULL || socket->expiry.list != NULL) {
            continue;
        }
        if (socket->expires <= now) {
            hub_deadline_start(&pool->expired, &socket->expiry, pool->now_ms);
            hub_link_pause(socket->link, true);
        } else if (socket->expires < pool->next_expiry) {
            pool->next_expiry = socket->expires;
        }
    }
}

static void close_the_expired(hub_websockets *pool)
{
    hub_deadline *next;
    for (hub_deadline *at = pool->expired.first; at != NULL; at = next) {
        hub_websocket *socket = HUB_DEADLINE_OF(at, hub_websocket, expiry);
        next = at->next;
        if (hub_session_in_flight(socket->session) == 0 ||
            pool->now_ms >= at->since_ms + HUB_WEBSOCKET_EXPIRY_GRACE_MS) {
            close_with(socket, HUB_WS_EXPIRED, "the credential has expired: connect with another");
        }
    }
}

static void on_tick(hub_net_tick *tick, uint64_t now_ms)
{
    hub_websockets *pool = HUB_DEADLINE_OF(tick, hub_websockets, tick);
    pool->now_ms = now_ms;
    drop_the_silent(pool);
    ping_the_quiet(pool);
    close_the_unfinished(pool);
    resume_the_slowed(pool);
    int64_t now = (int64_t)time(NULL);
    if (now >= pool->next_expiry) {
        find_the_expired(pool, now);
    }
    close_the_expired(pool);
}

hub_err hub_websockets_create(hub_net *net, const hub_settings *settings,
                              hub_websockets **ret_websockets)
{
    hub_websockets *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return HUB_ENOMEM;
    }
    pool->net = net;
    pool->settings = settings;
    pool->next_expiry = INT64_MAX;
    pool->tick.on_tick = on_tick;
    hub_net_add_tick(net, &pool->tick);
    *ret_websockets = pool;
    return HUB_OK;
}

void hub_websockets_reload(hub_websockets *websockets, const hub_settings *settings)
{
    websockets->settings = settings;
}

void hub_websockets_destroy(hub_websockets *websockets)
{
    if (websockets != NULL) {
        hub_assert(websockets->sockets == NULL);
        hub_net_remove_tick(websockets->net, &websockets->tick);
        free(websockets);
    }
}
