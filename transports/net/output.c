/* SPDX-License-Identifier: Apache-2.0 */
/* What a link writes. libwebsockets never takes a part of what it is given: it copies what does not
 * leave, and sends it later. So it is given one piece, and the next when it has none left. */
#include "net/internal.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>

bool net_is_partial(const hub_link *link)
{
    return link->wsi != NULL && lws_partial_buffered(link->wsi) != 0;
}

/* In front of `from` are LWS_PRE bytes that nobody needs any more. */
static hub_err write_piece(hub_link *link, char *from, size_t len)
{
    errno = 0;
    if (lws_write(link->wsi, (unsigned char *)from, len, LWS_WRITE_RAW) < 0) {
        net_link_note_failure(link, errno);
        net_link_doom(link);
        return HUB_ESTATE;
    }
    link->net->numbers.bytes_out += len;
    link->in_flight = net_is_partial(link) ? len : 0;
    return HUB_OK;
}

/* ---- what waits ------------------------------------------------------------------------------ */

static size_t append(net_chunk *chunk, hub_str text)
{
    size_t room = chunk->room - chunk->end;
    size_t len = text.len < room ? text.len : room;
    memcpy(chunk->bytes + chunk->end, text.ptr, len);
    chunk->end += len;
    return len;
}

/* Room for `len` more bytes: what the last chunk has left, and a new one for the rest. */
static hub_err make_room(hub_link *link, size_t len)
{
    net_chunk *last = link->last_chunk;
    size_t room = last != NULL ? last->room - last->end : 0;
    if (len <= room) {
        return HUB_OK;
    }
    size_t size = len - room > HUB_NET_CHUNK_BYTES ? len - room : HUB_NET_CHUNK_BYTES;
    if (net_link_settle(link, sizeof *last + size) != HUB_OK) {
        hub_log(HUB_LOG_INFO, "net.overflow", HUB_F_TEXT("peer", hub_link_peer(link)),
                HUB_F_INT("bytes", hub_link_queued(link)),
                HUB_F_TEXT("reason", "limits.client_memory is used up"));
        net_link_doom(link);
        return HUB_ELIMIT;
    }
    net_chunk *chunk = malloc(sizeof *chunk + size);
    if (chunk == NULL) {
        return HUB_ENOMEM;
    }
    link->output_bytes += sizeof *chunk + size;
    chunk->next = NULL;
    chunk->begin = 0;
    chunk->end = 0;
    chunk->room = size;
    if (last != NULL) {
        last->next = chunk;
    } else {
        link->chunks = chunk;
    }
    link->last_chunk = chunk;
    return HUB_OK;
}

/* Keep the parts without their first `skip` bytes, which are out; `len` bytes are left. */
static hub_err enqueue(hub_link *link, const hub_str *parts, size_t count, size_t skip, size_t len)
{
    net_chunk *chunk = link->last_chunk;
    if (len == 0) {
        return HUB_OK;
    }
    hub_err err = make_room(link, len);
    if (err != HUB_OK) {
        return err;
    }
    if (chunk == NULL) {
        chunk = link->chunks;
    }
    for (size_t i = 0; i < count; i++) {
        size_t gone = skip < parts[i].len ? skip : parts[i].len;
        hub_str rest = hub_str_from(parts[i], gone);
        skip -= gone;
        while (rest.len > 0) {
            rest = hub_str_from(rest, append(chunk, rest));
            if (rest.len > 0) {
                chunk = chunk->next;
            }
        }
    }
    link->queued += len;
    return HUB_OK;
}

/* Write the front of the queue. */
static hub_err write_front(hub_link *link)
{
    net_chunk *chunk = link->chunks;
    size_t len = chunk->end - chunk->begin;
    if (len > HUB_NET_WRITE_BYTES) {
        len = HUB_NET_WRITE_BYTES;
    }
    hub_err err = write_piece(link, chunk->bytes + chunk->begin, len);
    chunk->begin += len;
    link->queued -= len;
    if (chunk->begin == chunk->end) {
        link->chunks = chunk->next;
        if (link->chunks == NULL) {
            link->last_chunk = NULL;
        }
        link->output_bytes -= sizeof *chunk + chunk->room;
        free(chunk);
        (void)net_link_settle(link, 0); /* less is never refused */
    }
    return err;
}

