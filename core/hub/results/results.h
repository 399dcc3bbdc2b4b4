/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of tools that are larger than they may be (settings: results, of the hub, of a toolset, of a
 * tool): their beginning is passed on (truncate), the call fails (error), or the beginning is passed on
 * with a link and the whole is kept (spill; kept.h), where the tool `read_result` and resources/read
 * find it (read.h). What fits passes byte by byte, and calls of toolsets without a bound do not come
 * here. A task's result goes by what is said of its toolset. Thread: [loop].
 */
#ifndef HUB_HUB_RESULTS_RESULTS_H
#define HUB_HUB_RESULTS_RESULTS_H

#include "hub/kernel/station.h"
#include "hub/results/kept.h"

extern const hub_station HUB_RESULTS_STATION;

/* What the URI of a result begins with; its id follows. */
#define HUB_RESULT_URI "patchbay://results/"

hub_kept_results *hub_results_kept(const struct hub_orchestrator *hub);

/* Whether a result is one text, and has no structuredContent; then that is what is read of it. */
bool hub_result_is_text(hub_str result);

#endif
