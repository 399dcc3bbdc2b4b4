/* SPDX-License-Identifier: Apache-2.0 */
#include "http/cors.h"

#define ALLOWED                                                                                    \
    "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, "       \
    "Mcp-Name, Mcp-Session-Id"

size_t hub_http_cors_headers(hub_str origin, hub_http_header ret_headers[HUB_HTTP_CORS_HEADERS])
{
    ret_headers[0] = (hub_http_header){HUB_STR("Access-Control-Allow-Origin"), origin};
    ret_headers[1] = (hub_http_header){HUB_STR("Access-Control-Expose-Headers"),
                                       HUB_STR("Mcp-Session-Id, WWW-Authenticate, Retry-After")};
    ret_headers[2] = (hub_http_header){HUB_STR("Vary"), HUB_STR("Origin")};
    return HUB_HTTP_CORS_HEADERS;
}

bool hub_http_is_preflight(const hub_http_request *request)
{
    return hub_str_is(request->method, "OPTIONS") &&
           hub_http_known(request, HUB_HTTP_ORIGIN) != NULL &&
           hub_http_find_header(request, HUB_STR("access-control-request-method"), NULL) != NULL;
}

static bool is_parameter(hub_str name)
{
    hub_str prefix = HUB_STR("mcp-param-");
    return name.len > prefix.len && hub_http_is_token(name) &&
           hub_str_eq_nocase((hub_str){.ptr = name.ptr, .len = prefix.len}, prefix);
}

hub_err hub_http_cors_allow_headers(const hub_http_request *request, hub_buf *out)
{
    const hub_http_header *asked = NULL;
    hub_buf_add(out, HUB_STR(ALLOWED));
    while ((asked = hub_http_find_header(request, HUB_STR("access-control-request-headers"),
                                         asked)) != NULL) {
        hub_str rest = asked->value;
        hub_str name;
        while (hub_http_next_element(&rest, &name)) {
            if (is_parameter(name)) {
                hub_buf_add(out, HUB_STR(", "));
                hub_buf_add(out, name);
            }
        }
    }
    return out->failed;
}
