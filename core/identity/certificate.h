/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of clients (mTLS): which authorities are trusted, which certificates they have taken
 * back, and who it is that shows one. An authority is immutable and reference-counted: other files
 * make another one. Decides over certificates that it is given; the handshake is the transport's.
 *
 * Thread: [loop]. Blocks: no; a judgement costs one verification of a signature for each certificate
 * of the chain.
 */
#ifndef HUB_IDENTITY_CERTIFICATE_H
#define HUB_IDENTITY_CERTIFICATE_H

#include "identity/certificate_settings.h"
#include "identity/identity.h"

#include <openssl/types.h>

struct stack_st_X509;
typedef struct hub_authority hub_authority;

/* Read what the settings name.
 * owns:    *ret_authority, one reference; nothing is borrowed
 * errors:  HUB_EINVAL (no such PEM: the text says of which and why), HUB_ELIMIT
 *          (HUB_LIMIT_AUTHORITIES, HUB_LIMIT_REVOCATION_LISTS), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_authority_create(const hub_client_certificates *settings,
                                            hub_authority **ret_authority, hub_error *reterr);
hub_authority *hub_authority_ref(hub_authority *authority);
void hub_authority_unref(hub_authority *authority); /* NULL is fine */

/* Whether it was made of the same texts, and names principals alike. */
bool hub_authority_is_of(const hub_authority *authority, const hub_client_certificates *settings);

/* What libcrypto verifies by, revocation included. Borrowed. */
X509_STORE *hub_authority_store(const hub_authority *authority);
bool hub_authority_is_required(const hub_authority *authority);

/* When the first of its revocation lists is out of date (seconds since 1970); from then on no
 * certificate is accepted. INT64_MAX: never. */
int64_t hub_authority_fresh_until(const hub_authority *authority);

/* Who shows a certificate at `now`. `sent` (stack of X509, NULL is fine) are those that came with it.
 * owns:    *ret_identity, one reference: it ends with the first certificate of its chain
 * errors:  HUB_EDENIED (it is not accepted, or has no name that can be used: the text says why, in
 *          plain ASCII), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_authority_judge(const hub_authority *authority, X509 *certificate,
                                           struct stack_st_X509 *sent, int64_t now,
                                           hub_identity **ret_identity, hub_error *reterr);

/* When the first certificate of a PEM file ends (seconds since 1970); false: it has none.
 * blocks:  yes: reads the file */
bool hub_certificate_file_end(const char *path, int64_t *ret_end);

/* The digest that an identity has as its `certificate`. */
bool hub_certificate_digest(const X509 *certificate, uint8_t ret_digest[HUB_IDENTITY_DIGEST_BYTES]);

#endif
