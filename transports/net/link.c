/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include "base/log.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what is done from the loop ----------------------------------------------------------------
 */

void net_link_todo(hub_link *link)
{
    hub_net *net = link->net;
    if (!link->is_todo) {
        link->is_todo = true;
        link->todo_next = net->todo;
        net->todo = link;
        if (!ev_is_active(&net->todo_timer)) {
            ev_timer_set(&net->todo_timer, 0., 0.);
            ev_timer_start(net->loop, &net->todo_timer);
        }
    }
}

static void doom(hub_link *link)
{
    link->is_closing = true;
    link->is_doomed = true;
    net_link_todo(link);
}

static void set_rx(hub_link *link, bool is_on)
{
    if (link->wsi != NULL && link->is_rx_off == is_on) {
        link->is_rx_off = !is_on;
        (void)lws_rx_flow_control(link->wsi, is_on ? 1 : 0);
    }
}

/* Whether libwebsockets still has some of what it was given. */
static bool is_partial(const hub_link *link)
{
    return link->wsi != NULL && lws_partial_buffered(link->wsi) != 0;
}

/* While something waits for the peer, its bytes wait, too: else they would be polled for nothing
 * and pile up. */
static void update_rx(hub_link *link)
{
    set_rx(link, !is_partial(link) && link->held_len < HUB_NET_HELD_BYTES);
}

static void deliver_held(hub_link *link)
{
    char *held = link->held;
    size_t len = link->held_len;
    link->held = NULL;
    link->held_len = 0;
    if (!link->is_closing && link->events != NULL) {
        link->events->on_bytes(link->owner, (hub_str){.ptr = held, .len = len});
    }
    free(held);
    update_rx(link);
}

void net_link_run_todo(hub_net *net)
{
    while (net->todo != NULL) {
        hub_link *link = net->todo;
        net->todo = link->todo_next;
        link->is_todo = false;
        if (link->is_doomed) {
            net_link_kill(link);
        } else if (!link->is_paused && link->held_len > 0) {
            deliver_held(link);
        }
    }
}

/* ---- writing ------------------------------------------------------------------------------------
 */

/* Give libwebsockets what lies in the scratch buffer. */
static hub_err write_scratch(hub_link *link, size_t len)
{
    unsigned char *from = (unsigned char *)link->net->scratch + LWS_PRE;
    if (lws_write(link->wsi, from, len, LWS_WRITE_RAW) < 0) {
        doom(link);
        return HUB_ESTATE;
    }
    link->in_flight = is_partial(link) ? len : 0;
    return HUB_OK;
}

static bool may_write(const hub_link *link)
{
    return link->wsi != NULL && link->chunks == NULL && !is_partial(link) &&
           net_is_handshake_done(link);
}

static hub_err enqueue(hub_link *link, const hub_str *parts, size_t count, size_t skip, size_t len)
{
    if (len == 0) {
        return HUB_OK;
    }
    net_chunk *chunk = malloc(sizeof *chunk + len);
    if (chunk == NULL) {
        return HUB_ENOMEM;
    }
    *chunk = (net_chunk){.len = len};
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        size_t from = skip < parts[i].len ? skip : parts[i].len;
        skip -= from;
        if (parts[i].len > from) {
            memcpy(chunk->bytes + at, parts[i].ptr + from, parts[i].len - from);
            at += parts[i].len - from;
        }
    }
    if (link->last_chunk != NULL) {
        link->last_chunk->next = chunk;
    } else {
        link->chunks = chunk;
    }
    link->last_chunk = chunk;
    link->queued += len;
    return HUB_OK;
}

/* Write from the front of the parts as long as the peer takes it; *ret_written bytes are gone. */
static hub_err write_now(hub_link *link, const hub_str *parts, size_t count, size_t *ret_written)
{
    char *to = link->net->scratch + LWS_PRE;
    size_t fill = 0;
    for (size_t i = 0; i < count; i++) {
        for (hub_str rest = parts[i]; rest.len > 0;) {
            size_t room = HUB_NET_WRITE_BYTES - fill;
            size_t step = rest.len < room ? rest.len : room;
            memcpy(to + fill, rest.ptr, step);
            fill += step;
            rest = hub_str_from(rest, step);
            if (fill < HUB_NET_WRITE_BYTES) {
                continue;
            }
            hub_err err = write_scratch(link, fill);
            *ret_written += fill;
            fill = 0;
            if (err != HUB_OK || is_partial(link)) {
                return err;
            }
        }
    }
    if (fill > 0) {
        *ret_written += fill;
        return write_scratch(link, fill);
    }
    return HUB_OK;
}

