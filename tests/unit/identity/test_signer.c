/* SPDX-License-Identifier: Apache-2.0 */
/* What the hub signs with a key of its own: openssl(1) verifies it, and so does what reads tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "identity/base64url.h"
#include "identity/jws.h"
#include "identity/signer.h"
#include "own_keys.h"
#include "wire/json.h"

#include <fcntl.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *pems[OWN_KEYS];
static char folder[] = "/tmp/patchbay-signer-XXXXXX";

static char *pem_of(EVP_PKEY *key, const char *password)
{
    BIO *out = BIO_new(BIO_s_mem());
    const EVP_CIPHER *cipher = password != NULL ? EVP_aes_256_cbc() : NULL;
    assert_true(PEM_write_bio_PrivateKey(out, key, cipher, (const unsigned char *)password,
                                         password != NULL ? (int)strlen(password) : 0, NULL, NULL));
    char *text;
    long len = BIO_get_mem_data(out, &text);
    char *copy = strndup(text, (size_t)len);
    BIO_free(out);
    assert_non_null(copy);
    return copy;
}

static int set_up(void **state)
{
    (void)state;
    make_own_keys();
    for (size_t i = 0; i < OWN_KEYS; i++) {
        pems[i] = pem_of(own[i], NULL);
    }
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free_own_keys();
    for (size_t i = 0; i < OWN_KEYS; i++) {
        free(pems[i]);
    }
    return rmdir(folder);
}

static hub_signer *make(const char *pem, const char *algorithm, const char *kid)
{
    hub_signer *signer = NULL;
    hub_error why = {.text = ""};
    if (hub_signer_create(hub_str_of(pem), algorithm, kid, &signer, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    return signer;
}

static void write_file(const char *name, hub_str bytes, char ret_path[128])
{
    (void)snprintf(ret_path, 128, "%s/%s", folder, name);
    FILE *file = fopen(ret_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

/* r and s side by side, as DER: openssl(1) knows no other form. */
static void to_der(hub_buf *signature)
{
    int half = (int)signature->len / 2;
    const unsigned char *bytes = (const unsigned char *)signature->ptr;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    assert_true(
        ECDSA_SIG_set0(pair, BN_bin2bn(bytes, half, NULL), BN_bin2bn(bytes + half, half, NULL)));
    unsigned char *der = NULL;
    int len = i2d_ECDSA_SIG(pair, &der);
    assert_true(len > 0);
    hub_buf_clear(signature);
    hub_buf_add(signature, (hub_str){.ptr = (const char *)der, .len = (size_t)len});
    OPENSSL_free(der);
    ECDSA_SIG_free(pair);
}

static bool succeeds(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

/* A child without a voice. */
static pid_t fork_quietly(void)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        (void)dup2(nowhere, 1);
        (void)dup2(nowhere, 2);
    }
    return child;
}

/* What openssl(1) says of a token, by the public key. */
static bool openssl_verifies(const char *token, const char *algorithm, size_t which)
{
    char key[128];
    char text[128];
    char signature[128];
    const char *dot = strrchr(token, '.');
    hub_buf bytes;
    hub_buf_init(&bytes, 4096);
    assert_int_equal(hub_base64url_decode(hub_str_of(dot + 1), &bytes), HUB_OK);
    if (algorithm[0] == 'E' && algorithm[1] == 'S') {
        to_der(&bytes);
    }
    BIO *out = BIO_new(BIO_s_mem());
    char *pem;
    assert_true(PEM_write_bio_PUBKEY(out, own[which]));
    size_t len = (size_t)BIO_get_mem_data(out, &pem);
    write_file("key.pem", (hub_str){.ptr = pem, .len = len}, key);
    BIO_free(out);
    write_file("text", (hub_str){.ptr = token, .len = (size_t)(dot - token)}, text);
    write_file("signature", hub_buf_str(&bytes), signature);
    hub_buf_fini(&bytes);
    char digest[16];
    (void)snprintf(digest, sizeof digest, "-sha%s", algorithm + 2);
    pid_t child = fork_quietly();
    if (child == 0 && which == ED25519_KEY) {
        (void)execlp("openssl", "openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", key,
                     "-in", text, "-sigfile", signature, (char *)NULL);
    } else if (child == 0 && algorithm[0] == 'P') {
        (void)execlp("openssl", "openssl", "dgst", digest, "-sigopt", "rsa_padding_mode:pss",
                     "-sigopt", "rsa_pss_saltlen:digest", "-verify", key, "-signature", signature,
                     text, (char *)NULL);
    } else if (child == 0) {
        (void)execlp("openssl", "openssl", "dgst", digest, "-verify", key, "-signature", signature,
                     text, (char *)NULL);
    }
    if (child == 0) {
        _exit(127);
    }
    bool is_good = succeeds(child);
    assert_int_equal(unlink(key) + unlink(text) + unlink(signature), 0);
    return is_good;
}

