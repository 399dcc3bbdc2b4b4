/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the toolset `time`, and what each must answer. Part of test_time.c. */
#ifndef TEST_TIME_CASES_H
#define TEST_TIME_CASES_H

#include <stddef.h>

/* A call and what its structured content must contain; with `error` instead, what it is refused
 * with must contain that text. */
typedef struct call_case {
    const char *tool;
    const char *args;
    const char *wanted;
    const char *error;
} call_case;

static const call_case local_time_cases[] = {
    {"convert", "{\"time\":\"2024-03-31T02:30:00\",\"from\":\"Europe/Berlin\",\"to\":\"UTC\"}",
     "{\"from\":{\"iso\":\"2024-03-31T03:30:00+02:00\",\"gap\":true,\"ambiguous\":false,"
     "\"unix\":1711848600}}",
     NULL},
    {"convert", "{\"time\":\"2024-10-27T02:30\",\"from\":\"Europe/Berlin\",\"to\":[\"UTC\"]}",
     "{\"from\":{\"iso\":\"2024-10-27T02:30:00+02:00\",\"ambiguous\":true,\"gap\":false,"
     "\"candidates\":[\"2024-10-27T02:30:00+02:00\",\"2024-10-27T02:30:00+01:00\"]}}",
     NULL},
    {"parse", "{\"text\":\"2024-10-27T02:30:00+01:00[Europe/Berlin]\"}",
     "{\"unix\":1729992600,\"ambiguous\":false,\"zone\":\"Europe/Berlin\"}", NULL},
    /* the half hour of Lord Howe */
    {"parse", "{\"text\":\"2024-04-07 01:45\",\"zone\":\"Australia/Lord_Howe\"}",
     "{\"utc\":\"2024-04-06T14:45:00Z\",\"ambiguous\":true,\"candidates\":["
     "\"2024-04-07T01:45:00+11:00\",\"2024-04-07T01:45:00+10:30\"]}",
     NULL},
    {"parse", "{\"text\":\"2024-10-06 02:15\",\"zone\":\"Australia/Lord_Howe\"}",
     "{\"iso\":\"2024-10-06T02:45:00+11:00\",\"gap\":true}", NULL},
    /* the day that Samoa skipped */
    {"parse", "{\"text\":\"2011-12-30T12:00\",\"zone\":\"Pacific/Apia\"}",
     "{\"iso\":\"2011-12-31T12:00:00+14:00\",\"gap\":true}", NULL},
    /* a gap and an overlap that only the footer knows */
    {"parse", "{\"text\":\"2100-03-28T02:30\",\"zone\":\"Europe/Berlin\"}",
     "{\"unix\":4109880600,\"gap\":true}", NULL},
    {"parse", "{\"text\":\"2100-11-07T01:30\",\"zone\":\"America/New_York\"}",
     "{\"ambiguous\":true,\"candidates\":[\"2100-11-07T01:30:00-04:00\","
     "\"2100-11-07T01:30:00-05:00\"]}",
     NULL},
};

