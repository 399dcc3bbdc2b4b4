/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that runs out in a unit test: the n-th allocation of the code under test fails. The linker
 * puts these in front of malloc, calloc and realloc (a test that includes this file is linked with
 * --wrap), so libraries and the sanitizers keep their own.
 *
 *     for (size_t n = 1; memory_fails_at(n); n++) {
 *         hub_err err = function_under_test(…);
 *         if (memory_has_failed()) {
 *             (the error is HUB_ENOMEM, and nothing is left behind)
 *         }
 *     }
 *
 * Thread: any, one at a time.
 */
#ifndef PATCHBAY_TESTS_FAIL_MEMORY_H
#define PATCHBAY_TESTS_FAIL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

static size_t memory_fail_at; /* 0: never */
static size_t memory_count;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static inline bool memory_is_out(void)
{
    return memory_fail_at > 0 && ++memory_count == memory_fail_at;
}

void *__wrap_malloc(size_t size)
{
    return memory_is_out() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return memory_is_out() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return memory_is_out() ? NULL : __real_realloc(old, size);
}

/* Whether an allocation has failed since memory_fails_at. Ends the counting. */
static inline bool memory_has_failed(void)
{
    bool has = memory_fail_at > 0 && memory_count >= memory_fail_at;
    memory_fail_at = 0;
    return has;
}

/* From now on count, and fail the n-th. False when the last round got by without so many. */
static inline bool memory_fails_at(size_t n)
{
    static bool had_enough;
    if (n == 1) {
        had_enough = false;
    } else if (memory_count < n - 1) {
        had_enough = true;
    }
    memory_fail_at = had_enough ? 0 : n;
    memory_count = 0;
    return !had_enough;
}

#endif
