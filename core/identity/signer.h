/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs tokens with a private key of the hub's own, as a client that proves to an authorization server
 * who it is has to (private_key_jwt: RFC 7523 section 3, OpenID Connect Core section 9). Knows nobody
 * that it could be sent to. The key is in memory for as long as the signer is, and never shown.
 *
 * Thread: any, one at a time. Blocks: no; a signature by RSA takes a millisecond or two.
 */
#ifndef HUB_IDENTITY_SIGNER_H
#define HUB_IDENTITY_SIGNER_H

#include "base/buf.h"

typedef struct hub_signer hub_signer;

/* Read a private key in PEM that is not encrypted: RSA from 2,048 bits, EC on P-256, P-384 or P-521,
 * Ed25519. `algorithm` is the name of one that the key fits; NULL: RS256, the one of its curve, EdDSA.
 * `kid`: the name of the key at the one who verifies; NULL: none.
 * owns:    *ret_signer, destroy it with hub_signer_destroy; nothing is borrowed
 * errors:  HUB_EPARSE (no such PEM), HUB_EINVAL (a key, an algorithm or a name that cannot be used),
 *          HUB_ELIMIT (HUB_LIMIT_SIGNING_KEY_BYTES, HUB_LIMIT_JWS_KID_BYTES), HUB_ENOMEM; the text
 *          quotes nothing of the key */
HUB_MUST_CHECK hub_err hub_signer_create(hub_str pem, const char *algorithm, const char *kid,
                                         hub_signer **ret_signer, hub_error *reterr);
void hub_signer_destroy(hub_signer *signer); /* NULL is fine */

/* Its algorithm, as `alg` names it. */
const char *hub_signer_algorithm(const hub_signer *signer);

/* Append the claims (a JSON object), signed, in compact form.
 * errors:  what the buffer says, HUB_ELIMIT (HUB_LIMIT_JWS_BYTES), HUB_ENOMEM; then `out` is as it was */
HUB_MUST_CHECK hub_err hub_signer_sign(const hub_signer *signer, hub_str claims, hub_buf *out);

/* Append what proves that the caller is the client `client_id`, once, to `audience` (the issuer or the
 * token endpoint of the authorization server): made at `now` (seconds since 1970), and good for
 * HUB_LIMIT_ASSERTION_S from then. It has no `nbf`: whoever's clock is behind the hub's would refuse it. It
 * goes as `client_assertion`, beside HUB_CLIENT_ASSERTION_TYPE.
 * errors:  those of hub_signer_sign */
#define HUB_CLIENT_ASSERTION_TYPE "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
HUB_MUST_CHECK hub_err hub_signer_assert(const hub_signer *signer, hub_str client_id,
                                         hub_str audience, int64_t now, hub_buf *out);

#endif
