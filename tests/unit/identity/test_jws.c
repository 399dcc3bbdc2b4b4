/* SPDX-License-Identifier: Apache-2.0 */
/* Signed tokens: examples of the RFCs, each algorithm there and back, and what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "identity/base64url.h"
#include "identity/jws.h"
#include "own_keys.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- base64url ---- */

static void expect_decoded(const char *text, const char *expected)
{
    hub_buf out;
    hub_buf_init(&out, 100);
    hub_err err = hub_base64url_decode(hub_str_of(text), &out);
    if (expected == NULL) {
        assert_int_equal(err, HUB_EPARSE);
    } else {
        assert_int_equal(err, HUB_OK);
        assert_int_equal(out.len, strlen(expected));
        assert_memory_equal(out.len > 0 ? out.ptr : "", expected, out.len);
        hub_buf again;
        hub_buf_init(&again, 100);
        hub_base64url_add(&again, hub_buf_str(&out));
        assert_true(hub_str_is(hub_buf_str(&again), text));
        hub_buf_fini(&again);
    }
    hub_buf_fini(&out);
}

static void test_base64url(void **state)
{
    (void)state;
    expect_decoded("", "");
    expect_decoded("Zg", "f");
    expect_decoded("Zm8", "fo");
    expect_decoded("Zm9v", "foo");
    expect_decoded("Zm9vYmE", "fooba");
    expect_decoded("-_-_", "\xfb\xff\xbf");
    expect_decoded("Z", NULL);
    expect_decoded("Zm9vY", NULL);
    expect_decoded("Zh", NULL);  /* bits that do not count are set */
    expect_decoded("Zm9", NULL); /* likewise */
    expect_decoded("Zg==", NULL);
    expect_decoded("Zm 8", NULL);
    expect_decoded("+/+/", NULL);
    expect_decoded("Zm9v\n", NULL);
}

/* ---- examples of the specifications ---- */

static hub_err verify(const char *token, const hub_jwks *keys)
{
    hub_jws jws;
    hub_error why;
    hub_err err = hub_jws_read(hub_str_of(token), &jws, &why);
    if (err == HUB_OK) {
        err = HUB_ENOTFOUND;
        for (const hub_jwk *key = NULL;
             (key = hub_jwks_find(keys, jws.algorithm, hub_buf_str(&jws.kid), key)) != NULL;) {
            if (hub_jws_is_signed_by(&jws, key)) {
                err = HUB_OK;
                break;
            }
        }
    }
    hub_jws_fini(&jws);
    return err;
}

static hub_jwks *read_keys(const char *text)
{
    hub_jwks *keys = NULL;
    hub_error why = {.text = ""};
    if (hub_jwks_parse(hub_str_of(text), &keys, &why) != HUB_OK) {
        fail_msg("%s: %s", text, why.text);
    }
    return keys;
}

static void expect_example(const char *keys_text, const char *token)
{
    hub_jwks *keys = read_keys(keys_text);
    assert_int_equal(verify(token, keys), HUB_OK);
    char *other = strdup(token); /* another payload */
    char *at = strchr(other, '.') + 2;
    *at = *at == 'A' ? 'B' : 'A';
    assert_int_equal(verify(other, keys), HUB_ENOTFOUND);
    free(other);
    hub_jwks_destroy(keys);
}

static void test_rfc7515_rs256(void **state)
{
    (void)state;
    expect_example(
        "{\"keys\":[{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":"
        "\"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEz"
        "P1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpa"
        "SHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT"
        "6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ\"}]}",
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGx"
        "lLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5R"
        "Zmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrn"
        "byTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHW"
        "EsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0ig"
        "cN_IoypGlUPQGe77Rw");
}

#define EC_KEY                                                                                     \
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","     \
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}"
#define EC_TOKEN                                                                                   \
    "eyJhbGciOiJFUzI1NiJ9."                                                                        \
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl" \
    "fQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
#define ED_KEY                                                                                     \
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}"

static void test_rfc7515_es256(void **state)
{
    (void)state;
    expect_example("{\"keys\":[" EC_KEY "]}", EC_TOKEN);
}

