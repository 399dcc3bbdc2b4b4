/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which outputSchemas the official SDK 1.x compiles (Ajv, as the SDK sets it up). It compiles those
 * of a list when the list arrives, and throws the whole list away when one of them cannot be
 * compiled. Internal to definition.c.
 */
#ifndef HUB_TOOLS_DEFINITION_OUTPUT_H
#define HUB_TOOLS_DEFINITION_OUTPUT_H

#include "base/str.h"

/* Judge an object that hub_json_check accepted. Denies a few that can be compiled (patterns, see
 * definition_pattern.h; a `$id` inside; a reference that is no JSON pointer to a member of this
 * schema), and those that take more than HUB_LIMIT_OUTPUT_SCHEMA_BYTES to read. The depth is
 * bounded by that of JSON. */
bool hub_definition_output_compiles(hub_str schema);

#endif
