/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dial.h"

#include "base/buf.h"
#include "base/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024 };

struct hub_dial {
    struct ev_loop *loop;
    const hub_dial_events *events;
    void *owner;
    ev_io readable;
    ev_io writable;  /* while it is being made, and while something waits */
    ev_timer failed; /* never started, only fed: it ends from the loop */
    hub_buf waiting;
    bool is_open;
};

/* ---- its end --------------------------------------------------------------------------------- */

static void destroy(hub_dial *dial)
{
    ev_io_stop(dial->loop, &dial->readable);
    ev_io_stop(dial->loop, &dial->writable);
    ev_clear_pending(dial->loop, &dial->failed);
    (void)close(dial->readable.fd);
    hub_buf_fini(&dial->waiting);
    free(dial);
}

static void end(hub_dial *dial)
{
    const hub_dial_events *events = dial->events;
    void *owner = dial->owner;
    bool was_open = dial->is_open;
    destroy(dial);
    events->on_end(owner, was_open);
}

static void on_failed(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    end(timer->data);
}

void hub_dial_close(hub_dial *dial)
{
    if (dial != NULL) {
        destroy(dial);
    }
}

void hub_dial_end(hub_dial *dial)
{
    ev_feed_event(dial->loop, &dial->failed, EV_TIMER);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events)
{
    char bytes[READ_BYTES];
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    hub_dial *dial = watcher->data;
    ssize_t got = recv(watcher->fd, bytes, sizeof bytes, 0);
    if (got > 0) {
        dial->events->on_bytes(dial->owner, (hub_str){.ptr = bytes, .len = (size_t)got});
    } else if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        end(dial);
    }
}

/* Send what can be sent at once. False when the connection is broken. */
static bool push(hub_dial *dial)
{
    while (dial->waiting.len > 0) {
        ssize_t sent = send(dial->writable.fd, dial->waiting.ptr, dial->waiting.len, MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        }
        hub_buf_consume(&dial->waiting, (size_t)sent);
    }
    return true;
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    hub_dial *dial = watcher->data;
    int problem = 0;
    socklen_t len = sizeof problem;
    if (!dial->is_open &&
        (getsockopt(watcher->fd, SOL_SOCKET, SO_ERROR, &problem, &len) != 0 || problem != 0)) {
        end(dial);
        return;
    }
    if (!dial->is_open) {
        dial->is_open = true;
        ev_io_start(loop, &dial->readable);
    }
    if (!push(dial)) {
        end(dial);
    } else if (dial->waiting.len == 0) {
        ev_io_stop(loop, watcher);
    }
}

void hub_dial_write(hub_dial *dial, hub_str bytes)
{
    hub_buf_add(&dial->waiting, bytes);
    if (!hub_buf_ok(&dial->waiting) || (dial->is_open && !push(dial))) {
        hub_dial_end(dial);
    } else if (dial->waiting.len > 0) {
        ev_io_start(dial->loop, &dial->writable);
    }
}

/* ---- its beginning --------------------------------------------------------------------------- */

static socklen_t make_address(const char *address, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
    memset(ret, 0, sizeof *ret);
    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        return sizeof *v4;
    }
    if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        return sizeof *v6;
    }
    return 0;
}

static int connect_to(const struct sockaddr_storage *to, socklen_t len)
{
    static const int ON = 1;
    int fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &ON, sizeof ON);
    if (connect(fd, (const struct sockaddr *)to, len) != 0 && errno != EINPROGRESS) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

hub_err hub_dial_open(struct ev_loop *loop, const char *address, uint16_t port,
                      size_t max_queue_bytes, const hub_dial_events *events, void *owner,
                      hub_dial **ret_dial)
{
    struct sockaddr_storage to;
    socklen_t len = make_address(address, port, &to);
    if (len == 0) {
        return HUB_EINVAL;
    }
    hub_dial *dial = calloc(1, sizeof *dial);
    if (dial == NULL) {
        return HUB_ENOMEM;
    }
    int fd = connect_to(&to, len);
    if (fd < 0) {
        free(dial);
        return HUB_ESYSTEM;
    }
    dial->loop = loop;
    dial->events = events;
    dial->owner = owner;
    hub_buf_init(&dial->waiting, max_queue_bytes);
    ev_io_init(&dial->readable, on_readable, fd, EV_READ);
    ev_io_init(&dial->writable, on_writable, fd, EV_WRITE);
    ev_timer_init(&dial->failed, on_failed, 0., 0.);
    dial->readable.data = dial;
    dial->writable.data = dial;
    dial->failed.data = dial;
    ev_io_start(loop, &dial->writable);
    *ret_dial = dial;
    return HUB_OK;
}
