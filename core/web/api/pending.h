/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the API that wait for something, so that they end with it. Thread: [loop]. */
#ifndef HUB_WEB_API_PENDING_H
#define HUB_WEB_API_PENDING_H

#include "base/buf.h"
#include "web/api/api.h"

/* Embed it first. It stands in a list of the API for as long as it waits. */
typedef struct hub_api_pending {
    void (*end)(struct hub_api_pending *pending); /* answer now, and leave the list */
    const hub_identity *identity;                 /* whose it is; only compared */
    bool only_looks;                              /* it ends as soon as the hub stops */
    struct hub_api_pending *next;
    struct hub_api_pending *prev;
} hub_api_pending;

/* Events as they are sent to who has seen those up to `from`; kept, since many have. Nothing: `to` is
 * `from`. */
typedef struct hub_api_piece {
    uint64_t from;
    uint64_t to;     /* so much they have seen then */
    uint64_t missed; /* of those in between */
    size_t count;    /* … and so many are told */
    hub_buf text;
} hub_api_piece;

hub_api_piece *hub_api_piece_of(hub_api *api);

#endif
