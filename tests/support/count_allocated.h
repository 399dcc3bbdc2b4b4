/* SPDX-License-Identifier: Apache-2.0 */
/* How much a test program has allocated: for tests that come back to where they began. Each program that
 * includes this has its own count, and its own malloc. */
#ifndef PATCHBAY_COUNT_ALLOCATED_H
#define PATCHBAY_COUNT_ALLOCATED_H

#include "hub_fixture.h"

#include <stdatomic.h>
#include <stdlib.h>

/* What is allocated now: bytes where a sanitizer counts them, else blocks. (mallinfo2 says neither:
 * it takes what the allocator keeps for the next time for used.) */
#if IS_SANITIZED
static size_t count_allocated(void)
{
    return fixture_allocated();
}
#else
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

static atomic_size_t blocks;

static void *count_block(void *block)
{
    blocks += block != NULL;
    return block;
}

void *malloc(size_t size)
{
    return count_block(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return count_block(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    return block == NULL ? malloc(size) : __libc_realloc(block, size);
}

void free(void *block)
{
    blocks -= block != NULL;
    __libc_free(block);
}

static size_t count_allocated(void)
{
    return blocks;
}
#endif

#endif
