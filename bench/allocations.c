/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into a hub, counts what it allocates (S2.5): calls of malloc, calloc, realloc and the aligned
 * ones that take memory, in all threads. The count lies in the file that BENCH_ALLOCATIONS names,
 * as one uint64_t, and can be read at any time. Other programs that inherit the variables are not
 * counted: only the one whose name is "patchbay".
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The C library's own names for them: no look-up by dlsym, which allocates. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static uint64_t nobody;
static uint64_t *counter = &nobody;

__attribute__((constructor)) static void open_counter(void)
{
    const char *path = getenv("BENCH_ALLOCATIONS");
    if (path == NULL || strcmp(program_invocation_short_name, "patchbay") != 0) {
        return;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *counter) != 0) {
        abort();
    }
    void *mapped = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        abort();
    }
    (void)close(fd);
    counter = mapped;
}

static void count(void)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t bytes)
{
    count();
    return __libc_malloc(bytes);
}

void *calloc(size_t items, size_t bytes)
{
    count();
    return __libc_calloc(items, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    count();
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    count();
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **ret_memory, size_t alignment, size_t bytes)
{
    count();
    *ret_memory = __libc_memalign(alignment, bytes);
    return *ret_memory != NULL ? 0 : ENOMEM;
}
