/* SPDX-License-Identifier: Apache-2.0 */
#include "calendar.h"

#include <stdarg.h>
#include <stdio.h>

const char *const time_month_names[12] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
const char *const time_weekday_names[7] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                           "Thursday", "Friday", "Saturday"};

int time_refuse(time_problem *problem, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(problem->text, sizeof problem->text, format, args); /* cut when too long */
    va_end(args);
    return 0;
}

static int is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int time_month_days(int64_t year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap_year(year));
}

int time_year_days(int64_t year)
{
    return 365 + is_leap_year(year);
}

static int64_t divide_down(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

/* Counting years from March puts the leap day at their end: then the days before a month follow one
 * straight line, and 400 years ("era") repeat exactly. */
int64_t time_days(int64_t year, int month, int day)
{
    int64_t from_march = year - (month <= 2);
    int64_t era = divide_down(from_march, 400);
    int64_t year_of_era = from_march - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static time_civil date_of_days(int64_t days)
{
    time_civil civil = {0};
    int64_t shifted = days + 719468;
    int64_t era = divide_down(shifted, 146097);
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    civil.day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    civil.month = (int)(month < 10 ? month + 3 : month - 9);
    civil.year = year_of_era + era * 400 + (civil.month <= 2);
    return civil;
}

/* 1970-01-01 was a Thursday. */
static int weekday_of_days(int64_t days)
{
    return (int)(days + 4 - divide_down(days + 4, 7) * 7);
}

int64_t time_local_seconds(const time_civil *civil)
{
    return time_days(civil->year, civil->month, civil->day) * 86400 + (int64_t)civil->hour * 3600 +
           (int64_t)civil->minute * 60 + civil->second;
}

time_civil time_civil_of(int64_t local_seconds, int32_t nanos)
{
    int64_t days = divide_down(local_seconds, 86400);
    int rest = (int)(local_seconds - days * 86400);
    time_civil civil = date_of_days(days);
    civil.hour = rest / 3600;
    civil.minute = rest / 60 % 60;
    civil.second = rest % 60;
    civil.nanos = nanos;
    return civil;
}

int time_weekday(const time_civil *civil)
{
    return weekday_of_days(time_days(civil->year, civil->month, civil->day));
}

int time_day_of_year(const time_civil *civil)
{
    return (int)(time_days(civil->year, civil->month, civil->day) - time_days(civil->year, 1, 1)) +
           1;
}

int64_t time_days_of_week(int64_t year, int week, int weekday)
{
    /* January 4th is always in week 1. */
    int64_t fourth = time_days(year, 1, 4);
    int64_t monday = fourth - (weekday_of_days(fourth) + 6) % 7;
    return monday + (int64_t)(week - 1) * 7 + weekday - 1;
}

int time_weeks_in_year(int64_t year)
{
    return (int)((time_days_of_week(year + 1, 1, 1) - time_days_of_week(year, 1, 1)) / 7);
}

time_week time_week_of(const time_civil *civil)
{
    int64_t days = time_days(civil->year, civil->month, civil->day);
    time_week week = {.year = civil->year, .weekday = (weekday_of_days(days) + 6) % 7 + 1};
    if (days < time_days_of_week(week.year, 1, 1)) {
        week.year--;
    } else if (days >= time_days_of_week(week.year + 1, 1, 1)) {
        week.year++;
    }
    week.week = (int)((days - time_days_of_week(week.year, 1, 1)) / 7) + 1;
    return week;
}

int time_civil_check(const time_civil *civil, time_problem *problem)
{
    if (civil->year < 1 || civil->year > 9999) {
        return time_refuse(problem, "year %lld is outside the years 1 to 9999",
                           (long long)civil->year);
    }
    if (civil->month < 1 || civil->month > 12) {
        return time_refuse(problem, "there is no month %d; months are 1 to 12", civil->month);
    }
    int days = time_month_days(civil->year, civil->month);
    if (civil->day < 1 || civil->day > days) {
        return time_refuse(problem, "there is no day %d in %s %lld, which has %d days", civil->day,
                           time_month_names[civil->month - 1], (long long)civil->year, days);
    }
    if (civil->hour < 0 || civil->hour > 23 || civil->minute < 0 || civil->minute > 59 ||
        civil->second < 0 || civil->second > 59) {
        return time_refuse(problem, "there is no time of day %02d:%02d:%02d", civil->hour,
                           civil->minute, civil->second);
    }
    return 1;
}

int time_instant_check(time_instant at, int32_t offset, time_problem *problem)
{
    /* The first test also keeps the sums in the second from overflowing. */
    if (at.seconds < TIME_FIRST_SECOND || at.seconds > TIME_LAST_SECOND ||
        at.seconds + offset < TIME_FIRST_SECOND || at.seconds + offset > TIME_LAST_SECOND) {
        return time_refuse(problem, "the time is outside the years 1 to 9999");
    }
    return 1;
}
