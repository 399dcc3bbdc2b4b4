/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/active/release.h"

#include "base/cause.h"
#include "base/log.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
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

void hub_release_toolset(const hub_audience *audience, hub_toolset *toolset)
{
    if (hub_toolset_users(toolset) > 1) { /* else all calls fail */
        fail_calls(audience, toolset);
    }
    hub_toolset_unuse(toolset);
}

static void unuse_before(const hub_exposure *exposure, size_t end)
{
    size_t count;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    for (size_t i = 0; i < count && i < end; i++) {
        if (!sources[i]->bare) {
            hub_toolset_unuse(sources[i]->owner);
        }
    }
}

void hub_release_all(const hub_audience *audience)
{
    unuse_before(hub_audience_exposure(audience), SIZE_MAX);
}

/* Use the toolsets from that place on, until one cannot be used: the place of that one, or behind
 * all of them. */
static size_t use_from(const hub_exposure *exposure, size_t at)
{
    size_t count;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    for (; at < count; at++) {
        hub_error why = {.code = HUB_OK};
        hub_toolset *toolset = sources[at]->owner;
        if (!sources[at]->bare && hub_toolset_use(toolset, &why) != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "toolset.skipped",
                    HUB_F_TEXT("toolset", hub_toolset_key(toolset)), HUB_F_TEXT("reason", why.text),
                    HUB_F_BY);
            break;
        }
    }
    return at;
}

bool hub_release_undo(const hub_audience *audience)
{
    hub_exposure *exposure = hub_audience_exposure(audience);
    size_t count;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    for (size_t at = use_from(exposure, 0); at < count; at = use_from(exposure, at)) {
        hub_str key = hub_str_of(hub_toolset_key(sources[at]->owner));
        if (hub_exposure_remove(exposure, &key, 1, NULL) != HUB_OK) {
            unuse_before(exposure, at);
            return false;
        }
        sources = hub_exposure_sources(exposure, &count);
    }
    return true;
}
