/* SPDX-License-Identifier: Apache-2.0 */
/* Which toolsets are active for which audience after a reload, and the exposures of that. */
#include "base/cause.h"
#include "base/limits.h"
#include "base/log.h"
#include "hub/active/choice.h"
#include "hub/active/manager.h"
#include "hub/notices/logging.h"
#include "hub/notices/notifier.h"
#include "hub/notices/subscription.h"
#include "hub/reload/reload_internal.h"

#include <stdlib.h>

/* ---- choosing -------------------------------------------------------------------------------- */

static hub_err admit(const hub_settings *settings, const hub_profile_settings *profile,
                     const char *key, size_t active)
{
    hub_err err = hub_policy_admit_toolset(&settings->policy, hub_str_of(key), active, NULL);
    return err == HUB_OK ? hub_policy_admit_toolset(&profile->policy, hub_str_of(key), active, NULL)
                         : err;
}

/* Whether the settings make a toolset active from the start, were it the only one. */
static bool is_wanted(const hub_settings *settings, const hub_profile_settings *profile,
                      const hub_toolset_settings *toolset)
{
    return hub_profile_settings_want(profile, toolset) &&
           admit(settings, profile, toolset->key, 0) == HUB_OK;
}

/* Whether the settings that are at work make it so. */
static bool was_wanted(const reload *next, const reload_profile *item, const reload_toolset *about)
{
    return !item->is_new && !hub_profile_is_leaving(item->profile) && !about->is_new &&
           is_wanted(hub_settings_of(next->hub), hub_profile_settings_of(item->profile),
                     hub_toolset_settings_of(about->toolset));
}

static void choose(const reload *next, reload_audience *item, reload_toolset *about)
{
    if (!reload_settings(about)->enabled ||
        admit(next->settings, item->of->settings, hub_toolset_key(about->toolset), item->count) !=
            HUB_OK) {
        if (hub_audience_principal(item->audience) == NULL) {
            hub_name_list_add(&item->of->skipped, hub_str_of(hub_toolset_key(about->toolset)));
        }
        return;
    }
    item->choice[item->count++] = about;
    about->users += !hub_manager_is_resting(hub_manager_of(item->audience));
}

/* Whether it sees what was chosen, instead of what is enabled. */
static bool has_choice(const reload_audience *item)
{
    return hub_choice_of(hub_manager_of(item->audience)) != NULL;
}

/* What is active stays so, unless the settings want it otherwise now, and did not before. */
static void choose_active(const reload *next, reload_audience *item)
{
    size_t count;
    const hub_source *const *sources =
        hub_exposure_sources(hub_audience_exposure(item->audience), &count);
    for (size_t i = 0; i < count; i++) {
        const hub_toolset *active = sources[i]->owner;
        reload_toolset *about =
            sources[i]->bare ? NULL : reload_find(next, hub_toolset_key(active));
        if (about == NULL || !reload_settings(about)->enabled) {
            continue;
        }
        bool is_to_be = is_wanted(next->settings, item->of->settings, reload_settings(about));
        if (is_to_be || has_choice(item) || !was_wanted(next, item->of, about)) {
            choose(next, item, about);
        }
    }
}

static void keep(const reload *next, reload_audience *item, reload_toolset *about)
{
    if (item->kept == NULL) {
        item->kept = calloc(next->toolset_count + 1, sizeof(reload_toolset *));
    }
    if (item->kept != NULL && item->kept_count < next->toolset_count) {
        item->kept[item->kept_count++] = about;
    }
}

/* What the settings want newly; what could not be made before, and is another now, too. */
static void choose_new(const reload *next, reload_audience *item, reload_toolset *about)
{
    const hub_exposure *exposure = hub_audience_exposure(item->audience);
    bool is_another_try =
        about->difference != HUB_TOOLSET_SAME && !hub_toolset_was_used(about->toolset);
    if (hub_exposure_source(exposure, hub_str_of(hub_toolset_key(about->toolset))) == NULL &&
        hub_profile_settings_want(item->of->settings, reload_settings(about)) &&
        (is_another_try || !was_wanted(next, item->of, about))) {
        (has_choice(item) ? keep : choose)(next, item, about);
    }
}

