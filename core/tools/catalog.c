/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/catalog.h"

#include "base/limits.h"
#include "tools/catalog_internal.h"
#include "wire/json.h"

#include <stdlib.h>

enum {
    RULE_BYTES = 64
}; /* asking one rule about an item takes as long as reading so many, at worst */

static const catalog_kind KINDS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = {"tool", "tools", "name", HUB_LIMIT_TOOL_NAME_BYTES},
    [HUB_KIND_RESOURCE] = {"resource", "resources", "uri", HUB_LIMIT_URI_BYTES},
    [HUB_KIND_TEMPLATE] = {"resource template", "resource templates", "uriTemplate",
                           HUB_LIMIT_URI_BYTES},
    [HUB_KIND_PROMPT] = {"prompt", "prompts", "name", HUB_LIMIT_TOOL_NAME_BYTES},
};

/* Names that overrides give, and the tool that may have each. */
typedef struct catalog_claims {
    hub_catalog_reading *parser;
    catalog_name *names; /* by place of the item */
    catalog_name *index;
} catalog_claims;

/* Who wants that name, or NULL; that one does not have it any more. */
static hub_item *take_claim(catalog_claims *claims, hub_str name)
{
    catalog_name *found = NULL;
    HASH_FIND(hh, claims->index, name.ptr, (unsigned)name.len, found);
    if (found == NULL) {
        return NULL;
    }
    HASH_DEL(claims->index, found);
    return &claims->parser->catalog->items[found - claims->names];
}

/* A tool gets its own name back, which another may want: then so does that one. */
static void give_back(catalog_claims *claims, hub_item *item)
{
    while (item != NULL) {
        catalog_tell(claims->parser, item->name, "keeps its name",
                     "another tool has the one that an override gives it");
        item->shown = item->name;
        item = take_claim(claims, item->name);
    }
}

/* A name of an override that another tool has stays that tool's; of several that are to have one it is
 * the last one's. */
static hub_err settle_names(hub_catalog_reading *parser)
{
    hub_catalog *catalog = parser->catalog;
    hub_err err = HUB_OK;
    if (parser->overrides.count == 0) {
        return HUB_OK;
    }
    catalog_claims claims = {.parser = parser,
                             .names = calloc(catalog->count + 1, sizeof *claims.names)};
    if (claims.names == NULL) {
        return HUB_ENOMEM;
    }
    for (size_t i = 0; err == HUB_OK && i < catalog->count; i++) {
        hub_item *item = &catalog->items[i];
        if (!hub_str_eq(item->shown, item->name)) {
            give_back(&claims, take_claim(&claims, item->shown));
            HASH_ADD_KEYPTR(hh, claims.index, item->shown.ptr, (unsigned)item->shown.len,
                            &claims.names[i]);
            err = hub_map_has_taken(&claims.names[i].hh) ? HUB_OK : HUB_ENOMEM;
        }
    }
    for (size_t i = 0; err == HUB_OK && i < catalog->count; i++) {
        if (hub_str_eq(catalog->items[i].shown, catalog->items[i].name)) {
            give_back(&claims, take_claim(&claims, catalog->items[i].name));
        }
    }
    HASH_CLEAR(hh, claims.index);
    free(claims.names);
    return err;
}

