/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking servers that were never connected what they have, before a call of the hub's own tools is
 * answered that is about all of them. Each is used for as long as that takes. Thread: [loop].
 */
#ifndef HUB_HUB_SAVED_ASK_H
#define HUB_HUB_SAVED_ASK_H

#include "hub/kernel/sight.h"
#include "hub/kernel/way.h"

typedef void hub_saved_on_asked(hub_call *call, void *ctx);

/* Have every toolset asked of which something may be said to the call's session, and whose tools nobody
 * knows, then tell; at once when there is none. `meta` is that of the request. A call that has ended
 * is NULL. */
void hub_saved_ask(hub_call *call, hub_str meta, hub_saved_on_asked *on_asked, void *ctx);

/* Whether something may be said of a toolset, and nobody knows what tools it has: one that was asked did not
 * answer. */
bool hub_saved_is_silent(hub_sight sight, const hub_toolset *toolset);

#endif