static bool is_chosen(const reload_audience *item, const reload_toolset *about)
{
    size_t i = 0;
    while (i < item->count && item->choice[i] != about) {
        i++;
    }
    return i < item->count;
}

/* As start-up does it: those of a list in its order, else by their keys. */
static void choose_all(const reload *next, reload_audience *item)
{
    const hub_names *names = &item->of->settings->toolsets;
    bool is_static = item->of->settings->startup == HUB_STARTUP_STATIC;
    choose_active(next, item);
    for (size_t i = 0; is_static && i < names->count; i++) {
        hub_str name = hub_str_trim(hub_str_of(names->items[i]));
        char key[HUB_LIMIT_TOOLSET_KEY_BYTES + 1];
        if (name.len >= sizeof key) {
            continue;
        }
        memcpy(key, name.ptr, name.len);
        key[name.len] = '\0';
        reload_toolset *about = reload_find(next, key);
        if (about != NULL && !is_chosen(item, about)) {
            choose_new(next, item, about);
        }
    }
    for (size_t i = 0; i < next->toolset_count; i++) {
        if (!is_static || !is_chosen(item, &next->toolsets[i])) {
            choose_new(next, item, &next->toolsets[i]);
        }
    }
}

/* ---- profiles, beside those at work ---------------------------------------------------------- */

static hub_profile *find_profile(const hub_orchestrator *hub, const char *name)
{
    hub_profile *found = NULL;
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        hub_profile *profile = hub_profile_at(hub, i);
        if (strcmp(hub_profile_settings_of(profile)->name, name) == 0 &&
            (found == NULL || hub_profile_is_leaving(found))) {
            found = profile;
        }
    }
    return found;
}

static bool is_known(const reload *next, hub_str name)
{
    for (size_t i = 0; i < next->toolset_count; i++) {
        if (hub_str_is(hub_str_trim(name), hub_toolset_key(next->toolsets[i].toolset))) {
            return true;
        }
    }
    return false;
}

/* As start-up says it; of those that are known, `check` knows more. */
static hub_err fail_unusable(const reload *next, const hub_profile_settings *settings,
                             hub_error *reterr)
{
    const hub_names *names = &settings->toolsets;
    hub_error all;
    hub_err err = hub_fail(&all, HUB_EINVAL,
                           "profile \"%s\": none of the toolsets that it starts with can be used",
                           settings->name);
    for (size_t i = 0; hub_profile_settings_have_list(settings) && i < names->count; i++) {
        if (!is_known(next, hub_str_of(names->items[i]))) {
            err = hub_fail(&all, err, "%s; unknown toolset \"%s\"", all.text, names->items[i]);
        }
    }
    if (settings->source != NULL) {
        hub_error_prefix(&all, "%s", settings->source);
    }
    return hub_fail(reterr, err, "%s", all.text);
}

