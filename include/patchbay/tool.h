/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools of a toolset: what models can call (MCP server/tools). A table of them and a handler
 * each; toolset.h, which includes this, shows how. A handler reads its arguments with
 * patchbay_arg_… (call.h) and answers with the functions of content.h.
 */
#ifndef PATCHBAY_TOOL_H
#define PATCHBAY_TOOL_H

#include <patchbay/content.h>

#ifdef __cplusplus
extern "C" {
#endif

/* patchbay_tool.flags: what clients and policies may rely on (MCP server/tools, annotations). */
#define PATCHBAY_TOOL_READ_ONLY   0x1u /* changes nothing */
#define PATCHBAY_TOOL_DESTRUCTIVE 0x2u /* may destroy; without it the tool only adds */
#define PATCHBAY_TOOL_IDEMPOTENT  0x4u /* a second identical call changes nothing more */
#define PATCHBAY_TOOL_OPEN_WORLD  0x8u /* talks to things outside this machine */
#define PATCHBAY_TOOL_NONBLOCKING PATCHBAY_NONBLOCKING
#define PATCHBAY_TOOL_TAKES_NUL   PATCHBAY_TAKES_NUL

/* One tool. Strings are UTF-8; NULL where a member does not apply. */
typedef struct patchbay_tool {
    const char *name;          /* [A-Za-z0-9_.-]{1,128} */
    const char *title;         /* for people */
    const char *description;   /* for models */
    const char *input_schema;  /* JSON Schema of an object; NULL: takes no arguments */
    const char *output_schema; /* JSON Schema of structuredContent */
    const char *tags;          /* "a,b,c": for filters */
    const char *category;      /* one word: for filters */
    const char *version;
    void (*handler)(patchbay_tool_call *call);
    void *data;     /* for the handler: patchbay_tool_data */
    uint64_t flags; /* PATCHBAY_TOOL_… */
} patchbay_tool;

/* ---- private --------------------------------------------------------------------------------- */

static inline const char *patchbay_bool_(uint64_t flag)
{
    return flag ? "true" : "false";
}

static inline void patchbay_tool_tags_(patchbay_out *out, const char *tags)
{
    patchbay_out_key(out, "patchbay/tags");
    patchbay_out_text(out, "[");
    tags += strspn(tags, ",");
    while (*tags != '\0') {
        size_t len = strcspn(tags, ",");
        patchbay_out_string(out, patchbay_str_make(tags, len));
        tags += len;
        tags += strspn(tags, ",");
        patchbay_out_text(out, *tags != '\0' ? "," : "");
    }
    patchbay_out_text(out, "]");
}

/* What is wrong with an entry of the table, as "tool \"a\": …"; 0 when nothing is. */
static inline int patchbay_tool_wrong_(const patchbay_tool *tool, size_t index, char *text,
                                       size_t size)
{
    const char *name = tool->name;
    if (name == NULL) {
        return snprintf(text, size, "tool number %lu has no name", (unsigned long)index + 1);
    }
    if (tool->handler == NULL) {
        return snprintf(text, size, "tool \"%.128s\" has no handler", name);
    }
    const char *const schemas[] = {tool->input_schema, tool->output_schema};
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        const char *which = i == 0 ? "input_schema" : "output_schema";
        patchbay_str schema = patchbay_str_of(schemas[i]);
        size_t at = schemas[i] != NULL ? patchbay_json_fault(schema) : SIZE_MAX;
        if (at != SIZE_MAX) {
            return snprintf(text, size, "tool \"%.128s\": %s is not valid JSON at byte %lu%s", name,
                            which, (unsigned long)at, at == schema.len ? ", where it ends" : "");
        }
        if (schemas[i] != NULL &&
            *patchbay_json_skip_space_(schemas[i], schema.ptr + schema.len) != '{') {
            return snprintf(text, size, "tool \"%.128s\": %s is not a JSON object", name, which);
        }
    }
    return 0;
}

/* Append one tool as an MCP Tool object. */
static inline void patchbay_tool_json_(patchbay_out *out, const patchbay_tool *tool)
{
    uint64_t flags = tool->flags;
    patchbay_out_text(out, "{");
    patchbay_member_(out, "name", tool->name);
    patchbay_member_(out, "title", tool->title);
    patchbay_member_(out, "description", tool->description);
    patchbay_out_key(out, "inputSchema");
    patchbay_out_text(out, tool->input_schema != NULL
                               ? tool->input_schema
                               : "{\"type\":\"object\",\"additionalProperties\":false}");
    if (tool->output_schema != NULL) {
        patchbay_out_key(out, "outputSchema");
        patchbay_out_text(out, tool->output_schema);
    }
    patchbay_out_printf(out,
                        ",\"annotations\":{\"readOnlyHint\":%s,\"destructiveHint\":%s,"
                        "\"idempotentHint\":%s,\"openWorldHint\":%s}",
                        patchbay_bool_(flags & PATCHBAY_TOOL_READ_ONLY),
                        patchbay_bool_(flags & PATCHBAY_TOOL_DESTRUCTIVE),
                        patchbay_bool_(flags & PATCHBAY_TOOL_IDEMPOTENT),
                        patchbay_bool_(flags & PATCHBAY_TOOL_OPEN_WORLD));
    if (tool->tags != NULL || tool->category != NULL || tool->version != NULL) {
        patchbay_out_key(out, "_meta");
        patchbay_out_text(out, "{");
        if (tool->tags != NULL) {
            patchbay_tool_tags_(out, tool->tags);
        }
        patchbay_member_(out, "patchbay/category", tool->category);
        patchbay_member_(out, "patchbay/version", tool->version);
        patchbay_out_text(out, "}");
    }
    patchbay_out_text(out, "}");
}

#ifdef __cplusplus
}
#endif

#endif
