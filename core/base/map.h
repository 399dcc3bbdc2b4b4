/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash maps: uthash, with a hash function that depends on a random number of this process, so that
 * nobody can choose names that all fall into one bucket. Include this instead of <uthash.h>.
 */
#ifndef HUB_BASE_MAP_H
#define HUB_BASE_MAP_H

#include <stddef.h>

/* The hash of `len` bytes; the same within one run, another in the next. Any thread. */
unsigned hub_map_hash(const void *key, size_t len);

#define HASH_FUNCTION(key, len, hash) ((hash) = hub_map_hash((key), (len)))
#include <uthash.h>

#endif
