/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub's own tools for who acts as somebody (hub/admin/act.h): a profile need not list them.
 * Internal to the router. Thread: [loop].
 */
#ifndef HUB_HUB_ROUTER_OWN_TOOLS_H
#define HUB_HUB_ROUTER_OWN_TOOLS_H

#include "hub/kernel/respond.h"

/* Answer HUB_ACT_OWN_TOOL; for a client the method is unknown. */
void hub_own_tools_respond(const hub_request *request);

#endif
