/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

uint64_t hub_clock_now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock on Linux */
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

uint64_t hub_clock_now_ms(void)
{
    return hub_clock_now_us() / 1000u;
}

uint64_t hub_clock_coarse_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* likewise */
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static uint64_t turn_us;

void hub_clock_begin_turn(void)
{
    turn_us = hub_clock_now_us();
}

void hub_clock_renew_turn(void)
{
    turn_us = turn_us != 0 ? hub_clock_now_us() : 0;
}

/* Apart, so that whoever asks in a turn has no stack to prepare for it. */
__attribute__((noinline)) static uint64_t without_turn(void)
{
    return hub_clock_now_us();
}

uint64_t hub_clock_turn_us(void)
{
    return turn_us != 0 ? turn_us : without_turn();
}

uint64_t hub_clock_wall_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now); /* likewise */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t hub_clock_wall_ms(void)
{
    return (int64_t)(hub_clock_wall_ns() / 1000000u);
}

const char *hub_clock_text(int64_t since_1970_s, char ret_text[HUB_CLOCK_TEXT_BYTES])
{
    time_t seconds = (time_t)since_1970_s;
    struct tm utc;
    ret_text[0] = '\0';
    if (gmtime_r(&seconds, &utc) != NULL) {
        (void)strftime(ret_text, HUB_CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &utc); /* fits */
    }
    return ret_text;
}
