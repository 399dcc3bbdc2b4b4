/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/signer.h"

#include "base/limits.h"
#include "identity/base64url.h"
#include "identity/jws.h"
#include "identity/pem.h"
#include "wire/json.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <sys/random.h>

enum { RSA_LEAST_BITS = 2048, RSA_MOST_BITS = 8192 };

enum { JTI_BYTES = 16 };

struct hub_signer {
    EVP_PKEY *key;
    const hub_jws_algorithm *algorithm;
    hub_buf header;
};

/* libcrypto's names of the curves, which differ from those in `crv`. */
static const struct {
    const char *group;
    const char *algorithm;
} CURVES[] = {{"prime256v1", "ES256"}, {"secp384r1", "ES384"}, {"secp521r1", "ES512"}};

static const char *algorithm_of_curve(const EVP_PKEY *key)
{
    char group[64];
    if (!EVP_PKEY_get_group_name(key, group, sizeof group, NULL)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof CURVES / sizeof CURVES[0]; i++) {
        if (strcmp(group, CURVES[i].group) == 0) {
            return CURVES[i].algorithm;
        }
    }
    return NULL;
}

/* The algorithm that a key is for when nobody says another; NULL, and *ret_problem: it is for none. */
static const char *usual_algorithm(const EVP_PKEY *key, const char **ret_problem)
{
    if (EVP_PKEY_is_a(key, "RSA")) {
        int bits = EVP_PKEY_get_bits(key);
        *ret_problem = "an RSA key must have 2,048 to 8,192 bits";
        return bits >= RSA_LEAST_BITS && bits <= RSA_MOST_BITS ? "RS256" : NULL;
    }
    if (EVP_PKEY_is_a(key, "EC")) {
        *ret_problem = "the curve must be P-256, P-384 or P-521";
        return algorithm_of_curve(key);
    }
    *ret_problem = "the key must be of RSA, EC or Ed25519";
    return EVP_PKEY_is_a(key, "ED25519") ? "EdDSA" : NULL;
}

/* Whether the algorithm that was asked for is one of the key's kind, whose usual one is `usual`. */
static bool is_of_kind(const hub_jws_algorithm *algorithm, const char *usual)
{
    const hub_jws_algorithm *own = hub_jws_algorithm_of(hub_str_of(usual));
    return algorithm->kind == own->kind && (algorithm->kind != HUB_JWS_EC || algorithm == own);
}

static hub_err choose(hub_signer *signer, const char *wanted, hub_error *reterr)
{
    const char *problem = NULL;
    const char *usual = usual_algorithm(signer->key, &problem);
    if (usual == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "the private key cannot be used: %s", problem);
    }
    signer->algorithm = hub_jws_algorithm_of(hub_str_of(wanted != NULL ? wanted : usual));
    if (signer->algorithm == NULL) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the algorithm must be one of RS, PS or ES with 256, 384 or 512, or EdDSA");
    }
    if (!is_of_kind(signer->algorithm, usual)) {
        return hub_fail(reterr, HUB_EINVAL, "the private key is not for %s but for %s",
                        signer->algorithm->name, usual);
    }
    return HUB_OK;
}

static hub_err read_key(hub_signer *signer, hub_str pem, hub_error *reterr)
{
    if (pem.len > HUB_LIMIT_SIGNING_KEY_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "the private key has more than %u bytes",
                        (unsigned)HUB_LIMIT_SIGNING_KEY_BYTES);
    }
    BIO *text = pem.len > 0 ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
    signer->key =
        text != NULL ? PEM_read_bio_PrivateKey(text, NULL, hub_pem_refuse_password, NULL) : NULL;
    BIO_free(text);
    return signer->key != NULL ? HUB_OK
                               : hub_fail(reterr, HUB_EPARSE,
                                          "the private key is not PEM, is damaged or is encrypted: "
                                          "give one that is not encrypted");
}

static bool is_utf8(hub_str text)
{
    size_t length = 0;
    while (text.len > 0 && (length = hub_str_utf8_length(text)) > 0) {
        text = hub_str_from(text, length);
    }
    return text.len == 0;
}

