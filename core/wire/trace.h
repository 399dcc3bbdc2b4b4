/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces across processes: where a request says which trace it belongs to, and the words for that.
 * What is malformed counts as not said, and never fails a request. Pure functions, any thread.
 * spec: W3C Trace Context, 3.2 (traceparent); MCP 2026-07-28 basic, _meta (traceparent, tracestate)
 */
#ifndef HUB_WIRE_TRACE_H
#define HUB_WIRE_TRACE_H

#include "wire/json.h"

enum {
    HUB_TRACE_ID_BYTES = 33,    /* 32 lower-case hexadecimal digits, with the NUL */
    HUB_SPAN_ID_BYTES = 17,     /* 16 of them */
    HUB_TRACEPARENT_BYTES = 56, /* 00-TRACE-SPAN-FLAGS, with the NUL */
};

/* A span: a part of a trace. */
typedef struct hub_trace {
    char trace_id[HUB_TRACE_ID_BYTES];
    char span_id[HUB_SPAN_ID_BYTES];
    bool is_sampled; /* somebody records it */
} hub_trace;

/* Read a traceparent. False: it is malformed (upper-case digits are; so is an id of zeros), or of a
 * version that cannot be read. */
bool hub_trace_read(hub_str text, hub_trace *ret_trace);

/* The traceparent that says `trace`. */
void hub_trace_write(const hub_trace *trace, char ret_text[HUB_TRACEPARENT_BYTES]);

/* Read the traceparent of a raw `_meta` object. False: there is none, it is malformed, or there are
 * two. */
bool hub_trace_of_meta(hub_str meta, hub_trace *ret_trace);

/* The id of that trace, a span into `meta`; empty: there is none that can be read. */
hub_str hub_trace_id_in(hub_str meta);

/* Append the object `meta` (empty: there is none) as it goes on: with `trace` as its traceparent. The
 * tracestate stays only if it `belongs` to that trace; all other members stay as they are. */
void hub_trace_add_meta(hub_buf *out, hub_str meta, const hub_trace *trace, bool belongs);

#endif
