/* SPDX-License-Identifier: Apache-2.0 */
/* Private keys of each kind, for tests that sign. */
#ifndef PATCHBAY_OWN_KEYS_H
#define PATCHBAY_OWN_KEYS_H

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

enum { RSA_KEY, P256_KEY, P384_KEY, P521_KEY, ED25519_KEY, OWN_KEYS };

static EVP_PKEY *own[OWN_KEYS];

static void make_own_keys(void)
{
    own[RSA_KEY] = EVP_RSA_gen(2048);
    own[P256_KEY] = EVP_EC_gen("P-256");
    own[P384_KEY] = EVP_EC_gen("P-384");
    own[P521_KEY] = EVP_EC_gen("P-521");
    own[ED25519_KEY] = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    for (size_t i = 0; i < OWN_KEYS; i++) {
        assert_non_null(own[i]);
    }
}

static void free_own_keys(void)
{
    for (size_t i = 0; i < OWN_KEYS; i++) {
        EVP_PKEY_free(own[i]);
    }
}

#endif
