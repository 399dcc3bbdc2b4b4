/* SPDX-License-Identifier: Apache-2.0 */
/* Having a record take effect: what its principal sees becomes what it says. */
#include "hub/remember/seat.h"

#include "base/cause.h"
#include "base/log.h"
#include "hub/active/choice.h"
#include "hub/active/manager.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/notifier.h"

#include <stdlib.h>
#include <string.h>

/* Toolsets that are to be active, and those that are not to be. */
typedef struct change {
    remember_keys add;
    remember_keys remove;
} change;

static const remember_keys NO_KEYS = {.items = NULL, .count = 0};

/* Where clients cannot enable anything, nothing could be taken back. */
static bool remembers_lists(const seat *of)
{
    const hub_profile *profile = seat_profile(of);
    return hub_settings_of(of->hub)->remember == HUB_REMEMBER_ALL && profile != NULL &&
           hub_profile_settings_enable(hub_profile_settings_of(profile));
}

static const remember_keys *enabled_of(const seat *of)
{
    return remembers_lists(of) ? &of->record.enabled : &NO_KEYS;
}

static const remember_keys *disabled_of(const seat *of)
{
    return remembers_lists(of) ? &of->record.disabled : &NO_KEYS;
}

/* Whether a toolset is to be active, by the record and what the profile has. */
static bool is_wanted(const seat *of, const hub_audience *own, hub_str key)
{
    return hub_choice_enables(own, key) ? !remember_keys_have(disabled_of(of), key)
                                        : remember_keys_have(enabled_of(of), key);
}

static bool is_known(const seat *of, hub_str key)
{
    const hub_toolset *toolset = hub_find_toolset(of->hub, key);
    return toolset != NULL && hub_toolset_settings_of(toolset)->enabled;
}

void seat_note_missing(seat *of)
{
    of->is_missing_some = false;
    for (size_t i = 0; i < of->record.enabled.count && !of->is_missing_some; i++) {
        of->is_missing_some = !is_known(of, of->record.enabled.items[i]);
    }
    for (size_t i = 0; i < of->record.disabled.count && !of->is_missing_some; i++) {
        of->is_missing_some = !is_known(of, of->record.disabled.items[i]);
    }
}

static void add_key(remember_keys *keys, hub_str key)
{
    keys->items[keys->count++] = key;
}

/* What differs between what an audience sees and what is to be. */
static hub_err find_change(const seat *of, const hub_audience *audience, change *ret_change)
{
    const hub_audience *own = hub_profile_audience(hub_audience_profile(audience));
    const remember_keys *enabled = enabled_of(of);
    size_t count = hub_choice_places(audience);
    size_t own_count = hub_choice_places(own);
    ret_change->remove.items = calloc(count + 1, sizeof(hub_str));
    ret_change->add.items = calloc(own_count + enabled->count + 1, sizeof(hub_str));
    if (ret_change->remove.items == NULL || ret_change->add.items == NULL) {
        return HUB_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        hub_str key = hub_choice_enabled_at(audience, i);
        if (key.len > 0 && !is_wanted(of, own, key)) {
            add_key(&ret_change->remove, key);
        }
    }
    for (size_t i = 0; i < own_count; i++) {
        hub_str key = hub_choice_enabled_at(own, i);
        if (key.len > 0 && !hub_choice_enables(audience, key) && is_wanted(of, own, key)) {
            add_key(&ret_change->add, key);
        }
    }
    for (size_t i = 0; i < enabled->count; i++) {
        hub_str key = enabled->items[i];
        if (is_known(of, key) && !hub_choice_enables(own, key) &&
            !hub_choice_enables(audience, key)) {
            add_key(&ret_change->add, key);
        }
    }
    return HUB_OK;
}

static void change_fini(change *made)
{
    free(made->add.items);
    free(made->remove.items);
}

static void on_disabled(void *ctx, const hub_manager_result *results, size_t count)
{
    (void)ctx; /* the manager logs what became of each */
    (void)results;
    (void)count;
}

