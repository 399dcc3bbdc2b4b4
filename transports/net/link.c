/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include "base/log.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what is done from the loop -------------------------------------------------------------- */

static void put_on_todo(hub_link *link)
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

void net_link_doom(hub_link *link)
{
    link->is_closing = true;
    link->is_doomed = true;
    put_on_todo(link);
}

static void set_rx(hub_link *link, bool is_on)
{
    if (link->wsi != NULL && link->is_rx_off == is_on) {
        link->is_rx_off = !is_on;
        (void)lws_rx_flow_control(link->wsi, is_on ? 1 : 0);
    }
}

/* While something waits for the peer, its bytes wait, too: else they would be polled for nothing
 * and pile up. */
void net_link_update_rx(hub_link *link)
{
    set_rx(link, !net_is_partial(link) && link->held_len < HUB_NET_HELD_BYTES);
}

static void deliver_held(hub_link *link)
{
    char *held = link->held;
    size_t len = link->held_len;
    link->held = NULL;
    link->held_len = 0;
    (void)net_link_settle(link, 0); /* less is never refused */
    if (!link->is_closing && link->events != NULL) {
        link->events->on_bytes(link->owner, (hub_str){.ptr = held, .len = len});
    }
    free(held);
    net_link_update_rx(link);
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

/* ---- memory ---------------------------------------------------------------------------------- */

hub_err net_link_settle(hub_link *link, size_t more)
{
    return hub_budget_settle(&link->account,
                             link->kept + link->held_len + link->output_bytes + more);
}

hub_err hub_link_keep(hub_link *link, size_t bytes)
{
    size_t before = link->kept;
    link->kept = bytes;
    hub_err err = net_link_settle(link, 0);
    if (err != HUB_OK) {
        link->kept = before;
    }
    return err;
}

/* Others need what is held for this one. */
static void on_evict(hub_budget_account *account)
{
    hub_link *link = (hub_link *)((char *)account - offsetof(hub_link, account));
    hub_log(
        HUB_LOG_WARNING, "net.evicted", HUB_F_TEXT("peer", hub_link_peer(link)),
        HUB_F_INT("bytes", link->kept + link->held_len + link->output_bytes),
        HUB_F_TEXT("reason", "limits.client_memory is used up, and this client holds the most"));
    net_link_doom(link);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void hold(hub_link *link, hub_str bytes)
{
    char *grown = net_link_settle(link, bytes.len) == HUB_OK
                      ? realloc(link->held, link->held_len + bytes.len)
                      : NULL;
    if (grown == NULL) {
        net_link_doom(link);
        return;
    }
    memcpy(grown + link->held_len, bytes.ptr, bytes.len);
    link->held = grown;
    link->held_len += bytes.len;
    net_link_update_rx(link);
}

static void on_bytes(hub_link *link, hub_str bytes)
{
    link->net->numbers.bytes_in += bytes.len;
    if (net_is_waiting(link, NET_WAIT_HANDSHAKE)) {
        net_end_handshake(link);
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
        put_on_todo(link);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

void hub_link_set_owner(hub_link *link, const hub_link_events *events, void *owner)
{
    link->events = events;
    link->owner = owner;
}

/* The last word has left: say that it was the last, and hear the peer out. */
void net_link_linger(hub_link *link)
{
    SSL *ssl = link->is_tls ? lws_get_ssl(link->wsi) : NULL;
    if (ssl != NULL) {
        (void)SSL_shutdown(ssl);
        ERR_clear_error(); /* else another link would be told of its failure */
    }
    (void)shutdown(lws_get_socket_fd(link->wsi), SHUT_WR);
    link->is_lingering = true;
    free(link->held);
    link->held = NULL;
    link->held_len = 0;
    set_rx(link, true);
    net_start_waiting(link, NET_WAIT_LINGER);
}

void hub_link_close(hub_link *link, bool flush)
{
    net_flush_batch(link->net); /* what was written before has left */
    if (link->is_closing) {
        if (!flush) {
            net_link_doom(link);
        }
        return;
    }
    link->is_closing = true;
    if (!flush || link->wsi == NULL || !net_is_handshake_done(link)) {
        net_link_doom(link);
    } else if (hub_link_queued(link) == 0) {
        net_link_linger(link);
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

void net_link_note_failure(const hub_link *link, int error)
{
    bool is_usual = error == ECONNRESET || error == EPIPE || error == ENOTCONN; /* peers do that */
    if (error != 0 && error != EAGAIN && error != EINTR) {
        hub_log(is_usual ? HUB_LOG_DEBUG : HUB_LOG_INFO, "net.broken",
                HUB_F_TEXT("peer", hub_link_peer(link)), HUB_F_TEXT("reason", strerror(error)));
    }
}

/* libwebsockets has closed it: the last word to the owner, and the end. It does not say why, but
 * sets errno to 0 before it reads, and leaves there what the call that failed has left: `error`. */
static void on_closed(hub_link *link, int error)
{
    hub_net *net = link->net;
    if (!link->is_closing) {
        net_link_note_failure(link, error);
    }
    if (net->adopting == link) {
        net->adopting = NULL;
    }
    link->wsi = NULL;
    net_stop_waiting(link);
    if (!link->is_paused && link->held_len > 0) {
        deliver_held(link); /* it came before the end */
    }
    link->is_closing = true;
    if (link->events != NULL) {
        link->events->on_end(link->owner);
    }
    unlist(link);
    net_link_drop_output(link);
    hub_budget_close(&link->account);
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
    int error = errno;
    hub_link *link = user;
    if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS) {
        hub_net *net = lws_vhost_user(lws_get_vhost(wsi));
        net->made_tls = user;
        return 0;
    }
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
        net_link_writable(link);
        break;
    case LWS_CALLBACK_RAW_CLOSE:
        lws_set_wsi_user(wsi, NULL);
        on_closed(link, error);
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
        net_note_refusal(net, "out of memory");
        return;
    }
    link->net = net;
    link->address = address;
    link->is_tls = listener->is_tls;
    hub_budget_open(&link->account, net->budget, on_evict);
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
        if (!link->is_tls) {
            net_note_refusal(net, "libwebsockets does not take the connection");
        }
        unlist(link);
        free(link);
        return;
    }
    link->wsi = wsi;
    net->numbers.accepted++;
    lws_set_wsi_user(wsi, link);
    if (link->is_tls) {
        net_start_waiting(link, NET_WAIT_HANDSHAKE);
    }
    net_update_tick(net);
    listener->on_link(listener->ctx, link);
}
