/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who issues tokens that the hub takes, as plain values: read from a manifest (config/), obeyed where
 * tokens are verified (jwt.h) and keys are fetched (issuers/). Strings are NUL-terminated and belong
 * to whoever made the value. Any thread, once made.
 */
#ifndef HUB_IDENTITY_ISSUER_H
#define HUB_IDENTITY_ISSUER_H

#include "tools/rules.h"

/* How a token of it is judged. */
typedef struct hub_jwt_issuer {
    const char *issuer;  /* compared byte for byte */
    hub_names audiences; /* one of them must be an audience of the token */
    /* JSON Pointers (RFC 6901) of claims; NULL: `scope`, else `scp`; and `groups`. Each is an array of
     * strings, or a string of words. */
    const char *scopes_at;
    const char *groups_at;
} hub_jwt_issuer;

/* Asks an issuer of each token whether it is good (RFC 7662). */
typedef struct hub_introspection_settings {
    const char *url; /* NULL: nobody is asked */
    const char *client_id;
    const char *client_secret;
} hub_introspection_settings;

typedef struct hub_issuer_settings {
    hub_jwt_issuer jwt;
    hub_str keys;         /* a JSON Web Key Set that was read from a file; empty: … */
    const char *keys_url; /* … it is fetched from there; NULL: from where the issuer says */
    const char *ca;       /* PEM file of authorities, instead of the system's; NULL: those */
    bool only_public;     /* nothing connects to an internal address for it */
    hub_names scopes;     /* that clients are told to ask for */
    hub_introspection_settings introspection;
    uint64_t print; /* of all that decides who a token is of: never 0 */
} hub_issuer_settings;

#endif
