/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition.h"

#include "tools/definition_output.h"
#include "tools/definition_readable.h"
#include "tools/definition_rules.h"
#include "tools/definition_time.h"
#include "tools/definition_uri.h"
#include "wire/json.h"

/* The most of a wrong value that a reason shows. */
enum { SHOWN_VALUE_BYTES = 32 };

static const hub_definition_object ROOTS[HUB_KINDS] = {
    [HUB_KIND_TOOL] = HUB_DEFINITION_TOOL,
    [HUB_KIND_RESOURCE] = HUB_DEFINITION_RESOURCE,
    [HUB_KIND_TEMPLATE] = HUB_DEFINITION_TEMPLATE,
    [HUB_KIND_PROMPT] = HUB_DEFINITION_PROMPT,
};

/* Where a value stands: written out only when it is wrong. */
typedef struct definition_place {
    const struct definition_place *outer; /* NULL: the definition itself */
    hub_str key;                          /* empty for an element of an array, or of a map */
    size_t index;
} definition_place;

typedef struct definition_checker {
    hub_definition *definition;
    bool in_output; /* inside of outputSchema: it is valid without */
    hub_error *why;
} definition_checker;

static const char *found_text(hub_json_type type)
{
    static const char *const TEXTS[] = {
        [HUB_JSON_NONE] = "but it is missing", [HUB_JSON_NULL] = "found null",
        [HUB_JSON_TRUE] = "found true",        [HUB_JSON_FALSE] = "found false",
        [HUB_JSON_NUMBER] = "found a number",  [HUB_JSON_STRING] = "found a string",
        [HUB_JSON_ARRAY] = "found an array",   [HUB_JSON_OBJECT] = "found an object",
    };
    return TEXTS[type];
}

static void add_place(hub_buf *out, const definition_place *at)
{
    if (at == NULL) {
        return;
    }
    add_place(out, at->outer);
    if (at->key.len == 0) {
        hub_buf_printf(out, "[%zu]", at->index);
        return;
    }
    hub_buf_printf(out, "%s" HUB_STR_FMT, at->outer != NULL ? "." : "", HUB_STR_ARG(at->key));
}

/* The revisions that are still to be decided. */
static uint8_t open_revisions(const definition_checker *checker)
{
    const hub_definition *definition = checker->definition;
    return checker->in_output ? definition->valid
                              : definition->valid | definition->valid_without_output;
}

/* Take revisions away, and say why when none is left. `wanted`: NULL: to be there once. */
static void refuse(const definition_checker *checker, uint8_t revisions, const definition_place *at,
                   const char *wanted, hub_str value)
{
    hub_definition *definition = checker->definition;
    bool was_valid = definition->valid != 0;
    definition->valid = (uint8_t)(definition->valid & ~revisions);
    if (!checker->in_output) {
        definition->valid_without_output = (uint8_t)(definition->valid_without_output & ~revisions);
    }
    if (!was_valid || definition->valid != 0 || checker->why == NULL) {
        return;
    }
    hub_buf where;
    hub_json_type type = hub_json_type_of(value);
    hub_buf_init(&where, sizeof checker->why->text);
    add_place(&where, at);
    bool is_shown =
        (type == HUB_JSON_STRING || type == HUB_JSON_NUMBER) && value.len <= SHOWN_VALUE_BYTES;
    if (wanted == NULL) {
        (void)hub_fail(checker->why, HUB_EINVAL, HUB_STR_FMT " occurs twice",
                       HUB_STR_ARG(hub_buf_str(&where)));
    } else if (is_shown) {
        (void)hub_fail(checker->why, HUB_EINVAL, HUB_STR_FMT " must be %s, found " HUB_STR_FMT,
                       HUB_STR_ARG(hub_buf_str(&where)), wanted, HUB_STR_ARG(value));
    } else {
        (void)hub_fail(checker->why, HUB_EINVAL, HUB_STR_FMT " must be %s, %s",
                       HUB_STR_ARG(hub_buf_str(&where)), wanted, found_text(type));
    }
    hub_buf_fini(&where);
}

