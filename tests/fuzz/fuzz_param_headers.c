/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mcp-Param-*: the walk over schema and arguments finds what looking each property up finds, as long
 * as no member occurs twice. Input: the value of one header, a newline, the schema, a newline, the
 * arguments.
 */
#include "base/limits.h"
#include "http/mcp_headers.h"
#include "http/param_headers.h"
#include "http/syntax.h"
#include "wire/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static bool has_double(hub_str raw)
{
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str value;
    bool is_object = hub_json_type_of(raw) == HUB_JSON_OBJECT;
    while (hub_json_next(&it, &key, &value)) {
        hub_buf name;
        hub_buf_init(&name, SIZE_MAX / 4);
        bool is_double = is_object && (hub_json_decode(key, &name) != HUB_OK ||
                                       hub_json_get(raw, hub_buf_str(&name)).ptr != value.ptr);
        hub_buf_fini(&name);
        if (is_double || has_double(value)) {
            return true;
        }
    }
    return false;
}

/* Whether all annotations agree with the one header that there is: P. */
static bool agrees(const hub_str *header, hub_str schema, hub_str arguments, int depth)
{
    hub_str properties = hub_json_type_of(schema) == HUB_JSON_OBJECT
                             ? hub_json_get(schema, HUB_STR("properties"))
                             : HUB_STR_EMPTY;
    hub_json_iter it = hub_json_iterate(properties);
    hub_str key;
    hub_str property;
    if (hub_json_type_of(properties) != HUB_JSON_OBJECT || depth == HUB_LIMIT_SCHEMA_DEPTH) {
        return true;
    }
    while (hub_json_next(&it, &key, &property)) {
        if (hub_json_type_of(property) != HUB_JSON_OBJECT) {
            continue;
        }
        hub_buf name;
        hub_buf text;
        hub_buf_init(&name, SIZE_MAX / 4);
        hub_buf_init(&text, 256);
        REQUIRE(hub_json_decode(key, &name) == HUB_OK);
        hub_str argument = hub_json_type_of(arguments) == HUB_JSON_OBJECT
                               ? hub_json_get(arguments, hub_buf_str(&name))
                               : HUB_STR_EMPTY;
        hub_str wanted = hub_json_get(property, HUB_STR("x-mcp-header"));
        bool is_name =
            hub_json_decode(wanted, &text) == HUB_OK && hub_http_is_token(hub_buf_str(&text));
        bool is_p = is_name && hub_str_eq_nocase(hub_buf_str(&text), HUB_STR("p"));
        hub_buf_fini(&text);
        hub_buf_fini(&name);
        if ((is_name && hub_mcp_header_check(is_p ? header : NULL, HUB_MCP_BASE64, argument,
                                             NULL) != HUB_OK) ||
            !agrees(header, property, argument, depth + 1)) {
            return false;
        }
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str text = {.ptr = (const char *)data, .len = size};
    hub_str parts[3];
    for (int i = 0; i < 3; i++) {
        size_t end = hub_str_find(text, HUB_STR("\n"));
        parts[i] = (hub_str){.ptr = text.ptr, .len = end < text.len ? end : text.len};
        text = hub_str_from(text, parts[i].len + (end < text.len));
    }
    hub_http_request request = {.header_count = 1};
    request.headers[0] = (hub_http_header){.name = HUB_STR("Mcp-Param-P"), .value = parts[0]};
    size_t steps = 0;
    if (hub_json_check(parts[1], &parts[1], NULL) != HUB_OK ||
        hub_json_check(parts[2], &parts[2], NULL) != HUB_OK ||
        hub_json_type_of(parts[1]) != HUB_JSON_OBJECT) {
        return 0;
    }
    hub_err err = hub_http_check_params(&request, parts[1], parts[2], &steps, NULL);
    REQUIRE(steps <= size);
    if (!has_double(parts[1]) && !has_double(parts[2])) {
        REQUIRE((err == HUB_OK) == agrees(&parts[0], parts[1], parts[2], 0));
    }
    return 0;
}
