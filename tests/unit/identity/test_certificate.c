/* SPDX-License-Identifier: Apache-2.0 */
/* Who a certificate makes its owner, and the bounds of what is read. What openssl(1) makes is in the black-box tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "identity/certificate.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NOW_S = 1800000000 };

static EVP_PKEY *key;

static int set_up(void **state)
{
    (void)state;
    key = EVP_EC_gen("P-256");
    return key != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    EVP_PKEY_free(key);
    return 0;
}

/* Of itself, for a day; NULL: no such name. */
static X509 *make(const char *const *common_names, const char *alternative)
{
    X509 *made = X509_new();
    assert_non_null(made);
    X509_NAME *subject = X509_get_subject_name(made);
    assert_true(X509_set_version(made, X509_VERSION_3));
    assert_true(ASN1_INTEGER_set(X509_get_serialNumber(made), 1));
    assert_non_null(ASN1_TIME_set(X509_getm_notBefore(made), NOW_S - 10));
    assert_non_null(ASN1_TIME_set(X509_getm_notAfter(made), NOW_S + 86400));
    for (size_t i = 0; common_names != NULL && common_names[i] != NULL; i++) {
        assert_true(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                               (const unsigned char *)common_names[i], -1, -1, 0));
    }
    assert_true(X509_set_issuer_name(made, subject));
    assert_true(X509_set_pubkey(made, key));
    if (alternative != NULL) {
        X509_EXTENSION *extension =
            X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, alternative);
        assert_non_null(extension);
        assert_true(X509_add_ext(made, extension, -1));
        X509_EXTENSION_free(extension);
    }
    assert_true(X509_sign(made, key, EVP_sha256()) > 0);
    return made;
}

static void add_pem(X509 *certificate, hub_buf *out)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    assert_true(PEM_write_bio_X509(bio, certificate));
    size_t len = (size_t)BIO_get_mem_data(bio, &text);
    hub_buf_add(out, (hub_str){.ptr = text, .len = len});
    BIO_free(bio);
}

static hub_authority *trust(X509 *certificate, hub_certificate_name principal)
{
    hub_authority *authority = NULL;
    hub_buf pem;
    hub_buf_init(&pem, HUB_LIMIT_AUTHORITY_BYTES);
    add_pem(certificate, &pem);
    const hub_client_certificates settings = {.ca = hub_buf_str(&pem), .principal = principal};
    assert_int_equal(hub_authority_create(&settings, &authority, NULL), HUB_OK);
    hub_buf_fini(&pem);
    return authority;
}

/* The principal of a certificate that is used up; `why_has` instead when it makes none. */
static void expect(X509 *certificate, hub_certificate_name principal, int64_t now, const char *name,
                   const char *why_has)
{
    hub_authority *authority = trust(certificate, principal);
    hub_identity *identity = NULL;
    hub_error why = {.text = ""};
    hub_err err = hub_authority_judge(authority, certificate, NULL, now, &identity, &why);
    if (name != NULL) {
        assert_int_equal(err, HUB_OK);
        assert_string_equal(identity->name, name);
        assert_int_equal(identity->expires, NOW_S + 86400);
        assert_true(hub_identity_is_of_certificate(identity));
        assert_false(hub_identity_is_of_token(identity));
        hub_identity_unref(identity);
    } else {
        assert_int_equal(err, HUB_EDENIED);
        assert_non_null(strstr(why.text, why_has));
    }
    hub_authority_unref(authority);
    X509_free(certificate);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const ONE[] = {"ann", NULL};
    static const char *const TWO[] = {"ann", "bob", NULL};
    static const char *const ACCENT[] = {"\xc3\xa9l\xc3\xa9onore", NULL};
    static const char *const CONTROL[] = {"a\nb", NULL};
    expect(make(ONE, NULL), HUB_CERTIFICATE_CN, NOW_S, "cert:ann", NULL);
    expect(make(ACCENT, NULL), HUB_CERTIFICATE_CN, NOW_S, "cert:\xc3\xa9l\xc3\xa9onore", NULL);
    expect(make(TWO, NULL), HUB_CERTIFICATE_CN, NOW_S, NULL, "more than one common name");
    expect(make(NULL, "URI:a:b"), HUB_CERTIFICATE_CN, NOW_S, NULL, "no common name");
    expect(make(CONTROL, NULL), HUB_CERTIFICATE_CN, NOW_S, NULL, "not plain text");
    expect(make(ONE, "DNS:a,email:b@c,URI:d:e"), HUB_CERTIFICATE_SAN, NOW_S, "cert:d:e", NULL);
    expect(make(ONE, "DNS:a,email:b@c"), HUB_CERTIFICATE_SAN, NOW_S, "cert:b@c", NULL);
    expect(make(ONE, "DNS:a,IP:127.0.0.1"), HUB_CERTIFICATE_SAN, NOW_S, "cert:a", NULL);
    expect(make(ONE, "URI:a:b,URI:a:c"), HUB_CERTIFICATE_SAN, NOW_S, NULL, "more than one");
    expect(make(ONE, "IP:127.0.0.1"), HUB_CERTIFICATE_SAN, NOW_S, NULL, "no URI");
    expect(make(ONE, NULL), HUB_CERTIFICATE_SAN, NOW_S, NULL, "no URI");
}

