/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>

/* libwebsockets looks at its own timers only when it is called; it needs no better precision. */
enum { TICKS_PER_HEARTBEAT = 4, LOG_EVERY_MS = 10000 };

/* ---- refusals -------------------------------------------------------------------------------- */

void net_note_refusal(hub_net *net, const char *reason)
{
    uint64_t now = hub_clock_now_ms();
    net->refused++;
    net->numbers.refused++;
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

/* ---- time ------------------------------------------------------------------------------------ */

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_net *net = timer->data;
    uint64_t now = hub_clock_now_ms();
    if (++net->ticks % TICKS_PER_HEARTBEAT == 0) {
        if (net->links != NULL) {
            lws_cancel_service(net->context);
        }
        net_set_accepting(net, true);
    }
    net_check_deadlines(net, now);
    net_announced_check(net, now);
    for (hub_net_tick *tick = net->tickers; tick != NULL; tick = net->next_ticker) {
        net->next_ticker = tick->next;
        tick->on_tick(tick, now);
    }
    net_update_tick(net);
}

void net_update_tick(hub_net *net)
{
    bool is_needed =
        net->links != NULL || net->announced != NULL || net->tickers != NULL || !net->is_accepting;
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
    net_update_tick(net);
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
    net_update_tick(net);
}

static void on_batch_end(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    net_flush_batch(timer->data);
}

static void on_todo(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    net_link_run_todo(timer->data);
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_net_create(struct ev_loop *loop, const hub_net_limits *limits, size_t max_queue_bytes,
                       hub_net **ret_net, hub_error *reterr)
{
    hub_net *net = calloc(1, sizeof *net);
    if (net == NULL || (net->scratch = malloc(2 * (LWS_PRE + HUB_NET_WRITE_BYTES))) == NULL) {
        free(net);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    net->gathered = net->scratch + LWS_PRE + HUB_NET_WRITE_BYTES;
    net->loop = loop;
    net->limits = *limits;
    net->max_queue_bytes = max_queue_bytes;
    net->is_accepting = true;
    ev_timer_init(&net->todo_timer, on_todo, 0., 0.);
    ev_timer_init(&net->tick_timer, on_tick, 0., 0.);
    net->todo_timer.data = net;
    ev_timer_init(&net->batch_end, on_batch_end, 0., 0.);
    ev_set_priority(&net->batch_end, EV_MINPRI);
    net->batch_end.data = net;
    net->tick_timer.data = net;
    hub_err err = net_start_library(net, reterr);
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
    net_flush_batch(net);
    while (net->links != NULL) {
        net_link_kill(net->links);
    }
    while (net->listeners != NULL) {
        hub_listener_close(net->listeners);
    }
    ev_timer_stop(net->loop, &net->todo_timer);
    ev_timer_stop(net->loop, &net->tick_timer);
    net_flush_batch(net); /* those who were told of the end may have written */
    if (net->context != NULL) {
        lws_context_destroy(net->context);
    }
    free(net->scratch);
    free(net);
}

void hub_net_limit(hub_net *net, const hub_net_limits *limits, size_t max_queue_bytes)
{
    net->limits = *limits;
    net->max_queue_bytes = max_queue_bytes;
}

void hub_net_set_budget(hub_net *net, hub_budget *budget)
{
    net->budget = budget;
}

hub_budget *hub_net_budget(const hub_net *net)
{
    return net->budget;
}

const hub_net_numbers *hub_net_count(const hub_net *net)
{
    return &net->numbers;
}

size_t hub_net_link_count(const hub_net *net)
{
    return net->link_count;
}

struct ev_loop *hub_net_loop(const hub_net *net)
{
    return net->loop;
}
