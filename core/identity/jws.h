/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON Web Signature in compact form (RFC 7515 section 3.1), which is what access tokens are (RFC 9068).
 * Read with care: `none`, algorithms with a shared secret, and headers that bring a key along or ask
 * for something that must be understood are refused; which algorithm is right is decided by the key.
 *
 * Thread: any, one at a time.
 */
#ifndef HUB_IDENTITY_JWS_H
#define HUB_IDENTITY_JWS_H

#include "base/buf.h"
#include "identity/jwk.h"

typedef struct hub_jws {
    hub_str signed_part;                /* header.payload, as sent: in the text that was read */
    const hub_jws_algorithm *algorithm; /* as the header has it */
    hub_buf payload;                    /* decoded: any bytes */
    hub_buf signature;
    hub_buf kid;  /* empty: none */
    hub_buf type; /* typ; empty: none */
} hub_jws;

/* Read a text, which stays borrowed; nothing is verified.
 * owns:    *ret_jws, free it with hub_jws_fini whatever is returned
 * errors:  HUB_ELIMIT (HUB_LIMIT_JWS_BYTES), HUB_EPARSE (no such text), HUB_EDENIED (nothing that is
 *          accepted), HUB_ENOMEM; the text is for logs and challenges and quotes nothing */
HUB_MUST_CHECK hub_err hub_jws_read(hub_str text, hub_jws *ret_jws, hub_error *reterr);
void hub_jws_fini(hub_jws *jws);

/* Whether the signature is the key's. The key must fit the algorithm. */
bool hub_jws_is_signed_by(const hub_jws *jws, const hub_jwk *key);

/* Append `payload`, signed with a private key, with `header` as its header: a JSON object that has
 * the algorithm as its "alg".
 * errors:  HUB_EINVAL (the key is not for that algorithm), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_jws_sign(hub_str header, hub_str payload,
                                    const hub_jws_algorithm *algorithm, EVP_PKEY *key,
                                    hub_buf *out);

#endif
