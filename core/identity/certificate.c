/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/certificate.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/limits.h"
#include "identity/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <time.h>

struct hub_authority {
    unsigned refs;
    X509_STORE *store;
    int64_t fresh_until_s;
    hub_certificate_name principal;
    bool is_required;
    bool has_lists;
    uint8_t ca[HUB_DIGEST_BYTES]; /* of the texts that it was made of */
    uint8_t crl[HUB_DIGEST_BYTES];
};

/* ---- reading --------------------------------------------------------------------------------- */

static int64_t seconds_of(const ASN1_TIME *time)
{
    struct tm parts;
    return time != NULL && ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}

/* Why the next block of a PEM text was not read: it has ended, or is damaged. */
static bool is_at_end(void)
{
    unsigned long code = ERR_peek_last_error();
    bool is_end = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return is_end;
}

static hub_err add_authorities(X509_STORE *store, BIO *text, size_t *ret_count)
{
    X509 *certificate;
    *ret_count = 0;
    while ((certificate = PEM_read_bio_X509(text, NULL, hub_pem_refuse_password, NULL)) != NULL) {
        bool is_added = X509_STORE_add_cert(store, certificate) == 1;
        X509_free(certificate);
        if (!is_added) {
            return HUB_ENOMEM;
        }
        if (++*ret_count > HUB_LIMIT_AUTHORITIES) {
            return HUB_ELIMIT;
        }
    }
    return is_at_end() ? HUB_OK : HUB_EPARSE;
}

static hub_err add_lists(hub_authority *authority, BIO *text, size_t *ret_count)
{
    X509_CRL *list;
    *ret_count = 0;
    while ((list = PEM_read_bio_X509_CRL(text, NULL, hub_pem_refuse_password, NULL)) != NULL) {
        const ASN1_TIME *next = X509_CRL_get0_nextUpdate(list);
        int64_t until = next != NULL ? seconds_of(next) : INT64_MAX;
        bool is_added = X509_STORE_add_crl(authority->store, list) == 1;
        X509_CRL_free(list);
        if (!is_added) {
            return HUB_ENOMEM;
        }
        authority->fresh_until_s =
            until < authority->fresh_until_s ? until : authority->fresh_until_s;
        if (++*ret_count > HUB_LIMIT_REVOCATION_LISTS) {
            return HUB_ELIMIT;
        }
    }
    return is_at_end() ? HUB_OK : HUB_EPARSE;
}

static hub_err explain(hub_err err, size_t count, const char *what, unsigned most,
                       hub_error *reterr)
{
    switch (err) {
    case HUB_OK:
        return count > 0 ? HUB_OK
                         : hub_fail(reterr, HUB_EINVAL, "has no %s: a PEM file is wanted", what);
    case HUB_ELIMIT:
        return hub_fail(reterr, HUB_ELIMIT, "has more than %u blocks with a %s", most, what);
    case HUB_EPARSE:
        return hub_fail(reterr, HUB_EINVAL, "block %zu is not a %s in PEM", count + 1, what);
    default:
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
}

static hub_err read_texts(hub_authority *authority, const hub_client_certificates *settings,
                          hub_error *reterr)
{
    size_t count = 0;
    BIO *text = BIO_new_mem_buf(settings->ca.ptr, (int)settings->ca.len);
    hub_err err = text != NULL ? add_authorities(authority->store, text, &count) : HUB_ENOMEM;
    BIO_free(text);
    err = explain(err, count, "certificate", HUB_LIMIT_AUTHORITIES, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "ca");
        return err;
    }
    if (settings->crl.len == 0) {
        return HUB_OK;
    }
    text = BIO_new_mem_buf(settings->crl.ptr, (int)settings->crl.len);
    err = text != NULL ? add_lists(authority, text, &count) : HUB_ENOMEM;
    BIO_free(text);
    err = explain(err, count, "revocation list", HUB_LIMIT_REVOCATION_LISTS, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "crl");
    }
    return err;
}

