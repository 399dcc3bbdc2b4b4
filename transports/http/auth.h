/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is asking: bearer tokens (RFC 6750) against the digests of the tokens file, in constant time.
 * A token reads "pbt_ID_SECRET", both base64url without padding; `patchbay token new NAME` makes
 * one. One function for every route and transport. Any thread.
 */
#ifndef HTTP_AUTH_H
#define HTTP_AUTH_H

#include "hub/kernel/settings.h"

typedef enum hub_auth_result {
    HUB_AUTH_OK,
    HUB_AUTH_MISSING,   /* 401, no error code (RFC 6750 section 3.1) */
    HUB_AUTH_MALFORMED, /* 400 invalid_request */
    HUB_AUTH_REFUSED,   /* 401 invalid_token */
} hub_auth_result;

/* The longest principal, with its NUL: a token's name has 64 characters (config/tokens.h). */
#define HUB_AUTH_PRINCIPAL_BYTES 65

/* What a credential is good for. */
typedef struct hub_auth_grant {
    int64_t expires;    /* seconds since 1970; 0: never */
    uint8_t sha256[32]; /* of the token; zeros: nobody has to authenticate */
} hub_auth_grant;

/* Judge the value of an Authorization header (`authorization` is NULL when there is none) at
 * `now` (seconds since 1970). On OK *ret_principal is the token's name, or "anonymous" when
 * nobody has to authenticate; it lives as long as `auth`. */
hub_auth_result hub_auth_check(const hub_auth_settings *auth, const hub_str *authorization,
                               int64_t now, const char **ret_principal, hub_auth_grant *ret_grant);

/* The settings are others: whether what was granted still is, and until when. */
bool hub_auth_renew(const hub_auth_settings *auth, hub_auth_grant *grant);

/* Whether any token makes its owner this principal. */
bool hub_auth_knows(const hub_auth_settings *auth, const char *principal);

#endif
