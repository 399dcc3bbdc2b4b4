/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/reload_state.h"

#include "hub/kernel/hub.h"

hub_reload_state *hub_reload_state_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_RELOAD_STATION);
}

static hub_station_place place;

const hub_station HUB_RELOAD_STATION = {
    .name = "reload",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_reload_state)},
};
