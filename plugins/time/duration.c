/* SPDX-License-Identifier: Apache-2.0 */
#include "duration.h"

#include <stdio.h>
#include <string.h>

#define NANOS INT64_C(1000000000)

/* A unit, its spellings, and what one of it is. */
typedef struct time_unit {
    const char *words; /* between spaces */
    int months;
    int days;
    int64_t nanos; /* of an exact unit */
} time_unit;

static const time_unit units[] = {
    {" y yr yrs year years ", 12, 0, 0},
    {" mo mos mon month months ", 1, 0, 0},
    {" w wk wks week weeks ", 0, 7, 0},
    {" d day days ", 0, 1, 0},
    {" h hr hrs hour hours ", 0, 0, 3600 * NANOS},
    {" m min mins minute minutes ", 0, 0, 60 * NANOS},
    {" s sec secs second seconds ", 0, 0, NANOS},
    {" ms msec millisecond milliseconds ", 0, 0, NANOS / 1000},
    {" us microsecond microseconds ", 0, 0, 1000},
    {" ns nanosecond nanoseconds ", 0, 0, 1},
};

/* ISO 8601 letters, and the unit of each: before and after the "T". */
static const char iso_date_letters[] = "YMWD";
static const char iso_time_letters[] = "HMS";
#define ISO_TIME_UNITS 4 /* index in units[] of the first */

/* One "-12.5" of a duration. */
typedef struct time_quantity {
    int sign;
    int64_t whole;
    int32_t nanos; /* fraction, in billionths */
    int has_fraction;
} time_quantity;

static int refuse_duration(const char *text, time_problem *problem)
{
    return time_refuse(
        problem,
        "'%.100s' is not a duration; write ISO 8601 such as 'P1Y2M10DT2H30M', or plain "
        "units such as '1 day 2 hours' or '90m'",
        text);
}

static int parse_quantity(const char **at, time_quantity *ret_quantity)
{
    const char *p = *at;
    time_quantity quantity = {0};
    if (*p < '0' || *p > '9') {
        return 0;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        quantity.whole = quantity.whole * 10 + (*p - '0');
        if (quantity.whole > INT64_C(1000000000000000000) / 10) {
            return 0;
        }
    }
    if ((*p == '.' || *p == ',') && p[1] >= '0' && p[1] <= '9') {
        int32_t weight = 100000000;
        quantity.has_fraction = 1;
        for (p++; *p >= '0' && *p <= '9'; p++) {
            quantity.nanos += (*p - '0') * weight; /* further digits weigh nothing */
            weight /= 10;
        }
    }
    *ret_quantity = quantity;
    *at = p;
    return 1;
}

/* Add `quantity` units; 0 when the unit cannot have a fraction, or the sum leaves the range. */
static int accumulate(time_duration *duration, const time_unit *unit, const time_quantity *quantity)
{
    int64_t whole = quantity->whole;
    if (unit->nanos == 0) {
        if (quantity->has_fraction || whole > TIME_DURATION_MAX) {
            return 0;
        }
        duration->months += quantity->sign * whole * unit->months;
        duration->days += quantity->sign * whole * unit->days;
    } else {
        /* Split so that no product overflows: whole seconds, then the rest. */
        int64_t seconds = unit->nanos / NANOS;
        int64_t nanos = 0;
        if (seconds > 0) {
            if (whole > TIME_DURATION_MAX) {
                return 0;
            }
            nanos = quantity->nanos * seconds; /* at most 3600 seconds */
            seconds = seconds * whole + nanos / NANOS;
            nanos %= NANOS;
        } else {
            int64_t per_second = NANOS / unit->nanos;
            seconds = whole / per_second;
            nanos = whole % per_second * unit->nanos + quantity->nanos / per_second;
        }
        nanos = duration->nanos + quantity->sign * nanos;
        duration->seconds += quantity->sign * seconds + nanos / NANOS;
        duration->nanos = (int32_t)(nanos % NANOS);
    }
    return duration->months <= TIME_DURATION_MAX && duration->months >= -TIME_DURATION_MAX &&
           duration->days <= TIME_DURATION_MAX && duration->days >= -TIME_DURATION_MAX &&
           duration->seconds <= TIME_DURATION_MAX && duration->seconds >= -TIME_DURATION_MAX;
}

