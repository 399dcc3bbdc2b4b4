/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/jws.h"

#include "base/limits.h"
#include "identity/base64url.h"

#include <jansson.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdlib.h>

/* r and s of P-521 in DER: two integers of up to 67 bytes, and their heads. */
enum { ECDSA_DER_BYTES = 160 };

static hub_err refuse(hub_error *reterr, const char *why)
{
    return hub_fail(reterr, HUB_EDENIED, "%s", why);
}

/* Headers that bring a key along, or that must be understood. */
static const char *const REFUSED[] = {"crit", "jku", "jwk", "x5u", "b64", "enc", "zip"};

static hub_err keep_text(const json_t *header, const char *member, hub_buf *out, hub_error *reterr)
{
    const json_t *value = json_object_get(header, member);
    if (value == NULL) {
        return HUB_OK;
    }
    if (!json_is_string(value)) {
        return hub_fail(reterr, HUB_EPARSE, "the token's header has a %s that is not a string",
                        member);
    }
    hub_buf_add(out, (hub_str){.ptr = json_string_value(value), .len = json_string_length(value)});
    return hub_buf_ok(out) ? HUB_OK
                           : hub_fail(reterr, out->failed, "the token's header is too long");
}

static hub_err read_header(const json_t *header, hub_jws *jws, hub_error *reterr)
{
    if (!json_is_object(header)) {
        return hub_fail(reterr, HUB_EPARSE, "the token's header is not a JSON object");
    }
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        if (json_object_get(header, REFUSED[i]) != NULL) {
            return hub_fail(reterr, HUB_EDENIED,
                            "a token with \"%s\" in its header is not accepted", REFUSED[i]);
        }
    }
    const char *name = json_string_value(json_object_get(header, "alg"));
    jws->algorithm = name != NULL ? hub_jws_algorithm_of(hub_str_of(name)) : NULL;
    if (jws->algorithm == NULL) {
        return refuse(reterr, "the token's algorithm is not accepted");
    }
    hub_err err = keep_text(header, "kid", &jws->kid, reterr);
    return err == HUB_OK ? keep_text(header, "typ", &jws->type, reterr) : err;
}

static hub_err read_parts(hub_str parts[3], hub_jws *jws, hub_error *reterr)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_JWS_BYTES);
    hub_err err = hub_base64url_decode(parts[0], &text);
    err = err == HUB_OK ? hub_base64url_decode(parts[1], &jws->payload) : err;
    err = err == HUB_OK ? hub_base64url_decode(parts[2], &jws->signature) : err;
    if (err != HUB_OK) {
        hub_buf_fini(&text);
        return hub_fail(reterr, err, "a part of the token is not base64url");
    }
    json_t *header =
        json_loadb(text.ptr != NULL ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES, NULL);
    hub_buf_fini(&text);
    err = read_header(header, jws, reterr);
    json_decref(header);
    return err;
}

hub_err hub_jws_read(hub_str text, hub_jws *ret_jws, hub_error *reterr)
{
    *ret_jws = (hub_jws){0};
    hub_buf_init(&ret_jws->payload, HUB_LIMIT_JWS_BYTES);
    hub_buf_init(&ret_jws->signature, HUB_LIMIT_JWS_BYTES);
    hub_buf_init(&ret_jws->kid, HUB_LIMIT_JWS_KID_BYTES);
    hub_buf_init(&ret_jws->type, HUB_LIMIT_JWS_KID_BYTES);
    if (text.len > HUB_LIMIT_JWS_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "the token has more than %u bytes",
                        (unsigned)HUB_LIMIT_JWS_BYTES);
    }
    hub_str parts[3];
    size_t count = 0;
    for (hub_str rest = text; count < 3; count++) {
        size_t dot = hub_str_find(rest, HUB_STR("."));
        bool is_last = dot == SIZE_MAX;
        parts[count] = (hub_str){.ptr = rest.ptr, .len = is_last ? rest.len : dot};
        if (is_last != (count == 2)) {
            return hub_fail(reterr, HUB_EPARSE, "the token has not three parts");
        }
        rest = is_last ? rest : hub_str_from(rest, dot + 1);
    }
    ret_jws->signed_part = (hub_str){.ptr = text.ptr, .len = parts[0].len + 1 + parts[1].len};
    return read_parts(parts, ret_jws, reterr);
}

void hub_jws_fini(hub_jws *jws)
{
    hub_buf_fini(&jws->payload);
    hub_buf_fini(&jws->signature);
    hub_buf_fini(&jws->kid);
    hub_buf_fini(&jws->type);
}

/* ECDSA is two integers side by side (RFC 7518 section 3.4), where libcrypto wants DER. The length, or 0. */
static size_t to_der(const hub_jws *jws, unsigned char *der)
{
    size_t bytes = jws->algorithm->integer_bytes;
    const unsigned char *at = (const unsigned char *)jws->signature.ptr;
    if (jws->signature.len != 2 * bytes) {
        return 0;
    }
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(at, (int)bytes, NULL);
    BIGNUM *s = BN_bin2bn(at + bytes, (int)bytes, NULL);
    if (pair == NULL || r == NULL || s == NULL || !ECDSA_SIG_set0(pair, r, s)) {
        BN_free(r);
        BN_free(s);
        ECDSA_SIG_free(pair);
        return 0;
    }
    int len = i2d_ECDSA_SIG(pair, NULL);
    unsigned char *end = der;
    if (len <= 0 || len > ECDSA_DER_BYTES || i2d_ECDSA_SIG(pair, &end) != len) {
        len = 0;
    }
    ECDSA_SIG_free(pair);
    return (size_t)len;
}