static bool is_size(hub_str value)
{
    int64_t number;
    for (size_t i = 0; i < value.len; i++) {
        if (strchr("-.eE", value.ptr[i]) != NULL) {
            return false;
        }
    }
    return hub_json_to_i64(value, &number);
}

static bool is_fraction(hub_str value)
{
    double number;
    return hub_json_to_double(value, &number) && number >= 0 && number <= 1;
}

static bool is_word(hub_str value, hub_definition_words words)
{
    for (const char *const *word = HUB_DEFINITION_WORDS[words]; *word != NULL; word++) {
        if (hub_json_string_is(value, hub_str_of(*word))) {
            return true;
        }
    }
    return false;
}

static bool is_of_kind(const hub_definition_rule *rule, hub_str value)
{
    hub_json_type type = hub_json_type_of(value);
    switch (rule->kind) {
    case HUB_DEFINITION_STRING:
        return type == HUB_JSON_STRING;
    case HUB_DEFINITION_BOOLEAN:
        return type == HUB_JSON_TRUE || type == HUB_JSON_FALSE;
    case HUB_DEFINITION_SIZE:
        return is_size(value);
    case HUB_DEFINITION_FRACTION:
        return is_fraction(value);
    case HUB_DEFINITION_TIME:
        return hub_definition_is_time(value);
    case HUB_DEFINITION_URI:
        return hub_definition_is_uri(value);
    case HUB_DEFINITION_WORD:
        return is_word(value, rule->words);
    default:
        return type == HUB_JSON_OBJECT;
    }
}

static const hub_definition_rule *find_rule(const hub_definition_rules *rules, hub_str raw_key)
{
    hub_str key;
    bool is_plain = hub_json_plain(raw_key, &key);
    for (size_t i = 0; i < rules->count; i++) {
        const hub_definition_rule *rule = &rules->items[i];
        if (is_plain ? hub_str_eq(key, rule->key) : hub_json_string_is(raw_key, rule->key)) {
            return rule;
        }
    }
    return NULL;
}

static void check_object(definition_checker *checker, hub_definition_object kind, uint8_t revisions,
                         const definition_place *at, hub_str object);

/* One value: of a member, or of an element or member of it. */
static void check_one(definition_checker *checker, const hub_definition_rule *rule,
                      uint8_t revisions, const definition_place *at, hub_str value)
{
    if (!is_of_kind(rule, value)) {
        const char *wanted = rule->kind == HUB_DEFINITION_WORD
                                 ? HUB_DEFINITION_WANTED_WORDS[rule->words]
                                 : HUB_DEFINITION_WANTED[rule->kind];
        refuse(checker, revisions, at, wanted, value);
    } else if (HUB_DEFINITION_RULES[rule->inside].count > 0) {
        check_object(checker, rule->inside, revisions, at, value);
    }
}

static void check_member(definition_checker *checker, const hub_definition_rule *rule,
                         uint8_t revisions, const definition_place *at, hub_str value)
{
    if (rule->shape == HUB_DEFINITION_ONE) {
        check_one(checker, rule, revisions, at, value);
        return;
    }
    bool is_map = rule->shape == HUB_DEFINITION_MAP;
    if (hub_json_type_of(value) != (is_map ? HUB_JSON_OBJECT : HUB_JSON_ARRAY)) {
        refuse(checker, revisions, at, is_map ? "an object" : "an array", value);
        return;
    }
    definition_place inner = {.outer = at};
    hub_json_iter it = hub_json_iterate(value);
    hub_str key;
    hub_str item;
    for (; (open_revisions(checker) & revisions) != 0 && hub_json_next(&it, &key, &item);
         inner.index++) {
        check_one(checker, rule, revisions, &inner, item);
    }
}

