/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones: a strict reader of TZif files (RFC 8536, version 2 and later), including the rule in
 * their footer for the years after the table, and the questions that one asks a zone. Nothing
 * here touches TZ, tzset() or any other state of the process: pure functions on a value, any
 * thread.
 */
#ifndef TIME_ZONE_H
#define TIME_ZONE_H

#include "calendar.h"

/* Bounds of what a file may hold. The richest zone of tzdata has some 240 transitions ("fat" files)
 * and 20 types; a path in zoneinfo is at most 32 bytes long. */
#define TIME_ZONE_TRANSITIONS  1024
#define TIME_ZONE_TYPES        256
#define TIME_ZONE_ABBREV_BYTES 512
#define TIME_ZONE_RULE_BYTES   256
#define TIME_ZONE_NAME_BYTES   64
#define TIME_ZONE_FILE_BYTES   (128 * 1024)

/* Offsets that RFC 8536 lets a file have: local time minus UTC, in seconds. */
#define TIME_OFFSET_MIN (-89999)
#define TIME_OFFSET_MAX 93599

/* A day of the year on which clocks change, and when on that day. */
typedef struct time_rule_day {
    char kind; /* 'M': weekday `day` of week `week` of `month`; 'J': day 1 … 365, never the leap
                  day; 'D': day 0 … 365 */
    int month; /* 1 … 12 */
    int week;  /* 1 … 5, 5 being the last */
    int day;   /* see kind; weekdays from 0, Sunday */
    int32_t seconds; /* after midnight, by the clock before the change; -167 to 167 hours */
} time_rule_day;

/* A POSIX TZ string: what holds after the last transition of the table. */
typedef struct time_rule {
    int is_set;
    int has_dst;
    int32_t std_offset;
    int32_t dst_offset;
    char std_abbrev[32];
    char dst_abbrev[32];
    time_rule_day start; /* of daylight-saving time */
    time_rule_day end;
} time_rule;

/* One kind of local time. */
typedef struct time_type {
    int32_t offset;
    uint16_t abbrev; /* into abbrevs */
    uint8_t is_dst;
} time_type;

typedef struct time_zone {
    char name[TIME_ZONE_NAME_BYTES];
    size_t transition_count;
    size_t type_count;
    time_rule rule;
    char abbrevs[TIME_ZONE_ABBREV_BYTES];
    time_type types[TIME_ZONE_TYPES];
    int64_t transitions[TIME_ZONE_TRANSITIONS]; /* ascending */
    uint8_t type_after[TIME_ZONE_TRANSITIONS];
} time_zone;

/* The local time in force at an instant. */
typedef struct time_local {
    int32_t offset;
    int is_dst;
    const char *abbrev; /* lives as long as the zone */
} time_local;

/* The instants at which a wall clock shows a given time. */
typedef struct time_resolution {
    int count; /* 1: one; 2: the clock was turned back; 0: it was turned forward over it */
    int64_t
        seconds[2]; /* ascending; for count 0, [0] is as long after the gap as asked for in it */
} time_resolution;

/* Read a TZif file. `problem` says what is wrong with it. */
int time_zone_read(time_zone *zone, const char *name, const unsigned char *bytes, size_t len,
                   time_problem *problem);

/* A zone that has always been `offset` from UTC. `abbrev` NULL: the offset as text. */
void time_zone_fixed(time_zone *zone, const char *abbrev, int32_t offset);

/* Parse a POSIX TZ string with the extensions of TZif version 3. */
int time_rule_parse(time_rule *rule, const char *text, time_problem *problem);
time_local time_rule_at(const time_rule *rule, int64_t seconds);

time_local time_zone_at(const time_zone *zone, int64_t seconds);

/* Which instants a local time means; `local_seconds` as in calendar.h. */
time_resolution time_zone_resolve(const time_zone *zone, int64_t local_seconds);

/* "+02:00", or "+00:19:32" where seconds matter, into at least 10 bytes. */
void time_offset_text(int32_t offset, char *text);

#endif
