/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fake_host.c checks of the JSON that a plugin hands over. Part of that file, in one of its
 * own so that both stay readable. Pure functions.
 */
#ifndef FAKE_CHECK_H
#define FAKE_CHECK_H

#include <patchbay/json.h>

#include <jansson.h>

static json_t *parse(patchbay_str text)
{
    return json_loadb(text.ptr != NULL ? text.ptr : "", text.len,
                      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
}

/* Whether `text` is an array of MCP Tool objects, as far as a toolset could get it wrong. */
static int is_tool_list(patchbay_str text)
{
    json_t *tools = parse(text);
    int ok = json_is_array(tools);
    size_t i;
    json_t *entry;
    json_array_foreach(tools, i, entry)
    {
        ok = ok && json_is_string(json_object_get(entry, "name")) &&
             json_is_object(json_object_get(entry, "inputSchema"));
    }
    json_decref(tools);
    return ok;
}

static int is_object(patchbay_str text)
{
    json_t *value = parse(text);
    int ok = json_is_object(value);
    json_decref(value);
    return ok;
}

/* Whether `text` is a list of a catalog, as far as a toolset could get it wrong. */
static int is_list(uint32_t kind, patchbay_str text)
{
    static const char *const keys[FAKE_HOST_LISTS] = {"inputSchema", "uri", "uriTemplate", "name"};
    json_t *list = parse(text);
    int ok = json_is_array(list);
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry)
    {
        ok = ok && json_is_string(json_object_get(entry, "name")) &&
             json_object_get(entry, keys[kind]) != NULL;
    }
    json_decref(list);
    return ok;
}

static int is_progress(patchbay_str text)
{
    json_t *params = parse(text);
    int ok = json_is_number(json_object_get(params, "progress"));
    json_decref(params);
    return ok;
}

/* Whether the tool of that name, in the list last set, promises structured content. */
static int has_output_schema(patchbay_str tool_list, const char *tool)
{
    int promised = 0;
    json_t *tools = parse(tool_list);
    size_t i;
    json_t *entry;
    json_array_foreach(tools, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (name != NULL && strcmp(name, tool) == 0) {
            promised = json_is_object(json_object_get(entry, "outputSchema"));
        }
    }
    json_decref(tools);
    return promised;
}

/* What is wrong with a CallToolResult (MCP server/tools); NULL: nothing. */
static const char *find_result_defect(patchbay_str tool_list, const char *tool, patchbay_str json)
{
    json_t *result = parse(json);
    json_t *structured = json_object_get(result, "structuredContent");
    const char *wrong = NULL;
    if (!json_is_object(result)) {
        wrong = "the result is not a JSON object";
    } else if (!json_is_array(json_object_get(result, "content"))) {
        wrong = "the result has no content array";
    } else if (structured != NULL && !json_is_object(structured)) {
        wrong = "structuredContent is not an object";
    } else if (structured == NULL && !json_is_true(json_object_get(result, "isError")) &&
               has_output_schema(tool_list, tool)) {
        wrong = "a tool with an outputSchema returned no structuredContent";
    }
    json_decref(result);
    return wrong;
}

#endif
