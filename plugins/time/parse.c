/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include <stdio.h>
#include <string.h>

/* Unix times from here on are milliseconds: as seconds they would be after the year 5138. */
#define UNIX_SECONDS_END INT64_C(100000000000)

/* ---- scanning ----------------------------------------------------------------------------------
 */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static int is_letter(char c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

int time_scan_digits(const char **at, int min, int max, int64_t *ret_number)
{
    int64_t number = 0;
    int count = 0;
    for (; count < max && is_digit((*at)[count]); count++) {
        number = number * 10 + ((*at)[count] - '0');
    }
    if (count < min) {
        return 0;
    }
    *at += count;
    *ret_number = number;
    return 1;
}

static int scan_int(const char **at, int digits, int *ret_number)
{
    int64_t number;
    if (!time_scan_digits(at, digits, digits, &number)) {
        return 0;
    }
    *ret_number = (int)number;
    return 1;
}

int time_scan_fraction(const char **at, int32_t *ret_nanos)
{
    int32_t nanos = 0;
    int32_t weight = 100000000;
    if (!is_digit(**at)) {
        return 0;
    }
    for (; is_digit(**at); (*at)++) {
        nanos += (**at - '0') * weight; /* digits below a nanosecond weigh nothing */
        weight /= 10;
    }
    *ret_nanos = nanos;
    return 1;
}

int time_scan_offset(const char **at, time_parsed *parsed)
{
    const char *p = *at;
    int hours = 0;
    int minutes = 0;
    if (lower(*p) == 'z') {
        parsed->is_utc = 1;
        parsed->has_offset = 1;
        *at = p + 1;
        return 1;
    }
    int sign = *p == '-' ? -1 : 1;
    if ((*p != '+' && *p != '-') || (p++, !scan_int(&p, 2, &hours))) {
        return 0;
    }
    int has_colon = *p == ':';
    if (has_colon || is_digit(*p)) {
        p += has_colon;
        if (!scan_int(&p, 2, &minutes)) {
            return 0;
        }
    }
    if (hours > 23 || minutes > 59) {
        return 0;
    }
    parsed->has_offset = 1;
    parsed->offset = sign * (hours * 3600 + minutes * 60);
    *at = p;
    return 1;
}

static int starts_with(const char *at, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (lower(at[i]) != lower(word[i])) {
            return 0;
        }
    }
    return 1;
}

int time_scan_name(const char **at, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        size_t whole = strlen(names[i]);
        size_t len = starts_with(*at, names[i], whole) ? whole : 3;
        if (starts_with(*at, names[i], len) && !is_letter((*at)[len])) {
            *at += len;
            return i;
        }
    }
    return -1;
}

int time_parsed_check(time_parsed *parsed, time_problem *problem)
{
    time_civil *civil = &parsed->civil;
    if (civil->hour == 24 && civil->minute == 0 && civil->second == 0 && civil->nanos == 0) {
        civil->hour = 0;
        parsed->carry_seconds = 86400;
    } else if (civil->second == 60 && civil->minute == 59) {
        civil->second = 59; /* a leap second: POSIX time has none, the next second it is */
        parsed->carry_seconds = 1;
    }
    return time_civil_check(civil, problem);
}

/* ---- Unix time ---------------------------------------------------------------------------------
 */

/* "1719828000", "-1.5", "@20240701", "1719828000123". 0: it is something else. */
static int is_unix(const char *text)
{
    size_t sign = text[0] == '-' || text[0] == '+';
    size_t digits = strspn(text + sign, "0123456789");
    const char *rest = text + sign + digits;
    int has_fraction = rest[0] == '.' && is_digit(rest[1]);
    if (has_fraction) {
        rest += 1 + strspn(rest + 1, "0123456789");
    }
    /* Eight digits are a date (20240701), four a year. */
    return digits > 0 && *rest == '\0' && (sign || has_fraction || (digits != 8 && digits != 4));
}

static int parse_unix(const char *text, time_parsed *parsed, time_problem *problem)
{
    int64_t number;
    const char *at = text + (text[0] == '-' || text[0] == '+');
    parsed->is_instant = 1;
    parsed->kind = "unix_seconds";
    if (strspn(at, "0123456789") > 15 || !time_scan_digits(&at, 1, 15, &number)) {
        return time_refuse(problem, "'%.40s' is too large for Unix seconds or milliseconds", text);
    }
    parsed->at.seconds = number;
    if (*at == '.' && (at++, !time_scan_fraction(&at, &parsed->at.nanos))) {
        return time_refuse(problem, "'%.40s' is not a number", text);
    }
    if (*at != '\0') {
        return time_refuse(problem, "'%.40s' is not a number", text);
    }
    if (number >= UNIX_SECONDS_END) {
        parsed->kind = "unix_milliseconds";
        parsed->at.seconds = number / 1000;
        parsed->at.nanos = (int32_t)(number % 1000) * 1000000 + parsed->at.nanos / 1000;
    }
    if (text[0] == '-') {
        parsed->at.seconds = -parsed->at.seconds;
        if (parsed->at.nanos > 0) {
            parsed->at.seconds--;
            parsed->at.nanos = 1000000000 - parsed->at.nanos;
        }
    }
    return time_instant_check(parsed->at, 0, problem);
}

