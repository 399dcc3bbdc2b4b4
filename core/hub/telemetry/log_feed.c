/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/telemetry/log_feed.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log_reader.h"
#include "wire/json.h"
#include "wire/trace.h"

#include <inttypes.h>
#include <stdlib.h>

struct hub_log_feed {
    hub_exporter *exporter;
    hub_log_reader *reader;
    uint64_t lost; /* of the reader's, those that the exporter knows of */
};

/* logs.proto, SeverityNumber. */
static const struct {
    const char *level;
    unsigned severity;
} LEVELS[] = {{"debug", 5}, {"info", 9}, {"warning", 13}, {"error", 17}};

static unsigned severity_of(hub_str level)
{
    for (size_t i = 0; i < sizeof LEVELS / sizeof LEVELS[0]; i++) {
        if (hub_str_is(level, LEVELS[i].level)) {
            return LEVELS[i].severity;
        }
    }
    return 0;
}

/* Members that are not attributes: they have places of their own. */
static bool has_own_place(hub_str key)
{
    static const char *const KEYS[] = {"time", "level", "event", "traceId", "spanId"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (hub_json_string_is(key, hub_str_of(KEYS[i]))) {
            return true;
        }
    }
    return false;
}

static void add_value(hub_buf *out, hub_str value)
{
    int64_t number;
    if (hub_json_type_of(value) == HUB_JSON_NUMBER && hub_json_to_i64(value, &number)) {
        hub_buf_printf(out, "{\"intValue\":\"%" PRId64 "\"}", number);
    } else if (hub_json_type_of(value) == HUB_JSON_NUMBER) {
        hub_buf_printf(out, "{\"doubleValue\":" HUB_STR_FMT "}", HUB_STR_ARG(value));
    } else if (hub_json_type_of(value) == HUB_JSON_STRING) {
        hub_buf_printf(out, "{\"stringValue\":" HUB_STR_FMT "}", HUB_STR_ARG(value));
    } else {
        hub_buf_printf(out, "{\"boolValue\":" HUB_STR_FMT "}", HUB_STR_ARG(value));
    }
}

/* An id as OTLP has it, if the event has one. */
static void add_id(hub_buf *out, hub_str json, const char *key, size_t digits)
{
    hub_str id;
    if (hub_json_plain(hub_json_get(json, hub_str_of(key)), &id) && id.len == digits) {
        hub_buf_printf(out, ",\"%s\":\"" HUB_STR_FMT "\"", key, HUB_STR_ARG(id));
    }
}

/* Append the record of an event as base/log_reader.h has it. */
static void write_record(hub_str json, uint64_t now_ns, hub_buf *out)
{
    hub_json_iter it = hub_json_iterate(json);
    hub_str level = HUB_STR_EMPTY;
    hub_str key;
    hub_str value;
    (void)hub_json_plain(hub_json_get(json, HUB_STR("level")), &level); /* then it stays empty */
    hub_str event = hub_json_get(json, HUB_STR("event"));
    hub_buf_printf(out,
                   "{\"timeUnixNano\":\"%" PRIu64 "\",\"observedTimeUnixNano\":\"%" PRIu64
                   "\",\"severityNumber\":%u,\"severityText\":\"" HUB_STR_FMT "\"",
                   now_ns, now_ns, severity_of(level), HUB_STR_ARG(level));
    hub_buf_printf(out,
                   ",\"eventName\":" HUB_STR_FMT ",\"body\":{\"stringValue\":" HUB_STR_FMT
                   "},\"attributes\":[",
                   HUB_STR_ARG(event), HUB_STR_ARG(event));
    while (hub_json_next(&it, &key, &value)) {
        if (!has_own_place(key)) {
            hub_json_add_comma(out);
            hub_buf_printf(out, "{\"key\":" HUB_STR_FMT ",\"value\":", HUB_STR_ARG(key));
            add_value(out, value);
            hub_buf_add_char(out, '}');
        }
    }
    hub_buf_add_char(out, ']');
    add_id(out, json, "traceId", HUB_TRACE_ID_BYTES - 1);
    add_id(out, json, "spanId", HUB_SPAN_ID_BYTES - 1);
    hub_buf_add_char(out, '}');
}

static void on_line(void *ctx, hub_str json)
{
    hub_log_feed *feed = ctx;
    hub_buf text;
    hub_buf_init(&text, 4 * HUB_LIMIT_LOG_LINE_BYTES);
    write_record(json, hub_clock_wall_ns(), &text);
    hub_exporter_put(feed->exporter, &text);
    hub_buf_fini(&text);
    uint64_t lost = hub_log_reader_lost(feed->reader);
    hub_exporter_note_lost(feed->exporter, lost - feed->lost);
    feed->lost = lost;
}

hub_log_feed *hub_log_feed_create(struct ev_loop *loop, hub_exporter *exporter)
{
    hub_log_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        return NULL;
    }
    feed->exporter = exporter;
    feed->reader = hub_log_reader_create(loop, HUB_LIMIT_EVENTS, on_line, feed);
    if (feed->reader == NULL) {
        free(feed);
        return NULL;
    }
    return feed;
}

void hub_log_feed_destroy(hub_log_feed *feed)
{
    if (feed != NULL) {
        hub_log_reader_destroy(feed->reader);
        free(feed);
    }
}
