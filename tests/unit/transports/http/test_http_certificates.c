/* SPDX-License-Identifier: Apache-2.0 */
/* What a listener remembers of clients' certificates, at its bound: each is verified once, one beyond it each time, and nobody is
 * refused for want of room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "http/certificates.h"

#include <ev.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOW_S = 1800000000, ALL = HUB_LIMIT_CERTIFICATES + 2 };

static EVP_PKEY *key;
static X509 *root;
static X509 *shown; /* what the client of the moment shows */

X509 *hub_link_certificate(const hub_link *link, STACK_OF(X509) * *ret_sent)
{
    (void)link;
    *ret_sent = NULL;
    return shown;
}

static X509 *issue(const char *name, long serial, const X509 *by)
{
    X509 *made = X509_new();
    assert_non_null(made);
    X509_NAME *subject = X509_get_subject_name(made);
    assert_true(X509_set_version(made, X509_VERSION_3));
    assert_true(ASN1_INTEGER_set(X509_get_serialNumber(made), serial));
    assert_non_null(ASN1_TIME_set(X509_getm_notBefore(made), NOW_S - 10));
    assert_non_null(ASN1_TIME_set(X509_getm_notAfter(made), NOW_S + 86400));
    assert_true(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                           (const unsigned char *)name, -1, -1, 0));
    assert_true(X509_set_issuer_name(made, by != NULL ? X509_get_subject_name(by) : subject));
    assert_true(X509_set_pubkey(made, key));
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints,
                                                    by == NULL ? "critical,CA:TRUE" : "CA:FALSE");
    assert_non_null(extension);
    assert_true(X509_add_ext(made, extension, -1));
    X509_EXTENSION_free(extension);
    assert_true(X509_sign(made, key, EVP_sha256()) > 0);
    return made;
}

static hub_authority *trust_root(void)
{
    hub_authority *authority = NULL;
    char *text;
    BIO *bio = BIO_new(BIO_s_mem());
    assert_true(PEM_write_bio_X509(bio, root));
    size_t len = (size_t)BIO_get_mem_data(bio, &text);
    const hub_client_certificates settings = {.ca = {.ptr = text, .len = len},
                                              .principal = HUB_CERTIFICATE_CN};
    assert_int_equal(hub_authority_create(&settings, &authority, NULL), HUB_OK);
    BIO_free(bio);
    return authority;
}

static hub_identity *judge(hub_http_certificates *certificates, X509 *certificate)
{
    hub_identity *identity = NULL;
    const char *reason = NULL;
    shown = certificate;
    assert_int_equal(hub_http_certificates_judge(certificates, NULL, NOW_S, &identity, &reason),
                     HUB_HTTP_SHOWN_GOOD);
    return identity;
}

/* Whether it is told from another look by nothing: then it was not verified again. */
static bool is_remembered(hub_http_certificates *certificates, X509 *certificate,
                          const hub_identity *before)
{
    hub_identity *now = judge(certificates, certificate);
    bool is_same = now == before;
    hub_identity_unref(now);
    return is_same;
}

static void on_spoilt(void *ctx)
{
    (void)ctx;
}

static void test_one_more(void **state)
{
    (void)state;
    static X509 *all[ALL];
    static hub_identity *who[ALL];
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    hub_http_certificates *certificates = hub_http_certificates_create(loop, on_spoilt, NULL);
    hub_authority *authority = trust_root();
    hub_http_certificates_trust(certificates, authority);
    for (int i = 0; i < ALL; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "p%d", i);
        all[i] = issue(name, i + 2, root);
        who[i] = judge(certificates, all[i]); /* and goes on to be somebody's */
        assert_int_equal(is_remembered(certificates, all[i], who[i]), i < HUB_LIMIT_CERTIFICATES);
    }
    assert_true(is_remembered(certificates, all[0], who[0]));
    hub_identity_unref(who[7]); /* the only one that nobody goes by: it makes way */
    hub_identity *last = judge(certificates, all[ALL - 1]);
    assert_true(is_remembered(certificates, all[ALL - 1], last));
    who[7] = judge(certificates, all[7]);
    assert_false(is_remembered(certificates, all[7], who[7]));
    hub_identity_unref(last);
    for (int i = 0; i < ALL; i++) {
        hub_identity_unref(who[i]);
        X509_free(all[i]);
    }
    hub_http_certificates_destroy(certificates);
    hub_authority_unref(authority);
    ev_loop_destroy(loop);
}

static int set_up(void **state)
{
    (void)state;
    key = EVP_EC_gen("P-256");
    root = key != NULL ? issue("root", 1, NULL) : NULL;
    return root != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    X509_free(root);
    EVP_PKEY_free(key);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_more)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
