/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overrides on the way of calls: arguments that an operator has fixed, or given a default, are put
 * into the call before anybody judges it; access rules, checks and records are about what is sent.
 * The client's own bytes stay as they are. A client that sends an argument that is not for it to
 * set is refused with -32602, and so are arguments with the same key twice, where it is not known
 * which one the tool would take.
 *
 * Calls of a toolset without such overrides do not pass here. Thread: [loop].
 */
#ifndef HUB_HUB_OVERRIDES_OVERRIDES_H
#define HUB_HUB_OVERRIDES_OVERRIDES_H

#include "base/name_list.h"
#include "hub/kernel/station.h"

extern const hub_station HUB_OVERRIDES_STATION;

/* Overrides of a toolset that fit none of its tools, or no argument of those that they fit, as far as
 * its tools are known. */
const hub_name_list *hub_overrides_unused(const struct hub_toolset *toolset);

#endif