/* ---- ISO 8601 ----------------------------------------------------------------------------------
 */

static void set_date(time_civil *civil, int64_t days)
{
    *civil = time_civil_of(days * 86400, 0);
}

/* After "YYYY-W" or "YYYYW". */
static int scan_week(const char **at, int is_extended, time_civil *civil, time_problem *problem)
{
    int week = 0;
    int weekday = 1;
    int64_t year = civil->year;
    if (!scan_int(at, 2, &week)) {
        return 0;
    }
    int has_day = is_extended ? **at == '-' : is_digit(**at);
    if (has_day) {
        *at += is_extended;
        if (!scan_int(at, 1, &weekday)) {
            return 0;
        }
    }
    if (week < 1 || week > time_weeks_in_year(year) || weekday < 1 || weekday > 7) {
        return time_refuse(problem, "there is no day %d in week %d of %lld, which has %d weeks",
                           weekday, week, (long long)year, time_weeks_in_year(year));
    }
    set_date(civil, time_days_of_week(year, week, weekday));
    return 1;
}

static int scan_ordinal(const char **at, time_civil *civil, time_problem *problem)
{
    int day = 0;
    int64_t year = civil->year;
    if (!scan_int(at, 3, &day)) {
        return 0;
    }
    if (day < 1 || day > time_year_days(year)) {
        return time_refuse(problem, "there is no day %d in the year %lld", day, (long long)year);
    }
    set_date(civil, time_days(year, 1, 1) + day - 1);
    return 1;
}

static int scan_iso_date(const char **at, time_civil *civil, time_problem *problem)
{
    if (!time_scan_digits(at, 4, 4, &civil->year)) {
        return 0;
    }
    if (civil->year < 1) {
        return time_refuse(problem, "year 0 is outside the years 1 to 9999");
    }
    int is_extended = **at == '-';
    *at += is_extended;
    if (**at == 'W' || **at == 'w') {
        (*at)++;
        return scan_week(at, is_extended, civil, problem);
    }
    size_t digits = strspn(*at, "0123456789");
    if (digits == 3) {
        return scan_ordinal(at, civil, problem);
    }
    if (!scan_int(at, 2, &civil->month)) {
        return 0;
    }
    if (is_extended && *(*at)++ != '-') {
        --*at;
        return 0;
    }
    return scan_int(at, 2, &civil->day);
}

/* hh, hh:mm, hh:mm:ss, hhmm, hhmmss, and a fraction of the seconds. */
static int scan_clock(const char **at, time_civil *civil)
{
    if (!scan_int(at, 2, &civil->hour)) {
        return 0;
    }
    int has_colon = **at == ':';
    if (!has_colon && !is_digit(**at)) {
        return 1;
    }
    *at += has_colon;
    if (!scan_int(at, 2, &civil->minute)) {
        return 0;
    }
    if (has_colon ? **at != ':' : !is_digit(**at)) {
        return 1;
    }
    *at += has_colon;
    if (!scan_int(at, 2, &civil->second)) {
        return 0;
    }
    if (**at == '.' || **at == ',') {
        (*at)++;
        return time_scan_fraction(at, &civil->nanos);
    }
    return 1;
}

/* "[Europe/Berlin]"; "!" in front is what RFC 9557 calls critical: we always are. */
static int scan_zone_suffix(const char **at, time_parsed *parsed)
{
    const char *start = *at + 1 + ((*at)[1] == '!');
    size_t len = strcspn(start, "]");
    if (start[len] == '\0' || len == 0 || len >= sizeof parsed->zone) {
        return 0;
    }
    memcpy(parsed->zone, start, len);
    parsed->zone[len] = '\0';
    *at = start + len + 1;
    return 1;
}

/* 1: done; 0: it is no ISO 8601, or refused, with the reason in problem. */
static int parse_iso(const char *at, time_parsed *parsed, time_problem *problem)
{
    parsed->kind = "iso8601";
    if (!scan_iso_date(&at, &parsed->civil, problem)) {
        return 0;
    }
    if (lower(*at) == 't' || (*at == ' ' && is_digit(at[1]))) {
        at++;
        if (!scan_clock(&at, &parsed->civil)) {
            return 0;
        }
        const char *zone = at + strspn(at, " ");
        if (starts_with(zone, "UTC", 4) || starts_with(zone, "GMT", 4)) {
            parsed->has_offset = 1;
            parsed->is_utc = 1;
            at = zone + 3;
        } else if (time_scan_offset(&zone, parsed)) {
            at = zone;
        }
    }
    if (*at == '[' && !scan_zone_suffix(&at, parsed)) {
        return 0;
    }
    return *at == '\0' && time_parsed_check(parsed, problem);
}