static void test_rfc8037_ed25519(void **state)
{
    (void)state;
    expect_example("{\"keys\":[" ED_KEY "]}",
                   "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLW"
                   "G1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
}

/* RFC 7515 appendix A.4. */
static void test_rfc7515_es512(void **state)
{
    (void)state;
    expect_example(
        "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-521\",\"x\":"
        "\"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_"
        "NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk\""
        ",\"y\":"
        "\"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-"
        "x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2\""
        "}]}",
        "eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWR"
        "Oc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8"
        "vcnwNrmxYbSW9ERBXukOXolLzeO_Jn");
}

/* RFC 7515 appendices A.1, a shared secret, A.5, no signature, and A.6, not compact. */
static void test_rfc7515_refused(void **state)
{
    (void)state;
    hub_jwks *keys = read_keys("{\"keys\":[" EC_KEY "]}");
    assert_int_equal(verify("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAi"
                            "OjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dB"
                            "jftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
                            keys),
                     HUB_EDENIED);
    assert_int_equal(verify("eyJhbGciOiJub25lIn0.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogI"
                            "mh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.",
                            keys),
                     HUB_EDENIED);
    assert_int_equal(verify("{\"payload\":\"e30\",\"protected\":\"eyJhbGciOiJFUzI1NiJ9\","
                            "\"signature\":\"AA\"}",
                            keys),
                     HUB_EPARSE);
    hub_jwks_destroy(keys);
}

/* RFC 7517 appendix A.1: of the two keys one is for encryption, and is left out. A.3 is a set of shared
 * secrets: none is of use. */
static void test_rfc7517_sets(void **state)
{
    (void)state;
    hub_jwks *keys = read_keys(
        "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
        "\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","
        "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\",\"use\":\"enc\",\"kid\":\"1\"},"
        "{\"kty\":\"RSA\",\"n\":"
        "\"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1R"
        "K7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6C"
        "f0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbIS"
        "D08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awa"
        "pJzKnqDKgw\",\"e\":\"AQAB\",\"alg\":\"RS256\",\"kid\":\"2011-04-29\"}]}");
    const hub_jws_algorithm *rs256 = hub_jws_algorithm_of(HUB_STR("RS256"));
    assert_int_equal(hub_jwks_count(keys), 1);
    assert_non_null(hub_jwks_find(keys, rs256, HUB_STR("2011-04-29"), NULL));
    assert_null(hub_jwks_find(keys, rs256, HUB_STR("1"), NULL));
    assert_null(hub_jwks_find(keys, hub_jws_algorithm_of(HUB_STR("RS384")), HUB_STR_EMPTY, NULL));
    hub_jwks_destroy(keys);
    hub_error why = {.text = ""};
    assert_int_equal(hub_jwks_parse(HUB_STR("{\"keys\":[{\"kty\":\"oct\",\"alg\":\"A128KW\","
                                            "\"k\":\"GawgguFyGrWKav7AX4VKUg\"}]}"),
                                    &keys, &why),
                     HUB_ENOTFOUND);
}

/* ---- keys of our own ---- */

static void add_number(const EVP_PKEY *key, const char *name, size_t bytes, hub_buf *out)
{
    BIGNUM *number = NULL;
    assert_true(EVP_PKEY_get_bn_param(key, name, &number));
    unsigned char text[1024];
    int len = bytes > 0 ? BN_bn2binpad(number, text, (int)bytes) : BN_bn2bin(number, text);
    assert_true(len > 0);
    hub_base64url_add(out, (hub_str){.ptr = (const char *)text, .len = (size_t)len});
    BN_free(number);
}

/* The public key as a JWK, with `more` members in front. */
static void add_jwk(size_t which, const char *more, hub_buf *out)
{
    static const char *const CURVES[] = {"", "P-256", "P-384", "P-521"};
    static const size_t BYTES[] = {0, 32, 48, 66};
    const EVP_PKEY *key = own[which];
    hub_buf_printf(out, "{%s", more);
    if (which == RSA_KEY) {
        hub_buf_printf(out, "\"kty\":\"RSA\",\"n\":\"");
        add_number(key, OSSL_PKEY_PARAM_RSA_N, 0, out);
        hub_buf_printf(out, "\",\"e\":\"");
        add_number(key, OSSL_PKEY_PARAM_RSA_E, 0, out);
    } else if (which == ED25519_KEY) {
        unsigned char raw[32];
        size_t len = sizeof raw;
        assert_true(EVP_PKEY_get_raw_public_key(key, raw, &len));
        hub_buf_printf(out, "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"");
        hub_base64url_add(out, (hub_str){.ptr = (const char *)raw, .len = len});
    } else {
        hub_buf_printf(out, "\"kty\":\"EC\",\"crv\":\"%s\",\"x\":\"", CURVES[which]);
        add_number(key, OSSL_PKEY_PARAM_EC_PUB_X, BYTES[which], out);
        hub_buf_printf(out, "\",\"y\":\"");
        add_number(key, OSSL_PKEY_PARAM_EC_PUB_Y, BYTES[which], out);
    }
    hub_buf_printf(out, "\"}");
}

static hub_jwks *own_keys(size_t which, const char *more)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_JWKS_BYTES);
    hub_buf_printf(&text, "{\"keys\":[");
    add_jwk(which, more, &text);
    hub_buf_printf(&text, "]}");
    assert_true(hub_buf_ok(&text));
    hub_jwks *keys = read_keys(text.ptr);
    hub_buf_fini(&text);
    return keys;
}