void net_link_drop_output(hub_link *link)
{
    while (link->chunks != NULL) {
        net_chunk *next = link->chunks->next;
        free(link->chunks);
        link->chunks = next;
    }
    link->last_chunk = NULL;
    link->queued = 0;
    link->in_flight = 0;
    link->output_bytes = 0;
    for (size_t i = 0; i < link->net->batch_count; i++) {
        if (link->net->batch[i].link == link) {
            link->net->batch[i].link = NULL;
        }
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A turn at writing without waiting: one copy, for one call of the kernel may take many parts. */
typedef struct net_turn {
    hub_link *link;
    size_t fill;    /* of the scratch buffer */
    size_t written; /* given away */
    unsigned writes;
} net_turn;

static hub_err flush_turn(net_turn *turn)
{
    size_t len = turn->fill;
    turn->fill = 0;
    turn->written += len;
    turn->writes++;
    return len > 0 ? write_piece(turn->link, turn->link->net->scratch + LWS_PRE, len) : HUB_OK;
}

static bool is_over(const net_turn *turn)
{
    return turn->writes == HUB_NET_WRITES_PER_TURN || net_is_partial(turn->link);
}

/* Write from the front of the parts as long as the peer takes it and others need not wait. */
static hub_err write_now(net_turn *turn, const hub_str *parts, size_t count)
{
    char *to = turn->link->net->scratch + LWS_PRE;
    for (size_t i = 0; i < count; i++) {
        for (hub_str rest = parts[i]; rest.len > 0;) {
            size_t room = HUB_NET_WRITE_BYTES - turn->fill;
            size_t step = rest.len < room ? rest.len : room;
            memcpy(to + turn->fill, rest.ptr, step);
            turn->fill += step;
            rest = hub_str_from(rest, step);
            if (turn->fill < HUB_NET_WRITE_BYTES) {
                continue;
            }
            hub_err err = flush_turn(turn);
            if (err != HUB_OK || is_over(turn)) {
                return err;
            }
        }
    }
    return flush_turn(turn);
}

/* ---- many short messages ---------------------------------------------------------------------
 *
 * What is written in one turn of the loop leaves at its end, to each peer with one call of the kernel.
 * Sending wakes the peer: with an answer after each request, a peer on this machine would wake up and
 * fall asleep for each of them. */

static bool may_write(const hub_link *link)
{
    return link->chunks == NULL && !net_is_partial(link) && net_is_handshake_done(link);
}

/* Something waits: be told when it can leave. */
static void wait_for_peer(hub_link *link)
{
    net_link_update_rx(link);
    if (link->wait.list == NULL) {
        net_start_waiting(link, NET_WAIT_STALL);
    }
    (void)lws_callback_on_writable(link->wsi);
}

static void join_batch(hub_link *link, const hub_str *parts, size_t count, size_t len)
{
    hub_net *net = link->net;
    if (net->batch_count == HUB_NET_BATCH_MESSAGES || len > HUB_NET_WRITE_BYTES - net->batch_fill) {
        net_flush_batch(net);
    }
    char *to = net->scratch + LWS_PRE + net->batch_fill;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0) {
            memcpy(to, parts[i].ptr, parts[i].len);
            to += parts[i].len;
        }
    }
    net->batch[net->batch_count].link = link;
    net->batch[net->batch_count].len = len;
    net->batch_fill += len;
    if (net->batch_count++ == 0) {
        ev_feed_event(net->loop, &net->batch_end, EV_TIMER);
    }
}

static void send_of_batch(hub_link *link, char *from, size_t len)
{
    hub_str part = {.ptr = from, .len = len};
    hub_err err = may_write(link) ? write_piece(link, from, len) : enqueue(link, &part, 1, 0, len);
    if (err != HUB_OK) {
        net_link_doom(link); /* a message is lost */
    } else if (hub_link_queued(link) > 0) {
        wait_for_peer(link);
    }
}

