/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/schema_internal.h"

#define ROW(id, text, dialect, type, compiler, checker)                                            \
    [HUB_SCHEMA_KW_##id] = {.name = text,                                                          \
                            .dialects = HUB_SCHEMA_##dialect,                                      \
                            .types = HUB_SCHEMA_##type,                                            \
                            .compile = hub_schema_compile_##compiler,                              \
                            .check = checker}
#define CHECK(name) hub_schema_check_##name

/* Draft-07 has a few keywords by other means: an anchor is an $id that starts with '#', tuples are
 * an array in `items`. $defs is read in draft-07 and `definitions` in 2020-12, as many schemas mix
 * them. Unknown keywords, and those of the other dialect, are annotations. */
const hub_schema_keyword hub_schema_keywords[HUB_SCHEMA_KW_COUNT] = {
    /* clang-format off: a table */
    ROW(SCHEMA, "$schema", ANY_DIALECT, ANY_TYPE, dialect, NULL),
    ROW(ID, "$id", ANY_DIALECT, ANY_TYPE, id, NULL),
    ROW(ANCHOR, "$anchor", 2020, ANY_TYPE, anchor, NULL),
    ROW(DYNAMIC_ANCHOR, "$dynamicAnchor", 2020, ANY_TYPE, anchor, NULL),
    ROW(DEFS, "$defs", ANY_DIALECT, ANY_TYPE, map, NULL),
    ROW(DEFINITIONS, "definitions", ANY_DIALECT, ANY_TYPE, map, NULL),
    ROW(TYPE, "type", ANY_DIALECT, ANY_TYPE, types, CHECK(type)),
    ROW(ENUM, "enum", ANY_DIALECT, ANY_TYPE, enum, CHECK(enum)),
    ROW(CONST, "const", ANY_DIALECT, ANY_TYPE, any, CHECK(const)),
    ROW(MULTIPLE_OF, "multipleOf", ANY_DIALECT, NUMBER, divisor, CHECK(multiple_of)),
    ROW(MINIMUM, "minimum", ANY_DIALECT, NUMBER, number, CHECK(minimum)),
    ROW(EXCLUSIVE_MINIMUM, "exclusiveMinimum", ANY_DIALECT, NUMBER, number,
        CHECK(exclusive_minimum)),
    ROW(MAXIMUM, "maximum", ANY_DIALECT, NUMBER, number, CHECK(maximum)),
    ROW(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", ANY_DIALECT, NUMBER, number,
        CHECK(exclusive_maximum)),
    ROW(MIN_LENGTH, "minLength", ANY_DIALECT, STRING, count, CHECK(min_length)),
    ROW(MAX_LENGTH, "maxLength", ANY_DIALECT, STRING, count, CHECK(max_length)),
    ROW(PATTERN, "pattern", ANY_DIALECT, STRING, pattern, CHECK(pattern)),
    ROW(PROPERTIES, "properties", ANY_DIALECT, OBJECT, map, CHECK(properties)),
    ROW(PATTERN_PROPERTIES, "patternProperties", ANY_DIALECT, OBJECT, pattern_map,
        CHECK(pattern_properties)),
    ROW(ADDITIONAL_PROPERTIES, "additionalProperties", ANY_DIALECT, OBJECT, schema,
        CHECK(additional_properties)),
    ROW(PROPERTY_NAMES, "propertyNames", ANY_DIALECT, OBJECT, schema, CHECK(property_names)),
    ROW(REQUIRED, "required", ANY_DIALECT, OBJECT, names, CHECK(required)),
    ROW(DEPENDENT_REQUIRED, "dependentRequired", 2020, OBJECT, names_map,
        CHECK(dependent_required)),
    ROW(MIN_PROPERTIES, "minProperties", ANY_DIALECT, OBJECT, count, CHECK(min_members)),
    ROW(MAX_PROPERTIES, "maxProperties", ANY_DIALECT, OBJECT, count, CHECK(max_members)),
    ROW(MIN_ITEMS, "minItems", ANY_DIALECT, ARRAY, count, CHECK(min_members)),
    ROW(MAX_ITEMS, "maxItems", ANY_DIALECT, ARRAY, count, CHECK(max_members)),
    ROW(PREFIX_ITEMS, "prefixItems", 2020, ARRAY, list, CHECK(prefix_items)),
    ROW(ITEMS, "items", ANY_DIALECT, ARRAY, items, CHECK(items)),
    ROW(ADDITIONAL_ITEMS, "additionalItems", DRAFT07, ARRAY, schema, CHECK(additional_items)),
    ROW(CONTAINS, "contains", ANY_DIALECT, ARRAY, schema, CHECK(contains)),
    ROW(MIN_CONTAINS, "minContains", 2020, ARRAY, count, NULL),
    ROW(MAX_CONTAINS, "maxContains", 2020, ARRAY, count, NULL),
    ROW(UNIQUE_ITEMS, "uniqueItems", ANY_DIALECT, ARRAY, bool, CHECK(unique_items)),
    ROW(REF, "$ref", ANY_DIALECT, ANY_TYPE, ref, CHECK(ref)),
    ROW(DYNAMIC_REF, "$dynamicRef", 2020, ANY_TYPE, ref, CHECK(ref)),
    ROW(ALL_OF, "allOf", ANY_DIALECT, ANY_TYPE, list, CHECK(all_of)),
    ROW(ANY_OF, "anyOf", ANY_DIALECT, ANY_TYPE, list, CHECK(any_of)),
    ROW(ONE_OF, "oneOf", ANY_DIALECT, ANY_TYPE, list, CHECK(one_of)),
    ROW(NOT, "not", ANY_DIALECT, ANY_TYPE, schema, CHECK(not )),
    ROW(IF, "if", ANY_DIALECT, ANY_TYPE, schema, CHECK(if)),
    ROW(THEN, "then", ANY_DIALECT, ANY_TYPE, schema, NULL),
    ROW(ELSE, "else", ANY_DIALECT, ANY_TYPE, schema, NULL),
    ROW(DEPENDENT_SCHEMAS, "dependentSchemas", 2020, OBJECT, map, CHECK(dependent_schemas)),
    ROW(DEPENDENCIES, "dependencies", DRAFT07, OBJECT, dependencies, CHECK(dependent_schemas)),
    ROW(UNEVALUATED_ITEMS, "unevaluatedItems", 2020, ARRAY, schema, CHECK(unevaluated)),
    ROW(UNEVALUATED_PROPERTIES, "unevaluatedProperties", 2020, OBJECT, schema, CHECK(unevaluated)),
    /* clang-format on */
};