/* A token that is signed with one of our keys; its header is what the test says. */
static char *sign(const char *algorithm, size_t which, const char *header, const char *payload)
{
    hub_buf token;
    hub_buf_init(&token, 100000);
    assert_int_equal(hub_jws_sign(hub_str_of(header), hub_str_of(payload),
                                  hub_jws_algorithm_of(hub_str_of(algorithm)), own[which], &token),
                     HUB_OK);
    char *text = hub_buf_take(&token);
    assert_non_null(text);
    return text;
}

static int set_up(void **state)
{
    (void)state;
    make_own_keys();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free_own_keys();
    return 0;
}

static const struct {
    const char *name;
    size_t key;
} SIGNED[] = {
    {"RS256", RSA_KEY},  {"RS384", RSA_KEY},     {"RS512", RSA_KEY},       {"PS256", RSA_KEY},
    {"PS384", RSA_KEY},  {"PS512", RSA_KEY},     {"ES256", P256_KEY},      {"ES384", P384_KEY},
    {"ES512", P521_KEY}, {"EdDSA", ED25519_KEY}, {"Ed25519", ED25519_KEY},
};

/* Each algorithm is right with its own key, and with no other. */
static void test_algorithms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SIGNED / sizeof SIGNED[0]; i++) {
        char header[100];
        snprintf(header, sizeof header, "{\"alg\":\"%s\"}", SIGNED[i].name);
        char *token = sign(SIGNED[i].name, SIGNED[i].key, header, "{}");
        for (size_t j = 0; j < OWN_KEYS; j++) {
            hub_jwks *keys = own_keys(j, "");
            assert_int_equal(verify(token, keys), j == SIGNED[i].key ? HUB_OK : HUB_ENOTFOUND);
            hub_jwks_destroy(keys);
        }
        free(token);
    }
}

/* A key that says which algorithm it is for is for no other, whatever the header says. */
static void test_key_decides(void **state)
{
    (void)state;
    char *token = sign("RS256", RSA_KEY, "{\"alg\":\"RS256\"}", "{}");
    hub_jwks *keys = own_keys(RSA_KEY, "\"alg\":\"PS256\",");
    assert_int_equal(verify(token, keys), HUB_ENOTFOUND);
    hub_jwks_destroy(keys);
    keys = own_keys(RSA_KEY, "\"alg\":\"RS256\",");
    assert_int_equal(verify(token, keys), HUB_OK);
    hub_jwks_destroy(keys);
    free(token);
    /* The signature is of PSS, the header says otherwise. */
    token = sign("PS256", RSA_KEY, "{\"alg\":\"RS256\"}", "{}");
    keys = own_keys(RSA_KEY, "");
    assert_int_equal(verify(token, keys), HUB_ENOTFOUND);
    hub_jwks_destroy(keys);
    free(token);
    /* Two names of one algorithm. */
    token = sign("EdDSA", ED25519_KEY, "{\"alg\":\"EdDSA\"}", "{}");
    keys = own_keys(ED25519_KEY, "\"alg\":\"Ed25519\",");
    assert_int_equal(verify(token, keys), HUB_OK);
    hub_jwks_destroy(keys);
    free(token);
}

