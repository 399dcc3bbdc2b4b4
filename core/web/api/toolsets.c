/* SPDX-License-Identifier: Apache-2.0 */
/* One toolset: what it is, and what can be done with it. */
#include "base/limits.h"
#include "base/log.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/pins/pins.h"
#include "hub/report/describe.h"
#include "hub/report/left_out.h"
#include "hub/report/refused_plugin.h"
#include "hub/report/status.h"
#include "modules/process.h"
#include "web/api/route.h"

hub_toolset *hub_api_find_toolset(const hub_api_asked *asked)
{
    hub_toolset *toolset = hub_find_toolset(asked->hub, asked->named[0]);
    bool may = toolset != NULL;
    if (may && asked->right < HUB_API_READ) {
        hub_session *session = hub_api_look(asked);
        if (session == NULL) {
            return NULL;
        }
        may = hub_exposure_may_tell_of(hub_session_exposure(session), asked->named[0]);
        hub_session_close(session);
    }
    if (!may) {
        hub_api_fail(asked->exchange, 404, "not_found", "there is no toolset \"" HUB_STR_FMT "\"",
                     HUB_STR_ARG(asked->named[0]));
    }
    return may ? toolset : NULL;
}

static void add_trouble(const hub_toolset *toolset, bool is_active, hub_buf *out)
{
    hub_buf why;
    hub_buf_init(&why, HUB_LIMIT_REASON_BYTES);
    if (hub_describe_trouble(toolset, is_active, &why) != NULL && why.len > 0) {
        hub_json_add_member(out, "reason", hub_buf_str(&why));
    }
    hub_buf_fini(&why);
}

/* The last lines of it, without secrets. */
static void add_stderr(const hub_toolset *toolset, hub_buf *out)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_str tail = hub_process_tail_of(hub_processes_of(hub_toolset_hub(toolset)),
                                       hub_str_of(hub_toolset_key(toolset)));
    hub_json_add_member(out, "stderr", hub_respond_mask(tail, &masked));
    hub_buf_fini(&masked);
}

static void serve_toolset(hub_api_asked *asked)
{
    const hub_toolset *toolset = hub_api_find_toolset(asked);
    if (toolset == NULL) {
        return;
    }
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    bool is_active = hub_toolset_users(toolset) > 0;
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add_char(&out, '{');
    hub_json_add_member(&out, "key", hub_str_of(settings->key));
    hub_json_add_member(&out, "module", hub_str_of(settings->module));
    hub_json_add_member(&out, "source",
                        hub_str_of(settings->source != NULL ? settings->source : ""));
    hub_json_add_member(&out, "origin",
                        hub_str_of(settings->origin != NULL ? settings->origin : ""));
    hub_json_add_member(&out, "description", hub_describe_purpose(toolset));
    hub_buf_printf(&out, ",\"active\":%s", is_active ? "true" : "false");
    add_trouble(toolset, is_active, &out);
    hub_json_add_key(&out, HUB_STR("status"));
    hub_status_add_toolset(NULL, toolset, &out);
    hub_pins_add_withheld(toolset, NULL, &out);
    hub_left_out_add(toolset, NULL, HUB_CATALOG_KEPT, &out);
    hub_refused_plugin_add(toolset, &out);
    hub_pins_add_suspects(toolset, &out);
    add_stderr(toolset, &out);
    hub_buf_add_char(&out, '}');
    hub_api_answer(asked->exchange, 200, &out);
}

/* ---- what can be done ------------------------------------------------------------------------ */

static void change(hub_api_asked *asked, const char *tool)
{
    hub_buf arguments;
    if (hub_api_find_toolset(asked) == NULL) {
        return;
    }
    hub_buf_init(&arguments, asked->named[0].len * 6 + 64);
    hub_buf_add(&arguments, HUB_STR("{\"toolset\":"));
    hub_json_add_string(&arguments, asked->named[0]);
    hub_buf_add_char(&arguments, '}');
    hub_api_call_own(asked, tool, hub_buf_str(&arguments));
    hub_buf_fini(&arguments);
}

static void serve_enable(hub_api_asked *asked)
{
    change(asked, "enable_toolset");
}

static void serve_disable(hub_api_asked *asked)
{
    change(asked, "disable_toolset");
}

static void serve_restart(hub_api_asked *asked)
{
    hub_error why = {.code = HUB_OK};
    hub_toolset *toolset = hub_api_find_toolset(asked);
    if (toolset == NULL) {
        return;
    }
    if (hub_toolset_binding(toolset) != NULL && hub_toolset_rebind(toolset, &why) != HUB_OK) {
        hub_api_fail_with(asked->exchange, &why);
        return;
    }
    hub_log(HUB_LOG_INFO, "toolset.restarted", HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
            HUB_F_TEXT("by", asked->identity->name));
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add_char(&out, '{');
    hub_json_add_member(&out, "toolset", asked->named[0]);
    hub_json_add_member(&out, "state",
                        hub_str_of(hub_status_state(toolset, hub_toolset_users(toolset) > 0)));
    hub_buf_add_char(&out, '}');
    hub_api_answer(asked->exchange, 200, &out);
}

const hub_api_route HUB_API_TOOLSET_ROUTES[] = {
    {.method = "GET",
     .path = "/toolsets/{key}",
     .scope = HUB_API_READ,
     .summary =
         "A toolset: its state and why, its plugin, what it has done, the end of its stderr.",
     .handle = serve_toolset},
    {.method = "POST",
     .path = "/toolsets/{key}/enable",
     .scope = HUB_API_CALLER,
     .summary = "Enable a toolset for the caller, as enable_toolset does.",
     .body = HUB_API_NO_MEMBERS,
     .handle = serve_enable},
    {.method = "POST",
     .path = "/toolsets/{key}/disable",
     .scope = HUB_API_CALLER,
     .summary = "Disable a toolset for the caller, as disable_toolset does.",
     .body = HUB_API_NO_MEMBERS,
     .handle = serve_disable},
    {.method = "POST",
     .path = "/toolsets/{key}/restart",
     .scope = HUB_API_ADMIN,
     .summary = "Restart the server of a toolset, if it is in use; calls in flight end with the "
                "old one.",
     .body = HUB_API_NO_MEMBERS,
     .handle = serve_restart},
    {.method = NULL},
};
