/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/profile.h"

#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/objects.h"

#include <stdlib.h>

hub_err hub_profile_make(hub_orchestrator *hub, const hub_profile_settings *own,
                         hub_exposure *exposure, hub_profile **ret_profile)
{
    HUB_IS(hub, HUB);
    hub_assert(own != NULL && exposure != NULL);
    hub_profile *profile = calloc(1, sizeof *profile + hub_stations_bytes(HUB_PART_PROFILE));
    if (profile == NULL) {
        return HUB_ENOMEM;
    }
    profile->magic = HUB_MAGIC_PROFILE;
    profile->hub = hub;
    profile->settings = own;
    hub_err err = hub_audience_make_own(profile, exposure);
    if (err != HUB_OK) {
        free(profile);
        return err;
    }
    *ret_profile = profile;
    return HUB_OK;
}

void hub_profile_end(hub_profile *profile)
{
    HUB_IS(profile, PROFILE);
    hub_assert(profile->sessions == NULL);
    hub_audiences_end(profile);
}

void hub_profile_free(hub_profile *profile)
{
    if (profile != NULL) {
        HUB_IS(profile, PROFILE);
        hub_profile_end(profile);
        hub_settings_unref(profile->held);
        profile->magic = 0;
        free(profile);
    }
}

hub_orchestrator *hub_profile_hub(const hub_profile *profile)
{
    return profile->hub;
}

const char *hub_profile_name(const hub_profile *profile)
{
    return profile->settings->name;
}

const hub_profile_settings *hub_profile_settings_of(const hub_profile *profile)
{
    return profile->settings;
}

bool hub_profile_is_leaving(const hub_profile *profile)
{
    return profile->is_leaving;
}

hub_err hub_profile_admits(const hub_profile *profile, hub_str key, size_t active,
                           hub_error *reterr)
{
    const hub_policy_rules *both[] = {&hub_settings_of(profile->hub)->policy,
                                      &hub_profile_settings_of(profile)->policy};
    hub_err err = hub_policy_admit_toolset(both[0], key, active, reterr);
    return err == HUB_OK ? hub_policy_admit_toolset(both[1], key, active, reterr) : err;
}

hub_exposure *hub_profile_exposure(const hub_profile *profile)
{
    return profile->audiences != NULL ? profile->audiences->exposure : NULL;
}

void hub_profile_take(hub_profile *profile, const hub_profile_settings *own,
                      const hub_settings *old)
{
    HUB_IS(profile, PROFILE);
    hub_assert(own != NULL || old != NULL);
    hub_assert(profile->is_leaving == (profile->held != NULL));
    bool was_leaving = profile->is_leaving;
    profile->is_leaving = own == NULL;
    if (own != NULL) {
        profile->settings = own;
    }
    if (profile->is_leaving && !was_leaving) {
        profile->held = hub_settings_ref(old);
    } else if (!profile->is_leaving && was_leaving) {
        hub_settings_unref(profile->held);
        profile->held = NULL;
    }
}

hub_session *hub_profile_sessions(const hub_profile *profile)
{
    return profile->sessions;
}

void hub_profile_session_ended(hub_profile *profile)
{
    HUB_IS(profile, PROFILE);
    hub_orchestrator *hub = profile->hub;
    size_t at = 0;
    if (!profile->is_leaving || profile->sessions != NULL) {
        return;
    }
    while (hub->profiles[at] != profile) {
        at++;
        hub_assert(at < hub->profile_count);
    }
    hub->profile_count--;
    memmove(&hub->profiles[at], &hub->profiles[at + 1],
            (hub->profile_count - at) * sizeof(hub_profile *));
    hub_profile_free(profile);
}
