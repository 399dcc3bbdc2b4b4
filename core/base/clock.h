/* SPDX-License-Identifier: Apache-2.0 */
/* Time. Durations and timers use the monotonic clock; wall time is for people only. Any thread. */
#ifndef HUB_BASE_CLOCK_H
#define HUB_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds on CLOCK_MONOTONIC. */
uint64_t hub_clock_now_ms(void);

/* The same, as of the last tick of the kernel (1 to 10 ms ago), for a fifth of the price. */
uint64_t hub_clock_coarse_ms(void);

/* Microseconds on CLOCK_MONOTONIC as of when the loop of hub_loop_new last woke up, which is when
 * what it works on was there; the time itself before there is one. Reading the clock is a fiftieth
 * of a call, and would be done for each of a batch of them. thread: [loop] */
uint64_t hub_clock_turn_us(void);
void hub_clock_begin_turn(void); /* the loop has woken up */
void hub_clock_renew_turn(void); /* somebody took long: what comes next has not waited so far */

/* Milliseconds since 1970, for people and for files; it may be set back. */
int64_t hub_clock_wall_ms(void);
uint64_t hub_clock_wall_ns(void); /* … nanoseconds */

/* "2026-07-28T12:00:00" of seconds since 1970, in UTC and without a zone; "": no calendar has them.
 * returns: ret_text */
#define HUB_CLOCK_TEXT_BYTES 32
const char *hub_clock_text(int64_t since_1970_s, char ret_text[HUB_CLOCK_TEXT_BYTES]);

/* Microseconds on CLOCK_MONOTONIC, for measuring. */
uint64_t hub_clock_now_us(void);

#endif