/* PSS with a salt as long as the digest (RFC 7518 section 3.5). */
static bool set_padding(EVP_PKEY_CTX *ctx, const hub_jws_algorithm *algorithm)
{
    return !algorithm->is_pss ||
           (EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) > 0 &&
            EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST) > 0);
}

bool hub_jws_is_signed_by(const hub_jws *jws, const hub_jwk *key)
{
    unsigned char der[ECDSA_DER_BYTES];
    const unsigned char *signature = (const unsigned char *)jws->signature.ptr;
    size_t len = jws->signature.len;
    if (!hub_jwk_fits(key, jws->algorithm)) {
        return false;
    }
    if (jws->algorithm->kind == HUB_JWS_EC) {
        len = to_der(jws, der);
        signature = der;
    }
    EVP_MD_CTX *ctx = len > 0 ? EVP_MD_CTX_new() : NULL;
    EVP_PKEY_CTX *key_ctx = NULL; /* belongs to ctx */
    bool is_right =
        ctx != NULL &&
        EVP_DigestVerifyInit_ex(ctx, &key_ctx, jws->algorithm->digest, NULL, NULL, key->key, NULL) >
            0 &&
        set_padding(key_ctx, jws->algorithm) &&
        EVP_DigestVerify(ctx, signature, len, (const unsigned char *)jws->signed_part.ptr,
                         jws->signed_part.len) == 1;
    EVP_MD_CTX_free(ctx);
    return is_right;
}

/* From DER to two integers side by side. */
static hub_err add_integers(const unsigned char *der, size_t der_len, size_t bytes, hub_buf *out)
{
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)der_len);
    unsigned char both[2 * 66];
    bool is_good = pair != NULL &&
                   BN_bn2binpad(ECDSA_SIG_get0_r(pair), both, (int)bytes) == (int)bytes &&
                   BN_bn2binpad(ECDSA_SIG_get0_s(pair), both + bytes, (int)bytes) == (int)bytes;
    ECDSA_SIG_free(pair);
    if (!is_good) {
        return HUB_ENOMEM;
    }
    hub_base64url_add(out, (hub_str){.ptr = (const char *)both, .len = 2 * bytes});
    return out->failed;
}

static hub_err add_signature(hub_str text, const hub_jws_algorithm *algorithm, EVP_PKEY *key,
                             hub_buf *out)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_PKEY_CTX *key_ctx = NULL;
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    size_t len = 0;
    if (ctx == NULL ||
        EVP_DigestSignInit_ex(ctx, &key_ctx, algorithm->digest, NULL, NULL, key, NULL) <= 0 ||
        !set_padding(key_ctx, algorithm) || EVP_DigestSign(ctx, NULL, &len, bytes, text.len) <= 0) {
        EVP_MD_CTX_free(ctx);
        return HUB_EINVAL;
    }
    unsigned char *signature = malloc(len);
    bool is_signed = signature != NULL && EVP_DigestSign(ctx, signature, &len, bytes, text.len) > 0;
    EVP_MD_CTX_free(ctx);
    hub_err err = HUB_ENOMEM;
    if (is_signed && algorithm->kind == HUB_JWS_EC) {
        err = add_integers(signature, len, algorithm->integer_bytes, out);
    } else if (is_signed) {
        hub_base64url_add(out, (hub_str){.ptr = (const char *)signature, .len = len});
        err = out->failed;
    }
    free(signature);
    return err;
}

static bool can_sign(const hub_jws_algorithm *algorithm, const EVP_PKEY *key)
{
    static const char *const TYPES[] = {
        [HUB_JWS_RSA] = "RSA", [HUB_JWS_EC] = "EC", [HUB_JWS_ED25519] = "ED25519"};
    if (!EVP_PKEY_is_a(key, TYPES[algorithm->kind])) {
        return false;
    }
    return algorithm->kind != HUB_JWS_EC ||
           (size_t)(EVP_PKEY_get_bits(key) + 7) / 8 == algorithm->integer_bytes;
}

hub_err hub_jws_sign(hub_str header, hub_str payload, const hub_jws_algorithm *algorithm,
                     EVP_PKEY *key, hub_buf *out)
{
    if (!can_sign(algorithm, key)) {
        return HUB_EINVAL;
    }
    size_t begin = out->len;
    hub_base64url_add(out, header);
    hub_buf_add_char(out, '.');
    hub_base64url_add(out, payload);
    if (!hub_buf_ok(out)) {
        return out->failed;
    }
    hub_buf signature;
    hub_buf_init(&signature, HUB_LIMIT_JWS_BYTES);
    hub_err err = add_signature(hub_str_from(hub_buf_str(out), begin), algorithm, key, &signature);
    if (err == HUB_OK) {
        hub_buf_add_char(out, '.');
        hub_buf_add(out, hub_buf_str(&signature));
        err = out->failed;
    }
    hub_buf_fini(&signature);
    return err;
}
