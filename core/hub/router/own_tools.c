/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/own_tools.h"

#include "hub/access/access.h"
#include "hub/admin/act.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/way.h"
#include "hub/router/meta_tools.h"

static void refuse(const hub_request *request, const char *why)
{
    hub_respond_error(request, HUB_RPC_INVALID_PARAMS, hub_str_of(why), HUB_STR_EMPTY);
}

/* Make the request a call of the tool. The catalog is there until the tool has been entered; what it does
 * later it does with what it has kept. */
static void call(const hub_request *request, const hub_item *item)
{
    const hub_message *message = request->message;
    hub_call *call = hub_request_begin(request);
    if (call == NULL) {
        return;
    }
    hub_call_set_of_tool(call, true, !item->has_output_schema);
    hub_way way = {.toolset = hub_meta_toolset(hub_session_hub(request->session)),
                   .item = item,
                   .name = item->name,
                   .name_json = message->at[HUB_M_NAME],
                   .arguments = message->at[HUB_M_ARGUMENTS],
                   .message = message};
    hub_call_send(call, &way);
}

void hub_own_tools_respond(const hub_request *request)
{
    const hub_orchestrator *hub = hub_session_hub(request->session);
    const hub_profile_settings *own =
        hub_profile_settings_of(hub_session_profile(request->session));
    hub_catalog *catalog = NULL;
    hub_str name;
    if (!hub_session_acts(request->session)) {
        hub_respond_error(request, HUB_RPC_METHOD_NOT_FOUND,
                          HUB_STR("Method not found: " HUB_ACT_OWN_TOOL), HUB_STR_EMPTY);
        return;
    }
    if (!hub_json_plain(request->message->at[HUB_M_NAME], &name) ||
        hub_meta_catalog(~0U, own->startup == HUB_STARTUP_STATIC, &catalog) != HUB_OK) {
        refuse(request, "out of memory");
        return;
    }
    const hub_item *item = hub_catalog_find(catalog, name);
    if (item == NULL) {
        refuse(request, "this profile starts static: its toolsets are those of the manifest");
    } else if (!hub_access_shows_tool(request->session, hub_meta_toolset(hub), name)) {
        refuse(request, "a rule hides this tool of the hub's own from you");
    } else {
        call(request, item);
    }
    hub_catalog_unref(catalog);
}
