/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/saved/saved_internal.h"

#include "base/cause.h"
#include "base/log.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/notices/notifier.h"
#include "hub/remember/remember.h"

#include <stdlib.h>
#include <utlist.h>

hub_saved_equipped hub_saved_equipped_by(const hub_audience *audience)
{
    const saved_of_audience *own = saved_part_of(audience);
    return (hub_saved_equipped){
        .name = hub_str_of(own->name), .origin = own->origin, .version = own->version};
}

/* ---- tasks ----------------------------------------------------------------------------------- */

void saved_task_destroy(saved_task *one)
{
    if (one->audience != NULL) {
        DL_DELETE(saved_part_of(one->audience)->tasks, one);
    }
    free(one->name);
    free(one->principal);
    free(one->meta);
    free(one->by);
    free(one);
}

saved_task *saved_task_create(hub_audience *audience, hub_str principal, hub_str name, hub_str meta)
{
    saved_task *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->hub = hub_audience_hub(audience);
    made->name = name.len > 0 ? hub_str_dup(name) : NULL;
    made->principal = hub_str_dup(principal);
    made->meta = hub_str_dup(meta);
    made->by = hub_str_dup(hub_str_of(hub_cause()));
    if (made->principal == NULL || made->meta == NULL || made->by == NULL ||
        (name.len > 0 && made->name == NULL)) {
        saved_task_destroy(made);
        return NULL;
    }
    made->audience = audience;
    DL_APPEND(saved_part_of(audience)->tasks, made);
    return made;
}

static void run_waiting(hub_audience *audience);

/* A task is over, with this; what waits for it comes next. */
static void end_task(saved_task *one, hub_saved_outcome *outcome)
{
    hub_audience *audience = one->audience;
    bool was_equipping = audience != NULL && saved_part_of(audience)->equipping == one;
    if (was_equipping) {
        saved_part_of(audience)->equipping = NULL;
    }
    outcome->audience = audience;
    if (one->on_done != NULL) {
        one->on_done(one->ctx, outcome);
    } else if (outcome->err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "saved.refused", HUB_F_STR("saved", outcome->name),
                HUB_F_TEXT("reason", outcome->why));
    }
    if (audience != NULL && one->is_of_record) {
        hub_remember_equipped_now(audience);
    }
    saved_task_destroy(one);
    if (was_equipping) {
        run_waiting(audience);
    }
}

/* Somebody has chosen it: the record says so, as soon as it is written. */
static void note_choice(hub_audience *audience)
{
    if (hub_remember_set_equipped(audience, hub_str_of(saved_part_of(audience)->name)) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "saved.not_remembered",
                HUB_F_TEXT("principal", hub_audience_who(audience)),
                HUB_F_TEXT("reason", "out of memory"));
    }
}

static void fail_equip(saved_task *one, hub_err err, const char *why)
{
    hub_error text;
    (void)hub_fail(&text, err, "Failed to equip toolset: %s", why);
    end_task(one,
             &(hub_saved_outcome){.err = err, .why = text.text, .name = hub_str_of(one->name)});
}

/* ---- what an audience has equipped ----------------------------------------------------------- */

static void clear_equipped(saved_of_audience *own)
{
    saved_forget_shown(own);
    free(own->name);
    free(own->principal);
    own->name = NULL;
    own->principal = NULL;
}

/* The task's choice is made. */
static void take_equipped(saved_task *one)
{
    saved_of_audience *own = saved_part_of(one->audience);
    clear_equipped(own);
    own->name = one->name; /* no failure is possible from here on */
    own->principal = one->principal;
    own->origin = one->origin;
    own->version = one->version;
    one->name = NULL;
    one->principal = NULL;
    saved_note_shown(one->audience);
}

void saved_log_equipped(const hub_audience *audience, const char *event)
{
    const saved_of_audience *own = saved_part_of(audience);
    hub_log(HUB_LOG_INFO, event, HUB_F_TEXT("saved", own->name),
            HUB_F_TEXT("origin", hub_saved_origin_name(own->origin)),
            HUB_F_INT("version", own->version),
            HUB_F_TEXT("profile", hub_profile_name(hub_audience_profile(audience))),
            HUB_F_TEXT("principal", hub_audience_who(audience)), HUB_F_BY);
}

