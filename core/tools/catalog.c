/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/catalog.h"

#include "base/limits.h"
#include "base/map.h"
#include "tools/definition.h"
#include "tools/uri_template.h"
#include "wire/json.h"

#include <stdlib.h>

/* Names seen so far in one catalog. */
typedef struct seen_name {
    UT_hash_handle hh;
} seen_name;

/* How the items of a kind are called, and which of their members identifies them. */
typedef struct kind_row {
    const char *noun;
    const char *plural;
    const char *key;
    size_t max_bytes;
} kind_row;

static const kind_row KINDS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = {"tool", "tools", "name", HUB_LIMIT_TOOL_NAME_BYTES},
    [HUB_KIND_RESOURCE] = {"resource", "resources", "uri", HUB_LIMIT_URI_BYTES},
    [HUB_KIND_TEMPLATE] = {"resource template", "resource templates", "uriTemplate",
                           HUB_LIMIT_URI_BYTES},
    [HUB_KIND_PROMPT] = {"prompt", "prompts", "name", HUB_LIMIT_TOOL_NAME_BYTES},
};

typedef struct catalog_parser {
    hub_catalog *catalog;
    const kind_row *kind;
    hub_buf names; /* decoded names; its memory never moves: reserved in one piece */
    seen_name *seen;
    seen_name *seen_pool;
    bool compile_schemas;
    hub_catalog_on_drop *on_drop;
    void *ctx;
} catalog_parser;

/* A member to look for in one object. */
typedef struct wanted_member {
    const char *key;
    hub_str value; /* raw; empty when absent */
} wanted_member;

/* Members that the hub reads: of tools, and of other kinds, of which the key may be the name. */
enum { KEY, INPUT_SCHEMA, OUTPUT_SCHEMA, ANNOTATIONS, META, TOOL_MEMBERS };
enum { TITLE = KEY + 1, OTHER_MEMBERS };
enum { READ_ONLY, DESTRUCTIVE, HINT_MEMBERS };
enum { TAGS, CATEGORY, UI, UI_URI, META_MEMBERS };

/* The most of a name, or of what stands in its place, that a report shows. */
enum { SHOWN_BYTES = HUB_LIMIT_TOOL_NAME_BYTES };

static void drop(const catalog_parser *parser, hub_str name, const char *reason)
{
    hub_buf text;
    hub_buf_init(&text, 1024);
    bool cut = name.len > SHOWN_BYTES;
    name.len = cut ? SHOWN_BYTES : name.len;
    hub_buf_printf(&text, "%s \"" HUB_STR_FMT "%s\" is left out: %s", parser->kind->noun,
                   HUB_STR_ARG(name), cut ? "…" : "", reason);
    if (hub_buf_ok(&text)) {
        parser->on_drop(parser->ctx, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

/* Find the wanted members in one pass. False when one of them occurs twice: of such an object a
 * client may read the other value than the hub does. */
static bool read_members(hub_str object, wanted_member *wanted, size_t count)
{
    hub_str key;
    hub_str value;
    bool is_single = true;
    if (hub_json_type_of(object) != HUB_JSON_OBJECT) {
        return true;
    }
    for (hub_json_iter it = hub_json_iterate(object); hub_json_next(&it, &key, &value);) {
        for (size_t i = 0; i < count; i++) {
            if (!hub_json_string_is(key, hub_str_of(wanted[i].key))) {
                continue;
            }
            if (wanted[i].value.len > 0) {
                is_single = false;
            } else {
                wanted[i].value = value;
            }
        }
    }
    return is_single;
}

/* Whether a name can be shown and sent on: no control character, no blank end. */
static bool is_usable_name(hub_str name, size_t max_bytes)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c < 0x20 || c == 0x7f) {
            return false;
        }
    }
    return name.len > 0 && name.len <= max_bytes && hub_str_trim(name).len == name.len;
}

static bool read_name(catalog_parser *parser, hub_item *item)
{
    if (hub_json_plain(item->name_json, &item->name)) {
        return true;
    }
    if (parser->names.ptr == NULL && hub_buf_reserve(&parser->names, parser->names.max) == NULL) {
        return false;
    }
    size_t begin = parser->names.len;
    if (hub_json_decode(item->name_json, &parser->names) != HUB_OK) {
        return false;
    }
    item->name = hub_str_from(hub_buf_str(&parser->names), begin);
    return true;
}

static hub_str string_or_none(hub_str value)
{
    return hub_json_type_of(value) == HUB_JSON_STRING ? value : HUB_STR_EMPTY;
}

/* What the hub reads of a tool besides its name: hints, tags, category. Returns why the tool is not
 * usable, or NULL. */
