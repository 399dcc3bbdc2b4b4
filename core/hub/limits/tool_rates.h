/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often tools may be called, by all clients together: toolsets.KEY.tools.limits, for tools that
 * cost money or that their service counts. Each entry has one bucket for all tools that its name, a
 * glob, matches; a call has to find room in every entry that matches, or it costs none of them
 * anything. A call over a limit is answered like a client over its own (rates.h). Only toolsets with
 * such entries are looked at.
 *
 * With a store that other hubs share, the limits are those of all of them: a call waits until the
 * store has said that it may come. Without its answer, `replicas.fail` decides. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_TOOL_RATES_H
#define HUB_HUB_LIMITS_TOOL_RATES_H

#include "hub/kernel/station.h"

extern const hub_station HUB_TOOL_RATES_STATION;

#endif
