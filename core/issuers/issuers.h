/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of issuers, judged: each is verified once, by the issuer's keys or by asking the issuer, and
 * what came of it is remembered by the token's digest until it expires. Keys are fetched when the
 * first token of an issuer comes, by one fetch for all who wait; where a token names a key that is not
 * there, they are fetched again, at most once in HUB_LIMIT_KEYS_PAUSE_S; those that were good stay for
 * as long as no others can be had. In each turn of the loop one token is verified: many new ones do
 * not keep those that are known waiting. A token is passed on to nobody but its issuer.
 *
 * Thread: [loop].
 * spec: MCP 2026-07-28 basic/authorization; RFC 8414, 7517, 7662, 9068
 */
#ifndef HUB_ISSUERS_ISSUERS_H
#define HUB_ISSUERS_ISSUERS_H

#include "identity/credentials.h"

struct ev_loop;

typedef struct hub_issuers hub_issuers;

/* Somebody who waits for a judgement; zeroed before its first use, and embedded. */
typedef struct hub_issuers_waiter {
    struct hub_issuers_waiter *next;
    struct hub_issuers_waiter *prev;
    struct hub_issuers_token *token; /* NULL: waits for none */
    /* It is there: look again, in here or later. From the loop, once. */
    void (*on_judged)(struct hub_issuers_waiter *waiter);
} hub_issuers_waiter;

typedef enum hub_issuers_verdict {
    HUB_ISSUERS_GOOD,
    HUB_ISSUERS_LATER,       /* the waiter will be told */
    HUB_ISSUERS_REFUSED,     /* *ret_reason says why: plain ASCII without quotes, for a challenge */
    HUB_ISSUERS_UNAVAILABLE, /* nobody can say: the issuer does not answer, or too many wait */
} hub_issuers_verdict;

/* NULL when out of memory. */
hub_issuers *hub_issuers_create(struct ev_loop *loop);
void hub_issuers_destroy(hub_issuers *issuers); /* nobody waits; NULL is fine */

/* Whose tokens are taken from now on. The settings are borrowed, until this is called again or the
 * end; keys and judgements of issuers that stay as they were are kept.
 * errors:  HUB_ENOMEM: nothing has changed */
HUB_MUST_CHECK hub_err hub_issuers_configure(hub_issuers *issuers, const hub_auth_settings *auth);

/* Judge a token at `now` (seconds since 1970). `waiter` may be NULL.
 * owns:    when GOOD *ret_identity, one reference; *ret_reason is borrowed until the loop goes on */
hub_issuers_verdict hub_issuers_judge(hub_issuers *issuers, hub_str token, int64_t now,
                                      hub_issuers_waiter *waiter, hub_identity **ret_identity,
                                      const char **ret_reason);

/* Wait no more. Fine when it does not wait. */
void hub_issuers_leave(hub_issuers_waiter *waiter);

/* Whether a text is a signed token, as far as its form tells. */
bool hub_issuers_is_signed(hub_str token);

#endif