/* ---- RFC 2822 ----------------------------------------------------------------------------------
 */

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* The zones of RFC 2822 section 4.3 that are not "+hhmm". */
static int scan_mail_zone(const char **at, time_parsed *parsed)
{
    static const struct {
        const char *name;
        int hours;
    } zones[] = {{"UTC", 0},  {"UT", 0},   {"GMT", 0},  {"EST", -5}, {"EDT", -4}, {"CST", -6},
                 {"CDT", -5}, {"MST", -7}, {"MDT", -6}, {"PST", -8}, {"PDT", -7}};
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        size_t len = strlen(zones[i].name);
        if (starts_with(*at, zones[i].name, len) && !is_letter((*at)[len])) {
            parsed->has_offset = 1;
            parsed->offset = zones[i].hours * 3600;
            parsed->is_utc = zones[i].hours == 0;
            *at += len;
            return 1;
        }
    }
    return time_scan_offset(at, parsed);
}

static int scan_mail_date(const char **at, time_civil *civil)
{
    int64_t day;
    if (!time_scan_digits(at, 1, 2, &day)) {
        return 0;
    }
    *at = skip_spaces(*at);
    civil->day = (int)day;
    civil->month = time_scan_name(at, time_month_names, 12) + 1;
    *at = skip_spaces(*at);
    size_t digits = strspn(*at, "0123456789");
    if (civil->month == 0 || digits > 4 || !time_scan_digits(at, 2, 4, &civil->year)) {
        return 0;
    }
    if (digits == 2) {
        civil->year += civil->year < 50 ? 2000 : 1900;
    } else if (digits == 3) {
        civil->year += 1900;
    }
    return 1;
}

static int parse_mail(const char *at, time_parsed *parsed, time_problem *problem)
{
    int weekday = -1;
    parsed->kind = "rfc2822";
    if (is_letter(*at)) {
        weekday = time_scan_name(&at, time_weekday_names, 7);
        at += *at == ',';
        if (weekday < 0) {
            return 0;
        }
    }
    at = skip_spaces(at);
    if (!scan_mail_date(&at, &parsed->civil)) {
        return 0;
    }
    at = skip_spaces(at);
    if (strspn(at, "0123456789") != 2 || at[2] != ':' || !scan_clock(&at, &parsed->civil)) {
        return 0;
    }
    at = skip_spaces(at);
    if (*at != '\0' && *at != '(' && !scan_mail_zone(&at, parsed)) {
        return 0;
    }
    at = skip_spaces(at);
    if (*at == '(') { /* a comment, mostly the zone's abbreviation */
        at += strcspn(at, ")");
        at = skip_spaces(at + (*at == ')'));
    }
    if (*at != '\0' || !time_parsed_check(parsed, problem)) {
        return 0;
    }
    int actual = time_weekday(&parsed->civil);
    if (weekday >= 0 && weekday != actual) {
        return time_refuse(problem, "that day is a %s, not a %s", time_weekday_names[actual],
                           time_weekday_names[weekday]);
    }
    return 1;
}

int time_parse(const char *text, time_parsed *ret_parsed, time_problem *problem)
{
    char trimmed[128];
    time_parsed parsed = {0};
    text = skip_spaces(text);
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL) {
        len--;
    }
    problem->text[0] = '\0';
    int ok = 0;
    if (len < sizeof trimmed) {
        memcpy(trimmed, text, len);
        trimmed[len] = '\0';
        if (trimmed[0] == '@') {
            ok = parse_unix(trimmed + 1, &parsed, problem);
        } else if (is_unix(trimmed)) {
            ok = parse_unix(trimmed, &parsed, problem);
        } else if (strspn(trimmed, "0123456789") >= 4) {
            ok = parse_iso(trimmed, &parsed, problem);
        } else if ((trimmed[0] == '-' || trimmed[0] == '+') && is_digit(trimmed[1])) {
            (void)time_refuse(problem, "signed years are not supported: years are 1 to 9999");
        } else {
            ok = parse_mail(trimmed, &parsed, problem);
        }
    }
    if (!ok) {
        return problem->text[0] != '\0'
                   ? 0
                   : time_refuse(problem,
                                 "'%.100s' is not a time; write RFC 3339 such as "
                                 "'2024-07-01T12:00:00+02:00' (without offset: local to the zone), "
                                 "RFC 2822, Unix seconds or milliseconds ('@' in front if they "
                                 "have 4 or 8 digits), or give a strptime format",
                                 text);
    }
    *ret_parsed = parsed;
    return 1;
}
