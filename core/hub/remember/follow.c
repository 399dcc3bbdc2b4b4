/* SPDX-License-Identifier: Apache-2.0 */
/* Following what other processes write. What nobody here has asked for is read when somebody does. */
#include "hub/remember/seat.h"

#include "base/log.h"

#include <utlist.h>

/* Whether a change of the record is news: what is being written is newer than it. */
static bool is_news(const seat *of, uint64_t version)
{
    bool is_writing = of->op != NULL && !of->is_reading;
    return version > of->version && !is_writing && !of->is_dirty;
}

static void list(hub_orchestrator *hub, hub_str after_owner, hub_str after_key);

/* All records were listed: one that was not there is gone. A store that is another one than before is
 * given what it lacks. */
static void finish_list(hub_orchestrator *hub)
{
    remember *all = remember_of(hub);
    bool is_other = all->is_other;
    seat *next;
    all->is_other = false;
    for (seat *at = all->used; at != NULL; at = next) {
        next = at->next;
        if (at->is_listed || at->version == 0 || at->op != NULL || at->is_dirty) {
            continue;
        }
        if (is_other && seat_audience(at) != NULL) {
            at->is_dirty = true;
            seat_write(at);
        } else {
            seat_read(at);
        }
    }
}

static void on_list(void *ctx, const hub_state_result *result)
{
    hub_orchestrator *hub = ctx;
    remember *all = remember_of(hub);
    bool lists_again = all->lists_again;
    all->listing = NULL;
    if (result->err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "active.not_followed", HUB_F_TEXT("reason", result->why));
        return;
    }
    for (size_t i = 0; !lists_again && i < result->count; i++) {
        const hub_state_record *record = &result->records[i];
        seat *of = seat_find(hub, record->key, record->owner);
        if (of == NULL) {
            continue;
        }
        of->is_listed = true;
        if ((record->version != of->version && !of->is_dirty && of->op == NULL) || of->is_reading) {
            seat_read(of);
        }
    }
    if (lists_again) {
        list(hub, HUB_STR_EMPTY, HUB_STR_EMPTY);
    } else if (result->has_more && result->count > 0) {
        const hub_state_record *last = &result->records[result->count - 1];
        list(hub, last->owner, last->key);
    } else {
        finish_list(hub);
    }
}

/* A page of all records, behind that one; key empty: the first. */
static void list(hub_orchestrator *hub, hub_str after_owner, hub_str after_key)
{
    remember *all = remember_of(hub);
    const hub_state_range range = {.kind = &REMEMBER_KIND,
                                   .is_of_all = true,
                                   .after_owner = after_owner,
                                   .after_key = after_key};
    hub_error why = {.code = HUB_OK};
    seat *at;
    all->lists_again = false;
    if (after_key.len == 0) {
        DL_FOREACH(all->used, at)
        {
            at->is_listed = false;
        }
    }
    if (hub_state_list(hub_store_of(hub), &range, on_list, hub, &all->listing, &why) != HUB_OK) {
        all->listing = NULL;
        hub_log(HUB_LOG_WARNING, "active.not_followed", HUB_F_TEXT("reason", why.text));
    }
}

/* The store is back: what it could not take is written, and what it could not say is read. */
static void try_again(hub_orchestrator *hub)
{
    seat *next;
    for (seat *at = remember_of(hub)->used; at != NULL; at = next) {
        next = at->next;
        if (at->op != NULL || at->is_dirty) {
            continue;
        }
        if (at->has_failed && seat_audience(at) != NULL) {
            at->is_dirty = true;
            seat_write(at);
        } else if (at->is_unread) {
            seat_read(at);
        }
    }
}

static void on_change(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    hub_orchestrator *hub = ctx;
    remember *all = remember_of(hub);
    if (event == HUB_STATE_CHANGED) {
        seat *of = seat_find(hub, changed->key, changed->owner);
        if (of != NULL && is_news(of, changed->version)) {
            seat_read(of);
        }
        return;
    }
    if (event == HUB_STATE_BACK) {
        try_again(hub);
        return;
    }
    all->is_other = all->is_other || event == HUB_STATE_OTHER;
    if (all->listing != NULL) {
        all->lists_again = true;
    } else if (all->seats != NULL) {
        list(hub, HUB_STR_EMPTY, HUB_STR_EMPTY);
    }
}

void remember_follow(hub_orchestrator *hub)
{
    remember *all = remember_of(hub);
    const hub_state_range range = {.kind = &REMEMBER_KIND, .is_of_all = true};
    hub_error why = {.code = HUB_OK};
    if (!all->is_on || hub_settings_of(hub)->listen_count == 0) {
        remember_unfollow(hub);
    } else if (all->watch == NULL && hub_state_watch_create(hub_store_of(hub), &range, on_change,
                                                            hub, &all->watch, &why) != HUB_OK) {
        all->watch = NULL;
        hub_log(HUB_LOG_WARNING, "active.not_followed", HUB_F_TEXT("reason", why.text));
    }
}

void remember_unfollow(hub_orchestrator *hub)
{
    remember *all = remember_of(hub);
    hub_state_watch *watch = all->watch;
    all->watch = NULL;
    hub_state_watch_destroy(watch);
    if (all->listing != NULL) {
        hub_state_cancel(all->listing);
        all->listing = NULL;
    }
}
