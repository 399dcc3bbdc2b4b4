/* SPDX-License-Identifier: Apache-2.0 */
#include "search/definition_words.h"

#include "base/limits.h"
#include "wire/json.h"

typedef struct reader {
    hub_buf *scratch;
    hub_search_on_field *on_field;
    void *ctx;
} reader;

static void tell(reader *reading, hub_search_field field, hub_str raw)
{
    hub_str text;
    if (hub_json_plain(raw, &text)) {
        reading->on_field(reading->ctx, field, text);
        return;
    }
    hub_buf_clear(reading->scratch);
    if (hub_json_decode(raw, reading->scratch) == HUB_OK) {
        reading->on_field(reading->ctx, field, hub_buf_str(reading->scratch));
    }
}

static void read_schema(reader *reading, hub_str schema, unsigned depth);

static void read_properties(reader *reading, hub_str properties, unsigned depth)
{
    hub_json_iter it = hub_json_iterate(properties);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        if (key.len > 0) { /* not an array, which a server may have sent instead */
            tell(reading, HUB_SEARCH_ARGUMENT, key);
        }
        read_schema(reading, value, depth);
    }
}

/* Whatever has schemas in it is read the same way: `items`, `anyOf`, `$defs`, … */
static void read_schema(reader *reading, hub_str schema, unsigned depth)
{
    if (depth == 0) {
        return;
    }
    hub_json_iter it = hub_json_iterate(schema);
    hub_str key;
    hub_str value;
    while (hub_json_next(&it, &key, &value)) {
        hub_json_type type = hub_json_type_of(value);
        if (type == HUB_JSON_STRING) {
            if (hub_json_string_is(key, HUB_STR("description")) ||
                hub_json_string_is(key, HUB_STR("title"))) {
                tell(reading, HUB_SEARCH_ARGUMENT, value);
            }
        } else if (type == HUB_JSON_OBJECT && hub_json_string_is(key, HUB_STR("properties"))) {
            read_properties(reading, value, depth - 1);
        } else {
            read_schema(reading, value, depth - 1);
        }
    }
}

void hub_search_read_definition(hub_str definition, hub_buf *scratch, hub_search_on_field *on_field,
                                void *ctx)
{
    reader reading = {.scratch = scratch, .on_field = on_field, .ctx = ctx};
    tell(&reading, HUB_SEARCH_TITLE, hub_json_get(definition, HUB_STR("title")));
    tell(&reading, HUB_SEARCH_DESCRIPTION, hub_json_get(definition, HUB_STR("description")));
    read_schema(&reading, hub_json_get(definition, HUB_STR("inputSchema")), HUB_LIMIT_SEARCH_DEPTH);
}
