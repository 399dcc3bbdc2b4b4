/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers that the hub itself looks for, as numbers: while a head is read, it is noted where
 * the first of each stands. Pure functions, any thread.
 */
#ifndef HTTP_HEADER_NAME_H
#define HTTP_HEADER_NAME_H

#include "base/str.h"

typedef enum hub_http_name {
    HUB_HTTP_OTHER,
    /* May occur once: they say who asks, or what, and of two, somebody on the way may have obeyed
     * the other. So may every other Mcp-*. */
    HUB_HTTP_HOST,
    HUB_HTTP_ORIGIN,
    HUB_HTTP_AUTHORIZATION,
    HUB_HTTP_CONTENT_TYPE,
    HUB_HTTP_CONTENT_LENGTH,
    HUB_HTTP_TRANSFER_ENCODING,
    HUB_HTTP_MCP_SESSION_ID,
    HUB_HTTP_MCP_PROTOCOL_VERSION,
    HUB_HTTP_MCP_METHOD,
    HUB_HTTP_MCP_NAME,
    HUB_HTTP_LAST_EVENT_ID,
    /* May occur again. */
    HUB_HTTP_ACCEPT,
    HUB_HTTP_CONNECTION,
    HUB_HTTP_EXPECT,
    HUB_HTTP_NAMES,
} hub_http_name;

/* Which one a text without line breaks is, in any case; all of them are tokens. */
hub_http_name hub_http_name_of(hub_str text);

/* Whether a text without line breaks begins with "mcp-", in any case. */
bool hub_http_name_is_mcp(hub_str text);

#endif
