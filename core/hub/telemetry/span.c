/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/telemetry/span.h"

#include "base/clock.h"
#include "base/limits.h"
#include "redact/redact.h"

#include <inttypes.h>
#include <stdlib.h>

/* Bits of `flags` beside those of the trace (trace.proto, SpanFlags). */
enum { FLAG_SAMPLED = 0x1, FLAG_KNOWS_REMOTE = 0x100, FLAG_IS_REMOTE = 0x200 };

enum {
    STATUS_ERROR = 2,
    USUAL_BYTES = 1024, /* of attributes: no more room is asked for, mostly */
    BESIDE_BYTES = 384, /* of a span as it is written, beside these */
};

hub_span *hub_span_create(const hub_trace *own, hub_span_kind kind)
{
    hub_span *span = calloc(1, sizeof *span);
    if (span != NULL) {
        span->own = *own;
        span->kind = kind;
        span->begin_ns = hub_clock_wall_ns();
        span->begin_us = hub_clock_now_us();
        hub_buf_init(&span->name, SIZE_MAX / 4);
        hub_buf_init(&span->state, SIZE_MAX / 4);
        hub_buf_init(&span->attributes, SIZE_MAX / 4);
        hub_buf_init(&span->error, SIZE_MAX / 4);
        (void)hub_buf_reserve(&span->attributes, USUAL_BYTES); /* a failure is told at the end */
    }
    return span;
}

void hub_span_destroy(hub_span *span)
{
    if (span != NULL) {
        hub_buf_fini(&span->name);
        hub_buf_fini(&span->state);
        hub_buf_fini(&span->attributes);
        hub_buf_fini(&span->error);
        free(span);
    }
}

/* Append a text of others as a JSON string. */
static void add_shown(hub_buf *out, hub_str text, size_t most)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    if (hub_redact(text, &masked)) {
        text = hub_buf_ok(&masked) ? hub_buf_str(&masked) : HUB_STR("");
    }
    hub_json_add_string(out, hub_str_cut(text, most));
    hub_buf_fini(&masked);
}

void hub_span_set_name(hub_span *span, hub_str method, hub_str target)
{
    hub_buf_clear(&span->name);
    hub_buf_add(&span->name, hub_str_cut(method, HUB_LIMIT_SPAN_TEXT_BYTES));
    if (target.len > 0) {
        hub_buf_add_char(&span->name, ' ');
        hub_buf_add(&span->name, hub_str_cut(target, HUB_LIMIT_SPAN_TEXT_BYTES));
    }
}

static void begin_attribute(hub_span *span, const char *key)
{
    hub_buf *out = &span->attributes;
    hub_buf_add(out, out->len > 0 ? HUB_STR(",{\"key\":\"") : HUB_STR("{\"key\":\""));
    hub_buf_add(out, hub_str_of(key));
    hub_buf_add(out, HUB_STR("\",\"value\":{"));
}

static void add_text(hub_span *span, const char *key, hub_str text, size_t most)
{
    if (text.len > 0) {
        begin_attribute(span, key);
        hub_buf_add(&span->attributes, HUB_STR("\"stringValue\":"));
        add_shown(&span->attributes, text, most);
        hub_buf_add(&span->attributes, HUB_STR("}}"));
    }
}

void hub_span_add_text(hub_span *span, const char *key, hub_str text)
{
    add_text(span, key, text, HUB_LIMIT_SPAN_TEXT_BYTES);
}

void hub_span_add_word(hub_span *span, const char *key, hub_str word)
{
    begin_attribute(span, key);
    hub_buf_add(&span->attributes, HUB_STR("\"stringValue\":\""));
    hub_buf_add(&span->attributes, word);
    hub_buf_add(&span->attributes, HUB_STR("\"}}"));
}

void hub_span_add_digits(hub_span *span, const char *key, uint64_t number)
{
    begin_attribute(span, key);
    hub_buf_add(&span->attributes, HUB_STR("\"stringValue\":\""));
    hub_buf_add_u64(&span->attributes, number);
    hub_buf_add(&span->attributes, HUB_STR("\"}}"));
}