hub_err hub_authority_create(const hub_client_certificates *settings, hub_authority **ret_authority,
                             hub_error *reterr)
{
    hub_authority *authority = calloc(1, sizeof *authority);
    if (authority == NULL || (authority->store = X509_STORE_new()) == NULL) {
        free(authority);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    authority->refs = 1;
    authority->fresh_until_s = INT64_MAX;
    authority->principal = settings->principal;
    authority->is_required = settings->required;
    authority->has_lists = settings->crl.len > 0;
    hub_digest_of(settings->ca, authority->ca);
    hub_digest_of(settings->crl, authority->crl);
    ERR_clear_error();
    hub_err err = read_texts(authority, settings, reterr);
    /* Whom the file names is trusted, be it an authority beneath another one, or one client. */
    unsigned long flags = X509_V_FLAG_PARTIAL_CHAIN;
    flags |= authority->has_lists ? X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL : 0;
    (void)X509_STORE_set_flags(authority->store, flags);
    ERR_clear_error(); /* else the next use of libcrypto, by TLS, finds it */
    if (err != HUB_OK) {
        hub_authority_unref(authority);
        return err;
    }
    *ret_authority = authority;
    return HUB_OK;
}

hub_authority *hub_authority_ref(hub_authority *authority)
{
    authority->refs++;
    return authority;
}

void hub_authority_unref(hub_authority *authority)
{
    if (authority != NULL && --authority->refs == 0) {
        X509_STORE_free(authority->store);
        free(authority);
    }
}

bool hub_authority_is_of(const hub_authority *authority, const hub_client_certificates *settings)
{
    uint8_t ca[HUB_DIGEST_BYTES];
    uint8_t crl[HUB_DIGEST_BYTES];
    hub_digest_of(settings->ca, ca);
    hub_digest_of(settings->crl, crl);
    return authority->principal == settings->principal &&
           authority->is_required == settings->required &&
           memcmp(authority->ca, ca, sizeof ca) == 0 &&
           memcmp(authority->crl, crl, sizeof crl) == 0;
}

X509_STORE *hub_authority_store(const hub_authority *authority)
{
    return authority->store;
}

bool hub_authority_is_required(const hub_authority *authority)
{
    return authority->is_required;
}

int64_t hub_authority_fresh_until(const hub_authority *authority)
{
    return authority->fresh_until_s;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *check_name(hub_str name)
{
    if (name.len == 0 || name.len > HUB_LIMIT_CERTIFICATE_NAME_BYTES) {
        return "the name in the certificate is empty, or too long";
    }
    while (name.len > 0) {
        size_t length = hub_str_utf8_length(name);
        if (length == 0 || hub_str_is_control(name, length)) {
            return "the name in the certificate is not plain text";
        }
        name = hub_str_from(name, length);
    }
    return NULL;
}

/* Append the name of a principal, or say why there is none. */
static const char *add_common_name(const X509 *certificate, hub_buf *out)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) {
        return at < 0 ? "the certificate has no common name"
                      : "the certificate has more than one common name";
    }
    unsigned char *text = NULL;
    int len =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    const char *problem = "the common name of the certificate is not text";
    if (len >= 0) {
        hub_str name = {.ptr = (const char *)text, .len = (size_t)len};
        problem = check_name(name);
        hub_buf_add(out, name);
        OPENSSL_free(text);
    }
    return problem;
}

static const char *add_alternative_name(const X509 *certificate, hub_buf *out)
{
    static const int KINDS[] = {GEN_URI, GEN_EMAIL, GEN_DNS};
    const char *problem = "the certificate has no URI, e-mail address or DNS name";
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    const ASN1_IA5STRING *found = NULL;
    for (size_t k = 0; found == NULL && k < sizeof KINDS / sizeof KINDS[0]; k++) {
        for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
            const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
            if (name->type != KINDS[k]) {
                continue;
            }
            if (found != NULL) {
                GENERAL_NAMES_free(names);
                return "the certificate has more than one name of that kind";
            }
            found = name->d.ia5;
        }
    }
    if (found != NULL) {
        hub_str name = {.ptr = (const char *)ASN1_STRING_get0_data(found),
                        .len = (size_t)ASN1_STRING_length(found)};
        problem = check_name(name);
        hub_buf_add(out, name);
    }
    GENERAL_NAMES_free(names);
    return problem;
}

