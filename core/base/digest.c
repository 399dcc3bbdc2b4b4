/* SPDX-License-Identifier: Apache-2.0 */
/* Without it libcrypto's headers warn of the functions that digest.h is about. */
#define OPENSSL_API_COMPAT 0x10101000L
#include "base/digest.h"

#include "base/encoding.h"
#include "base/err.h"

#include <assert.h>
#include <openssl/sha.h>

static_assert((int)HUB_DIGEST_BYTES == SHA256_DIGEST_LENGTH, "a digest is libcrypto's");
static_assert((int)HUB_HMAC_KEY_BYTES == SHA256_CBLOCK, "a longer key would be digested first");
static_assert(sizeof(hub_digest) >= sizeof(SHA256_CTX), "libcrypto's state has room");

static SHA256_CTX *state_of(hub_digest *digest)
{
    return (SHA256_CTX *)(void *)digest->words;
}

void hub_digest_init(hub_digest *digest)
{
    (void)SHA256_Init(state_of(digest)); /* none of the three can fail */
}

void hub_digest_add(hub_digest *digest, const void *bytes, size_t size)
{
    (void)SHA256_Update(state_of(digest), bytes, size);
}

void hub_digest_end(hub_digest *digest, unsigned char ret_bytes[HUB_DIGEST_BYTES])
{
    (void)SHA256_Final(ret_bytes, state_of(digest));
}

void hub_digest_of(hub_str text, unsigned char ret_bytes[HUB_DIGEST_BYTES])
{
    hub_digest digest;
    hub_digest_init(&digest);
    hub_digest_add(&digest, text.ptr, text.len);
    hub_digest_end(&digest, ret_bytes);
}

void hub_digest_hex(const unsigned char bytes[HUB_DIGEST_BYTES], char ret_hex[HUB_DIGEST_HEX_BYTES])
{
    hub_hex_write(bytes, HUB_DIGEST_BYTES, ret_hex);
    ret_hex[2 * HUB_DIGEST_BYTES] = '\0';
}

/* Begin a digest with the key, each byte of it xor `pad`. */
static void begin_keyed(hub_digest *digest, const unsigned char *key, size_t key_size,
                        unsigned char pad)
{
    unsigned char block[HUB_HMAC_KEY_BYTES];
    memset(block, pad, sizeof block);
    for (size_t i = 0; i < key_size; i++) {
        block[i] ^= key[i];
    }
    hub_digest_init(digest);
    hub_digest_add(digest, block, sizeof block);
}

void hub_hmac(const unsigned char *key, size_t key_size, hub_str text,
              unsigned char ret_bytes[HUB_DIGEST_BYTES])
{
    enum { INNER = 0x36, OUTER = 0x5c };
    hub_assert(key_size <= HUB_HMAC_KEY_BYTES);
    hub_digest digest;
    begin_keyed(&digest, key, key_size, INNER);
    hub_digest_add(&digest, text.ptr, text.len);
    hub_digest_end(&digest, ret_bytes);
    begin_keyed(&digest, key, key_size, OUTER);
    hub_digest_add(&digest, ret_bytes, HUB_DIGEST_BYTES);
    hub_digest_end(&digest, ret_bytes);
}