/* After the "P". Each unit at most once and in order; a fraction only on the last. */
static int parse_iso(const char *at, int sign, time_duration *duration)
{
    const char *letters = iso_date_letters;
    size_t first = 0;
    int count = 0;
    int in_time = 0;
    while (*at != '\0') {
        time_quantity quantity;
        if (*at == 'T' && !in_time) {
            in_time = 1;
            letters = iso_time_letters;
            first = ISO_TIME_UNITS;
            at++;
        }
        if (!parse_quantity(&at, &quantity) || *at == '\0') {
            return 0;
        }
        const char *letter = strchr(letters, *at);
        if (letter == NULL || (quantity.has_fraction && at[1] != '\0')) {
            return 0;
        }
        quantity.sign = sign;
        if (!accumulate(duration, &units[first + (size_t)(letter - letters)], &quantity)) {
            return 0;
        }
        first += (size_t)(letter - letters) + 1;
        letters = letter + 1;
        count++;
        at++;
    }
    return count > 0;
}

static const time_unit *find_unit(const char *word, size_t len)
{
    char spaced[20];
    if (len == 0 || len + 3 > sizeof spaced) {
        return NULL;
    }
    spaced[0] = ' ';
    for (size_t i = 0; i < len; i++) {
        spaced[i + 1] = (char)(word[i] >= 'A' && word[i] <= 'Z' ? word[i] - 'A' + 'a' : word[i]);
    }
    spaced[len + 1] = ' ';
    spaced[len + 2] = '\0';
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strstr(units[i].words, spaced) != NULL) {
            return &units[i];
        }
    }
    return NULL;
}

static const char *skip_filler(const char *at)
{
    for (;;) {
        at += strspn(at, " \t,");
        if (strncmp(at, "and ", 4) != 0) {
            return at;
        }
        at += 4;
    }
}

/* "1 day 2 hours"; a sign counts for everything up to the next one. */
static int parse_plain(const char *at, time_duration *duration)
{
    int sign = 1;
    int count = 0;
    at = skip_filler(at);
    while (*at != '\0') {
        time_quantity quantity;
        if (*at == '+' || *at == '-') {
            sign = *at == '-' ? -1 : 1;
            at = skip_filler(at + 1);
        }
        if (!parse_quantity(&at, &quantity)) {
            return 0;
        }
        quantity.sign = sign;
        at += strspn(at, " \t");
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const time_unit *unit = find_unit(at, len);
        if (unit == NULL || !accumulate(duration, unit, &quantity)) {
            return 0;
        }
        at = skip_filler(at + len);
        count++;
    }
    return count > 0;
}

int time_duration_parse(const char *text, time_duration *ret_duration, time_problem *problem)
{
    time_duration duration = {0};
    size_t sign_len = text[0] == '-' || text[0] == '+';
    int ok = text[sign_len] == 'P'
                 ? parse_iso(text + sign_len + 1, text[0] == '-' ? -1 : 1, &duration)
                 : parse_plain(text, &duration);
    if (!ok) {
        return refuse_duration(text, problem);
    }
    *ret_duration = duration;
    return 1;
}

typedef struct text_part {
    int64_t amount;
    char letter;
} text_part;

/* Append "12D" and the like; parts that are 0 are left out. */
static char *put_parts(char *at, const char *end, const text_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].amount != 0) {
            at += snprintf(at, (size_t)(end - at), "%lld%c", (long long)parts[i].amount,
                           parts[i].letter);
        }
    }
    return at;
}

void time_duration_text(const time_duration *duration, char *text)
{
    const char *end = text + TIME_DURATION_BYTES;
    int negative =
        duration->months < 0 || duration->days < 0 || duration->seconds < 0 || duration->nanos < 0;
    int sign = negative ? -1 : 1;
    int64_t months = sign * duration->months;
    int64_t seconds = sign * duration->seconds;
    int32_t nanos = sign * duration->nanos;
    const text_part date[] = {{months / 12, 'Y'}, {months % 12, 'M'}, {sign * duration->days, 'D'}};
    const text_part clock[] = {{seconds / 3600, 'H'}, {seconds / 60 % 60, 'M'}};
    char *at = text + snprintf(text, TIME_DURATION_BYTES, "%sP", negative ? "-" : "");
    const char *start = at;
    at = put_parts(at, end, date, 3);
    if (seconds != 0 || nanos != 0) {
        *at++ = 'T';
        at = put_parts(at, end, clock, 2);
        if (nanos != 0) {
            at += snprintf(at, (size_t)(end - at), "%d.%09d", (int)(seconds % 60), (int)nanos);
            while (at[-1] == '0') {
                at--;
            }
            (void)snprintf(at, (size_t)(end - at), "S");
            return;
        }
        const text_part last[] = {{seconds % 60, 'S'}};
        at = put_parts(at, end, last, 1);
    }
    if (at == start) {
        (void)snprintf(at, (size_t)(end - at), "T0S");
        return;
    }
    *at = '\0';
}

