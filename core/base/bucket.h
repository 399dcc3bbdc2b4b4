/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token bucket: so many at once, so many per second in the long run, never more than both in any
 * stretch of time. It keeps one number, the time at which it will be full again, so there is
 * nothing to refill. A plain value struct; all zero is a full one. The caller says what time it is.
 */
#ifndef HUB_BASE_BUCKET_H
#define HUB_BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* The most that a bucket may hold, and earn per second: products of both stay in 64 bits. */
#define HUB_BUCKET_MOST 1000000u

typedef struct hub_bucket {
    uint64_t full_ns; /* when it is full again; any time that has passed: it is */
} hub_bucket;

typedef struct hub_bucket_rate {
    uint32_t per_second; /* 1 to HUB_BUCKET_MOST */
    uint32_t at_once;    /* 1 to HUB_BUCKET_MOST */
} hub_bucket_rate;

static inline uint64_t hub_bucket_step_ns(hub_bucket_rate rate)
{
    return UINT64_C(1000000000) / rate.per_second;
}

/* Milliseconds, rounded up, until there is a token; 0: there is one. */
static inline uint32_t hub_bucket_wait_ms(const hub_bucket *bucket, uint64_t now_ms,
                                          hub_bucket_rate rate)
{
    uint64_t now_ns = now_ms * 1000000;
    uint64_t owed_ns = bucket->full_ns > now_ns ? bucket->full_ns - now_ns : 0;
    uint64_t most_ns = hub_bucket_step_ns(rate) * (rate.at_once - 1);
    return owed_ns > most_ns ? (uint32_t)((owed_ns - most_ns + 999999) / 1000000) : 0;
}

/* Take a token that is there. */
static inline void hub_bucket_spend(hub_bucket *bucket, uint64_t now_ms, hub_bucket_rate rate)
{
    uint64_t now_ns = now_ms * 1000000;
    bucket->full_ns =
        (bucket->full_ns > now_ns ? bucket->full_ns : now_ns) + hub_bucket_step_ns(rate);
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
static inline bool hub_bucket_is_full(const hub_bucket *bucket, uint64_t now_ms)
{
    return bucket->full_ns <= now_ms * 1000000;
}

#endif