static void test_length_of_names(void **state)
{
    (void)state;
    char text[HUB_LIMIT_CERTIFICATE_NAME_BYTES + 8] = "URI:u:";
    char name[HUB_LIMIT_CERTIFICATE_NAME_BYTES + 8] = "cert:u:";
    static const char *const ONE[] = {"ann", NULL};
    memset(text + 6, 'x', HUB_LIMIT_CERTIFICATE_NAME_BYTES - 2);
    text[4 + HUB_LIMIT_CERTIFICATE_NAME_BYTES] = '\0';
    memset(name + 7, 'x', HUB_LIMIT_CERTIFICATE_NAME_BYTES - 2);
    name[5 + HUB_LIMIT_CERTIFICATE_NAME_BYTES] = '\0';
    expect(make(ONE, text), HUB_CERTIFICATE_SAN, NOW_S, name, NULL);
    text[4 + HUB_LIMIT_CERTIFICATE_NAME_BYTES] = 'x';
    text[5 + HUB_LIMIT_CERTIFICATE_NAME_BYTES] = '\0';
    expect(make(ONE, text), HUB_CERTIFICATE_SAN, NOW_S, NULL, "too long");
}

static void test_time(void **state)
{
    (void)state;
    static const char *const ONE[] = {"ann", NULL};
    expect(make(ONE, NULL), HUB_CERTIFICATE_CN, NOW_S + 86399, "cert:ann", NULL);
    expect(make(ONE, NULL), HUB_CERTIFICATE_CN, NOW_S + 86402, NULL, "expired");
    expect(make(ONE, NULL), HUB_CERTIFICATE_CN, NOW_S - 11, NULL, "not yet valid");
}

static hub_err create(hub_str ca, hub_str crl, hub_error *reterr)
{
    hub_authority *authority = NULL;
    const hub_client_certificates settings = {.ca = ca, .crl = crl};
    hub_err err = hub_authority_create(&settings, &authority, reterr);
    hub_authority_unref(authority);
    return err;
}

