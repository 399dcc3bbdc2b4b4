/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/arguments/arguments.h"

#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
    return hub_toolset_is_meta(toolset) || (tools != NULL && tools->compiled);
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    hub_error why; /* not cleared for each call: a failure fills it */
    if (way->item == NULL || way->item->schema == NULL ||
        hub_schema_validate(way->item->schema, way->arguments, "arguments", &why) == HUB_OK) {
        return HUB_GO_ON;
    }
    hub_call_fail(call, PATCHBAY_INVALID_INPUT, hub_str_of(why.text));
    return HUB_ANSWERED;
}

static hub_station_place place;

const hub_station HUB_ARGUMENTS_STATION = {
    .name = "arguments",
    .place = &place,
    .wants_toolset = wants_toolset,
    .begin = begin,
};