static const char *add_fingerprint(const uint8_t digest[HUB_IDENTITY_DIGEST_BYTES], hub_buf *out)
{
    for (size_t i = 0; i < HUB_IDENTITY_DIGEST_BYTES; i++) {
        hub_buf_printf(out, "%02x", digest[i]);
    }
    return NULL;
}

bool hub_certificate_digest(const X509 *certificate, uint8_t ret_digest[HUB_IDENTITY_DIGEST_BYTES])
{
    unsigned len = 0;
    return X509_digest(certificate, EVP_sha256(), ret_digest, &len) == 1 &&
           len == HUB_IDENTITY_DIGEST_BYTES;
}

static hub_err identify(const hub_authority *authority, const X509 *certificate, int64_t expires,
                        hub_identity **ret_identity, hub_error *reterr)
{
    hub_identity draft = {.expires = expires};
    if (!hub_certificate_digest(certificate, draft.certificate)) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_buf name;
    hub_buf_init(&name, HUB_LIMIT_CERTIFICATE_NAME_BYTES + 16);
    hub_buf_add(&name, HUB_STR("cert:"));
    const char *problem =
        authority->principal == HUB_CERTIFICATE_CN    ? add_common_name(certificate, &name)
        : authority->principal == HUB_CERTIFICATE_SAN ? add_alternative_name(certificate, &name)
                                                      : add_fingerprint(draft.certificate, &name);
    hub_err err = HUB_OK;
    if (problem != NULL) {
        err = hub_fail(reterr, HUB_EDENIED, "%s", problem);
    } else {
        hub_buf_add_char(&name, '\0');
        draft.name = name.ptr;
        *ret_identity = hub_buf_ok(&name) ? hub_identity_make(&draft) : NULL;
        err = *ret_identity != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_buf_fini(&name);
    return err;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* When the first of a chain ends. */
static int64_t end_of(STACK_OF(X509) * chain)
{
    int64_t end = INT64_MAX;
    for (int i = 0; i < sk_X509_num(chain); i++) {
        int64_t own = seconds_of(X509_get0_notAfter(sk_X509_value(chain, i)));
        end = own < end ? own : end;
    }
    return end;
}

hub_err hub_authority_judge(const hub_authority *authority, X509 *certificate,
                            struct stack_st_X509 *sent, int64_t now, hub_identity **ret_identity,
                            hub_error *reterr)
{
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    hub_err err = HUB_ENOMEM;
    if (ctx == NULL || X509_STORE_CTX_init(ctx, authority->store, certificate, sent) != 1 ||
        X509_STORE_CTX_set_default(ctx, "ssl_client") != 1) {
        (void)hub_fail(reterr, err, "out of memory");
    } else {
        X509_STORE_CTX_set_time(ctx, 0, (time_t)now);
        X509_STORE_CTX_set_depth(ctx, HUB_LIMIT_CERTIFICATE_DEPTH);
        int verdict = X509_verify_cert(ctx);
        int code = X509_STORE_CTX_get_error(ctx);
        if (verdict == 1) {
            err = identify(authority, certificate, end_of(X509_STORE_CTX_get0_chain(ctx)),
                           ret_identity, reterr);
        } else if (code == X509_V_ERR_OUT_OF_MEM) {
            (void)hub_fail(reterr, err, "out of memory");
        } else {
            err = hub_fail(reterr, HUB_EDENIED, "%s", X509_verify_cert_error_string(code));
        }
    }
    X509_STORE_CTX_free(ctx);
    ERR_clear_error();
    return err;
}

bool hub_certificate_file_end(const char *path, int64_t *ret_end)
{
    BIO *file = BIO_new_file(path, "r");
    X509 *first =
        file != NULL ? PEM_read_bio_X509(file, NULL, hub_pem_refuse_password, NULL) : NULL;
    bool is_read = first != NULL;
    *ret_end = is_read ? seconds_of(X509_get0_notAfter(first)) : 0;
    X509_free(first);
    BIO_free(file);
    return is_read;
}
