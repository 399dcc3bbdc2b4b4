/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The toolset `time`: now, convert, parse, format, add, difference, zones. All tools run on worker
 * threads, because a zone is a file.
 */
#include "answer.h"
#include "duration.h"
#include "schemas.h"

#define DEFAULT_LIMIT 50

static void reply_moment(patchbay_tool_call *call, const time_answer *answer, const char *format)
{
    time_problem problem;
    patchbay_out text;
    patchbay_out *out = patchbay_structured(call);
    memset(&text, 0, sizeof text);
    patchbay_out_text(out, "{");
    time_put_moment(out, &answer->moment);
    if (answer->kind != NULL) {
        time_put_text(out, "kind", answer->kind);
        time_put_flags(out, answer->moment.zone, &answer->resolution);
    }
    if (format != NULL) {
        if (!time_format(&text, format, &answer->moment, &problem)) {
            patchbay_out_free(&text);
            time_fail(call, &problem);
            return;
        }
        patchbay_out_key(out, "formatted");
        patchbay_out_string(out, patchbay_str_make(text.ptr, text.len));
        out->failed |= text.failed;
    }
    patchbay_out_text(out, "}");
    patchbay_out_free(&text);
    patchbay_reply(call);
}

static void now(patchbay_tool_call *call)
{
    time_problem problem;
    time_answer answer = {0};
    const time_zone *zone = time_answer_zone(call, patchbay_arg_text(call, "zone"), &problem);
    if (zone == NULL || !time_moment_make(zone, time_now(), &answer.moment, &problem)) {
        time_fail(call, &problem);
        return;
    }
    reply_moment(call, &answer, patchbay_arg_text(call, "format"));
}

static void parse(patchbay_tool_call *call)
{
    time_problem problem;
    time_answer answer;
    if (!time_answer_read(call, "text", patchbay_arg_text(call, "format"),
                          patchbay_arg_text(call, "zone"), &answer, &problem)) {
        time_fail(call, &problem);
        return;
    }
    reply_moment(call, &answer, NULL);
}

static void format(patchbay_tool_call *call)
{
    time_problem problem;
    time_answer answer;
    if (!time_answer_read(call, "time", NULL, patchbay_arg_text(call, "zone"), &answer, &problem)) {
        time_fail(call, &problem);
        return;
    }
    reply_moment(call, &answer, patchbay_arg_text(call, "format"));
}

/* Append one moment of `convert`; `name` is raw JSON. */
static int put_converted(patchbay_tool_call *call, patchbay_str name, time_instant at,
                         time_problem *problem)
{
    time_moment moment;
    patchbay_out text;
    patchbay_out *out = patchbay_structured(call);
    memset(&text, 0, sizeof text);
    (void)patchbay_json_decode(name, &text); /* a string, says the schema */
    const time_zone *zone =
        time_answer_zone(call, text.ptr != NULL && !text.failed ? text.ptr : "", problem);
    patchbay_out_free(&text);
    if (zone == NULL || !time_moment_make(zone, at, &moment, problem)) {
        return 0;
    }
    patchbay_out_text(out, out->ptr[out->len - 1] == '[' ? "{" : ",{");
    time_put_moment(out, &moment);
    patchbay_out_text(out, "}");
    return 1;
}

static void convert(patchbay_tool_call *call)
{
    time_problem problem;
    time_answer answer;
    patchbay_str key;
    patchbay_str name;
    patchbay_str to = patchbay_arg(call, "to");
    patchbay_out *out = patchbay_structured(call);
    int ok =
        time_answer_read(call, "time", NULL, patchbay_arg_text(call, "from"), &answer, &problem);
    if (ok) {
        patchbay_out_text(out, "{\"from\":");
        time_put_answer(out, &answer);
        patchbay_out_text(out, ",\"to\":[");
        if (to.len > 0 && to.ptr[0] == '"') {
            ok = put_converted(call, to, answer.moment.at, &problem);
        }
        patchbay_json_iter it = patchbay_json_iterate(to);
        while (ok && patchbay_json_next(&it, &key, &name)) {
            ok = put_converted(call, name, answer.moment.at, &problem);
        }
        patchbay_out_text(out, "]}");
    }
    if (!ok) {
        time_fail(call, &problem);
        return;
    }
    patchbay_reply(call);
}

