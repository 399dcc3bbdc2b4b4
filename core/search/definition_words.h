/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool's definition says in words: title, description, and names, titles and descriptions of
 * its arguments, nested ones too (MCP server/tools, Data Types; JSON Schema). Thread: any.
 */
#ifndef HUB_SEARCH_DEFINITION_WORDS_H
#define HUB_SEARCH_DEFINITION_WORDS_H

#include "base/buf.h"

typedef enum hub_search_field {
    HUB_SEARCH_TITLE,
    HUB_SEARCH_DESCRIPTION,
    HUB_SEARCH_ARGUMENT,
} hub_search_field;

typedef void hub_search_on_field(void *ctx, hub_search_field field, hub_str text);

/* Tell each text of a definition, which is checked JSON. Arguments deeper than
 * HUB_LIMIT_SEARCH_DEPTH are not read, so that what it costs is in proportion to the bytes. `scratch`
 * is used for texts with escapes. */
void hub_search_read_definition(hub_str definition, hub_buf *scratch, hub_search_on_field *on_field,
                                void *ctx);

#endif
