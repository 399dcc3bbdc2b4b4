/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/queue.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/share.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* With a call: it waits. */
typedef struct waiting {
    hub_call *call;
    struct lane *lane;
    hub_kept_way *kept; /* NULL: it waits no more */
    struct waiting *next;
    struct waiting *prev;
} waiting;

/* The calls of one client. */
typedef struct lane {
    waiting *first;
    size_t count;
    struct lane *next; /* in `turn` */
    struct lane *prev;
    UT_hash_handle hh;
    char whose[];
} lane;

/* With a toolset. */
typedef struct queue {
    lane *lanes;  /* uthash over whose they are (hub_session_whose) */
    lane *turn;   /* the same, in the order of their turns */
    size_t count; /* calls */
    ev_timer wake;
} queue;

static queue *queue_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_QUEUE_STATION);
}

size_t hub_queue_count(const hub_toolset *toolset)
{
    return queue_of(toolset)->count;
}

static bool has_place(const hub_toolset *toolset)
{
    uint32_t most = hub_toolset_settings_of(toolset)->max_calls;
    return most == 0 || hub_binding_places(hub_toolset_binding(toolset)) < most;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static lane *find_lane(const queue *of, hub_str whose)
{
    lane *found = NULL;
    HASH_FIND(hh, of->lanes, whose.ptr, (unsigned)whose.len, found);
    return found;
}

static lane *find_or_add_lane(queue *of, hub_str whose)
{
    lane *found = find_lane(of, whose);
    if (found != NULL) {
        return found;
    }
    found = calloc(1, sizeof *found + whose.len);
    if (found == NULL) {
        return NULL;
    }
    memcpy(found->whose, whose.ptr, whose.len);
    HASH_ADD(hh, of->lanes, whose, (unsigned)whose.len, found);
    if (!hub_map_has_taken(&found->hh)) {
        free(found);
        return NULL;
    }
    DL_APPEND(of->turn, found);
    return found;
}

static void drop_lane_if_empty(queue *of, lane *left)
{
    if (left->first == NULL) {
        HASH_DEL(of->lanes, left);
        DL_DELETE(of->turn, left);
        free(left);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Out of the queue. owns: the result */
static hub_kept_way *stop_waiting(waiting *one)
{
    hub_kept_way *kept = one->kept;
    queue *of = queue_of(kept->way.toolset);
    hub_call_stop_waiting(one->call);
    DL_DELETE(one->lane->first, one);
    one->lane->count--;
    drop_lane_if_empty(of, one->lane);
    hub_session_release(hub_call_session(one->call), hub_kept_way_bytes(kept));
    one->kept = NULL;
    of->count--;
    return kept;
}

/* It has waited its time. Another station may give a place up now: whether the call is under way. */
static bool take_what_is_given(hub_call *call, const hub_kept_way *waits)
{
    char text[HUB_WHOSE_BYTES];
    hub_toolset *toolset = waits->way.toolset;
    if (hub_toolset_binding(toolset) == NULL) {
        return false;
    }
    HUB_STATIONS_TELL(place_is_wanted, toolset, hub_session_whose(hub_call_session(call), text),
                      hub_clock_now_ms() - hub_call_begin_ms(call));
    if (!has_place(toolset)) {
        return false;
    }
    hub_kept_way *kept = stop_waiting(hub_call_find_part(call, &HUB_QUEUE_STATION));
    hub_call_send_from(call, &HUB_QUEUE_STATION, kept);
    free(kept);
    return true;
}

static void on_wait_over(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    const waiting *one = hub_call_find_part(call, &HUB_QUEUE_STATION);
    const hub_toolset *toolset = one->kept->way.toolset;
    hub_buf text;
    if (take_what_is_given(call, one->kept)) {
        return;
    }
    hub_buf_init(&text, HUB_LIMIT_FAILURE_TEXT_BYTES);
    hub_buf_printf(&text,
                   "toolset \"%s\": none of its max_calls (%u) became free within %llu ms "
                   "(queue_timeout, or the call's own timeout): try again",
                   hub_toolset_key(toolset), hub_toolset_settings_of(toolset)->max_calls,
                   (unsigned long long)(hub_clock_now_ms() - hub_call_begin_ms(call)));
    hub_call_refuse(call, PATCHBAY_UNAVAILABLE, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static void start_clock(hub_call *call, const hub_toolset *toolset)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    uint32_t ceiling_ms = hub_settings_of(hub_toolset_hub(toolset))->limits.call_ceiling_ms;
    uint32_t wait_ms = settings->queue_timeout_ms;
    wait_ms = wait_ms < settings->call_timeout_ms ? wait_ms : settings->call_timeout_ms;
    wait_ms = wait_ms < ceiling_ms ? wait_ms : ceiling_ms;
    hub_call_begin_clock(call);
    hub_call_wait(call, wait_ms, on_wait_over);
}

static void refuse(hub_call *call, const hub_toolset *toolset, hub_str whose)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_FAILURE_TEXT_BYTES);
    hub_buf_printf(&text, "toolset \"%s\" has as many calls in flight as it may (max_calls: %u)",
                   settings->key, settings->max_calls);
    if (settings->queue > 0) {
        hub_buf_printf(&text,
                       ", and \"" HUB_STR_FMT "\" has as many that wait as it may (queue: %u)",
                       HUB_STR_ARG(whose), settings->queue);
    }
    hub_buf_add(&text, HUB_STR(": try again"));
    hub_call_refuse(call, PATCHBAY_UNAVAILABLE, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static bool wait_for_place(hub_call *call, hub_kept_way *kept, hub_str whose)
{
    hub_session *session = hub_call_session(call);
    const hub_toolset *toolset = kept->way.toolset;
    queue *of = queue_of(toolset);
    size_t bytes = hub_kept_way_bytes(kept);
    if (!hub_session_hold(session, bytes)) {
        return false;
    }
    lane *own = find_or_add_lane(of, whose);
    if (own == NULL) {
        hub_session_release(session, bytes);
        return false;
    }
    waiting *one = hub_call_part_of(call, &HUB_QUEUE_STATION);
    one->call = call;
    one->lane = own;
    one->kept = kept;
    DL_APPEND(own->first, one);
    own->count++;
    of->count++;
    start_clock(call, toolset);
    return true;
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    const hub_toolset *toolset = way->toolset;
    const queue *of = queue_of(toolset);
    if (way->is_aside || hub_toolset_binding(toolset) == NULL ||
        (of->count == 0 && has_place(toolset))) {
        return HUB_GO_ON;
    }
    char text[HUB_WHOSE_BYTES];
    hub_str whose = hub_session_whose(hub_call_session(call), text);
    const lane *own = find_lane(of, whose);
    if (!hub_share_may(hub_toolset_settings_of(toolset)->queue, of->count,
                       own != NULL ? own->count : 0, 1)) {
        refuse(call, toolset, whose);
        return HUB_ANSWERED;
    }
    hub_kept_way *kept = hub_way_keep(way);
    if (kept == NULL || !wait_for_place(call, kept, whose)) {
        free(kept);
        hub_call_refuse(call, PATCHBAY_UNAVAILABLE,
                        HUB_STR("the toolset is busy, and there is no room for the call to wait: "
                                "try again"));
        return HUB_ANSWERED;
    }
    return HUB_HOLD;
}

/* A call that waits is over. */
static void end(hub_call *call, const hub_outcome *outcome)
{
    waiting *one = hub_call_find_part(call, &HUB_QUEUE_STATION);
    (void)outcome;
    if (one != NULL && one->kept != NULL) {
        free(stop_waiting(one));
    }
}

/* ---- taking turns ---------------------------------------------------------------------------- */

/* The call whose turn it is; its client's next turn comes after everybody else's. */
static waiting *next_call(queue *of)
{
    lane *first = of->turn;
    DL_DELETE(of->turn, first);
    DL_APPEND(of->turn, first);
    return first->first;
}

static void on_wake(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    const hub_toolset *toolset = timer->data;
    queue *of = queue_of(toolset);
    while (of->count > 0 && hub_toolset_binding(toolset) != NULL && has_place(toolset)) {
        waiting *one = next_call(of);
        hub_kept_way *kept = stop_waiting(one);
        hub_call_send_from(one->call, &HUB_QUEUE_STATION, kept);
        free(kept);
    }
}

static void begin_toolset(hub_toolset *toolset)
{
    queue *of = queue_of(toolset);
    ev_timer_init(&of->wake, on_wake, 0., 0.);
    ev_set_priority(&of->wake, EV_MAXPRI); /* before calls that are read meanwhile */
    of->wake.data = toolset;
}

static void end_toolset(hub_toolset *toolset)
{
    queue *of = queue_of(toolset);
    hub_assert(of->count == 0);
    ev_timer_stop(hub_loop(hub_toolset_hub(toolset)), &of->wake);
}

/* There may be a place: who waits gets it before the loop waits again. */
static void wake(hub_toolset *toolset)
{
    queue *of = queue_of(toolset);
    if (of->count > 0) {
        ev_timer_start(hub_loop(hub_toolset_hub(toolset)), &of->wake); /* nothing when it runs */
    }
}

/* The toolset is active no more: everybody who waits is told. */
static void fail_all(hub_toolset *toolset)
{
    queue *of = queue_of(toolset);
    while (of->count > 0) {
        hub_call_fail(next_call(of)->call, PATCHBAY_UNAVAILABLE,
                      HUB_STR("the toolset was disabled"));
    }
}

/* A call that waits, and whose client does not see the toolset any more. */
static waiting *find_lost(const queue *of, const hub_toolset *toolset)
{
    for (const lane *at = of->turn; at != NULL; at = at->next) {
        for (waiting *one = at->first; one != NULL; one = one->next) {
            const hub_session *session = hub_call_session(one->call);
            if (session != NULL && !hub_audience_has(hub_session_audience(session), toolset)) {
                return one;
            }
        }
    }
    return NULL;
}

/* Fewer see the toolset: those of the others that wait are told. */
static void sweep(hub_toolset *toolset, bool at_once)
{
    waiting *lost;
    while (at_once && (lost = find_lost(queue_of(toolset), toolset)) != NULL) {
        hub_call_fail(lost->call, PATCHBAY_UNAVAILABLE, HUB_STR("the toolset was disabled"));
    }
}

static bool wants_toolset(const hub_toolset *toolset)
{
    return hub_toolset_settings_of(toolset)->max_calls > 0 || queue_of(toolset)->count > 0;
}

static hub_station_place place;

const hub_station HUB_QUEUE_STATION = {
    .name = "queue",
    .place = &place,
    .bytes = {[HUB_PART_TOOLSET] = sizeof(queue), [HUB_PART_CALL] = sizeof(waiting)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .end = end,
    .toolset_begins = begin_toolset,
    .toolset_bound = wake,
    .toolset_tuned = wake,
    .toolset_less = sweep,
    .toolset_unbound = fail_all,
    .toolset_ends = end_toolset,
    .place_is_free = wake,
};
