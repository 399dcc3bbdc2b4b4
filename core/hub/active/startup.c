/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/active/startup.h"

#include "base/cause.h"
#include "base/log.h"
#include "base/name_list.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/notifier.h"
#include "hub/report/misnamed.h"

#include <stdlib.h>

typedef struct starting {
    const hub_orchestrator *hub;
    size_t started;
} starting;

static void log_skipped(void *ctx, const hub_manager_result *results, size_t count)
{
    starting *all = ctx;
    for (size_t i = 0; i < count; i++) {
        if (results[i].err == HUB_OK) {
            all->started++;
            continue;
        }
        const hub_toolset *toolset = hub_find_toolset(all->hub, results[i].toolset);
        hub_log(
            HUB_LOG_WARNING, "toolset.skipped", HUB_F_STR("toolset", results[i].toolset),
            HUB_F_TEXT("reason", results[i].why.text),
            HUB_F_TEXT("source", toolset != NULL ? hub_toolset_settings_of(toolset)->source : ""),
            HUB_F_BY);
    }
}

/* Make toolsets active; how many could be goes to *ret_started. */
static hub_err start(hub_profile *profile, const hub_str *keys, size_t count, size_t *ret_started,
                     hub_error *reterr)
{
    starting all = {.hub = hub_profile_hub(profile)};
    hub_err err = hub_manager_activate(hub_manager_of(hub_profile_audience(profile)), keys, count,
                                       log_skipped, &all, reterr);
    *ret_started = all.started;
    return err;
}

/* The keys of all toolsets that are active from the beginning; the caller frees them. */
static hub_str *list_wanted(const hub_profile *profile, size_t *ret_count)
{
    const hub_orchestrator *hub = hub_profile_hub(profile);
    const hub_names *names = &hub_profile_settings_of(profile)->toolsets;
    bool by_list = hub_profile_settings_have_list(hub_profile_settings_of(profile));
    hub_str *keys = calloc(hub_toolset_total(hub) + names->count + 1, sizeof *keys);
    size_t count = 0;
    if (keys == NULL) {
        return NULL;
    }
    for (size_t i = 0; by_list && i < names->count; i++) {
        keys[count++] = hub_str_of(names->items[i]); /* also those that nobody knows */
    }
    for (size_t i = 0; !by_list && i < hub_toolset_total(hub); i++) {
        const hub_toolset_settings *settings = hub_toolset_settings_of(hub_toolset_at(hub, i));
        if (hub_profile_settings_want(hub_profile_settings_of(profile), settings)) {
            keys[count++] = hub_str_of(settings->key);
        }
    }
    *ret_count = count;
    return keys;
}

/* Whether a toolset could be the first one to be active. */
static hub_err judge(const hub_profile *profile, hub_str key, hub_error *reterr)
{
    const hub_toolset *toolset = hub_find_toolset(hub_profile_hub(profile), key);
    if (toolset == NULL) {
        return hub_misnamed_fail(hub_profile_hub(profile), key, reterr);
    }
    if (!hub_toolset_settings_of(toolset)->enabled) {
        return hub_fail(reterr, HUB_EDENIED, "toolset \"%s\" is switched off (%s)",
                        hub_toolset_key(toolset), hub_toolset_settings_of(toolset)->source);
    }
    return hub_profile_admits(profile, key, 0, reterr);
}

/* The smaller of the two numbers of toolsets that may be active, with its place in the manifest; 0: any. */
static uint32_t most_active(const hub_profile *profile, const char **ret_place)
{
    uint32_t all = hub_settings_of(hub_profile_hub(profile))->policy.max_active;
    uint32_t own = hub_profile_settings_of(profile)->policy.max_active;
    bool is_own = own > 0 && (all == 0 || own < all);
    *ret_place = is_own ? "the profile's policy.max_active" : "policy.max_active";
    return is_own ? own : all;
}

/* Say which of the toolsets that the profile starts with have no place, if any. */
static void tell_crowded(const hub_profile *profile, hub_startup_on_crowd *on_crowd, void *ctx)
{
    const char *place;
    uint32_t most = most_active(profile, &place);
    size_t count = 0;
    size_t usable = 0;
    hub_name_list out = {.count = 0};
    hub_str *keys = most > 0 ? list_wanted(profile, &count) : NULL;
    for (size_t i = 0; keys != NULL && i < count; i++) {
        hub_str key = hub_str_trim(keys[i]);
        if (judge(profile, key, NULL) == HUB_OK && ++usable > most) {
            hub_name_list_add(&out, key);
        }
    }
    free(keys);
    if (out.count > 0) {
        hub_error text;
        (void)hub_fail(
            &text, HUB_ELIMIT,
            "profile \"%s\": %s is %u, so these enabled toolsets are not active at start: "
            "%s; raise it, or set `active: false` for toolsets that may wait",
            hub_profile_name(profile), place, most, out.text);
        on_crowd(ctx, text.text);
    }
}