static void add(patchbay_tool_call *call)
{
    time_problem problem;
    time_answer from;
    time_moment moment;
    time_duration duration;
    time_sum sum = {0};
    const char *text = patchbay_arg_text(call, "duration");
    if (!time_answer_read(call, "time", NULL, patchbay_arg_text(call, "zone"), &from, &problem) ||
        !time_duration_parse(text != NULL ? text : "", &duration, &problem) ||
        !time_add(from.moment.zone, from.moment.at, &duration, &sum, &problem) ||
        !time_moment_make(from.moment.zone, sum.at, &moment, &problem)) {
        time_fail(call, &problem);
        return;
    }
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{");
    time_put_moment(out, &moment);
    time_put_flags(out, from.moment.zone, &sum.resolution);
    time_put_bool(out, "clamped", sum.is_clamped);
    patchbay_out_key(out, "from");
    (void)time_format(out, "\"%Y-%m-%dT%H:%M:%S%:z\"}", &from.moment, &problem);
    patchbay_reply(call);
}

/* One unit of a difference: calendar amount, and its length for the totals. */
typedef struct difference_unit {
    const char *name;
    int64_t amount;
    double seconds; /* 0: has no fixed length */
} difference_unit;

static void put_difference(patchbay_out *out, const time_duration *duration, time_instant from,
                           time_instant to)
{
    double total = (double)(to.seconds - from.seconds) + (to.nanos - from.nanos) / 1e9;
    const difference_unit units[] = {
        {"years", duration->months / 12, 0},
        {"months", duration->months % 12, 0},
        {"weeks", 0, 604800},
        {"days", duration->days, 86400},
        {"hours", duration->seconds / 3600, 3600},
        {"minutes", duration->seconds / 60 % 60, 60},
    };
    const size_t count = sizeof units / sizeof units[0];
    patchbay_out_key(out, "calendar");
    patchbay_out_text(out, "{");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(units[i].name, "weeks") != 0) {
            time_put_int(out, units[i].name, units[i].amount);
        }
    }
    patchbay_out_key(out, "seconds");
    patchbay_out_number(out, (double)(duration->seconds % 60) + duration->nanos / 1e9);
    patchbay_out_text(out, "}");
    patchbay_out_key(out, "total");
    patchbay_out_text(out, "{");
    for (size_t i = 0; i < count; i++) {
        if (units[i].seconds > 0) {
            patchbay_out_key(out, units[i].name);
            patchbay_out_number(out, total / units[i].seconds);
        }
    }
    patchbay_out_key(out, "seconds");
    patchbay_out_number(out, total);
    patchbay_out_text(out, "}");
}

static void difference(patchbay_tool_call *call)
{
    time_problem problem;
    time_answer from;
    time_answer to;
    time_duration duration;
    char text[TIME_DURATION_BYTES];
    const char *zone = patchbay_arg_text(call, "zone");
    if (!time_answer_read(call, "from", NULL, zone, &from, &problem) ||
        !time_answer_read(call, "to", NULL, zone, &to, &problem) ||
        !time_difference(from.moment.zone, from.moment.at, to.moment.at, &duration, &problem)) {
        time_fail(call, &problem);
        return;
    }
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{\"from\":");
    time_put_answer(out, &from);
    patchbay_out_text(out, ",\"to\":");
    time_put_answer(out, &to);
    time_put_text(out, "zone", from.moment.zone->name);
    time_duration_text(&duration, text);
    time_put_text(out, "duration", text);
    put_difference(out, &duration, from.moment.at, to.moment.at);
    patchbay_out_text(out, "}");
    patchbay_reply(call);
}

static void put_zone(patchbay_out *out, const char *directory, const char *name, time_instant at)
{
    time_zone zone;
    time_moment moment;
    time_problem problem;
    char offset[10];
    patchbay_out_text(out, out->ptr[out->len - 1] == '[' ? "{" : ",{");
    time_put_text(out, "name", name);
    /* A file that is broken is still a name; whoever uses it learns what is wrong with it. */
    if (time_zone_load(directory, name, &zone, &problem) &&
        time_moment_make(&zone, at, &moment, &problem)) {
        time_offset_text(moment.local.offset, offset);
        time_put_text(out, "offset", offset);
        time_put_text(out, "abbreviation", moment.local.abbrev);
        time_put_bool(out, "dst", moment.local.is_dst);
    }
    patchbay_out_text(out, "}");
}

static void zones(patchbay_tool_call *call)
{
    const time_settings *settings = (const time_settings *)patchbay_toolset_data(call);
    const char *query = patchbay_arg_text(call, "query");
    const char *nearest[5];
    int64_t limit = patchbay_arg_int(call, "limit", DEFAULT_LIMIT);
    int64_t total = 0;
    time_instant at = time_now();
    time_names names = time_names_list(settings->directory);
    patchbay_out *out = patchbay_structured(call);
    patchbay_out_text(out, "{\"zones\":[");
    for (size_t i = 0; i < names.count; i++) {
        if (query == NULL || time_name_matches(names.names[i], query)) {
            if (total < limit) {
                put_zone(out, settings->directory, names.names[i], at);
            }
            total++;
        }
    }
    patchbay_out_text(out, "]");
    time_put_int(out, "total", total);
    if (total == 0 && query != NULL) {
        size_t count = time_names_nearest(&names, query, nearest, 5);
        patchbay_out_text(out, ",\"nearest\":[");
        for (size_t i = 0; i < count; i++) {
            patchbay_out_text(out, i > 0 ? "," : "");
            patchbay_out_string(out, patchbay_str_of(nearest[i]));
        }
        patchbay_out_text(out, "]");
    }
    patchbay_out_text(out, "}");
    time_names_free(&names);
    patchbay_reply(call);
}

