/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash maps: uthash, with a hash function that depends on a random number of this process, so that
 * nobody can choose names that all fall into one bucket. Include this instead of <uthash.h>.
 */
#ifndef HUB_BASE_MAP_H
#define HUB_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

/* The hash of `len` bytes; the same within one run, another in the next. Any thread. */
unsigned hub_map_hash(const void *key, size_t len);

#define HASH_FUNCTION(key, len, hash) ((hash) = hub_map_hash((key), (len)))
/* An element that did not go in for want of memory has no table: ask hub_map_has_taken. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Whether HASH_ADD… put an element in. `handle` is the element's, by which it was added: what
 * uthash does when memory is short (its documentation, "Out of memory"). */
static inline bool hub_map_has_taken(const UT_hash_handle *handle)
{
    return handle->tbl != NULL;
}

#endif
