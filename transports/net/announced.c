/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of a proxy that has to say first whose bytes it brings (proxy_protocol.h). They are
 * links once it has: TLS, where there is any, comes behind that. */
#include "net/internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "net/proxy_protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct net_announced {
    ev_io readable;
    hub_deadline wait;
    hub_listener *listener;
    struct net_announced *next; /* of the net */
    struct net_announced *prev;
    char proxy[HUB_ADDRESS_TEXT_BYTES];
    size_t len;
    char bytes[NET_PROXY_HEADER_BYTES]; /* of the header, taken off the socket */
};

/* Take it off the list; the descriptor is the caller's. */
static int forget(net_announced *announced)
{
    hub_net *net = announced->listener->net;
    int fd = announced->readable.fd;
    ev_io_stop(net->loop, &announced->readable);
    hub_deadline_stop(&announced->wait);
    if (announced->prev != NULL) {
        announced->prev->next = announced->next;
    } else {
        net->announced = announced->next;
    }
    if (announced->next != NULL) {
        announced->next->prev = announced->prev;
    }
    net->announced_count--;
    free(announced);
    return fd;
}

static void drop(net_announced *announced, const char *reason)
{
    hub_net *net = announced->listener->net;
    (void)close(forget(announced));
    if (reason != NULL) {
        net_note_refusal(net, reason);
    }
    net_update_tick(net);
}

/* The bytes of the header, and no byte more, leave the socket. */
static bool take(net_announced *announced, size_t count)
{
    char *to = announced->bytes + announced->len;
    ssize_t got = recv(announced->readable.fd, to, count, MSG_DONTWAIT);
    announced->len += got > 0 ? (size_t)got : 0;
    return got == (ssize_t)count;
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    net_announced *announced = watcher->data;
    size_t before = announced->len;
    size_t used;
    char address[HUB_ADDRESS_TEXT_BYTES];
    ssize_t got = recv(watcher->fd, announced->bytes + before, NET_PROXY_HEADER_BYTES - before,
                       MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        drop(announced, NULL); /* a proxy looks whether somebody listens */
        return;
    }
    hub_str all = {.ptr = announced->bytes, .len = before + (size_t)got};
    net_proxy_progress progress = net_proxy_read(all, &used, address);
    size_t header = progress == NET_PROXY_DONE ? used - before : (size_t)got;
    if (progress == NET_PROXY_REFUSED || !take(announced, header) ||
        (progress == NET_PROXY_MORE && announced->len == NET_PROXY_HEADER_BYTES)) {
        drop(announced, "a trusted proxy does not begin with a PROXY header: have it send one "
                        "(send-proxy-v2), or set proxy_protocol of the listener to false");
    } else if (progress == NET_PROXY_DONE) {
        hub_listener *listener = announced->listener;
        char proxy[HUB_ADDRESS_TEXT_BYTES];
        memcpy(proxy, announced->proxy, sizeof proxy);
        int fd = forget(announced);
        net_take_link(listener, fd, address[0] != '\0' ? address : proxy);
    }
}

void net_announced_take(hub_listener *listener, int fd, const char *proxy)
{
    hub_net *net = listener->net;
    net_announced *announced = calloc(1, sizeof *announced);
    if (announced == NULL) {
        (void)close(fd);
        net_note_refusal(net, "out of memory");
        return;
    }
    announced->listener = listener;
    memcpy(announced->proxy, proxy, strlen(proxy) + 1);
    announced->next = net->announced;
    if (announced->next != NULL) {
        announced->next->prev = announced;
    }
    net->announced = announced;
    net->announced_count++;
    ev_io_init(&announced->readable, on_readable, fd, EV_READ);
    announced->readable.data = announced;
    ev_io_start(net->loop, &announced->readable);
    hub_deadline_start(&net->announcing, &announced->wait, hub_clock_now_ms());
    net_update_tick(net);
}

void net_announced_check(hub_net *net, uint64_t now_ms)
{
    hub_deadline *late;
    while ((late = hub_deadline_late(&net->announcing, now_ms, HUB_LIMIT_HANDSHAKE_MS)) != NULL) {
        drop(HUB_DEADLINE_OF(late, net_announced, wait),
             "a trusted proxy has not said whose connection it is");
    }
}

void net_announced_end(const hub_net *net, const hub_listener *listener)
{
    net_announced *next;
    for (net_announced *at = net->announced; at != NULL; at = next) {
        next = at->next;
        if (at->listener == listener) {
            (void)close(forget(at));
        }
    }
}