/* ---- the toolset ------------------------------------------------------------------------------
 */

static void teardown(void *data)
{
    time_settings *settings = (time_settings *)data;
    free(settings->directory);
    free(settings);
}

/* Reads the disk on the loop, as loading the library did a moment ago: once, not on the call path.
 */
static int32_t setup(patchbay_toolset *toolset, patchbay_str config_json, void **ret_data,
                     patchbay_error *reterr)
{
    time_zone zone;
    time_problem problem;
    patchbay_out name;
    (void)toolset;
    time_settings *settings = (time_settings *)calloc(1, sizeof *settings);
    char *directory = strdup(time_zone_directory());
    if (settings == NULL || directory == NULL) {
        free(settings);
        free(directory);
        (void)snprintf(reterr->text, sizeof reterr->text, "out of memory");
        return PATCHBAY_ENOMEM;
    }
    settings->directory = directory;
    memset(&name, 0, sizeof name);
    if (!patchbay_json_decode(patchbay_json_get(config_json, "default_zone"), &name)) {
        time_system_zone(directory, settings->default_zone);
    } else if (time_zone_load(directory, name.ptr != NULL ? name.ptr : "", &zone, &problem)) {
        (void)snprintf(settings->default_zone, sizeof settings->default_zone, "%s", name.ptr);
    } else {
        (void)snprintf(reterr->text, sizeof reterr->text, "default_zone: %.230s", problem.text);
        patchbay_out_free(&name);
        teardown(settings);
        return PATCHBAY_EINVAL;
    }
    patchbay_out_free(&name);
    *ret_data = settings;
    return PATCHBAY_OK;
}

#define PURE (PATCHBAY_TOOL_READ_ONLY | PATCHBAY_TOOL_IDEMPOTENT)

static const patchbay_tool tools[] = {
    {.name = "now",
     .title = "Current time",
     .description = "The current time in a time zone, with offset, weekday and Unix time.",
     .input_schema = NOW_INPUT,
     .output_schema = FORMATTED_OUTPUT,
     .tags = "time,clock",
     .category = "time",
     .flags = PURE,
     .handler = now},
    {.name = "convert",
     .title = "Convert between time zones",
     .description =
         "Shows a time in one or more other time zones. Local times that happen twice or "
         "never, because clocks are changed, are flagged.",
     .input_schema = CONVERT_INPUT,
     .output_schema = CONVERT_OUTPUT,
     .tags = "time,zone",
     .category = "time",
     .flags = PURE,
     .handler = convert},
    {.name = "parse",
     .title = "Read a time",
     .description =
         "Reads a time in ISO 8601, RFC 3339, RFC 2822, Unix seconds or milliseconds, or "
         "by a strptime format, and gives all representations of it.",
     .input_schema = PARSE_INPUT,
     .output_schema = MOMENT_OUTPUT,
     .tags = "time,text",
     .category = "time",
     .flags = PURE,
     .handler = parse},
    {.name = "format",
     .title = "Write a time",
     .description = "Writes a time by a strftime format, in English.",
     .input_schema = FORMAT_INPUT,
     .output_schema = FORMATTED_OUTPUT,
     .tags = "time,text",
     .category = "time",
     .flags = PURE,
     .handler = format},
    {.name = "add",
     .title = "Add a duration",
     .description =
         "Adds a duration to a time, or subtracts it when negative. Years, months, weeks "
         "and days are steps on the zone's calendar; hours and below are exact.",
     .input_schema = ADD_INPUT,
     .output_schema = ADD_OUTPUT,
     .tags = "time,duration",
     .category = "time",
     .flags = PURE,
     .handler = add},
    {.name = "difference",
     .title = "Time between two times",
     .description = "The time from one time to another, in calendar steps and as totals per unit; "
                    "negative when the second is earlier.",
     .input_schema = DIFFERENCE_INPUT,
     .output_schema = DIFFERENCE_OUTPUT,
     .tags = "time,duration",
     .category = "time",
     .flags = PURE,
     .handler = difference},
    {.name = "zones",
     .title = "Find time zones",
     .description = "Lists or searches the names of time zones, with their current offsets.",
     .input_schema = ZONES_INPUT,
     .output_schema = ZONES_OUTPUT,
     .tags = "time,zone",
     .category = "time",
     .flags = PURE,
     .handler = zones},
};

PATCHBAY_TOOLSET_WITH("time", "1.0.0", "Time zones, dates and durations.", tools,
                      sizeof tools / sizeof tools[0], CONFIG_SCHEMA, setup, teardown)
