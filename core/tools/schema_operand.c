/* SPDX-License-Identifier: Apache-2.0 */
/* What each kind of keyword value must look like, and what is kept of it. */
#include "tools/schema_internal.h"

#include <stdlib.h>

static hub_err refuse(hub_schema_compiler *compiler, const hub_schema_node *node,
                      const hub_schema_rule *rule, const char *wanted)
{
    return hub_schema_refuse(compiler, node, rule->keyword->name, HUB_EINVAL, "must be %s", wanted);
}

static hub_err decode(hub_schema_compiler *compiler, hub_str raw, hub_str *ret_text)
{
    hub_err err = hub_schema_text(&compiler->schema->memory, raw, ret_text);
    return err == HUB_OK ? HUB_OK : hub_fail(compiler->reterr, err, "%s", hub_err_text(err));
}

static hub_err make_kids(hub_schema_compiler *compiler, hub_schema_rule *rule, size_t count,
                         hub_schema_form form)
{
    rule->form = form;
    rule->kid_count = count;
    rule->kids = hub_schema_alloc(&compiler->schema->memory, count, sizeof *rule->kids);
    return rule->kids == NULL ? hub_schema_refuse_memory(compiler) : HUB_OK;
}

static hub_err compile_kid(hub_schema_compiler *compiler, const hub_schema_node *node,
                           const hub_schema_rule *rule, hub_schema_kid *kid, hub_str raw)
{
    hub_schema_origin origin = {.parent = node, .keyword = rule->keyword->name, .key = kid->key};
    hub_schema_node *compiled = NULL;
    hub_err err = hub_schema_compile_node(compiler, origin, raw, &compiled);
    kid->node = compiled;
    return err;
}

