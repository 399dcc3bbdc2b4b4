/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PROXY protocol, versions 1 and 2: what a proxy that passes bytes on says in front of them of
 * who has sent them (haproxy's proxy-protocol.txt). Reading alone: no sockets. Thread: any.
 */
#ifndef TRANSPORTS_NET_PROXY_PROTOCOL_H
#define TRANSPORTS_NET_PROXY_PROTOCOL_H

#include "base/cidr.h"

/* The largest header that is taken: version 1 has at most 107 bytes, version 2 at most 16 and what it
 * says; more than this is nothing that a proxy sends. */
#define NET_PROXY_HEADER_BYTES 1024

typedef enum net_proxy_progress {
    NET_PROXY_MORE,    /* the header goes on */
    NET_PROXY_DONE,    /* *ret_used bytes are the header */
    NET_PROXY_REFUSED, /* there is no such header */
} net_proxy_progress;

/* Look at the front of a connection. When DONE, `ret_address` has the client's address, or "" where
 * the proxy speaks for itself (a check of its own, version 2 LOCAL) or does not know (UNKNOWN). */
net_proxy_progress net_proxy_read(hub_str bytes, size_t *ret_used,
                                  char ret_address[HUB_ADDRESS_TEXT_BYTES]);

#endif
