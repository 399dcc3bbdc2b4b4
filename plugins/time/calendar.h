/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proleptic Gregorian calendar: instants, civil times, and what follows from a date alone.
 * Years 1 to 9999, which is what four digits can say; leap seconds do not exist, as in POSIX. Pure
 * functions, any thread.
 */
#ifndef TIME_CALENDAR_H
#define TIME_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

/* Why something was refused: one sentence that tells what to do instead. */
typedef struct time_problem {
    char text[512];
} time_problem;

/* Fill `problem`; always 0, so that callers can `return time_refuse(…)`. */
__attribute__((format(printf, 2, 3))) int time_refuse(time_problem *problem, const char *format,
                                                      ...);

/* A point in time: seconds since 1970-01-01T00:00:00Z, rounded down, and the rest. */
typedef struct time_instant {
    int64_t seconds;
    int32_t nanos; /* 0 … 999999999 */
} time_instant;

#define TIME_FIRST_SECOND INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
#define TIME_LAST_SECOND  INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

/* A date and a time of day, as a clock on a wall shows them. */
typedef struct time_civil {
    int64_t year;
    int month; /* 1 … 12 */
    int day;   /* 1 … 31 */
    int hour;
    int minute;
    int second;
    int32_t nanos;
} time_civil;

/* What the week calendar of ISO 8601 says of a date. */
typedef struct time_week {
    int64_t year;
    int week;    /* 1 … 53 */
    int weekday; /* 1 Monday … 7 Sunday */
} time_week;

int time_month_days(int64_t year, int month);
int time_year_days(int64_t year);

/* Days since 1970-01-01 of a date, which may be any year. */
int64_t time_days(int64_t year, int month, int day);

/* The date that ISO 8601 calls week `week`, day `weekday` of `year`, as days since 1970-01-01. */
int64_t time_days_of_week(int64_t year, int week, int weekday);
int time_weeks_in_year(int64_t year);

/* "Local seconds" are seconds since 1970-01-01T00:00:00 of the same wall clock. */
int64_t time_local_seconds(const time_civil *civil);
time_civil time_civil_of(int64_t local_seconds, int32_t nanos);

int time_weekday(const time_civil *civil);     /* 0 Sunday … 6 Saturday */
int time_day_of_year(const time_civil *civil); /* 1 … 366 */
time_week time_week_of(const time_civil *civil);

/* Whether the members are a date and a time of day in years 1 to 9999; says what is wrong. */
int time_civil_check(const time_civil *civil, time_problem *problem);

/* Whether an instant, seen at an offset from UTC, is in years 1 to 9999. */
int time_instant_check(time_instant at, int32_t offset, time_problem *problem);

extern const char *const time_month_names[12];
extern const char *const time_weekday_names[7]; /* from Sunday */

#endif
