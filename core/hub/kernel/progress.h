/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress on its way to the client of a call. A toolset may report as often as it likes; the
 * client is told at a rate that a person can follow: the newest that was held back is told when the
 * next may be, or before the answer. What is too large to be held back is told at once or not at
 * all, and leaves the one before in its place. Thread: [loop].
 * spec: MCP 2026-07-28 basic/patterns/progress (both parties should limit the rate)
 */
#ifndef HUB_HUB_KERNEL_PROGRESS_H
#define HUB_HUB_KERNEL_PROGRESS_H

#include "hub/kernel/call.h"

/* Pass a notification on under the client's own token, at once. */
void hub_progress_notify(hub_port *port, hub_str token, hub_str params_json);

/* Tell the client, or keep it for later. `params_json` is borrowed. */
void hub_progress_take(hub_call *call, hub_str params_json);

extern const hub_station HUB_PROGRESS_STATION;

#endif
