/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/telemetry/span.h"

#include "base/limits.h"
#include "redact/redact.h"
#include "wire/json_scan.h"

#include <stdlib.h>

/* Bits of `flags` beside those of the trace (trace.proto, SpanFlags). */
enum { FLAG_SAMPLED = 0x1, FLAG_KNOWS_REMOTE = 0x100, FLAG_IS_REMOTE = 0x200 };

enum {
    USUAL_BYTES = 1270, /* of a whole span: no more room is asked for, mostly */
    DIGITS_MOST = 20,   /* of 2^64 - 1 */
};

#define STATUS_ERROR "2"

/* What ends an attribute that is a text. */
#define TEXT_END HUB_STR("\"}}")

/* What a span says behind its flags, of an initialiser. */
#define KIND_OF(digit)                                                                             \
    {                                                                                              \
        .ptr = ",\"kind\":" digit ",\"startTimeUnixNano\":\"",                                     \
        .len = sizeof ",\"kind\":" digit ",\"startTimeUnixNano\":\"" - 1                           \
    }

/* ---- texts ----------------------------------------------------------------------------------- */

/* Append three at once. */
static void add_three(hub_buf *out, hub_str first, hub_str second, hub_str third)
{
    char *at = hub_buf_reserve(out, first.len + second.len + third.len);
    if (at != NULL) {
        (void)hub_str_put(&at, first);
        (void)hub_str_put(&at, second);
        (void)hub_str_put(&at, third);
        out->len = (size_t)(at - out->ptr);
    }
}

/* Append a text of others as a JSON string. `before` ends with its first quote, `behind` begins with its
 * last one. */
static void add_shown(hub_buf *out, hub_str before, hub_str text, size_t most, hub_str behind)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    if (hub_redact(text, &masked)) {
        text = hub_buf_ok(&masked) ? hub_buf_str(&masked) : HUB_STR("");
    }
    text = hub_str_cut(text, most);
    const char *end = text.ptr + text.len;
    if (text.len > 0 && hub_json_skip_plain(text.ptr, end) == end) {
        add_three(out, before, text, behind);
    } else {
        before.len--;
        hub_buf_add(out, before);
        hub_json_add_string(out, text);
        hub_buf_add(out, hub_str_from(behind, 1));
    }
    hub_buf_fini(&masked);
}

