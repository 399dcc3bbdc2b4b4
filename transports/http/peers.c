/* SPDX-License-Identifier: Apache-2.0 */
#include "http/peers.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "http/answer_head.h"
#include "net/dial.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum line_state {
    GREETING,
    IDLE,
    BUSY,
} line_state;

/* A connection to a peer. */
typedef struct peer_line {
    struct http_peer *peer;
    struct peer_line *next; /* all of the peer */
    struct peer_line *prev;
    hub_dial *dial;
    line_state state;
    hub_http_errand *errand; /* what it is busy with, or will be once it is greeted; or NULL */
    uint64_t since_ms;       /* in this state; monotonic */
    uint64_t number;         /* of the latest request on it */
    char own[HUB_REPLICA_CHALLENGE_DIGITS + 1];
    char challenge[HUB_REPLICA_CHALLENGE_DIGITS + 1];
    hub_http_answer_head head; /* of the answer that is awaited */
    hub_buf bytes;             /* of that head, until it is whole */
    bool is_in_body;
} peer_line;

typedef struct http_peer {
    struct http_peer *next;
    hub_http_peers *peers;
    hub_replica_place place;
    peer_line *lines;
    uint64_t heard_ms; /* monotonic */
    ev_timer look;
} http_peer;

struct hub_http_peers {
    struct ev_loop *loop;
    hub_orchestrator *hub;
    http_peer *first;
};

struct hub_http_errand {
    peer_line *line;
    const hub_http_errand_events *events;
    void *ctx;
    hub_str head; /* the sender's */
    hub_str body;
    bool is_sent;
    bool is_answered; /* its answer has begun */
};

/* ---- lines ----------------------------------------------------------------------------------- */

static void enter(peer_line *line, line_state state)
{
    line->state = state;
    line->since_ms = hub_clock_now_ms();
}

/* Its errand is the caller's. */
static void drop_line(peer_line *line)
{
    http_peer *peer = line->peer;
    if (line->prev != NULL) {
        line->prev->next = line->next;
    } else {
        peer->lines = line->next;
    }
    if (line->next != NULL) {
        line->next->prev = line->prev;
    }
    hub_dial_close(line->dial);
    hub_buf_fini(&line->bytes);
    free(line);
}

/* It has ended without the end of an answer. */
static void lose(peer_line *line)
{
    hub_http_errand *errand = line->errand;
    drop_line(line);
    if (errand != NULL) {
        const hub_http_errand_events *events = errand->events;
        void *ctx = errand->ctx;
        hub_http_loss loss = errand->is_answered ? HUB_HTTP_LOSS_CUT
                             : errand->is_sent   ? HUB_HTTP_LOSS_UNKNOWN
                                                 : HUB_HTTP_LOSS_UNSENT;
        free(errand);
        events->on_lost(ctx, loss);
    }
}

static void await_answer(peer_line *line)
{
    hub_http_answer_head_init(&line->head);
    hub_buf_clear(&line->bytes);
    line->is_in_body = false;
}

static void greet(peer_line *line)
{
    char text[256];
    int len = snprintf(text, sizeof text,
                       "GET " HUB_HTTP_PEER_PATH
                       " HTTP/1.1\r\nHost: replica\r\n" HUB_HTTP_PEER_CHALLENGE ": %s\r\n\r\n",
                       line->own);
    enter(line, GREETING);
    await_answer(line);
    hub_dial_write(line->dial, (hub_str){.ptr = text, .len = (size_t)len});
}

