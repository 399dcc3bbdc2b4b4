/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: many small pieces of memory that all die together. It allocates in chunks, never frees
 * a piece, and has a maximum. Owned by whoever created it; not thread-safe.
 */
#ifndef HUB_BASE_ARENA_H
#define HUB_BASE_ARENA_H

#include "base/err.h"

typedef struct hub_arena hub_arena;

/* An empty arena that hands out at most `max_bytes`. NULL when out of memory. */
hub_arena *hub_arena_create(size_t max_bytes);

/* Free every piece at once. NULL is fine. */
void hub_arena_destroy(hub_arena *arena);

/* The same, and overwrite them: there may be secrets among them. */
void hub_arena_wipe(hub_arena *arena);

/* A piece of zeroed memory, aligned for every type; never NULL but on failure, not even for 0
 * bytes. On failure hub_arena_failed says which one it was; a later, smaller piece may succeed. */
void *hub_arena_alloc(hub_arena *arena, size_t bytes);

/* hub_arena_alloc for `count` elements; a product that overflows is HUB_ELIMIT. */
void *hub_arena_array(hub_arena *arena, size_t count, size_t element_bytes);

/* A NUL-terminated copy. */
char *hub_arena_strdup(hub_arena *arena, hub_str text);

/* Finished text, NUL-terminated. */
char *hub_arena_printf(hub_arena *arena, const char *format, ...) HUB_PRINTF(2, 3);

/* Why the latest piece could not be had: HUB_ELIMIT or HUB_ENOMEM; HUB_OK when none ever failed. */
hub_err hub_arena_failed(const hub_arena *arena);

#endif
