/* SPDX-License-Identifier: Apache-2.0 */
#include "login/loopback.h"

#include "base/limits.h"
#include "base/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

enum {
    REQUEST_BYTES = 2 * HUB_LIMIT_LOGIN_TEXT_BYTES, /* its head; a browser's has 1 KiB */
    VISITORS = 16,                                  /* at once; browsers open some to spare */
    VISIT_S = 10,
};

/* A connection. */
typedef struct visitor {
    ev_io watcher;
    ev_timer timer;
    hub_loopback *loopback;
    struct visitor *next;
    struct visitor *prev;
    hub_buf in;
    hub_buf out;
    int fd;
} visitor;

struct hub_loopback {
    struct ev_loop *loop;
    ev_io watcher;
    hub_loopback_on_query *on_query;
    void *ctx;
    visitor *visitors;
    size_t count;
    int fd; /* -1: it is closed */
    uint16_t port;
    bool is_closed;
};

/* ---- its end --------------------------------------------------------------------------------- */

static void free_if_done(hub_loopback *loopback)
{
    if (loopback->is_closed && loopback->visitors == NULL) {
        free(loopback);
    }
}

static void end(visitor *one)
{
    hub_loopback *loopback = one->loopback;
    ev_io_stop(loopback->loop, &one->watcher);
    ev_timer_stop(loopback->loop, &one->timer);
    DL_DELETE(loopback->visitors, one);
    loopback->count--;
    (void)close(one->fd);
    hub_buf_fini(&one->in);
    hub_buf_fini(&one->out);
    free(one);
    free_if_done(loopback);
}

static void stop_listening(hub_loopback *loopback)
{
    ev_io_stop(loopback->loop, &loopback->watcher);
    if (loopback->fd >= 0) {
        (void)close(loopback->fd);
        loopback->fd = -1;
    }
}

void hub_loopback_close(hub_loopback *loopback)
{
    if (loopback == NULL) {
        return;
    }
    stop_listening(loopback);
    for (visitor *one = loopback->visitors; one != NULL;) {
        visitor *next = one->next;
        if (one->out.len == 0 && one->in.len == 0) { /* it has asked nothing */
            end(one);
        }
        one = next;
    }
    loopback->is_closed = true;
    free_if_done(loopback);
}

/* ---- a visit --------------------------------------------------------------------------------- */

void hub_loopback_add_page(hub_buf *out, hub_str sentence)
{
    hub_buf_add(out, HUB_STR("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>"
                             "Patchbay</title><body><p>"));
    hub_buf_add(out, sentence);
    hub_buf_add(out, HUB_STR("</p></body></html>\n"));
}

static void write_page(visitor *one, const char *status, const char *sentence)
{
    hub_buf page;
    hub_buf_init(&page, REQUEST_BYTES);
    hub_loopback_add_page(&page, hub_str_of(sentence));
    hub_buf_printf(
        &one->out,
        "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n",
        status, page.len);
    hub_buf_add(&one->out, hub_buf_str(&page));
    hub_buf_fini(&page);
}

/* The query of a request's first line; false when it is no GET of anything. */
static bool find_query(hub_str head, hub_str *ret_query)
{
    size_t len = hub_str_find(head, HUB_STR("\r\n"));
    hub_str line = {.ptr = head.ptr, .len = len};
    if (len == SIZE_MAX || !hub_str_starts(line, HUB_STR("GET /"))) {
        return false;
    }
    hub_str target = hub_str_from(line, 4);
    len = hub_str_find(target, HUB_STR(" "));
    target.len = len == SIZE_MAX ? target.len : len;
    len = hub_str_find(target, HUB_STR("?"));
    *ret_query = len == SIZE_MAX ? HUB_STR_EMPTY : hub_str_from(target, len + 1);
    return true;
}

static void answer(visitor *one)
{
    hub_str query;
    const char *page = NULL;
    hub_loopback *loopback = one->loopback;
    if (!find_query(hub_buf_str(&one->in), &query)) {
        write_page(one, "400 Bad Request", "This is not a request of a browser.");
        return;
    }
    if (query.len > 0 && !loopback->is_closed) {
        page = loopback->on_query(loopback->ctx, query); /* it may close the loopback */
    }
    if (page != NULL) {
        write_page(one, "200 OK", page);
    } else {
        write_page(one, "404 Not Found", "No login waits for this. It may have taken too long.");
    }
}

