/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token bucket: so many at once, so many per second in the long run, never more than both in any
 * stretch of time. It keeps one number, the time at which it will be full again, so there is
 * nothing to refill: the generic cell rate algorithm (ITU-T I.371, annex A). A plain value struct;
 * all zero is a full one. The caller says what time it is, on a clock that is never set back.
 *
 * The number counts steps of 1/per_second milliseconds: a token is 1,000 of them at any rate, so
 * nothing is ever rounded. Whoever changes a rate says so (hub_bucket_change).
 */
#ifndef HUB_BASE_BUCKET_H
#define HUB_BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* The most that a bucket may hold, and earn per second: 64 bits of steps last for 584 years. */
#define HUB_BUCKET_MOST 1000000u

/* Steps of one token. */
#define HUB_BUCKET_TOKEN UINT64_C(1000)

typedef struct hub_bucket {
    uint64_t full; /* when it is full again, in steps; any time that has passed: it is */
} hub_bucket;

typedef struct hub_bucket_rate {
    uint32_t per_second; /* 1 to HUB_BUCKET_MOST */
    uint32_t at_once;    /* 1 to HUB_BUCKET_MOST */
} hub_bucket_rate;

/* What has been taken and not been earned again, in steps. */
static inline uint64_t hub_bucket_owes(const hub_bucket *bucket, uint64_t now_ms,
                                       hub_bucket_rate rate)
{
    uint64_t now = now_ms * rate.per_second;
    return bucket->full > now ? bucket->full - now : 0;
}

/* Milliseconds, rounded up, until there is a token; 0: there is one. */
static inline uint32_t hub_bucket_wait_ms(const hub_bucket *bucket, uint64_t now_ms,
                                          hub_bucket_rate rate)
{
    uint64_t owed = hub_bucket_owes(bucket, now_ms, rate);
    uint64_t most = HUB_BUCKET_TOKEN * (rate.at_once - 1);
    return owed > most ? (uint32_t)((owed - most + rate.per_second - 1) / rate.per_second) : 0;
}

/* Take a token that is there. */
static inline void hub_bucket_spend(hub_bucket *bucket, uint64_t now_ms, hub_bucket_rate rate)
{
    bucket->full =
        now_ms * rate.per_second + hub_bucket_owes(bucket, now_ms, rate) + HUB_BUCKET_TOKEN;
}

/* Take a token, if there is one. */
static inline bool hub_bucket_take(hub_bucket *bucket, uint64_t now_ms, hub_bucket_rate rate)
{
    if (hub_bucket_wait_ms(bucket, now_ms, rate) > 0) {
        return false;
    }
    hub_bucket_spend(bucket, now_ms, rate);
    return true;
}

/* Whether nothing is owed: a new one would be the same. */
static inline bool hub_bucket_is_full(const hub_bucket *bucket, uint64_t now_ms,
                                      hub_bucket_rate rate)
{
    return hub_bucket_owes(bucket, now_ms, rate) == 0;
}

/* Another rate from now on. What is owed stays owed, up to all that the bucket may hold now; with a
 * rate of 0 on either side nothing is. */
static inline void hub_bucket_change(hub_bucket *bucket, uint64_t now_ms, hub_bucket_rate from,
                                     hub_bucket_rate to)
{
    uint64_t owed = from.per_second > 0 ? hub_bucket_owes(bucket, now_ms, from) : 0;
    uint64_t most = HUB_BUCKET_TOKEN * to.at_once;
    bucket->full =
        to.per_second > 0 && owed > 0 ? now_ms * to.per_second + (owed < most ? owed : most) : 0;
}

#endif
