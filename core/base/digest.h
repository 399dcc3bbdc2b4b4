/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4) and HMAC (RFC 2104). The computing is libcrypto's, by functions that do
 * nothing else: the first digest or random number that comes by way of EVP makes libcrypto read its
 * configuration and set up its providers, which costs 2 MiB and 2.5 ms, and every hub would have
 * one on its way to the first answer. Nothing here allocates, so nothing can fail.
 *
 * Thread: [any].
 */
#ifndef HUB_BASE_DIGEST_H
#define HUB_BASE_DIGEST_H

#include "base/str.h"

enum {
    HUB_DIGEST_BYTES = 32,
    HUB_DIGEST_HEX_BYTES = 2 * HUB_DIGEST_BYTES + 1, /* with its NUL */
    HUB_HMAC_KEY_BYTES = 64,                         /* the longest key */
};

/* A digest under way: libcrypto's state of it. */
typedef struct hub_digest {
    uint64_t words[16];
} hub_digest;

void hub_digest_init(hub_digest *digest);
void hub_digest_add(hub_digest *digest, const void *bytes, size_t size);

/* The digest of all that was added. `digest` is to be initialised anew before it is used again. */
void hub_digest_end(hub_digest *digest, unsigned char ret_bytes[HUB_DIGEST_BYTES]);

/* The digest of one piece. */
void hub_digest_of(hub_str text, unsigned char ret_bytes[HUB_DIGEST_BYTES]);

/* In lower-case hexadecimal. */
void hub_digest_hex(const unsigned char bytes[HUB_DIGEST_BYTES],
                    char ret_hex[HUB_DIGEST_HEX_BYTES]);

/* Sign `text` with a key of at most HUB_HMAC_KEY_BYTES. */
void hub_hmac(const unsigned char *key, size_t key_size, hub_str text,
              unsigned char ret_bytes[HUB_DIGEST_BYTES]);

#endif
