/* SPDX-License-Identifier: Apache-2.0 */
/* The table of stations: what stands on the way of a call, and in which order. A new feature is a row
 * here. */
#ifndef HUB_HUB_ROUTER_STATIONS_H
#define HUB_HUB_ROUTER_STATIONS_H

#include "hub/kernel/station.h"

extern const hub_station *const HUB_STATIONS[];
extern const size_t HUB_STATION_COUNT;

#endif
