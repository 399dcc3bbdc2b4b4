/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a request may have been made here: Host and Origin against lists, so that a web page
 * whose name was rebound to this address gets nothing (MCP 2026-07-28
 * basic/transports/streamable-http, Security & Endpoint). Everything that is not listed is refused;
 * nothing is decoded, resolved or normalised but the case of letters. It says nothing about who is
 * asking: that is authorization. Pure functions, any thread.
 */
#ifndef HTTP_ORIGIN_H
#define HTTP_ORIGIN_H

#include "base/str.h"

/* What is allowed. The spans are borrowed. */
typedef struct hub_http_origins {
    /* Names without or with a port: "hub.example.com" is fine with every port, "[::1]:8080" with
     * this one. They count for Host, and for an Origin of http or https. "*" is every Host, and no
     * Origin but that of the same name. */
    const hub_str *hosts;
    size_t host_count;
    /* Further origins, whole, with scheme, and with a port if it is not the scheme's own:
     * "https://app.example.com", "vscode-webview://abc". They count for Origin only. */
    const hub_str *origins;
    size_t origin_count;
} hub_http_origins;

/* localhost, 127.0.0.1 and [::1] with every port. */
extern const hub_http_origins HUB_HTTP_LOCAL_ORIGINS;

/* Whether the authority of a request (Host, or that of an absolute-form target) is allowed. */
bool hub_http_is_host_allowed(const hub_http_origins *allowed, hub_str host);

/* Whether the value of Origin is. "null", lists, and whatever is not scheme://host[:port] are not,
 * unless listed. */
bool hub_http_is_origin_allowed(const hub_http_origins *allowed, hub_str origin);

/* Whether an origin is another program's of this machine: a page of a local name, at another port than
 * the request's. Not so those of `origins`, and of `hosts` with their port. */
bool hub_http_is_neighbour(const hub_http_origins *allowed, hub_str host, hub_str origin);

/* Host and Origin. `origin` is NULL when there is no such header: then no browser sent the request across
 * sites. NULL when all is well, else a static sentence to answer with 403. */
const char *hub_http_origin_refusal(const hub_http_origins *allowed, hub_str host,
                                    const hub_str *origin);

#endif
