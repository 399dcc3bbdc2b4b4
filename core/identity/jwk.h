/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public keys as an issuer publishes them: a JSON Web Key Set (RFC 7517, 7518 section 6, 8037). Keys of
 * other kinds, for other uses, too short or damaged are left out: one of them harms none of its
 * neighbours. Immutable once read.
 *
 * Thread: any, one at a time.
 */
#ifndef HUB_IDENTITY_JWK_H
#define HUB_IDENTITY_JWK_H

#include "base/err.h"
#include "identity/jws_algorithm.h"

#include <openssl/types.h>

/* A public key that verifies, or a private one that signs. */
typedef struct hub_jwk {
    char *kid; /* NULL: it has no name */
    EVP_PKEY *key;
    hub_jws_kind kind;
    const char *curve;             /* of EC: libcrypto's name; else NULL */
    const hub_jws_algorithm *only; /* the key says which; NULL: all that fit */
} hub_jwk;

typedef struct hub_jwks hub_jwks;

/* Read a set; HUB_LIMIT_JWKS_BYTES and HUB_LIMIT_JWKS_KEYS bound it.
 * owns:    *ret_keys, destroy it with hub_jwks_destroy
 * errors:  HUB_EPARSE (no set of keys), HUB_ELIMIT, HUB_ENOTFOUND (none that can be used; the text
 *          says why the first cannot), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_jwks_parse(hub_str text, hub_jwks **ret_keys, hub_error *reterr);
void hub_jwks_destroy(hub_jwks *keys); /* NULL is fine */

size_t hub_jwks_count(const hub_jwks *keys);

/* The key behind `after` (NULL: the first) that is for this algorithm and has this name; an empty
 * `kid`: of any name. NULL: none. */
const hub_jwk *hub_jwks_find(const hub_jwks *keys, const hub_jws_algorithm *algorithm, hub_str kid,
                             const hub_jwk *after);

/* Whether the algorithm is one of those that the key is for. */
bool hub_jwk_fits(const hub_jwk *key, const hub_jws_algorithm *algorithm);

#endif