static const call_case notation_cases[] = {
    {"parse", "{\"text\":\"2024-02-29T12:00:00Z\"}",
     "{\"iso\":\"2024-02-29T12:00:00+00:00\",\"utc\":\"2024-02-29T12:00:00Z\","
     "\"unix\":1709208000,\"unix_ms\":1709208000000,\"zone\":\"UTC\",\"offset\":\"+00:00\","
     "\"offset_seconds\":0,\"weekday\":\"Thursday\",\"day_of_year\":60,"
     "\"iso_week\":\"2024-W09-4\",\"rfc2822\":\"Thu, 29 Feb 2024 12:00:00 +0000\","
     "\"kind\":\"iso8601\"}",
     NULL},
    {"parse", "{\"text\":\"2024-07-01T12:00:00.123456789+05:30\"}",
     "{\"iso\":\"2024-07-01T12:00:00.123456789+05:30\",\"utc\":\"2024-07-01T06:30:00."
     "123456789Z\","
     "\"unix_ms\":1719815400123,\"offset_seconds\":19800}",
     NULL},
    {"parse", "{\"text\":\"20240701T120000,5Z\"}", "{\"utc\":\"2024-07-01T12:00:00.5Z\"}", NULL},
    {"parse", "{\"text\":\"2024-07-01 12:00 UTC\"}", "{\"unix\":1719835200}", NULL},
    {"parse", "{\"text\":\"20240701\",\"zone\":\"UTC\"}", "{\"unix\":1719792000}", NULL},
    {"parse", "{\"text\":\"2020-W53-7\",\"zone\":\"UTC\"}",
     "{\"iso\":\"2021-01-03T00:00:00+00:00\",\"iso_week\":\"2020-W53-7\"}", NULL},
    {"parse", "{\"text\":\"2024W091T10Z\"}", "{\"iso\":\"2024-02-26T10:00:00+00:00\"}", NULL},
    {"parse", "{\"text\":\"2024-366T10:00Z\"}", "{\"iso\":\"2024-12-31T10:00:00+00:00\"}", NULL},
    {"parse", "{\"text\":\"2024-12-31T24:00Z\"}", "{\"iso\":\"2025-01-01T00:00:00+00:00\"}", NULL},
    {"parse", "{\"text\":\"2016-12-31T23:59:60Z\"}", "{\"iso\":\"2017-01-01T00:00:00+00:00\"}",
     NULL},
    {"parse", "{\"text\":\"Sun, 06 Nov 1994 08:49:37 GMT\"}",
     "{\"unix\":784111777,\"kind\":\"rfc2822\"}", NULL},
    {"parse", "{\"text\":\" 6 Nov 94 03:49 EST (Eastern) \"}",
     "{\"iso\":\"1994-11-06T03:49:00-05:00\"}", NULL},
    {"parse", "{\"text\":\"Mon, 1 Jul 2024 14:00:00 +0200\",\"zone\":\"America/New_York\"}",
     "{\"iso\":\"2024-07-01T08:00:00-04:00\"}", NULL},
    {"parse", "{\"text\":\"1719835200.25\",\"zone\":\"UTC\"}",
     "{\"iso\":\"2024-07-01T12:00:00.25+00:00\",\"kind\":\"unix_seconds\"}", NULL},
    {"parse", "{\"text\":1719835200999,\"zone\":\"UTC\"}",
     "{\"iso\":\"2024-07-01T12:00:00.999+00:00\",\"kind\":\"unix_milliseconds\"}", NULL},
    {"parse", "{\"text\":\"-0.5\",\"zone\":\"UTC\"}",
     "{\"iso\":\"1969-12-31T23:59:59.5+00:00\",\"unix\":-1,\"unix_ms\":-500}", NULL},
    {"parse", "{\"text\":\"@2024\",\"zone\":\"UTC\"}", "{\"unix\":2024}", NULL},
    {"parse", "{\"text\":2024,\"zone\":\"UTC\"}", "{\"unix\":2024}", NULL},
    {"parse", "{\"text\":\"2024-07-01T12:00:00Z[Asia/Tokyo]\"}",
     "{\"iso\":\"2024-07-01T21:00:00+09:00\"}", NULL},
    {"parse", "{\"text\":\"2024-07-01T12:00[Asia/Tokyo]\",\"zone\":\"UTC\"}",
     "{\"iso\":\"2024-07-01T03:00:00+00:00\"}", NULL},
    /* by format */
    {"parse",
     "{\"text\":\"31/12/2023 11:30 pm\",\"format\":\"%d/%m/%Y %I:%M %p\",\"zone\":\"UTC\"}",
     "{\"iso\":\"2023-12-31T23:30:00+00:00\",\"kind\":\"format\"}", NULL},
    {"parse",
     "{\"text\":\"12:05AM on 1 March 70\",\"format\":\"%I:%M%p on %e %B %y\","
     "\"zone\":\"UTC\"}",
     "{\"iso\":\"1970-03-01T00:05:00+00:00\"}", NULL},
    {"parse", "{\"text\":\"2024-060 %\",\"format\":\"%Y-%j %%\",\"zone\":\"UTC\"}",
     "{\"iso\":\"2024-02-29T00:00:00+00:00\"}", NULL},
    {"parse", "{\"text\":\"2024-07-01 12:00:00.5 -0330\",\"format\":\"%F %T.%f %z\"}",
     "{\"utc\":\"2024-07-01T15:30:00.5Z\"}", NULL},
    {"parse", "{\"text\":\"Mon 2024-07-01 Asia/Tokyo\",\"format\":\"%a %F %Z\"}",
     "{\"iso\":\"2024-07-01T00:00:00+09:00\"}", NULL},
    {"parse", "{\"text\":1719835200,\"format\":\"%s\",\"zone\":\"UTC\"}", "{\"unix\":1719835200}",
     NULL},
    {"parse", "{\"text\":\"2020/53/7\",\"format\":\"%G/%V/%u\",\"zone\":\"UTC\"}",
     "{\"iso\":\"2021-01-03T00:00:00+00:00\"}", NULL},
};

