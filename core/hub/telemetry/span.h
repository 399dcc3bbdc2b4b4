/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One span, written as OTLP has it in JSON while it is made: what is known at its beginning, then its
 * attributes, then how it ended. Texts that come from others are masked, cut at
 * HUB_LIMIT_SPAN_TEXT_BYTES, and always valid UTF-8. Thread: [loop].
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

/* What is known of a span at its beginning. Borrowed for the call. */
typedef struct hub_span_start {
    hub_trace own;
    char parent_id[HUB_SPAN_ID_BYTES]; /* of the same trace; empty: the trace begins here */
    bool is_remote;                    /* the parent is another process's */
    bool has_link;                     /* to … */
    hub_trace link;
    hub_span_kind kind;
    hub_str state;     /* tracestate, a raw JSON string; empty: none */
    hub_str method;    /* mcp.method.name */
    hub_str name;      /* the method, or what is told instead … */
    hub_str target;    /* … and what it is for; may be empty */
    uint64_t begin_ns; /* since 1970 */
    uint64_t begin_us; /* monotonic */
} hub_span_start;

typedef struct hub_span {
    hub_trace own;
    hub_span_kind kind;
    bool is_remote;
    bool has_failed;
    uint64_t begin_ns;
    uint64_t begin_us;
    size_t state_at; /* where its state lies in the text */
    size_t state_len;
    hub_buf text;  /* JSON, the attributes open */
    hub_buf error; /* what it failed with, for people */
} hub_span;

/* NULL when out of memory.
 * owns:    the result, hub_span_destroy */
hub_span *hub_span_create(const hub_span_start *start);
void hub_span_destroy(hub_span *span); /* NULL is fine */

/* As hub_span_start has it; borrowed until the span is changed. */
hub_str hub_span_state(const hub_span *span);

/* The key of an attribute that is a text, or one that is a number; a literal that needs no escapes. */
#define HUB_SPAN_TEXT(literal)   HUB_STR(",{\"key\":\"" literal "\",\"value\":{\"stringValue\":\"")
#define HUB_SPAN_NUMBER(literal) HUB_STR(",{\"key\":\"" literal "\",\"value\":{\"intValue\":\"")

/* `key` is made by the macros. An empty text is left out. */
void hub_span_add_text(hub_span *span, hub_str key, hub_str text);
void hub_span_add_content(hub_span *span, hub_str key, hub_str text);   /* …_CONTENT_BYTES */
void hub_span_add_word(hub_span *span, hub_str key, hub_str word);      /* of the hub's own */
void hub_span_add_digits(hub_span *span, hub_str key, uint64_t number); /* of either key */

/* It has failed: error.type, and a message for people (may be empty). */
void hub_span_fail(hub_span *span, hub_str type, hub_str message);

/* It ends `now_us` (monotonic): its text is whole, or has failed. */
void hub_span_end(hub_span *span, uint64_t now_us);

#endif