/* Move what else the batch has for the link of message `first`, which lies at `from`, behind that, in
 * `gathered`. The bytes there; 0: it has no more. */
static size_t gather(hub_net *net, size_t first, const char *from)
{
    const hub_link *link = net->batch[first].link;
    const char *at = from + net->batch[first].len;
    char *to = net->gathered + LWS_PRE;
    size_t fill = 0;
    for (size_t i = first + 1; i < net->batch_count; i++) {
        size_t len = net->batch[i].len;
        if (net->batch[i].link == link) {
            if (fill == 0) {
                fill = net->batch[first].len;
                memcpy(to, from, fill);
            }
            memcpy(to + fill, at, len);
            fill += len;
            net->batch[i].link = NULL;
        }
        at += len;
    }
    return fill;
}

void net_flush_batch(hub_net *net)
{
    char *from = net->scratch + LWS_PRE;
    for (size_t i = 0; i < net->batch_count; i++) {
        hub_link *link = net->batch[i].link;
        size_t len = net->batch[i].len;
        if (link != NULL && !link->is_doomed) {
            size_t all = gather(net, i, from);
            send_of_batch(link, all > 0 ? net->gathered + LWS_PRE : from, all > 0 ? all : len);
        }
        from += len;
    }
    net->batch_count = 0;
    net->batch_fill = 0;
    ev_clear_pending(net->loop, &net->batch_end);
}

hub_err hub_link_write(hub_link *link, const hub_str *parts, size_t count)
{
    net_turn turn = {.link = link};
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += parts[i].len;
    }
    if (link->is_closing || link->wsi == NULL) {
        return HUB_ESTATE;
    }
    if (hub_link_queued(link) + len > link->net->max_queue_bytes) {
        hub_log(HUB_LOG_INFO, "net.overflow", HUB_F_TEXT("peer", hub_link_peer(link)),
                HUB_F_INT("bytes", hub_link_queued(link)));
        net_link_doom(link);
        return HUB_ELIMIT;
    }
    if (may_write(link) && len > 0 && len <= HUB_NET_BATCH_BYTES) {
        join_batch(link, parts, count, len);
        return HUB_OK;
    }
    net_flush_batch(link->net);
    if (link->is_closing) {
        return HUB_ESTATE;
    }
    hub_err err = may_write(link) ? write_now(&turn, parts, count) : HUB_OK;
    if (err == HUB_OK) {
        err = enqueue(link, parts, count, turn.written, len - turn.written);
        if (err != HUB_OK && turn.written > 0) {
            net_link_doom(link); /* half a message is out */
        }
    }
    if (err == HUB_OK && hub_link_queued(link) > 0) {
        wait_for_peer(link);
    }
    return err;
}

size_t hub_link_queued(const hub_link *link)
{
    return link->queued + link->in_flight;
}

/* The peer takes bytes again. */
void net_link_writable(hub_link *link)
{
    if (link->is_lingering || link->is_doomed || net_is_partial(link)) {
        return;
    }
    link->in_flight = 0;
    for (unsigned i = 0; i < HUB_NET_WRITES_PER_TURN && link->chunks != NULL; i++) {
        if (write_front(link) != HUB_OK) {
            return;
        }
        if (net_is_partial(link)) {
            break;
        }
    }
    if (hub_link_queued(link) > 0) {
        net_start_waiting(link, NET_WAIT_STALL); /* it took something: it has time again */
        net_link_update_rx(link);
        (void)lws_callback_on_writable(link->wsi);
        return;
    }
    if (net_is_waiting(link, NET_WAIT_STALL)) {
        net_stop_waiting(link);
    }
    net_link_update_rx(link);
    if (link->is_closing) {
        net_link_linger(link);
    } else if (link->events != NULL && link->events->on_drained != NULL) {
        link->events->on_drained(link->owner);
    }
}
