/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/trace.h"

#include "base/encoding.h"

/* Where its parts are in a traceparent. */
enum { TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53, LENGTH = HUB_TRACEPARENT_BYTES - 1 };

#define TRACEPARENT "traceparent"
#define TRACESTATE  "tracestate"

static bool is_zero(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '0') {
            return false;
        }
    }
    return true;
}

/* Of a later version the beginning is known, and what follows begins with a dash. */
static bool has_known_length(hub_str text)
{
    bool is_first = text.ptr[0] == '0' && text.ptr[1] == '0';
    bool is_never = text.ptr[0] == 'f' && text.ptr[1] == 'f';
    return !is_never && (text.len == LENGTH || (!is_first && text.ptr[LENGTH] == '-'));
}

bool hub_trace_read(hub_str text, hub_trace *ret_trace)
{
    if (text.len < LENGTH || text.ptr[TRACE_AT - 1] != '-' || text.ptr[SPAN_AT - 1] != '-' ||
        text.ptr[FLAGS_AT - 1] != '-' || !has_known_length(text)) {
        return false;
    }
    hub_str version = {.ptr = text.ptr, .len = 2};
    hub_str trace = {.ptr = text.ptr + TRACE_AT, .len = HUB_TRACE_ID_BYTES - 1};
    hub_str span = {.ptr = text.ptr + SPAN_AT, .len = HUB_SPAN_ID_BYTES - 1};
    hub_str flags = {.ptr = text.ptr + FLAGS_AT, .len = 2};
    if (!hub_hex_is(version) || !hub_hex_is(trace) || !hub_hex_is(span) || !hub_hex_is(flags) ||
        is_zero(trace) || is_zero(span)) {
        return false;
    }
    *ret_trace = (hub_trace){.is_sampled = (hub_str_hex_digit(flags.ptr[1]) & 1) != 0};
    memcpy(ret_trace->trace_id, trace.ptr, trace.len);
    memcpy(ret_trace->span_id, span.ptr, span.len);
    return true;
}

void hub_trace_write(const hub_trace *trace, char ret_text[HUB_TRACEPARENT_BYTES])
{
    char *at = ret_text;
    (void)hub_str_put(&at, HUB_STR("00-"));
    (void)hub_str_put(&at, hub_str_of(trace->trace_id));
    (void)hub_str_put(&at, HUB_STR("-"));
    (void)hub_str_put(&at, hub_str_of(trace->span_id));
    (void)hub_str_put(&at, trace->is_sampled ? HUB_STR("-01") : HUB_STR("-00"));
    *at = '\0';
}

bool hub_trace_of_meta(hub_str meta, hub_trace *ret_trace)
{
    hub_json_iter it = hub_json_iterate(meta);
    hub_str found = HUB_STR_EMPTY;
    hub_str key;
    hub_str value;
    hub_str text;
    while (hub_json_next(&it, &key, &value)) {
        if (hub_json_string_is(key, HUB_STR(TRACEPARENT))) {
            if (found.len > 0) {
                return false;
            }
            found = value;
        }
    }
    return found.len > 0 && hub_json_plain(found, &text) && hub_trace_read(text, ret_trace);
}

hub_str hub_trace_id_in(hub_str meta)
{
    hub_trace trace;
    hub_str text;
    if (!hub_trace_of_meta(meta, &trace) ||
        !hub_json_plain(hub_json_get(meta, HUB_STR(TRACEPARENT)), &text)) {
        return HUB_STR_EMPTY;
    }
    return (hub_str){.ptr = text.ptr + TRACE_AT, .len = HUB_TRACE_ID_BYTES - 1};
}

void hub_trace_add_meta(hub_buf *out, hub_str meta, const hub_trace *trace, bool belongs)
{
    char text[HUB_TRACEPARENT_BYTES];
    hub_json_iter it = hub_json_iterate(meta);
    hub_str key;
    hub_str value;
    hub_trace_write(trace, text);
    hub_buf_add(out, HUB_STR("{\"" TRACEPARENT "\":\""));
    hub_buf_add(out, (hub_str){.ptr = text, .len = LENGTH});
    hub_buf_add_char(out, '"');
    while (hub_json_next(&it, &key, &value)) {
        if (!hub_json_string_is(key, HUB_STR(TRACEPARENT)) &&
            (belongs || !hub_json_string_is(key, HUB_STR(TRACESTATE)))) {
            hub_buf_add_char(out, ',');
            hub_buf_add(out, key);
            hub_buf_add_char(out, ':');
            hub_buf_add(out, value);
        }
    }
    hub_buf_add_char(out, '}');
}
