/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/schema_internal.h"

#include <stdlib.h>

/* The keywords of one schema object, by row of the table; the empty span where absent. */
typedef struct found_keywords {
    hub_str raw[HUB_SCHEMA_KW_COUNT];
} found_keywords;

static void find_keywords(hub_str raw, found_keywords *found)
{
    memset(found, 0, sizeof *found);
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        for (size_t i = 0; i < HUB_SCHEMA_KW_COUNT; i++) {
            if (hub_json_string_is(key, hub_str_of(hub_schema_keywords[i].name))) {
                found->raw[i] = found->raw[i].len == 0 ? value : found->raw[i];
                break;
            }
        }
    }
}

/* What the dialect does not know is dropped. In draft-07 a $ref stands alone, but for the
 * definitions beside it: at the root it could not lead anywhere otherwise. */
static size_t select_keywords(found_keywords *found, unsigned dialect)
{
    bool is_ref_only = dialect == HUB_SCHEMA_DRAFT07 && found->raw[HUB_SCHEMA_KW_REF].len > 0;
    size_t count = 0;
    for (size_t i = 0; i < HUB_SCHEMA_KW_COUNT; i++) {
        bool beside_ref = i == HUB_SCHEMA_KW_REF || i == HUB_SCHEMA_KW_DEFS ||
                          i == HUB_SCHEMA_KW_DEFINITIONS || i == HUB_SCHEMA_KW_SCHEMA;
        if ((hub_schema_keywords[i].dialects & dialect) == 0 || (is_ref_only && !beside_ref)) {
            found->raw[i] = (hub_str){.len = 0};
        }
        count += found->raw[i].len > 0;
    }
    return count;
}

static unsigned dialect_of(hub_str raw)
{
    static const struct {
        const char *uri;
        unsigned dialect;
    } DIALECTS[] = {
        {"https://json-schema.org/draft/2020-12/schema", HUB_SCHEMA_2020},
        {"https://json-schema.org/draft/2020-12/schema#", HUB_SCHEMA_2020},
        {"http://json-schema.org/draft/2020-12/schema", HUB_SCHEMA_2020},
        {"http://json-schema.org/draft/2020-12/schema#", HUB_SCHEMA_2020},
        {"http://json-schema.org/draft-07/schema", HUB_SCHEMA_DRAFT07},
        {"http://json-schema.org/draft-07/schema#", HUB_SCHEMA_DRAFT07},
        {"https://json-schema.org/draft-07/schema", HUB_SCHEMA_DRAFT07},
        {"https://json-schema.org/draft-07/schema#", HUB_SCHEMA_DRAFT07},
    };
    for (size_t i = 0; i < sizeof DIALECTS / sizeof *DIALECTS; i++) {
        if (hub_json_string_is(raw, hub_str_of(DIALECTS[i].uri))) {
            return DIALECTS[i].dialect;
        }
    }
    return 0;
}

/* A dialect is chosen where a schema has an identity: at the root, and beside an $id. Elsewhere
 * $schema is a leftover of a generator and means nothing. */
static hub_err choose_dialect(hub_schema_compiler *compiler, const hub_schema_node *node,
                              const found_keywords *found, unsigned *dialect)
{
    hub_str raw = found->raw[HUB_SCHEMA_KW_SCHEMA];
    bool is_resource = node->keyword == NULL || found->raw[HUB_SCHEMA_KW_ID].len > 0;
    if (raw.len == 0 || !is_resource) {
        return HUB_OK;
    }
    *dialect = dialect_of(raw);
    if (*dialect == 0) {
        return hub_schema_refuse(compiler, node, "$schema", HUB_EINVAL,
                                 "this dialect is not known; 2020-12 and draft-07 are");
    }
    return HUB_OK;
}

static bool reads_members(const hub_schema_rule *rule)
{
    const hub_schema_keyword *keyword = rule->keyword;
    return keyword->types == HUB_SCHEMA_OBJECT || keyword->types == HUB_SCHEMA_ARRAY ||
           (keyword->check != NULL && rule->kid_count > 0) ||
           keyword->compile == hub_schema_compile_ref;
}

