/* SPDX-License-Identifier: Apache-2.0 */
/* The footer of a TZif file: a POSIX TZ string (IEEE 1003.1 section 8.3, RFC 8536 section 3.3). */
#include "zone.h"

#include <string.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "EST", or "<-03>". */
static int parse_abbrev(const char **at, char *ret_abbrev, size_t size)
{
    const char *p = *at;
    int quoted = *p == '<';
    p += quoted;
    const char *start = p;
    while (is_letter(*p) || (quoted && (is_digit(*p) || *p == '+' || *p == '-'))) {
        p++;
    }
    size_t len = (size_t)(p - start);
    if (len < 3 || len >= size || (quoted && *p != '>')) {
        return 0;
    }
    memcpy(ret_abbrev, start, len);
    ret_abbrev[len] = '\0';
    *at = p + quoted;
    return 1;
}

static int parse_number(const char **at, int max, int *ret_number)
{
    int number = 0;
    if (!is_digit(**at)) {
        return 0;
    }
    for (; is_digit(**at); (*at)++) {
        number = number * 10 + (**at - '0');
        if (number > max) {
            return 0;
        }
    }
    *ret_number = number;
    return 1;
}

/* [+-]hh[:mm[:ss]] */
static int parse_hms(const char **at, int max_hours, int32_t *ret_seconds)
{
    int sign = 1;
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    if (**at == '+' || **at == '-') {
        sign = **at == '-' ? -1 : 1;
        (*at)++;
    }
    if (!parse_number(at, max_hours, &hours)) {
        return 0;
    }
    if (**at == ':') {
        (*at)++;
        if (!parse_number(at, 59, &minutes)) {
            return 0;
        }
        if (**at == ':') {
            (*at)++;
            if (!parse_number(at, 59, &seconds)) {
                return 0;
            }
        }
    }
    *ret_seconds = sign * (hours * 3600 + minutes * 60 + seconds);
    return 1;
}

static int take(const char **at, char wanted)
{
    if (**at != wanted) {
        return 0;
    }
    (*at)++;
    return 1;
}

/* ",M3.5.0/2", ",J60", ",59/-1" */
static int parse_day(const char **at, time_rule_day *ret_day)
{
    time_rule_day day = {.kind = 'D', .seconds = 2 * 3600};
    if (!take(at, ',')) {
        return 0;
    }
    if (take(at, 'M')) {
        day.kind = 'M';
        if (!parse_number(at, 12, &day.month) || !take(at, '.') ||
            !parse_number(at, 5, &day.week) || !take(at, '.') || !parse_number(at, 6, &day.day) ||
            day.month == 0 || day.week == 0) {
            return 0;
        }
    } else if (take(at, 'J')) {
        day.kind = 'J';
        if (!parse_number(at, 365, &day.day) || day.day == 0) {
            return 0;
        }
    } else if (!parse_number(at, 365, &day.day)) {
        return 0;
    }
    if (take(at, '/') && !parse_hms(at, 167, &day.seconds)) {
        return 0;
    }
    *ret_day = day;
    return 1;
}

/* In a TZ string west is positive; in ours, as everywhere else, east is. */
static int parse_rule(time_rule *rule, const char *text)
{
    const char *at = text;
    int32_t west = 0;
    if (!parse_abbrev(&at, rule->std_abbrev, sizeof rule->std_abbrev) ||
        !parse_hms(&at, 24, &west)) {
        return 0;
    }
    rule->std_offset = -west;
    if (*at == '\0') {
        return 1;
    }
    rule->has_dst = 1;
    rule->dst_offset = rule->std_offset + 3600;
    if (!parse_abbrev(&at, rule->dst_abbrev, sizeof rule->dst_abbrev)) {
        return 0;
    }
    if (*at != ',') {
        if (!parse_hms(&at, 24, &west)) {
            return 0;
        }
        rule->dst_offset = -west;
    }
    /* POSIX leaves the days open when they are missing; a file must not. */
    return parse_day(&at, &rule->start) && parse_day(&at, &rule->end) && *at == '\0';
}

int time_rule_parse(time_rule *rule, const char *text, time_problem *problem)
{
    memset(rule, 0, sizeof *rule);
    if (*text == '\0') {
        return 1; /* nothing is known about the future: the last transition holds */
    }
    rule->is_set = 1;
    if (!parse_rule(rule, text)) {
        return time_refuse(problem, "its rule '%.100s' is malformed", text);
    }
    return 1;
}

/* Local seconds of the change in `year`, by the clock that is in force before it. */
static int64_t change_in_year(const time_rule_day *day, int64_t year)
{
    int64_t days = time_days(year, 1, 1);
    if (day->kind == 'D') {
        days += day->day;
    } else if (day->kind == 'J') {
        days += day->day - 1 + (day->day >= 60 && time_year_days(year) == 366);
    } else {
        time_civil first = {.year = year, .month = day->month, .day = 1};
        int date = 1 + (day->day - time_weekday(&first) + 7) % 7 + (day->week - 1) * 7;
        while (date > time_month_days(year, day->month)) {
            date -= 7;
        }
        days = time_days(year, day->month, date);
    }
    return days * 86400 + day->seconds;
}

time_local time_rule_at(const time_rule *rule, int64_t seconds)
{
    time_local std = {.offset = rule->std_offset, .abbrev = rule->std_abbrev};
    time_local dst = {.offset = rule->dst_offset, .is_dst = 1, .abbrev = rule->dst_abbrev};
    if (!rule->has_dst) {
        return std;
    }
    /* The latest change that is not after `seconds`. A change may lie a week outside its own year,
     * so the neighbours count too. DST wins when both happen at once: that is how a file says
     * "always". */
    int64_t year = time_civil_of(seconds + rule->std_offset, 0).year;
    int64_t latest = INT64_MIN;
    int is_dst = 0;
    for (int64_t y = year - 1; y <= year + 1; y++) {
        int64_t end = change_in_year(&rule->end, y) - rule->dst_offset;
        int64_t start = change_in_year(&rule->start, y) - rule->std_offset;
        if (end <= seconds && end > latest) {
            latest = end;
            is_dst = 0;
        }
        if (start <= seconds && start >= latest) {
            latest = start;
            is_dst = 1;
        }
    }
    return is_dst ? dst : std;
}
