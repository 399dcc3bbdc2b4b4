/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Large enough that a manifest takes a handful of chunks, small enough to waste nothing on a tiny
 * one. */
enum { CHUNK_BYTES = 16 * 1024 };

typedef struct chunk {
    struct chunk *older;
    size_t used;
    size_t room;
    _Alignas(max_align_t) char bytes[];
} chunk;

struct hub_arena {
    chunk *newest;
    size_t left_bytes; /* of the maximum */
    hub_err failed;
};

static chunk *add_chunk(hub_arena *arena, size_t room)
{
    chunk *added = calloc(1, sizeof *added + room);
    if (added == NULL) {
        arena->failed = HUB_ENOMEM;
        return NULL;
    }
    added->room = room;
    added->older = arena->newest;
    arena->newest = added;
    return added;
}

hub_arena *hub_arena_create(size_t max_bytes)
{
    hub_arena *arena = calloc(1, sizeof *arena);
    if (arena != NULL) {
        arena->left_bytes = max_bytes;
    }
    return arena;
}

void hub_arena_destroy(hub_arena *arena)
{
    if (arena == NULL) {
        return;
    }
    while (arena->newest != NULL) {
        chunk *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
    free(arena);
}

void hub_arena_wipe(hub_arena *arena)
{
    for (chunk *one = arena != NULL ? arena->newest : NULL; one != NULL; one = one->older) {
        explicit_bzero(one->bytes, one->used);
    }
    hub_arena_destroy(arena);
}

void *hub_arena_alloc(hub_arena *arena, size_t bytes)
{
    const size_t align = _Alignof(max_align_t);
    if (bytes > arena->left_bytes) {
        arena->failed = HUB_ELIMIT;
        return NULL;
    }
    if (bytes > SIZE_MAX - sizeof(chunk) - align) {
        arena->failed = HUB_ENOMEM;
        return NULL;
    }
    size_t needed = bytes == 0 ? align : (bytes + align - 1) / align * align;
    chunk *into = arena->newest;
    if (into == NULL || into->room - into->used < needed) {
        into = add_chunk(arena, needed > CHUNK_BYTES ? needed : CHUNK_BYTES);
        if (into == NULL) {
            return NULL;
        }
    }
    char *piece = into->bytes + into->used;
    into->used += needed;
    arena->left_bytes -= bytes;
    return piece;
}

void *hub_arena_array(hub_arena *arena, size_t count, size_t element_bytes)
{
    if (element_bytes != 0 && count > SIZE_MAX / element_bytes) {
        arena->failed = HUB_ELIMIT;
        return NULL;
    }
    return hub_arena_alloc(arena, count * element_bytes);
}

char *hub_arena_strdup(hub_arena *arena, hub_str text)
{
    if (text.len == SIZE_MAX) {
        arena->failed = HUB_ELIMIT;
        return NULL;
    }
    char *copy = hub_arena_alloc(arena, text.len + 1);
    if (copy != NULL && text.len > 0) {
        memcpy(copy, text.ptr, text.len);
    }
    return copy;
}

char *hub_arena_printf(hub_arena *arena, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = NULL;
    if (len < 0) {
        arena->failed = HUB_ELIMIT; /* longer than INT_MAX */
    } else {
        text = hub_arena_alloc(arena, (size_t)len + 1);
    }
    if (text != NULL) {
        (void)vsnprintf(text, (size_t)len + 1, format, again); /* measured above */
    }
    va_end(again);
    return text;
}

hub_err hub_arena_failed(const hub_arena *arena)
{
    return arena->failed;
}