void hub_startup_crowded(const hub_orchestrator *hub, hub_startup_on_crowd *on_crowd, void *ctx)
{
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        tell_crowded(hub_profile_at(hub, i), on_crowd, ctx);
    }
}

/* Say that none is usable, and of each why not, as far as it is known. */
static hub_err fail_unusable(const hub_profile *profile, const hub_str *keys, size_t count,
                             hub_error *reterr)
{
    hub_error all;
    hub_err err = hub_fail(&all, HUB_EINVAL,
                           "profile \"%s\": none of the toolsets that it starts with can be used",
                           hub_profile_settings_of(profile)->name);
    for (size_t i = 0; i < count; i++) {
        hub_error why;
        if (judge(profile, hub_str_trim(keys[i]), &why) != HUB_OK) {
            err = hub_fail(&all, err, "%s%s%s", all.text, i == 0 ? ": " : "; ", why.text);
        }
    }
    if (hub_profile_settings_of(profile)->source != NULL) {
        hub_error_prefix(&all, "%s", hub_profile_settings_of(profile)->source);
    }
    return hub_fail(reterr, err, "%s", all.text);
}

hub_err hub_startup_check(const hub_profile *profile, hub_error *reterr)
{
    size_t count = 0;
    size_t usable = 0;
    if (hub_profile_settings_of(profile)->startup != HUB_STARTUP_STATIC) {
        return HUB_OK;
    }
    hub_str *keys = list_wanted(profile, &count);
    if (keys == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        usable += judge(profile, hub_str_trim(keys[i]), NULL) == HUB_OK;
    }
    hub_err err = usable > 0 ? HUB_OK : fail_unusable(profile, keys, count, reterr);
    free(keys);
    return err;
}

hub_err hub_startup_run(hub_profile *profile, hub_error *reterr)
{
    const hub_profile_settings *settings = hub_profile_settings_of(profile);
    if (settings->startup == HUB_STARTUP_DYNAMIC && settings->toolsets.count > 0) {
        hub_log(HUB_LOG_WARNING, "startup.ignored", HUB_F_TEXT("profile", settings->name),
                HUB_F_TEXT("reason", "dynamic start-up ignores the listed toolsets"));
    }
    size_t count;
    size_t started = 0;
    hub_str *keys = list_wanted(profile, &count);
    if (keys == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_err err = start(profile, keys, count, &started, reterr);
    if (err == HUB_OK && settings->startup == HUB_STARTUP_STATIC && started == 0) {
        err = fail_unusable(profile, keys, count, reterr);
    }
    free(keys);
    if (err == HUB_OK) {
        hub_notifier_settle(hub_notifier_of(hub_profile_audience(profile)));
    }
    return err;
}

void hub_startup_adopt(hub_profile *profile, hub_str toolset)
{
    const hub_toolset *found = hub_find_toolset(hub_profile_hub(profile), toolset);
    size_t started = 0;
    if (hub_profile_is_leaving(profile)) {
        return; /* its policies are no more */
    }
    if (found != NULL &&
        hub_profile_settings_want(hub_profile_settings_of(profile),
                                  hub_toolset_settings_of(found)) &&
        start(profile, &toolset, 1, &started, NULL) == HUB_OK && started > 0) {
        hub_notifier_changed(hub_notifier_of(hub_profile_audience(profile)), true);
    }
}

typedef struct retry {
    hub_startup_on_result *on_result;
    void *ctx;
} retry;

static void on_tried(void *ctx, const hub_manager_result *results, size_t count)
{
    const retry *again = ctx;
    for (size_t i = 0; i < count; i++) {
        again->on_result(again->ctx, &results[i]);
    }
}

void hub_startup_try_again(hub_profile *profile, hub_startup_on_result *on_result, void *ctx)
{
    size_t count = 0;
    hub_str *keys = list_wanted(profile, &count);
    retry again = {.on_result = on_result, .ctx = ctx};
    for (size_t i = 0; keys != NULL && i < count; i++) {
        if (hub_exposure_source(hub_profile_exposure(profile), hub_str_trim(keys[i])) == NULL) {
            hub_err err = hub_manager_activate(hub_manager_of(hub_profile_audience(profile)),
                                               &keys[i], 1, on_tried, &again, NULL);
            (void)err; /* HUB_ENOMEM: nothing is told */
        }
    }
    free(keys);
}
