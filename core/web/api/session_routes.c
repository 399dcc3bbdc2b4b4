/* SPDX-License-Identifier: Apache-2.0 */
/* How a browser gets a session, and ends it. */
#include "base/limits.h"
#include "base/log.h"
#include "hub/kernel/hub.h"
#include "web/api/route.h"
#include "web/api/sessions.h"

#include <string.h>

/* Where the dashboard is, for who runs a browser on this machine. NULL: no listener serves it. */
static const hub_listen_settings *find_listener(const hub_settings *settings)
{
    const hub_listen_settings *found = NULL;
    for (size_t i = 0; i < settings->listen_count; i++) {
        const hub_listen_settings *listen = &settings->listens[i];
        if (listen->kind == HUB_LISTEN_HTTP && listen->ui && (found == NULL || found->port == 0)) {
            found = listen;
        }
    }
    return found;
}

static void add_url(const hub_listen_settings *listen, const char *code, hub_buf *out)
{
    const char *host = listen->tls.certificate != NULL && listen->hosts.count > 0
                           ? listen->hosts.items[0]
                       : strcmp(listen->address, "0.0.0.0") == 0 ? "127.0.0.1"
                       : strcmp(listen->address, "::") == 0      ? "::1"
                                                                 : listen->address;
    bool is_v6 = strchr(host, ':') != NULL;
    hub_buf url;
    hub_buf_init(&url, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&url, "%s://%s%s%s:%u/ui/#code=%s",
                   listen->tls.certificate != NULL ? "https" : "http", is_v6 ? "[" : "", host,
                   is_v6 ? "]" : "", listen->port, code);
    hub_json_add_key(out, HUB_STR("url"));
    hub_json_add_string(out, hub_buf_str(&url));
    hub_buf_fini(&url);
}

static void serve_invite(hub_api_asked *asked)
{
    char code[HUB_API_SECRET_BYTES];
    const hub_listen_settings *listen = find_listener(hub_settings_of(asked->hub));
    if (listen == NULL) {
        hub_api_fail(asked->exchange, 409, "conflict",
                     "no listener serves the dashboard: say `ui: true` for one under `listen`");
        return;
    }
    hub_err err = hub_api_sessions_invite(hub_api_sessions_of(asked->api), asked->identity,
                                          asked->is_operator, code);
    if (err != HUB_OK) {
        hub_api_fail_with(asked->exchange, &(hub_error){.code = err});
        return;
    }
    hub_log(HUB_LOG_INFO, "ui.invited", HUB_F_TEXT("by", asked->identity->name));
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&out, "{\"code\":\"%s\",\"seconds\":%d", code, HUB_API_CODE_SECONDS);
    if (listen->port != 0) {
        add_url(listen, code, &out);
    }
    hub_buf_add_char(&out, '}');
    hub_api_answer(asked->exchange, 200, &out);
}

static void serve_logout(hub_api_asked *asked)
{
    hub_buf out;
    bool was = hub_api_sessions_close(hub_api_sessions_of(asked->api), asked->identity);
    if (was) {
        hub_log(HUB_LOG_INFO, "ui.ended", HUB_F_TEXT("by", asked->identity->name));
        hub_api_end_looks(asked->api, asked->identity);
    }
    hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&out, "{\"ended\":%s}", was ? "true" : "false");
    hub_api_answer(asked->exchange, 200, &out);
}

const hub_api_route HUB_API_SESSION_ROUTES[] = {
    {.method = "POST",
     .path = "/invite",
     .scope = HUB_API_CALLER,
     .summary = "A link to the dashboard for the caller, which is good once and for a minute.",
     .body = HUB_API_NO_MEMBERS,
     .handle = serve_invite},
    {.method = "POST",
     .path = "/logout",
     .scope = HUB_API_CALLER,
     .summary = "End the caller's session of the dashboard, if it is one.",
     .body = HUB_API_NO_MEMBERS,
     .handle = serve_logout},
    {.method = NULL},
};
