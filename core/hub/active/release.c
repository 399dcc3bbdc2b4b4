/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/active/release.h"

#include "base/log.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"

static hub_call *find_call(const hub_session *session, const hub_toolset *toolset)
{
    hub_call *call = hub_session_calls(session);
    while (call != NULL && hub_call_toolset(call) != toolset) {
        call = hub_call_next_of_session(call);
    }
    return call;
}

/* Failing a call may end others: they are looked for again each time. */
static void fail_calls(const hub_audience *audience, const hub_toolset *toolset)
{
    for (const hub_session *session = hub_audience_sessions(audience); session != NULL;
         session = hub_session_next_of_audience(session)) {
        hub_call *call;
        while ((call = find_call(session, toolset)) != NULL) {
            hub_call_abort(call, PATCHBAY_UNAVAILABLE, HUB_STR("the toolset was disabled"));
        }
    }
}

/* Whether somebody is connected who sees it. */
static bool is_seen(const hub_toolset *toolset)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            if (hub_audience_sessions(at) != NULL && hub_audience_has(at, toolset)) {
                return true;
            }
        }
    }
    return false;
}

/* Stop its server: it gets another instance, which starts it when somebody needs it. */
static void rest(hub_toolset *toolset)
{
    hub_error why = {.code = HUB_OK};
    if (hub_toolset_rebind(toolset, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "toolset.rebind_failed",
                HUB_F_TEXT("toolset", hub_toolset_key(toolset)), HUB_F_TEXT("reason", why.text));
    }
}

void hub_release_toolset(const hub_audience *audience, hub_toolset *toolset)
{
    bool is_last = hub_toolset_users(toolset) == 1;
    if (!is_last) {
        fail_calls(audience, toolset);
    }
    hub_toolset_unuse(toolset);
    if (!is_last && hub_toolset_binding(toolset) != NULL && !hub_toolset_is_native(toolset) &&
        !is_seen(toolset)) {
        rest(toolset);
    }
}
