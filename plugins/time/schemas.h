/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schemas of the toolset, and nothing else. */
#ifndef TIME_SCHEMAS_H
#define TIME_SCHEMAS_H

/* A property a line reads best; the formatter would nest macros that call macros ever deeper. */
/* clang-format off */

#define PROPERTY(key, type, text) \
    "\"" key "\":{\"type\":\"" type "\",\"description\":\"" text "\"}"
#define TEXT(key, text)    PROPERTY(key, "string", text)
#define INTEGER(key, text) PROPERTY(key, "integer", text)
#define BOOLEAN(key, text) PROPERTY(key, "boolean", text)

#define OBJECT(required, properties) \
    "{\"type\":\"object\",\"required\":[" required "],\"properties\":{" properties "}}"

/* ---- input ---------------------------------------------------------------------------------- */

#define INPUT(required, properties) \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required "]," \
    "\"properties\":{" properties "}}"
#define BOUNDED(key, max, text) \
    "\"" key "\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":" max "," \
    "\"description\":\"" text "\"}"
#define TIME_IN(key, text) \
    "\"" key "\":{\"type\":[\"string\",\"number\"],\"maxLength\":127,\"description\":\"" text \
    " (RFC 3339 / ISO 8601, RFC 2822, Unix seconds or milliseconds, or 'now')\"}"
#define ZONE_IN(key, text) \
    BOUNDED(key, "63", text "; an IANA name such as 'Europe/Berlin', 'UTC', or an offset such as " \
                       "'+02:00'")
#define FORMAT_IN(text) BOUNDED("format", "256", text)
#define STRFTIME        "strftime format, for example '%A, %d %B %Y at %H:%M %Z'"

#define NOW_INPUT \
    INPUT("", \
        ZONE_IN("zone", "the zone to show it in (default: the system's)") "," \
        FORMAT_IN("a " STRFTIME ", answered in 'formatted'"))

#define CONVERT_INPUT \
    INPUT("\"time\",\"to\"", \
        TIME_IN("time", "the time to convert") "," \
        ZONE_IN("from", "the zone of a time without offset (default: the system's)") "," \
        "\"to\":{\"type\":[\"string\",\"array\"],\"minLength\":1,\"maxLength\":63," \
        "\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":63}," \
        "\"minItems\":1,\"maxItems\":20," \
        "\"description\":\"the zone, or the zones, to convert to\"}")

#define PARSE_INPUT \
    INPUT("\"text\"", \
        TIME_IN("text", "the text to read") "," \
        FORMAT_IN("a strptime format, for any other notation: '%d/%m/%Y %I:%M %p'") "," \
        ZONE_IN("zone", "the zone of a text without offset, and the zone to show it in"))

#define FORMAT_INPUT \
    INPUT("\"time\",\"format\"", \
        TIME_IN("time", "the time to write") "," \
        FORMAT_IN("a " STRFTIME) "," \
        ZONE_IN("zone", "the zone to show it in (default: as written)"))

#define ADD_INPUT \
    INPUT("\"time\",\"duration\"", \
        TIME_IN("time", "the time to start from") "," \
        BOUNDED("duration", "200", "duration to add: ISO 8601 ('P1M2DT3H') or plain units " \
                                   "('2 hours 30 minutes', '-1 month'); negative subtracts") "," \
        ZONE_IN("zone", "the zone whose calendar counts for days, months and years"))

#define DIFFERENCE_INPUT \
    INPUT("\"from\",\"to\"", \
        TIME_IN("from", "the first time") "," \
        TIME_IN("to", "the second time") "," \
        ZONE_IN("zone", "the zone whose calendar counts (default: the first time's)"))

#define ZONES_INPUT \
    INPUT("", \
        "\"query\":{\"type\":\"string\",\"maxLength\":63,\"description\":" \
        "\"a part of the name, for example 'berlin' or 'America/'; absent: all\"}," \
        "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,\"description\":" \
        "\"the most names to return (default 50)\"}")

