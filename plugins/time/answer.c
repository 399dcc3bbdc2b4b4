/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <time.h>

/* ---- reading ----------------------------------------------------------------------------------
 */

const time_zone *time_answer_zone(patchbay_tool_call *call, const char *name, time_problem *problem)
{
    const time_settings *settings = (const time_settings *)patchbay_toolset_data(call);
    time_zone *zone = (time_zone *)patchbay_call_alloc(call, sizeof *zone);
    if (zone == NULL) {
        (void)time_refuse(problem, "out of memory; try again");
        return NULL;
    }
    if (name == NULL) {
        name = settings->default_zone;
    }
    return time_zone_load(settings->directory, name, zone, problem) ? zone : NULL;
}

time_instant time_now(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
    /* Milliseconds: the rest would have passed before anybody reads it. */
    return (time_instant){.seconds = now.tv_sec,
                          .nanos = (int32_t)(now.tv_nsec / 1000000) * 1000000};
}

/* The argument as text: numbers are Unix time whatever their size, hence the "@". */
static const char *read_text(patchbay_tool_call *call, const char *key, time_problem *problem)
{
    patchbay_str raw = patchbay_arg(call, key);
    if (raw.len > 0 && raw.ptr[0] != '"') {
        char *text = (char *)patchbay_call_alloc(call, raw.len + 2);
        if (text != NULL) {
            text[0] = '@';
            memcpy(text + 1, raw.ptr, raw.len);
            text[raw.len + 1] = '\0';
            return text;
        }
    }
    const char *text = patchbay_arg_text(call, key);
    if (text == NULL) {
        (void)time_refuse(problem, "'%s' is missing", key);
    }
    return text;
}

/* The zone to show an instant in when the caller named none: the one it was written in. */
static const time_zone *zone_as_written(patchbay_tool_call *call, const time_parsed *parsed,
                                        time_problem *problem)
{
    char offset[10];
    if (parsed->zone[0] != '\0') {
        return time_answer_zone(call, parsed->zone, problem);
    }
    if (!parsed->has_offset) {
        return time_answer_zone(call, NULL, problem);
    }
    if (parsed->is_utc) {
        return time_answer_zone(call, "UTC", problem);
    }
    time_offset_text(parsed->offset, offset);
    return time_answer_zone(call, offset, problem);
}

/* Which instant it is. `written` is the zone inside the text, or else the one asked for. */
static int find_instant(const time_parsed *parsed, const time_zone *written, time_answer *answer,
                        time_instant *ret_at, time_problem *problem)
{
    time_instant at = {.nanos = parsed->civil.nanos};
    int64_t local_seconds = time_local_seconds(&parsed->civil);
    answer->resolution.count = 1;
    if (parsed->is_instant) {
        at = parsed->at;
    } else if (parsed->has_offset) {
        at.seconds = local_seconds - parsed->offset;
        int32_t actual = time_zone_at(written, at.seconds).offset;
        if (parsed->zone[0] != '\0' && !parsed->is_utc && actual != parsed->offset) {
            char text[10];
            time_offset_text(actual, text);
            return time_refuse(problem,
                               "the offset contradicts the zone: %s is at %s then; leave one away",
                               parsed->zone, text);
        }
    } else {
        answer->resolution = time_zone_resolve(written, local_seconds);
        at.seconds = answer->resolution.seconds[0];
    }
    at.seconds += parsed->carry_seconds;
    *ret_at = at;
    return 1;
}

