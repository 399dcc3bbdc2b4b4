/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool promises of its results: its outputSchema, compiled, with the tool's name for the message.
 * Reference-counted, because a call outlives the catalog that it was found in. It never changes; what
 * counts is on the loop. Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, Output Schema: servers MUST provide structured results that
 * conform to it
 */
#ifndef HUB_TOOLS_PROMISE_H
#define HUB_TOOLS_PROMISE_H

#include "base/str.h"
#include "base/err.h"

typedef struct hub_promise hub_promise;

/* `schema` as hub_schema_compile wants it; both texts are copied.
 * owns:    *ret_promise, one reference
 * errors:  as hub_schema_compile; the text names the place as a JSON pointer, behind "outputSchema: " */
HUB_MUST_CHECK hub_err hub_promise_make(hub_str tool, hub_str schema, hub_promise **ret_promise,
                                        hub_error *reterr);

hub_promise *hub_promise_ref(hub_promise *promise); /* NULL is fine, for both */
void hub_promise_unref(hub_promise *promise);

/* Hold a result, an object that tells of no error, to what was promised.
 * errors:  HUB_EINVAL (it has no structuredContent, or another one than was promised; the text names
 *          the tool and the place, and no value of the result), HUB_ELIMIT and HUB_ENOMEM: it is not known */
HUB_MUST_CHECK hub_err hub_promise_check(const hub_promise *promise, hub_str result,
                                         hub_error *reterr);

#endif