static const call_case refusal_cases[] = {
    {"parse", "{\"text\":\"tomorrow\"}", NULL, "write RFC 3339"},
    {"parse", "{\"text\":\"\"}", NULL, "is not a time"},
    {"parse", "{\"text\":\"2024\"}", NULL, "'@' in front"},
    {"parse", "{\"text\":\"2023-02-29\"}", NULL, "no day 29 in February 2023, which has 28"},
    {"parse", "{\"text\":\"1900-02-29\"}", NULL, "no day 29 in February 1900"},
    {"parse", "{\"text\":\"2024-13-01\"}", NULL, "no month 13"},
    {"parse", "{\"text\":\"2024-07-01T25:00\"}", NULL, "no time of day 25:00:00"},
    {"parse", "{\"text\":\"2024-07-01T12:00:60Z\"}", NULL, "no time of day 12:00:60"},
    {"parse", "{\"text\":\"2024-W53\"}", NULL, "which has 52 weeks"},
    {"parse", "{\"text\":\"2023-366\"}", NULL, "no day 366"},
    {"parse", "{\"text\":\"2024-07-01T12:00:00+24:00\"}", NULL, "is not a time"},
    {"parse", "{\"text\":\"2024-07-01T12:00:00Z junk\"}", NULL, "is not a time"},
    {"parse", "{\"text\":\"-0044-03-15\"}", NULL, "years are 1 to 9999"},
    {"parse", "{\"text\":\"0000-01-01\"}", NULL, "years 1 to 9999"},
    {"parse", "{\"text\":\"12024-01-01\"}", NULL, "is not a time"},
    {"parse", "{\"text\":\"0001-01-01T00:00+14:00\"}", NULL, "years 1 to 9999"},
    {"parse", "{\"text\":\"9999-12-31T23:00Z\",\"zone\":\"Asia/Tokyo\"}", NULL, "years 1 to 9999"},
    {"parse", "{\"text\":99999999999999999999}", NULL, "too large"},
    {"parse", "{\"text\":\"999999999999999\"}", NULL, "years 1 to 9999"},
    {"parse", "{\"text\":1e9}", NULL, "is not a number"},
    {"parse", "{\"text\":\"Mon, 06 Nov 1994 08:49:37 GMT\"}", NULL, "is a Sunday, not a Monday"},
    {"parse", "{\"text\":\"2024-07-01T12:00+01:00[Europe/Berlin]\"}", NULL,
     "Europe/Berlin is at +02:00 then"},
    {"parse", "{\"text\":\"x\",\"format\":\"%Q\"}", NULL, "'%Q', which is not supported"},
    {"parse", "{\"text\":\"x\",\"format\":\"%Y\"}", NULL, "'x' does not match %Y"},
    {"parse", "{\"text\":\"12:30\",\"format\":\"%H:%M\"}", NULL, "says no year"},
    {"parse", "{\"text\":\"2024x\",\"format\":\"%Y\"}", NULL, "'x' is left over"},
    {"parse", "{\"text\":\"2024\",\"format\":\"%Y%\"}", NULL, "lone %"},
    {"parse", "{\"text\":\"2024\",\"format\":\"%Y%%\"}", NULL, "does not match %%"},
    {"parse", "{\"text\":\"a\\u0000b\"}", NULL, "NUL"},
    {"convert", "{\"time\":\"now\",\"to\":\"Europe/Berln\"}", NULL, "'Europe/Berlin'"},
    {"convert", "{\"time\":\"now\",\"to\":[\"UTC\",\"new york\"]}", NULL, "'America/New_York'"},
    {"convert", "{\"time\":\"now\",\"to\":\"tokyo\"}", NULL, "'Asia/Tokyo'"},
    {"convert", "{\"time\":\"now\",\"to\":\"../../etc/passwd\"}", NULL, "is not a zone name"},
    {"convert", "{\"time\":\"now\",\"to\":\"/etc/localtime\"}", NULL, "is not a zone name"},
    {"convert", "{\"time\":\"now\",\"to\":\"Europe\"}", NULL, "unknown zone 'Europe'"},
    {"convert", "{\"time\":\"now\",\"to\":\"\"}", NULL, "is not a zone name"},
    {"now", "{\"zone\":\"+25:00\"}", NULL, "is not a zone name"},
    {"now", "{\"zone\":\"Europe/\\u00e4\"}", NULL, "is not a zone name"},
    {"format", "{\"time\":0,\"format\":\"%Y %!\"}", NULL, "'%!'"},
    {"format", "{\"time\":0,\"format\":\"%\"}", NULL, "strftime does not know"},
    {"add", "{\"time\":0,\"duration\":\"a while\"}", NULL, "is not a duration"},
    {"add", "{\"time\":0,\"duration\":\"P\"}", NULL, "is not a duration"},
    {"add", "{\"time\":0,\"duration\":\"PT\"}", NULL, "is not a duration"},
    {"add", "{\"time\":0,\"duration\":\"P1.5M\"}", NULL, "is not a duration"},
    {"add", "{\"time\":0,\"duration\":\"P1D1Y\"}", NULL, "is not a duration"},
    {"add", "{\"time\":0,\"duration\":\"99999999999999999999s\"}", NULL, "is not a duration"},
    {"add", "{\"time\":0,\"duration\":\"9000 years\"}", NULL, "years 1 to 9999"},
    {"add", "{\"time\":0,\"duration\":\"-1970 years\"}", NULL, "years 1 to 9999"},
    {"add", "{\"time\":0,\"duration\":\"400000000000s\"}", NULL, "years 1 to 9999"},
};

