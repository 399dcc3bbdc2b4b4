/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times and durations as people write them: what is read is within its bounds, and a duration that
 * is written is read as the same. Input: a format, a newline, the text.
 */
#include "../../plugins/time/duration.h"
#include "../../plugins/time/parse.h"

#include <stdio.h>
#include <string.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void check_parsed(const time_parsed *parsed)
{
    time_problem problem;
    REQUIRE(parsed->kind != NULL);
    REQUIRE(parsed->is_instant || time_civil_check(&parsed->civil, &problem));
    REQUIRE(memchr(parsed->zone, '\0', sizeof parsed->zone) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char format[257];
    char text[257];
    time_parsed parsed;
    time_duration duration;
    time_problem problem;
    const uint8_t *end = memchr(data, '\n', size);
    size_t len = end != NULL ? (size_t)(end - data) : size;
    (void)snprintf(format, sizeof format, "%.*s", (int)len, (const char *)data);
    (void)snprintf(text, sizeof text, "%.*s", (int)(end != NULL ? size - len - 1 : 0),
                   end != NULL ? (const char *)end + 1 : "");
    if (time_parse(text, &parsed, &problem)) {
        check_parsed(&parsed);
    }
    if (time_parse_format(text, format, &parsed, &problem)) {
        check_parsed(&parsed);
    }
    if (time_duration_parse(text, &duration, &problem)) {
        REQUIRE(duration.months <= TIME_DURATION_MAX && duration.months >= -TIME_DURATION_MAX);
        REQUIRE(duration.days <= TIME_DURATION_MAX && duration.days >= -TIME_DURATION_MAX);
        REQUIRE(duration.seconds <= TIME_DURATION_MAX && duration.seconds >= -TIME_DURATION_MAX);
    }
    return 0;
}
