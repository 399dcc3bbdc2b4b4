/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection that the hub makes, to an IP address: bytes in and bytes out, as a link is for those that
 * clients make. Names are not resolved. What waits for the peer is bounded. Thread: [loop].
 */
#ifndef TRANSPORTS_NET_DIAL_H
#define TRANSPORTS_NET_DIAL_H

#include "base/err.h"

struct ev_loop;
typedef struct hub_dial hub_dial;

/* What its owner is told, always from the loop. The owner may write and close in here. */
typedef struct hub_dial_events {
    void (*on_bytes)(void *owner, hub_str bytes); /* borrowed */
    /* It cannot be made, or has ended; `was_open`: it had been made. The last word: it is freed when
     * this returns. Not told of a connection that its owner has closed. */
    void (*on_end)(void *owner, bool was_open);
} hub_dial_events;

/* Begin to connect. What is written meanwhile waits.
 * owns:    *ret_dial, until on_end, or hub_dial_close
 * errors:  HUB_EINVAL (`address` is no IP address), HUB_ESYSTEM (descriptors, no such network),
 *          HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_dial_open(struct ev_loop *loop, const char *address, uint16_t port,
                                     size_t max_queue_bytes, const hub_dial_events *events,
                                     void *owner, hub_dial **ret_dial);

/* Write: the bytes are copied or sent before it returns, or it ends from the loop. */
void hub_dial_write(hub_dial *dial, hub_str bytes);

/* End it now; the owner is not told. NULL is fine. */
void hub_dial_close(hub_dial *dial);

/* End it from the loop: on_end comes. For who may be inside of on_bytes. */
void hub_dial_end(hub_dial *dial);

#endif
