/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Accepted in one go, so that a flood of connections does not keep the rest of the loop waiting. */
enum { ACCEPTS_PER_TURN = 64, BACKLOG = 1024 };

typedef union net_socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} net_socket_address;

/* ---- accepting ----------------------------------------------------------------------------------
 */

/* The address without port. An IPv4 address that came in over IPv6 is the same peer. */
static void print_peer(const net_socket_address *from, char text[INET6_ADDRSTRLEN])
{
    const void *address = from->any.sa_family == AF_INET ? (const void *)&from->v4.sin_addr
                                                         : (const void *)&from->v6.sin6_addr;
    if (inet_ntop(from->any.sa_family, address, text, INET6_ADDRSTRLEN) == NULL) {
        text[0] = '\0';
    }
}

/* The record of a peer's address; NULL when out of memory. */
static net_address *find_address(hub_net *net, const net_socket_address *from)
{
    net_address *address;
    char text[INET6_ADDRSTRLEN];
    print_peer(from, text);
    HASH_FIND_STR(net->addresses, text, address);
    if (address == NULL && (address = calloc(1, sizeof *address)) != NULL) {
        memcpy(address->text, text, sizeof text);
        HASH_ADD_STR(net->addresses, text, address);
    }
    return address;
}

void net_forget_address(hub_net *net, net_address *address)
{
    if (address->links == 0) {
        HASH_DEL(net->addresses, address);
        free(address);
    }
}

static bool is_full(int fd)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > HUB_NET_RESERVED_FDS &&
           (rlim_t)fd >= limit.rlim_cur - HUB_NET_RESERVED_FDS;
}

static void take_connection(hub_listener *listener, int fd, const net_socket_address *from)
{
    hub_net *net = listener->net;
    int on = 1;
    if (is_full(fd)) {
        (void)close(fd);
        net_pause_accepting(net, "file descriptors run out: raise the limit (ulimit -n)");
        return;
    }
    net_address *address =
        net->link_count < net->limits.connections ? find_address(net, from) : NULL;
    if (address == NULL) {
        (void)close(fd);
        net_note_refusal(net, "limits.connections is reached");
        return;
    }
    if (address->links >= net->limits.connections_per_address) {
        (void)close(fd);
        net_note_refusal(net, "limits.connections_per_address is reached");
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    net_link_adopt(listener, fd, address);
}

static void on_accept(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)events;
    hub_listener *listener = watcher->data;
    for (int i = 0; i < ACCEPTS_PER_TURN && listener->net->is_accepting; i++) {
        net_socket_address from = {.any.sa_family = AF_UNSPEC};
        socklen_t len = sizeof from;
        int fd = accept4(watcher->fd, &from.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take_connection(listener, fd, &from);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            net_pause_accepting(listener->net, strerror(errno));
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

void net_set_accepting(hub_net *net, bool is_accepting)
{
    if (net->is_closing || net->is_accepting == is_accepting) {
        return;
    }
    net->is_accepting = is_accepting;
    for (hub_listener *listener = net->listeners; listener != NULL; listener = listener->next) {
        for (size_t i = 0; i < listener->count; i++) {
            if (is_accepting) {
                ev_io_start(net->loop, &listener->accept[i]);
            } else {
                ev_io_stop(net->loop, &listener->accept[i]);
            }
        }
    }
}

/* ---- listening ----------------------------------------------------------------------------------
 */

/* A literal address of either family. */
static bool read_address(const char *text, uint16_t port, net_socket_address *ret_address)
{
    memset(ret_address, 0, sizeof *ret_address);
    if (inet_pton(AF_INET, text, &ret_address->v4.sin_addr) == 1) {
        ret_address->v4.sin_family = AF_INET;
        ret_address->v4.sin_port = htons(port);
        return true;
    }
    if (inet_pton(AF_INET6, text, &ret_address->v6.sin6_addr) == 1) {
        ret_address->v6.sin6_family = AF_INET6;
        ret_address->v6.sin6_port = htons(port);
        return true;
    }
    return false;
}

static uint16_t port_of(int fd)
{
    net_socket_address bound;
    socklen_t len = sizeof bound;
    if (getsockname(fd, &bound.any, &len) != 0) {
        return 0;
    }
    return ntohs(bound.any.sa_family == AF_INET ? bound.v4.sin_port : bound.v6.sin6_port);
}

/* A socket that listens there. errors:  HUB_EEXIST, HUB_EINVAL, HUB_ESYSTEM; errno says why */
static hub_err open_socket(const net_socket_address *address, int *ret_fd)
{
    int on = 1;
    bool is_v6 = address->any.sa_family == AF_INET6;
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return HUB_ESYSTEM;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (is_v6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    }
    if (bind(fd, &address->any, is_v6 ? sizeof address->v6 : sizeof address->v4) != 0 ||
        listen(fd, BACKLOG) != 0) {
        int error = errno;
        (void)close(fd);
        errno = error;
        return error == EADDRINUSE                         ? HUB_EEXIST
               : error == EADDRNOTAVAIL || error == EACCES ? HUB_EINVAL
                                                           : HUB_ESYSTEM;
    }
    *ret_fd = fd;
    return HUB_OK;
}

static hub_err add_socket(hub_listener *listener, const char *text, uint16_t port,
                          hub_error *reterr)
{
    net_socket_address address;
    int fd;
    if (!read_address(text, port, &address)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "cannot listen on \"%s\": write an IP address, or localhost", text);
    }
    hub_err err = open_socket(&address, &fd);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "cannot listen on %s port %u: %s%s", text, port,
                        strerror(errno), err == HUB_EEXIST ? ": choose another port" : "");
    }
    ev_io *watcher = &listener->accept[listener->count++];
    ev_io_init(watcher, on_accept, fd, EV_READ);
    watcher->data = listener;
    listener->port = port_of(fd);
    return HUB_OK;
}

