/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is asking: bearer tokens (RFC 6750) against the digests of the tokens file, in constant time.
 * A token reads "pbt_ID_SECRET", both base64url without padding; `patchbay token new NAME` makes
 * one. One function for every route and transport. Thread: [loop].
 */
#ifndef HTTP_AUTH_H
#define HTTP_AUTH_H

#include "identity/credentials.h"

typedef enum hub_auth_result {
    HUB_AUTH_OK,
    HUB_AUTH_MISSING,     /* 401, no error code (RFC 6750 section 3.1) */
    HUB_AUTH_MALFORMED,   /* 400 invalid_request */
    HUB_AUTH_REFUSED,     /* 401 invalid_token */
    HUB_AUTH_LATER,       /* an issuer's: it is being verified */
    HUB_AUTH_UNAVAILABLE, /* 503: nobody can say */
    HUB_AUTH_UNCERTIFIED, /* 403: the client's certificate is not accepted, or is missing */
} hub_auth_result;

/* Judge the value of an Authorization header (`authorization` is NULL when there is none) at
 * `now` (seconds since 1970). Without memory nobody is let in: REFUSED.
 * owns:    on OK *ret_identity, one reference; anonymous when nobody has to authenticate */
hub_auth_result hub_auth_check(const hub_auth_settings *auth, const hub_str *authorization,
                               int64_t now, hub_identity **ret_identity);

/* The token of the value of an Authorization header. False when there is none. */
bool hub_auth_read_bearer(hub_str authorization, hub_str *ret_token);

/* Whether it has the form of the hub's own tokens. */
bool hub_auth_is_own(hub_str token);

#endif
