/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/limits/takes.h"

#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>
#include <utlist.h>

void hub_take_limits_init(hub_take_limits *limits)
{
    limits->count = 0;
    hub_buf_init(&limits->names, SIZE_MAX / 2);
}

void hub_take_limits_fini(hub_take_limits *limits)
{
    hub_buf_fini(&limits->names);
}

void hub_take_limits_add(hub_take_limits *limits, hub_bucket_rate rate, hub_str first,
                         hub_str second)
{
    hub_assert(limits->count < HUB_LIMIT_STATE_TAKES);
    size_t before = limits->names.len;
    hub_buf_add(&limits->names, first);
    hub_buf_add_char(&limits->names, '\t');
    hub_buf_add(&limits->names, second);
    limits->items[limits->count++] = (hub_state_limit){
        .name = {.len = limits->names.len - before}, /* where: when all are there */
        .per_second = rate.per_second,
        .at_once = rate.at_once};
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* owns:    the result */
static hub_kept_way *stop_waiting(hub_take *one)
{
    hub_kept_way *kept = one->kept;
    DL_DELETE(*one->list, one);
    hub_session_release(hub_call_session(one->call), hub_kept_way_bytes(kept));
    if (one->op != NULL) {
        hub_state_cancel(one->op);
    }
    one->kept = NULL;
    return kept;
}

static void on_taken(void *ctx, hub_err err, uint32_t wait_ms, size_t over)
{
    hub_take *one = ctx;
    hub_call *call = one->call;
    const hub_station *station = one->station;
    hub_take_said *said = one->said;
    one->op = NULL;
    hub_kept_way *kept = stop_waiting(one);
    if (said(call, &kept->way, err, wait_ms, over) == HUB_GO_ON) {
        hub_call_send_from(call, station, kept);
    }
    free(kept);
}

static hub_err send_limits(hub_store *store, hub_take_limits *limits, hub_take *one)
{
    char text[HUB_WHOSE_BYTES];
    hub_str whose = hub_session_whose(hub_call_session(one->call), text);
    const char *at = limits->names.ptr;
    for (size_t i = 0; i < limits->count; i++) {
        limits->items[i].name.ptr = at;
        at += limits->items[i].name.len;
    }
    return hub_state_take(store, whose, limits->items, limits->count, on_taken, one, &one->op,
                          NULL);
}

hub_verdict hub_take_ask(hub_call *call, const hub_way *way, const hub_station *station,
                         hub_take_limits *limits, hub_take_said *said, hub_take **list)
{
    if (limits->count == 0) {
        return HUB_GO_ON;
    }
    hub_kept_way *kept = hub_buf_ok(&limits->names) ? hub_way_keep(way) : NULL;
    if (kept == NULL || !hub_session_hold(hub_call_session(call), hub_kept_way_bytes(kept))) {
        hub_call_refuse(call, PATCHBAY_UNAVAILABLE,
                        kept == NULL ? HUB_STR("out of memory")
                                     : HUB_STR("your calls that wait for the store of the replicas "
                                               "hold as much as they may: try again"));
        free(kept);
        return HUB_ANSWERED;
    }
    hub_take *one = hub_call_part_of(call, station);
    *one = (hub_take){.call = call, .kept = kept, .station = station, .said = said, .list = list};
    DL_APPEND(*list, one);
    if (send_limits(hub_store_of(hub_toolset_hub(way->toolset)), limits, one) == HUB_OK) {
        return HUB_HOLD;
    }
    one->op = NULL;
    free(stop_waiting(one));
    return said(call, way, HUB_EUNAVAILABLE, 0, 0);
}

void hub_take_end(hub_call *call, const hub_station *station)
{
    hub_take *one = hub_call_find_part(call, station);
    if (one != NULL && one->kept != NULL) {
        free(stop_waiting(one));
    }
}

void hub_take_fail_all(hub_take **list)
{
    while (*list != NULL) {
        hub_call *call = (*list)->call;
        free(stop_waiting(*list));
        hub_call_fail(call, PATCHBAY_UNAVAILABLE, HUB_STR("the toolset was disabled"));
    }
}

/* ---- without the store ----------------------------------------------------------------------- */

hub_verdict hub_take_without(hub_call *call, const hub_orchestrator *hub)
{
    switch (hub_settings_of(hub)->replicas.fail) {
    case HUB_REPLICAS_OPEN:
        return HUB_GO_ON;
    case HUB_REPLICAS_CLOSED:
        hub_call_refuse(call, PATCHBAY_UNAVAILABLE,
                        HUB_STR("the limits of this call cannot be checked: the store that the "
                                "replicas share cannot be used. Try again later"));
        return HUB_ANSWERED;
    case HUB_REPLICAS_LOCAL:
        break;
    }
    return HUB_HOLD;
}

/* A part of a number, but something of it. */
static uint32_t share_of(uint32_t number, uint32_t count)
{
    return number > count ? number / count : 1;
}

hub_bucket_rate hub_take_share(const hub_orchestrator *hub, hub_bucket_rate rate)
{
    uint32_t count = hub_settings_of(hub)->replicas.count;
    return (hub_bucket_rate){.per_second = share_of(rate.per_second, count),
                             .at_once = share_of(rate.at_once, count)};
}
