/* SPDX-License-Identifier: Apache-2.0 */
/* Reading times as people and programs write them. Pure functions, any thread. */
#ifndef TIME_PARSE_H
#define TIME_PARSE_H

#include "zone.h"

/* What a text says; not yet which instant it means, for which a zone may be needed. */
typedef struct time_parsed {
    const char *kind;  /* "iso8601", "rfc2822", "unix_seconds", "unix_milliseconds", "format" */
    int is_instant;    /* `at` is set, `civil` is not: Unix time */
    time_instant at;   /* see is_instant */
    time_civil civil;  /* checked; local time if nothing else is said */
    int carry_seconds; /* to add to `civil`: for 24:00 and for second 60 */
    int has_offset;    /* `offset` from UTC was written */
    int is_utc;        /* it was written as "Z", which says nothing about the local clock */
    int32_t offset;
    char zone[TIME_ZONE_NAME_BYTES]; /* "[Europe/Berlin]" (RFC 9557), or a %Z; empty: none */
} time_parsed;

/* ISO 8601 (calendar, week and ordinal dates, basic and extended), RFC 3339, RFC 9557, RFC 2822,
 * and Unix time in seconds or milliseconds; "@" in front makes any number Unix time. */
int time_parse(const char *text, time_parsed *ret_parsed, time_problem *problem);

/* By a strptime() format: %a %A %b %B %h %d %e %f %F %D %G %H %I %j %k %l %m %M %n %p %P %R %s %S
 * %t %T %u %V %y %Y %z %Z %%. A space matches any white space. */
int time_parse_format(const char *text, const char *format, time_parsed *ret_parsed,
                      time_problem *problem);

/* ---- shared by both -------------------------------------------------------------------------- */

/* Read at least `min` and at most `max` (1 … 18) digits. */
int time_scan_digits(const char **at, int min, int max, int64_t *ret_number);

/* Read one to nine digits and more as a fraction of a second. */
int time_scan_fraction(const char **at, int32_t *ret_nanos);

/* Read "Z", "+hh", "+hhmm" or "+hh:mm". */
int time_scan_offset(const char **at, time_parsed *parsed);

/* Read a name out of a list, whole or by its first three letters: the index, or -1. */
int time_scan_name(const char **at, const char *const *names, int count);

/* Turn 24:00 and second 60 into a carry, and check the result. */
int time_parsed_check(time_parsed *parsed, time_problem *problem);

#endif
