/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include "base/inherited.h"
#include "base/loop.h"

#include <errno.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Accepted in one go, so that a flood of connections does not keep the rest of the loop waiting. */
enum { ACCEPTS_PER_TURN = 64, BACKLOG = 1024 };

/* Ports that are tried for localhost: that so many are half taken does not happen by chance. */
enum { LOCALHOST_ATTEMPTS = 64 };

typedef union net_socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} net_socket_address;

/* ---- accepting ------------------------------------------------------------------------------- */

/* The address without port. */
static void print_peer(const net_socket_address *from, char text[HUB_ADDRESS_TEXT_BYTES])
{
    const void *address = from->any.sa_family == AF_INET ? (const void *)&from->v4.sin_addr
                                                         : (const void *)&from->v6.sin6_addr;
    if (inet_ntop(from->any.sa_family, address, text, HUB_ADDRESS_TEXT_BYTES) == NULL) {
        text[0] = '\0';
    }
}

/* The record of a peer's address; NULL when out of memory. */
static net_address *find_address(hub_net *net, const char *text)
{
    net_address *address;
    HASH_FIND_STR(net->addresses, text, address);
    if (address == NULL && (address = calloc(1, sizeof *address)) != NULL) {
        memcpy(address->text, text, strlen(text) + 1);
        HASH_ADD_STR(net->addresses, text, address);
        if (!hub_map_has_taken(&address->hh)) {
            free(address);
            return NULL;
        }
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

/* The kernel gives the lowest descriptor that is free. */
static bool is_full(const hub_net *net, int fd)
{
    struct rlimit limit;
    rlim_t max = net->max_fd;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < max) {
        max = limit.rlim_cur;
    }
    return (rlim_t)fd + HUB_NET_RESERVED_FDS >= max;
}

static bool is_trusted(const hub_listener *listener, const char *from)
{
    return hub_cidr_any_has(listener->proxies, listener->proxy_count, from);
}

/* Behind a proxy all clients have one address: its cap is of those who come by themselves. */
void net_take_link(hub_listener *listener, int fd, const char *from)
{
    hub_net *net = listener->net;
    net_address *address = find_address(net, from);
    if (address == NULL) {
        (void)close(fd);
        net_note_refusal(net, "out of memory");
        return;
    }
    if (address->links >= net->limits.connections_per_address && !is_trusted(listener, from)) {
        (void)close(fd);
        net_note_refusal(net, "limits.connections_per_address is reached");
        return;
    }
    net_link_adopt(listener, fd, address);
}

static void take_connection(hub_listener *listener, int fd, const net_socket_address *from)
{
    hub_net *net = listener->net;
    char text[HUB_ADDRESS_TEXT_BYTES];
    if (is_full(net, fd)) {
        (void)close(fd);
        net_pause_accepting(net, "file descriptors run out: raise the limit (ulimit -n)");
        return;
    }
    if (net->link_count + net->announced_count >= net->limits.connections) {
        (void)close(fd);
        net_note_refusal(net, "limits.connections is reached");
        return;
    }
    print_peer(from, text);
    if (listener->are_announced && is_trusted(listener, text)) {
        net_announced_take(listener, fd, text);
    } else {
        net_take_link(listener, fd, text);
    }
}

static void on_accept(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
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

/* ---- listening ------------------------------------------------------------------------------- */

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

/* Connections inherit them. A peer that vanished would be owed what the kernel holds for it for a
 * quarter of an hour. What waits beyond that is our own stall limit's, which is told of. */
static void set_options(const hub_net *net, int fd, bool is_v6)
{
    int on = 1;
    unsigned timeout_ms = 2 * net->limits.stall_ms;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
    if (is_v6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    }
}

/* A socket that listens there; -1: errno says why not. */
static int open_socket(const hub_net *net, const net_socket_address *address)
{
    bool is_v6 = address->any.sa_family == AF_INET6;
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    set_options(net, fd, is_v6);
    if (bind(fd, &address->any, is_v6 ? sizeof address->v6 : sizeof address->v4) != 0 ||
        listen(fd, BACKLOG) != 0) {
        int error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Why not, and what to do; `error` is an errno. */
static hub_err fail_listening(hub_error *reterr, const char *address, uint16_t port, int error)
{
    hub_err code = HUB_ESYSTEM;
    const char *advice = "";
    if (error == EADDRINUSE) {
        code = HUB_EEXIST;
        advice = ": choose another port, or end the process that listens there";
    } else if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) {
        code = HUB_EINVAL;
        advice = ": this machine has no such address";
    } else if (error == EACCES) {
        code = HUB_EINVAL;
        advice = ": choose a port from 1024 on, or grant CAP_NET_BIND_SERVICE";
    }
    return hub_fail(reterr, code, "cannot listen on %s port %u: %s%s", address, port,
                    strerror(error), advice);
}

/* Listen there, too. Returns 0, or an errno. */
static int add_socket(hub_listener *listener, const net_socket_address *address)
{
    int fd = open_socket(listener->net, address);
    if (fd < 0) {
        return errno;
    }
    ev_io *watcher = &listener->accept[listener->count++];
    ev_io_init(watcher, on_accept, fd, EV_READ);
    watcher->data = listener;
    listener->port = port_of(fd);
    return 0;
}

/* Whether a socket listens just there: one that is open to others would be served as if it were
 * not. */
static bool is_bound_to(int fd, const char *address, uint16_t port)
{
    net_socket_address bound;
    socklen_t len = sizeof bound;
    char text[HUB_ADDRESS_TEXT_BYTES];
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockname(fd, &bound.any, &len) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0 ||
        (bound.any.sa_family != AF_INET && bound.any.sa_family != AF_INET6)) {
        return false;
    }
    print_peer(&bound, text);
    bool is_local = strcmp(address, "localhost") == 0 &&
                    (strcmp(text, "127.0.0.1") == 0 || strcmp(text, "::1") == 0);
    return (is_local || strcmp(text, address) == 0) && (port == 0 || port_of(fd) == port);
}

/* Take over what systemd has opened; *ret_taken: there is such a socket. */
static hub_err take_over(hub_listener *listener, const hub_listen_settings *settings,
                         bool *ret_taken, hub_error *reterr)
{
    enum { MOST = sizeof listener->accept / sizeof *listener->accept };
    for (unsigned nth = 0; nth < MOST && settings->activation != NULL; nth++) {
        int fd = hub_inherited_copy(settings->activation, nth);
        if (fd < 0) {
            break;
        }
        ev_io *watcher = &listener->accept[listener->count++];
        ev_io_init(watcher, on_accept, fd, EV_READ);
        watcher->data = listener;
        listener->port = port_of(fd);
        if (!is_bound_to(fd, settings->address, settings->port)) {
            return hub_fail(reterr, HUB_EINVAL,
                            "the socket \"%s\" of systemd listens elsewhere: write its "
                            "ListenStream= here, as ADDRESS:PORT",
                            settings->activation);
        }
        set_options(listener->net, fd, false);
    }
    *ret_taken = listener->count > 0;
    return HUB_OK;
}

static void close_sockets(hub_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++) {
        ev_io_stop(listener->net->loop, &listener->accept[i]);
        (void)close(listener->accept[i].fd);
    }
    listener->count = 0;
}

static hub_err listen_on_address(hub_listener *listener, const char *text, uint16_t port,
                                 hub_error *reterr)
{
    net_socket_address address;
    if (!read_address(text, port, &address)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "cannot listen on \"%s\": write an IP address, or localhost", text);
    }
    int error = add_socket(listener, &address);
    return error == 0 ? HUB_OK : fail_listening(reterr, text, port, error);
}

