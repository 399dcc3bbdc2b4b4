/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of the same tool in several toolsets, with the results side by side (REQUIREMENTS S5.26):
 * the group `fanout` of the hub's own tools. Each of the calls is a request of the same session, as its
 * client would send it: rules, rates, limits, audit and results are those of that tool. They end with
 * the call that asked for them. Nobody is asked anything meanwhile by a modern server: there is no way
 * to answer one of several. Thread: [loop].
 */
#ifndef HUB_HUB_FANOUT_FANOUT_H
#define HUB_HUB_FANOUT_FANOUT_H

#include "hub/kernel/station.h"
#include "hub/meta/meta_tool.h"

extern const hub_station HUB_FANOUT_STATION;
extern const hub_meta_tool HUB_FANOUT_TOOLS[];

#endif
