/* SPDX-License-Identifier: Apache-2.0 */
#include "http/header_name.h"

#include <stdint.h>

/* In lower case. Nothing but letters and "-": see is_same. */
static const struct {
    const char *text;
    uint8_t len;
    uint8_t name;
} NAMES[] = {
    {"host", 4, HUB_HTTP_HOST},
    {"accept", 6, HUB_HTTP_ACCEPT},
    {"origin", 6, HUB_HTTP_ORIGIN},
    {"expect", 6, HUB_HTTP_EXPECT},
    {"mcp-name", 8, HUB_HTTP_MCP_NAME},
    {"connection", 10, HUB_HTTP_CONNECTION},
    {"mcp-method", 10, HUB_HTTP_MCP_METHOD},
    {"content-type", 12, HUB_HTTP_CONTENT_TYPE},
    {"authorization", 13, HUB_HTTP_AUTHORIZATION},
    {"last-event-id", 13, HUB_HTTP_LAST_EVENT_ID},
    {"content-length", 14, HUB_HTTP_CONTENT_LENGTH},
    {"mcp-session-id", 14, HUB_HTTP_MCP_SESSION_ID},
    {"transfer-encoding", 17, HUB_HTTP_TRANSFER_ENCODING},
    {"mcp-protocol-version", 20, HUB_HTTP_MCP_PROTOCOL_VERSION},
};

/* Bit 5 alone tells the cases of a letter apart. With it a carriage return, which the text has not,
 * would be a "-", too; nothing else becomes a letter or a "-". */
static bool is_same(const char *text, const char *lower_case, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((text[i] | 0x20) != lower_case[i]) {
            return false;
        }
    }
    return true;
}

hub_http_name hub_http_name_of(hub_str text)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (text.len == NAMES[i].len && is_same(text.ptr, NAMES[i].text, text.len)) {
            return (hub_http_name)NAMES[i].name;
        }
    }
    return HUB_HTTP_OTHER;
}

bool hub_http_name_is_mcp(hub_str text)
{
    return text.len >= 4 && is_same(text.ptr, "mcp-", 4);
}
