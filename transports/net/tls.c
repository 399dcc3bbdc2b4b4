/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates are tried with OpenSSL first: its reasons name what is wrong, libwebsockets' do not.
 */
#include "net/internal.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

static hub_err fail_tls(hub_error *reterr, const char *what, const char *file)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
    hub_err err = hub_fail(reterr, HUB_EINVAL, "%s %s cannot be used: %s", what, file,
                           reason != NULL ? reason : "it is not a PEM file of that kind");
    ERR_clear_error();
    return err;
}

static hub_err try_files(const hub_tls_settings *tls, hub_error *reterr)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    hub_err err = HUB_OK;
    if (ctx == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "TLS cannot be set up");
    }
    if (SSL_CTX_use_certificate_chain_file(ctx, tls->certificate) != 1) {
        err = fail_tls(reterr, "the certificate", tls->certificate);
    } else if (SSL_CTX_use_PrivateKey_file(ctx, tls->key, SSL_FILETYPE_PEM) != 1) {
        err = fail_tls(reterr, "the key", tls->key);
    } else if (SSL_CTX_check_private_key(ctx) != 1) {
        err = fail_tls(reterr, "the key", tls->key);
    }
    SSL_CTX_free(ctx);
    return err;
}

hub_err net_tls_vhost(hub_net *net, const hub_tls_settings *tls, struct lws_vhost **ret_vhost,
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
    *ret_vhost = lws_create_vhost(net->context, &info);
    return *ret_vhost != NULL
               ? HUB_OK
               : hub_fail(reterr, HUB_EINVAL, "TLS cannot be set up with %s", tls->certificate);
}
