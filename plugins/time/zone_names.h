/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's zones by name: finding, loading, listing and suggesting. Everything here reads the
 * disk: worker threads only.
 */
#ifndef TIME_ZONE_NAMES_H
#define TIME_ZONE_NAMES_H

#include "zone.h"

/* tzdata has about 600 names; the bound is for a TZDIR that points somewhere else. */
#define TIME_NAMES_MAX   4096
#define TIME_NAMES_DEPTH 4

typedef struct time_names {
    size_t count;
    char (*names)[TIME_ZONE_NAME_BYTES]; /* sorted bytewise */
} time_names;

/* $TZDIR, else /usr/share/zoneinfo. Borrowed from the environment. */
const char *time_zone_directory(void);

/* The zone called `name`: IANA name, "UTC", "Z", or an offset ("+02:00", "-0330", "+2"). What is
 * not there is refused with the nearest names. */
int time_zone_load(const char *directory, const char *name, time_zone *zone, time_problem *problem);

/* The system's zone: $TZ, where it names one; what /etc/localtime links to; /etc/timezone; UTC. */
void time_system_zone(const char *directory, char name[TIME_ZONE_NAME_BYTES]);

/* All names. The list is empty when the directory cannot be read; free with time_names_free. */
time_names time_names_list(const char *directory);
void time_names_free(time_names *names);

/* Whether `name` contains `query`, ignoring case and reading spaces as underscores. */
int time_name_matches(const char *name, const char *query);

/* The names most like `query`, best first; at most `max`. They live as long as `names`. */
size_t time_names_nearest(const time_names *names, const char *query, const char **ret_nearest,
                          size_t max);

#endif
