/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines of links. Each kind lasts equally long for every link, so a queue per kind is in order
 * of time, and nobody walks through ten thousand idle ones. */
#include "net/internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <openssl/ssl.h>

void net_stop_waiting(hub_link *link)
{
    net_queue *queue = &link->net->waiting[link->wait];
    if (link->wait == NET_WAIT_NONE) {
        return;
    }
    if (link->due_prev != NULL) {
        link->due_prev->due_next = link->due_next;
    } else {
        queue->first = link->due_next;
    }
    if (link->due_next != NULL) {
        link->due_next->due_prev = link->due_prev;
    } else {
        queue->last = link->due_prev;
    }
    link->wait = NET_WAIT_NONE;
}

static uint32_t patience_of(const hub_net *net, net_wait wait)
{
    switch (wait) {
    case NET_WAIT_HANDSHAKE:
        return HUB_LIMIT_HANDSHAKE_MS;
    case NET_WAIT_STALL:
        return net->limits.stall_ms;
    default:
        return HUB_NET_LINGER_MS;
    }
}

void net_start_waiting(hub_link *link, net_wait wait)
{
    net_queue *queue = &link->net->waiting[wait];
    net_stop_waiting(link);
    link->wait = wait;
    link->due_ms = hub_clock_now_ms() + patience_of(link->net, wait);
    link->due_next = NULL;
    link->due_prev = queue->last;
    if (queue->last != NULL) {
        queue->last->due_next = link;
    } else {
        queue->first = link;
    }
    queue->last = link;
    net_update_tick(link->net);
}

bool net_is_handshake_done(const hub_link *link)
{
    SSL *ssl = link->is_tls ? lws_get_ssl(link->wsi) : NULL;
    return ssl == NULL || SSL_is_init_finished(ssl);
}

static void miss_deadline(hub_link *link)
{
    net_wait wait = link->wait;
    net_stop_waiting(link);
    if (wait == NET_WAIT_HANDSHAKE && net_is_handshake_done(link)) {
        return;
    }
    if (wait == NET_WAIT_STALL) {
        hub_log(HUB_LOG_INFO, "net.stalled", HUB_F_TEXT("peer", hub_link_peer(link)),
                HUB_F_INT("bytes", hub_link_queued(link)));
    }
    net_link_kill(link);
}

void net_link_check_deadlines(hub_net *net, uint64_t now_ms)
{
    for (int wait = NET_WAIT_NONE + 1; wait < NET_WAITS; wait++) {
        while (net->waiting[wait].first != NULL && net->waiting[wait].first->due_ms <= now_ms) {
            miss_deadline(net->waiting[wait].first);
        }
    }
}
