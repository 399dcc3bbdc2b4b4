/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Router: from a scanned message to whoever answers it. One table of methods says which dialect has
 * which method and which function handles it: a new MCP method is a line there. tools/call looks up
 * whose tool it is in the caller's view, and sends the call on its way (kernel/way.h).
 * Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, server/discover, basic/patterns/subscriptions and
 * cancellation; 2025-11-25 basic/lifecycle
 */
#ifndef HUB_HUB_ROUTER_ROUTER_H
#define HUB_HUB_ROUTER_ROUTER_H

#include "hub/kernel/hub.h"

/* What the kernel has done by the router. */
extern const hub_hub_ops HUB_ROUTER_OPS;

#endif