static void send_errand(peer_line *line)
{
    hub_http_errand *errand = line->errand;
    char digest[HUB_DIGEST_HEX_BYTES];
    unsigned char bytes[HUB_DIGEST_BYTES];
    char proof[HUB_DIGEST_HEX_BYTES];
    hub_buf out;
    hub_digest_of(errand->body, bytes);
    hub_digest_hex(bytes, digest);
    hub_buf_init(&out, SIZE_MAX / 4);
    hub_buf_add(&out, errand->head);
    hub_buf_printf(&out, "Content-Length: %zu\r\n" HUB_HTTP_PEER_DIGEST ": %s\r\n",
                   errand->body.len, digest);
    hub_replicas_prove(line->peer->peers->hub,
                       &(hub_replica_claim){.use = HUB_STR("request"),
                                            .challenge = hub_str_of(line->challenge),
                                            .number = ++line->number,
                                            .text = hub_buf_str(&out)},
                       proof);
    hub_buf_printf(&out, HUB_HTTP_PEER_SEAL ": %llu %s\r\n\r\n", (unsigned long long)line->number,
                   proof);
    enter(line, BUSY);
    await_answer(line);
    errand->is_sent = true;
    hub_buf_add(&out, errand->body); /* small ones leave together */
    if (hub_buf_ok(&out)) {
        hub_dial_write(line->dial, hub_buf_str(&out));
    }
    hub_buf_fini(&out);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* The peer has answered the greeting: whether it has proven who it is. */
static bool is_greeted(peer_line *line, hub_str head)
{
    hub_str challenge = hub_http_answer_header(head, HUB_STR(HUB_HTTP_PEER_CHALLENGE));
    hub_str proof = hub_http_answer_header(head, HUB_STR(HUB_HTTP_PEER_PROOF));
    char both[2 * HUB_REPLICA_CHALLENGE_DIGITS];
    if (line->head.status != 204 || challenge.len != HUB_REPLICA_CHALLENGE_DIGITS) {
        return false;
    }
    memcpy(both, line->own, HUB_REPLICA_CHALLENGE_DIGITS);
    memcpy(both + HUB_REPLICA_CHALLENGE_DIGITS, challenge.ptr, challenge.len);
    memcpy(line->challenge, challenge.ptr, challenge.len);
    return hub_replicas_accept(line->peer->peers->hub,
                               &(hub_replica_claim){.use = HUB_STR("greeting"),
                                                    .challenge = {.ptr = both, .len = sizeof both},
                                                    .text = HUB_STR_EMPTY},
                               proof);
}

/* An answer is whole. */
static void finish(peer_line *line)
{
    hub_http_errand *errand = line->errand;
    bool closes = line->head.closes;
    line->errand = NULL;
    if (closes) {
        drop_line(line);
    } else {
        enter(line, IDLE);
    }
    if (errand != NULL) {
        const hub_http_errand_events *events = errand->events;
        void *ctx = errand->ctx;
        free(errand);
        events->on_done(ctx, closes);
    }
}

static void take_greeting(peer_line *line)
{
    if (!is_greeted(line, hub_buf_str(&line->bytes))) {
        hub_log(
            HUB_LOG_WARNING, "replica.refused", HUB_F_TEXT("address", line->peer->place.address),
            HUB_F_TEXT("reason", "it has not proven that it has the keys of replicas.key_file"));
        lose(line);
        return;
    }
    line->number = 0;
    hub_buf_clear(&line->bytes);
    if (line->errand != NULL) {
        send_errand(line);
    } else {
        enter(line, IDLE);
    }
}

/* Bytes behind the head. */
static void take_body(peer_line *line, hub_str bytes)
{
    size_t used = 0;
    hub_http_errand *errand = line->errand;
    hub_http_progress progress = hub_http_answer_body_next(&line->head, bytes, &used);
    if (progress == HUB_HTTP_REFUSED || (progress == HUB_HTTP_DONE && used < bytes.len)) {
        lose(line);
        return;
    }
    if (used > 0) {
        errand->events->on_body(errand->ctx, (hub_str){.ptr = bytes.ptr, .len = used});
        if (line->errand == NULL) {
            return; /* cancelled: the line is closed with its next bytes, or its end */
        }
    }
    if (progress == HUB_HTTP_DONE) {
        finish(line);
    }
}

/* A head is whole; `rest` came behind it. */
static void take_head(peer_line *line, hub_str rest)
{
    hub_http_errand *errand = line->errand;
    if (line->state == GREETING) {
        take_greeting(line);
        return;
    }
    errand->is_answered = true;
    line->is_in_body = true;
    errand->events->on_head(errand->ctx, line->head.status, hub_buf_str(&line->bytes));
    if (line->errand != NULL) {
        hub_buf_clear(&line->bytes);
        take_body(line, rest);
    }
}

static void on_bytes(void *owner, hub_str bytes)
{
    peer_line *line = owner;
    size_t used = 0;
    line->peer->heard_ms = hub_clock_now_ms();
    if (line->state == IDLE || (line->state == BUSY && line->errand == NULL)) {
        lose(line); /* nothing was asked, or nobody waits any more */
        return;
    }
    if (line->is_in_body) {
        take_body(line, bytes);
        return;
    }
    switch (hub_http_answer_head_next(&line->head, bytes, &line->bytes, &used)) {
    case HUB_HTTP_DONE:
        take_head(line, hub_str_from(bytes, used));
        break;
    case HUB_HTTP_REFUSED:
        lose(line);
        break;
    default:
        break;
    }
}

static void on_end(void *owner, bool was_open)
{
    peer_line *line = owner;
    (void)was_open;
    line->dial = NULL; /* it frees itself */
    if (line->is_in_body && line->errand != NULL && hub_http_answer_ends_with(&line->head)) {
        line->head.closes = true;
        finish(line);
    } else {
        lose(line);
    }
}

static const hub_dial_events EVENTS = {.on_bytes = on_bytes, .on_end = on_end};

/* ---- peers ----------------------------------------------------------------------------------- */

static void drop_peer(http_peer *peer)
{
    http_peer **link = &peer->peers->first;
    while (*link != peer) {
        link = &(*link)->next;
    }
    *link = peer->next;
    ev_timer_stop(peer->peers->loop, &peer->look);
    free(peer);
}

static hub_err open_line(http_peer *peer, peer_line **ret_line)
{
    peer_line *line = calloc(1, sizeof *line);
    if (line == NULL) {
        return HUB_ENOMEM;
    }
    line->peer = peer;
    hub_buf_init(&line->bytes, HUB_HTTP_LIMIT_HEAD_BYTES);
    hub_err err = hub_replicas_challenge(line->own);
    if (err == HUB_OK) { /* one request at a time waits there, and clients' requests are bounded */
        err = hub_dial_open(peer->peers->loop, peer->place.address, peer->place.port, SIZE_MAX / 4,
                            &EVENTS, line, &line->dial);
    }
    if (err != HUB_OK) {
        free(line);
        return err;
    }
    line->next = peer->lines;
    if (line->next != NULL) {
        line->next->prev = line;
    }
    peer->lines = line;
    greet(line);
    *ret_line = line;
    return HUB_OK;
}

/* Everybody who waits for a peer that is gone is told, one after the other: each may do anything. */
static void lose_all(http_peer *peer)
{
    peer_line *line = peer->lines;
    hub_log(HUB_LOG_WARNING, "replica.silent", HUB_F_TEXT("address", peer->place.address),
            HUB_F_INT("port", peer->place.port));
    while (line != NULL) {
        lose(line);
        line = peer->lines;
    }
}

/* Ask a silent peer whether it is there: by a connection that is free, or a new one. */
static void probe(http_peer *peer)
{
    peer_line *line = peer->lines;
    while (line != NULL && line->state != IDLE) {
        line = line->next;
    }
    if (line != NULL && hub_replicas_challenge(line->own) == HUB_OK) {
        greet(line);
    } else if (line == NULL) {
        (void)open_line(peer, &line);
    }
}

static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    http_peer *peer = timer->data;
    uint64_t now = hub_clock_now_ms();
    bool is_awaited = false;
    bool is_asked = false;
    peer_line *next;
    for (peer_line *line = peer->lines; line != NULL; line = next) {
        next = line->next;
        uint64_t age = now - line->since_ms;
        if (line->state == GREETING && age >= HUB_HTTP_LIMIT_PEER_GREET_MS) {
            lose_all(peer);
            break;
        }
        if (line->state == IDLE && age >= HUB_HTTP_LIMIT_PEER_IDLE_MS) {
            drop_line(line);
            continue;
        }
        is_awaited = is_awaited || line->state == BUSY;
        is_asked = is_asked || line->state == GREETING;
    }
    if (peer->lines == NULL) {
        drop_peer(peer);
    } else if (is_awaited && !is_asked && now - peer->heard_ms >= HUB_HTTP_LIMIT_PEER_SILENT_MS) {
        probe(peer);
    }
}