/* ---- output --------------------------------------------------------------------------------- */

#define MOMENT_REQUIRED \
    "\"iso\",\"utc\",\"unix\",\"unix_ms\",\"zone\",\"offset\",\"offset_seconds\"," \
    "\"abbreviation\",\"dst\",\"weekday\",\"day_of_year\",\"iso_week\",\"rfc2822\""
#define MOMENT_PROPERTIES \
    TEXT("iso", "RFC 3339, in the zone") "," \
    TEXT("utc", "RFC 3339, in UTC") "," \
    INTEGER("unix", "seconds since 1970-01-01T00:00:00Z, rounded down") "," \
    INTEGER("unix_ms", "milliseconds since then") "," \
    TEXT("zone", "the zone's name") "," \
    TEXT("offset", "local time minus UTC") "," \
    INTEGER("offset_seconds", "the same in seconds") "," \
    TEXT("abbreviation", "what the zone calls its time then") "," \
    BOOLEAN("dst", "daylight-saving time is in force") "," \
    TEXT("weekday", "the day's name") "," \
    INTEGER("day_of_year", "1 to 366") "," \
    TEXT("iso_week", "year, week and weekday of ISO 8601") "," \
    TEXT("rfc2822", "as in e-mail") "," \
    TEXT("kind", "the notation that was recognised") "," \
    BOOLEAN("ambiguous", "the local time happened twice") "," \
    "\"candidates\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}," \
    "\"description\":\"both, when it is ambiguous\"}," \
    BOOLEAN("gap", "the local time never happened") "," \
    TEXT("note", "what to know about this result")

#define MOMENT_OUTPUT OBJECT(MOMENT_REQUIRED, MOMENT_PROPERTIES)
#define FORMATTED_OUTPUT \
    OBJECT(MOMENT_REQUIRED, MOMENT_PROPERTIES "," TEXT("formatted", "by the format asked for"))

#define ADD_OUTPUT \
    OBJECT(MOMENT_REQUIRED ",\"clamped\",\"from\"", \
        MOMENT_PROPERTIES "," \
        TEXT("from", "the start, RFC 3339") "," \
        BOOLEAN("clamped", "the month has no such day; its last day instead"))

#define CONVERT_OUTPUT \
    OBJECT("\"from\",\"to\"", \
        "\"from\":" MOMENT_OUTPUT "," \
        "\"to\":{\"type\":\"array\",\"items\":" MOMENT_OUTPUT "}")

#define UNITS(key, text) \
    "\"" key "\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}," \
    "\"description\":\"" text "\"}"
#define DIFFERENCE_OUTPUT \
    OBJECT("\"from\",\"to\",\"zone\",\"duration\",\"calendar\",\"total\"", \
        "\"from\":" MOMENT_OUTPUT "," \
        "\"to\":" MOMENT_OUTPUT "," \
        TEXT("zone", "whose calendar counted") "," \
        TEXT("duration", "ISO 8601, in calendar steps") "," \
        UNITS("calendar", "the same by unit") "," \
        UNITS("total", "the whole difference in each unit; a day is 24 hours here"))

#define ZONES_OUTPUT \
    OBJECT("\"zones\",\"total\"", \
        "\"zones\":{\"type\":\"array\",\"items\":" \
            OBJECT("\"name\"", \
                TEXT("name", "IANA name") "," \
                TEXT("offset", "now") "," \
                TEXT("abbreviation", "now") "," \
                BOOLEAN("dst", "now")) "}," \
        INTEGER("total", "how many names match") "," \
        "\"nearest\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}," \
        "\"description\":\"similar names, when none matches\"}")

/* ---- configuration -------------------------------------------------------------------------- */

#define CONFIG_SCHEMA \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" \
    BOUNDED("default_zone", "63", "the zone of times that name none (default: the system's zone, " \
                                  "else UTC)") "}}"

/* clang-format on */

#endif
