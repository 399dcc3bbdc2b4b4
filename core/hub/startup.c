/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/startup.h"

#include "base/log.h"
#include "hub/hub.h"

static bool start_or_log(hub_profile *profile, hub_str key)
{
    hub_error why = {.code = HUB_OK};
    if (hub_manager_activate(profile->manager, key, &why) == HUB_OK) {
        return true;
    }
    hub_log(HUB_LOG_WARNING, "toolset.skipped", HUB_F_STR("toolset", key),
            HUB_F_TEXT("reason", why.text));
    return false;
}

static bool is_all(const hub_names *names)
{
    return names->count == 1 && strcmp(names->items[0], "ALL") == 0;
}

static bool is_listed(const hub_names *names, const char *key)
{
    for (size_t i = 0; i < names->count; i++) {
        if (hub_str_is(hub_str_trim(hub_str_of(names->items[i])), key)) {
            return true;
        }
    }
    return false;
}

/* Whether a toolset is active from the beginning. */
static bool is_wanted(const hub_profile_settings *profile, const hub_toolset_settings *toolset)
{
    switch (profile->startup) {
    case HUB_STARTUP_DEFAULT:
        return toolset->enabled && toolset->active;
    case HUB_STARTUP_STATIC:
        return is_all(&profile->toolsets) ? toolset->enabled
                                          : is_listed(&profile->toolsets, toolset->key);
    case HUB_STARTUP_DYNAMIC:
        break;
    }
    return false;
}

static size_t start_wanted(hub_profile *profile)
{
    const hub_orchestrator *hub = profile->hub;
    size_t started = 0;
    for (size_t i = 0; i < hub->toolset_count; i++) {
        const hub_toolset_settings *settings = hub->toolsets[i]->settings;
        if (is_wanted(profile->settings, settings)) {
            started += start_or_log(profile, hub_str_of(settings->key));
        }
    }
    return started;
}

/* In the order of the list; a name that nobody knows is logged like any other failure. */
static size_t start_listed(hub_profile *profile)
{
    const hub_names *names = &profile->settings->toolsets;
    size_t started = 0;
    for (size_t i = 0; i < names->count; i++) {
        started += start_or_log(profile, hub_str_trim(hub_str_of(names->items[i])));
    }
    return started;
}

hub_err hub_startup_run(hub_profile *profile, hub_error *reterr)
{
    const hub_profile_settings *settings = profile->settings;
    if (settings->startup == HUB_STARTUP_DYNAMIC && settings->toolsets.count > 0) {
        hub_log(HUB_LOG_WARNING, "startup.ignored", HUB_F_TEXT("profile", settings->name),
                HUB_F_TEXT("reason", "dynamic start-up ignores the listed toolsets"));
    }
    bool by_list = settings->startup == HUB_STARTUP_STATIC && !is_all(&settings->toolsets);
    size_t started = by_list ? start_listed(profile) : start_wanted(profile);
    if (settings->startup == HUB_STARTUP_STATIC && started == 0) {
        return hub_fail(reterr, HUB_EINVAL,
                        "profile \"%s\": static start-up needs at least one usable toolset",
                        settings->name);
    }
    hub_notifier_settle(profile->notifier);
    return HUB_OK;
}

void hub_startup_adopt(hub_profile *profile, hub_str toolset)
{
    const hub_toolset *found = hub_find_toolset(profile->hub, toolset);
    if (found != NULL && is_wanted(profile->settings, found->settings) &&
        start_or_log(profile, toolset)) {
        hub_notifier_changed(profile->notifier, true);
    }
}
