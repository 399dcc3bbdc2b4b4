/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client is told that names a tool, a prompt or a resource which it does not have: that the
 * server that may have it cannot be reached, that its toolset is off, or which one was meant. Nothing
 * is said of what the client may not see, so what is hidden from it and what does not exist are
 * answered alike. Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, Error Handling (unknown tools: -32602); server/resources, Error
 *       Handling
 */
#ifndef HUB_HUB_REPORT_UNKNOWN_H
#define HUB_HUB_REPORT_UNKNOWN_H

#include "hub/kernel/respond.h"
#include "tools/catalog.h"
#include "tools/shown.h"

/* What a client is told of a task that it does not have. */
#define HUB_UNKNOWN_TASK                                                                           \
    "Task not found: the id was not given to this client, or the toolset behind it is not active " \
    "any more"

/* Answer a request that names something of that kind which nobody has, after whatever it could wait
 * for: with a tool's failure, or a JSON-RPC error. */
void hub_unknown_respond(const hub_request *request, hub_kind kind, hub_str name);

/* Append the JSON-RPC error that answers the request of a call in the same words; its client is there.
 */
void hub_unknown_add_error(const hub_call *call, hub_kind kind, hub_str name, hub_buf *out);

/* The name among those shown that is nearest to a mistyped one; empty: none is near. Names that
 * begin like it come first. Borrowed from the list. */
hub_str hub_unknown_nearest(const hub_shown *shown, hub_str name);

#endif