/* Python 3.11: datetime(2024, 7, 1, 9, 5, 3, 123456, Europe/Berlin).strftime(…) */
static const call_case format_cases[] = {
    {"format",
     "{\"time\":\"2024-07-01T09:05:03.123456\",\"zone\":\"Europe/Berlin\",\"format\":"
     "\"%a %A %b %B %c %C %d %D %e %F %g %G %H %I %j %k %l %m %M %p %P %r %R %s %S %T %u %U %V "
     "%w %W %x %X %y %Y %z %Z %% %f\"}",
     "{\"formatted\":\"Mon Monday Jul July Mon Jul  1 09:05:03 2024 20 01 07/01/24  1 "
     "2024-07-01 24 2024 09 09 183  9  9 07 05 AM am 09:05:03 AM 09:05 1719817503 03 09:05:03 "
     "1 "
     "26 27 1 27 07/01/24 09:05:03 24 2024 +0200 CEST % 123456\"}",
     NULL},
    {"format",
     "{\"time\":\"2024-07-01T09:05:03.123456789Z\",\"format\":\"%-d.%-m. %_H %L %N "
     "%^a %:z%n%t\"}",
     "{\"formatted\":\"1.7.  9 123 123456789 MON +00:00\\n\\t\"}", NULL},
    {"format", "{\"time\":\"2021-01-03T00:30Z\",\"format\":\"%G-W%V-%u %I %l\"}",
     "{\"formatted\":\"2020-W53-7 12 12\"}", NULL},
    {"format", "{\"time\":-2422054409,\"zone\":\"Europe/Berlin\",\"format\":\"%z %:z\"}",
     "{\"formatted\":\"+005328 +00:53:28\"}", NULL},
    {"format", "{\"time\":\"0987-06-05T00:00Z\",\"format\":\"Gr\\u00fc\\u00dfe \\\"%Y\\\"\"}",
     "{\"formatted\":\"Gr\\u00fc\\u00dfe \\\"0987\\\"\"}", NULL},
    {"now", "{\"zone\":\"+05:45\",\"format\":\"%Z\"}",
     "{\"zone\":\"+05:45\",\"offset_seconds\":20700,\"formatted\":\"+05:45\",\"dst\":false}", NULL},
    {"now", "{\"zone\":\"-3\"}", "{\"offset\":\"-03:00\"}", NULL},
    {"convert", "{\"time\":\"now\",\"to\":\"Z\"}", "{\"from\":{\"kind\":\"now\"}}", NULL},
};

