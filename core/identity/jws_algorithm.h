/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signatures that are accepted: those with a public key (RFC 7518 section 3.1; Ed25519: RFC 8037, and RFC
 * 9864 for its name). Which of them a key is for is a matter of the key alone. Any thread.
 */
#ifndef HUB_IDENTITY_JWS_ALGORITHM_H
#define HUB_IDENTITY_JWS_ALGORITHM_H

#include "base/str.h"

typedef enum hub_jws_kind {
    HUB_JWS_RSA, /* PKCS #1 v1.5, or PSS */
    HUB_JWS_EC,
    HUB_JWS_ED25519,
} hub_jws_kind;

typedef struct hub_jws_algorithm {
    const char *name;
    hub_jws_kind kind;
    const char *digest;   /* libcrypto's name; NULL: the signature has its own */
    const char *curve;    /* of EC: libcrypto's name */
    size_t integer_bytes; /* of EC: of r, and of s */
    bool is_pss;
} hub_jws_algorithm;

/* The algorithm that a header names, or NULL: unknown, or not accepted. */
const hub_jws_algorithm *hub_jws_algorithm_of(hub_str name);

#endif
