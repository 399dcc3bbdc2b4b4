/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments of tools whose catalog is checked (native ones): they satisfy the tool's inputSchema, or
 * the call fails with what is wrong. Servers check their own. Thread: [loop].
 */
#ifndef HUB_HUB_ARGUMENTS_ARGUMENTS_H
#define HUB_HUB_ARGUMENTS_ARGUMENTS_H

#include "hub/kernel/station.h"

extern const hub_station HUB_ARGUMENTS_STATION;

#endif