/* An array of strings, decoded. `at` is the keyword and may be followed by a key in the text. */
static hub_err read_names(hub_schema_compiler *compiler, const hub_schema_node *node,
                          const hub_schema_rule *rule, hub_str raw, hub_schema_kid *ret_names)
{
    size_t count = hub_json_count(raw);
    hub_str *names = hub_schema_alloc(&compiler->schema->memory, count, sizeof *names);
    if (names == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str name;
    for (size_t i = 0; i < count && hub_json_next(&it, &key, &name); i++) {
        if (hub_json_type_of(name) != HUB_JSON_STRING) {
            return refuse(compiler, node, rule, "a list of names");
        }
        hub_err err = decode(compiler, name, &names[i]);
        if (err != HUB_OK) {
            return err;
        }
    }
    ret_names->names = names;
    ret_names->name_count = count;
    return HUB_OK;
}

static int by_key(const void *left, const void *right)
{
    const hub_schema_kid *a = left;
    const hub_schema_kid *b = right;
    int order = hub_str_cmp(a->key, b->key);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* What to do with an entry of a map whose key is read. */
typedef hub_err entry_fn(hub_schema_compiler *compiler, const hub_schema_node *node,
                         const hub_schema_rule *rule, hub_schema_kid *kid, hub_str raw);

static hub_err read_map(hub_schema_compiler *compiler, const hub_schema_node *node,
                        hub_schema_rule *rule, entry_fn *read_entry)
{
    if (hub_json_type_of(rule->raw) != HUB_JSON_OBJECT) {
        return refuse(compiler, node, rule, "an object");
    }
    hub_err err = make_kids(compiler, rule, hub_json_count(rule->raw), HUB_SCHEMA_FORM_MAP);
    hub_json_iter it = hub_json_iterate(rule->raw);
    hub_str key;
    hub_str raw;
    for (size_t i = 0; err == HUB_OK && hub_json_next(&it, &key, &raw); i++) {
        rule->kids[i].place = raw.ptr;
        err = decode(compiler, key, &rule->kids[i].key);
        if (err == HUB_OK) {
            err = read_entry(compiler, node, rule, &rule->kids[i], raw);
        }
    }
    if (err == HUB_OK) {
        qsort(rule->kids, rule->kid_count, sizeof *rule->kids, by_key);
    }
    return err;
}

static hub_err read_pattern(hub_schema_compiler *compiler, const hub_schema_node *node,
                            const hub_schema_rule *rule, hub_str text,
                            const hub_schema_pattern **ret_pattern)
{
    hub_buf why;
    hub_buf_init(&why, HUB_SCHEMA_SHOWN_BYTES * 2);
    hub_err err = hub_schema_pattern_compile(compiler, text, ret_pattern, &why);
    if (err != HUB_OK) {
        hub_str shown = hub_schema_cut(text, HUB_SCHEMA_SHOWN_BYTES / 2);
        err = hub_schema_refuse(compiler, node, rule->keyword->name, err,
                                "the pattern " HUB_STR_FMT " is not usable: " HUB_STR_FMT,
                                HUB_STR_ARG(shown), HUB_STR_ARG(hub_buf_str(&why)));
    }
    hub_buf_fini(&why);
    return err;
}

static hub_err read_pattern_entry(hub_schema_compiler *compiler, const hub_schema_node *node,
                                  const hub_schema_rule *rule, hub_schema_kid *kid, hub_str raw)
{
    hub_err err = read_pattern(compiler, node, rule, kid->key, &kid->pattern);
    return err == HUB_OK ? compile_kid(compiler, node, rule, kid, raw) : err;
}

static hub_err read_names_entry(hub_schema_compiler *compiler, const hub_schema_node *node,
                                const hub_schema_rule *rule, hub_schema_kid *kid, hub_str raw)
{
    if (hub_json_type_of(raw) != HUB_JSON_ARRAY) {
        return refuse(compiler, node, rule, "an object of lists of names");
    }
    return read_names(compiler, node, rule, raw, kid);
}

static hub_err read_dependency(hub_schema_compiler *compiler, const hub_schema_node *node,
                               const hub_schema_rule *rule, hub_schema_kid *kid, hub_str raw)
{
    return hub_json_type_of(raw) == HUB_JSON_ARRAY ? read_names(compiler, node, rule, raw, kid)
                                                   : compile_kid(compiler, node, rule, kid, raw);
}

hub_err hub_schema_compile_types(hub_schema_compiler *compiler, hub_schema_node *node,
                                 hub_schema_rule *rule)
{
    static const struct {
        const char *name;
        unsigned type;
    } NAMES[] = {
        {"object", HUB_SCHEMA_OBJECT},   {"array", HUB_SCHEMA_ARRAY},
        {"string", HUB_SCHEMA_STRING},   {"number", HUB_SCHEMA_NUMBER},
        {"integer", HUB_SCHEMA_INTEGER}, {"boolean", HUB_SCHEMA_BOOLEAN},
        {"null", HUB_SCHEMA_NULL},
    };
    bool is_list = hub_json_type_of(rule->raw) == HUB_JSON_ARRAY;
    hub_json_iter it = hub_json_iterate(rule->raw);
    hub_str key;
    hub_str name = rule->raw;
    bool is_known = !is_list || hub_json_count(rule->raw) > 0;
    while (is_known && (!is_list || hub_json_next(&it, &key, &name))) {
        is_known = false;
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
            if (hub_json_string_is(name, hub_str_of(NAMES[i].name))) {
                rule->as.types |= NAMES[i].type;
                is_known = true;
            }
        }
        if (!is_list) {
            break;
        }
    }
    return is_known ? HUB_OK : refuse(compiler, node, rule, "a type or a list of types");
}

static int by_hash(const void *left, const void *right)
{
    const hub_schema_hashed *a = left;
    const hub_schema_hashed *b = right;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

hub_err hub_schema_compile_enum(hub_schema_compiler *compiler, hub_schema_node *node,
                                hub_schema_rule *rule)
{
    if (hub_json_type_of(rule->raw) != HUB_JSON_ARRAY) {
        return refuse(compiler, node, rule, "an array");
    }
    size_t count = hub_json_count(rule->raw);
    hub_schema_hashed *list =
        hub_schema_alloc(&compiler->schema->memory, count, sizeof(hub_schema_hashed));
    if (list == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    hub_schema_run scratch = {
        .steps_left = UINT64_MAX, .root = "the schema", .reterr = compiler->reterr};
    hub_err err = HUB_OK;
    hub_json_iter it = hub_json_iterate(rule->raw);
    hub_str key;
    for (size_t i = 0; err == HUB_OK && hub_json_next(&it, &key, &list[i].raw); i++) {
        err = hub_schema_hash(&scratch, list[i].raw, &list[i].hash);
    }
    hub_schema_memory_fini(&scratch.memory);
    qsort(list, count, sizeof(hub_schema_hashed), by_hash);
    rule->as.values.list = list;
    rule->as.values.count = count;
    return err;
}

hub_err hub_schema_compile_any(hub_schema_compiler *compiler, hub_schema_node *node,
                               hub_schema_rule *rule)
{
    (void)compiler; /* every value is a good one */
    (void)node;
    (void)rule;
    return HUB_OK;
}

hub_err hub_schema_compile_number(hub_schema_compiler *compiler, hub_schema_node *node,
                                  hub_schema_rule *rule)
{
    if (hub_json_type_of(rule->raw) != HUB_JSON_NUMBER) {
        return refuse(compiler, node, rule, "a number");
    }
    rule->as.number = hub_schema_number_of(rule->raw);
    return HUB_OK;
}

hub_err hub_schema_compile_divisor(hub_schema_compiler *compiler, hub_schema_node *node,
                                   hub_schema_rule *rule)
{
    hub_err err = hub_schema_compile_number(compiler, node, rule);
    if (err == HUB_OK && (rule->as.number.is_negative || rule->as.number.count == 0)) {
        err = refuse(compiler, node, rule, "greater than 0");
    }
    return err;
}

hub_err hub_schema_compile_count(hub_schema_compiler *compiler, hub_schema_node *node,
                                 hub_schema_rule *rule)
{
    hub_schema_number number = {.is_negative = true};
    if (hub_json_type_of(rule->raw) == HUB_JSON_NUMBER) {
        number = hub_schema_number_of(rule->raw);
    }
    if (!hub_schema_number_to_count(&number, &rule->as.count)) {
        return refuse(compiler, node, rule, "an integer of at least 0");
    }
    return HUB_OK;
}

hub_err hub_schema_compile_bool(hub_schema_compiler *compiler, hub_schema_node *node,
                                hub_schema_rule *rule)
{
    hub_json_type type = hub_json_type_of(rule->raw);
    if (type != HUB_JSON_TRUE && type != HUB_JSON_FALSE) {
        return refuse(compiler, node, rule, "true or false");
    }
    rule->as.count = type == HUB_JSON_TRUE;
    return HUB_OK;
}

hub_err hub_schema_compile_pattern(hub_schema_compiler *compiler, hub_schema_node *node,
                                   hub_schema_rule *rule)
{
    if (hub_json_type_of(rule->raw) != HUB_JSON_STRING) {
        return refuse(compiler, node, rule, "a regular expression as a string");
    }
    hub_str text = HUB_STR_EMPTY;
    hub_err err = decode(compiler, rule->raw, &text);
    return err == HUB_OK ? read_pattern(compiler, node, rule, text, &rule->as.pattern) : err;
}

hub_err hub_schema_compile_names(hub_schema_compiler *compiler, hub_schema_node *node,
                                 hub_schema_rule *rule)
{
    if (hub_json_type_of(rule->raw) != HUB_JSON_ARRAY) {
        return refuse(compiler, node, rule, "a list of names");
    }
    hub_schema_kid holder = {.names = NULL};
    hub_err err = read_names(compiler, node, rule, rule->raw, &holder);
    rule->as.names.list = holder.names;
    rule->as.names.count = holder.name_count;
    return err;
}

hub_err hub_schema_compile_names_map(hub_schema_compiler *compiler, hub_schema_node *node,
                                     hub_schema_rule *rule)
{
    return read_map(compiler, node, rule, read_names_entry);
}

hub_err hub_schema_compile_dependencies(hub_schema_compiler *compiler, hub_schema_node *node,
                                        hub_schema_rule *rule)
{
    return read_map(compiler, node, rule, read_dependency);
}

hub_err hub_schema_compile_map(hub_schema_compiler *compiler, hub_schema_node *node,
                               hub_schema_rule *rule)
{
    return read_map(compiler, node, rule, compile_kid);
}

hub_err hub_schema_compile_pattern_map(hub_schema_compiler *compiler, hub_schema_node *node,
                                       hub_schema_rule *rule)
{
    return read_map(compiler, node, rule, read_pattern_entry);
}

hub_err hub_schema_compile_schema(hub_schema_compiler *compiler, hub_schema_node *node,
                                  hub_schema_rule *rule)
{
    hub_err err = make_kids(compiler, rule, 1, HUB_SCHEMA_FORM_ONE);
    return err == HUB_OK ? compile_kid(compiler, node, rule, &rule->kids[0], rule->raw) : err;
}

/* The place of an element in its array, as the key for pointers. */
static hub_err number_kid(hub_schema_compiler *compiler, hub_schema_kid *kid, size_t index)
{
    hub_buf text;
    hub_buf_init(&text, 32);
    hub_buf_add_u64(&text, index);
    char *copy = hub_schema_alloc(&compiler->schema->memory, 32, 1);
    if (copy != NULL && hub_buf_ok(&text)) {
        memcpy(copy, text.ptr, text.len);
        kid->key = (hub_str){.ptr = copy, .len = text.len};
    }
    hub_buf_fini(&text);
    if (copy == NULL) {
        return hub_schema_refuse_memory(compiler);
    }
    return kid->key.ptr == NULL ? hub_fail(compiler->reterr, HUB_ENOMEM, "out of memory") : HUB_OK;
}

hub_err hub_schema_compile_list(hub_schema_compiler *compiler, hub_schema_node *node,
                                hub_schema_rule *rule)
{
    size_t count = hub_json_count(rule->raw);
    if (hub_json_type_of(rule->raw) != HUB_JSON_ARRAY || count == 0) {
        return refuse(compiler, node, rule, "a list of at least one schema");
    }
    hub_err err = make_kids(compiler, rule, count, HUB_SCHEMA_FORM_LIST);
    hub_json_iter it = hub_json_iterate(rule->raw);
    hub_str key;
    hub_str raw;
    for (size_t i = 0; err == HUB_OK && hub_json_next(&it, &key, &raw); i++) {
        err = number_kid(compiler, &rule->kids[i], i);
        if (err == HUB_OK) {
            err = compile_kid(compiler, node, rule, &rule->kids[i], raw);
        }
    }
    return err;
}

hub_err hub_schema_compile_items(hub_schema_compiler *compiler, hub_schema_node *node,
                                 hub_schema_rule *rule)
{
    if (hub_json_type_of(rule->raw) != HUB_JSON_ARRAY) {
        return hub_schema_compile_schema(compiler, node, rule);
    }
    if (node->resource->dialect != HUB_SCHEMA_DRAFT07) {
        return refuse(compiler, node, rule,
                      "a schema; for one schema per element 2020-12 has \"prefixItems\"");
    }
    return hub_schema_compile_list(compiler, node, rule);
}