static hub_err compile_rules(hub_schema_compiler *compiler, hub_schema_node *node,
                             const found_keywords *found, size_t count)
{
    node->rules = hub_schema_alloc(&compiler->schema->memory, count, sizeof *node->rules);
    if (node->rules == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    for (size_t i = 0; i < HUB_SCHEMA_KW_COUNT; i++) {
        if (found->raw[i].len == 0) {
            continue;
        }
        hub_schema_rule *rule = &node->rules[node->rule_count++];
        rule->keyword = &hub_schema_keywords[i];
        rule->raw = found->raw[i];
        hub_err err = rule->keyword->compile(compiler, node, rule);
        if (err != HUB_OK) {
            return err;
        }
        node->reads_members = node->reads_members || reads_members(rule);
    }
    node->reads_marks = found->raw[HUB_SCHEMA_KW_UNEVALUATED_ITEMS].len > 0 ||
                        found->raw[HUB_SCHEMA_KW_UNEVALUATED_PROPERTIES].len > 0;
    return HUB_OK;
}

/* The rules of an object, within the resource that it may open. */
static hub_err compile_object(hub_schema_compiler *compiler, hub_schema_node *node)
{
    found_keywords found;
    find_keywords(node->raw, &found);
    unsigned dialect = compiler->resource ? compiler->resource->dialect : HUB_SCHEMA_2020;
    hub_err err = choose_dialect(compiler, node, &found, &dialect);
    if (err != HUB_OK) {
        return err;
    }
    size_t count = select_keywords(&found, dialect);
    if (compiler->resource == NULL || compiler->resource->dialect != dialect) {
        hub_str uri = compiler->resource ? compiler->resource->uri : HUB_STR_EMPTY;
        err = hub_schema_resource_add(compiler, node, uri, dialect);
    }
    if (err == HUB_OK) {
        node->resource = compiler->resource;
        err = compile_rules(compiler, node, &found, count);
    }
    return err;
}

const hub_schema_rule *hub_schema_rule_find(const hub_schema_node *node, hub_schema_keyword_id id)
{
    for (size_t i = 0; i < node->rule_count; i++) {
        if (node->rules[i].keyword == &hub_schema_keywords[id]) {
            return &node->rules[i];
        }
    }
    return NULL;
}

const hub_schema_kid *hub_schema_kid_find(const hub_schema_rule *rule, hub_str key)
{
    size_t low = 0;
    size_t high = rule->kid_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hub_str_cmp(rule->kids[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool is_found = low < rule->kid_count && hub_str_eq(rule->kids[low].key, key);
    return is_found ? &rule->kids[low] : NULL;
}

hub_err hub_schema_compile_node(hub_schema_compiler *compiler, hub_schema_origin origin,
                                hub_str raw, hub_schema_node **ret_node)
{
    hub_schema_node *node = hub_schema_alloc(&compiler->schema->memory, 1, sizeof *node);
    if (node == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    *node = (hub_schema_node){.raw = raw,
                              .parent = origin.parent,
                              .keyword = origin.keyword,
                              .key = origin.key,
                              .resource = compiler->resource};
    if (++compiler->node_count > HUB_LIMIT_SCHEMA_NODES) {
        return hub_schema_refuse(compiler, node, NULL, HUB_ELIMIT, "more than %d schemas",
                                 HUB_LIMIT_SCHEMA_NODES);
    }
    if (compiler->depth >= HUB_LIMIT_SCHEMA_DEPTH) {
        return hub_schema_refuse(compiler, node, NULL, HUB_ELIMIT, "nested more than %d deep",
                                 HUB_LIMIT_SCHEMA_DEPTH);
    }
    hub_json_type type = hub_json_type_of(raw);
    hub_err err = HUB_OK;
    if (type == HUB_JSON_OBJECT) {
        hub_schema_resource *outside = compiler->resource;
        compiler->depth++;
        err = compile_object(compiler, node);
        compiler->depth--;
        compiler->resource = outside;
    } else if (type != HUB_JSON_TRUE && type != HUB_JSON_FALSE) {
        err = hub_schema_refuse(compiler, node, NULL, HUB_EINVAL,
                                "must be a schema: an object, true or false");
    }
    node->is_false = type == HUB_JSON_FALSE;
    *ret_node = node;
    return err;
}

hub_err hub_schema_compile(hub_str json, hub_schema **ret_schema, hub_error *reterr)
{
    hub_schema *schema = calloc(1, sizeof *schema);
    if (schema == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "the schema: %s", hub_err_text(HUB_ENOMEM));
    }
    hub_schema_compiler compiler = {.schema = schema, .reterr = reterr};
    hub_schema_node *root = NULL;
    json = hub_str_trim(json);
    hub_err err = HUB_OK;
    char *text = hub_schema_alloc(&schema->memory, json.len + 1, 1);
    if (text == NULL) {
        err = hub_schema_refuse_memory(&compiler);
        goto out;
    }
    if (json.len > 0) {
        memcpy(text, json.ptr, json.len);
    }
    hub_str copy = {.ptr = text, .len = json.len};
    err = hub_schema_compile_node(&compiler, (hub_schema_origin){.parent = NULL}, copy, &root);
    schema->root = root;
    if (err == HUB_OK) {
        err = hub_schema_resolve_refs(&compiler);
    }
out:
    hub_schema_pattern_compiler_fini(&compiler);
    if (err != HUB_OK) {
        hub_schema_destroy(schema);
        return err;
    }
    *ret_schema = schema;
    return HUB_OK;
}

void hub_schema_destroy(hub_schema *schema)
{
    if (schema == NULL) {
        return;
    }
    hub_schema_patterns_destroy(schema->patterns);
    hub_schema_memory_fini(&schema->memory);
    free(schema);
}
