/* SPDX-License-Identifier: Apache-2.0 */
/* One item of a list: what the hub reads of it, and why it is left out. */
#include "tools/catalog_internal.h"

#include "base/limits.h"
#include "tools/definition.h"
#include "tools/uri_template.h"
#include "wire/json.h"

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

/* Say it; `kept` (NULL: nowhere) remembers it for who asks later, where there is memory for that. */
static void say(hub_catalog_reading *parser, hub_str name, const char *what, const char *reason,
                hub_left_out *kept)
{
    if (parser->told == HUB_CATALOG_TOLD) {
        parser->untold++;
        return;
    }
    parser->told++;
    hub_buf text;
    hub_buf_init(&text, 1024);
    bool cut = name.len > SHOWN_BYTES;
    name.len = cut ? SHOWN_BYTES : name.len;
    hub_buf_printf(&text, "%s \"" HUB_STR_FMT "%s\" %s: %s", parser->kind->noun, HUB_STR_ARG(name),
                   cut ? "…" : "", what, reason);
    if (hub_buf_ok(&text)) {
        parser->on_drop(parser->ctx, hub_buf_str(&text));
    }
    if (hub_buf_ok(&text) && kept != NULL) {
        kept->name = hub_str_dup(name);
        kept->text = hub_str_dup(hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

void catalog_tell(hub_catalog_reading *parser, hub_str name, const char *what, const char *reason)
{
    say(parser, name, what, reason, NULL);
}

static void drop(hub_catalog_reading *parser, hub_str name, const char *reason)
{
    hub_catalog *catalog = parser->catalog;
    size_t at = catalog->left_out_count++;
    say(parser, name, "is left out", reason, at < HUB_CATALOG_KEPT ? &catalog->left_out[at] : NULL);
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

/* Why a name, or a URI, cannot be shown and sent on, or NULL. */
static const char *check_name(hub_str name, const char *key, size_t max_bytes, hub_error *why)
{
    if (name.len == 0) {
        (void)hub_fail(why, HUB_EINVAL, "its %s is empty", key);
        return why->text;
    }
    if (name.len > max_bytes) {
        (void)hub_fail(why, HUB_EINVAL, "its %s has %zu bytes, at most %zu are allowed", key,
                       name.len, max_bytes);
        return why->text;
    }
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c < 0x20 || c == 0x7f) {
            (void)hub_fail(why, HUB_EINVAL, "its %s has control characters", key);
            return why->text;
        }
    }
    if (hub_str_trim(name).len != name.len) {
        (void)hub_fail(why, HUB_EINVAL, "its %s begins or ends with a space", key);
        return why->text;
    }
    return NULL;
}

static bool read_name(hub_catalog_reading *parser, hub_item *item)
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

/* Whether a tool with that `visibility` is for apps, and for no model. Without one it is for both.
 * spec: MCP Apps 2026-01-26, Tool Visibility */
static bool is_for_apps(hub_str visibility)
{
    hub_json_iter it = hub_json_iterate(visibility);
    hub_str key;
    hub_str who;
    bool has_app = false;
    while (hub_json_type_of(visibility) == HUB_JSON_ARRAY && hub_json_next(&it, &key, &who)) {
        if (hub_json_type_of(who) != HUB_JSON_STRING) {
            continue;
        }
        if (hub_json_string_is(who, HUB_STR("model"))) {
            return false;
        }
        has_app = has_app || hub_json_string_is(who, HUB_STR("app"));
    }
    return has_app;
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
    wanted_member ui[] = {{.key = "resourceUri"}, {.key = "visibility"}};
    if (!read_members(members[ANNOTATIONS].value, hints, HINT_MEMBERS) ||
        !read_members(members[META].value, meta, META_MEMBERS) ||
        !read_members(meta[UI].value, ui, 2)) {
        return "a hint, its tags, its category or its user interface occur twice";
    }
    tool->ui_uris[0] = string_or_none(ui[0].value);
    tool->ui_uris[1] = string_or_none(meta[UI_URI].value);
    if (hub_json_type_of(hints[READ_ONLY].value) == HUB_JSON_TRUE) {
        tool->hints |= HUB_TOOL_READ_ONLY;
    }
    if (hub_json_type_of(hints[DESTRUCTIVE].value) == HUB_JSON_FALSE) {
        tool->hints |= HUB_TOOL_NOT_DESTRUCTIVE;
    }
    if (is_for_apps(ui[1].value)) {
        tool->hints |= HUB_TOOL_FOR_APPS;
    }
    if (hub_json_type_of(meta[TAGS].value) == HUB_JSON_ARRAY) {
        tool->tags_json = meta[TAGS].value;
    }
    if (hub_json_count(tool->tags_json) > HUB_LIMIT_TAGS_PER_TOOL) {
        return "it has too many tags";
    }
    tool->category_json = string_or_none(meta[CATEGORY].value);
    if (hub_item_has_tags(tool)) {
        tool->tags_json = tool->override->tags;
    }
    if (hub_item_has_category(tool)) {
        tool->category_json = tool->override->category;
    }
    tool->has_output_schema = hub_json_type_of(members[OUTPUT_SCHEMA].value) == HUB_JSON_OBJECT;
    return NULL;
}

static bool is_duplicate(const hub_catalog_reading *parser, hub_str name)
{
    catalog_name *found = NULL;
    HASH_FIND(hh, parser->seen, name.ptr, (unsigned)name.len, found);
    return found != NULL;
}

/* Hold an item against what was approved under its name. */
static hub_err judge(hub_catalog_reading *parser, hub_item *item)
{
    hub_catalog *catalog = parser->catalog;
    item->is_withheld = catalog->rules.withholds_all;
    if (parser->pins == NULL) {
        return HUB_OK;
    }
    hub_pin pin = HUB_PIN_UNKNOWN;
    hub_err err = hub_pins_judge(parser->pins, item->name, item->original, catalog->pinned, &pin);
    item->pin = (uint8_t)pin;
    item->is_withheld = item->is_withheld || hub_pins_withhold(parser->pins, pin);
    return err;
}

/* Take an item over, with its schemas. Only one that is kept has its name. */
static hub_err keep_item(hub_catalog_reading *parser, hub_item *item)
{
    if (judge(parser, item) != HUB_OK) {
        catalog_free_item(item);
        return HUB_ENOMEM;
    }
    catalog_name *entry = &parser->seen_pool[parser->catalog->count];
    HASH_ADD_KEYPTR(hh, parser->seen, item->name.ptr, (unsigned)item->name.len, entry);
    if (!hub_map_has_taken(&entry->hh)) {
        catalog_free_item(item);
        return HUB_ENOMEM;
    }
    parser->catalog->items[parser->catalog->count++] = *item;
    parser->catalog->withheld_count += item->is_withheld;
    parser->catalog->compiled = parser->catalog->compiled || item->schema != NULL;
    parser->catalog->promises = parser->catalog->promises || item->promise != NULL;
    parser->catalog->looks =
        parser->catalog->looks || (item->override != NULL && item->override->looks);
    parser->catalog->limits_results = parser->catalog->limits_results ||
                                      (item->override != NULL && item->override->has_max_result);
    parser->catalog->has_uis =
        parser->catalog->has_uis || item->ui_uris[0].len > 0 || item->ui_uris[1].len > 0;
    return HUB_OK;
}

/* Whether the arguments of a tool are checked. */
static bool validates(const hub_catalog_reading *parser, const hub_item *tool)
{
    const hub_catalog_rules *rules = &parser->catalog->rules;
    bool is_said = tool->override != NULL && tool->override->validate.len > 0;
    return rules->compiles || (is_said ? hub_json_type_of(tool->override->validate) == HUB_JSON_TRUE
                                       : rules->validates);
}

/* Arguments are held against the schema that the toolset gave: what reaches it are all of them, also
 * those that clients do not see. A server's schema that is not understood here is its own affair. */
static const char *compile_schema(hub_catalog_reading *parser, hub_item *tool, hub_error *why)
{
    if (!validates(parser, tool)) {
        return NULL;
    }
    hub_str schema = hub_json_get(tool->original, HUB_STR("inputSchema"));
    if (hub_schema_compile(schema, &tool->schema, why) == HUB_OK) {
        return NULL;
    }
    if (parser->catalog->rules.compiles || why->code == HUB_ENOMEM) {
        return why->text;
    }
    catalog_tell(parser, tool->name, "is listed, but its arguments are not checked", why->text);
    why->code = HUB_OK;
    return NULL;
}

/* A native tool's results are held to what the toolset promised of them. */
static const char *make_promise(const hub_catalog_reading *parser, hub_item *tool, hub_error *why)
{
    hub_str schema = parser->catalog->rules.compiles
                         ? hub_json_get(tool->original, HUB_STR("outputSchema"))
                         : HUB_STR_EMPTY;
    if (schema.len == 0 || hub_promise_make(tool->name, schema, &tool->promise, why) == HUB_OK) {
        return NULL;
    }
    return why->text;
}

/* What is wrong with a tool, or NULL. */
static const char *check_tool(hub_catalog_reading *parser, hub_item *tool,
                              const wanted_member members[TOOL_MEMBERS], hub_error *why)
{
    const char *reason = read_traits(tool, members);
    if (reason == NULL && is_duplicate(parser, tool->name)) {
        reason = "the name occurs twice";
    }
    if (reason == NULL) {
        reason = compile_schema(parser, tool, why);
    }
    if (reason == NULL) {
        reason = make_promise(parser, tool, why);
    }
    return reason;
}

/* What is wrong with an item of another kind, or NULL. */
static const char *check_other(const hub_catalog_reading *parser, const hub_item *item)
{
    if (parser->catalog->kind == HUB_KIND_TEMPLATE && !hub_uri_template_is_valid(item->name)) {
        return "its uriTemplate is not a URI template";
    }
    return is_duplicate(parser, item->name) ? "the same occurs twice" : NULL;
}

/* Whether a result of the tool may be made smaller. Clients throw when one has no structuredContent
 * though the tool promises a schema of it. */
static bool may_be_cut(const hub_catalog_reading *parser, const hub_item *tool)
{
    const hub_override *override = tool->override;
    return override != NULL && override->has_max_result ? override->max_result_bytes > 0
                                                        : parser->catalog->rules.cuts;
}

/* Read in which revisions an item may be listed. Returns why in none, or NULL. */
static const char *read_validity(const hub_catalog_reading *parser, hub_item *item, hub_error *why)
{
    hub_definition definition = hub_definition_check(parser->catalog->kind, item->json, why);
    item->valid = definition.valid;
    item->valid_without_output = definition.valid_without_output;
    item->output_member = definition.output_member;
    item->structured = item->valid;
    if (item->output_member.len > 0 && may_be_cut(parser, item)) {
        item->valid = 0; /* as it is, in none */
    }
    return definition.valid == 0 ? why->text : NULL;
}

/* Put the definition of a tool as overrides have it in the place of what was given. Returns why that
 * cannot be, or NULL. */
static const char *override_tool(hub_catalog_reading *parser, hub_str original, hub_str *json,
                                 const hub_override **ret_override, hub_error *why)
{
    hub_item named = {.name_json = hub_json_get(original, HUB_STR("name"))};
    if (parser->overrides.count == 0 || !read_name(parser, &named)) {
        return NULL;
    }
    hub_err err = hub_overrides_find(&parser->overrides, parser->catalog->own, named.name, original,
                                     ret_override);
    if (err == HUB_OK && *ret_override != NULL) {
        hub_buf_clear(&parser->changed);
        err = hub_override_definition(*ret_override, original, &parser->changed);
    }
    if (err == HUB_OK && *ret_override != NULL &&
        !hub_str_eq(hub_buf_str(&parser->changed), original)) {
        const char *copy = hub_arena_strdup(parser->catalog->own, hub_buf_str(&parser->changed));
        *json = (hub_str){.ptr = copy, .len = parser->changed.len};
        err = copy != NULL ? HUB_OK : HUB_ENOMEM;
    }
    switch (err) {
    case HUB_OK:
        return NULL;
    case HUB_EINVAL:
        return "a member that an override changes occurs twice";
    case HUB_ELIMIT:
        return "overrides are about too many of its arguments";
    default:
        (void)hub_fail(why, HUB_ENOMEM, "out of memory");
        return why->text;
    }
}

static hub_str shown_name(const hub_item *item)
{
    bool is_renamed = item->override != NULL && item->override->name.len > 0;
    return is_renamed ? item->override->name : item->name;
}

/* Append the item in `original` to the catalog, or report why not. */
hub_err catalog_add_item(hub_catalog_reading *parser, hub_str original)
{
    hub_str json = original;
    const hub_override *override = NULL;
    hub_error why = {.code = HUB_OK};
    const char *reason = parser->catalog->kind == HUB_KIND_TOOL
                             ? override_tool(parser, original, &json, &override, &why)
                             : NULL;
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
    hub_item item = {
        .json = json, .original = original, .name_json = members[KEY].value, .override = override};
    bool has_name = read_name(parser, &item);
    if (parser->names.failed == HUB_ENOMEM) {
        return HUB_ENOMEM;
    }
    if (!has_name) {
        (void)hub_fail(&why, HUB_EINVAL, "it has no %s", key);
        drop(parser, item.name_json, why.text);
        return HUB_OK;
    }
    item.shown = shown_name(&item);
    const char *of_name = check_name(item.name, key, parser->kind->max_bytes, &why);
    if (of_name != NULL) {
        reason = of_name;
    } else if (!is_single) {
        reason = "a member of its definition occurs twice";
    } else if (reason == NULL) {
        reason = read_validity(parser, &item, &why);
    }
    if (reason == NULL) {
        reason = is_tool ? check_tool(parser, &item, members, &why) : check_other(parser, &item);
    }
    if (reason != NULL) {
        catalog_free_item(&item);
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
