/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include "base/str.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

static pthread_once_t seed_once = PTHREAD_ONCE_INIT;
static uint64_t seed;

static void make_seed(void)
{
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        seed = (uintptr_t)&seed; /* early in boot: where the program was loaded is random, too */
    }
}

/* The finaliser of splitmix64: every bit of the input reaches every bit of the result. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Fewer than eight bytes, by loads of fixed lengths: a copy of `len` bytes is a call. */
static uint64_t read_rest(const unsigned char *at, size_t len)
{
    if (len >= 4) {
        return (uint64_t)hub_load4(at) << 32 | hub_load4(at + len - 4);
    }
    return len == 0 ? 0 : (uint64_t)at[0] << 16 | (uint64_t)at[len / 2] << 8 | at[len - 1];
}

unsigned hub_map_hash(const void *key, size_t len)
{
    const unsigned char *at = key;
    (void)pthread_once(&seed_once, make_seed); /* cannot fail with a static control */
    uint64_t hash = seed ^ len * UINT64_C(0x9e3779b97f4a7c15); /* apart from what follows it */
    for (; len >= sizeof hash; at += sizeof hash, len -= sizeof hash) {
        hash = mix(hash ^ hub_load8(at));
    }
    return (unsigned)mix(hash ^ read_rest(at, len));
}
