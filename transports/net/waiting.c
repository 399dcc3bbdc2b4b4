/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <linux/tcp.h>
#include <openssl/ssl.h>

bool net_is_waiting(const hub_link *link, net_wait wait)
{
    return link->wait.list == &link->net->waiting[wait];
}

/* Bytes that the peer's machine has said it has; 0 when nobody knows. libwebsockets and the kernel
 * buffer so much that a slow peer may be reading for minutes before either says that it takes more.
 */
static uint64_t acked_bytes(const hub_link *link)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    int fd = lws_get_socket_fd(link->wsi);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 ? info.tcpi_bytes_acked : 0;
}

void net_start_waiting(hub_link *link, net_wait wait)
{
    hub_deadline_start(&link->net->waiting[wait], &link->wait, hub_clock_now_ms());
    if (wait == NET_WAIT_STALL) {
        link->acked_bytes = acked_bytes(link);
    }
}

void net_stop_waiting(hub_link *link)
{
    hub_deadline_stop(&link->wait);
}

bool net_is_handshake_done(const hub_link *link)
{
    SSL *ssl = link->is_tls ? lws_get_ssl(link->wsi) : NULL;
    return ssl == NULL || SSL_is_init_finished(ssl);
}

/* libwebsockets allows for little time after a handshake, and forgets what it was told to write. */
void net_end_handshake(hub_link *link)
{
    net_stop_waiting(link);
    lws_set_timeout(link->wsi, NO_PENDING_TIMEOUT, 0);
    if (link->chunks != NULL) {
        net_start_waiting(link, NET_WAIT_STALL);
        (void)lws_callback_on_writable(link->wsi);
    }
}

/* Nobody says when a handshake is over, unless the peer sends something after it. */
static void end_handshakes(hub_net *net)
{
    hub_deadline *next;
    for (hub_deadline *at = net->waiting[NET_WAIT_HANDSHAKE].first; at != NULL; at = next) {
        hub_link *link = HUB_DEADLINE_OF(at, hub_link, wait);
        next = at->next;
        if (net_is_handshake_done(link)) {
            net_end_handshake(link);
        }
    }
}

static uint32_t patience_for(const hub_net *net, net_wait wait)
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

static void miss_deadline(hub_link *link, net_wait wait)
{
    if (wait == NET_WAIT_STALL) {
        if (acked_bytes(link) != link->acked_bytes) {
            net_start_waiting(link, wait); /* slow, but reading */
            return;
        }
        hub_log(HUB_LOG_INFO, "net.stalled", HUB_F_TEXT("peer", hub_link_peer(link)),
                HUB_F_INT("bytes", hub_link_queued(link)));
    }
    net_link_kill(link);
}

void net_check_deadlines(hub_net *net, uint64_t now_ms)
{
    end_handshakes(net);
    for (net_wait wait = 0; wait < NET_WAITS; wait++) {
        for (;;) {
            hub_deadline *late =
                hub_deadline_late(&net->waiting[wait], now_ms, patience_for(net, wait));
            if (late == NULL) {
                break;
            }
            miss_deadline(HUB_DEADLINE_OF(late, hub_link, wait), wait);
        }
    }
}
