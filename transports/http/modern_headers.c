/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp.h"
#include "http/mcp_headers.h"
#include "http/param_headers.h"

static hub_err check_header(const hub_http_header *header, const char *name,
                            hub_mcp_encoding encoding, hub_str json, hub_error *reterr)
{
    hub_err err =
        hub_mcp_header_check(header != NULL ? &header->value : NULL, encoding, json, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "Header mismatch: %s", name);
    }
    return err;
}

/* Whether the part occurs. Its character at `rare` is one that definitions seldom have, so that
 * memchr passes over most of a long one. */
static bool holds(hub_str text, hub_str part, size_t rare)
{
    for (hub_str rest = text; rest.len > 0;) {
        const char *found = memchr(rest.ptr, part.ptr[rare], rest.len);
        if (found == NULL) {
            return false;
        }
        size_t before = (size_t)(found - text.ptr);
        if (before >= rare && hub_str_starts(hub_str_from(text, before - rare), part)) {
            return true;
        }
        rest = hub_str_from(text, before + 1);
    }
    return false;
}

/* Mcp-Param-*: what the tool's definition wants repeated. Others are for others, and ignored. */
static hub_err check_arguments(const hub_http_request *request, const hub_session *session,
                               const hub_message *message, hub_error *reterr)
{
    hub_buf decoded;
    hub_str name;
    hub_str raw = message->at[HUB_M_NAME];
    hub_err err = HUB_OK;
    hub_buf_init(&decoded, raw.len);
    if (!hub_json_plain(raw, &name)) {
        name = hub_json_decode(raw, &decoded) == HUB_OK ? hub_buf_str(&decoded) : HUB_STR_EMPTY;
    }
    hub_str tool = hub_session_find_tool(session, name);
    if (holds(tool, HUB_STR("x-mcp-header"), 1) || holds(tool, HUB_STR("\\u"), 0)) {
        err = hub_http_check_params(request, hub_json_get(tool, HUB_STR("inputSchema")),
                                    message->at[HUB_M_ARGUMENTS], NULL, reterr);
    }
    hub_buf_fini(&decoded);
    return err;
}

hub_err hub_http_check_headers(const hub_http_request *request, const hub_session *session,
                               const hub_message *message, hub_error *reterr)
{
    const hub_http_header *named = hub_http_known(request, HUB_HTTP_MCP_NAME);
    hub_str version = message->at[HUB_M_META_PROTOCOL_VERSION];
    hub_str date;
    if (version.len == 0) {
        return HUB_OK; /* the hub answers that it is missing */
    }
    hub_err err = check_header(hub_http_known(request, HUB_HTTP_MCP_PROTOCOL_VERSION),
                               "MCP-Protocol-Version", HUB_MCP_PLAIN, version, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (!hub_json_plain(version, &date) || hub_revision_parse(date) < HUB_REVISION_2026_07_28) {
        return HUB_OK; /* … or that it is not served: nobody knows what else it wants */
    }
    /* The method has no escapes: message.h. */
    err = check_header(hub_http_known(request, HUB_HTTP_MCP_METHOD), "Mcp-Method", HUB_MCP_PLAIN,
                       message->at[HUB_M_METHOD], reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (hub_str_is(message->method, "resources/read")) {
        return check_header(named, "Mcp-Name", HUB_MCP_BASE64, message->at[HUB_M_URI], reterr);
    }
    if (hub_str_is(message->method, "tasks/get") || hub_str_is(message->method, "tasks/update") ||
        hub_str_is(message->method, "tasks/cancel")) {
        return check_header(named, "Mcp-Name", HUB_MCP_BASE64, message->at[HUB_M_TASK_ID], reterr);
    }
    bool is_call = hub_str_is(message->method, "tools/call");
    if (is_call || hub_str_is(message->method, "prompts/get")) {
        err = check_header(named, "Mcp-Name", HUB_MCP_BASE64, message->at[HUB_M_NAME], reterr);
    }
    return err == HUB_OK && is_call ? check_arguments(request, session, message, reterr) : err;
}
