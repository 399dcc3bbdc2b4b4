/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/remember/remember.h"

#include "hub/kernel/call.h"
#include "hub/remember/seat.h"

#include <string.h>

remember *remember_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_REMEMBER_STATION);
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_to_be_on(const hub_settings *settings)
{
    const char *place = settings->state.place;
    return settings->remember != HUB_REMEMBER_NONE && place != NULL &&
           strcmp(place, HUB_STATE_PLACE_OFF) != 0;
}

/* Toolsets that were missing may be there: what was remembered of them is so again. */
static void on_later(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    seat *next;
    for (seat *at = remember_of(timer->data)->used; at != NULL; at = next) {
        next = at->next;
        if (at->is_missing_some && seat_is_quiet(at)) {
            (void)seat_restore(at, false); /* nobody is there: it is read when somebody is */
        }
    }
}

static bool wants_hub(const hub_orchestrator *hub)
{
    return is_to_be_on(hub_settings_of(hub));
}

static hub_err begin(hub_orchestrator *hub, hub_error *reterr)
{
    (void)reterr;
    remember *all = remember_of(hub);
    ev_timer_init(&all->later, on_later, 0., 0.);
    all->later.data = hub;
    all->is_on = is_to_be_on(hub_settings_of(hub));
    return HUB_OK;
}

static void settings_changed(hub_orchestrator *hub)
{
    remember *all = remember_of(hub);
    all->is_on = is_to_be_on(hub_settings_of(hub));
    if (all->seats != NULL) {
        ev_timer_start(hub_loop(hub), &all->later); /* when the reload is done */
        remember_follow(hub);
    }
}

/* What was not written yet is, as far as the store still takes it. */
static void end(hub_orchestrator *hub)
{
    remember *all = remember_of(hub);
    all->is_ending = true;
    remember_unfollow(hub);
    ev_timer_stop(hub_loop(hub), &all->later);
    while (all->used != NULL) {
        seat *of = all->used;
        if (of->is_dirty && of->op != NULL) {
            hub_state_cancel(of->op);
            of->op = NULL;
        }
        seat_write(of);
        seat_tell(of, true);
        seat_drop(of);
    }
}

static void end_call(hub_call *call, const struct hub_outcome *outcome)
{
    (void)outcome;
    remember_end_held(call);
}

/* Its record is read again when its principal comes back. */
static void end_audience(hub_audience *audience)
{
    seat *of = seat_of(audience);
    if (of != NULL && of->is_equipping) {
        hub_remember_equipped_now(audience);
    }
    if (of != NULL) {
        seat_settle(of);
    }
    if (of != NULL && !of->is_first && seat_is_quiet(of)) {
        seat_drop(of);
    }
}

static hub_station_place place;

const hub_station HUB_REMEMBER_STATION = {
    .name = "remember",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(remember),
              [HUB_PART_SESSION] = sizeof(bool),
              [HUB_PART_CALL] = sizeof(held)},
    .end = end_call,
    .wants_hub = wants_hub,
    .hub_begins = begin,
    .hub_ends = end,
    .settings_changed = settings_changed,
    .audience_ends = end_audience,
};
