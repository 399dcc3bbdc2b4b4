/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Schema for arguments and configuration: a schema is compiled once, then values are checked
 * against it as spans. Compiled schemas are immutable; checking is a pure function, any thread.
 *
 * Dialects: 2020-12 (the default of MCP 2026-07-28 basic/index, JSON Schema Usage), and draft-07
 * when `$schema` says so. Supported: the boolean schemas; type, enum, const; properties, required,
 * additionalProperties, patternProperties, propertyNames, minProperties, maxProperties,
 * dependentRequired, dependentSchemas; items, prefixItems (draft-07: items as array,
 * additionalItems), contains, minContains, maxContains, minItems, maxItems, uniqueItems; minLength,
 * maxLength, pattern; minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf; allOf,
 * anyOf, oneOf, not, if/then/else; $ref and $defs/definitions and $anchor within the document;
 * unevaluatedProperties and unevaluatedItems; `format` is an annotation and not enforced. Other
 * documents are never fetched: a $ref to one makes the schema invalid.
 */
#ifndef HUB_TOOLS_SCHEMA_H
#define HUB_TOOLS_SCHEMA_H

#include "base/buf.h"

typedef struct hub_schema hub_schema;

/* Compile a schema from JSON text that hub_json_check accepted. The text is copied.
 * owns:    *ret_schema, destroy it with hub_schema_destroy
 * errors:  HUB_EINVAL (a keyword has a wrong value, a $ref leads nowhere, an unknown dialect, a bad
 *          pattern), HUB_ELIMIT (HUB_LIMIT_SCHEMA_DEPTH, HUB_LIMIT_SCHEMA_NODES), HUB_ENOMEM; the
 * text names the place as a JSON pointer */
HUB_MUST_CHECK hub_err hub_schema_compile(hub_str json, hub_schema **ret_schema, hub_error *reterr);

/* NULL is fine. */
void hub_schema_destroy(hub_schema *schema);

/* Check one raw JSON value. On a violation the text names the place in the value as a path from the
 * root and what was wanted: "arguments.zone.0: must be a string, is a number".
 * `root` is the word for the whole value ("arguments", "config").
 * errors:  HUB_EINVAL (the first violation found), HUB_ELIMIT (the check itself became too
 *          expensive: a bound on steps, against hostile composition), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_schema_validate(const hub_schema *schema, hub_str value,
                                           const char *root, hub_error *reterr);

#endif
