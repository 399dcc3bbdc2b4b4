/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed tokens and sets of keys: whatever they say, nothing is signed by whom it is not, and what is
 * read keeps to its limits.
 * Input: two lines, a set of keys and a token.
 */
#include "base/limits.h"
#include "identity/jwt.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void try_keys(const hub_jwks *keys, const hub_jws *jws)
{
    REQUIRE(hub_jwks_count(keys) > 0 && hub_jwks_count(keys) <= HUB_LIMIT_JWKS_KEYS);
    size_t tried = 0;
    for (const hub_jwk *key = NULL;
         (key = hub_jwks_find(keys, jws->algorithm, hub_buf_str(&jws->kid), key)) != NULL;) {
        REQUIRE(hub_jwk_fits(key, jws->algorithm));
        (void)hub_jws_is_signed_by(jws, key);
        REQUIRE(++tried <= HUB_LIMIT_JWKS_KEYS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
    if (end == NULL) {
        return 0;
    }
    hub_jwks *keys = NULL;
    hub_jws jws;
    hub_str token = hub_str_between(end + 1, text + size);
    hub_err err = hub_jws_read(token, &jws, NULL);
    if (err == HUB_OK) {
        REQUIRE(token.len <= HUB_LIMIT_JWS_BYTES && jws.algorithm != NULL);
        REQUIRE(jws.kid.len <= HUB_LIMIT_JWS_KID_BYTES);
        REQUIRE(jws.signed_part.len + 1 <= token.len);
    }
    if (hub_jwks_parse(hub_str_between(text, end), &keys, NULL) == HUB_OK && err == HUB_OK) {
        try_keys(keys, &jws);
    }
    static const char *const AUDIENCES[] = {"a"};
    static const hub_jwt_issuer ISSUER = {
        .issuer = "joe",
        .audiences = {.items = AUDIENCES, .count = 1, .set = true},
        .scopes_at = "/a/0/~1",
        .groups_at = "/g"};
    hub_jwt jwt;
    hub_identity *identity = NULL;
    bool is_read = hub_jwt_read(token, &jwt, NULL) == HUB_OK;
    REQUIRE(!is_read || err == HUB_OK);
    if (is_read && keys != NULL) {
        /* No token of the corpus has an audience, and nobody can sign another one. */
        size_t tries = 0;
        hub_err judged = HUB_EBUSY;
        while (judged == HUB_EBUSY) {
            size_t before = tries;
            judged = hub_jwt_verify(&jwt, &ISSUER, keys, 0, &tries, &identity, NULL);
            REQUIRE(judged != HUB_OK && tries <= before + 1 && tries <= HUB_LIMIT_JWS_TRIES);
        }
    }
    hub_jwt_fini(&jwt);
    hub_jwks_destroy(keys);
    hub_jws_fini(&jws);
    return 0;
}
