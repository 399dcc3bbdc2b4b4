/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that have a place of their toolset (max_calls) and wait for their user: of one who does not answer
 * some are given up where other clients find no place. Thread: [loop].
 */
#ifndef HUB_HUB_ASK_SILENT_H
#define HUB_HUB_ASK_SILENT_H

#include "hub/kernel/toolset.h"

/* The station's: a call of `whose` has waited so long for a place. Of the calls whose users have been silent
 * as long, the one that was asked first ends; but only of a client with at least two such calls more than
 * `whose` has places, so that nobody has less than whom a place goes to. */
void hub_silent_give_way(hub_toolset *toolset, hub_str whose, uint64_t waited_ms);

#endif
