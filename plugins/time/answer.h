/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a caller wrote to an instant, and from an instant to JSON: what all tools of the
 * toolset have in common. Reads zone files: worker threads only.
 */
#ifndef TIME_ANSWER_H
#define TIME_ANSWER_H

#include "format.h"
#include "parse.h"
#include "zone_names.h"

#include <patchbay/toolset.h>

/* What the instance's handlers share; constant after setup. */
typedef struct time_settings {
    char *directory; /* of the zone files; owned */
    char default_zone[TIME_ZONE_NAME_BYTES];
} time_settings;

/* A time that a caller gave. */
typedef struct time_answer {
    time_moment moment;
    time_resolution resolution; /* count 1 unless a local time was ambiguous (2) or in a gap (0) */
    const char *kind;           /* how it was written */
} time_answer;

/* Load a zone for a call; `name` NULL is the default zone. NULL when refused. */
const time_zone *time_answer_zone(patchbay_tool_call *call, const char *name,
                                  time_problem *problem);

/* Read the argument `key` (text, number, or "now"), by `format` unless that is NULL. `zone_name`
 * (may be NULL) is the zone of a local time, and the one to show it in. */
int time_answer_read(patchbay_tool_call *call, const char *key, const char *format,
                     const char *zone_name, time_answer *ret_answer, time_problem *problem);

time_instant time_now(void);

/* Append the members of a moment, of how it was found, and both as an object. */
void time_put_moment(patchbay_out *out, const time_moment *moment);
void time_put_flags(patchbay_out *out, const time_zone *zone, const time_resolution *resolution);
void time_put_answer(patchbay_out *out, const time_answer *answer);

void time_put_text(patchbay_out *out, const char *key, const char *text);
void time_put_int(patchbay_out *out, const char *key, int64_t number);
void time_put_bool(patchbay_out *out, const char *key, int value);

/* Complete the call with what is wrong with its arguments. */
void time_fail(patchbay_tool_call *call, time_problem *problem);

#endif
