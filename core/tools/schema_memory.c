/* SPDX-License-Identifier: Apache-2.0 */
/* Not base/arena: a check walks up and down the value, and gives back on the way up. */
#include "tools/schema_internal.h"

#include <stddef.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 8192 };

struct hub_schema_chunk {
    hub_schema_chunk *next; /* the older one */
    size_t used;
    size_t size;
    max_align_t data[];
};

static hub_schema_chunk *add_chunk(hub_schema_memory *memory, size_t needed)
{
    hub_schema_chunk *chunk = memory->spare;
    if (chunk != NULL && chunk->size >= needed) {
        memory->spare = NULL;
    } else {
        size_t size = needed > CHUNK_BYTES ? needed : CHUNK_BYTES;
        if (size > HUB_SCHEMA_MEMORY_BYTES - memory->bytes) {
            memory->failed = HUB_ELIMIT;
            return NULL;
        }
        chunk = malloc(offsetof(hub_schema_chunk, data) + size);
        if (chunk == NULL) {
            memory->failed = HUB_ENOMEM;
            return NULL;
        }
        chunk->size = size;
        memory->bytes += size;
    }
    chunk->used = 0;
    chunk->next = memory->head;
    memory->head = chunk;
    return chunk;
}

void *hub_schema_alloc(hub_schema_memory *memory, size_t count, size_t element_bytes)
{
    if (element_bytes != 0 && count > HUB_SCHEMA_MEMORY_BYTES / element_bytes) {
        memory->failed = HUB_ELIMIT;
        return NULL;
    }
    size_t bytes = count * element_bytes;
    bytes += (sizeof(max_align_t) - bytes % sizeof(max_align_t)) % sizeof(max_align_t);
    hub_schema_chunk *chunk = memory->head;
    if (chunk == NULL || chunk->size - chunk->used < bytes) {
        chunk = add_chunk(memory, bytes);
        if (chunk == NULL) {
            return NULL;
        }
    }
    char *piece = (char *)chunk->data + chunk->used;
    chunk->used += bytes;
    return memset(piece, 0, bytes);
}

hub_schema_mark hub_schema_mark_get(const hub_schema_memory *memory)
{
    return (hub_schema_mark){.chunk = memory->head, .used = memory->head ? memory->head->used : 0};
}

void hub_schema_release(hub_schema_memory *memory, hub_schema_mark mark)
{
    while (memory->head != mark.chunk) {
        hub_schema_chunk *chunk = memory->head;
        memory->head = chunk->next;
        if (memory->spare == NULL && chunk->size == CHUNK_BYTES) {
            memory->spare = chunk;
        } else {
            memory->bytes -= chunk->size;
            free(chunk);
        }
    }
    if (memory->head != NULL) {
        memory->head->used = mark.used;
    }
}

void hub_schema_memory_fini(hub_schema_memory *memory)
{
    hub_schema_release(memory, (hub_schema_mark){.chunk = NULL});
    free(memory->spare);
    *memory = (hub_schema_memory){.head = NULL};
}
