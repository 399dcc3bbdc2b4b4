/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificates that clients of a listener have shown: each is verified when it comes first, and
 * what came of it is remembered for as long as the authorities and their revocation lists are the
 * same. When these are others, all are verified again: one in each turn of the loop, and at once those
 * that a request is judged by. Thread: [loop].
 */
#ifndef HTTP_CERTIFICATES_H
#define HTTP_CERTIFICATES_H

#include "identity/certificate.h"
#include "net/link.h"

struct ev_loop;

typedef struct hub_http_certificates hub_http_certificates;

typedef enum hub_http_shown {
    HUB_HTTP_SHOWN_NONE, /* the client has shown no certificate, and need not */
    HUB_HTTP_SHOWN_GOOD,
    HUB_HTTP_SHOWN_BAD, /* *ret_reason says why; borrowed until the next call */
} hub_http_shown;

/* `on_spoilt` is told, from the loop, when some of those that were accepted are not any more.
 * owns:    the result, destroy it with hub_http_certificates_destroy; NULL: out of memory */
hub_http_certificates *hub_http_certificates_create(struct ev_loop *loop,
                                                    void (*on_spoilt)(void *ctx), void *ctx);
void hub_http_certificates_destroy(hub_http_certificates *certificates); /* NULL is fine */

/* Whom certificates are of from now on; NULL: clients are asked for none. One reference is taken. */
void hub_http_certificates_trust(hub_http_certificates *certificates, hub_authority *authority);

/* Who is at the other end, as its certificate says.
 * owns:    when GOOD *ret_identity, one reference */
hub_http_shown hub_http_certificates_judge(hub_http_certificates *certificates,
                                           const hub_link *link, int64_t now,
                                           hub_identity **ret_identity, const char **ret_reason);

/* Whether the certificate that has made an identity is still accepted, as far as it was verified;
 * NULL: whether clients need none. */
bool hub_http_certificates_accept(const hub_http_certificates *certificates,
                                  const hub_identity *shown);

/* Whether a certificate that is accepted makes its owner this principal. */
bool hub_http_certificates_know(const hub_http_certificates *certificates, const char *principal);

#endif
