/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access tokens of an issuer: JSON Web Tokens (RFC 7519, 9068, 8725), judged as a resource server has to
 * (MCP 2026-07-28 basic/authorization, Token Handling). Reading comes first and believes nothing: it
 * says who is said to have issued the token, so that the caller finds that issuer's keys.
 *
 * Thread: any, one at a time; what is made of a token is [loop].
 */
#ifndef HUB_IDENTITY_JWT_H
#define HUB_IDENTITY_JWT_H

#include "identity/identity.h"
#include "identity/issuer.h"
#include "identity/jws.h"

/* Clocks of two machines may differ by this much (RFC 7519 section 4.1.4). */
#define HUB_JWT_LEEWAY_S 60

typedef struct hub_jwt {
    hub_jws jws;
    hub_buf issuer; /* as the token says, decoded */
    hub_str text;   /* the token, as it was given to hub_jwt_read */
} hub_jwt;

/* Read a token, which stays borrowed; nothing is verified. Claims are only scanned: what nobody has signed
 * costs no more than its bytes.
 * owns:    *ret_jwt, free it with hub_jwt_fini whatever is returned
 * errors:  those of hub_jws_read; HUB_EPARSE (no claims, no issuer), HUB_EDENIED (typ says that it
 *          is another kind of token) */
HUB_MUST_CHECK hub_err hub_jwt_read(hub_str token, hub_jwt *ret_jwt, hub_error *reterr);
void hub_jwt_fini(hub_jwt *jwt);

/* Verify a token that says it is of this issuer, by one key: a token that does not name its key is
 * tried with up to HUB_LIMIT_JWS_TRIES, of which each costs the loop as much as all the rest. `now`:
 * seconds since 1970. `*tries`: how many keys of this set were tried in vain; 0 at first. The principal
 * is "jwt:ISSUER#SUB", and the identity expires with the token.
 * owns:    *ret_identity, one reference
 * errors:  HUB_EBUSY (one key more was tried in vain: call again), HUB_ENOTFOUND (no key fits: newer
 *          ones may), HUB_EPARSE, HUB_EDENIED (anything else is wrong with it; the text is fit for the
 *          error_description of a challenge), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_jwt_verify(const hub_jwt *jwt, const hub_jwt_issuer *issuer,
                                      const hub_jwks *keys, int64_t now, size_t *tries,
                                      hub_identity **ret_identity, hub_error *reterr);

/* Take what the issuer says of a token that says nothing by itself: the answer of its introspection
 * endpoint (RFC 7662 section 2.2). What is asked of a token is asked of the answer, but for the issuer
 * and the end, which it may leave out.
 * owns:    *ret_identity, one reference
 * errors:  HUB_EPARSE (not such an answer), HUB_EDENIED (the token is not good; the text is as above),
 *          HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_jwt_accept_claims(hub_str answer, hub_str token,
                                             const hub_jwt_issuer *issuer, int64_t now,
                                             hub_identity **ret_identity, hub_error *reterr);

#endif