/* The digits of a number, at the end of `room`. */
static hub_str digits_of(uint64_t number, char room[DIGITS_MOST])
{
    size_t at = DIGITS_MOST;
    do {
        room[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return (hub_str){.ptr = room + at, .len = DIGITS_MOST - at};
}

/* ---- its beginning --------------------------------------------------------------------------- */

static void add_ids(const hub_span_start *start, hub_buf *out)
{
    hub_str trace_id = {.ptr = start->own.trace_id, .len = HUB_TRACE_ID_BYTES - 1};
    hub_str span_id = {.ptr = start->own.span_id, .len = HUB_SPAN_ID_BYTES - 1};
    hub_str parent_id = {.ptr = start->parent_id, .len = HUB_SPAN_ID_BYTES - 1};
    add_three(out, HUB_STR("{\"traceId\":\""), trace_id, HUB_STR("\",\"spanId\":\""));
    if (start->parent_id[0] != '\0') {
        add_three(out, span_id, HUB_STR("\",\"parentSpanId\":\""), parent_id);
        hub_buf_add_char(out, '"');
    } else {
        add_three(out, span_id, HUB_STR("\""), HUB_STR_EMPTY);
    }
}

static void add_link(const hub_trace *link, hub_buf *out)
{
    hub_buf_printf(out, ",\"links\":[{\"traceId\":\"%s\",\"spanId\":\"%s\",\"flags\":%u}]",
                   link->trace_id, link->span_id,
                   FLAG_KNOWS_REMOTE | FLAG_IS_REMOTE | (link->is_sampled ? FLAG_SAMPLED : 0));
}

/* The method and what it is for, as the name of a span, and that method as its first attribute. */
static void add_name(const hub_span_start *start, hub_buf *out)
{
    char name[2 * HUB_LIMIT_SPAN_TEXT_BYTES + 1];
    char *at = name;
    (void)hub_str_put(&at, hub_str_cut(start->name, HUB_LIMIT_SPAN_TEXT_BYTES));
    if (start->target.len > 0) {
        *at++ = ' ';
        (void)hub_str_put(&at, hub_str_cut(start->target, HUB_LIMIT_SPAN_TEXT_BYTES));
    }
    add_shown(
        out, HUB_STR(",\"name\":\""), hub_str_between(name, at), SIZE_MAX,
        HUB_STR("\",\"attributes\":[{\"key\":\"mcp.method.name\",\"value\":{\"stringValue\":"));
    add_shown(out, HUB_STR("\""), start->method, HUB_LIMIT_SPAN_TEXT_BYTES, TEXT_END);
}

static void write_start(hub_span *span, const hub_span_start *start)
{
    static const hub_str KINDS[] = {
        [HUB_SPAN_SERVER] = KIND_OF("2"),
        [HUB_SPAN_CLIENT] = KIND_OF("3"),
    };
    char room[DIGITS_MOST];
    hub_buf *out = &span->text;
    unsigned flags = FLAG_SAMPLED | FLAG_KNOWS_REMOTE | (start->is_remote ? FLAG_IS_REMOTE : 0);
    add_ids(start, out);
    if (start->state.len > 0) {
        hub_buf_add(out, HUB_STR(",\"traceState\":"));
        span->state_at = out->len;
        span->state_len = start->state.len;
        hub_buf_add(out, start->state);
    }
    add_three(out, HUB_STR(",\"flags\":"), digits_of(flags, room), KINDS[start->kind]);
    add_three(out, digits_of(start->begin_ns, room), HUB_STR("\""), HUB_STR_EMPTY);
    if (start->has_link) {
        add_link(&start->link, out);
    }
    add_name(start, out);
}

hub_span *hub_span_create(const hub_span_start *start)
{
    hub_span *span = calloc(1, sizeof *span);
    if (span != NULL) {
        span->own = start->own;
        span->is_remote = start->is_remote;
        span->kind = start->kind;
        span->begin_ns = start->begin_ns;
        span->begin_us = start->begin_us;
        hub_buf_init(&span->text, SIZE_MAX / 4);
        hub_buf_init(&span->error, SIZE_MAX / 4);
        (void)hub_buf_reserve(&span->text, USUAL_BYTES); /* a failure is told at the end */
        write_start(span, start);
    }
    return span;
}

void hub_span_destroy(hub_span *span)
{
    if (span != NULL) {
        hub_buf_fini(&span->text);
        hub_buf_fini(&span->error);
        free(span);
    }
}

hub_str hub_span_state(const hub_span *span)
{
    return span->state_len > 0 && hub_buf_ok(&span->text)
               ? (hub_str){.ptr = span->text.ptr + span->state_at, .len = span->state_len}
               : HUB_STR_EMPTY;
}

/* ---- its attributes -------------------------------------------------------------------------- */

void hub_span_add_text(hub_span *span, hub_str key, hub_str text)
{
    if (text.len > 0) {
        add_shown(&span->text, key, text, HUB_LIMIT_SPAN_TEXT_BYTES, TEXT_END);
    }
}

void hub_span_add_content(hub_span *span, hub_str key, hub_str text)
{
    if (text.len > 0) {
        add_shown(&span->text, key, text, HUB_LIMIT_SPAN_CONTENT_BYTES, TEXT_END);
    }
}

void hub_span_add_word(hub_span *span, hub_str key, hub_str word)
{
    add_three(&span->text, key, word, TEXT_END);
}

void hub_span_add_digits(hub_span *span, hub_str key, uint64_t number)
{
    char room[DIGITS_MOST];
    add_three(&span->text, key, digits_of(number, room), TEXT_END);
}

void hub_span_fail(hub_span *span, hub_str type, hub_str message)
{
    span->has_failed = true;
    hub_span_add_text(span, HUB_SPAN_TEXT("error.type"), type);
    hub_buf_clear(&span->error);
    hub_buf_add(&span->error, message);
}

/* ---- its end --------------------------------------------------------------------------------- */

void hub_span_end(hub_span *span, uint64_t now_us)
{
    char room[DIGITS_MOST];
    hub_buf *out = &span->text;
    uint64_t took_us = now_us > span->begin_us ? now_us - span->begin_us : 0;
    add_three(out, HUB_STR("],\"endTimeUnixNano\":\""),
              digits_of(span->begin_ns + took_us * 1000, room), HUB_STR("\"}"));
    if (span->has_failed) {
        out->len -= out->len > 0; /* the brace */
        add_shown(out, HUB_STR(",\"status\":{\"code\":" STATUS_ERROR ",\"message\":\""),
                  hub_buf_str(&span->error), HUB_LIMIT_SPAN_TEXT_BYTES, HUB_STR("\"}}"));
        out->failed = hub_buf_ok(&span->error) ? out->failed : HUB_ENOMEM;
    }
}
