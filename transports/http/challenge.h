/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call that needs scopes which its credential lacks: over HTTP it is answered with 403 and the
 * scopes in WWW-Authenticate (RFC 6750 section 3.1; MCP basic/authorization, Scope Challenge
 * Handling). Thread: [loop].
 */
#ifndef HTTP_CHALLENGE_H
#define HTTP_CHALLENGE_H

#include "hub/kernel/transport.h"
#include "http/connection.h"
#include "http/request.h"

typedef struct hub_http_challenge {
    bool is_there;
    hub_http_header header; /* its value lies in `text` */
    hub_buf text;
} hub_http_challenge;

/* Read the scopes out of an answer on that connection that refuses for want of them; of any other, nothing. */
void hub_http_challenge_read(const hub_http_connection *connection, const hub_outgoing *message,
                             hub_http_challenge *ret_challenge);
void hub_http_challenge_fini(hub_http_challenge *challenge);

#endif
