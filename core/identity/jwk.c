/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/jwk.h"

#include "base/limits.h"
#include "identity/base64url.h"

#include <jansson.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdlib.h>

/* A modulus below is broken by those who can afford it (NIST SP 800-131A); one above takes the loop
 * longer than a verification may. An exponent above 32 bits is nobody's. */
enum { RSA_LEAST_BITS = 2048, RSA_MOST_BITS = 8192, RSA_EXPONENT_BITS = 32 };

enum { ED25519_BYTES = 32 };

struct hub_jwks {
    size_t count;
    hub_jwk keys[];
};

static const struct {
    const char *name;
    const char *group; /* libcrypto's */
    size_t bytes;      /* of a coordinate */
} CURVES[] = {{"P-256", "P-256", 32}, {"P-384", "P-384", 48}, {"P-521", "P-521", 66}};

static const char *text_of(const json_t *key, const char *member)
{
    return json_string_value(json_object_get(key, member));
}

/* The bytes of a member; the buffer is cleared first. */
static bool decode_member(const json_t *key, const char *member, hub_buf *out)
{
    const char *text = text_of(key, member);
    hub_buf_clear(out);
    return text != NULL && hub_base64url_decode(hub_str_of(text), out) == HUB_OK && out->len > 0;
}

static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *parts)
{
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(parts);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;
    if (params == NULL || ctx == NULL || EVP_PKEY_fromdata_init(ctx) <= 0 ||
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) <= 0) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return key;
}

static BIGNUM *number_of(const json_t *key, const char *member, hub_buf *scratch)
{
    return decode_member(key, member, scratch)
               ? BN_bin2bn((const unsigned char *)scratch->ptr, (int)scratch->len, NULL)
               : NULL;
}

static const char *read_rsa(const json_t *from, hub_buf *scratch, hub_jwk *ret_key)
{
    const char *problem = "its n or e is not a number in base64url";
    BIGNUM *n = number_of(from, "n", scratch);
    BIGNUM *e = number_of(from, "e", scratch);
    if (n != NULL && e != NULL) {
        int bits = BN_num_bits(n);
        OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
        if (bits < RSA_LEAST_BITS || bits > RSA_MOST_BITS) {
            problem = "its modulus has fewer than 2,048 bits, or more than 8,192";
        } else if (!BN_is_odd(n) || !BN_is_odd(e) || BN_is_one(e) ||
                   BN_num_bits(e) > RSA_EXPONENT_BITS) {
            problem = "its modulus or exponent is none of RSA";
        } else if (parts != NULL && OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_N, n) &&
                   OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_E, e)) {
            ret_key->key = make_key("RSA", parts);
            problem = ret_key->key != NULL ? NULL : "libcrypto takes no such key";
        }
        OSSL_PARAM_BLD_free(parts);
    }
    BN_free(n);
    BN_free(e);
    ret_key->kind = HUB_JWS_RSA;
    return problem;
}

/* A point as libcrypto wants it: 4, x, y. It checks that the point is on the curve. */
static const char *read_ec(const json_t *from, hub_buf *scratch, hub_jwk *ret_key)
{
    const char *name = text_of(from, "crv");
    for (size_t i = 0; name != NULL && i < sizeof CURVES / sizeof CURVES[0]; i++) {
        if (strcmp(name, CURVES[i].name) != 0) {
            continue;
        }
        unsigned char point[1 + 2 * 66] = {4};
        size_t bytes = CURVES[i].bytes;
        static const char *const MEMBERS[] = {"x", "y"};
        for (size_t j = 0; j < 2; j++) {
            if (!decode_member(from, MEMBERS[j], scratch) || scratch->len != bytes) {
                return "its x or y has not the length of its curve";
            }
            memcpy(point + 1 + j * bytes, scratch->ptr, bytes);
        }
        OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
        if (parts != NULL &&
            OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, CURVES[i].group,
                                            0) &&
            OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, point,
                                             1 + 2 * bytes)) {
            ret_key->key = make_key("EC", parts);
        }
        OSSL_PARAM_BLD_free(parts);
        ret_key->kind = HUB_JWS_EC;
        ret_key->curve = CURVES[i].group;
        return ret_key->key != NULL ? NULL : "its point is not on its curve";
    }
    return "its curve is none of P-256, P-384, P-521";
}

static const char *read_okp(const json_t *from, hub_buf *scratch, hub_jwk *ret_key)
{
    const char *name = text_of(from, "crv");
    if (name == NULL || strcmp(name, "Ed25519") != 0) {
        return "its curve is not Ed25519";
    }
    if (!decode_member(from, "x", scratch) || scratch->len != ED25519_BYTES) {
        return "its x has not 32 bytes";
    }
    ret_key->key = EVP_PKEY_new_raw_public_key_ex(
        NULL, "ED25519", NULL, (const unsigned char *)scratch->ptr, scratch->len);
    ret_key->kind = HUB_JWS_ED25519;
    return ret_key->key != NULL ? NULL : "libcrypto takes no such key";
}

/* Whether it says what it is for, and that is something else. */
static bool is_for_something_else(const json_t *from)
{
    const json_t *use = json_object_get(from, "use");
    if (use != NULL && (!json_is_string(use) || strcmp(json_string_value(use), "sig") != 0)) {
        return true;
    }
    const json_t *operations = json_object_get(from, "key_ops");
    if (operations == NULL) {
        return false;
    }
    size_t i;
    const json_t *operation;
    json_array_foreach(operations, i, operation)
    {
        if (json_is_string(operation) && strcmp(json_string_value(operation), "verify") == 0) {
            return false;
        }
    }
    return true;
}