/* Say how many items nothing was said of. */
static void tell_rest(const hub_catalog_reading *parser)
{
    hub_buf text;
    if (parser->untold == 0) {
        return;
    }
    hub_buf_init(&text, 1024);
    hub_buf_printf(&text, "so it is with %zu more %s: only the first %d are named", parser->untold,
                   hub_kind_noun(parser->catalog->kind, parser->untold), HUB_CATALOG_TOLD);
    if (hub_buf_ok(&text)) {
        parser->on_drop(parser->ctx, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

static const char *overrides_for(hub_kind kind, const hub_catalog_rules *rules)
{
    return kind == HUB_KIND_TOOL ? rules->overrides : NULL;
}

static const char *pins_for(hub_kind kind, const hub_catalog_rules *rules)
{
    return kind == HUB_KIND_TOOL || kind == HUB_KIND_PROMPT ? rules->pins : NULL;
}

/* A copy of a text of the rules, which may be NULL. False: out of memory. */
static bool copy_rule(hub_arena *own, const char *text, const char **ret_copy)
{
    *ret_copy = text != NULL ? hub_arena_strdup(own, hub_str_of(text)) : NULL;
    return text == NULL || *ret_copy != NULL;
}

/* Copy the rules, and take overrides and pins apart. */
static hub_err take_rules(hub_catalog_reading *parser, const hub_catalog_rules *rules)
{
    hub_catalog *catalog = parser->catalog;
    const char *overrides = overrides_for(catalog->kind, rules);
    const char *pins = pins_for(catalog->kind, rules);
    catalog->rules = *rules;
    catalog->rules.overrides = NULL;
    catalog->rules.pins = NULL;
    if (overrides == NULL && pins == NULL) {
        return HUB_OK;
    }
    catalog->own = hub_arena_create(SIZE_MAX / 4);
    if (catalog->own == NULL || !copy_rule(catalog->own, overrides, &catalog->rules.overrides) ||
        !copy_rule(catalog->own, pins, &catalog->rules.pins)) {
        return HUB_ENOMEM;
    }
    hub_err err = HUB_OK;
    if (overrides != NULL) {
        err = hub_overrides_read(catalog->own, hub_str_of(catalog->rules.overrides),
                                 &parser->overrides);
    }
    if (err == HUB_OK && pins != NULL) {
        catalog->pinned = hub_arena_alloc(catalog->own, sizeof *catalog->pinned);
        err =
            catalog->pinned != NULL
                ? hub_pins_read((int)catalog->kind, hub_str_of(catalog->rules.pins), &parser->pins)
                : HUB_ENOMEM;
    }
    return err;
}

static bool has_rules(const hub_catalog *catalog, const hub_catalog_rules *rules)
{
    return catalog->rules.compiles == rules->compiles &&
           catalog->rules.validates == rules->validates && catalog->rules.cuts == rules->cuts &&
           catalog->rules.withholds_all == rules->withholds_all &&
           hub_str_same_text(catalog->rules.overrides, overrides_for(catalog->kind, rules)) &&
           hub_str_same_text(catalog->rules.pins, pins_for(catalog->kind, rules));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Room for as many items as there can be, which costs nothing before it is used. */
static hub_err make_room(hub_catalog_reading *parser)
{
    hub_catalog *catalog = parser->catalog;
    size_t most =
        catalog->len / sizeof "{\"name\":\"a\"}"; /* and a comma: none that is kept is shorter */
    most = most < HUB_LIMIT_TOOLS_PER_TOOLSET ? most : HUB_LIMIT_TOOLS_PER_TOOLSET;
    catalog->items = calloc(most + 1, sizeof *catalog->items);
    parser->seen_pool = calloc(most + 1, sizeof *parser->seen_pool);
    /* Of a tool that overrides may be about, the name is read twice. */
    hub_buf_init(&parser->names, (parser->overrides.count > 0 ? 2 : 1) * catalog->len + 1);
    return catalog->items != NULL && parser->seen_pool != NULL ? HUB_OK : HUB_ENOMEM;
}

hub_err hub_catalog_begin(hub_kind kind, hub_str json, const hub_catalog_rules *rules,
                          hub_catalog_reading **ret_reading, hub_error *reterr)
{
    if (hub_json_type_of(json) != HUB_JSON_ARRAY) {
        return hub_fail(reterr, HUB_EINVAL, "the list of %s is not a JSON array",
                        KINDS[kind].plural);
    }
    if (json.len > HUB_LIMIT_CATALOG_BYTES) {
        return hub_fail(reterr, HUB_ELIMIT, "a catalog of %zu bytes is over the limit of %u",
                        json.len, HUB_LIMIT_CATALOG_BYTES);
    }
    hub_catalog_reading *parser = calloc(1, sizeof *parser);
    hub_catalog *catalog = calloc(1, sizeof *catalog);
    char *bytes = hub_str_dup(json);
    if (parser == NULL || catalog == NULL || bytes == NULL) {
        free(parser);
        free(catalog);
        free(bytes);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    *catalog = (hub_catalog){.refs = 1, .kind = kind, .bytes = bytes, .len = json.len};
    parser->catalog = catalog;
    parser->kind = &KINDS[kind];
    parser->rest = hub_json_iterate((hub_str){.ptr = bytes, .len = json.len});
    hub_buf_init(&parser->changed, SIZE_MAX / 4);
    hub_err err = take_rules(parser, rules);
    if (err == HUB_OK) {
        err = make_room(parser);
    }
    if (err != HUB_OK) {
        hub_catalog_abandon(parser);
        return hub_fail(reterr, err, "out of memory");
    }
    *ret_reading = parser;
    return HUB_OK;
}

hub_err hub_catalog_go_on(hub_catalog_reading *reading, size_t bytes, hub_catalog_on_drop *on_drop,
                          void *ctx, bool *ret_is_end, hub_error *reterr)
{
    const char *from = reading->rest.at;
    size_t asked = 0; /* rules, as bytes */
    hub_str key;
    hub_str value;
    reading->on_drop = on_drop;
    reading->ctx = ctx;
    *ret_is_end = false;
    while (!*ret_is_end && (size_t)(reading->rest.at - from) + asked < bytes) {
        *ret_is_end = !hub_json_next(&reading->rest, &key, &value);
        asked += reading->overrides.count * RULE_BYTES;
        if (!*ret_is_end && ++reading->count > HUB_LIMIT_TOOLS_PER_TOOLSET) {
            return hub_fail(reterr, HUB_ELIMIT, "%zu %s are more than the limit of %d",
                            hub_json_count(hub_catalog_reading_json(reading)),
                            reading->kind->plural, HUB_LIMIT_TOOLS_PER_TOOLSET);
        }
        if (!*ret_is_end && catalog_add_item(reading, value) != HUB_OK) {
            return hub_fail(reterr, HUB_ENOMEM, "out of memory");
        }
    }
    return HUB_OK;
}

/* Give back the room that no item needed. */
static hub_err trim_items(hub_catalog *catalog)
{
    hub_item *items = realloc(catalog->items, (catalog->count + 1) * sizeof *items);
    if (items == NULL) {
        return HUB_ENOMEM;
    }
    catalog->items = items;
    return HUB_OK;
}

hub_err hub_catalog_finish(hub_catalog_reading *reading, hub_catalog **ret_catalog,
                           hub_error *reterr)
{
    hub_catalog *catalog = reading->catalog;
    if (settle_names(reading) != HUB_OK || trim_items(catalog) != HUB_OK) {
        hub_catalog_abandon(reading);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    tell_rest(reading);
    if (reading->pins != NULL) {
        hub_pins_note_missing(reading->pins, catalog->pinned);
    }
    catalog->names = reading->names.ptr;
    reading->names.ptr = NULL;
    *ret_catalog = hub_catalog_ref(catalog);
    hub_catalog_abandon(reading);
    return HUB_OK;
}

void hub_catalog_abandon(hub_catalog_reading *reading)
{
    if (reading != NULL) {
        HASH_CLEAR(hh, reading->seen);
        hub_pins_destroy(reading->pins);
        free(reading->seen_pool);
        hub_buf_fini(&reading->names);
        hub_buf_fini(&reading->changed);
        hub_catalog_unref(reading->catalog);
        free(reading);
    }
}

hub_str hub_catalog_reading_json(const hub_catalog_reading *reading)
{
    return (hub_str){.ptr = reading->catalog->bytes, .len = reading->catalog->len};
}

bool hub_catalog_is_reading(const hub_catalog_reading *reading, const hub_catalog_rules *rules)
{
    return has_rules(reading->catalog, rules);
}

hub_err hub_catalog_read(hub_kind kind, hub_str json, const hub_catalog_rules *rules,
                         hub_catalog_on_drop *on_drop, void *ctx, hub_catalog **ret_catalog,
                         hub_error *reterr)
{
    hub_catalog_reading *reading;
    bool is_end;
    hub_err err = hub_catalog_begin(kind, json, rules, &reading, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_catalog_go_on(reading, SIZE_MAX, on_drop, ctx, &is_end, reterr);
    if (err != HUB_OK) {
        hub_catalog_abandon(reading);
        return err;
    }
    return hub_catalog_finish(reading, ret_catalog, reterr);
}

hub_err hub_catalog_parse(hub_kind kind, hub_str json, bool compile_schemas,
                          hub_catalog_on_drop *on_drop, void *ctx, hub_catalog **ret_catalog,
                          hub_error *reterr)
{
    const hub_catalog_rules rules = {.compiles = compile_schemas};
    return hub_catalog_read(kind, json, &rules, on_drop, ctx, ret_catalog, reterr);
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

void catalog_free_item(hub_item *item)
{
    hub_schema_destroy(item->schema);
    hub_promise_unref(item->promise);
}

void hub_catalog_unref(hub_catalog *catalog)
{
    if (catalog == NULL || --catalog->refs > 0) {
        return;
    }
    for (size_t i = 0; i < catalog->count; i++) {
        catalog_free_item(&catalog->items[i]);
    }
    for (size_t i = 0; i < HUB_CATALOG_KEPT; i++) {
        free(catalog->left_out[i].name);
        free(catalog->left_out[i].text);
    }
    hub_arena_destroy(catalog->own);
    free(catalog->items);
    free(catalog->digests);
    free(catalog->names);
    free(catalog->bytes);
    free(catalog);
}

bool hub_catalog_is(const hub_catalog *catalog, hub_str json, const hub_catalog_rules *rules)
{
    return has_rules(catalog, rules) &&
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