static const char *read_traits(hub_item *tool, const wanted_member members[TOOL_MEMBERS])
{
    wanted_member hints[HINT_MEMBERS] = {
        [READ_ONLY] = {.key = "readOnlyHint"}, [DESTRUCTIVE] = {.key = "destructiveHint"}};
    wanted_member meta[META_MEMBERS] = {
        [TAGS] = {.key = "patchbay/tags"},
        [CATEGORY] = {.key = "patchbay/category"},
        [UI] = {.key = "ui"},
        [UI_URI] = {.key = "ui/resourceUri"},
    };
    wanted_member ui = {.key = "resourceUri"};
    if (!read_members(members[ANNOTATIONS].value, hints, HINT_MEMBERS) ||
        !read_members(members[META].value, meta, META_MEMBERS) ||
        !read_members(meta[UI].value, &ui, 1)) {
        return "a hint, its tags, its category or its user interface occur twice";
    }
    tool->ui_uris[0] = string_or_none(ui.value);
    tool->ui_uris[1] = string_or_none(meta[UI_URI].value);
    if (hub_json_type_of(hints[READ_ONLY].value) == HUB_JSON_TRUE) {
        tool->hints |= HUB_TOOL_READ_ONLY;
    }
    if (hub_json_type_of(hints[DESTRUCTIVE].value) == HUB_JSON_FALSE) {
        tool->hints |= HUB_TOOL_NOT_DESTRUCTIVE;
    }
    if (hub_json_type_of(meta[TAGS].value) == HUB_JSON_ARRAY) {
        tool->tags_json = meta[TAGS].value;
    }
    if (hub_json_count(tool->tags_json) > HUB_LIMIT_TAGS_PER_TOOL) {
        return "it has too many tags";
    }
    tool->category_json = string_or_none(meta[CATEGORY].value);
    tool->has_output_schema = hub_json_type_of(members[OUTPUT_SCHEMA].value) == HUB_JSON_OBJECT;
    return NULL;
}

static bool is_duplicate(const catalog_parser *parser, hub_str name)
{
    seen_name *found = NULL;
    HASH_FIND(hh, parser->seen, name.ptr, (unsigned)name.len, found);
    return found != NULL;
}

/* Take an item over, with its schema. Only one that is kept has its name. */
static hub_err keep_item(catalog_parser *parser, const hub_item *item)
{
    seen_name *entry = &parser->seen_pool[parser->catalog->count];
    HASH_ADD_KEYPTR(hh, parser->seen, item->name.ptr, (unsigned)item->name.len, entry);
    if (!hub_map_has_taken(&entry->hh)) {
        hub_schema_destroy(item->schema);
        return HUB_ENOMEM;
    }
    parser->catalog->items[parser->catalog->count++] = *item;
    parser->catalog->has_uis =
        parser->catalog->has_uis || item->ui_uris[0].len > 0 || item->ui_uris[1].len > 0;
    return HUB_OK;
}

/* What is wrong with a tool, or NULL. */
static const char *check_tool(const catalog_parser *parser, hub_item *tool,
                              const wanted_member members[TOOL_MEMBERS], hub_error *why)
{
    const char *reason = read_traits(tool, members);
    if (reason == NULL && is_duplicate(parser, tool->name)) {
        reason = "the name occurs twice";
    }
    if (reason == NULL && parser->compile_schemas &&
        hub_schema_compile(members[INPUT_SCHEMA].value, &tool->schema, why) != HUB_OK) {
        reason = why->text;
    }
    return reason;
}

/* What is wrong with an item of another kind, or NULL. */
static const char *check_other(const catalog_parser *parser, const hub_item *item)
{
    if (parser->catalog->kind == HUB_KIND_TEMPLATE && !hub_uri_template_is_valid(item->name)) {
        return "its uriTemplate is no URI template";
    }
    return is_duplicate(parser, item->name) ? "the same occurs twice" : NULL;
}

/* Read in which revisions an item may be listed. Returns why in none, or NULL. */
static const char *read_validity(const catalog_parser *parser, hub_item *item, hub_error *why)
{
    hub_definition definition = hub_definition_check(parser->catalog->kind, item->json, why);
    item->valid = definition.valid;
    item->valid_without_output = definition.valid_without_output;
    item->output_member = definition.output_member;
    return definition.valid == 0 ? why->text : NULL;
}

