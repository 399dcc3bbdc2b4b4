/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening: sockets of the hub's own making (own address checks, own caps, own pause when
 * descriptors run out), whose connections libwebsockets carries. One hub_net per process holds the
 * libwebsockets context, its heartbeat and the caps that all listeners share. Thread: [loop].
 */
#ifndef TRANSPORTS_NET_NET_H
#define TRANSPORTS_NET_NET_H

#include "base/budget.h"
#include "hub/kernel/settings.h"
#include "identity/certificate.h"
#include "net/link.h"

#include <ev.h>

typedef struct hub_net hub_net;
typedef struct hub_listener hub_listener;

/* owns:    *ret_net, destroy it with hub_net_destroy. `limits` is copied; max_queue_bytes is what
 *          may wait for one peer.
 * errors:  HUB_ESYSTEM (libwebsockets cannot be started; the text says which package is missing) */
HUB_MUST_CHECK hub_err hub_net_create(struct ev_loop *loop, const hub_net_limits *limits,
                                      size_t max_queue_bytes, hub_net **ret_net, hub_error *reterr);

/* Ends all links without flushing (on_end is told), closes listeners. NULL is fine. */
void hub_net_destroy(hub_net *net);

/* Other bounds from now on; links that are beyond them stay. */
void hub_net_limit(hub_net *net, const hub_net_limits *limits, size_t max_queue_bytes);

/* What all clients of the hub together may hold, for links from now on; NULL: nobody counts. */
void hub_net_set_budget(hub_net *net, hub_budget *budget);

hub_budget *hub_net_budget(const hub_net *net);

/* Open links. */
size_t hub_net_link_count(const hub_net *net);

/* What has been counted since it was made. */
typedef struct hub_net_numbers {
    uint64_t accepted;  /* connections */
    uint64_t refused;   /* … that were not taken */
    uint64_t bytes_in;  /* of clients, decrypted */
    uint64_t bytes_out; /* … to them, before they are encrypted */
} hub_net_numbers;

const hub_net_numbers *hub_net_count(const hub_net *net);

/* The loop it was created on. */
struct ev_loop *hub_net_loop(const hub_net *net);

/* A new link: call hub_link_set_owner in here, or hub_link_close. */
typedef void hub_net_on_link(void *ctx, hub_link *link);

/* Listen on settings->address and port (kind HTTP), with TLS when a certificate is named.
 * "localhost" means 127.0.0.1 and, where there is one, ::1. trusted_proxies are
 * borrowed: see hub_listener_trust.
 * owns:    *ret_listener, closed by hub_listener_close or hub_net_destroy
 * errors:  HUB_EINVAL (address, certificate or key: the text says which and why), HUB_EEXIST (the
 *          address is in use), HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_net_listen(hub_net *net, const hub_listen_settings *settings,
                                      hub_net_on_link *on_link, void *ctx,
                                      hub_listener **ret_listener, hub_error *reterr);

/* Accept no more; links that are open stay. NULL is fine. */
void hub_listener_close(hub_listener *listener);

/* Whose certificates clients are asked for; NULL: for none. Borrowed, until hub_listener_renew. */
hub_authority *hub_listener_clients(const hub_listener *listener);

/* With TLS: read certificate and key anew, and whose certificates clients show, for handshakes from
 * now on. The latter is taken over even where the former cannot be.
 * errors:  HUB_EINVAL: those before stay; the text says which and why */
HUB_MUST_CHECK hub_err hub_listener_renew(hub_listener *listener, const hub_tls_settings *tls,
                                          hub_error *reterr);

/* Whose word counts from now on of whose connections and requests they bring (trusted_proxies). The
 * blocks are borrowed: they live for as long as the listener, or until this is called again. */
void hub_listener_trust(hub_listener *listener, const hub_listen_settings *settings);

/* The port it really listens on. */
uint16_t hub_listener_port(const hub_listener *listener);

/* A repeating coarse timer for deadlines: every HUB_NET_TICK_MS the callback runs. One list walk
 * per tick for all connections instead of a timer each. The loop sleeps on while nobody is
 * registered and there are no links. */
#define HUB_NET_TICK_MS 250
typedef struct hub_net_tick {
    struct hub_net_tick *next;
    void (*on_tick)(struct hub_net_tick *tick, uint64_t now_ms);
} hub_net_tick;
void hub_net_add_tick(hub_net *net, hub_net_tick *tick);
void hub_net_remove_tick(hub_net *net, hub_net_tick *tick);

#endif