/* All audiences of a profile, which goes on or is gone, and what they are to see. */
static hub_err note_audiences(const reload *next, reload_profile *item, hub_error *reterr)
{
    hub_audience *first = hub_profile_audience(item->profile);
    size_t count = 0;
    for (const hub_audience *at = first; at != NULL; at = hub_audience_next(at)) {
        count++;
    }
    item->audiences = calloc(count + 1, sizeof *item->audiences);
    if (item->audiences == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (hub_audience *at = first; at != NULL; at = hub_audience_next(at)) {
        reload_audience *one = &item->audiences[item->audience_count++];
        *one = (reload_audience){.of = item, .audience = at};
        if (item->settings == NULL) {
            continue;
        }
        one->choice = calloc(next->toolset_count + 1, sizeof(reload_toolset *));
        if (one->choice == NULL) {
            return hub_fail(reterr, HUB_ENOMEM, "out of memory");
        }
        choose_all(next, one);
        reload_toolset **fit = realloc(one->choice, (one->count + 1) * sizeof(reload_toolset *));
        one->choice = fit != NULL ? fit : one->choice; /* there may be very many audiences */
    }
    return HUB_OK;
}

static hub_err note_profile(reload *next, const hub_profile_settings *settings, hub_error *reterr)
{
    reload_profile *item = &next->profiles[next->profile_count];
    hub_profile *profile = find_profile(next->hub, settings->name);
    bool is_new = profile == NULL;
    if (is_new) {
        hub_err err = hub_profile_create(next->hub, next->settings, settings, &profile, reterr);
        if (err != HUB_OK) {
            return err;
        }
    }
    *item = (reload_profile){.profile = profile, .is_new = is_new, .settings = settings};
    next->profile_count++;
    hub_err err = note_audiences(next, item, reterr);
    return err == HUB_OK && settings->startup == HUB_STARTUP_STATIC && item->audiences[0].count == 0
               ? fail_unusable(next, settings, reterr)
               : err;
}

static bool is_noted(const reload *next, const hub_profile *profile)
{
    for (size_t i = 0; i < next->profile_count; i++) {
        if (next->profiles[i].profile == profile) {
            return true;
        }
    }
    return false;
}

hub_err reload_choose(reload *next, hub_error *reterr)
{
    const hub_orchestrator *hub = next->hub;
    const hub_settings *settings = next->settings;
    size_t most = hub_profile_total(hub) + settings->profile_count;
    hub_err err = HUB_OK;
    next->profiles = calloc(most, sizeof *next->profiles);
    next->profile_list = calloc(most, sizeof(hub_profile *));
    if (next->profiles == NULL || next->profile_list == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (size_t i = 0; err == HUB_OK && i < settings->profile_count; i++) {
        err = note_profile(next, &settings->profiles[i], reterr);
    }
    for (size_t i = 0; err == HUB_OK && i < hub_profile_total(hub); i++) {
        if (!is_noted(next, hub_profile_at(hub, i))) {
            reload_profile *gone = &next->profiles[next->profile_count++];
            gone->profile = hub_profile_at(hub, i);
            err = note_audiences(next, gone, reterr);
        }
    }
    return err;
}

/* One that is gone shows nothing any more. */
static hub_err make_empty(reload_audience *item, hub_error *reterr)
{
    static const hub_naming_rule ANY = {.naming = HUB_NAMING_PREFIX, .max_name_bytes = 64};
    const hub_exposure_rules rules = {.policies = {NULL, NULL}};
    hub_base *base = NULL;
    hub_err err = hub_base_create(&ANY, NULL, 0, NULL, &base, reterr);
    if (err == HUB_OK) {
        err = hub_exposure_create(base, &rules, NULL, 0, NULL, NULL, &item->exposure, reterr);
    }
    hub_base_unref(base);
    return err;
}

/* The base that a profile before this one has, or a new one of all toolsets as they are to be. */
static hub_err get_base(const reload *next, const reload_profile *item, hub_base **ret_base,
                        hub_error *reterr)
{
    const hub_naming_rule rule = {.naming = item->settings->naming,
                                  .max_name_bytes = item->settings->max_name_bytes};
    for (const reload_profile *other = next->profiles; other != item; other++) {
        hub_base *base =
            other->settings != NULL ? hub_exposure_base(other->audiences[0].exposure) : NULL;
        if (base != NULL && hub_base_has_rule(base, &rule)) {
            *ret_base = hub_base_ref(base);
            return HUB_OK;
        }
    }
    hub_source *sources = calloc(next->toolset_count + 1, sizeof *sources);
    if (sources == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < next->toolset_count; i++) {
        const reload_toolset *about = &next->toolsets[i];
        sources[i] = reload_source(about);
    }
    hub_err err = hub_profile_make_base(next->hub, next->settings, item->settings, sources,
                                        next->toolset_count, ret_base, reterr);
    free(sources);
    return err;
}

static hub_err make_exposure(const reload *next, reload_audience *item, hub_base *base,
                             hub_error *reterr)
{
    const hub_profile_settings *own = item->of->settings;
    hub_source *sources = calloc(item->count + 1, sizeof *sources);
    if (sources == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < item->count; i++) {
        const reload_toolset *about = item->choice[i];
        sources[i] = reload_source(about);
    }
    hub_err err = hub_profile_make_exposure(
        next->hub, base, next->settings, own, sources, item->count,
        hub_choice_of(hub_manager_of(item->audience)), &item->exposure, reterr);
    free(sources);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "profile \"%s\"", own->name);
    }
    return err;
}

