/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools in the shapes that other APIs take them in. A conversion reads definitions of MCP tools and
 * writes new ones beside them; schemas are handed on byte by byte, so numbers stay as they were sent.
 * What an API is known not to obey in them is told once per tool. Pure functions; any thread.
 */
#ifndef HUB_EXPORT_EXPORT_H
#define HUB_EXPORT_EXPORT_H

#include "base/buf.h"

typedef struct hub_export_format hub_export_format;

/* The format called so (openai, openai-responses, anthropic, gemini, mcp, openapi), or NULL. */
const hub_export_format *hub_export_find(hub_str name);
const hub_export_format *hub_export_next(const hub_export_format *format); /* NULL: the first */
const char *hub_export_name(const hub_export_format *format);

/* Whether a name is of the kind that is made: others are no API's name of a tool called otherwise. */
bool hub_export_is_made_name(hub_str name);

/* Told of what is lost of a tool, or why it is left out; the text names it. */
typedef void hub_export_on_note(void *ctx, bool is_left_out, hub_str text);

/* Append what an API calls a tool: its name, if that is letters, digits, "_" and "-", at most 64, else
 * one that is made of it and a digest of it: the same whenever and wherever it is made.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_export_add_tool_name(const hub_export_format *format, hub_str name,
                                                hub_buf *out);

/* Append all tools of `tools`, an array of MCP Tool objects that hub_json_check accepted. A tool that
 * cannot be converted is left out, and the others are not. `is_strict`: so is one that would lose
 * something. The canonical definitions are not changed.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_export_tools(const hub_export_format *format, hub_str tools,
                                        bool is_strict, hub_export_on_note *on_note, void *ctx,
                                        hub_buf *out);

/* The tool of `tools` that the API calls `name`, as its raw name; empty: none. */
hub_str hub_export_find_tool(const hub_export_format *format, hub_str tools, hub_str name);

#endif
