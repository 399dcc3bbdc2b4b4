/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of which nobody can have all: room for what waits, or is kept, for many peers (clients, servers).
 * A limit says what one peer may have while nobody else has anything. All together may have twice that,
 * and each no more than what is left for the others: so the next one finds room, whatever one has,
 * and who has little gets it sooner than who has much. Nothing is ever taken away again.
 *
 * hub_share_may is the rule, for who counts by himself. A hub_pool counts for each peer, by its name.
 * Where what is held can be given up, core/base/budget.h does more. Thread: [any], one at a time.
 */
#ifndef HUB_BASE_SHARE_H
#define HUB_BASE_SHARE_H

#include "base/err.h"

/* Whether a peer that has `own` may have `more`. `used` is what all have, its own among it; `most` is
 * the limit, at most SIZE_MAX / 2. */
static inline bool hub_share_may(size_t most, size_t used, size_t own, size_t more)
{
    return more <= most && own <= most - more && used <= 2 * most && own + more <= 2 * most - used;
}

/* What one peer has; there is one while it has anything. */
typedef struct hub_share hub_share;

/* All zero but for the limit is an empty one. */
typedef struct hub_pool {
    size_t most; /* the limit */
    size_t used;
    hub_share *shares; /* uthash over the peer */
} hub_pool;

/* Give a peer so much of the pool, more than nothing. The name is copied.
 * owns:    nothing; hub_share_give takes back all that was taken, before the pool ends
 * errors:  HUB_ELIMIT, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_pool_take(hub_pool *pool, hub_str peer, size_t more,
                                     hub_share **ret_share);

/* Give who has a share more of the pool. errors: HUB_ELIMIT */
HUB_MUST_CHECK hub_err hub_share_more(hub_share *share, size_t more);

/* So much is free again. NULL is fine. */
void hub_share_give(hub_share *share, size_t less);

/* What a peer has. */
size_t hub_pool_own(const hub_pool *pool, hub_str peer);

#endif