static hub_err make_exposures(const reload *next, reload_profile *item, hub_error *reterr)
{
    hub_base *base = NULL;
    hub_err err = item->settings != NULL ? get_base(next, item, &base, reterr) : HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < item->audience_count; i++) {
        err = item->settings != NULL ? make_exposure(next, &item->audiences[i], base, reterr)
                                     : make_empty(&item->audiences[i], reterr);
    }
    hub_base_unref(base);
    return err;
}

hub_err reload_make_exposures(reload *next, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < next->profile_count; i++) {
        err = make_exposures(next, &next->profiles[i], reterr);
    }
    return err;
}

void reload_drop_profiles(reload *next)
{
    for (size_t i = 0; i < next->profile_count; i++) {
        reload_profile *item = &next->profiles[i];
        for (size_t k = 0; k < item->audience_count; k++) {
            hub_exposure_destroy(item->audiences[k].exposure);
            free(item->audiences[k].choice);
            free(item->audiences[k].kept);
        }
        free(item->audiences);
        if (item->is_new && !next->is_done) {
            hub_profile_free(item->profile);
        }
    }
    free(next->profiles);
    free(next->profile_list);
}

/* ---- making them current --------------------------------------------------------------------- */

static void take_kept(const reload_audience *item)
{
    for (size_t i = 0; i < item->kept_count; i++) {
        hub_str key = hub_str_of(hub_toolset_key(item->kept[i]->toolset));
        if (hub_choice_keep(hub_manager_of(item->audience), key) != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "toolset.skipped", HUB_F_STR("toolset", key),
                    HUB_F_TEXT("reason", "out of memory"), HUB_F_BY);
        }
    }
}

static void take_profile(const reload *next, reload_profile *item, const hub_settings *old)
{
    hub_profile *profile = item->profile;
    hub_profile_take(profile, item->settings, old);
    for (size_t i = 0; i < item->audience_count; i++) {
        hub_exposure_replace(hub_audience_exposure(item->audiences[i].audience),
                             item->audiences[i].exposure);
        item->audiences[i].exposure = NULL;
        take_kept(&item->audiences[i]);
    }
    if (item->skipped.count > 0) {
        hub_log(HUB_LOG_WARNING, "toolset.skipped",
                HUB_F_TEXT("profile", hub_profile_name(profile)),
                HUB_F_TEXT("toolsets", item->skipped.text),
                HUB_F_TEXT("reason", "the policies do not admit them, or they are switched off"),
                HUB_F_BY);
    }
    next->profile_list[item - next->profiles] = profile;
}

void reload_take_profiles(reload *next, const hub_settings *old)
{
    hub_orchestrator *hub = next->hub;
    for (size_t i = 0; i < next->profile_count; i++) {
        take_profile(next, &next->profiles[i], old);
    }
    size_t count = next->profile_count;
    hub_exchange_profiles(hub, &next->profile_list, &count);
}

static void tell_audience(const reload_audience *item)
{
    for (size_t i = 0; i < item->count; i++) {
        hub_subscription_wake(item->audience, item->choice[i]->toolset);
        hub_logging_refresh(item->choice[i]->toolset);
    }
    hub_notifier_changed(hub_notifier_of(item->audience), true);
}

void reload_tell(const reload *next)
{
    for (size_t i = 0; i < next->profile_count; i++) {
        const reload_profile *item = &next->profiles[i];
        for (size_t k = 0; k < item->audience_count; k++) {
            tell_audience(&item->audiences[k]);
        }
        hub_profile_session_ended(item->profile); /* there may be none */
    }
}
