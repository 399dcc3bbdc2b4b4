/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/station.h"

#include <stdalign.h>

static struct {
    const hub_station *const *table;
    size_t count;
    size_t bytes[HUB_PARTS];
    hub_station_mask triggered[HUB_ON_ALL + 1];
    hub_station_mask told_answers;
} layout;

static size_t aligned(size_t bytes)
{
    return (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}

static void place(const hub_station *station, unsigned row)
{
    hub_assert(station->name != NULL && station->place != NULL);
    hub_assert(station->place->bit == 0); /* each has one row */
    hub_assert(station->triggers <= HUB_ON_ALL);
    station->place->index = row;
    station->place->bit = (hub_station_mask)1 << row;
    for (int kind = 0; kind < HUB_PARTS; kind++) {
        station->place->offset[kind] = layout.bytes[kind];
        layout.bytes[kind] += aligned(station->bytes[kind]);
    }
    layout.told_answers |= station->answered != NULL ? station->place->bit : 0;
    for (unsigned triggers = 0; triggers <= HUB_ON_ALL; triggers++) {
        if ((station->triggers & triggers) != 0) {
            layout.triggered[triggers] |= station->place->bit;
        }
    }
}

void hub_stations_lay_out(const hub_station *const *table, size_t count)
{
    if (layout.table != NULL) {
        return;
    }
    hub_assert(count <= HUB_STATIONS_MOST);
    layout.table = table;
    layout.count = count;
    for (unsigned row = 0; row < count; row++) {
        place(table[row], row);
    }
}

size_t hub_stations_bytes(hub_part kind)
{
    hub_assert(kind < HUB_PARTS);
    hub_assert(layout.table != NULL);
    return layout.bytes[kind];
}

size_t hub_stations_count(void)
{
    return layout.count;
}

const hub_station *hub_stations_at(size_t row)
{
    return layout.table[row];
}

hub_station_mask hub_stations_told_answers(void)
{
    return layout.told_answers;
}

hub_station_mask hub_stations_triggered(unsigned triggers)
{
    hub_assert(triggers <= HUB_ON_ALL);
    return layout.triggered[triggers];
}
