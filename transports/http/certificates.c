/* SPDX-License-Identifier: Apache-2.0 */
#include "http/certificates.h"

#include "base/limits.h"
#include "base/loop.h"
#include "base/map.h"

#include <ev.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REASON_BYTES = 128 };

/* One that was accepted when it came. */
typedef struct seen {
    UT_hash_handle hh;
    uint8_t digest[HUB_IDENTITY_DIGEST_BYTES];
    X509 *certificate;
    STACK_OF(X509) * sent;
    hub_identity *identity; /* NULL: it is not accepted any more */
    uint64_t generation;    /* of the authority that it was verified by last */
} seen;

struct hub_http_certificates {
    struct ev_loop *loop;
    hub_authority *authority;
    uint64_t generation; /* another one with each authority; never 0 */
    seen *all;           /* uthash, by digest, in the order in which they came */
    ev_timer turn;       /* 0 s: the next one that is to be verified again */
    bool is_spoilt;      /* some of those that were verified again are not accepted */
    void (*on_spoilt)(void *ctx);
    void *ctx;
    char reason[REASON_BYTES];
};

static void forget(seen *one)
{
    X509_free(one->certificate);
    sk_X509_pop_free(one->sent, X509_free);
    hub_identity_unref(one->identity);
    free(one);
}

static void drop(hub_http_certificates *certificates, seen *one)
{
    HASH_DEL(certificates->all, one);
    forget(one);
}

/* Room for one more: what nobody goes by makes way. */
static bool make_room(hub_http_certificates *certificates)
{
    seen *at;
    seen *next;
    if (HASH_COUNT(certificates->all) < HUB_LIMIT_CERTIFICATES) {
        return true;
    }
    HASH_ITER(hh, certificates->all, at, next)
    {
        if (at->identity == NULL || at->identity->refs == 1) {
            drop(certificates, at);
            return true;
        }
    }
    return false;
}

/* Without room, or memory, it is verified again when it comes again. */
static void remember(hub_http_certificates *certificates, X509 *certificate,
                     struct stack_st_X509 *sent, hub_identity *identity)
{
    seen *one = make_room(certificates) ? calloc(1, sizeof *one) : NULL;
    if (one == NULL) {
        return;
    }
    one->sent = sent != NULL ? X509_chain_up_ref(sent) : NULL;
    one->certificate = X509_up_ref(certificate) == 1 ? certificate : NULL;
    if (one->certificate == NULL || (sent != NULL && one->sent == NULL)) {
        forget(one);
        return;
    }
    one->identity = hub_identity_ref(identity);
    one->generation = certificates->generation;
    memcpy(one->digest, identity->certificate, sizeof one->digest);
    HASH_ADD(hh, certificates->all, digest, sizeof one->digest, one);
    if (!hub_map_has_taken(&one->hh)) {
        forget(one);
    }
}

/* By the authority of now. NULL: not accepted, and certificates->reason says why. */
static hub_identity *verify(hub_http_certificates *certificates, X509 *certificate,
                            struct stack_st_X509 *sent, int64_t now)
{
    hub_identity *identity = NULL;
    hub_error why = {.text = "clients are not asked for certificates"};
    hub_err err =
        certificates->authority != NULL
            ? hub_authority_judge(certificates->authority, certificate, sent, now, &identity, &why)
            : HUB_EDENIED;
    if (err != HUB_OK) {
        (void)snprintf(certificates->reason, sizeof certificates->reason, "%.*s", REASON_BYTES - 1,
                       why.text);
        return NULL;
    }
    identity->source = certificates->generation;
    return identity;
}

/* One that was accepted by another authority, or whose time may be up. */
static void verify_again(hub_http_certificates *certificates, seen *one, int64_t now)
{
    hub_identity *identity = verify(certificates, one->certificate, one->sent, now);
    one->generation = certificates->generation;
    if (identity != NULL && one->identity != NULL &&
        strcmp(identity->name, one->identity->name) == 0 &&
        identity->expires == one->identity->expires) {
        hub_identity_unref(identity); /* those who hold the one that there is may go on */
        return;
    }
    certificates->is_spoilt = certificates->is_spoilt || one->identity != NULL;
    hub_identity_unref(one->identity);
    one->identity = identity;
}

static seen *next_stale(const hub_http_certificates *certificates)
{
    seen *at = certificates->all;
    while (at != NULL && at->generation == certificates->generation) {
        at = at->hh.next;
    }
    return at;
}

