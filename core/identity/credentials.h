/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials that the hub itself knows: the tokens of its tokens file, by their digests, and the
 * identities that they make. A credential is looked up again whenever the settings have changed.
 * Pure functions over immutable values. Thread: [loop].
 */
#ifndef HUB_IDENTITY_CREDENTIALS_H
#define HUB_IDENTITY_CREDENTIALS_H

#include "identity/identity.h"
#include "identity/issuer.h"

/* A static bearer token: only its digest is known. */
typedef struct hub_token {
    const char *name; /* the principal is "token:" and this */
    const char *id;   /* the part of the token that says which it is */
    uint8_t sha256[HUB_IDENTITY_DIGEST_BYTES];
    int64_t expires; /* seconds since 1970; 0: never */
    hub_names scopes;
    hub_names groups;
    const char *profile; /* the only one that it opens; NULL: any */
} hub_token;

typedef struct hub_auth_settings {
    bool required; /* clients over TCP must authenticate: there is a tokens file, or an issuer */
    const char *tokens_file; /* absolute; NULL: there is none */
    const hub_token *tokens;
    size_t token_count;
    const hub_issuer_settings *issuers; /* whose tokens are taken, too */
    size_t issuer_count;
    bool keeps_tokens; /* … and kept with the identity: some toolset exchanges its callers' */
} hub_auth_settings;

/* Who shows that token.
 * owns:    the result, one reference; NULL: out of memory */
hub_identity *hub_token_identify(const hub_token *token);

/* The settings are others: put the identity that the same credential makes now in the place of
 * *identity. False, and nothing happens, when it makes none any more, or when there is no memory. What
 * an issuer's token has made stays while the issuer's settings do. */
bool hub_auth_renew(const hub_auth_settings *auth, hub_identity **identity);

/* Whether any credential makes its owner this principal. */
bool hub_auth_knows(const hub_auth_settings *auth, const char *principal);

#endif
