/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub's own tools: what a feature says of those that it has, and how it answers their calls. Each
 * group of them is a table, which the router lists (router/meta_tools.c) and a manifest chooses
 * (`meta_tools`). Models read all of it: short texts, flat schemas. Thread: [loop].
 */
#ifndef HUB_HUB_META_META_TOOL_H
#define HUB_HUB_META_META_TOOL_H

#include "base/buf.h"
#include "base/err.h"
#include "hub/kernel/types.h"
#include "hub/kernel/way.h"

/* What a tool that looks answers with: appended to `out`, an object.
 * errors:  HUB_EINVAL, HUB_ENOTFOUND (the text says what to do), HUB_ENOMEM */
typedef hub_err hub_meta_look(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr);

/* One row; `change` or `look` answers. */
typedef struct hub_meta_tool {
    const char *name; /* NULL ends a table */
    bool in_static;   /* also where nothing can be changed */
    const char *description;
    const char *input_schema;
    const char *accepted_schema; /* what arguments are checked against; NULL: input_schema */
    const char *annotations;
    void (*change)(hub_call *call, const hub_way *way); /* now or later */
    hub_meta_look *look;
} hub_meta_tool;

/* Complete with structured content and the same as text. Takes the buffer's content. */
void hub_meta_reply(hub_call *call, hub_buf *structured, bool is_error);

/* Complete with a failure: its code for clients (REQUIREMENTS S1.37), and what to do. */
void hub_meta_reply_failure(hub_call *call, hub_err err, const char *why);

/* The code that clients see for a failed operation on toolsets, and whether it may be tried again. */
const char *hub_meta_code_of(hub_err err);
bool hub_meta_is_retryable(hub_err err);

#endif