static hub_err make_header(hub_signer *signer, const char *kid, hub_error *reterr)
{
    if (kid != NULL && strlen(kid) > HUB_LIMIT_JWS_KID_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "the name of the key (kid) has more than %u bytes",
                        (unsigned)HUB_LIMIT_JWS_KID_BYTES);
    }
    if (kid != NULL && !is_utf8(hub_str_of(kid))) {
        return hub_fail(reterr, HUB_EINVAL, "the name of the key (kid) is not UTF-8");
    }
    hub_buf_printf(&signer->header, "{\"typ\":\"JWT\",\"alg\":\"%s\"", signer->algorithm->name);
    if (kid != NULL) {
        hub_buf_add(&signer->header, HUB_STR(",\"kid\":"));
        hub_json_add_string(&signer->header, hub_str_of(kid));
    }
    hub_buf_add_char(&signer->header, '}');
    return hub_buf_ok(&signer->header) ? HUB_OK
                                       : hub_fail(reterr, signer->header.failed, "out of memory");
}

hub_err hub_signer_create(hub_str pem, const char *algorithm, const char *kid,
                          hub_signer **ret_signer, hub_error *reterr)
{
    hub_signer *signer = calloc(1, sizeof *signer);
    if (signer == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    /* Each byte of the name is written with up to six. */
    hub_buf_init(&signer->header, 64 + 6 * HUB_LIMIT_JWS_KID_BYTES);
    hub_err err = read_key(signer, pem, reterr);
    if (err == HUB_OK) {
        err = choose(signer, algorithm, reterr);
    }
    if (err == HUB_OK) {
        err = make_header(signer, kid, reterr);
    }
    if (err == HUB_OK) {
        *ret_signer = signer;
        return HUB_OK;
    }
    ERR_clear_error(); /* else the next use of libcrypto, by TLS, finds it */
    hub_signer_destroy(signer);
    return err;
}

void hub_signer_destroy(hub_signer *signer)
{
    if (signer != NULL) {
        EVP_PKEY_free(signer->key); /* which overwrites it */
        hub_buf_fini(&signer->header);
        free(signer);
    }
}

const char *hub_signer_algorithm(const hub_signer *signer)
{
    return signer->algorithm->name;
}

hub_err hub_signer_sign(const hub_signer *signer, hub_str claims, hub_buf *out)
{
    hub_buf token;
    hub_buf_init_secret(&token, HUB_LIMIT_JWS_BYTES);
    hub_err err =
        hub_jws_sign(hub_buf_str(&signer->header), claims, signer->algorithm, signer->key, &token);
    size_t before = out->len;
    if (err == HUB_OK) {
        hub_buf_add(out, hub_buf_str(&token));
        err = out->failed;
    }
    hub_buf_fini(&token); /* it is a credential */
    if (err != HUB_OK) {
        out->len = before;
    }
    return err;
}

hub_err hub_signer_assert(const hub_signer *signer, hub_str client_id, hub_str audience,
                          int64_t now, hub_buf *out)
{
    unsigned char random[JTI_BYTES];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return HUB_ESYSTEM;
    }
    hub_buf claims;
    hub_buf_init(&claims, HUB_LIMIT_JWS_BYTES);
    hub_buf_add(&claims, HUB_STR("{\"iss\":"));
    hub_json_add_string(&claims, client_id);
    hub_buf_add(&claims, HUB_STR(",\"sub\":"));
    hub_json_add_string(&claims, client_id);
    hub_buf_add(&claims, HUB_STR(",\"aud\":"));
    hub_json_add_string(&claims, audience);
    hub_buf_add(&claims, HUB_STR(",\"jti\":\""));
    hub_base64url_add(&claims, (hub_str){.ptr = (const char *)random, .len = sizeof random});
    hub_buf_printf(&claims, "\",\"iat\":%lld,\"exp\":%lld}", (long long)now,
                   (long long)(now + HUB_LIMIT_ASSERTION_S));
    hub_err err =
        hub_buf_ok(&claims) ? hub_signer_sign(signer, hub_buf_str(&claims), out) : claims.failed;
    hub_buf_fini(&claims);
    return err;
}
