/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of clients' requests that a server behind the hub gets: which ones those may be. */
#include "config/reader.h"

#include "base/limits.h"

#include <strings.h>

bool hub_config_is_header(hub_str name)
{
    static const char OTHERS[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && memchr(OTHERS, c, sizeof OTHERS - 1) == NULL) {
            return false;
        }
    }
    return name.len > 0;
}

/* What the hub says itself of each request to a server, what belongs to a single connection (RFC
 * 9110, section 7.6.1), and what only a WebSocket's handshake has. "*" stands for any end. */
static bool is_own(hub_str name)
{
    static const char *const OWN[] = {
        "accept",  "accept-encoding", "connection", "content-*",     "expect",
        "host",    "http2-settings",  "keep-alive", "last-event-id", "mcp-*",
        "proxy-*", "sec-websocket-*", "te",         "trailer",       "transfer-encoding",
        "upgrade",
    };
    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0]; i++) {
        size_t len = strlen(OWN[i]);
        bool is_start = OWN[i][len - 1] == '*';
        len -= is_start ? 1 : 0;
        if (name.len >= len && (is_start || name.len == len) &&
            strncasecmp(name.ptr, OWN[i], len) == 0) {
            return true;
        }
    }
    return false;
}

static hub_err read_header(hub_config_reader *reader, const hub_node *item, const char **ret_text)
{
    if (item->kind != HUB_NODE_TEXT || !hub_config_is_header(item->text)) {
        return hub_config_wrong(reader, item, "the name of a header");
    }
    if (memchr(item->text.ptr, '*', item->text.len) != NULL) { /* RFC 9110 has it in names */
        return hub_node_fail(item, reader->reterr, HUB_EINVAL,
                             "\"" HUB_STR_FMT "\" is not a pattern: each header is named",
                             HUB_STR_ARG(item->text));
    }
    if (is_own(item->text)) {
        return hub_node_fail(item, reader->reterr, HUB_EINVAL,
                             "the hub itself says \"" HUB_STR_FMT
                             "\" to the server: it cannot be forwarded",
                             HUB_STR_ARG(item->text));
    }
    if (hub_str_eq_nocase(item->text, HUB_STR("authorization"))) {
        hub_err err = hub_config_warn(reader, item,
                                      "credentials of clients for this hub go to the server, "
                                      "which could use it in their place");
        if (err != HUB_OK) {
            return err;
        }
    }
    *ret_text = hub_arena_strdup(reader->arena, item->text);
    return *ret_text != NULL ? HUB_OK : hub_config_no_memory(reader);
}

hub_err hub_config_read_forward_headers(hub_config_reader *reader, const hub_node *node,
                                        hub_names *ret_names)
{
    if (node->kind == HUB_NODE_LIST && node->count > HUB_LIMIT_FORWARD_HEADERS) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d headers",
                             HUB_LIMIT_FORWARD_HEADERS);
    }
    return hub_config_read_list(reader, node, read_header, ret_names);
}
