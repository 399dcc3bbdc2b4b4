/* SPDX-License-Identifier: Apache-2.0 */
/* strptime() without its dependence on locale and TZ, and with refusals that say what is wrong. */
#include "parse.h"

#include <string.h>

/* What directives set. ABSENT is no value of any. */
enum {
    FIELD_YEAR,
    FIELD_YEAR_OF_CENTURY,
    FIELD_MONTH,
    FIELD_DAY,
    FIELD_DAY_OF_YEAR,
    FIELD_ISO_YEAR,
    FIELD_ISO_WEEK,
    FIELD_ISO_WEEKDAY,
    FIELD_HOUR,
    FIELD_HOUR_12,
    FIELD_MINUTE,
    FIELD_SECOND,
    FIELD_PM,
    FIELD_WEEKDAY,
    FIELD_COUNT
};
#define ABSENT (-1)

typedef struct format_state {
    const char *at;
    int fields[FIELD_COUNT];
    time_parsed *parsed;
    time_problem *problem;
} format_state;

/* Directives that are a number. */
typedef struct number_directive {
    char letter;
    int field;
    int digits;
    int min;
    int max;
} number_directive;

static const number_directive numbers[] = {
    {'Y', FIELD_YEAR, 4, 0, 9999},     {'y', FIELD_YEAR_OF_CENTURY, 2, 0, 99},
    {'m', FIELD_MONTH, 2, 1, 12},      {'d', FIELD_DAY, 2, 1, 31},
    {'e', FIELD_DAY, 2, 1, 31},        {'j', FIELD_DAY_OF_YEAR, 3, 1, 366},
    {'G', FIELD_ISO_YEAR, 4, 1, 9999}, {'V', FIELD_ISO_WEEK, 2, 1, 53},
    {'u', FIELD_ISO_WEEKDAY, 1, 1, 7}, {'H', FIELD_HOUR, 2, 0, 24},
    {'k', FIELD_HOUR, 2, 0, 24},       {'I', FIELD_HOUR_12, 2, 1, 12},
    {'l', FIELD_HOUR_12, 2, 1, 12},    {'M', FIELD_MINUTE, 2, 0, 59},
    {'S', FIELD_SECOND, 2, 0, 60},
};

/* Directives that stand for others. */
static const struct {
    char letter;
    const char *format;
} composites[] = {{'F', "%Y-%m-%d"}, {'T', "%H:%M:%S"}, {'R', "%H:%M"}, {'D', "%m/%d/%y"}};

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static int refuse_input(format_state *state, char letter)
{
    return time_refuse(state->problem, "'%.60s' does not match %%%c of the format",
                       *state->at != '\0' ? state->at : "the end of the text", letter);
}

static int scan_number(format_state *state, const number_directive *directive)
{
    int64_t number;
    state->at = skip_spaces(state->at); /* %e and friends pad with spaces */
    if (!time_scan_digits(&state->at, 1, directive->digits, &number) || number < directive->min ||
        number > directive->max) {
        return refuse_input(state, directive->letter);
    }
    state->fields[directive->field] = (int)number;
    return 1;
}

static int scan_half(format_state *state)
{
    char first = state->at[0];
    char second = first != '\0' ? state->at[1] : '\0';
    if ((second != 'm' && second != 'M') || first == '\0' || strchr("aApP", first) == NULL) {
        return 0;
    }
    state->fields[FIELD_PM] = first == 'p' || first == 'P';
    state->at += 2;
    return 1;
}

static int scan_zone_name(format_state *state)
{
    size_t len = strspn(state->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/+-"
                                   "0123456789");
    if (len == 0 || len >= sizeof state->parsed->zone) {
        return 0;
    }
    memcpy(state->parsed->zone, state->at, len);
    state->parsed->zone[len] = '\0';
    state->at += len;
    return 1;
}

static int scan_unix(format_state *state)
{
    int64_t number;
    int sign = *state->at == '-' ? -1 : 1;
    state->at += *state->at == '-';
    if (!time_scan_digits(&state->at, 1, 15, &number)) {
        return 0;
    }
    state->parsed->is_instant = 1;
    state->parsed->at.seconds = sign * number;
    return 1;
}

/* Directives that are neither a number nor others in disguise. */
static int scan_text(format_state *state, char letter)
{
    switch (letter) {
    case 'a':
    case 'A':
        state->fields[FIELD_WEEKDAY] = time_scan_name(&state->at, time_weekday_names, 7);
        return state->fields[FIELD_WEEKDAY] >= 0;
    case 'b':
    case 'B':
    case 'h':
        state->fields[FIELD_MONTH] = time_scan_name(&state->at, time_month_names, 12) + 1;
        return state->fields[FIELD_MONTH] > 0;
    case 'f':
        return time_scan_fraction(&state->at, &state->parsed->civil.nanos);
    case 'p':
    case 'P':
        return scan_half(state);
    case 's':
        return scan_unix(state);
    case 'z':
        return time_scan_offset(&state->at, state->parsed);
    case 'Z':
        return scan_zone_name(state);
    case 'n':
    case 't':
        state->at = skip_spaces(state->at);
        return 1;
    case '%':
        if (*state->at != '%') {
            return 0;
        }
        state->at++;
        return 1;
    default:
        return ABSENT;
    }
}

static int scan_directive(format_state *state, char letter)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].letter == letter) {
            return scan_number(state, &numbers[i]);
        }
    }
    int ok = scan_text(state, letter);
    if (ok == ABSENT) {
        return time_refuse(
            state->problem,
            "the format has '%%%c', which is not supported; use %%a %%b %%d %%e %%f "
            "%%F %%D %%G %%H %%I %%j %%m %%M %%p %%R %%s %%S %%T %%u %%V %%y %%Y %%z "
            "%%Z %%%%",
            letter);
    }
    return ok ? 1 : refuse_input(state, letter);
}

