/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/active/lists.h"

#include "base/log.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/notices/notifier.h"

void hub_active_take_list(hub_toolset *toolset, hub_kind kind)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    if (hub_find_toolset(hub, key) != toolset) {
        return; /* a session's own instance of it, or one of a reload that is not done yet */
    }
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        const hub_profile *profile = hub_profile_at(hub, i);
        const hub_exposure *exposure = hub_profile_exposure(profile);
        hub_base *base = exposure != NULL ? hub_exposure_base(exposure) : NULL;
        hub_error why = {.code = HUB_OK};
        if (base == NULL || !hub_base_has(base, key)) {
            continue;
        }
        hub_err err = hub_base_update(base, key, kind, hub_toolset_list(toolset, kind), &why);
        if (err != HUB_OK) {
            hub_log(HUB_LOG_ERROR, "tools.update_failed", HUB_F_STR("toolset", key),
                    HUB_F_TEXT("reason", why.text));
            continue;
        }
        for (const hub_audience *at = hub_profile_audience(profile); at != NULL;
             at = hub_audience_next(at)) {
            hub_notifier_look(hub_notifier_of(at));
        }
    }
}

void hub_active_take_lists(hub_toolset *toolset)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_active_take_list(toolset, (hub_kind)kind);
    }
}
