/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/catalog.h"

#include "base/limits.h"
#include "wire/json.h"

#include <stdlib.h>
#include <uthash.h>

/* Names seen so far in one catalog. */
typedef struct seen_name {
    UT_hash_handle hh;
} seen_name;

typedef struct catalog_parser {
    hub_catalog *catalog;
    hub_buf names; /* decoded names; its memory never moves: reserved in one piece */
    seen_name *seen;
    seen_name *seen_pool;
    bool compile_schemas;
    hub_catalog_on_drop *on_drop;
    void *ctx;
} catalog_parser;

static void drop(const catalog_parser *parser, hub_str name, const char *reason)
{
    hub_buf text;
    hub_buf_init(&text, 1024);
    hub_buf_printf(&text, "tool \"" HUB_STR_FMT "\" is left out: %s", HUB_STR_ARG(name), reason);
    if (hub_buf_ok(&text)) {
        parser->on_drop(parser->ctx, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

/* Whether a name can be shown and sent on: no control character, no blank end. */
static bool is_usable_name(hub_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c < 0x20 || c == 0x7f) {
            return false;
        }
    }
    return name.len > 0 && name.len <= HUB_LIMIT_TOOL_NAME_BYTES &&
           hub_str_trim(name).len == name.len;
}

static bool read_name(catalog_parser *parser, hub_tool *tool)
{
    if (hub_json_plain(tool->name_json, &tool->name)) {
        return true;
    }
    size_t begin = parser->names.len;
    if (hub_json_decode(tool->name_json, &parser->names) != HUB_OK) {
        return false;
    }
    tool->name = hub_str_from(hub_buf_str(&parser->names), begin);
    return true;
}

static void read_hints(hub_tool *tool)
{
    hub_str annotations = hub_json_get(tool->json, HUB_STR("annotations"));
    if (hub_json_type_of(hub_json_get(annotations, HUB_STR("readOnlyHint"))) == HUB_JSON_TRUE) {
        tool->hints |= HUB_TOOL_READ_ONLY;
    }
    if (hub_json_type_of(hub_json_get(annotations, HUB_STR("destructiveHint"))) == HUB_JSON_FALSE) {
        tool->hints |= HUB_TOOL_NOT_DESTRUCTIVE;
    }
    hub_str meta = hub_json_get(tool->json, HUB_STR("_meta"));
    tool->tags_json = hub_json_get(meta, HUB_STR("patchbay/tags"));
    (void)hub_json_plain(hub_json_get(meta, HUB_STR("patchbay/category")), &tool->category);
    tool->has_output_schema =
        hub_json_type_of(hub_json_get(tool->json, HUB_STR("outputSchema"))) == HUB_JSON_OBJECT;
}

static bool is_duplicate(catalog_parser *parser, const hub_tool *tool)
{
    seen_name *found = NULL;
    HASH_FIND(hh, parser->seen, tool->name.ptr, (unsigned)tool->name.len, found);
    if (found != NULL) {
        return true;
    }
    seen_name *entry = &parser->seen_pool[parser->catalog->count];
    HASH_ADD_KEYPTR(hh, parser->seen, tool->name.ptr, (unsigned)tool->name.len, entry);
    return false;
}

/* Append the tool in `json` to the catalog, or report why not. */
static void add_tool(catalog_parser *parser, hub_str json)
{
    hub_tool tool = {.json = json, .name_json = hub_json_get(json, HUB_STR("name"))};
    hub_str schema = hub_json_get(json, HUB_STR("inputSchema"));
    if (hub_json_type_of(json) != HUB_JSON_OBJECT || !read_name(parser, &tool)) {
        drop(parser, tool.name_json, "it has no name");
        return;
    }
    if (!is_usable_name(tool.name)) {
        drop(parser, tool.name, "its name is empty, too long, or has control characters");
        return;
    }
    if (hub_json_type_of(schema) != HUB_JSON_OBJECT) {
        drop(parser, tool.name, "its inputSchema is not an object");
        return;
    }
    if (is_duplicate(parser, &tool)) {
        drop(parser, tool.name, "the name occurs twice");
        return;
    }
    hub_error why = {.code = HUB_OK};
    if (parser->compile_schemas && hub_schema_compile(schema, &tool.schema, &why) != HUB_OK) {
        drop(parser, tool.name, why.text);
        return;
    }
    read_hints(&tool);
    parser->catalog->tools[parser->catalog->count++] = tool;
}

static hub_err parse_tools(catalog_parser *parser, hub_str json, hub_error *reterr)
{
    hub_catalog *catalog = parser->catalog;
    size_t count = hub_json_count(json);
    if (count > HUB_LIMIT_TOOLS_PER_TOOLSET) {
        return hub_fail(reterr, HUB_ELIMIT, "%zu tools are more than the limit of %d", count,
                        HUB_LIMIT_TOOLS_PER_TOOLSET);
    }
    catalog->tools = calloc(count + 1, sizeof *catalog->tools);
    parser->seen_pool = calloc(count + 1, sizeof *parser->seen_pool);
    hub_buf_init(&parser->names, json.len + 1);
    if (catalog->tools == NULL || parser->seen_pool == NULL ||
        hub_buf_reserve(&parser->names, json.len + 1) == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_json_iter it = hub_json_iterate(json);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        add_tool(parser, value);
    }
    catalog->names = parser->names.ptr;
    parser->names.ptr = NULL;
    return HUB_OK;
}

hub_err hub_catalog_parse(hub_str json, bool compile_schemas, hub_catalog_on_drop *on_drop,
                          void *ctx, hub_catalog **ret_catalog, hub_error *reterr)
{
    if (hub_json_type_of(json) != HUB_JSON_ARRAY) {
        return hub_fail(reterr, HUB_EINVAL, "the list of tools is not a JSON array");
    }
    if (json.len > HUB_LIMIT_CATALOG_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "a catalog of %zu bytes is over the limit of %u",
                        json.len, HUB_LIMIT_CATALOG_BYTES);
    }
    hub_catalog *catalog = calloc(1, sizeof *catalog);
    if (catalog == NULL || (catalog->bytes = hub_str_dup(json)) == NULL) {
        free(catalog);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    catalog->refs = 1;
    catalog->digest = hub_str_hash(json);
    catalog_parser parser = {.catalog = catalog,
                     .compile_schemas = compile_schemas,
                     .on_drop = on_drop,
                     .ctx = ctx};
    hub_err err = parse_tools(&parser, (hub_str){.ptr = catalog->bytes, .len = json.len}, reterr);
    HASH_CLEAR(hh, parser.seen);
    free(parser.seen_pool);
    hub_buf_fini(&parser.names);
    if (err != HUB_OK) {
        hub_catalog_unref(catalog);
        return err;
    }
    *ret_catalog = catalog;
    return HUB_OK;
}

hub_catalog *hub_catalog_ref(hub_catalog *catalog)
{
    catalog->refs++;
    return catalog;
}

void hub_catalog_unref(hub_catalog *catalog)
{
    if (catalog == NULL || --catalog->refs > 0) {
        return;
    }
    for (size_t i = 0; i < catalog->count; i++) {
        hub_schema_destroy(catalog->tools[i].schema);
    }
    free(catalog->tools);
    free(catalog->names);
    free(catalog->bytes);
    free(catalog);
}

const hub_tool *hub_catalog_find(const hub_catalog *catalog, hub_str name)
{
    for (size_t i = 0; i < catalog->count; i++) {
        if (hub_str_eq(catalog->tools[i].name, name)) {
            return &catalog->tools[i];
        }
    }
    return NULL;
}
