/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/promises/promises.h"

#include "hub/kernel/call.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "tools/promise.h"

/* With a call. */
typedef struct promise_part {
    hub_promise *promise; /* a reference: of the tool as it was when the call began */
    hub_buf failure;      /* what its outcome has become */
} promise_part;

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
    return tools != NULL && tools->promises;
}

/* A call that asks for a task is answered with that, and its result is another request's. */
static hub_verdict begin(hub_call *call, hub_way *way)
{
    if (way->item != NULL && way->item->promise != NULL && way->message->at[HUB_M_TASK].len == 0) {
        promise_part *part = hub_call_part_of(call, &HUB_PROMISES_STATION);
        part->promise = hub_promise_ref(way->item->promise);
        hub_buf_init(&part->failure, sizeof((hub_error *)0)->text);
    }
    return HUB_GO_ON;
}

static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    hub_error why;
    promise_part *part = hub_call_find_part(call, &HUB_PROMISES_STATION);
    if (part == NULL || part->promise == NULL || outcome->is_partial ||
        hub_outcome_is_error(call, outcome) ||
        hub_promise_check(part->promise, outcome->json, &why) != HUB_EINVAL) {
        return HUB_GO_ON;
    }
    hub_binding_blame(hub_call_binding(call), why.text);
    hub_buf_clear(&part->failure);
    hub_buf_add(&part->failure, hub_str_of(why.text));
    *outcome = (hub_outcome){.status = PATCHBAY_FAILED,
                             .json = hub_buf_ok(&part->failure) ? hub_buf_str(&part->failure)
                                                                : HUB_STR("out of memory")};
    return HUB_GO_ON;
}

static void drop(hub_call *call)
{
    promise_part *part = hub_call_find_part(call, &HUB_PROMISES_STATION);
    if (part != NULL) {
        hub_promise_unref(part->promise);
        hub_buf_fini(&part->failure);
    }
}

static hub_station_place place;

const hub_station HUB_PROMISES_STATION = {
    .name = "promises",
    .place = &place,
    .bytes = {[HUB_PART_CALL] = sizeof(promise_part)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .answer = answer,
    .drop = drop,
};