int time_answer_read(patchbay_tool_call *call, const char *key, const char *format,
                     const char *zone_name, time_answer *ret_answer, time_problem *problem)
{
    time_parsed parsed = {0};
    time_answer answer = {0};
    time_instant at = {0};
    const char *text = read_text(call, key, problem);
    if (text == NULL) {
        return 0;
    }
    if (format == NULL && strcmp(text, "now") == 0) {
        parsed = (time_parsed){.kind = "now", .is_instant = 1, .at = time_now()};
    } else if (!(format != NULL
                     ? time_parse_format(text + (text[0] == '@'), format, &parsed, problem)
                     : time_parse(text, &parsed, problem))) {
        return 0;
    }
    const time_zone *shown = zone_name != NULL ? time_answer_zone(call, zone_name, problem)
                                               : zone_as_written(call, &parsed, problem);
    const time_zone *written = shown;
    if (zone_name != NULL && parsed.zone[0] != '\0') {
        written = time_answer_zone(call, parsed.zone, problem);
    }
    if (shown == NULL || written == NULL ||
        !find_instant(&parsed, written, &answer, &at, problem) ||
        !time_moment_make(shown, at, &answer.moment, problem)) {
        return 0;
    }
    answer.kind = parsed.kind;
    *ret_answer = answer;
    return 1;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

void time_put_text(patchbay_out *out, const char *key, const char *text)
{
    patchbay_out_key(out, key);
    patchbay_out_string(out, patchbay_str_of(text));
}

void time_put_int(patchbay_out *out, const char *key, int64_t number)
{
    patchbay_out_key(out, key);
    patchbay_out_printf(out, "%lld", (long long)number);
}

void time_put_bool(patchbay_out *out, const char *key, int value)
{
    patchbay_out_key(out, key);
    patchbay_out_text(out, value ? "true" : "false");
}

/* Append a member whose value is a format of ours, with the fraction of the second behind %S. */
static void put_formatted(patchbay_out *out, const char *key, const char *before, const char *after,
                          const time_moment *moment)
{
    time_problem problem;
    patchbay_out_key(out, key);
    patchbay_out_text(out, "\"");
    (void)time_format(out, before, moment, &problem); /* nothing in them needs escaping */
    if (moment->at.nanos != 0) {
        patchbay_out_printf(out, ".%09d", (int)moment->at.nanos);
        while (out->len > 0 && out->ptr[out->len - 1] == '0') {
            out->len--;
        }
    }
    (void)time_format(out, after, moment, &problem);
    patchbay_out_text(out, "\"");
}

void time_put_moment(patchbay_out *out, const time_moment *moment)
{
    time_problem problem;
    char offset[10];
    time_zone utc_zone;
    time_moment utc;
    time_zone_fixed(&utc_zone, "UTC", 0);
    put_formatted(out, "iso", "%Y-%m-%dT%H:%M:%S", "%:z", moment);
    if (time_moment_make(&utc_zone, moment->at, &utc, &problem)) { /* it was made once already */
        put_formatted(out, "utc", "%Y-%m-%dT%H:%M:%S", "Z", &utc);
    }
    time_put_int(out, "unix", moment->at.seconds);
    time_put_int(out, "unix_ms", moment->at.seconds * 1000 + moment->at.nanos / 1000000);
    time_put_text(out, "zone", moment->zone->name);
    time_offset_text(moment->local.offset, offset);
    time_put_text(out, "offset", offset);
    time_put_int(out, "offset_seconds", moment->local.offset);
    time_put_text(out, "abbreviation", moment->local.abbrev);
    time_put_bool(out, "dst", moment->local.is_dst);
    time_put_text(out, "weekday", time_weekday_names[time_weekday(&moment->civil)]);
    time_put_int(out, "day_of_year", time_day_of_year(&moment->civil));
    patchbay_out_key(out, "iso_week");
    patchbay_out_text(out, "\"");
    (void)time_format(out, "%G-W%V-%u\",\"rfc2822\":\"%a, %d %b %Y %H:%M:%S %z\"", moment,
                      &problem);
}

/* "2024-10-27T02:30:00+02:00" for each candidate. */
static void put_candidates(patchbay_out *out, const time_zone *zone,
                           const time_resolution *resolution)
{
    patchbay_out_key(out, "candidates");
    patchbay_out_text(out, "[");
    for (int i = 0; i < resolution->count; i++) {
        time_moment moment;
        time_problem problem;
        time_instant at = {.seconds = resolution->seconds[i]};
        if (time_moment_make(zone, at, &moment, &problem)) {
            patchbay_out_text(out, i > 0 ? ",\"" : "\"");
            (void)time_format(out, "%Y-%m-%dT%H:%M:%S%:z\"", &moment, &problem);
        }
    }
    patchbay_out_text(out, "]");
}

void time_put_flags(patchbay_out *out, const time_zone *zone, const time_resolution *resolution)
{
    time_put_bool(out, "ambiguous", resolution->count == 2);
    time_put_bool(out, "gap", resolution->count == 0);
    if (resolution->count == 2) {
        put_candidates(out, zone, resolution);
        time_put_text(out, "note",
                      "the clocks were turned back over this local time, so it happened twice; "
                      "give an offset to choose");
    } else if (resolution->count == 0) {
        time_put_text(out, "note",
                      "the clocks were turned forward over this local time, so it never happened; "
                      "moved forward by as much");
    }
}

void time_put_answer(patchbay_out *out, const time_answer *answer)
{
    patchbay_out_text(out, "{");
    time_put_moment(out, &answer->moment);
    time_put_text(out, "kind", answer->kind);
    time_put_flags(out, answer->moment.zone, &answer->resolution);
    patchbay_out_text(out, "}");
}

void time_fail(patchbay_tool_call *call, time_problem *problem)
{
    char *at = problem->text;
    char *end = problem->text + strlen(problem->text);
    while (at < end) { /* quoting may have cut a character of the caller's in two */
        size_t len = patchbay_utf8_length(at, end);
        if (len == 0) {
            *at = '?';
        }
        at += len > 0 ? len : 1;
    }
    patchbay_reply_error(call, PATCHBAY_INVALID_INPUT, "%s", problem->text);
}
