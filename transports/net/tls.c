/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates are tried with OpenSSL first: its reasons name what is wrong, libwebsockets' do not.
 */
#include "net/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLAIN_READS = 16 }; /* of what a peer without TLS has sent: requests are small */

static hub_err fail_tls(hub_error *reterr, const char *what, const char *file, const char *reason)
{
    ERR_clear_error();
    return hub_fail(reterr, HUB_EINVAL, "tls: the %s %s cannot be used: %s", what, file, reason);
}

/* What OpenSSL says of a file: its first complaint is the cause, the others follow from it. */
static hub_err fail_reading(hub_error *reterr, const char *what, const char *file)
{
    unsigned long code = ERR_peek_error();
    const char *reason = ERR_reason_error_string(code);
    if (reason == NULL || ERR_GET_REASON(code) == PEM_R_NO_START_LINE ||
        ERR_GET_REASON(code) == ERR_R_UNSUPPORTED) {
        reason = "it is not a PEM file of that kind";
    }
    return fail_tls(reterr, what, file, reason);
}

/* libwebsockets reads the files again: what can be read once only is of no use. */
static hub_err try_reading(const char *what, const char *file, hub_error *reterr)
{
    struct stat status;
    int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        hub_err err = fail_tls(reterr, what, file, strerror(errno));
        if (fd >= 0) {
            (void)close(fd);
        }
        return err;
    }
    (void)close(fd);
    return S_ISREG(status.st_mode) ? HUB_OK
                                   : fail_tls(reterr, what, file, "it is not a regular file");
}

/* Nobody is asked: there may be no terminal, and a hub restarts by itself. */
static int refuse_passphrase(char *buf, int size, int writing, void *was_asked)
{
    (void)buf;
    (void)size;
    (void)writing;
    *(bool *)was_asked = true;
    return -1;
}

static hub_err try_pair(SSL_CTX *ctx, const hub_tls_settings *tls, hub_error *reterr)
{
    bool was_asked = false;
    SSL_CTX_set_default_passwd_cb(ctx, refuse_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(ctx, &was_asked);
    if (SSL_CTX_use_certificate_chain_file(ctx, tls->certificate) != 1) {
        return fail_reading(reterr, "certificate", tls->certificate);
    }
    bool is_key = SSL_CTX_use_PrivateKey_file(ctx, tls->key, SSL_FILETYPE_PEM) == 1;
    if (is_key && SSL_CTX_check_private_key(ctx) == 1) {
        return HUB_OK;
    }
    if (was_asked) {
        return fail_tls(reterr, "key", tls->key,
                        "it has a passphrase: store it without one, readable for the hub alone");
    }
    if (is_key || ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH) {
        return fail_tls(reterr, "key", tls->key, "it does not belong to the certificate");
    }
    return fail_reading(reterr, "key", tls->key);
}

static hub_err try_files(const hub_tls_settings *tls, hub_error *reterr)
{
    hub_err err = try_reading("certificate", tls->certificate, reterr);
    if (err == HUB_OK) {
        err = try_reading("key", tls->key, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (ctx == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "tls: OpenSSL cannot be set up");
    }
    err = try_pair(ctx, tls, reterr);
    SSL_CTX_free(ctx);
    return err;
}

/* Somebody speaks HTTP to a port with TLS: say so as nginx does, where a reset connection says
 * nothing. What came is read first, or the kernel would take the answer back. */
static void refuse_plain(int fd)
{
    static const char ANSWER[] =
        "HTTP/1.1 400 Bad Request\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        "Content-Length: 70\r\n"
        "Connection: close\r\n\r\n"
        "This port speaks TLS: use https:// instead of http:// (wss: not ws:).\n";
    char rest[4096];
    for (int i = 0; i < PLAIN_READS && recv(fd, rest, sizeof rest, MSG_DONTWAIT) > 0; i++) {
        /* nothing of it is looked at */
    }
    (void)!send(fd, ANSWER, sizeof ANSWER - 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* a courtesy */
    (void)shutdown(fd, SHUT_WR);
}

/* OpenSSL knows a request by its method: GET, POST, HEAD, PUT. libwebsockets closes the connection
 * after this. */
static void on_handshake(const SSL *ssl, int where, int result)
{
    unsigned long error = ERR_peek_last_error();
    if (where == SSL_CB_ACCEPT_EXIT && result <= 0 && ERR_GET_LIB(error) == ERR_LIB_SSL &&
        ERR_GET_REASON(error) == SSL_R_HTTP_REQUEST) {
        refuse_plain(SSL_get_fd(ssl));
    }
}

hub_err net_tls_vhost(hub_net *net, const hub_tls_settings *tls, hub_listener *listener,
                      hub_error *reterr)
{
    hub_err err = try_files(tls, reterr);
    if (err != HUB_OK) {
        return err;
    }
    bool only_newest = tls->min_version != NULL && strcmp(tls->min_version, "1.3") == 0;
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN_SERVER,
        .vhost_name = "tls",
        .protocols = NET_PROTOCOLS,
        .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
        .ssl_cert_filepath = tls->certificate,
        .ssl_private_key_filepath = tls->key,
        .ssl_options_set = SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_RENEGOTIATION |
                           (only_newest ? SSL_OP_NO_TLSv1_2 : 0),
        .alpn = "http/1.1",
        .user = net,
    };
    net->made_tls = NULL;
    err = net_create_vhost(net, &info, &listener->vhost, reterr);
    listener->tls = net->made_tls;
    if (err == HUB_ENOMEM) {
        return err;
    }
    if (err != HUB_OK || listener->tls == NULL) {
        return hub_fail(reterr, HUB_EINVAL, "tls: %s and %s cannot be used", tls->certificate,
                        tls->key);
    }
    SSL_CTX_set_info_callback(listener->tls, on_handshake);
    return net_clients_take(listener, tls, reterr);
}

/* A context keeps one certificate of each kind: another kind would stand beside the old one. */
static hub_err check_kind(const SSL_CTX *old, const SSL_CTX *now, const hub_tls_settings *tls,
                          hub_error *reterr)
{
    const EVP_PKEY *before = SSL_CTX_get0_privatekey(old);
    const EVP_PKEY *key = SSL_CTX_get0_privatekey(now);
    return before != NULL && EVP_PKEY_base_id(before) == EVP_PKEY_base_id(key)
               ? HUB_OK
               : fail_tls(reterr, "key", tls->key,
                          "it is of another kind than the one before: restart instead");
}

hub_err hub_listener_renew(hub_listener *listener, const hub_tls_settings *tls, hub_error *reterr)
{
    SSL_CTX *trial = SSL_CTX_new(TLS_server_method());
    if (trial == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "tls: OpenSSL cannot be set up");
    }
    /* Who clients are is taken over whatever becomes of the hub's own certificate. */
    hub_err err = listener->tls != NULL ? net_clients_take(listener, tls, reterr)
                                        : hub_fail(reterr, HUB_EINVAL, "tls: restart instead");
    if (err == HUB_OK) {
        err = try_files(tls, reterr);
    }
    if (err == HUB_OK) {
        err = try_pair(trial, tls, reterr);
    }
    if (err == HUB_OK) {
        err = check_kind(listener->tls, trial, tls, reterr);
    }
    if (err == HUB_OK) {
        err = try_pair(listener->tls, tls, reterr);
        SSL_CTX_set_default_passwd_cb_userdata(listener->tls, NULL);
        SSL_CTX_set_default_passwd_cb(listener->tls, NULL);
    }
    SSL_CTX_free(trial);
    return err;
}
