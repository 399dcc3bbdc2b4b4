/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts calls per tool, and how they ended: the whole of a new feature, as a folder of core/hub would
 * have it. It includes the kernel alone, and nothing knows of it but its row in the table of stations.
 */
#include "base/map.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

#include <stdio.h>
#include <stdlib.h>

/* With the hub, for each tool that was called. */
typedef struct tool_count {
    size_t calls;
    size_t results;
    size_t failures;
    size_t cancelled;
    UT_hash_handle hh;
    char id[]; /* canonical: TOOLSET:TOOL */
} tool_count;

extern const hub_station TOOL_COUNTS_STATION;

static tool_count **counts_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &TOOL_COUNTS_STATION);
}

static tool_count *tool_counts_find(const hub_orchestrator *hub, const char *id)
{
    tool_count *found;
    HASH_FIND_STR(*counts_of(hub), id, found);
    return found;
}

static tool_count *find_or_add(const hub_orchestrator *hub, const char *id, size_t len)
{
    tool_count *counted = tool_counts_find(hub, id);
    if (counted == NULL && (counted = calloc(1, sizeof *counted + len + 1)) != NULL) {
        memcpy(counted->id, id, len);
        HASH_ADD_STR(*counts_of(hub), id, counted);
    }
    return counted;
}

static hub_verdict count_begin(hub_call *call, hub_way *way)
{
    char id[HUB_LIMIT_TOOLSET_KEY_BYTES + 1 + 128];
    if (hub_call_is_of_tool(call)) {
        int len = snprintf(id, sizeof id, "%s:" HUB_STR_FMT, hub_toolset_key(way->toolset),
                           HUB_STR_ARG(way->name));
        tool_count **part = hub_call_part_of(call, &TOOL_COUNTS_STATION);
        *part = find_or_add(hub_toolset_hub(way->toolset), id, (size_t)len);
        (*part)->calls++;
    }
    return HUB_GO_ON;
}

static void count_end(hub_call *call, const hub_outcome *outcome)
{
    tool_count **part = hub_call_find_part(call, &TOOL_COUNTS_STATION);
    if (part == NULL) {
        return;
    }
    if (outcome == NULL) {
        (*part)->cancelled++;
    } else if (outcome->status == PATCHBAY_RESULT) {
        (*part)->results++;
    } else {
        (*part)->failures++;
    }
}

static bool wants_every_call(const hub_orchestrator *hub)
{
    (void)hub;
    return true;
}

static void forget_counts(hub_orchestrator *hub)
{
    tool_count *one;
    tool_count *next;
    HASH_ITER(hh, *counts_of(hub), one, next)
    {
        HASH_DEL(*counts_of(hub), one);
        free(one);
    }
}

static hub_station_place tool_counts_place;

const hub_station TOOL_COUNTS_STATION = {
    .name = "tool_counts",
    .place = &tool_counts_place,
    .bytes = {[HUB_PART_HUB] = sizeof(tool_count *), [HUB_PART_CALL] = sizeof(tool_count *)},
    .wants_hub = wants_every_call,
    .begin = count_begin,
    .end = count_end,
    .hub_drops = forget_counts,
};
