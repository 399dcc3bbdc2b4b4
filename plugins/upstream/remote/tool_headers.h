/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of tools that are mirrored into HTTP headers: MCP 2026-07-28
 * basic/transports/streamable-http, Custom Headers from Tool Parameters. Of tools that want it the
 * places of those parameters are kept; the others cost nothing. No I/O.
 */
#ifndef MCP_REMOTE_TOOL_HEADERS_H
#define MCP_REMOTE_TOOL_HEADERS_H

#include <patchbay/json.h>

#define TOOL_HEADERS_MAX 64 /* of one tool */
#define TOOL_HEADERS_NODES                                                                         \
    2048 /* … on the way to which so many parameters lie; JSON is not so deep */

/* Start from all zeros. Trees of search.h, by name: whoever writes the list chooses how many. */
typedef struct tool_headers {
    void *latest; /* tools of the list that is being read, or was read last */
    void *former; /* … of the one before */
} tool_headers;

/* A list is about to be read: what was in neither it nor the one before is forgotten. */
void tool_headers_begin(tool_headers *all);

/* Take a tool's definition.
 * returns: NULL; or why it must be left out, a phrase behind "its x-mcp-header" */
const char *tool_headers_take(tool_headers *all, patchbay_str tool);

/* Append the header lines that a call of the tool wants; `arguments` may be empty. They are passed
 * over once, however many parameters the schema has.
 * returns: what that took: bytes of the arguments that were read, and names that were compared */
size_t tool_headers_add(const tool_headers *all, patchbay_str name, patchbay_str arguments,
                        patchbay_out *lines);

void tool_headers_free(tool_headers *all);

#endif
