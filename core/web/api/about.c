/* SPDX-License-Identifier: Apache-2.0 */
/* What the API is, and who asks it. */
#include "base/limits.h"
#include "web/api/route.h"

#include <string.h>

/* ---- the OpenAPI document -------------------------------------------------------------------- */

static const char *const SCOPES[] = {[HUB_API_CALLER] = "",
                                     [HUB_API_READ] = HUB_SCOPE_ADMIN_READ,
                                     [HUB_API_ADMIN] = HUB_SCOPE_ADMIN};

/* The parameters of the path and of the query. */
static void add_parameters(const hub_api_route *route, hub_buf *out)
{
    hub_json_add_key(out, HUB_STR("parameters"));
    hub_buf_add_char(out, '[');
    for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
        hub_str name = hub_str_between(at + 1, strchr(at, '}'));
        hub_json_add_comma(out);
        hub_buf_add(out, HUB_STR("{\"in\":\"path\",\"required\":true,"
                                 "\"schema\":{\"type\":\"string\",\"minLength\":1},\"name\":"));
        hub_json_add_string(out, name);
        hub_buf_add_char(out, '}');
    }
    for (const hub_api_param *at = route->params; at != NULL && at->name != NULL; at++) {
        hub_json_add_comma(out);
        hub_buf_printf(out, "{\"in\":\"query\",\"schema\":%s", at->schema);
        hub_json_add_member(out, "name", hub_str_of(at->name));
        hub_json_add_member(out, "description", hub_str_of(at->about));
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
}

static void add_responses(const hub_api_route *route, hub_buf *out)
{
    hub_buf_printf(out,
                   ",\"responses\":{\"200\":{\"description\":\"%s\",\"content\":{"
                   "\"application/json\":{\"schema\":{\"type\":\"object\"}}%s}},"
                   "\"default\":{\"$ref\":\"#/components/responses/failure\"}}",
                   "The answer.",
                   route->streams ? ",\"text/event-stream\":{\"schema\":{\"type\":\"string\"}}"
                                  : "");
}

/* An id that programs are made of: getToolsetsByKey. */
static void add_operation_id(const hub_api_route *route, hub_buf *out)
{
    bool is_begin = true;
    hub_buf_add(out, HUB_STR("\"operationId\":\""));
    for (const char *at = route->method; *at != '\0'; at++) {
        hub_buf_add_char(out, (char)(*at - 'A' + 'a'));
    }
    for (const char *at = route->path; *at != '\0'; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if (*at == '{') {
            hub_buf_add(out, HUB_STR("By"));
        } else if (is_letter) {
            hub_buf_add_char(out, is_begin && *at >= 'a' ? (char)(*at - 'a' + 'A') : *at);
        }
        is_begin = !is_letter;
    }
    hub_buf_add_char(out, '"');
}

static void add_operation(const hub_api_route *route, hub_buf *out)
{
    hub_json_add_comma(out);
    hub_buf_add_char(out, '"');
    for (const char *at = route->method; *at != '\0'; at++) {
        hub_buf_add_char(out, (char)(*at - 'A' + 'a'));
    }
    hub_buf_add(out, HUB_STR("\":{"));
    add_operation_id(route, out);
    hub_json_add_member(out, "summary", hub_str_of(route->summary));
    hub_json_add_member(out, "x-scope", hub_str_of(SCOPES[route->scope]));
    hub_buf_add(out, HUB_STR(",\"security\":[{\"bearer\":[]}]"));
    add_parameters(route, out);
    if (route->body != NULL) {
        hub_buf_printf(out,
                       ",\"requestBody\":{\"required\":true,\"content\":{\"application/json\":"
                       "{\"schema\":%s}}}",
                       route->body);
    }
    add_responses(route, out);
    hub_buf_add_char(out, '}');
}

/* Whether a route before this one has its path. */
static bool is_told(const hub_api_route *route)
{
    size_t group = 0;
    size_t at = 0;
    const hub_api_route *other;
    while ((other = hub_api_next_route(&group, &at)) != NULL && other != route) {
        if (strcmp(other->path, route->path) == 0) {
            return true;
        }
    }
    return false;
}

static void add_path(const hub_api_route *route, hub_buf *out)
{
    size_t group = 0;
    size_t at = 0;
    const hub_api_route *other;
    hub_json_add_key(out, hub_str_of(route->path));
    hub_buf_add_char(out, '{');
    while ((other = hub_api_next_route(&group, &at)) != NULL) {
        if (strcmp(other->path, route->path) == 0) {
            add_operation(other, out);
        }
    }
    hub_buf_add_char(out, '}');
}

static void serve_openapi(hub_api_asked *asked)
{
    size_t group = 0;
    size_t at = 0;
    const hub_api_route *route;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&out,
                   "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Patchbay\",\"version\":\"%s\","
                   "\"summary\":\"Administration of a running hub.\","
                   "\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},"
                   "\"servers\":[{\"url\":\"" HUB_API_PREFIX "\"}],\"paths\":{",
                   PATCHBAY_VERSION);
    while ((route = hub_api_next_route(&group, &at)) != NULL) {
        if (!is_told(route)) {
            add_path(route, &out);
        }
    }
    hub_buf_add(
        &out,
        HUB_STR("},\"components\":{\"securitySchemes\":{\"bearer\":{\"type\":\"http\","
                "\"scheme\":\"bearer\"}},\"responses\":{\"failure\":{\"description\":\"Why it "
                "cannot be.\",\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\","
                "\"required\":[\"error\"],\"properties\":{\"error\":{\"type\":\"object\","
                "\"required\":[\"code\",\"message\"],\"properties\":{\"code\":{\"type\":"
                "\"string\"},\"message\":{\"type\":\"string\"}}}}}}}}}}}"));
    hub_api_answer(asked->exchange, 200, &out);
}

/* ---- who asks -------------------------------------------------------------------------------- */

static void serve_me(hub_api_asked *asked)
{
    static const char *const RIGHTS[] = {
        [HUB_API_CALLER] = "own", [HUB_API_READ] = "read", [HUB_API_ADMIN] = "admin"};
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add_char(&out, '{');
    hub_json_add_member(&out, "principal", hub_str_of(asked->identity->name));
    hub_json_add_member(&out, "right", hub_str_of(RIGHTS[asked->right]));
    hub_names_add(&asked->identity->scopes, "scopes", &out);
    hub_names_add(&asked->identity->groups, "groups", &out);
    if (asked->identity->expires != 0) {
        hub_json_add_key(&out, HUB_STR("expires"));
        hub_buf_add_u64(&out, (uint64_t)asked->identity->expires);
    }
    hub_buf_add_char(&out, '}');
    hub_api_answer(asked->exchange, 200, &out);
}

const hub_api_route HUB_API_ABOUT_ROUTES[] = {
    {.method = "GET",
     .path = "/openapi.json",
     .scope = HUB_API_CALLER,
     .summary = "This document.",
     .handle = serve_openapi},
    {.method = "GET",
     .path = "/me",
     .scope = HUB_API_CALLER,
     .summary = "The caller, and the scopes of its credential.",
     .handle = serve_me},
    {.method = NULL},
};