static const struct {
    const char *wanted; /* NULL: what the key says */
    const char *name;
    size_t key;
} CASES[] = {
    {NULL, "RS256", RSA_KEY},    {"PS256", "PS256", RSA_KEY},  {"RS512", "RS512", RSA_KEY},
    {"PS384", "PS384", RSA_KEY}, {NULL, "ES256", P256_KEY},    {NULL, "ES384", P384_KEY},
    {NULL, "ES512", P521_KEY},   {NULL, "EdDSA", ED25519_KEY}, {"ES256", "ES256", P256_KEY},
};

static void test_openssl_verifies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_signer *signer = make(pems[CASES[i].key], CASES[i].wanted, "the \"key\"");
        assert_string_equal(hub_signer_algorithm(signer), CASES[i].name);
        hub_buf token;
        hub_buf_init(&token, HUB_LIMIT_JWS_BYTES);
        assert_int_equal(hub_signer_sign(signer, HUB_STR("{\"iss\":\"hub\"}"), &token), HUB_OK);
        char *text = hub_buf_take(&token);
        assert_non_null(text);
        assert_true(openssl_verifies(text, CASES[i].name, CASES[i].key));
        text[strcspn(text, ".") + 3] ^= 1;
        assert_false(openssl_verifies(text, CASES[i].name, CASES[i].key));
        free(text);
        hub_signer_destroy(signer);
    }
}

/* Read back by what reads the tokens of others. */
static void test_header(void **state)
{
    (void)state;
    static const char *const KIDS[] = {"a", "the \"key\" \xc3\xa9", NULL};
    for (size_t i = 0; i < 3; i++) {
        hub_signer *signer = make(pems[ED25519_KEY], NULL, KIDS[i]);
        hub_buf token;
        hub_buf_init(&token, HUB_LIMIT_JWS_BYTES);
        assert_int_equal(hub_signer_sign(signer, HUB_STR("{\"a\": 1}"), &token), HUB_OK);
        hub_jws jws;
        hub_jwk key = {.key = own[ED25519_KEY], .kind = HUB_JWS_ED25519};
        assert_int_equal(hub_jws_read(hub_buf_str(&token), &jws, NULL), HUB_OK);
        assert_true(hub_str_is(hub_buf_str(&jws.kid), KIDS[i] != NULL ? KIDS[i] : ""));
        assert_true(hub_str_is(hub_buf_str(&jws.payload), "{\"a\": 1}"));
        assert_true(hub_str_is(hub_buf_str(&jws.type), "JWT"));
        assert_true(hub_jws_is_signed_by(&jws, &key));
        hub_jws_fini(&jws);
        hub_buf_fini(&token);
        hub_signer_destroy(signer);
    }
}

/* The claims of RFC 7523 section 3; each assertion is another. */
static void test_assertion(void **state)
{
    (void)state;
    hub_signer *signer = make(pems[P256_KEY], NULL, NULL);
    char *ids[2];
    for (size_t i = 0; i < 2; i++) {
        hub_buf token;
        hub_buf_init(&token, HUB_LIMIT_JWS_BYTES);
        assert_int_equal(hub_signer_assert(signer, HUB_STR("the \"client\""),
                                           HUB_STR("https://id.example.com/token"), 1000, &token),
                         HUB_OK);
        hub_jws jws;
        assert_int_equal(hub_jws_read(hub_buf_str(&token), &jws, NULL), HUB_OK);
        hub_str claims = hub_buf_str(&jws.payload);
        assert_int_equal(hub_json_check(claims, &claims, NULL), HUB_OK);
        assert_true(
            hub_json_string_is(hub_json_get(claims, HUB_STR("iss")), HUB_STR("the \"client\"")));
        assert_true(
            hub_json_string_is(hub_json_get(claims, HUB_STR("sub")), HUB_STR("the \"client\"")));
        assert_true(hub_json_string_is(hub_json_get(claims, HUB_STR("aud")),
                                       HUB_STR("https://id.example.com/token")));
        assert_true(hub_str_is(hub_json_get(claims, HUB_STR("iat")), "1000"));
        assert_int_equal(hub_json_get(claims, HUB_STR("nbf")).len, 0);
        assert_true(hub_str_is(hub_json_get(claims, HUB_STR("exp")), "1180"));
        ids[i] = hub_str_dup(hub_json_get(claims, HUB_STR("jti")));
        assert_true(ids[i] != NULL && strlen(ids[i]) == 24);
        hub_jws_fini(&jws);
        hub_buf_fini(&token);
    }
    assert_string_not_equal(ids[0], ids[1]);
    free(ids[0]);
    free(ids[1]);
    hub_signer_destroy(signer);
}

