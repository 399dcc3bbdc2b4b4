/* SPDX-License-Identifier: Apache-2.0 */
/* A token bucket: so many at once, so many per second in the long run. A plain value struct. */
#ifndef TRANSPORTS_WEBSOCKET_BUCKET_H
#define TRANSPORTS_WEBSOCKET_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hub_ws_bucket {
    uint64_t from_ms; /* tokens have been earned back up to here: when it was made, to begin with */
    uint64_t spent;
} hub_ws_bucket;

/* Take a token, if there is one. Time is looked at only when none is left. */
static inline bool hub_ws_bucket_take(hub_ws_bucket *bucket, uint64_t now_ms, uint64_t at_once,
                                      uint64_t per_second)
{
    if (bucket->spent >= at_once) {
        uint64_t earned = (now_ms - bucket->from_ms) * per_second / 1000;
        if (earned == 0) {
            return false;
        }
        bucket->spent -= earned < bucket->spent ? earned : bucket->spent;
        bucket->from_ms = now_ms;
    }
    bucket->spent++;
    return true;
}

#endif
