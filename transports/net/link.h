/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link: one accepted TCP connection, plain or TLS, as bytes in and bytes out. libwebsockets
 * carries it (raw socket role, on the hub's loop); nobody else sees libwebsockets. A peer that does
 * not read delays itself alone: what waits for it is bounded, and while something waits its own
 * bytes are not read. Thread: [loop].
 */
#ifndef TRANSPORTS_NET_LINK_H
#define TRANSPORTS_NET_LINK_H

#include "base/err.h"

#include <openssl/types.h>

struct stack_st_X509;
typedef struct hub_link hub_link;

/* What the owner of a link is told. Always from the loop, never from inside a function below. */
typedef struct hub_link_events {
    /* Bytes have come; borrowed, all of them are the owner's now. The owner may write, pause, close
     * and hand over (hub_link_set_owner) in here. */
    void (*on_bytes)(void *owner, hub_str bytes);

    /* What waited has left. What leaves at once, as hub_link_queued says, is not told of. NULL: not
     * interested. */
    void (*on_drained)(void *owner);

    /* The peer is gone, reading or writing failed, what waits exceeds its bound, the peer took
     * nothing for too long, or the owner closed: the last word, the link is freed when this
     * returns. Comes exactly once, also after hub_link_close. */
    void (*on_end)(void *owner);
} hub_link_events;

/* Who is told from now on. The accepter of a link sets it first; an upgrade changes it. */
void hub_link_set_owner(hub_link *link, const hub_link_events *events, void *owner);

/* Write: the parts are copied or sent before it returns, all of them or none. Short messages leave
 * together, at the end of the loop's turn at the latest; hub_link_queued does not count them.
 * errors:  HUB_ELIMIT (more than max_queue_bytes would wait: the link ends, from the loop),
 *          HUB_ESTATE (it is closing), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_link_write(hub_link *link, const hub_str *parts, size_t count);

/* Bytes that wait to be taken by the peer. */
size_t hub_link_queued(const hub_link *link);

/* The owner keeps so many bytes for this peer: they count with what waits for it.
 * errors:  HUB_ELIMIT (all clients together would hold more than they may): let go of them */
hub_err hub_link_keep(hub_link *link, size_t bytes);

/* Whether the peer's bytes are read. Ends of the connection are noticed all the same. */
void hub_link_pause(hub_link *link, bool is_paused);

/* End it: with `flush`, when what waits has been taken, or not within the stall limit; else now.
 * Nothing can be written from here on. on_end comes from the loop. */
void hub_link_close(hub_link *link, bool flush);

/* The peer's address without port, for caps and the log; lives as long as the link. */
const char *hub_link_peer(const hub_link *link);
bool hub_link_is_tls(const hub_link *link);

/* The certificate that the peer has shown, and what came with it (stack of X509, or NULL); NULL: none.
 * Borrowed, for as long as the link is open. */
X509 *hub_link_certificate(const hub_link *link, struct stack_st_X509 **ret_sent);

#endif
