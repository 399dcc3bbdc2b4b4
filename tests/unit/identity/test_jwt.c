/* SPDX-License-Identifier: Apache-2.0 */
/* Access tokens: whose they are, for whom, for how long, and with which rights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "identity/base64url.h"
#include "identity/jwt.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOW = 1000000 };

#define ISSUER "https://id.example/realms/x"
#define HUB    "https://hub.example/mcp"

static EVP_PKEY *key;
static hub_jwks *keys;

static const char *const AUDIENCES[] = {HUB, "second"};
static hub_jwt_issuer issuer;

static int set_up_once(void **state)
{
    (void)state;
    key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    unsigned char raw[32];
    size_t len = sizeof raw;
    assert_true(EVP_PKEY_get_raw_public_key(key, raw, &len));
    hub_buf text;
    hub_buf_init(&text, 1000);
    hub_buf_printf(&text, "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"k\",\"x\":\"");
    hub_base64url_add(&text, (hub_str){.ptr = (const char *)raw, .len = len});
    hub_buf_printf(&text, "\"}]}");
    assert_int_equal(hub_jwks_parse(hub_buf_str(&text), &keys, NULL), HUB_OK);
    hub_buf_fini(&text);
    return 0;
}

static int tear_down_once(void **state)
{
    (void)state;
    hub_jwks_destroy(keys);
    EVP_PKEY_free(key);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    issuer = (hub_jwt_issuer){.issuer = ISSUER,
                              .audiences = {.items = AUDIENCES, .count = 2, .set = true}};
    return 0;
}

static hub_err judge(const char *header, const char *claims, hub_identity **ret_identity,
                     hub_error *why)
{
    hub_buf token;
    hub_buf_init(&token, 100000);
    assert_int_equal(hub_jws_sign(hub_str_of(header), hub_str_of(claims),
                                  hub_jws_algorithm_of(HUB_STR("EdDSA")), key, &token),
                     HUB_OK);
    hub_jwt jwt;
    hub_err err = hub_jwt_read(hub_buf_str(&token), &jwt, why);
    if (err == HUB_OK) {
        size_t tries = 0;
        err = hub_jwt_verify(&jwt, &issuer, keys, NOW, &tries, ret_identity, why);
    }
    hub_jwt_fini(&jwt);
    hub_buf_fini(&token);
    return err;
}

#define HEADER       "{\"alg\":\"EdDSA\",\"kid\":\"k\"}"
#define AUD          "\"aud\":\"" HUB "\","
#define ISS          "\"iss\":\"" ISSUER "\","
#define SUB          "\"sub\":\"ann\","
#define EXP          "\"exp\":1000001"
#define CLAIMS(more) "{" ISS AUD SUB more EXP "}"

static void expect_refused(const char *header, const char *claims, hub_err err, const char *has)
{
    hub_identity *identity = NULL;
    hub_error why = {.text = ""};
    assert_int_equal(judge(header, claims, &identity, &why), err);
    if (strstr(why.text, has) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", why.text, has);
    }
}

static hub_identity *expect_good(const char *header, const char *claims)
{
    hub_identity *identity = NULL;
    hub_error why = {.text = ""};
    if (judge(header, claims, &identity, &why) != HUB_OK) {
        fail_msg("%s: %s", claims, why.text);
    }
    return identity;
}

static void test_good(void **state)
{
    (void)state;
    hub_identity *identity = expect_good(HEADER, CLAIMS("\"scope\":\"a b\",\"groups\":[\"g\"],"));
    assert_string_equal(identity->name, "jwt:" ISSUER "#ann");
    assert_int_equal(identity->scopes.count, 2);
    assert_string_equal(identity->scopes.items[1], "b");
    assert_int_equal(identity->groups.count, 1);
    assert_true(identity->expires == 1000001 + HUB_JWT_LEEWAY_S);
    assert_true(hub_str_find(identity->claims, HUB_STR("\"sub\":\"ann\"")) != SIZE_MAX);
    hub_identity_unref(identity);
}

static void test_types(void **state)
{
    (void)state;
    static const char *const GOOD[] = {"at+jwt", "AT+JWT", "application/at+jwt", "JWT", "jwt"};
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        char header[100];
        snprintf(header, sizeof header, "{\"alg\":\"EdDSA\",\"typ\":\"%s\"}", GOOD[i]);
        hub_identity_unref(expect_good(header, CLAIMS("")));
    }
    expect_refused("{\"alg\":\"EdDSA\",\"typ\":\"logout+jwt\"}", CLAIMS(""), HUB_EDENIED, "typ");
    expect_refused("{\"alg\":\"EdDSA\",\"typ\":\"dpop+jwt\"}", CLAIMS(""), HUB_EDENIED, "typ");
}

static void test_times(void **state)
{
    (void)state;
    /* An edge, and one beyond it. */
    hub_identity_unref(expect_good(HEADER, "{" ISS AUD SUB "\"exp\":999941}"));
    expect_refused(HEADER, "{" ISS AUD SUB "\"exp\":999940}", HUB_EDENIED, "expired");
    hub_identity_unref(expect_good(HEADER, CLAIMS("\"nbf\":1000060,")));
    expect_refused(HEADER, CLAIMS("\"nbf\":1000061,"), HUB_EDENIED, "not valid yet");
    hub_identity_unref(expect_good(HEADER, "{" ISS AUD SUB "\"exp\":1000000.5}"));
    hub_identity_unref(expect_good(HEADER, "{" ISS AUD SUB "\"exp\":1e300}"));
    expect_refused(HEADER, "{" ISS AUD "\"sub\":\"ann\"}", HUB_EDENIED, "expires");
    expect_refused(HEADER, "{" ISS AUD SUB "\"exp\":\"1000001\"}", HUB_EDENIED, "expires");
    expect_refused(HEADER, "{" ISS AUD SUB "\"exp\":null}", HUB_EDENIED, "expires");
    expect_refused(HEADER, "{" ISS AUD SUB "\"exp\":-1}", HUB_EDENIED, "expired");
    expect_refused(HEADER, CLAIMS("\"nbf\":\"0\","), HUB_EDENIED, "not valid yet");
    expect_refused(HEADER, "{" ISS AUD SUB "\"exp\":1,\"exp\":2000000}", HUB_EPARSE, "twice");
}

