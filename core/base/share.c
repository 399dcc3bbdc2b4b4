/* SPDX-License-Identifier: Apache-2.0 */
#include "base/share.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct hub_share {
    hub_pool *pool;
    size_t own;
    UT_hash_handle hh;
    char peer[];
};

static hub_share *find(const hub_pool *pool, hub_str peer)
{
    hub_share *found = NULL;
    HASH_FIND(hh, pool->shares, peer.ptr, (unsigned)peer.len, found);
    return found;
}

static hub_share *make(hub_pool *pool, hub_str peer)
{
    hub_share *made = calloc(1, sizeof *made + peer.len);
    if (made == NULL) {
        return NULL;
    }
    made->pool = pool;
    memcpy(made->peer, peer.ptr, peer.len);
    HASH_ADD(hh, pool->shares, peer, (unsigned)peer.len, made);
    if (!hub_map_has_taken(&made->hh)) {
        free(made);
        return NULL;
    }
    return made;
}

hub_err hub_pool_take(hub_pool *pool, hub_str peer, size_t more, hub_share **ret_share)
{
    hub_assert(more > 0);
    hub_share *share = find(pool, peer);
    if (share == NULL && !hub_share_may(pool->most, pool->used, 0, more)) {
        return HUB_ELIMIT;
    }
    share = share != NULL ? share : make(pool, peer);
    hub_err err = share != NULL ? hub_share_more(share, more) : HUB_ENOMEM;
    if (err == HUB_OK) {
        *ret_share = share;
    }
    return err;
}

hub_err hub_share_more(hub_share *share, size_t more)
{
    hub_pool *pool = share->pool;
    if (!hub_share_may(pool->most, pool->used, share->own, more)) {
        return HUB_ELIMIT;
    }
    share->own += more;
    pool->used += more;
    return HUB_OK;
}

void hub_share_give(hub_share *share, size_t less)
{
    if (share == NULL) {
        return;
    }
    hub_pool *pool = share->pool;
    hub_assert(less <= share->own && less <= pool->used);
    share->own -= less;
    pool->used -= less;
    if (share->own == 0) {
        HASH_DEL(pool->shares, share);
        free(share);
    }
}

size_t hub_pool_own(const hub_pool *pool, hub_str peer)
{
    const hub_share *share = find(pool, peer);
    return share != NULL ? share->own : 0;
}