/* Both loopback addresses, if there are two, on one port. */
static hub_err add_localhost(hub_listener *listener, uint16_t port, hub_error *reterr)
{
    hub_error ignored;
    hub_err err = add_socket(listener, "127.0.0.1", port, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = add_socket(listener, "::1", listener->port, &ignored);
    /* A chosen port that somebody else has over IPv6 would split the clients between us. */
    return err == HUB_EEXIST && port != 0 ? add_socket(listener, "::1", port, reterr) : HUB_OK;
}

hub_err hub_net_listen(hub_net *net, const hub_listen_settings *settings, hub_net_on_link *on_link,
                       void *ctx, hub_listener **ret_listener, hub_error *reterr)
{
    hub_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    listener->net = net;
    listener->vhost = net->plain;
    listener->is_tls = settings->tls.certificate != NULL;
    listener->on_link = on_link;
    listener->ctx = ctx;
    listener->next = net->listeners;
    net->listeners = listener;
    hub_err err =
        listener->is_tls ? net_tls_vhost(net, &settings->tls, &listener->vhost, reterr) : HUB_OK;
    if (err == HUB_OK) {
        err = strcmp(settings->address, "localhost") == 0
                  ? add_localhost(listener, settings->port, reterr)
                  : add_socket(listener, settings->address, settings->port, reterr);
    }
    if (err != HUB_OK) {
        hub_listener_close(listener);
        return err;
    }
    for (size_t i = 0; i < listener->count; i++) {
        ev_io_start(net->loop, &listener->accept[i]);
    }
    *ret_listener = listener;
    return HUB_OK;
}

void hub_listener_close(hub_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    hub_listener **link = &listener->net->listeners;
    while (*link != listener) {
        link = &(*link)->next;
    }
    *link = listener->next;
    for (size_t i = 0; i < listener->count; i++) {
        ev_io_stop(listener->net->loop, &listener->accept[i]);
        (void)close(listener->accept[i].fd);
    }
    free(listener);
}

uint16_t hub_listener_port(const hub_listener *listener)
{
    return listener->port;
}
