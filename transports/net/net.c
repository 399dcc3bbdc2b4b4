/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* libwebsockets looks at its own timers only when it is called; it needs no better precision. */
enum { TICKS_PER_HEARTBEAT = 4, LOG_EVERY_MS = 10000, CONTEXT_BUFFER_BYTES = 64 * 1024 };

/* ---- the log ------------------------------------------------------------------------------------
 */

/* Its complaints are about peers, or follow an error that we report ourselves. */
static void log_line(int level, const char *line)
{
    (void)level;
    hub_log(HUB_LOG_DEBUG, "net.library", HUB_F_STR("text", hub_str_trim(hub_str_of(line))));
}

void net_note_refusal(hub_net *net, const char *reason)
{
    uint64_t now = hub_clock_now_ms();
    net->refused++;
    if (net->refused_log_ms == 0 || now - net->refused_log_ms >= LOG_EVERY_MS) {
        hub_log(HUB_LOG_WARNING, "net.refused", HUB_F_TEXT("reason", reason),
                HUB_F_INT("connections", net->refused));
        net->refused_log_ms = now;
        net->refused = 0;
    }
}

void net_pause_accepting(hub_net *net, const char *reason)
{
    net_note_refusal(net, reason);
    net_set_accepting(net, false);
    net_update_tick(net);
}

/* ---- time --------------------------------------------------------------------------------------
 */

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_net *net = timer->data;
    uint64_t now = hub_clock_now_ms();
    if (++net->ticks % TICKS_PER_HEARTBEAT == 0) {
        lws_cancel_service(net->context);
        net_set_accepting(net, true);
    }
    net_link_check_deadlines(net, now);
    for (hub_net_tick *tick = net->tickers; tick != NULL; tick = net->next_ticker) {
        net->next_ticker = tick->next;
        tick->on_tick(tick, now);
    }
    net_update_tick(net);
}

/* Tick while there is something that may be late. */
void net_update_tick(hub_net *net)
{
    bool is_needed = net->links != NULL || !net->is_accepting;
    if (is_needed && !ev_is_active(&net->tick_timer)) {
        ev_timer_set(&net->tick_timer, HUB_NET_TICK_MS / 1000., HUB_NET_TICK_MS / 1000.);
        ev_timer_start(net->loop, &net->tick_timer);
    } else if (!is_needed) {
        ev_timer_stop(net->loop, &net->tick_timer);
    }
}

void hub_net_add_tick(hub_net *net, hub_net_tick *tick)
{
    tick->next = net->tickers;
    net->tickers = tick;
}

void hub_net_remove_tick(hub_net *net, hub_net_tick *tick)
{
    hub_net_tick **link = &net->tickers;
    while (*link != NULL && *link != tick) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = tick->next;
    }
    if (net->next_ticker == tick) {
        net->next_ticker = tick->next;
    }
}

static void on_todo(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    net_link_run_todo(timer->data);
}

/* ---- the context --------------------------------------------------------------------------------
 */

/* As many descriptors as the connections need, if we may have them. */
static void raise_file_limit(uint32_t connections)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)connections + 1024;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Some versions of libwebsockets look for their event library in the working directory first, which
 * may be anybody's: make it look in /. */
static struct lws_context *create_context(struct lws_context_creation_info *info)
{
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool moved = here >= 0 && chdir("/") == 0;
    struct lws_context *context = moved || here < 0 ? lws_create_context(info) : NULL;
    if (moved && fchdir(here) != 0) {
        hub_log(HUB_LOG_WARNING, "net.working_directory", HUB_F_TEXT("reason", strerror(errno)));
    }
    if (here >= 0) {
        (void)close(here);
    }
    return context;
}

static hub_err start_library(hub_net *net, hub_error *reterr)
{
    void *loops[] = {net->loop};
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .options = LWS_SERVER_OPTION_LIBEV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS |
                   LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
        .foreign_loops = loops,
        .user = net,
        .pt_serv_buf_size = CONTEXT_BUFFER_BYTES,
    };
    lws_set_log_level(LLL_ERR | LLL_WARN, log_line);
    net->context = create_context(&info);
    if (net->context == NULL) {
        return hub_fail(reterr, HUB_ESYSTEM,
                        "libwebsockets cannot be started: is its libev plugin installed "
                        "(package libwebsockets-evlib-ev)?");
    }
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.options = 0;
    info.vhost_name = "plain";
    info.protocols = NET_PROTOCOLS;
    net->plain = lws_create_vhost(net->context, &info);
    return net->plain != NULL ? HUB_OK
                              : hub_fail(reterr, HUB_ESYSTEM, "libwebsockets cannot be set up");
}

hub_err hub_net_create(struct ev_loop *loop, const hub_net_limits *limits, size_t max_queue_bytes,
                       hub_net **ret_net, hub_error *reterr)
{
    hub_net *net = calloc(1, sizeof *net);
    if (net == NULL || (net->scratch = malloc(LWS_PRE + HUB_NET_WRITE_BYTES)) == NULL) {
        free(net);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    net->loop = loop;
    net->limits = *limits;
    net->max_queue_bytes = max_queue_bytes;
    net->is_accepting = true;
    ev_timer_init(&net->todo_timer, on_todo, 0., 0.);
    ev_timer_init(&net->tick_timer, on_tick, 0., 0.);
    net->todo_timer.data = net;
    net->tick_timer.data = net;
    raise_file_limit(limits->connections);
    hub_err err = start_library(net, reterr);
    if (err != HUB_OK) {
        hub_net_destroy(net);
        return err;
    }
    *ret_net = net;
    return HUB_OK;
}

void hub_net_destroy(hub_net *net)
{
    if (net == NULL) {
        return;
    }
    net->is_closing = true;
    while (net->links != NULL) {
        net_link_kill(net->links);
    }
    while (net->listeners != NULL) {
        hub_listener_close(net->listeners);
    }
    ev_timer_stop(net->loop, &net->todo_timer);
    ev_timer_stop(net->loop, &net->tick_timer);
    if (net->context != NULL) {
        lws_context_destroy(net->context);
    }
    free(net->scratch);
    free(net);
}

size_t hub_net_link_count(const hub_net *net)
{
    return net->link_count;
}

struct ev_loop *hub_net_loop(const hub_net *net)
{
    return net->loop;
}
