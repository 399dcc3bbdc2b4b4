/* SPDX-License-Identifier: Apache-2.0 */
#include "export/loss.h"

#include "wire/json.h"

/* What stands in the value of a keyword. */
typedef enum inside {
    NOTHING,
    SCHEMAS, /* one, or an array of them */
    MEMBERS, /* one in each member */
} inside;

typedef struct keyword {
    const char *name;
    inside inside;
} keyword;

/* Those that are told of come first, by the numbers of their bits. */
static const keyword KEYWORDS[] = {
    {"$ref", NOTHING},
    {"$defs", MEMBERS},
    {"anyOf", SCHEMAS},
    {"oneOf", SCHEMAS},
    {"allOf", SCHEMAS},
    {"not", SCHEMAS},
    {"pattern", NOTHING},
    {"format", NOTHING},
    {"additionalProperties", SCHEMAS},
    {"minimum", NOTHING},
    {"maximum", NOTHING},
    {"minLength", NOTHING},
    {"maxLength", NOTHING},
    {"enum", NOTHING},
    {"const", NOTHING},
    {"default", NOTHING},
    {"definitions", MEMBERS},
    {"properties", MEMBERS},
    {"patternProperties", MEMBERS},
    {"dependentSchemas", MEMBERS},
    {"items", SCHEMAS},
    {"prefixItems", SCHEMAS},
    {"additionalItems", SCHEMAS},
    {"unevaluatedItems", SCHEMAS},
    {"unevaluatedProperties", SCHEMAS},
    {"contains", SCHEMAS},
    {"propertyNames", SCHEMAS},
    {"if", SCHEMAS},
    {"then", SCHEMAS},
    {"else", SCHEMAS},
};

enum { KEYWORD_COUNT = sizeof KEYWORDS / sizeof KEYWORDS[0] };

static size_t find_keyword(hub_str key)
{
    size_t i = 0;
    while (i < KEYWORD_COUNT && !hub_json_string_is(key, hub_str_of(KEYWORDS[i].name))) {
        i++;
    }
    return i;
}

static uint32_t loss_inside(hub_str value, bool of_members)
{
    hub_str key;
    hub_str member;
    uint32_t found = 0;
    hub_json_type type = hub_json_type_of(value);
    if (type != HUB_JSON_ARRAY && !(of_members && type == HUB_JSON_OBJECT)) {
        return hub_loss_of(value);
    }
    for (hub_json_iter it = hub_json_iterate(value); hub_json_next(&it, &key, &member);) {
        found |= hub_loss_of(member);
    }
    return found;
}

uint32_t hub_loss_of(hub_str schema)
{
    hub_str key;
    hub_str value;
    uint32_t found = 0;
    if (hub_json_type_of(schema) != HUB_JSON_OBJECT) {
        return 0;
    }
    for (hub_json_iter it = hub_json_iterate(schema); hub_json_next(&it, &key, &value);) {
        size_t at = find_keyword(key);
        if (at < HUB_LOSSES) {
            found |= 1u << at;
        }
        if (at < KEYWORD_COUNT && KEYWORDS[at].inside != NOTHING) {
            found |= loss_inside(value, KEYWORDS[at].inside == MEMBERS);
        }
    }
    return found;
}

const char *hub_loss_name(unsigned bit_number)
{
    return bit_number < HUB_LOSSES ? KEYWORDS[bit_number].name : "";
}
