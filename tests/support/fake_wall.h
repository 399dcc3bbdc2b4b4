/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wall clock that somebody sets, and a monotonic one that may stand still: defines clock_gettime and gettimeofday for the whole program and
 * the libraries that it is linked with (libev has the latter). Durations must not notice. For one file of a test program.
 */
#ifndef FAKE_WALL_H
#define FAKE_WALL_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static uint64_t fake_wall_mono_ms; /* what the monotonic clock says; 0: what the kernel's does */
static long fake_wall_step_s;      /* how far the wall clock is from the kernel's */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME) {
        now->tv_sec += fake_wall_step_s;
    }
    if (clock == CLOCK_MONOTONIC && fake_wall_mono_ms > 0) {
        now->tv_sec = (time_t)(fake_wall_mono_ms / 1000);
        now->tv_nsec = (long)(fake_wall_mono_ms % 1000) * 1000000;
    }
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    int result = (int)syscall(SYS_gettimeofday, now, zone);
    now->tv_sec += fake_wall_step_s;
    return result;
}

#endif
