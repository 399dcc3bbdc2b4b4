/* SPDX-License-Identifier: Apache-2.0 */
/* The generic cell rate algorithm (ITU-T I.371, annex A), written once more, for tests to hold buckets against. */
#ifndef PATCHBAY_TESTS_GCRA_ORACLE_H
#define PATCHBAY_TESTS_GCRA_ORACLE_H

#include "base/bucket.h"

__extension__ typedef unsigned __int128 oracle_time;

/* What the algorithm says, in whole numbers of another kind: every time in nanoseconds, times the
 * rate. */
typedef struct oracle {
    oracle_time due;
} oracle;

static inline bool oracle_takes(oracle *of, uint64_t now_ms, hub_bucket_rate rate)
{
    const oracle_time second = 1000000000u;
    oracle_time now = (oracle_time)now_ms * 1000000u * rate.per_second;
    oracle_time early = of->due > now ? of->due - now : 0;
    if (early > second * (rate.at_once - 1)) {
        return false;
    }
    of->due = (early > 0 ? of->due : now) + second;
    return true;
}

#endif