/* Something waits: be told when it can leave. */
static void wait_for_peer(hub_link *link)
{
    update_rx(link);
    if (link->wait != NET_WAIT_STALL) {
        net_start_waiting(link, NET_WAIT_STALL);
    }
    (void)lws_callback_on_writable(link->wsi);
}

hub_err hub_link_write(hub_link *link, const hub_str *parts, size_t count)
{
    size_t len = 0;
    size_t written = 0;
    for (size_t i = 0; i < count; i++) {
        len += parts[i].len;
    }
    if (link->is_closing || link->wsi == NULL) {
        return HUB_ESTATE;
    }
    if (link->queued + link->in_flight + len > link->net->max_queue_bytes) {
        hub_log(HUB_LOG_INFO, "net.overflow", HUB_F_TEXT("peer", hub_link_peer(link)),
                HUB_F_INT("bytes", hub_link_queued(link)));
        doom(link);
        return HUB_ELIMIT;
    }
    hub_err err = may_write(link) ? write_now(link, parts, count, &written) : HUB_OK;
    if (err == HUB_OK) {
        err = enqueue(link, parts, count, written, len - written);
        if (err != HUB_OK && written > 0) {
            doom(link); /* half a message is out */
        }
    }
    if (err == HUB_OK && (link->queued > 0 || link->in_flight > 0)) {
        wait_for_peer(link);
    }
    return err;
}

size_t hub_link_queued(const hub_link *link)
{
    return link->queued + link->in_flight;
}

/* Move the front of the queue into the scratch buffer. */
static size_t take_chunks(hub_link *link)
{
    char *to = link->net->scratch + LWS_PRE;
    size_t fill = 0;
    while (link->chunks != NULL && fill < HUB_NET_WRITE_BYTES) {
        net_chunk *chunk = link->chunks;
        size_t rest = chunk->len - chunk->begin;
        size_t room = HUB_NET_WRITE_BYTES - fill;
        size_t step = rest < room ? rest : room;
        memcpy(to + fill, chunk->bytes + chunk->begin, step);
        fill += step;
        chunk->begin += step;
        if (chunk->begin == chunk->len) {
            link->chunks = chunk->next;
            free(chunk);
        }
    }
    if (link->chunks == NULL) {
        link->last_chunk = NULL;
    }
    link->queued -= fill;
    return fill;
}

/* The last word has left: say that it was the last, and hear the peer out. */
static void linger(hub_link *link)
{
    SSL *ssl = link->is_tls ? lws_get_ssl(link->wsi) : NULL;
    if (ssl != NULL && SSL_is_init_finished(ssl)) {
        (void)SSL_shutdown(ssl);
    }
    (void)shutdown(lws_get_socket_fd(link->wsi), SHUT_WR);
    link->is_lingering = true;
    free(link->held);
    link->held = NULL;
    link->held_len = 0;
    set_rx(link, true);
    net_start_waiting(link, NET_WAIT_LINGER);
}

/* The peer takes bytes again. */
static void on_writable(hub_link *link)
{
    if (link->is_lingering || link->is_doomed) {
        return;
    }
    while (!is_partial(link)) {
        link->in_flight = 0;
        if (link->chunks == NULL) {
            break;
        }
        net_start_waiting(link, NET_WAIT_STALL); /* it took something: it has time again */
        if (write_scratch(link, take_chunks(link)) != HUB_OK) {
            return;
        }
    }
    if (is_partial(link) || link->chunks != NULL) {
        (void)lws_callback_on_writable(link->wsi);
        return;
    }
    if (link->wait == NET_WAIT_STALL) {
        net_stop_waiting(link);
    }
    update_rx(link);
    if (link->is_closing) {
        linger(link);
    } else if (link->events != NULL && link->events->on_drained != NULL) {
        link->events->on_drained(link->owner);
    }
}

/* ---- reading ------------------------------------------------------------------------------------
 */

static void hold(hub_link *link, hub_str bytes)
{
    char *grown = realloc(link->held, link->held_len + bytes.len);
    if (grown == NULL) {
        doom(link);
        return;
    }
    memcpy(grown + link->held_len, bytes.ptr, bytes.len);
    link->held = grown;
    link->held_len += bytes.len;
    update_rx(link);
}

static void on_bytes(hub_link *link, hub_str bytes)
{
    if (link->wait == NET_WAIT_HANDSHAKE) {
        net_stop_waiting(link);
    }
    if (link->is_closing || link->events == NULL) {
        return; /* thrown away */
    }
    if (link->is_paused || link->held_len > 0) {
        hold(link, bytes);
    } else {
        link->events->on_bytes(link->owner, bytes);
    }
}

void hub_link_pause(hub_link *link, bool is_paused)
{
    link->is_paused = is_paused;
    if (!is_paused && link->held_len > 0) {
        net_link_todo(link);
    }
}

