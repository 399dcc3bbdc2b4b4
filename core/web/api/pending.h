/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the API that wait for something, so that they end with it. Thread: [loop]. */
#ifndef HUB_WEB_API_PENDING_H
#define HUB_WEB_API_PENDING_H

#include "web/api/api.h"

/* Embed it first. It stands in a list of the API for as long as it waits. */
typedef struct hub_api_pending {
    void (*end)(struct hub_api_pending *pending); /* answer now, and leave the list */
    const hub_identity *identity;                 /* whose it is; only compared */
    bool only_looks;                              /* it ends as soon as the hub stops */
    struct hub_api_pending *next;
    struct hub_api_pending *prev;
} hub_api_pending;

#endif