/* outputSchema is judged for the definition with it alone. */
static void check_output(definition_checker *checker, const hub_definition_rule *rule,
                         uint8_t revisions, const definition_place *at, hub_str value)
{
    uint8_t legacy = revisions & HUB_REVISIONS_LEGACY;
    checker->in_output = true;
    check_member(checker, rule, revisions, at, value);
    if ((checker->definition->valid & legacy) != 0 && !hub_definition_output_compiles(value)) {
        refuse(checker, legacy, at, "a schema that clients can compile", value);
    }
    checker->in_output = false;
}

/* The member that `it` has just read, with one comma: the one in front of it, behind `last` (the end
 * of the member before), or the one behind it when it is the first (`last` is NULL). */
static hub_str member_with_comma(hub_json_iter it, const char *first, const char *last)
{
    hub_str key;
    hub_str value;
    const char *end = it.at;
    if (last != NULL) {
        return hub_str_between(last, end);
    }
    return hub_str_between(first, hub_json_next(&it, &key, &value) ? key.ptr : end);
}

static void require_members(definition_checker *checker, const hub_definition_rules *rules,
                            unsigned seen, uint8_t revisions, const definition_place *at)
{
    for (size_t i = 0; i < rules->count; i++) {
        const hub_definition_rule *rule = &rules->items[i];
        if (rule->required && (seen & 1u << i) == 0) {
            definition_place member = {.outer = at, .key = rule->key};
            const char *wanted = rule->kind == HUB_DEFINITION_WORD
                                     ? HUB_DEFINITION_WANTED_WORDS[rule->words]
                                     : HUB_DEFINITION_WANTED[rule->kind];
            refuse(checker, revisions & rule->revisions, &member, wanted, HUB_STR_EMPTY);
        }
    }
}

static void check_object(definition_checker *checker, hub_definition_object kind, uint8_t revisions,
                         const definition_place *at, hub_str object)
{
    const hub_definition_rules *rules = &HUB_DEFINITION_RULES[kind];
    unsigned seen = 0;
    hub_str key;
    hub_str value;
    hub_json_iter it = hub_json_iterate(object);
    for (const char *last = NULL; hub_json_next(&it, &key, &value); last = it.at) {
        const hub_definition_rule *rule = find_rule(rules, key);
        uint8_t demanding = rule != NULL ? rule->revisions & revisions : 0;
        if (rule == NULL) {
            continue;
        }
        definition_place member = {.outer = at, .key = rule->key};
        if ((seen & 1u << (rule - rules->items)) != 0) {
            refuse(checker, revisions, &member, NULL, value);
        }
        seen |= 1u << (rule - rules->items);
        if (rule->inside == HUB_DEFINITION_OUTPUT_SCHEMA) {
            checker->definition->output_member = member_with_comma(it, key.ptr, last);
        }
        if ((open_revisions(checker) & demanding) == 0) {
            continue;
        }
        (rule->inside == HUB_DEFINITION_OUTPUT_SCHEMA ? check_output : check_member)(
            checker, rule, demanding, &member, value);
    }
    require_members(checker, rules, seen, revisions, at);
}

hub_definition hub_definition_check(hub_kind kind, hub_str json, hub_error *ret_why)
{
    hub_definition definition = {
        .valid = HUB_REVISIONS_EVERY,
        .valid_without_output = HUB_REVISIONS_EVERY,
        .output_member = HUB_STR_EMPTY,
    };
    definition_checker checker = {.definition = &definition, .why = ret_why};
    const char *unreadable = hub_definition_unreadable(json);
    if (unreadable != NULL) {
        definition.valid = 0;
        if (ret_why != NULL) {
            (void)hub_fail(ret_why, HUB_EINVAL, "%s", unreadable);
        }
    } else if (hub_json_type_of(json) == HUB_JSON_OBJECT) {
        check_object(&checker, ROOTS[kind], HUB_REVISIONS_EVERY, NULL, json);
    } else {
        definition_place at = {.key = HUB_STR("the definition")};
        refuse(&checker, HUB_REVISIONS_EVERY, &at, "an object", json);
    }
    if (definition.valid == 0) {
        definition.valid_without_output = 0;
        definition.output_member = HUB_STR_EMPTY;
    }
    return definition;
}
