/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a time by a strftime() format. Pure functions, any thread. */
#ifndef TIME_FORMAT_H
#define TIME_FORMAT_H

#include "zone.h"

#include <patchbay/json.h>

/* An instant as the clocks of a zone show it. */
typedef struct time_moment {
    const time_zone *zone;
    time_instant at;
    time_local local;
    time_civil civil;
} time_moment;

/* Refused when the local time is outside the years 1 to 9999. */
int time_moment_make(const time_zone *zone, time_instant at, time_moment *ret_moment,
                     time_problem *problem);

/* Append `moment` by a format in the C locale: all of POSIX, plus %f (microseconds), %L
 * (milliseconds), %N (nanoseconds), %P, %k, %l, %s, %:z, and the flags "-", "_", "0" and "^". */
int time_format(patchbay_out *out, const char *format, const time_moment *moment,
                time_problem *problem);

#endif
