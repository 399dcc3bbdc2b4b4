/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often one session is told that resources have changed: HUB_LIMIT_UPDATES_PER_S, and
 * HUB_LIMIT_UPDATES_BURST at once. What comes more often is told as soon as there is room, once for
 * each subscription however often it changed: whoever hears of it reads the resource as it is then.
 * Thread: [loop].
 * spec: MCP 2026-07-28 server/resources, Subscriptions; 2025-11-25 likewise
 */
#ifndef HUB_HUB_NOTICES_UPDATE_PACE_H
#define HUB_HUB_NOTICES_UPDATE_PACE_H

#include "hub/notices/subscription_internal.h"

/* Whether a subscriber may be told now; if not, hub_subscriber_tell is called when it may. */
bool hub_update_pace_admit(hub_subscriber *subscriber);

/* It will not be told any more. */
void hub_update_pace_forget(hub_subscriber *subscriber);

#endif
