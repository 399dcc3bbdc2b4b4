/* SPDX-License-Identifier: Apache-2.0 */
/* Clients are asked for certificates in the handshake. Those that are not accepted are told why by
 * TLS's own alerts, and the log is told, too. */
#include "net/internal.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

enum { LOG_EVERY_MS = 1000 };

/* Whose handshake it is. NULL: nobody knows any more. */
static const hub_link *link_of(const hub_net *net, const SSL *ssl)
{
    const hub_link *at = net->links;
    while (at != NULL && (at->wsi == NULL || !at->is_tls || lws_get_ssl(at->wsi) != ssl)) {
        at = at->next;
    }
    return at != NULL ? at : net->adopting;
}

static void log_refusal(hub_listener *listener, const SSL *ssl, const char *reason)
{
    uint64_t now = hub_clock_now_ms();
    listener->refused_clients++;
    if (listener->refused_log_ms != 0 && now - listener->refused_log_ms < LOG_EVERY_MS) {
        return;
    }
    const hub_link *link = link_of(listener->net, ssl);
    hub_log(HUB_LOG_WARNING, "tls.client_refused",
            HUB_F_TEXT("peer", link != NULL ? hub_link_peer(link) : "unknown"),
            HUB_F_TEXT("reason", reason), HUB_F_INT("connections", listener->refused_clients));
    listener->refused_log_ms = now;
    listener->refused_clients = 0;
}

/* Instead of libcrypto's own: by the authorities of now, and so that the log can tell. */
static int verify(X509_STORE_CTX *ctx, void *arg)
{
    hub_listener *listener = arg;
    int verdict = X509_verify_cert(ctx);
    if (verdict <= 0) {
        log_refusal(listener, X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx()),
                    X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx)));
    }
    return verdict;
}

/* The names that clients choose their certificate by. */
static void name_authorities(SSL_CTX *ctx, X509_STORE *store)
{
    STACK_OF(X509_NAME) *names = sk_X509_NAME_new_null();
    STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(store);
    for (int i = 0; names != NULL && i < sk_X509_OBJECT_num(all); i++) {
        X509 *certificate = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
        X509_NAME *name =
            certificate != NULL ? X509_NAME_dup(X509_get_subject_name(certificate)) : NULL;
        if (name != NULL && sk_X509_NAME_push(names, name) == 0) {
            X509_NAME_free(name);
        }
    }
    SSL_CTX_set_client_CA_list(ctx, names); /* NULL: clients choose by themselves */
}

hub_err net_clients_take(hub_listener *listener, const hub_tls_settings *tls, hub_error *reterr)
{
    SSL_CTX *ctx = listener->tls;
    hub_authority *next = NULL;
    if (listener->clients != NULL && hub_authority_is_of(listener->clients, &tls->clients)) {
        return HUB_OK; /* what was verified by it is good */
    }
    if (tls->clients.ca.len > 0) {
        hub_err err = hub_authority_create(&tls->clients, &next, reterr);
        if (err != HUB_OK) {
            hub_error_prefix(reterr, "tls.clients");
            return err;
        }
        /* A resumed session would bring a certificate that nobody verifies again. */
        (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
        (void)SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
        (void)SSL_CTX_set_num_tickets(ctx, 0);
        SSL_CTX_set_max_cert_list(ctx, HUB_LIMIT_CERTIFICATE_BYTES);
        SSL_CTX_set_verify_depth(ctx, HUB_LIMIT_CERTIFICATE_DEPTH);
        (void)SSL_CTX_set1_verify_cert_store(ctx, hub_authority_store(next));
        name_authorities(ctx, hub_authority_store(next));
        SSL_CTX_set_cert_verify_callback(ctx, verify, listener);
        SSL_CTX_set_verify(
            ctx, SSL_VERIFY_PEER | (tls->clients.required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
            NULL);
    } else {
        net_clients_end(listener);
    }
    hub_authority_unref(listener->clients);
    listener->clients = next;
    return HUB_OK;
}

void net_clients_end(hub_listener *listener)
{
    if (listener->tls != NULL) {
        SSL_CTX_set_verify(listener->tls, SSL_VERIFY_NONE, NULL);
        SSL_CTX_set_cert_verify_callback(listener->tls, NULL, NULL);
        (void)SSL_CTX_set1_verify_cert_store(listener->tls, NULL);
    }
}

hub_authority *hub_listener_clients(const hub_listener *listener)
{
    return listener != NULL ? listener->clients : NULL;
}

X509 *hub_link_certificate(const hub_link *link, STACK_OF(X509) * *ret_sent)
{
    SSL *ssl = link->is_tls && link->wsi != NULL ? lws_get_ssl(link->wsi) : NULL;
    *ret_sent = ssl != NULL ? SSL_get_peer_cert_chain(ssl) : NULL;
    return ssl != NULL ? SSL_get0_peer_certificate(ssl) : NULL;
}