static void test_names_of_keys(void **state)
{
    (void)state;
    char *token = sign("ES256", P256_KEY, "{\"alg\":\"ES256\",\"kid\":\"b\"}", "{}");
    hub_jwks *keys = own_keys(P256_KEY, "\"kid\":\"a\",");
    assert_int_equal(verify(token, keys), HUB_ENOTFOUND);
    hub_jwks_destroy(keys);
    keys = own_keys(P256_KEY, "");
    assert_int_equal(verify(token, keys), HUB_ENOTFOUND);
    hub_jwks_destroy(keys);
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_JWKS_BYTES);
    hub_buf_printf(&text, "{\"keys\":[" EC_KEY ",");
    add_jwk(P256_KEY, "\"kid\":\"b\",\"use\":\"sig\",\"key_ops\":[\"verify\"],", &text);
    hub_buf_printf(&text, "]}");
    keys = read_keys(text.ptr);
    assert_int_equal(hub_jwks_count(keys), 2);
    assert_int_equal(verify(token, keys), HUB_OK);
    free(token);
    /* Of one without a name each key is tried. */
    token = sign("ES256", P256_KEY, "{\"alg\":\"ES256\"}", "{}");
    assert_int_equal(verify(token, keys), HUB_OK);
    hub_jwks_destroy(keys);
    hub_buf_fini(&text);
    free(token);
}

static void test_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        hub_err err;
    } CASES[] = {
        {"{\"alg\":\"none\"}", HUB_EDENIED},
        {"{\"alg\":\"HS256\"}", HUB_EDENIED},
        {"{\"alg\":\"RSA-OAEP\",\"enc\":\"A256GCM\"}", HUB_EDENIED},
        {"{\"alg\":\"es256\"}", HUB_EDENIED},
        {"{\"alg\":[\"ES256\"]}", HUB_EDENIED},
        {"{}", HUB_EDENIED},
        {"{\"alg\":\"ES256\",\"crit\":[]}", HUB_EDENIED},
        {"{\"alg\":\"ES256\",\"crit\":[\"exp\"],\"exp\":1}", HUB_EDENIED},
        {"{\"alg\":\"ES256\",\"b64\":false}", HUB_EDENIED},
        {"{\"alg\":\"ES256\",\"jku\":\"https://example.com\"}", HUB_EDENIED},
        {"{\"alg\":\"ES256\",\"jwk\":" EC_KEY "}", HUB_EDENIED},
        {"{\"alg\":\"ES256\",\"x5u\":\"https://example.com\"}", HUB_EDENIED},
        {"{\"alg\":\"ES256\",\"kid\":5}", HUB_EPARSE},
        {"{\"alg\":\"ES256\",\"alg\":\"ES256\"}", HUB_EPARSE},
        {"[\"ES256\"]", HUB_EPARSE},
        {"{\"alg\":\"ES256\"", HUB_EPARSE},
        {"", HUB_EPARSE},
        {"{\"alg\":\"ES256\",\"x5t\":\"ignored\",\"typ\":\"at+jwt\"}", HUB_OK},
    };
    hub_jwks *keys = own_keys(P256_KEY, "");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char *token = sign("ES256", P256_KEY, CASES[i].header, "{}");
        assert_int_equal(verify(token, keys), CASES[i].err);
        free(token);
    }
    hub_jwks_destroy(keys);
}