static void test_audiences(void **state)
{
    (void)state;
    hub_identity_unref(
        expect_good(HEADER, "{" ISS SUB "\"aud\":[5,\"other\",\"second\"]," EXP "}"));
    static const char *const BAD[] = {
        "",
        "\"aud\":\"" HUB "/\",",
        "\"aud\":\"https://HUB.example/mcp\",",
        "\"aud\":[],",
        "\"aud\":[\"other\"],",
        "\"aud\":{\"" HUB "\":true},",
        "\"aud\":null,",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        char claims[300];
        snprintf(claims, sizeof claims, "{" ISS SUB "%s" EXP "}", BAD[i]);
        expect_refused(HEADER, claims, HUB_EDENIED, "audience");
    }
}

static void test_issuers(void **state)
{
    (void)state;
    expect_refused(HEADER, "{\"iss\":\"" ISSUER "/\"," AUD SUB EXP "}", HUB_EDENIED,
                   "another issuer");
    expect_refused(HEADER, "{" AUD SUB EXP "}", HUB_EPARSE, "issued");
    expect_refused(HEADER, "{\"iss\":[\"" ISSUER "\"]," AUD SUB EXP "}", HUB_EPARSE, "issued");
    expect_refused(HEADER, "[]", HUB_EPARSE, "issued");
    expect_refused(HEADER, "nothing", HUB_EPARSE, "not JSON");
}

