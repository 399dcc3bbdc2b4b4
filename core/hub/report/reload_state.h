/* SPDX-License-Identifier: Apache-2.0 */
/* What became of reloads: what the last one still waits for, and what one that was refused has said,
 * until one succeeds. Thread: [loop]. */
#ifndef HUB_HUB_REPORT_RELOAD_STATE_H
#define HUB_HUB_REPORT_RELOAD_STATE_H

#include "base/err.h"
#include "hub/kernel/station.h"
#include "hub/kernel/types.h"

typedef struct hub_reload_state {
    struct hub_reload_wait *wait; /* of reload.h; NULL: for nothing */
    uint64_t refused_ms;          /* monotonic; 0: none was */
    hub_error refusal;            /* why, without secrets */
} hub_reload_state;

extern const hub_station HUB_RELOAD_STATION;

hub_reload_state *hub_reload_state_of(const hub_orchestrator *hub);

#endif