void hub_span_add_content(hub_span *span, const char *key, hub_str text)
{
    add_text(span, key, text, HUB_LIMIT_SPAN_CONTENT_BYTES);
}

void hub_span_add_number(hub_span *span, const char *key, int64_t number)
{
    begin_attribute(span, key);
    hub_buf_printf(&span->attributes, "\"intValue\":\"%" PRId64 "\"}}", number);
}

void hub_span_fail(hub_span *span, hub_str type, hub_str message)
{
    span->has_failed = true;
    hub_span_add_text(span, "error.type", type);
    hub_buf_clear(&span->error);
    hub_buf_add(&span->error, message);
}

static void add_parent(const hub_span *span, hub_buf *out)
{
    unsigned flags = FLAG_SAMPLED | FLAG_KNOWS_REMOTE | (span->is_remote ? FLAG_IS_REMOTE : 0);
    if (span->parent_id[0] != '\0') {
        hub_buf_add(out, HUB_STR("\",\"parentSpanId\":\""));
        hub_buf_add(out, hub_str_of(span->parent_id));
    }
    hub_buf_add_char(out, '"');
    if (span->state.len > 0) {
        hub_buf_add(out, HUB_STR(",\"traceState\":"));
        hub_json_add_string(out, hub_buf_str(&span->state));
    }
    hub_buf_add(out, HUB_STR(",\"flags\":"));
    hub_buf_add_u64(out, flags);
}

void hub_span_write(const hub_span *span, uint64_t now_us, hub_buf *out)
{
    uint64_t took_us = now_us > span->begin_us ? now_us - span->begin_us : 0;
    (void)hub_buf_reserve(out, span->attributes.len + span->name.len + BESIDE_BYTES);
    hub_buf_add(out, HUB_STR("{\"traceId\":\""));
    hub_buf_add(out, hub_str_of(span->own.trace_id));
    hub_buf_add(out, HUB_STR("\",\"spanId\":\""));
    hub_buf_add(out, hub_str_of(span->own.span_id));
    add_parent(span, out);
    hub_buf_add(out, HUB_STR(",\"name\":"));
    add_shown(out, hub_buf_str(&span->name), SIZE_MAX);
    hub_buf_add(out, HUB_STR(",\"kind\":"));
    hub_buf_add_u64(out, span->kind);
    hub_buf_add(out, HUB_STR(",\"startTimeUnixNano\":\""));
    hub_buf_add_u64(out, span->begin_ns);
    hub_buf_add(out, HUB_STR("\",\"endTimeUnixNano\":\""));
    hub_buf_add_u64(out, span->begin_ns + took_us * 1000);
    hub_buf_add(out, HUB_STR("\",\"attributes\":["));
    hub_buf_add(out, hub_buf_str(&span->attributes));
    hub_buf_add_char(out, ']');
    if (span->has_link) {
        hub_buf_printf(out, ",\"links\":[{\"traceId\":\"%s\",\"spanId\":\"%s\",\"flags\":%u}]",
                       span->link.trace_id, span->link.span_id,
                       FLAG_KNOWS_REMOTE | FLAG_IS_REMOTE |
                           (span->link.is_sampled ? FLAG_SAMPLED : 0));
    }
    if (span->has_failed) {
        hub_buf_printf(out, ",\"status\":{\"code\":%d,\"message\":", STATUS_ERROR);
        add_shown(out, hub_buf_str(&span->error), HUB_LIMIT_SPAN_TEXT_BYTES);
        hub_buf_add_char(out, '}');
    }
    bool is_whole = hub_buf_ok(&span->name) && hub_buf_ok(&span->attributes) &&
                    hub_buf_ok(&span->error) && hub_buf_ok(&span->state);
    hub_buf_add_char(out, '}');
    out->failed = is_whole ? out->failed : HUB_ENOMEM;
}