/* Append the item in `json` to the catalog, or report why not. */
static hub_err add_item(catalog_parser *parser, hub_str json)
{
    const char *key = parser->kind->key;
    bool is_tool = parser->catalog->kind == HUB_KIND_TOOL;
    wanted_member of_tool[TOOL_MEMBERS] = {
        [KEY] = {.key = key},
        [INPUT_SCHEMA] = {.key = "inputSchema"},
        [OUTPUT_SCHEMA] = {.key = "outputSchema"},
        [ANNOTATIONS] = {.key = "annotations"},
        [META] = {.key = "_meta"},
    };
    wanted_member of_other[OTHER_MEMBERS] = {[KEY] = {.key = key}, [TITLE] = {.key = "name"}};
    wanted_member *members = is_tool ? of_tool : of_other;
    size_t other_count = strcmp(key, "name") == 0 ? TITLE : OTHER_MEMBERS;
    bool is_single = read_members(json, members, is_tool ? TOOL_MEMBERS : other_count);
    hub_item item = {.json = json, .name_json = members[KEY].value};
    hub_error why = {.code = HUB_OK};
    const char *reason = NULL;
    bool has_name = read_name(parser, &item);
    if (parser->names.failed == HUB_ENOMEM) {
        return HUB_ENOMEM;
    }
    if (!has_name) {
        (void)hub_fail(&why, HUB_EINVAL, "it has no %s", key);
        drop(parser, item.name_json, why.text);
        return HUB_OK;
    }
    if (!is_usable_name(item.name, parser->kind->max_bytes)) {
        (void)hub_fail(&why, HUB_EINVAL, "its %s is empty, too long, or has control characters",
                       key);
        reason = why.text;
    } else if (!is_single) {
        reason = "a member of its definition occurs twice";
    } else {
        reason = read_validity(parser, &item, &why);
    }
    if (reason == NULL) {
        reason = is_tool ? check_tool(parser, &item, members, &why) : check_other(parser, &item);
    }
    if (why.code == HUB_ENOMEM) {
        return HUB_ENOMEM; /* nothing is wrong with the item */
    }
    if (reason != NULL) {
        drop(parser, item.name, reason);
        return HUB_OK;
    }
    return keep_item(parser, &item);
}

static hub_err parse_items(catalog_parser *parser, hub_str json, hub_error *reterr)
{
    hub_catalog *catalog = parser->catalog;
    size_t count = hub_json_count(json);
    if (count > HUB_LIMIT_TOOLS_PER_TOOLSET) {
        return hub_fail(reterr, HUB_ELIMIT, "%zu %s are more than the limit of %d", count,
                        parser->kind->plural, HUB_LIMIT_TOOLS_PER_TOOLSET);
    }
    catalog->items = calloc(count + 1, sizeof *catalog->items);
    parser->seen_pool = calloc(count + 1, sizeof *parser->seen_pool);
    hub_buf_init(&parser->names, json.len + 1);
    if (catalog->items == NULL || parser->seen_pool == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_json_iter it = hub_json_iterate(json);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (add_item(parser, value) != HUB_OK) {
            return hub_fail(reterr, HUB_ENOMEM, "out of memory");
        }
    }
    catalog->names = parser->names.ptr;
    parser->names.ptr = NULL;
    return HUB_OK;
}

hub_err hub_catalog_parse(hub_kind kind, hub_str json, bool compile_schemas,
                          hub_catalog_on_drop *on_drop, void *ctx, hub_catalog **ret_catalog,
                          hub_error *reterr)
{
    if (hub_json_type_of(json) != HUB_JSON_ARRAY) {
        return hub_fail(reterr, HUB_EINVAL, "the list of %s is not a JSON array",
                        KINDS[kind].plural);
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
    catalog->kind = kind;
    catalog->len = json.len;
    catalog->compiled = compile_schemas;
    catalog_parser parser = {.catalog = catalog,
                             .kind = &KINDS[kind],
                             .compile_schemas = compile_schemas,
                             .on_drop = on_drop,
                             .ctx = ctx};
    hub_err err = parse_items(&parser, (hub_str){.ptr = catalog->bytes, .len = json.len}, reterr);
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

const char *hub_kind_noun(hub_kind kind, size_t count)
{
    return count == 1 ? KINDS[kind].noun : KINDS[kind].plural;
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
        hub_schema_destroy(catalog->items[i].schema);
    }
    free(catalog->items);
    free(catalog->names);
    free(catalog->bytes);
    free(catalog);
}

bool hub_catalog_is(const hub_catalog *catalog, hub_str json, bool compile_schemas)
{
    return catalog->compiled == compile_schemas &&
           hub_str_eq((hub_str){.ptr = catalog->bytes, .len = catalog->len}, json);
}

const hub_item *hub_catalog_find(const hub_catalog *catalog, hub_str name)
{
    for (size_t i = 0; i < catalog->count; i++) {
        if (hub_str_eq(catalog->items[i].name, name)) {
            return &catalog->items[i];
        }
    }
    return NULL;
}