static void expect(const char *pem, const char *algorithm, const char *kid, hub_err err,
                   const char *why_has)
{
    hub_signer *signer = NULL;
    hub_error why = {.text = ""};
    assert_int_equal(hub_signer_create(hub_str_of(pem), algorithm, kid, &signer, &why), err);
    if (err != HUB_OK && strstr(why.text, why_has) == NULL) {
        fail_msg("\"%s\" says nothing of \"%s\"", why.text, why_has);
    }
    hub_signer_destroy(signer);
}

static void expect_key(EVP_PKEY *key, hub_err err, const char *why_has)
{
    char *pem = pem_of(key, NULL);
    expect(pem, NULL, NULL, err, why_has);
    free(pem);
    EVP_PKEY_free(key);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    expect("", NULL, NULL, HUB_EPARSE, "not PEM");
    expect("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", NULL, NULL, HUB_EPARSE,
           "damaged");
    char *locked = pem_of(own[P256_KEY], "a password");
    expect(locked, NULL, NULL, HUB_EPARSE, "encrypted");
    free(locked);
    expect_key(EVP_RSA_gen(1024), HUB_EINVAL, "2,048");
    expect_key(EVP_EC_gen("secp256k1"), HUB_EINVAL, "P-256");
    expect_key(EVP_PKEY_Q_keygen(NULL, NULL, "ED448"), HUB_EINVAL, "Ed25519");
    expect(pems[RSA_KEY], "ES256", NULL, HUB_EINVAL, "not for ES256 but for RS256");
    expect(pems[P256_KEY], "ES384", NULL, HUB_EINVAL, "not for ES384 but for ES256");
    expect(pems[P256_KEY], "RS256", NULL, HUB_EINVAL, "not for RS256");
    expect(pems[P256_KEY], "HS256", NULL, HUB_EINVAL, "must be one of");
    expect(pems[P256_KEY], "none", NULL, HUB_EINVAL, "must be one of");
    expect(pems[P256_KEY], NULL, "\xff", HUB_EINVAL, "UTF-8");
}

static void test_bounds(void **state)
{
    (void)state;
    char kid[HUB_LIMIT_JWS_KID_BYTES + 2];
    memset(kid, '\x01', sizeof kid); /* each is six bytes of JSON */
    kid[HUB_LIMIT_JWS_KID_BYTES] = '\0';
    expect(pems[P256_KEY], NULL, kid, HUB_OK, "");
    kid[HUB_LIMIT_JWS_KID_BYTES] = 'x';
    kid[HUB_LIMIT_JWS_KID_BYTES + 1] = '\0';
    expect(pems[P256_KEY], NULL, kid, HUB_ELIMIT, "kid");

    char pem[HUB_LIMIT_SIGNING_KEY_BYTES + 2];
    size_t len = strlen(pems[P256_KEY]);
    memset(pem, '\n', sizeof pem);
    memcpy(pem, pems[P256_KEY], len);
    pem[HUB_LIMIT_SIGNING_KEY_BYTES] = '\0';
    expect(pem, NULL, NULL, HUB_OK, "");
    pem[HUB_LIMIT_SIGNING_KEY_BYTES] = '\n';
    pem[HUB_LIMIT_SIGNING_KEY_BYTES + 1] = '\0';
    expect(pem, NULL, NULL, HUB_ELIMIT, "more than 16384 bytes");

    /* A token that nobody takes is none; what was there stays. */
    char *claims = malloc(HUB_LIMIT_JWS_BYTES);
    assert_non_null(claims);
    memset(claims, ' ', HUB_LIMIT_JWS_BYTES);
    hub_signer *signer = make(pems[P256_KEY], NULL, NULL);
    hub_buf out;
    hub_buf_init(&out, 2 * HUB_LIMIT_JWS_BYTES);
    hub_buf_add(&out, HUB_STR("before"));
    hub_str text = {.ptr = claims, .len = HUB_LIMIT_JWS_BYTES};
    assert_int_equal(hub_signer_sign(signer, text, &out), HUB_ELIMIT);
    assert_true(hub_str_is(hub_buf_str(&out), "before"));
    assert_int_equal(hub_signer_assert(signer, text, HUB_STR("x"), 0, &out), HUB_ELIMIT);
    assert_true(hub_str_is(hub_buf_str(&out), "before"));
    hub_buf_fini(&out);
    hub_signer_destroy(signer);
    free(claims);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openssl_verifies), cmocka_unit_test(test_header),
        cmocka_unit_test(test_assertion),        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