/* ---- life --------------------------------------------------------------------------------------
 */

void hub_link_set_owner(hub_link *link, const hub_link_events *events, void *owner)
{
    link->events = events;
    link->owner = owner;
}

void hub_link_close(hub_link *link, bool flush)
{
    if (link->is_closing) {
        if (!flush) {
            doom(link);
        }
        return;
    }
    link->is_closing = true;
    if (!flush || link->wsi == NULL || !net_is_handshake_done(link)) {
        doom(link);
    } else if (link->queued == 0 && link->in_flight == 0) {
        linger(link);
    }
}

const char *hub_link_peer(const hub_link *link)
{
    return link->address->text;
}

bool hub_link_is_tls(const hub_link *link)
{
    return link->is_tls;
}

static void unlist(hub_link *link)
{
    hub_net *net = link->net;
    for (hub_link **at = &net->todo; link->is_todo && *at != NULL; at = &(*at)->todo_next) {
        if (*at == link) {
            *at = link->todo_next;
            break;
        }
    }
    if (link->prev != NULL) {
        link->prev->next = link->next;
    } else {
        net->links = link->next;
    }
    if (link->next != NULL) {
        link->next->prev = link->prev;
    }
    net->link_count--;
    link->address->links--;
    net_forget_address(net, link->address);
}

/* libwebsockets has closed it: the last word to the owner, and the end. */
static void on_closed(hub_link *link)
{
    hub_net *net = link->net;
    if (net->adopting == link) {
        net->adopting = NULL;
    }
    link->wsi = NULL;
    link->is_closing = true;
    net_stop_waiting(link);
    if (link->events != NULL) {
        link->events->on_end(link->owner);
    }
    unlist(link);
    while (link->chunks != NULL) {
        net_chunk *next = link->chunks->next;
        free(link->chunks);
        link->chunks = next;
    }
    free(link->held);
    free(link);
    net_set_accepting(net, true); /* a descriptor is free again */
    net_update_tick(net);
}

void net_link_kill(hub_link *link)
{
    lws_set_timeout(link->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t len)
{
    hub_link *link = user;
    if (reason == LWS_CALLBACK_RAW_ADOPT && link == NULL) {
        hub_net *net = lws_context_user(lws_get_context(wsi));
        link = net->adopting;
        link->wsi = wsi;
        lws_set_wsi_user(wsi, link);
    }
    if (link == NULL) {
        return 0;
    }
    switch (reason) {
    case LWS_CALLBACK_RAW_ADOPT: /* deadlines are ours */
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
        break;
    case LWS_CALLBACK_RAW_RX:
        on_bytes(link, (hub_str){.ptr = in, .len = len});
        break;
    case LWS_CALLBACK_RAW_WRITEABLE:
        on_writable(link);
        break;
    case LWS_CALLBACK_RAW_CLOSE:
        lws_set_wsi_user(wsi, NULL);
        on_closed(link);
        break;
    default:
        break;
    }
    return 0;
}

const struct lws_protocols NET_PROTOCOLS[] = {
    {.name = "mcp", .callback = on_event},
    {.name = NULL},
};

/* Count it in. */
static void enlist(hub_net *net, hub_link *link)
{
    link->next = net->links;
    if (link->next != NULL) {
        link->next->prev = link;
    }
    net->links = link;
    net->link_count++;
    link->address->links++;
}

void net_link_adopt(hub_listener *listener, int fd, net_address *address)
{
    hub_net *net = listener->net;
    hub_link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        (void)close(fd);
        net_forget_address(net, address);
        return;
    }
    link->net = net;
    link->address = address;
    link->is_tls = listener->is_tls;
    enlist(net, link);
    net->adopting = link;
    lws_sock_file_fd_type socket_fd = {.sockfd = fd};
    lws_adoption_type type = LWS_ADOPT_SOCKET | (listener->is_tls ? LWS_ADOPT_ALLOW_SSL : 0);
    struct lws *wsi =
        lws_adopt_descriptor_vhost(listener->vhost, type, socket_fd, NET_PROTOCOLS[0].name, NULL);
    bool is_gone = net->adopting == NULL; /* closed while it was adopted: on_closed freed it */
    net->adopting = NULL;
    if (is_gone) {
        return;
    }
    if (wsi == NULL) { /* and its descriptor is closed */
        unlist(link);
        free(link);
        return;
    }
    link->wsi = wsi;
    lws_set_wsi_user(wsi, link);
    if (link->is_tls) {
        net_start_waiting(link, NET_WAIT_HANDSHAKE);
    }
    net_update_tick(net);
    listener->on_link(listener->ctx, link);
}