/* ---- equipping ------------------------------------------------------------------------------- */

static void on_equipped(void *ctx, const hub_choice_outcome *made)
{
    saved_task *one = ctx;
    if (made->err != HUB_OK || one->audience == NULL) {
        fail_equip(one, made->err != HUB_OK ? made->err : HUB_ESTATE,
                   made->err != HUB_OK ? made->why : "the session has ended");
        return;
    }
    hub_audience *audience = one->audience;
    take_equipped(one);
    saved_log_equipped(audience, "saved.equipped");
    if (saved_part_of(audience)->origin != HUB_SAVED_FIXED) {
        saved_watch_store(one->hub);
    }
    if (one->on_done == NULL) { /* at start, by a reload, or by what is remembered */
        hub_notifier_changed(hub_notifier_of(audience), true);
    } else {
        note_choice(audience);
    }
    end_task(one, &(hub_saved_outcome){.err = HUB_OK,
                                       .why = "",
                                       .name = hub_str_of(saved_part_of(audience)->name),
                                       .toolsets = made->toolsets,
                                       .count = made->count});
}

static void on_found(void *ctx, const hub_saved_found *found)
{
    saved_task *one = ctx;
    hub_selection *selection = NULL;
    hub_error why = {.text = "out of memory"};
    if (found->err != HUB_OK || one->audience == NULL) {
        fail_equip(one, found->err != HUB_OK ? found->err : HUB_ESTATE,
                   found->err != HUB_OK ? found->why : "the session has ended");
        return;
    }
    hub_manager *manager = hub_manager_of(one->audience);
    one->origin = found->origin;
    one->version = found->saved->version;
    const char *before = hub_cause_set(one->by);
    hub_err err = hub_saved_select(found->saved, &selection);
    if (err == HUB_OK && one->on_done == NULL) {
        err = hub_choice_make_now(manager, selection, on_equipped, one, &why);
    } else if (err == HUB_OK) {
        hub_manager_ask_as(manager, one->asker);
        err = hub_choice_make(manager, selection, hub_str_of(one->meta), on_equipped, one, &why);
    }
    (void)hub_cause_set(before);
    hub_selection_unref(selection);
    if (err != HUB_OK) {
        fail_equip(one, err, why.text);
    }
}

static void start_equip(saved_task *one)
{
    saved_part_of(one->audience)->equipping = one;
    hub_saved_find(one->hub, hub_str_of(one->principal), hub_str_of(one->name), on_found, one);
}

