/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations: parsed from ISO 8601 or plain words, added to a time, and measured between two. Years,
 * months, weeks and days are steps on the calendar of a zone; hours and below are exact. Pure
 * functions, any thread.
 */
#ifndef TIME_DURATION_H
#define TIME_DURATION_H

#include "zone.h"

typedef struct time_duration {
    int64_t months;  /* with the years */
    int64_t days;    /* with the weeks */
    int64_t seconds; /* with hours and minutes; all members have the same sign, or are mixed by the
                        author ("1 month -2 days") */
    int32_t nanos;   /* -999999999 … 999999999 */
} time_duration;

/* No member of a duration exceeds this: more than 9999 years of seconds, and sums stay small. */
#define TIME_DURATION_MAX INT64_C(400000000000)

/* How an addition went. */
typedef struct time_sum {
    time_instant at;
    time_resolution resolution; /* of the date part; count 1 when there was none */
    int is_clamped;             /* the day did not exist in that month: its last day instead */
} time_sum;

/* "P1Y2M3DT4H5M6.7S", "-PT90M", "P2W", "1 day 2 hours", "-90 min", "1h30m". */
int time_duration_parse(const char *text, time_duration *ret_duration, time_problem *problem);

/* ISO 8601 of a duration, into at least TIME_DURATION_BYTES. All members must have one sign. */
#define TIME_DURATION_BYTES 96
void time_duration_text(const time_duration *duration, char *text);

/* `at` plus a duration on the calendar of `zone`: months, then days, then the exact rest. */
int time_add(const time_zone *zone, time_instant at, const time_duration *duration,
             time_sum *ret_sum, time_problem *problem);

/* The largest steps from one time to another: adding them to the earlier gives the later. Negative
 * when `to` is before `from`. */
int time_difference(const time_zone *zone, time_instant from, time_instant to,
                    time_duration *ret_duration, time_problem *problem);

#endif