static http_peer *get_peer(hub_http_peers *peers, const hub_replica_place *place)
{
    http_peer *peer = peers->first;
    while (peer != NULL && !hub_replica_places_eq(&peer->place, place)) {
        peer = peer->next;
    }
    if (peer == NULL && (peer = calloc(1, sizeof *peer)) != NULL) {
        peer->peers = peers;
        peer->place = *place;
        peer->next = peers->first;
        peers->first = peer;
        ev_timer_init(&peer->look, on_look, 0., HUB_HTTP_PEER_LOOK_MS / 1000.);
        peer->look.data = peer;
        ev_timer_again(peers->loop, &peer->look);
    }
    return peer;
}

/* ---- errands --------------------------------------------------------------------------------- */

hub_err hub_http_peers_send(hub_http_peers *peers, const hub_replica_place *place, hub_str head,
                            hub_str body, const hub_http_errand_events *events, void *ctx,
                            hub_http_errand **ret_errand)
{
    hub_http_errand *errand = calloc(1, sizeof *errand);
    http_peer *peer = errand != NULL ? get_peer(peers, place) : NULL;
    if (peer == NULL) {
        free(errand);
        return HUB_ENOMEM;
    }
    errand->events = events;
    errand->ctx = ctx;
    errand->head = head;
    errand->body = body;
    peer_line *line = peer->lines;
    while (line != NULL && line->state != IDLE) {
        line = line->next;
    }
    bool is_free = line != NULL;
    hub_err err = is_free ? HUB_OK : open_line(peer, &line);
    if (err != HUB_OK) {
        free(errand);
        return err;
    }
    line->errand = errand;
    errand->line = line;
    if (is_free) {
        send_errand(line);
    }
    *ret_errand = errand;
    return HUB_OK;
}

void hub_http_errand_cancel(hub_http_errand *errand)
{
    peer_line *line = errand->line;
    line->errand = NULL;
    if (errand->is_sent) {
        /* It may be this line's own bytes that we are told of: it goes from the loop. */
        hub_dial_end(line->dial);
    }
    free(errand);
}

hub_http_peers *hub_http_peers_create(struct ev_loop *loop, hub_orchestrator *hub)
{
    hub_http_peers *peers = calloc(1, sizeof *peers);
    if (peers != NULL) {
        peers->loop = loop;
        peers->hub = hub;
    }
    return peers;
}

void hub_http_peers_destroy(hub_http_peers *peers)
{
    while (peers != NULL && peers->first != NULL) {
        http_peer *peer = peers->first;
        while (peer->lines != NULL) {
            hub_http_errand *errand = peer->lines->errand;
            drop_line(peer->lines);
            if (errand != NULL) {
                free(errand);
            }
        }
        drop_peer(peer);
    }
    free(peers);
}