static void test_bounds(void **state)
{
    (void)state;
    hub_buf pem;
    hub_error why = {.text = ""};
    hub_buf_init(&pem, HUB_LIMIT_AUTHORITY_BYTES);
    for (int i = 0; i < HUB_LIMIT_AUTHORITIES; i++) {
        char name[20];
        const char *names[] = {name, NULL};
        (void)snprintf(name, sizeof name, "ca %d", i);
        X509 *one = make(names, NULL);
        add_pem(one, &pem);
        X509_free(one);
    }
    assert_int_equal(create(hub_buf_str(&pem), HUB_STR_EMPTY, &why), HUB_OK);
    assert_int_equal(create(hub_buf_str(&pem), HUB_STR("x"), &why), HUB_EINVAL);
    assert_non_null(strstr(why.text, "crl: has no revocation list"));
    static const char *const MORE[] = {"one more", NULL};
    X509 *one = make(MORE, NULL);
    add_pem(one, &pem);
    X509_free(one);
    assert_int_equal(create(hub_buf_str(&pem), HUB_STR_EMPTY, &why), HUB_ELIMIT);
    hub_buf_clear(&pem);
    hub_buf_add(&pem, HUB_STR("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
    assert_int_equal(create(hub_buf_str(&pem), HUB_STR_EMPTY, &why), HUB_EINVAL);
    assert_non_null(strstr(why.text, "ca: block 1 is not a certificate"));
    hub_buf_fini(&pem);
}

/* A revocation list of an authority, which has taken nothing back. */
static void add_list(const X509 *of, int number, hub_buf *out)
{
    X509_CRL *list = X509_CRL_new();
    ASN1_INTEGER *serial = ASN1_INTEGER_new();
    ASN1_TIME *from = ASN1_TIME_set(NULL, NOW_S - 10);
    ASN1_TIME *until = ASN1_TIME_set(NULL, NOW_S + 86400);
    assert_true(list != NULL && serial != NULL && from != NULL && until != NULL);
    assert_true(X509_CRL_set_version(list, X509_CRL_VERSION_2));
    assert_true(X509_CRL_set_issuer_name(list, X509_get_subject_name(of)));
    assert_true(X509_CRL_set1_lastUpdate(list, from) && X509_CRL_set1_nextUpdate(list, until));
    assert_true(ASN1_INTEGER_set(serial, number));
    assert_true(X509_CRL_add1_ext_i2d(list, NID_crl_number, serial, 0, 0));
    assert_true(X509_CRL_sort(list) && X509_CRL_sign(list, key, EVP_sha256()) > 0);
    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    assert_true(PEM_write_bio_X509_CRL(bio, list));
    size_t len = (size_t)BIO_get_mem_data(bio, &text);
    hub_buf_add(out, (hub_str){.ptr = text, .len = len});
    BIO_free(bio);
    ASN1_TIME_free(until);
    ASN1_TIME_free(from);
    ASN1_INTEGER_free(serial);
    X509_CRL_free(list);
}

static void test_many_lists(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"ca", NULL};
    hub_buf ca;
    hub_buf lists;
    hub_error why = {.text = ""};
    hub_buf_init(&ca, HUB_LIMIT_AUTHORITY_BYTES);
    hub_buf_init(&lists, HUB_LIMIT_AUTHORITY_BYTES);
    X509 *authority = make(NAMES, NULL);
    add_pem(authority, &ca);
    for (int i = 1; i <= HUB_LIMIT_REVOCATION_LISTS; i++) {
        add_list(authority, i, &lists);
    }
    assert_int_equal(create(hub_buf_str(&ca), hub_buf_str(&lists), &why), HUB_OK);
    add_list(authority, HUB_LIMIT_REVOCATION_LISTS + 1, &lists);
    assert_int_equal(create(hub_buf_str(&ca), hub_buf_str(&lists), &why), HUB_ELIMIT);
    assert_string_equal(why.text, "crl: has more than 64 blocks with a revocation list");
    X509_free(authority);
    hub_buf_fini(&lists);
    hub_buf_fini(&ca);
}

/* One that another has issued; all have the same key. */
static X509 *issue(const char *name, const X509 *by, bool is_authority)
{
    const char *names[] = {name, NULL};
    X509 *made = make(names, NULL);
    assert_true(by == NULL || X509_set_issuer_name(made, X509_get_subject_name(by)));
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints,
                                                    is_authority ? "critical,CA:TRUE" : "CA:FALSE");
    assert_non_null(extension);
    assert_true(X509_add_ext(made, extension, -1));
    X509_EXTENSION_free(extension);
    assert_true(X509_sign(made, key, EVP_sha256()) > 0);
    return made;
}

/* So many authorities between the one that is trusted and the client. */
static hub_err judge_chain(int between)
{
    X509 *root = issue("root", NULL, true);
    hub_authority *authority = trust(root, HUB_CERTIFICATE_CN);
    STACK_OF(X509) *sent = sk_X509_new_null();
    X509 *above = root;
    for (int i = 0; i < between; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "between %d", i);
        above = issue(name, above, true);
        assert_true(sk_X509_push(sent, above) > 0);
    }
    X509 *client = issue("ann", above, false);
    hub_identity *identity = NULL;
    hub_error why = {.text = ""};
    hub_err err = hub_authority_judge(authority, client, sent, NOW_S, &identity, &why);
    hub_identity_unref(identity);
    X509_free(client);
    sk_X509_pop_free(sent, X509_free);
    X509_free(root);
    hub_authority_unref(authority);
    return err;
}

static void test_depth(void **state)
{
    (void)state;
    assert_int_equal(judge_chain(0), HUB_OK);
    assert_int_equal(judge_chain(HUB_LIMIT_CERTIFICATE_DEPTH), HUB_OK);
    assert_int_equal(judge_chain(HUB_LIMIT_CERTIFICATE_DEPTH + 1), HUB_EDENIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_length_of_names),
        cmocka_unit_test(test_time),       cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_many_lists), cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
