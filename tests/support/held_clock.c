/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD: a monotonic clock that a test sets. The file that PATCHBAY_TEST_CLOCK names holds eight bytes, the
 * milliseconds that CLOCK_MONOTONIC and its coarse form show; 0: the kernel's own. Other clocks go on. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile const uint64_t *shown_ms;

__attribute__((constructor)) static void map_clock(void)
{
    const char *path = getenv("PATCHBAY_TEST_CLOCK");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        void *at = mmap(NULL, sizeof *shown_ms, PROT_READ, MAP_SHARED, fd, 0);
        shown_ms = at != MAP_FAILED ? at : NULL;
        (void)close(fd);
    }
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int is_held = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE;
    uint64_t ms = shown_ms != NULL && is_held ? *shown_ms : 0;
    if (ms == 0) {
        return (int)syscall(SYS_clock_gettime, clock, now);
    }
    now->tv_sec = (time_t)(ms / 1000);
    now->tv_nsec = (long)(ms % 1000) * 1000000;
    return 0;
}
