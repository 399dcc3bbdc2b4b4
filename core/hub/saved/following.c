/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/saved/saved_internal.h"

#include "base/cause.h"
#include "base/log.h"
#include "hub/kernel/hub.h"
#include "hub/notices/notifier.h"
#include "hub/remember/remember.h"

/* What is equipped was looked for, or taken, anew: it may have changed meanwhile. */
static void end_follow(saved_task *one)
{
    hub_audience *audience = one->audience;
    if (audience == NULL) {
        saved_task_destroy(one);
        return;
    }
    saved_of_audience *own = saved_part_of(audience);
    bool is_stale = own->is_stale;
    own->following = NULL;
    own->is_stale = false;
    saved_task_destroy(one);
    if (is_stale) {
        saved_follow(audience);
    }
}

static void on_taken(void *ctx, const hub_choice_outcome *made)
{
    saved_task *one = ctx;
    saved_of_audience *own = one->audience != NULL ? saved_part_of(one->audience) : NULL;
    if (own != NULL && own->name != NULL && made->err == HUB_OK) {
        bool is_another = own->version != one->version;
        own->version = one->version;
        own->origin = one->origin;
        saved_note_shown(one->audience);
        hub_notifier_changed(hub_notifier_of(one->audience), true);
        if (is_another) {
            saved_log_equipped(one->audience, "saved.changed");
        }
    }
    end_follow(one);
}

static void on_kept(void *ctx, bool is_lost)
{
    (void)ctx; /* nobody has asked for it */
    (void)is_lost;
}

/* Whether somebody has equipped another one meanwhile, or is about to: then that one counts. */
static bool is_outdated(const saved_task *one)
{
    const saved_of_audience *own = saved_part_of(one->audience);
    return own->name == NULL || strcmp(own->name, one->name) != 0 || own->equipping != NULL;
}

static void on_followed(void *ctx, const hub_saved_found *found)
{
    saved_task *one = ctx;
    hub_selection *selection = NULL;
    hub_error why = {.text = "out of memory"};
    if (one->audience == NULL || is_outdated(one)) {
        end_follow(one);
        return;
    }
    if (found->err == HUB_ENOTFOUND) {
        const char *before = hub_cause_set(one->by);
        saved_unequip_quietly(one->audience, false);
        (void)hub_cause_set(before);
        hub_remember_keep(one->audience, on_kept, NULL);
        end_follow(one);
        return;
    }
    hub_err err = found->err;
    if (err == HUB_OK) {
        one->origin = found->origin;
        one->version = found->saved->version;
        err = hub_saved_select(found->saved, &selection);
    }
    if (err == HUB_OK) {
        const char *before = hub_cause_set(one->by);
        err = hub_choice_make_now(hub_manager_of(one->audience), selection, on_taken, one, &why);
        (void)hub_cause_set(before);
    }
    hub_selection_unref(selection);
    if (err != HUB_OK) { /* what is equipped stays as it is */
        hub_log(HUB_LOG_WARNING, "saved.not_followed", HUB_F_TEXT("saved", one->name),
                HUB_F_TEXT("reason", found->err != HUB_OK ? found->why : why.text));
        end_follow(one);
    }
}

void saved_follow(hub_audience *audience)
{
    saved_of_audience *own = saved_part_of(audience);
    if (own->name == NULL) {
        return;
    }
    if (own->following != NULL) {
        own->is_stale = true;
        return;
    }
    saved_task *one = saved_task_create(audience, hub_str_of(own->principal), hub_str_of(own->name),
                                        HUB_STR_EMPTY);
    if (one == NULL) {
        hub_log(HUB_LOG_WARNING, "saved.not_followed", HUB_F_TEXT("saved", own->name),
                HUB_F_TEXT("reason", "out of memory"));
        return;
    }
    own->following = one;
    hub_saved_find(one->hub, hub_str_of(one->principal), hub_str_of(one->name), on_followed, one);
}

/* Whether a changed record is what an audience has equipped. */
static bool is_about(const hub_state_record *changed, const saved_of_audience *own)
{
    hub_str owner = own->origin == HUB_SAVED_OWN ? hub_str_of(own->principal) : HUB_SAVED_SHARED;
    return own->name != NULL && hub_str_is(changed->key, own->name) &&
           hub_str_eq(changed->owner, owner);
}

static void on_store_changed(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    const hub_orchestrator *hub = ctx;
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            if (event != HUB_STATE_CHANGED || is_about(changed, saved_part_of(at))) {
                saved_follow(at);
            }
        }
    }
}

void saved_watch_store(hub_orchestrator *hub)
{
    hub_saved_hub *own = hub_hub_part(hub, &HUB_SAVED_STATION);
    hub_state_range all = {.kind = &HUB_SAVED_KIND, .is_of_all = true};
    hub_error why = {.text = ""};
    if (own->watch == NULL && hub_state_watch_create(hub_store_of(hub), &all, on_store_changed, hub,
                                                     &own->watch, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "saved.not_followed", HUB_F_TEXT("reason", why.text));
    }
}
