/* SPDX-License-Identifier: Apache-2.0 */
#include "format.h"

/* Directives that stand for others (POSIX, C locale). */
static const struct {
    char letter;
    const char *format;
} composites[] = {
    {'c', "%a %b %e %H:%M:%S %Y"},
    {'D', "%m/%d/%y"},
    {'F', "%Y-%m-%d"},
    {'r', "%I:%M:%S %p"},
    {'R', "%H:%M"},
    {'T', "%H:%M:%S"},
    {'x', "%m/%d/%y"},
    {'X', "%H:%M:%S"},
};

/* Directives that are a number: what it is, and how it is padded. */
typedef struct number_directive {
    char letter;
    int width;
    char pad;
} number_directive;

static const number_directive numbers[] = {
    {'C', 2, '0'}, {'d', 2, '0'}, {'e', 2, ' '}, {'f', 6, '0'}, {'g', 2, '0'}, {'G', 4, '0'},
    {'H', 2, '0'}, {'I', 2, '0'}, {'j', 3, '0'}, {'k', 2, ' '}, {'l', 2, ' '}, {'L', 3, '0'},
    {'m', 2, '0'}, {'M', 2, '0'}, {'N', 9, '0'}, {'s', 1, '0'}, {'S', 2, '0'}, {'u', 1, '0'},
    {'U', 2, '0'}, {'V', 2, '0'}, {'w', 1, '0'}, {'W', 2, '0'}, {'y', 2, '0'}, {'Y', 4, '0'},
};

static int64_t number_of(char letter, const time_moment *moment)
{
    const time_civil *civil = &moment->civil;
    int hour_12 = civil->hour % 12 == 0 ? 12 : civil->hour % 12;
    int day = time_day_of_year(civil) - 1;
    int weekday = time_weekday(civil);
    switch (letter) {
    case 'C':
        return civil->year / 100;
    case 'd':
    case 'e':
        return civil->day;
    case 'f':
        return civil->nanos / 1000;
    case 'g':
        return time_week_of(civil).year % 100;
    case 'G':
        return time_week_of(civil).year;
    case 'H':
    case 'k':
        return civil->hour;
    case 'I':
    case 'l':
        return hour_12;
    case 'j':
        return day + 1;
    case 'L':
        return civil->nanos / 1000000;
    case 'm':
        return civil->month;
    case 'M':
        return civil->minute;
    case 'N':
        return civil->nanos;
    case 's':
        return moment->at.seconds;
    case 'S':
        return civil->second;
    case 'u':
        return weekday == 0 ? 7 : weekday;
    case 'U':
        return (day + 7 - weekday) / 7;
    case 'V':
        return time_week_of(civil).week;
    case 'w':
        return weekday;
    case 'W':
        return (day + 7 - (weekday + 6) % 7) / 7;
    case 'y':
        return civil->year % 100;
    default: /* 'Y' */
        return civil->year;
    }
}

static void put_number(patchbay_out *out, const number_directive *directive, char flag,
                       const time_moment *moment)
{
    int width = flag == '-' ? 1 : directive->width;
    char pad = flag == '_' ? ' ' : flag == '0' ? '0' : directive->pad;
    long long number = (long long)number_of(directive->letter, moment);
    if (pad == ' ') {
        patchbay_out_printf(out, "%*lld", width, number);
    } else {
        patchbay_out_printf(out, "%0*lld", width, number);
    }
}

/* Directives that are text; NULL: there is no such. */
static const char *text_of(char letter, const time_moment *moment, char scratch[32])
{
    const time_civil *civil = &moment->civil;
    switch (letter) {
    case 'a':
        (void)snprintf(scratch, 32, "%.3s", time_weekday_names[time_weekday(civil)]);
        return scratch;
    case 'A':
        return time_weekday_names[time_weekday(civil)];
    case 'b':
    case 'h':
        (void)snprintf(scratch, 32, "%.3s", time_month_names[civil->month - 1]);
        return scratch;
    case 'B':
        return time_month_names[civil->month - 1];
    case 'n':
        return "\n";
    case 't':
        return "\t";
    case 'p':
        return civil->hour < 12 ? "AM" : "PM";
    case 'P':
        return civil->hour < 12 ? "am" : "pm";
    case 'z':
        time_offset_text(moment->local.offset, scratch);
        for (char *colon = strchr(scratch, ':'); colon != NULL; colon = strchr(colon, ':')) {
            memmove(colon, colon + 1, strlen(colon));
        }
        return scratch;
    case 'Z':
        return moment->local.abbrev;
    case '%':
        return "%";
    default:
        return NULL;
    }
}

static void put_text(patchbay_out *out, const char *text, char flag)
{
    for (; *text != '\0'; text++) {
        char c = (char)(flag == '^' && *text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text);
        patchbay_out_raw(out, patchbay_str_make(&c, 1));
    }
}

/* Append one directive; 0 when there is none of that letter. */
static int put_directive(patchbay_out *out, char letter, char flag, const time_moment *moment)
{
    char scratch[32];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].letter == letter) {
            put_number(out, &numbers[i], flag, moment);
            return 1;
        }
    }
    if (letter == 'z' && flag == ':') {
        time_offset_text(moment->local.offset, scratch);
        patchbay_out_text(out, scratch);
        return 1;
    }
    const char *text = text_of(letter, moment, scratch);
    if (text != NULL) {
        put_text(out, text, flag);
    }
    return text != NULL;
}

static const char *composite_of(char letter)
{
    for (size_t i = 0; i < sizeof composites / sizeof composites[0]; i++) {
        if (composites[i].letter == letter) {
            return composites[i].format;
        }
    }
    return NULL;
}

int time_format(patchbay_out *out, const char *format, const time_moment *moment,
                time_problem *problem)
{
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        patchbay_out_raw(out, patchbay_str_make(format, plain));
        format += plain;
        if (*format == '\0') {
            break;
        }
        format++;
        char flag = '\0';
        if (*format != '\0' && strchr("-_0^:", *format) != NULL) {
            flag = *format++;
        }
        const char *inner = composite_of(*format);
        /* One level deep: no composite holds another. */
        int ok = *format != '\0' && (inner != NULL ? time_format(out, inner, moment, problem)
                                                   : put_directive(out, *format, flag, moment));
        if (!ok) {
            return time_refuse(problem,
                               "the format has '%%%.1s', which strftime does not know; a percent "
                               "sign is written %%%%",
                               format);
        }
        format++;
    }
    return 1;
}

int time_moment_make(const time_zone *zone, time_instant at, time_moment *ret_moment,
                     time_problem *problem)
{
    time_moment moment = {.zone = zone, .at = at};
    if (!time_instant_check(at, 0, problem)) {
        return 0; /* before anything is computed with it */
    }
    moment.local = time_zone_at(zone, at.seconds);
    if (!time_instant_check(at, moment.local.offset, problem)) {
        return 0;
    }
    moment.civil = time_civil_of(at.seconds + moment.local.offset, at.nanos);
    *ret_moment = moment;
    return 1;
}