static void test_forms(void **state)
{
    (void)state;
    hub_jwks *keys = read_keys("{\"keys\":[" EC_KEY "]}");
    assert_int_equal(verify(EC_TOKEN, keys), HUB_OK);
    assert_int_equal(verify("", keys), HUB_EPARSE);
    assert_int_equal(verify("..", keys), HUB_EPARSE);
    assert_int_equal(verify("eyJhbGciOiJFUzI1NiJ9.e30", keys), HUB_EPARSE);
    assert_int_equal(verify("eyJhbGciOiJFUzI1NiJ9.e30.", keys), HUB_ENOTFOUND);
    assert_int_equal(verify(EC_TOKEN ".", keys), HUB_EPARSE);
    assert_int_equal(verify(EC_TOKEN "AA", keys), HUB_ENOTFOUND);
    assert_int_equal(verify(EC_TOKEN "=", keys), HUB_EPARSE);
    assert_int_equal(verify(" " EC_TOKEN, keys), HUB_EPARSE);
    hub_jwks_destroy(keys);
}

/* r and s of 0, as in CVE-2022-21449. */
static void test_zero_signature(void **state)
{
    (void)state;
    hub_jwks *keys = read_keys("{\"keys\":[" EC_KEY "]}");
    char token[200] = "eyJhbGciOiJFUzI1NiJ9.e30.";
    size_t len = strlen(token);
    memset(token + len, 'A', 86);
    token[len + 86] = '\0';
    assert_int_equal(verify(token, keys), HUB_ENOTFOUND);
    hub_jwks_destroy(keys);
}

static void test_length(void **state)
{
    (void)state;
    char payload[HUB_LIMIT_JWS_BYTES];
    memset(payload, 'x', sizeof payload);
    hub_jwks *keys = own_keys(ED25519_KEY, "");
    /* 86 bytes of signature, 20 of the header, and two dots. */
    size_t room = (HUB_LIMIT_JWS_BYTES - 86 - 20 - 2) / 4 * 3;
    payload[room] = '\0';
    char *token = sign("EdDSA", ED25519_KEY, "{\"alg\":\"EdDSA\"}", payload);
    assert_true(strlen(token) <= HUB_LIMIT_JWS_BYTES && strlen(token) + 4 > HUB_LIMIT_JWS_BYTES);
    assert_int_equal(verify(token, keys), HUB_OK);
    free(token);
    payload[room] = 'x';
    payload[room + 3] = '\0';
    token = sign("EdDSA", ED25519_KEY, "{\"alg\":\"EdDSA\"}", payload);
    assert_int_equal(verify(token, keys), HUB_ELIMIT);
    free(token);
    hub_jwks_destroy(keys);
}

/* ---- sets of keys ---- */

static void expect_set(const char *text, hub_err err, const char *why_has)
{
    hub_jwks *keys = NULL;
    hub_error why = {.text = ""};
    assert_int_equal(hub_jwks_parse(hub_str_of(text), &keys, &why), err);
    if (why_has != NULL && strstr(why.text, why_has) == NULL) {
        fail_msg("\"%s\" says nothing of \"%s\"", why.text, why_has);
    }
    hub_jwks_destroy(keys);
}

static void test_bad_sets(void **state)
{
    (void)state;
    expect_set("", HUB_EPARSE, "not JSON");
    expect_set("[]", HUB_EPARSE, "no array");
    expect_set("{\"keys\":{}}", HUB_EPARSE, "no array");
    expect_set("{\"keys\":[],\"keys\":[" EC_KEY "]}", HUB_EPARSE, "not JSON");
    expect_set("{\"keys\":[]}", HUB_ENOTFOUND, "empty");
    expect_set("{\"keys\":[5]}", HUB_ENOTFOUND, "kty");
    expect_set("{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}", HUB_ENOTFOUND, "kty");
    expect_set("{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}", HUB_ENOTFOUND,
               "2,048");
    expect_set("{\"keys\":[{\"kty\":\"RSA\",\"e\":\"AQAB\"}]}", HUB_ENOTFOUND, "n or e");
    expect_set("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}",
               HUB_ENOTFOUND, "length");
    expect_set("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
               "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
               "\"y\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\"}]}",
               HUB_ENOTFOUND, "not on its curve");
    expect_set("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"secp256k1\"}]}", HUB_ENOTFOUND, "P-256");
    expect_set("{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"AA\"}]}", HUB_ENOTFOUND,
               "Ed25519");
    expect_set("{\"keys\":[{\"alg\":\"HS256\"}]}", HUB_ENOTFOUND, "alg");
    expect_set("{\"keys\":[{\"alg\":\"RS256\"," ED_KEY "}]}", HUB_EPARSE, NULL);
    expect_set("{\"keys\":[{\"use\":\"enc\",\"kty\":\"RSA\"}]}", HUB_ENOTFOUND, "use");
    expect_set("{\"keys\":[{\"key_ops\":[\"sign\"],\"kty\":\"RSA\"}]}", HUB_ENOTFOUND, "key_ops");
    expect_set("{\"keys\":[{\"key_ops\":\"verify\",\"kty\":\"RSA\"}]}", HUB_ENOTFOUND, "key_ops");
    expect_set("{\"keys\":[{\"kty\":\"EC\"},null," EC_KEY "]}", HUB_OK, NULL);
}

