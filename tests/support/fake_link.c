/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_link.h"

#include "base/clock.h"

#include <openssl/x509.h>
#include <stdlib.h>

void fake_link_init(hub_link *link)
{
    *link = (hub_link){.max_queue_bytes = SIZE_MAX / 2, .most_kept = SIZE_MAX, .peer = "192.0.2.1"};
    hub_buf_init(&link->out, SIZE_MAX / 2);
}

void fake_link_fini(hub_link *link)
{
    hub_buf_fini(&link->out);
}

void fake_link_says(hub_link *link, hub_str bytes)
{
    hub_assert(!link->is_paused || link->is_closing);
    if (!link->is_closing && bytes.len > 0) {
        char *copy = malloc(bytes.len); /* a block of its own: reading behind it is seen */
        hub_assert(copy != NULL);
        memcpy(copy, bytes.ptr, bytes.len);
        link->events->on_bytes(link->owner, (hub_str){.ptr = copy, .len = bytes.len});
        free(copy);
    }
}

void fake_link_drain(hub_link *link)
{
    link->queued = 0;
    if (!link->is_closing && link->events->on_drained != NULL) {
        link->events->on_drained(link->owner);
    }
}

void fake_link_end(hub_link *link)
{
    hub_assert(!link->is_over);
    link->is_closing = true;
    link->is_over = true;
    link->events->on_end(link->owner);
}

void fake_net_init(hub_net *net)
{
    *net = (hub_net){.now_ms = hub_clock_now_ms()};
}

void fake_net_pass(hub_net *net, uint64_t ms)
{
    hub_net_tick *next;
    net->now_ms += ms;
    for (hub_net_tick *tick = net->ticks; tick != NULL; tick = next) {
        next = tick->next;
        tick->on_tick(tick, net->now_ms);
    }
}

void fake_net_catch_up(hub_net *net)
{
    uint64_t now_ms = hub_clock_now_ms();
    net->now_ms = now_ms > net->now_ms ? now_ms : net->now_ms;
}

/* ---- net/link.h and net/net.h ---------------------------------------------------------------- */

void hub_link_set_owner(hub_link *link, const hub_link_events *events, void *owner)
{
    link->events = events;
    link->owner = owner;
}

hub_err hub_link_write(hub_link *link, const hub_str *parts, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += parts[i].len;
    }
    if (link->is_closing) {
        return HUB_ESTATE;
    }
    if (link->fails != HUB_OK) {
        return link->fails;
    }
    if (link->queued + len > link->max_queue_bytes) {
        link->is_closing = true;
        return HUB_ELIMIT;
    }
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(&link->out, parts[i]);
    }
    link->queued += link->is_stalled ? len : 0;
    link->max_write = len > link->max_write ? len : link->max_write;
    return HUB_OK;
}

hub_err hub_link_keep(hub_link *link, size_t bytes)
{
    bool may = bytes <= link->kept || bytes <= link->most_kept;
    link->kept = may ? bytes : link->kept;
    return may ? HUB_OK : HUB_ELIMIT;
}

size_t hub_link_queued(const hub_link *link)
{
    return link->queued;
}

void hub_link_pause(hub_link *link, bool is_paused)
{
    link->is_paused = is_paused;
}

void hub_link_close(hub_link *link, bool flush)
{
    hub_assert(!link->is_over);
    link->is_closing = true;
    link->is_flushed = flush;
}

const char *hub_link_peer(const hub_link *link)
{
    return link->peer;
}

/* Nothing of a fake link is encrypted, so nobody shows a certificate. */
X509 *hub_link_certificate(const hub_link *link, STACK_OF(X509) * *ret_sent)
{
    (void)link;
    *ret_sent = NULL;
    return NULL;
}

hub_authority *hub_listener_clients(const hub_listener *listener)
{
    (void)listener;
    return NULL;
}

bool hub_link_is_tls(const hub_link *link)
{
    (void)link;
    return false;
}

void hub_net_add_tick(hub_net *net, hub_net_tick *tick)
{
    tick->next = net->ticks;
    net->ticks = tick;
}

void hub_net_remove_tick(hub_net *net, hub_net_tick *tick)
{
    hub_net_tick **at = &net->ticks;
    while (*at != tick) {
        at = &(*at)->next;
    }
    *at = tick->next;
}
