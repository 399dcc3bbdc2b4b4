/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_mcp_header_check: a plain value agrees with exactly the JSON string of the same bytes; what
 * an encoded value says has no second encoding; anything else only does not crash.
 * Input: the header value, a newline, the JSON value.
 */
#include "http/mcp_headers.h"
#include "http/syntax.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void add_base64(hub_buf *out, hub_str text)
{
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < text.len; i += 3) {
        uint32_t bits = 0;
        for (size_t b = 0; b < 3; b++) {
            bits = bits << 8 | (i + b < text.len ? (unsigned char)text.ptr[i + b] : 0u);
        }
        for (size_t c = 0; c < 4; c++) {
            bool is_pad = i + c > text.len;
            hub_buf_add_char(out, is_pad ? '=' : LETTERS[bits >> (18 - 6 * c) & 63]);
        }
    }
}

static void add_json(hub_buf *out, hub_str text)
{
    hub_buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            hub_buf_printf(out, "\\u%04x", (unsigned)c);
        } else {
            hub_buf_add_char(out, text.ptr[i]);
        }
    }
    hub_buf_add_char(out, '"');
}

/* What a value says, as a JSON string, agrees with it; and a form that was encoded is the only one.
 */
static void check_meaning(hub_str value, hub_str meaning)
{
    static const hub_str BEGIN = {.ptr = "=?base64?", .len = 9};
    hub_buf json;
    hub_buf encoded;
    hub_buf_init(&json, SIZE_MAX / 4);
    hub_buf_init(&encoded, SIZE_MAX / 4);
    add_json(&json, meaning);
    REQUIRE(hub_mcp_header_check(&value, HUB_MCP_BASE64, hub_buf_str(&json), NULL) == HUB_OK);
    hub_buf_add(&encoded, BEGIN);
    add_base64(&encoded, meaning);
    hub_buf_add(&encoded, HUB_STR("?="));
    hub_str again = hub_buf_str(&encoded);
    REQUIRE(hub_mcp_header_check(&again, HUB_MCP_BASE64, hub_buf_str(&json), NULL) == HUB_OK);
    hub_str trimmed = hub_http_trim(value);
    REQUIRE(hub_str_eq(trimmed, meaning) || hub_str_eq(trimmed, again));
    hub_buf_fini(&encoded);
    hub_buf_fini(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str input = {.ptr = (const char *)data, .len = size};
    size_t newline = hub_str_find(input, HUB_STR("\n"));
    if (newline == SIZE_MAX || size > 8000) {
        return 0;
    }
    hub_str value = {.ptr = input.ptr, .len = newline};
    hub_str json = hub_str_from(input, newline + 1);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_err decoded = hub_mcp_header_decode(value, HUB_MCP_BASE64, &text, NULL);
    hub_err plain = hub_mcp_header_check(&value, HUB_MCP_PLAIN, json, NULL);
    hub_err agrees = hub_mcp_header_check(&value, HUB_MCP_BASE64, json, NULL);
    REQUIRE(decoded == HUB_OK || decoded == HUB_EINVAL);
    REQUIRE(plain == HUB_OK || plain == HUB_EINVAL);
    REQUIRE(agrees == HUB_EINVAL || (agrees == HUB_OK && decoded == HUB_OK));
    REQUIRE(decoded == HUB_OK || text.len == 0);
    if (decoded == HUB_OK) {
        check_meaning(value, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    return 0;
}