static void test_weak_rsa(void **state)
{
    (void)state;
    EVP_PKEY *kept = own[RSA_KEY];
    own[RSA_KEY] = EVP_RSA_gen(1024);
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_JWKS_BYTES);
    hub_buf_printf(&text, "{\"keys\":[");
    add_jwk(RSA_KEY, "", &text);
    hub_buf_printf(&text, "]}");
    expect_set(text.ptr, HUB_ENOTFOUND, "2,048");
    hub_buf_fini(&text);
    EVP_PKEY_free(own[RSA_KEY]);
    own[RSA_KEY] = kept;
}

static void test_many_keys(void **state)
{
    (void)state;
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_JWKS_BYTES);
    hub_buf_printf(&text, "{\"keys\":[" ED_KEY);
    for (size_t i = 1; i < HUB_LIMIT_JWKS_KEYS; i++) {
        hub_buf_printf(&text, "," ED_KEY);
    }
    size_t len = text.len;
    hub_buf_printf(&text, "]}");
    expect_set(text.ptr, HUB_OK, NULL);
    text.len = len;
    hub_buf_printf(&text, "," ED_KEY "]}");
    expect_set(text.ptr, HUB_ELIMIT, "64");
    hub_buf_fini(&text);
    char *long_set = malloc(HUB_LIMIT_JWKS_BYTES + 2);
    assert_non_null(long_set);
    memset(long_set, ' ', HUB_LIMIT_JWKS_BYTES + 1);
    long_set[HUB_LIMIT_JWKS_BYTES + 1] = '\0';
    const char set[] = "{\"keys\":[" ED_KEY "]}";
    memcpy(long_set, set, sizeof set - 1);
    expect_set(long_set, HUB_ELIMIT, "bytes");
    long_set[HUB_LIMIT_JWKS_BYTES] = '\0';
    expect_set(long_set, HUB_OK, NULL);
    free(long_set);
}

static void test_sign_with_wrong_key(void **state)
{
    (void)state;
    hub_buf out;
    hub_buf_init(&out, 10000);
    assert_int_equal(hub_jws_sign(HUB_STR("{}"), HUB_STR("{}"),
                                  hub_jws_algorithm_of(HUB_STR("ES256")), own[P384_KEY], &out),
                     HUB_EINVAL);
    assert_int_equal(hub_jws_sign(HUB_STR("{}"), HUB_STR("{}"),
                                  hub_jws_algorithm_of(HUB_STR("RS256")), own[P384_KEY], &out),
                     HUB_EINVAL);
    hub_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64url),       cmocka_unit_test(test_rfc7515_rs256),
        cmocka_unit_test(test_rfc7515_es256),   cmocka_unit_test(test_rfc7515_es512),
        cmocka_unit_test(test_rfc7515_refused), cmocka_unit_test(test_rfc7517_sets),
        cmocka_unit_test(test_rfc8037_ed25519), cmocka_unit_test(test_algorithms),
        cmocka_unit_test(test_key_decides),     cmocka_unit_test(test_names_of_keys),
        cmocka_unit_test(test_headers),         cmocka_unit_test(test_forms),
        cmocka_unit_test(test_zero_signature),  cmocka_unit_test(test_length),
        cmocka_unit_test(test_bad_sets),        cmocka_unit_test(test_weak_rsa),
        cmocka_unit_test(test_many_keys),       cmocka_unit_test(test_sign_with_wrong_key),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