static void give(visitor *one)
{
    ssize_t count = send(one->fd, one->out.ptr, one->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
        hub_buf_consume(&one->out, (size_t)count);
    }
    if (one->out.len == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        (void)shutdown(one->fd, SHUT_WR);
        end(one);
    }
}

static void take(visitor *one)
{
    char *room = hub_buf_reserve(&one->in, 2048);
    ssize_t count = room != NULL ? recv(one->fd, room, 2048, MSG_DONTWAIT) : 0;
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (count <= 0) {
        end(one);
        return;
    }
    one->in.len += (size_t)count;
    if (hub_str_find(hub_buf_str(&one->in), HUB_STR("\r\n\r\n")) == SIZE_MAX) {
        return;
    }
    answer(one);
    ev_io_stop(one->loopback->loop, &one->watcher);
    ev_io_set(&one->watcher, one->fd, EV_WRITE);
    ev_io_start(one->loopback->loop, &one->watcher);
    give(one); /* at once: the process may end with the login */
}

static void on_ready(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    visitor *one = watcher->data;
    if (one->out.len > 0) {
        give(one);
    } else {
        take(one);
    }
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    end(timer->data);
}

static void on_visitor(struct ev_loop *loop, ev_io *watcher, int events)
{
    if (hub_loop_mend(loop, watcher, events)) {
        return;
    }
    hub_loopback *loopback = watcher->data;
    int fd = accept4(loopback->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    visitor *one = fd >= 0 && loopback->count < VISITORS ? calloc(1, sizeof *one) : NULL;
    if (one == NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return;
    }
    one->loopback = loopback;
    one->fd = fd;
    hub_buf_init_secret(&one->in, REQUEST_BYTES);
    hub_buf_init(&one->out, REQUEST_BYTES);
    ev_io_init(&one->watcher, on_ready, fd, EV_READ);
    one->watcher.data = one;
    ev_timer_init(&one->timer, on_late, 0., 0.);
    one->timer.data = one;
    ev_io_start(loop, &one->watcher);
    hub_loop_start_timer(loop, &one->timer, VISIT_S);
    DL_APPEND(loopback->visitors, one);
    loopback->count++;
}

/* ---- its beginning --------------------------------------------------------------------------- */

static bool bind_to(int fd, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return bind(fd, (const struct sockaddr *)(const void *)&address, sizeof address) == 0;
}

static hub_err listen_on(hub_loopback *loopback, uint16_t port, hub_error *reterr)
{
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    const int yes = 1;
    loopback->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (loopback->fd >= 0) {
        (void)setsockopt(loopback->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    }
    if (loopback->fd < 0 || (!bind_to(loopback->fd, port) && !bind_to(loopback->fd, 0)) ||
        listen(loopback->fd, VISITORS) != 0 ||
        getsockname(loopback->fd, (struct sockaddr *)(void *)&address, &len) != 0) {
        return hub_fail(reterr, HUB_ESYSTEM,
                        "cannot listen on 127.0.0.1 for the browser to come back: %s",
                        strerrordesc_np(errno));
    }
    loopback->port = ntohs(address.sin_port);
    return HUB_OK;
}

hub_err hub_loopback_open(struct ev_loop *loop, uint16_t port, hub_loopback_on_query *on_query,
                          void *ctx, hub_loopback **ret_loopback, hub_error *reterr)
{
    hub_loopback *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    made->loop = loop;
    made->on_query = on_query;
    made->ctx = ctx;
    hub_err err = listen_on(made, port, reterr);
    if (err != HUB_OK) {
        hub_loopback_close(made);
        return err;
    }
    ev_io_init(&made->watcher, on_visitor, made->fd, EV_READ);
    made->watcher.data = made;
    ev_io_start(loop, &made->watcher);
    *ret_loopback = made;
    return HUB_OK;
}

uint16_t hub_loopback_port(const hub_loopback *loopback)
{
    return loopback->port;
}
