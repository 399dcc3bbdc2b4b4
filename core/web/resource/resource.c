/* SPDX-License-Identifier: Apache-2.0 */
#include "web/resource/resource.h"

#include "base/buf.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/settings.h"
#include "wire/json.h"

/* Whether there can be an endpoint: which profiles there are, nobody learns here. */
static bool is_endpoint(hub_str path)
{
    static const char *const ENDPOINTS[] = {"mcp", "ws", "sse"};
    size_t len = hub_str_find(path, HUB_STR("/"));
    hub_str first = {.ptr = path.ptr, .len = len == SIZE_MAX ? path.len : len};
    hub_str rest = hub_str_from(path, len == SIZE_MAX ? path.len : len + 1);
    for (size_t i = 0; i < sizeof ENDPOINTS / sizeof ENDPOINTS[0]; i++) {
        if (hub_str_is(first, ENDPOINTS[i])) {
            return len == SIZE_MAX ||
                   (rest.len > 0 && hub_str_find(rest, HUB_STR("/")) == SIZE_MAX);
        }
    }
    return path.len == 0;
}

static bool is_among(hub_str name, const hub_auth_settings *auth, size_t before)
{
    for (size_t i = 0; i < before; i++) {
        if (hub_names_have(&auth->issuers[i].scopes, name)) {
            return true;
        }
    }
    return false;
}

static void add_scopes(hub_buf *body, const hub_auth_settings *auth)
{
    size_t count = 0;
    for (size_t i = 0; i < auth->issuer_count; i++) {
        const hub_names *scopes = &auth->issuers[i].scopes;
        for (size_t k = 0; k < scopes->count; k++) {
            hub_str scope = hub_str_of(scopes->items[k]);
            if (!is_among(scope, auth, i)) {
                hub_buf_add(body, count++ == 0 ? HUB_STR(",\"scopes_supported\":[") : HUB_STR(","));
                hub_json_add_string(body, scope);
            }
        }
    }
    hub_buf_add(body, count > 0 ? HUB_STR("]") : HUB_STR_EMPTY);
}

static void write_metadata(hub_buf *body, const hub_web_request *request,
                           const hub_auth_settings *auth)
{
    hub_buf resource;
    hub_buf_init(&resource, SIZE_MAX / 4);
    hub_buf_add(&resource, request->is_secure ? HUB_STR("https://") : HUB_STR("http://"));
    hub_buf_add(&resource, request->host);
    if (request->rest.len > 0) {
        hub_buf_add_char(&resource, '/');
        hub_buf_add(&resource, request->rest);
    }
    hub_buf_add(body, HUB_STR("{\"resource\":"));
    hub_json_add_string(body, hub_buf_str(&resource));
    hub_buf_add(body, HUB_STR(",\"authorization_servers\":["));
    for (size_t i = 0; i < auth->issuer_count; i++) {
        hub_buf_add(body, i > 0 ? HUB_STR(",") : HUB_STR_EMPTY);
        hub_json_add_string(body, hub_str_of(auth->issuers[i].jwt.issuer));
    }
    hub_buf_add(body, HUB_STR("],\"bearer_methods_supported\":[\"header\"]"));
    add_scopes(body, auth);
    hub_buf_add_char(body, '}');
    if (!hub_buf_ok(&resource)) {
        body->failed = resource.failed;
    }
    hub_buf_fini(&resource);
}

static void serve(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    const hub_orchestrator *hub = instance;
    const hub_auth_settings *auth = &hub_settings_of(hub)->auth;
    hub_buf body;
    int status = 200;
    hub_buf_init(&body, SIZE_MAX / 4);
    if (auth->issuer_count == 0 || !is_endpoint(request->rest)) {
        status = 404;
        hub_buf_add(&body, HUB_STR("{\"error\":\"no tokens of others are taken here\"}"));
    } else {
        write_metadata(&body, request, auth);
    }
    hub_str text = hub_buf_str(&body);
    bool is_good = hub_buf_ok(&body);
    const hub_web_header fresh = {HUB_STR("Cache-Control"), HUB_STR("no-cache")};
    (void)hub_web_answer_with(/* whoever asks will ask again */
                              exchange, &(hub_web_answer){.status = is_good ? status : 503,
                                                          .type = "application/json",
                                                          .headers = &fresh,
                                                          .header_count = 1,
                                                          .parts = &text,
                                                          .count = is_good});
    hub_buf_fini(&body);
}

static const hub_web_row ROWS[] = {
    {.method = "GET",
     .path = "/.well-known/oauth-protected-resource",
     .need = HUB_WEB_OPEN,
     .handle = serve},
    {.method = "GET",
     .path = "/.well-known/oauth-protected-resource/*",
     .need = HUB_WEB_OPEN,
     .handle = serve},
};

const hub_web_face HUB_WEB_RESOURCE = {
    .name = "resource", .rows = ROWS, .count = sizeof ROWS / sizeof ROWS[0]};