static void on_enabled(void *ctx, const hub_manager_result *results, size_t count)
{
    const seat *of = ctx;
    for (size_t i = 0; i < count; i++) {
        if (results[i].err != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "toolset.skipped", HUB_F_STR("toolset", results[i].toolset),
                    HUB_F_STR("principal", of->principal),
                    HUB_F_TEXT("reason", results[i].why.text), HUB_F_BY);
        }
    }
}

/* First what goes, so that max_active leaves room for what comes. */
static void apply(seat *of, const hub_audience *audience, const change *made, bool is_first)
{
    hub_manager *manager = hub_manager_of(audience);
    hub_notifier *notifier = hub_notifier_of(audience);
    hub_err err = HUB_OK;
    hub_error why = {.code = HUB_OK};
    if (made->add.count + made->remove.count == 0) {
        return;
    }
    hub_notifier_hold(notifier);
    hub_manager_ask_as(manager, 0);
    if (made->remove.count > 0) {
        err = hub_manager_disable(manager, made->remove.items, made->remove.count, HUB_STR_EMPTY,
                                  on_disabled, NULL, &why);
    }
    if (err == HUB_OK && made->add.count > 0) {
        err = hub_manager_activate(manager, made->add.items, made->add.count, on_enabled, of, &why);
    }
    if (is_first) {
        hub_notifier_settle(notifier);
    } else {
        hub_notifier_changed(notifier, true);
    }
    hub_notifier_let_go(notifier);
    if (err == HUB_OK) {
        hub_log(HUB_LOG_INFO, "active.restored", HUB_F_STR("profile", of->profile),
                HUB_F_STR("principal", of->principal), HUB_F_INT("enabled", made->add.count),
                HUB_F_INT("disabled", made->remove.count), HUB_F_BY);
    } else {
        hub_log(HUB_LOG_WARNING, "active.not_restored", HUB_F_STR("profile", of->profile),
                HUB_F_STR("principal", of->principal), HUB_F_TEXT("reason", why.text));
    }
}

/* The record's name is equipped; one that was is not any more. */
static void equip(seat *of, hub_audience *audience, bool is_first)
{
    const remember *all = remember_of(of->hub);
    if (all->equip == NULL || (is_first && of->record.equipped.len == 0)) {
        return;
    }
    of->is_restoring = true;
    of->is_equipping = true;
    all->equip(audience, of->record.equipped);
    of->is_restoring = false;
}

bool seat_restore(seat *of, bool is_first)
{
    change made = {.add = NO_KEYS, .remove = NO_KEYS};
    hub_audience *audience = seat_audience(of);
    hub_session *session = audience == NULL ? seat_session(of) : NULL;
    bool is_empty = enabled_of(of)->count + disabled_of(of)->count == 0 &&
                    (of->record.equipped.len == 0 || remember_of(of->hub)->equip == NULL);
    seat_note_missing(of);
    if (audience == NULL && session == NULL) {
        return false;
    }
    if (audience == NULL && is_empty) {
        return true;
    }
    hub_err err = audience == NULL ? hub_audience_of_choice(session, &audience) : HUB_OK;
    if (err == HUB_OK && hub_manager_is_busy(hub_manager_of(audience))) {
        return true; /* its principal chooses something else, which will be written */
    }
    err = err == HUB_OK ? find_change(of, audience, &made) : err;
    if (err == HUB_OK) {
        const char *before = hub_cause_set(HUB_BY_STORE);
        apply(of, audience, &made, is_first);
        equip(of, audience, is_first);
        (void)hub_cause_set(before);
    } else {
        hub_log(HUB_LOG_WARNING, "active.not_restored", HUB_F_STR("profile", of->profile),
                HUB_F_STR("principal", of->principal), HUB_F_TEXT("reason", "out of memory"));
    }
    change_fini(&made);
    return true;
}
