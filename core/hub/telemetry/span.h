/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One span, from its beginning until it is written as OTLP has it in JSON. Texts that come from others
 * are masked, cut at HUB_LIMIT_SPAN_TEXT_BYTES, and always valid UTF-8. Thread: [loop].
 * spec: OTLP 1.x trace.proto, Span; OTLP/HTTP, JSON Protobuf Encoding
 */
#ifndef HUB_HUB_TELEMETRY_SPAN_H
#define HUB_HUB_TELEMETRY_SPAN_H

#include "base/buf.h"
#include "wire/trace.h"

/* As OTLP numbers them. */
typedef enum hub_span_kind {
    HUB_SPAN_SERVER = 2,
    HUB_SPAN_CLIENT = 3,
} hub_span_kind;

typedef struct hub_span {
    hub_trace own;
    char parent_id[HUB_SPAN_ID_BYTES]; /* of the same trace; empty: the trace begins here */
    bool is_remote;                    /* the parent is another process's */
    bool has_link;                     /* to … */
    hub_trace link;
    hub_span_kind kind;
    uint64_t begin_ns; /* since 1970 */
    uint64_t begin_us; /* monotonic */
    hub_buf name;
    hub_buf state;      /* tracestate; empty: none */
    hub_buf attributes; /* JSON, with commas between them */
    hub_buf error;      /* what it failed with, for people */
    bool has_failed;
} hub_span;

/* It begins now. NULL when out of memory.
 * owns:    the result, hub_span_destroy */
hub_span *hub_span_create(const hub_trace *own, hub_span_kind kind);
void hub_span_destroy(hub_span *span); /* NULL is fine */

/* `target` may be empty. */
void hub_span_set_name(hub_span *span, hub_str method, hub_str target);

/* Keys are constants that need no escapes. An empty text is left out. */
void hub_span_add_text(hub_span *span, const char *key, hub_str text);
void hub_span_add_word(hub_span *span, const char *key, hub_str word); /* a constant of the hub's */
void hub_span_add_digits(hub_span *span, const char *key, uint64_t number); /* as a text */
void hub_span_add_content(hub_span *span, const char *key, hub_str text);   /* …_CONTENT_BYTES */
void hub_span_add_number(hub_span *span, const char *key, int64_t number);

/* It has failed: error.type, and a message for people (may be empty). */
void hub_span_fail(hub_span *span, hub_str type, hub_str message);

/* Append it, ended `now_us` (monotonic). */
void hub_span_write(const hub_span *span, uint64_t now_us, hub_buf *out);

#endif