static const call_case addition_cases[] = {
    {"add", "{\"time\":\"2024-01-31T10:00Z\",\"duration\":\"1 month\"}",
     "{\"iso\":\"2024-02-29T10:00:00+00:00\",\"clamped\":true}", NULL},
    {"add", "{\"time\":\"2024-02-29T10:00Z\",\"duration\":\"P1Y\"}",
     "{\"iso\":\"2025-02-28T10:00:00+00:00\",\"clamped\":true}", NULL},
    {"add", "{\"time\":\"2024-03-31T10:00Z\",\"duration\":\"-P1M\"}",
     "{\"iso\":\"2024-02-29T10:00:00+00:00\",\"from\":\"2024-03-31T10:00:00+00:00\"}", NULL},
    /* a day is a calendar day, 24 hours are not */
    {"add", "{\"time\":\"2024-03-30T12:00\",\"zone\":\"Europe/Berlin\",\"duration\":\"1 day\"}",
     "{\"iso\":\"2024-03-31T12:00:00+02:00\",\"clamped\":false}", NULL},
    {"add", "{\"time\":\"2024-03-30T12:00\",\"zone\":\"Europe/Berlin\",\"duration\":\"24h\"}",
     "{\"iso\":\"2024-03-31T13:00:00+02:00\"}", NULL},
    {"add", "{\"time\":\"2024-03-30T02:30\",\"zone\":\"Europe/Berlin\",\"duration\":\"P1D\"}",
     "{\"iso\":\"2024-03-31T03:30:00+02:00\",\"gap\":true}", NULL},
    {"add", "{\"time\":\"2024-10-26T02:30\",\"zone\":\"Europe/Berlin\",\"duration\":\"P1D\"}",
     "{\"iso\":\"2024-10-27T02:30:00+02:00\",\"ambiguous\":true}", NULL},
    {"add", "{\"time\":\"2024-10-28T02:30\",\"zone\":\"Europe/Berlin\",\"duration\":\"-P1D\"}",
     "{\"iso\":\"2024-10-27T02:30:00+01:00\",\"ambiguous\":true}", NULL},
    {"add", "{\"time\":\"2011-12-29T12:00\",\"zone\":\"Pacific/Apia\",\"duration\":\"PT1H\"}",
     "{\"iso\":\"2011-12-29T13:00:00-10:00\",\"gap\":false}", NULL},
    {"add", "{\"time\":0,\"zone\":\"UTC\",\"duration\":\"P1Y2M1W3DT4H5M6.789S\"}",
     "{\"iso\":\"1971-03-11T04:05:06.789+00:00\"}", NULL},
    {"add", "{\"time\":0,\"zone\":\"UTC\",\"duration\":\"1 year, 2 months and 1.5 hours\"}",
     "{\"iso\":\"1971-03-01T01:30:00+00:00\"}", NULL},
    {"add", "{\"time\":0,\"zone\":\"UTC\",\"duration\":\"-90m\"}",
     "{\"iso\":\"1969-12-31T22:30:00+00:00\"}", NULL},
    {"add", "{\"time\":0,\"zone\":\"UTC\",\"duration\":\"1h30m 250ms\"}",
     "{\"iso\":\"1970-01-01T01:30:00.25+00:00\"}", NULL},
    {"add", "{\"time\":0,\"zone\":\"UTC\",\"duration\":\"-1 ns\"}",
     "{\"iso\":\"1969-12-31T23:59:59.999999999+00:00\"}", NULL},
    {"add", "{\"time\":0,\"zone\":\"UTC\",\"duration\":\"2 Weeks -1 day\"}",
     "{\"iso\":\"1970-01-14T00:00:00+00:00\"}", NULL},
    {"add", "{\"time\":\"9999-12-30T23:59:59Z\",\"duration\":\"1 d\"}",
     "{\"iso\":\"9999-12-31T23:59:59+00:00\"}", NULL},
};

static const call_case difference_cases[] = {
    {"difference", "{\"from\":\"2024-01-31T00:00Z\",\"to\":\"2024-03-01T12:00Z\"}",
     "{\"duration\":\"P1M1DT12H\",\"calendar\":{\"years\":0,\"months\":1,\"days\":1,"
     "\"hours\":12,\"minutes\":0,\"seconds\":0.0},\"total\":{\"days\":30.5,\"hours\":732.0}}",
     NULL},
    {"difference",
     "{\"from\":\"2024-03-30T12:00\",\"to\":\"2024-03-31T12:00\","
     "\"zone\":\"Europe/Berlin\"}",
     "{\"duration\":\"P1D\",\"zone\":\"Europe/Berlin\"}", NULL},
    {"difference", "{\"from\":\"2024-03-30T11:00Z\",\"to\":\"2024-03-31T10:00Z\"}",
     "{\"duration\":\"PT23H\"}", NULL},
    {"difference", "{\"from\":\"2024-03-01T00:00Z\",\"to\":\"2023-02-28T00:00Z\"}",
     "{\"duration\":\"-P1Y2D\",\"calendar\":{\"years\":-1,\"months\":0,\"days\":-2}}", NULL},
    {"difference", "{\"from\":1,\"to\":1}", "{\"duration\":\"PT0S\"}", NULL},
    {"difference", "{\"from\":0,\"to\":1.25}", "{\"duration\":\"PT1.25S\"}", NULL},
    {"difference", "{\"from\":\"0.75\",\"to\":0}", "{\"duration\":\"-PT0.75S\"}", NULL},
    {"difference",
     "{\"from\":\"2011-12-29T12:00\",\"to\":\"2011-12-31T12:00\","
     "\"zone\":\"Pacific/Apia\"}",
     "{\"duration\":\"P2D\"}", NULL},
    {"difference", "{\"from\":\"0001-01-01T00:00Z\",\"to\":\"9999-12-31T23:59:59Z\"}",
     "{\"duration\":\"P9998Y11M30DT23H59M59S\"}", NULL},
};

#endif