/* Add ::1 with the port of 127.0.0.1, if this machine has it. Returns 0, or an errno. */
static int add_twin(hub_listener *listener)
{
    net_socket_address v6;
    (void)read_address("::1", listener->port, &v6);
    int error = add_socket(listener, &v6);
    return error == EADDRNOTAVAIL || error == EAFNOSUPPORT ? 0 : error;
}

/* Both loopback addresses, if there are two, on one port: a client may try either, and must not
 * find somebody else there. So a free port is one that is free in both. */
static hub_err listen_on_localhost(hub_listener *listener, uint16_t port, hub_error *reterr)
{
    int half_free[LOCALHOST_ATTEMPTS]; /* kept until the end, or they would be
                                          offered again */
    size_t count = 0;
    hub_err err;
    for (;;) {
        err = listen_on_address(listener, "127.0.0.1", port, reterr);
        int error = err == HUB_OK ? add_twin(listener) : 0;
        if (error == 0) {
            break;
        }
        if (error != EADDRINUSE || port != 0 || count == LOCALHOST_ATTEMPTS) {
            err = fail_listening(reterr, "::1", listener->port, error);
            break;
        }
        half_free[count++] = listener->accept[0].fd;
        listener->count = 0;
    }
    while (count > 0) {
        (void)close(half_free[--count]);
    }
    return err;
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
    hub_listener_trust(listener, settings);
    listener->on_link = on_link;
    listener->ctx = ctx;
    listener->next = net->listeners;
    net->listeners = listener;
    bool is_taken = false;
    hub_err err = take_over(listener, settings, &is_taken, reterr);
    if (err == HUB_OK && !is_taken) {
        err = strcmp(settings->address, "localhost") == 0
                  ? listen_on_localhost(listener, settings->port, reterr)
                  : listen_on_address(listener, settings->address, settings->port, reterr);
    }
    if (err == HUB_OK && listener->is_tls) {
        err = net_tls_vhost(net, &settings->tls, listener, reterr);
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
    net_announced_end(listener->net, listener);
    close_sockets(listener);
    net_clients_end(listener); /* handshakes that have begun go on without it */
    hub_authority_unref(listener->clients);
    free(listener);
}

void hub_listener_trust(hub_listener *listener, const hub_listen_settings *settings)
{
    listener->proxies = settings->trusted_proxies;
    listener->proxy_count = settings->trusted_proxy_count;
    listener->are_announced = settings->proxy_protocol;
}

uint16_t hub_listener_port(const hub_listener *listener)
{
    return listener->port;
}
