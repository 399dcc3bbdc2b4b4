/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door for administration, and what is told through it of all that happens. The hub knows no
 * administration: somebody above it answers the method HUB_ADMIN_METHOD, and reads events (events.h).
 * Thread: [loop].
 */
#ifndef HUB_HUB_ADMIN_ADMIN_H
#define HUB_HUB_ADMIN_ADMIN_H

#include "hub/kernel/respond.h"
#include "hub/kernel/station.h"

/* A request of the administration's API as a message of MCP: for Unix sockets, and for commands. */
#define HUB_ADMIN_METHOD "patchbay/api"

extern const hub_station HUB_ADMIN_STATION;

/* Who answers; `serve` answers the request, or makes it a call and holds that. NULL: nobody does any
 * more. */
typedef struct hub_administrator {
    void (*serve)(void *ctx, const hub_request *request);
} hub_administrator;

void hub_admin_set(hub_orchestrator *hub, const hub_administrator *administrator, void *ctx);

/* Have it answered; where there is nobody, the method is unknown. */
void hub_admin_respond(const hub_request *request);

/* Be told when a call that the administrator holds ends without its doing. NULL: no more. */
void hub_admin_on_end(hub_call *call, void (*on_end)(void *ctx), void *ctx);

#endif
