/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of native tools are held to the outputSchema that their definition promised. One that breaks
 * it is a fault of the plugin: it is logged and counted as that, and the caller gets a failed result in
 * its place, as clients throw away what does not conform. Results of servers are theirs. Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, Output Schema
 */
#ifndef HUB_HUB_PROMISES_PROMISES_H
#define HUB_HUB_PROMISES_PROMISES_H

#include "hub/kernel/station.h"

extern const hub_station HUB_PROMISES_STATION;

#endif