/* ---- arithmetic -------------------------------------------------------------------------------
 */

static int compare(time_instant a, time_instant b)
{
    if (a.seconds != b.seconds) {
        return a.seconds < b.seconds ? -1 : 1;
    }
    return (a.nanos > b.nanos) - (a.nanos < b.nanos);
}

static int add_exact(time_instant *at, int64_t seconds, int64_t nanos)
{
    nanos += at->nanos;
    at->seconds += seconds + nanos / NANOS;
    at->nanos = (int32_t)(nanos % NANOS);
    if (at->nanos < 0) {
        at->nanos += (int32_t)NANOS;
        at->seconds--;
    }
    return at->seconds >= TIME_FIRST_SECOND && at->seconds <= TIME_LAST_SECOND;
}

int time_add(const time_zone *zone, time_instant at, const time_duration *duration,
             time_sum *ret_sum, time_problem *problem)
{
    time_sum sum = {.at = at, .resolution = {.count = 1, .seconds = {at.seconds, 0}}};
    if (duration->months != 0 || duration->days != 0) {
        time_local local = time_zone_at(zone, at.seconds);
        time_civil civil = time_civil_of(at.seconds + local.offset, at.nanos);
        int64_t months = civil.year * 12 + civil.month - 1 + duration->months;
        if (months < 12 || months >= INT64_C(120000)) {
            return time_refuse(problem, "the result is outside the years 1 to 9999");
        }
        civil.year = months / 12;
        civil.month = (int)(months % 12) + 1;
        int days = time_month_days(civil.year, civil.month);
        sum.is_clamped = civil.day > days;
        civil.day = sum.is_clamped ? days : civil.day;
        int64_t seconds = time_local_seconds(&civil) + duration->days * 86400;
        if (seconds < TIME_FIRST_SECOND || seconds > TIME_LAST_SECOND) {
            return time_refuse(problem, "the result is outside the years 1 to 9999");
        }
        sum.resolution = time_zone_resolve(zone, seconds);
        sum.at.seconds = sum.resolution.seconds[0];
        /* Of two instants with that wall time, stay on the side that one came from. */
        if (sum.resolution.count == 2 &&
            time_zone_at(zone, sum.resolution.seconds[1]).offset == local.offset) {
            sum.at.seconds = sum.resolution.seconds[1];
        }
    }
    if (!add_exact(&sum.at, duration->seconds, duration->nanos)) {
        return time_refuse(problem, "the result is outside the years 1 to 9999");
    }
    *ret_sum = sum;
    return 1;
}

/* Lower `*step` (a member of `duration`, at most some too large) until the sum does not pass `to`.
 */
static void fit_step(const time_zone *zone, time_instant from, time_instant to,
                     time_duration *duration, int64_t *step, time_problem *problem)
{
    time_sum sum = {0};
    while (*step > 0 &&
           (!time_add(zone, from, duration, &sum, problem) || compare(sum.at, to) > 0)) {
        --*step;
    }
}

int time_difference(const time_zone *zone, time_instant from, time_instant to,
                    time_duration *ret_duration, time_problem *problem)
{
    time_duration duration = {0};
    time_sum sum = {0};
    int is_backward = compare(from, to) > 0;
    time_instant early = is_backward ? to : from;
    time_instant late = is_backward ? from : to;
    time_civil a = time_civil_of(early.seconds + time_zone_at(zone, early.seconds).offset, 0);
    time_civil b = time_civil_of(late.seconds + time_zone_at(zone, late.seconds).offset, 0);
    /* First guesses that are never too small; a zone may have skipped a day, hence the 2. */
    duration.months = (b.year - a.year) * 12 + b.month - a.month;
    fit_step(zone, early, late, &duration, &duration.months, problem);
    if (!time_add(zone, early, &duration, &sum, problem)) {
        return 0;
    }
    duration.days = (late.seconds - sum.at.seconds) / 86400 + 2;
    fit_step(zone, early, late, &duration, &duration.days, problem);
    if (!time_add(zone, early, &duration, &sum, problem)) {
        return 0;
    }
    duration.seconds = late.seconds - sum.at.seconds;
    duration.nanos = late.nanos - sum.at.nanos;
    if (duration.nanos < 0) {
        duration.nanos += (int32_t)NANOS;
        duration.seconds--;
    }
    if (is_backward) {
        duration.months = -duration.months;
        duration.days = -duration.days;
        duration.seconds = -duration.seconds;
        duration.nanos = -duration.nanos;
    }
    *ret_duration = duration;
    return 1;
}