static int scan_format(format_state *state, const char *format)
{
    for (; *format != '\0'; format++) {
        const char *inner = NULL;
        if (strchr(" \t\r\n", *format) != NULL) {
            state->at = skip_spaces(state->at);
            continue;
        }
        if (*format != '%') {
            if (*state->at != *format) {
                return time_refuse(state->problem, "'%.60s' does not match '%.60s' of the format",
                                   state->at, format);
            }
            state->at++;
            continue;
        }
        format++;
        if (*format == '\0') {
            return time_refuse(state->problem, "the format ends in a lone %%");
        }
        for (size_t i = 0; i < sizeof composites / sizeof composites[0]; i++) {
            inner = composites[i].letter == *format ? composites[i].format : inner;
        }
        /* One level deep: no composite holds another. */
        if (inner != NULL ? !scan_format(state, inner) : !scan_directive(state, *format)) {
            return 0;
        }
    }
    return 1;
}

static int set_date(format_state *state)
{
    int *fields = state->fields;
    time_civil *civil = &state->parsed->civil;
    int32_t nanos = civil->nanos;
    if (fields[FIELD_YEAR] == ABSENT && fields[FIELD_YEAR_OF_CENTURY] != ABSENT) {
        fields[FIELD_YEAR] =
            fields[FIELD_YEAR_OF_CENTURY] + (fields[FIELD_YEAR_OF_CENTURY] < 69 ? 2000 : 1900);
    }
    civil->year = fields[FIELD_YEAR];
    if (fields[FIELD_YEAR] != ABSENT && fields[FIELD_DAY_OF_YEAR] != ABSENT) {
        if (fields[FIELD_DAY_OF_YEAR] > time_year_days(civil->year)) {
            return time_refuse(state->problem, "there is no day %d in the year %d",
                               fields[FIELD_DAY_OF_YEAR], fields[FIELD_YEAR]);
        }
        int64_t days = time_days(civil->year, 1, 1) + fields[FIELD_DAY_OF_YEAR] - 1;
        *civil = time_civil_of(days * 86400, nanos);
    } else if (fields[FIELD_ISO_YEAR] != ABSENT && fields[FIELD_ISO_WEEK] != ABSENT) {
        int weekday = fields[FIELD_ISO_WEEKDAY] != ABSENT ? fields[FIELD_ISO_WEEKDAY] : 1;
        if (fields[FIELD_ISO_WEEK] > time_weeks_in_year(fields[FIELD_ISO_YEAR])) {
            return time_refuse(state->problem, "there is no week %d in %d", fields[FIELD_ISO_WEEK],
                               fields[FIELD_ISO_YEAR]);
        }
        int64_t days = time_days_of_week(fields[FIELD_ISO_YEAR], fields[FIELD_ISO_WEEK], weekday);
        *civil = time_civil_of(days * 86400, nanos);
    } else if (fields[FIELD_YEAR] != ABSENT) {
        civil->month = fields[FIELD_MONTH] != ABSENT ? fields[FIELD_MONTH] : 1;
        civil->day = fields[FIELD_DAY] != ABSENT ? fields[FIELD_DAY] : 1;
    } else {
        return time_refuse(state->problem,
                           "the format says no year: it needs %%Y, %%y, %%G or %%s");
    }
    return 1;
}

static void set_clock(format_state *state)
{
    const int *fields = state->fields;
    time_civil *civil = &state->parsed->civil;
    civil->hour = fields[FIELD_HOUR] != ABSENT ? fields[FIELD_HOUR] : 0;
    if (fields[FIELD_HOUR_12] != ABSENT) {
        civil->hour = fields[FIELD_HOUR_12] % 12 + (fields[FIELD_PM] == 1 ? 12 : 0);
    }
    civil->minute = fields[FIELD_MINUTE] != ABSENT ? fields[FIELD_MINUTE] : 0;
    civil->second = fields[FIELD_SECOND] != ABSENT ? fields[FIELD_SECOND] : 0;
}

int time_parse_format(const char *text, const char *format, time_parsed *ret_parsed,
                      time_problem *problem)
{
    time_parsed parsed = {.kind = "format"};
    format_state state = {.at = text, .parsed = &parsed, .problem = problem};
    for (int i = 0; i < FIELD_COUNT; i++) {
        state.fields[i] = ABSENT;
    }
    if (!scan_format(&state, format)) {
        return 0;
    }
    if (*skip_spaces(state.at) != '\0') {
        return time_refuse(problem, "'%.60s' is left over when the format ends", state.at);
    }
    if (parsed.is_instant) {
        *ret_parsed = parsed;
        ret_parsed->at.nanos = parsed.civil.nanos;
        return time_instant_check(parsed.at, 0, problem);
    }
    if (!set_date(&state)) {
        return 0;
    }
    set_clock(&state);
    if (!time_parsed_check(&parsed, problem)) {
        return 0;
    }
    int weekday = time_weekday(&parsed.civil);
    if (state.fields[FIELD_WEEKDAY] != ABSENT && state.fields[FIELD_WEEKDAY] != weekday) {
        return time_refuse(problem, "that day is a %s, not a %s", time_weekday_names[weekday],
                           time_weekday_names[state.fields[FIELD_WEEKDAY]]);
    }
    *ret_parsed = parsed;
    return 1;
}
