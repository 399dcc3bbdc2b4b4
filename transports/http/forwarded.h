/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a proxy says of the client that it speaks for: X-Forwarded-For and X-Forwarded-Proto, or
 * Forwarded (RFC 7239). It counts where the proxy is one of trusted_proxies, and of a chain of them as
 * far as they are: what somebody else wrote in front of that is read by nobody. Where both kinds of
 * header are there and name different clients, one of them is not the proxy's own, and neither counts.
 * Thread: [loop].
 */
#ifndef HTTP_FORWARDED_H
#define HTTP_FORWARDED_H

#include "base/cidr.h"
#include "http/request.h"
#include "hub/kernel/settings.h"

typedef struct hub_http_forwarded {
    char client[HUB_ADDRESS_TEXT_BYTES]; /* "": nobody that is trusted says it */
    bool is_trusted;                     /* the peer is one of trusted_proxies */
    bool is_secure;                      /* the client spoke TLS to the proxy */
} hub_http_forwarded;

/* `peer`: the address that the connection is of. */
void hub_http_forwarded_read(const hub_http_request *request, const hub_listen_settings *listen,
                             const char *peer, hub_http_forwarded *ret_forwarded);

#endif