static void test_subjects(void **state)
{
    (void)state;
    expect_refused(HEADER, "{" ISS AUD EXP "}", HUB_EDENIED, "whose");
    expect_refused(HEADER, "{" ISS AUD "\"sub\":\"\"," EXP "}", HUB_EDENIED, "whose");
    expect_refused(HEADER, "{" ISS AUD "\"sub\":7," EXP "}", HUB_EDENIED, "whose");
    expect_refused(HEADER, "{" ISS AUD "\"sub\":\"a\\nb\"," EXP "}", HUB_EDENIED, "whose");
    char claims[3000];
    size_t room = HUB_LIMIT_PRINCIPAL_BYTES - strlen("jwt:" ISSUER "#");
    snprintf(claims, sizeof claims, "{" ISS AUD "\"sub\":\"%0*d\"," EXP "}", (int)room, 0);
    hub_identity *identity = expect_good(HEADER, claims);
    assert_int_equal(strlen(identity->name), HUB_LIMIT_PRINCIPAL_BYTES);
    hub_identity_unref(identity);
    snprintf(claims, sizeof claims, "{" ISS AUD "\"sub\":\"%0*d\"," EXP "}", (int)room + 1, 0);
    expect_refused(HEADER, claims, HUB_EDENIED, "whose");
}

static void expect_scopes(const char *more, const char *expected)
{
    char claims[2000];
    snprintf(claims, sizeof claims, "{" ISS AUD SUB "%s" EXP "}", more);
    hub_identity *identity = expect_good(HEADER, claims);
    char text[1000] = "";
    for (size_t i = 0; i < identity->scopes.count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
                 identity->scopes.items[i]);
    }
    assert_string_equal(text, expected);
    hub_identity_unref(identity);
}

static void test_scopes(void **state)
{
    (void)state;
    expect_scopes("", "");
    expect_scopes("\"scope\":\" a  b:c \",", "a b:c");
    expect_scopes("\"scp\":[\"a\",\"b\",5,\"c d\"],", "a b");
    expect_scopes("\"scope\":\"\",\"scp\":[\"a\"],", ""); /* it has scopes: none */
    expect_scopes("\"scope\":\"a \\\"b\\\" c\",", "a c");
    expect_scopes("\"scope\":{\"a\":true},", "");
    issuer.scopes_at = "/realm_access/roles";
    expect_scopes("\"scope\":\"no\",\"realm_access\":{\"roles\":[\"x\",\"y\"]},", "x y");
    expect_scopes("\"realm_access\":[\"roles\"],", "");
    issuer.scopes_at = "/https:~1~1example~1roles/1/~0";
    expect_scopes("\"https://example/roles\":[{},{\"~\":\"x\"}],", "x");
    expect_scopes("\"https://example/roles\":[{}],", "");
}

static void test_many_scopes(void **state)
{
    (void)state;
    hub_buf claims;
    hub_buf_init(&claims, 10000);
    hub_buf_printf(&claims, "{" ISS AUD SUB EXP ",\"scope\":\"");
    for (size_t i = 0; i <= HUB_LIMIT_JWT_NAMES; i++) {
        hub_buf_printf(&claims, "s%zu ", i);
    }
    hub_buf_printf(&claims, "\"}");
    hub_identity *identity = expect_good(HEADER, claims.ptr);
    assert_int_equal(identity->scopes.count, HUB_LIMIT_JWT_NAMES);
    hub_identity_unref(identity);
    hub_buf_fini(&claims);
}

static void test_keys(void **state)
{
    (void)state;
    expect_refused("{\"alg\":\"EdDSA\",\"kid\":\"newer\"}", CLAIMS(""), HUB_ENOTFOUND, "no key");
    hub_identity_unref(expect_good("{\"alg\":\"EdDSA\"}", CLAIMS("")));
    EVP_PKEY *kept = key;
    key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    expect_refused(HEADER, CLAIMS(""), HUB_EDENIED, "signature");
    EVP_PKEY_free(key);
    key = kept;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_good, set_up),
        cmocka_unit_test_setup(test_types, set_up),
        cmocka_unit_test_setup(test_times, set_up),
        cmocka_unit_test_setup(test_audiences, set_up),
        cmocka_unit_test_setup(test_issuers, set_up),
        cmocka_unit_test_setup(test_subjects, set_up),
        cmocka_unit_test_setup(test_scopes, set_up),
        cmocka_unit_test_setup(test_many_scopes, set_up),
        cmocka_unit_test_setup(test_keys, set_up),
    };
    return cmocka_run_group_tests(tests, set_up_once, tear_down_once);
}
