/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/profile.h"

#include "hub/kernel/objects.h"

#include <stdlib.h>

hub_err hub_profile_make(hub_orchestrator *hub, const hub_profile_settings *own,
                         hub_exposure *exposure, hub_profile **ret_profile)
{
    hub_profile *profile = calloc(1, sizeof *profile + hub_stations_bytes(HUB_PART_PROFILE));
    if (profile == NULL) {
        return HUB_ENOMEM;
    }
    profile->magic = HUB_MAGIC_PROFILE;
    profile->hub = hub;
    profile->settings = own;
    profile->exposure = exposure;
    hub_err err = HUB_OK;
    for (size_t row = 0; err == HUB_OK && row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        err = station->profile_begins != NULL ? station->profile_begins(profile) : HUB_OK;
    }
    if (err != HUB_OK) {
        HUB_STATIONS_TELL_BACK(profile_ends, profile);
        free(profile);
        return err;
    }
    *ret_profile = profile;
    return HUB_OK;
}

void hub_profile_end(hub_profile *profile)
{
    hub_assert(profile->sessions == NULL);
    if (profile->exposure != NULL) {
        HUB_STATIONS_TELL_BACK(profile_ends, profile);
        hub_exposure_destroy(profile->exposure);
        profile->exposure = NULL;
    }
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

hub_exposure *hub_profile_exposure(const hub_profile *profile)
{
    return profile->exposure;
}

bool hub_profile_has(const hub_profile *profile, const hub_toolset *toolset)
{
    return profile->exposure != NULL &&
           hub_exposure_source(profile->exposure, hub_str_of(toolset->key)) != NULL;
}

void *hub_profile_part(const hub_profile *profile, const hub_station *station)
{
    return (char *)(uintptr_t)profile->parts + station->place->offset[HUB_PART_PROFILE];
}

void hub_profile_take(hub_profile *profile, const hub_profile_settings *own,
                      const hub_settings *old)
{
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
    hub_orchestrator *hub = profile->hub;
    size_t at = 0;
    if (!profile->is_leaving || profile->sessions != NULL) {
        return;
    }
    while (hub->profiles[at] != profile) {
        at++;
    }
    hub->profile_count--;
    memmove(&hub->profiles[at], &hub->profiles[at + 1],
            (hub->profile_count - at) * sizeof(hub_profile *));
    hub_profile_free(profile);
}