static void on_turn(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_http_certificates *certificates = timer->data;
    seen *one = next_stale(certificates);
    (void)events;
    if (one != NULL) {
        verify_again(certificates, one, time(NULL));
        hub_loop_start_timer(loop, timer, 0.);
    } else if (certificates->is_spoilt) {
        certificates->is_spoilt = false;
        certificates->on_spoilt(certificates->ctx);
    }
}

hub_http_certificates *hub_http_certificates_create(struct ev_loop *loop,
                                                    void (*on_spoilt)(void *ctx), void *ctx)
{
    hub_http_certificates *certificates = calloc(1, sizeof *certificates);
    if (certificates != NULL) {
        certificates->loop = loop;
        certificates->generation = 1;
        certificates->on_spoilt = on_spoilt;
        certificates->ctx = ctx;
        ev_timer_init(&certificates->turn, on_turn, 0., 0.);
        certificates->turn.data = certificates;
    }
    return certificates;
}

void hub_http_certificates_destroy(hub_http_certificates *certificates)
{
    if (certificates == NULL) {
        return;
    }
    while (certificates->all != NULL) {
        drop(certificates, certificates->all);
    }
    ev_timer_stop(certificates->loop, &certificates->turn);
    hub_authority_unref(certificates->authority);
    free(certificates);
}

void hub_http_certificates_trust(hub_http_certificates *certificates, hub_authority *authority)
{
    if (certificates->authority == authority) {
        return;
    }
    hub_authority_unref(certificates->authority);
    certificates->authority = authority != NULL ? hub_authority_ref(authority) : NULL;
    certificates->generation++;
    if (certificates->all != NULL && !ev_is_active(&certificates->turn)) {
        hub_loop_start_timer(certificates->loop, &certificates->turn, 0.);
    }
}

static bool is_required(const hub_http_certificates *certificates)
{
    return certificates->authority != NULL && hub_authority_is_required(certificates->authority);
}

static bool is_fresh(const hub_http_certificates *certificates, const seen *one, int64_t now)
{
    return one->identity != NULL && one->generation == certificates->generation &&
           !hub_identity_is_over(one->identity, now) &&
           now < hub_authority_fresh_until(certificates->authority);
}

static hub_identity *judge(hub_http_certificates *certificates, X509 *certificate,
                           struct stack_st_X509 *sent, int64_t now)
{
    uint8_t digest[HUB_IDENTITY_DIGEST_BYTES];
    seen *one = NULL;
    if (!hub_certificate_digest(certificate, digest)) {
        (void)snprintf(certificates->reason, sizeof certificates->reason, "out of memory");
        return NULL;
    }
    HASH_FIND(hh, certificates->all, digest, sizeof digest, one);
    if (one != NULL) {
        if (!is_fresh(certificates, one, now)) {
            verify_again(certificates, one, now);
        }
        if (certificates->is_spoilt && !ev_is_active(&certificates->turn)) {
            hub_loop_start_timer(certificates->loop, &certificates->turn, 0.);
        }
        return one->identity != NULL ? hub_identity_ref(one->identity) : NULL;
    }
    hub_identity *identity = verify(certificates, certificate, sent, now);
    if (identity != NULL) {
        remember(certificates, certificate, sent, identity);
    }
    return identity;
}

hub_http_shown hub_http_certificates_judge(hub_http_certificates *certificates,
                                           const hub_link *link, int64_t now,
                                           hub_identity **ret_identity, const char **ret_reason)
{
    struct stack_st_X509 *sent = NULL;
    X509 *certificate = hub_link_certificate(link, &sent);
    if (certificate == NULL) {
        *ret_reason = "this listener wants one of its clients";
        return is_required(certificates) ? HUB_HTTP_SHOWN_BAD : HUB_HTTP_SHOWN_NONE;
    }
    *ret_identity = judge(certificates, certificate, sent, now);
    *ret_reason = certificates->reason;
    return *ret_identity != NULL ? HUB_HTTP_SHOWN_GOOD : HUB_HTTP_SHOWN_BAD;
}

bool hub_http_certificates_accept(const hub_http_certificates *certificates,
                                  const hub_identity *shown)
{
    const seen *one = NULL;
    if (shown == NULL) {
        return !is_required(certificates);
    }
    HASH_FIND(hh, certificates->all, shown->certificate, HUB_IDENTITY_DIGEST_BYTES, one);
    return one != NULL ? one->identity != NULL && strcmp(one->identity->name, shown->name) == 0
                       : shown->source == certificates->generation;
}

bool hub_http_certificates_know(const hub_http_certificates *certificates, const char *principal)
{
    const seen *at = certificates->all;
    while (at != NULL && (at->identity == NULL || strcmp(at->identity->name, principal) != 0)) {
        at = at->hh.next;
    }
    return at != NULL;
}
