/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/kept_out.h"

#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"

#include <stdio.h>

hub_err hub_kept_out(const hub_profile *profile, hub_str key, hub_buf *why)
{
    char own[160];
    (void)snprintf(own, sizeof own, "profiles.%s.policy", hub_profile_name(profile));
    const struct {
        const hub_policy_rules *rules;
        const char *place;
    } both[] = {{&hub_settings_of(hub_profile_hub(profile))->policy, "policy"},
                {&hub_profile_settings_of(profile)->policy, own}};
    size_t active = hub_exposure_active_count(hub_profile_exposure(profile));
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        const hub_policy_rules *rules = both[i].rules;
        hub_err err = hub_policy_admit_toolset(rules, key, active, NULL);
        if (err == HUB_ELIMIT) {
            hub_buf_printf(why, "%s.max_active (%u) is reached", both[i].place, rules->max_active);
            return err;
        }
        if (err != HUB_OK) {
            bool is_denied = hub_names_have(&rules->deny, key);
            hub_buf_printf(why, "%s %s.%s", is_denied ? "denied by" : "not in", both[i].place,
                           is_denied ? "deny" : "allow");
            return err;
        }
    }
    return HUB_OK;
}