hub_err hub_saved_equip(hub_session *session, hub_str name, hub_str meta,
                        hub_saved_on_done *on_done, void *ctx, hub_error *reterr)
{
    hub_audience *audience = NULL;
    hub_err err = hub_saved_check_name(name, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_audience_of_choice(session, &audience);
    if (err == HUB_OK && saved_part_of(audience)->equipping != NULL) {
        return hub_fail(reterr, HUB_EBUSY,
                        "registration operation in progress: try again when it has ended");
    }
    saved_task *one =
        err == HUB_OK
            ? saved_task_create(audience, hub_str_of(hub_session_who(session)), name, meta)
            : NULL;
    if (one == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    one->on_done = on_done;
    one->ctx = ctx;
    one->asker = hub_session_number(session);
    start_equip(one);
    return HUB_OK;
}

/* ---- unequipping ----------------------------------------------------------------------------- */

static void on_unequipped(void *ctx, const hub_choice_outcome *made)
{
    saved_task *one = ctx;
    saved_of_audience *own = one->audience != NULL ? saved_part_of(one->audience) : NULL;
    hub_saved_outcome outcome = {.err = made->err,
                                 .why = made->why,
                                 .name = HUB_STR_EMPTY,
                                 .was_nothing = own == NULL || own->name == NULL,
                                 .toolsets = made->toolsets,
                                 .count = made->count};
    char *name = NULL;
    if (made->err == HUB_OK && own != NULL && own->name != NULL) {
        saved_log_equipped(one->audience, "saved.unequipped");
        name = own->name;
        own->name = NULL;
        clear_equipped(own);
        outcome.name = hub_str_of(name);
        if (!one->is_of_record) {
            note_choice(one->audience);
        }
    }
    end_task(one, &outcome);
    free(name);
}

static void start_unequip(saved_task *one)
{
    hub_manager *manager = hub_manager_of(one->audience);
    hub_error why = {.text = "out of memory"};
    one->is_waiting = false;
    hub_manager_ask_as(manager, one->asker);
    const char *before = hub_cause_set(one->by);
    hub_err err = hub_choice_end(manager, hub_str_of(one->meta), on_unequipped, one, &why);
    (void)hub_cause_set(before);
    if (err != HUB_OK) {
        end_task(one,
                 &(hub_saved_outcome){.err = HUB_ENOMEM, .why = why.text, .name = HUB_STR_EMPTY});
    }
}

/* Now, or when what is being equipped is. */
static void run_or_wait(saved_task *one)
{
    one->is_waiting = saved_part_of(one->audience)->equipping != NULL;
    if (!one->is_waiting) {
        start_unequip(one);
    }
}

static void run_waiting(hub_audience *audience)
{
    saved_of_audience *own = saved_part_of(audience);
    for (;;) {
        saved_task *first = own->tasks;
        while (first != NULL && !first->is_waiting) {
            first = first->next;
        }
        if (first == NULL || own->equipping != NULL) {
            return;
        }
        start_unequip(first);
    }
}

hub_err hub_saved_unequip(hub_session *session, hub_str meta, hub_saved_on_done *on_done, void *ctx,
                          hub_error *reterr)
{
    hub_audience *audience = NULL;
    saved_task *one = hub_audience_of_choice(session, &audience) == HUB_OK
                          ? saved_task_create(audience, HUB_STR_EMPTY, HUB_STR_EMPTY, meta)
                          : NULL;
    if (one == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    one->on_done = on_done;
    one->ctx = ctx;
    one->asker = hub_session_number(session);
    run_or_wait(one);
    return HUB_OK;
}

void saved_unequip_quietly(hub_audience *audience, bool is_of_record)
{
    saved_task *one = saved_task_create(audience, HUB_STR_EMPTY, HUB_STR_EMPTY, HUB_STR_EMPTY);
    if (one == NULL) {
        hub_log(HUB_LOG_WARNING, "saved.refused", HUB_F_TEXT("reason", "out of memory"));
        return;
    }
    one->is_of_record = is_of_record;
    run_or_wait(one);
}

/* What a record says of an audience, which has something else equipped. */
static void equip_remembered(hub_audience *audience, hub_str name)
{
    const saved_of_audience *own = saved_part_of(audience);
    bool is_same = own->name != NULL ? hub_str_is(name, own->name) : name.len == 0;
    if (is_same || own->equipping != NULL) {
        hub_remember_equipped_now(audience);
    } else if (name.len == 0) {
        saved_unequip_quietly(audience, true);
        hub_remember_equipped_now(audience);
    } else {
        saved_task *one = saved_task_create(audience, hub_str_of(hub_audience_who(audience)), name,
                                            HUB_STR_EMPTY);
        if (one == NULL) {
            hub_remember_equipped_now(audience);
            return;
        }
        one->is_of_record = true;
        start_equip(one);
    }
}

/* ---- by the settings ------------------------------------------------------------------------- */

static bool is_fixed(const hub_settings *settings, const char *name)
{
    bool is = false;
    for (size_t i = 0; !is && i < settings->saved_count; i++) {
        is = strcmp(settings->saved[i].name, name) == 0;
    }
    return is;
}

void hub_saved_start(hub_profile *profile)
{
    const char *name = hub_profile_settings_of(profile)->equip;
    hub_audience *audience = hub_profile_audience(profile);
    bool is_here = name != NULL && is_fixed(hub_settings_of(hub_profile_hub(profile)), name);
    saved_task *one = NULL;
    if (name == NULL || audience == NULL || saved_part_of(audience)->equipping != NULL) {
        return;
    }
    one = saved_task_create(audience, is_here ? HUB_STR_EMPTY : HUB_STR("local"), hub_str_of(name),
                            HUB_STR_EMPTY);
    if (one == NULL) {
        hub_log(HUB_LOG_WARNING, "saved.refused", HUB_F_TEXT("saved", name),
                HUB_F_TEXT("reason", "out of memory"));
        return;
    }
    saved_part_of(audience)->equipping = one;
    (is_here ? hub_saved_find_fixed : hub_saved_find)(one->hub, hub_str_of(one->principal),
                                                      hub_str_of(one->name), on_found, one);
}

static void review(hub_profile *profile)
{
    hub_audience *first = hub_profile_audience(profile);
    const char *wanted = hub_profile_settings_of(profile)->equip;
    const char *name = first != NULL ? saved_part_of(first)->name : NULL;
    if (wanted != NULL && (name == NULL || strcmp(name, wanted) != 0)) {
        hub_saved_start(profile);
    } else if (name != NULL && wanted == NULL) {
        saved_unequip_quietly(first, true);
    }
    for (hub_audience *at = first; at != NULL; at = hub_audience_next(at)) {
        saved_follow(at);
    }
}

void hub_saved_review(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        if (!hub_profile_is_leaving(hub_profile_at(hub, i))) {
            review(hub_profile_at(hub, i));
        }
    }
}

/* ---- the station ----------------------------------------------------------------------------- */

static hub_err audience_begins(hub_audience *audience, const hub_audience *from)
{
    const saved_of_audience *other = from != NULL ? saved_part_of(from) : NULL;
    saved_of_audience *own = saved_part_of(audience);
    if (other == NULL || other->name == NULL) {
        return HUB_OK;
    }
    own->name = hub_str_dup(hub_str_of(other->name));
    own->principal = hub_str_dup(hub_str_of(other->principal));
    own->origin = other->origin;
    own->version = other->version;
    if (own->name == NULL || own->principal == NULL) {
        return HUB_ENOMEM;
    }
    saved_note_shown(audience);
    return HUB_OK;
}

static bool audience_matters(const hub_audience *audience)
{
    return saved_part_of(audience)->tasks != NULL;
}

static void audience_ends(hub_audience *audience)
{
    saved_of_audience *own = saved_part_of(audience);
    while (own->tasks != NULL) {
        saved_task *one = own->tasks;
        DL_DELETE(own->tasks, one);
        one->audience = NULL;
        if (one->is_waiting) { /* nothing else knows of it */
            end_task(one, &(hub_saved_outcome){.err = HUB_ESTATE,
                                               .why = "the session has ended",
                                               .name = HUB_STR_EMPTY});
        }
    }
    own->equipping = NULL;
    own->following = NULL;
    clear_equipped(own);
}

static hub_err hub_begins(hub_orchestrator *hub, hub_error *reterr)
{
    (void)reterr;
    hub_remember_equip_by(hub, equip_remembered);
    return HUB_OK;
}

static void hub_ends(hub_orchestrator *hub)
{
    hub_saved_hub *own = hub_hub_part(hub, &HUB_SAVED_STATION);
    hub_state_watch_destroy(own->watch);
    own->watch = NULL;
}

static hub_station_place place;

const hub_station HUB_SAVED_STATION = {
    .name = "saved",
    .place = &place,
    .bytes =
        {[HUB_PART_HUB] = sizeof(hub_saved_hub), [HUB_PART_AUDIENCE] = sizeof(saved_of_audience)},
    .hub_begins = hub_begins,
    .hub_ends = hub_ends,
    .audience_begins = audience_begins,
    .audience_matters = audience_matters,
    .audience_ends = audience_ends,
    .toolset_listed = saved_toolset_listed,
};