static const char *read_by_type(const json_t *from, hub_buf *scratch, hub_jwk *ret_key)
{
    const char *type = text_of(from, "kty");
    if (type != NULL && strcmp(type, "RSA") == 0) {
        return read_rsa(from, scratch, ret_key);
    }
    if (type != NULL && strcmp(type, "EC") == 0) {
        return read_ec(from, scratch, ret_key);
    }
    if (type != NULL && strcmp(type, "OKP") == 0) {
        return read_okp(from, scratch, ret_key);
    }
    return "its kty is none of RSA, EC, OKP";
}

/* NULL, or why the key cannot be used. */
static const char *read_key(const json_t *from, hub_buf *scratch, hub_jwk *ret_key)
{
    *ret_key = (hub_jwk){0};
    if (is_for_something_else(from)) {
        return "it is not for verifying signatures (use, key_ops)";
    }
    const json_t *algorithm = json_object_get(from, "alg");
    if (algorithm != NULL) {
        const char *name = json_string_value(algorithm);
        ret_key->only = name != NULL ? hub_jws_algorithm_of(hub_str_of(name)) : NULL;
        if (ret_key->only == NULL) {
            return "its alg is not accepted";
        }
    }
    const char *problem = read_by_type(from, scratch, ret_key);
    if (problem != NULL) {
        return problem;
    }
    if (ret_key->only != NULL && !hub_jwk_fits(ret_key, ret_key->only)) {
        return "its alg does not go with its kty or crv";
    }
    const char *kid = text_of(from, "kid");
    if (kid != NULL) {
        ret_key->kid = hub_str_dup(hub_str_of(kid));
        return ret_key->kid != NULL ? NULL : "there is no memory";
    }
    return NULL;
}

static void drop_key(hub_jwk *key)
{
    EVP_PKEY_free(key->key);
    free(key->kid);
}

bool hub_jwk_fits(const hub_jwk *key, const hub_jws_algorithm *algorithm)
{
    if (key->kind != algorithm->kind ||
        (key->only != NULL && key->only != algorithm && key->kind != HUB_JWS_ED25519)) {
        return false;
    }
    return key->kind != HUB_JWS_EC || strcmp(key->curve, algorithm->curve) == 0;
}

static hub_err read_keys(const json_t *array, hub_jwks **ret_keys, hub_error *reterr)
{
    size_t count = json_array_size(array);
    hub_jwks *keys = calloc(1, sizeof *keys + count * sizeof keys->keys[0]);
    if (keys == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_buf scratch;
    hub_buf_init(&scratch, HUB_LIMIT_JWKS_BYTES);
    const char *first_problem = "the set is empty";
    bool has_problem = false;
    for (size_t i = 0; i < count; i++) {
        hub_jwk key;
        const char *problem = read_key(json_array_get(array, i), &scratch, &key);
        if (problem == NULL) {
            keys->keys[keys->count++] = key;
            continue;
        }
        drop_key(&key);
        first_problem = has_problem ? first_problem : problem;
        has_problem = true;
    }
    hub_buf_fini(&scratch);
    if (keys->count == 0) {
        hub_jwks_destroy(keys);
        return hub_fail(reterr, HUB_ENOTFOUND, "no key can be used: %s%s",
                        has_problem ? "of the first one, " : "", first_problem);
    }
    *ret_keys = keys;
    return HUB_OK;
}

hub_err hub_jwks_parse(hub_str text, hub_jwks **ret_keys, hub_error *reterr)
{
    if (text.len > HUB_LIMIT_JWKS_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "the set of keys has more than %u bytes",
                        (unsigned)HUB_LIMIT_JWKS_BYTES);
    }
    json_error_t why;
    json_t *set =
        json_loadb(text.ptr != NULL ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES, &why);
    if (set == NULL) {
        return hub_fail(reterr, HUB_EPARSE, "the set of keys is not JSON: %s", why.text);
    }
    const json_t *array = json_object_get(set, "keys");
    hub_err err;
    if (!json_is_array(array)) {
        err = hub_fail(reterr, HUB_EPARSE, "the set of keys has no array \"keys\"");
    } else if (json_array_size(array) > HUB_LIMIT_JWKS_KEYS) {
        err = hub_fail(reterr, HUB_ELIMIT, "the set has %zu keys, and %u is the most",
                       json_array_size(array), (unsigned)HUB_LIMIT_JWKS_KEYS);
    } else {
        err = read_keys(array, ret_keys, reterr);
    }
    json_decref(set);
    return err;
}

void hub_jwks_destroy(hub_jwks *keys)
{
    if (keys != NULL) {
        for (size_t i = 0; i < keys->count; i++) {
            drop_key(&keys->keys[i]);
        }
        free(keys);
    }
}

size_t hub_jwks_count(const hub_jwks *keys)
{
    return keys->count;
}

const hub_jwk *hub_jwks_find(const hub_jwks *keys, const hub_jws_algorithm *algorithm, hub_str kid,
                             const hub_jwk *after)
{
    for (size_t i = after != NULL ? (size_t)(after - keys->keys) + 1 : 0; i < keys->count; i++) {
        const hub_jwk *key = &keys->keys[i];
        bool is_named = kid.len == 0 || (key->kid != NULL && hub_str_is(kid, key->kid));
        if (is_named && hub_jwk_fits(key, algorithm)) {
            return key;
        }
    }
    return NULL;
}
