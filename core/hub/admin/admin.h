/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door for administration, and what is told through it of all that happens. The hub knows no
 * administration: somebody above it answers the method HUB_ADMIN_METHOD, and reads events (events.h).
 * Thread: [loop].
 */
#ifndef HUB_HUB_ADMIN_ADMIN_H
#define HUB_HUB_ADMIN_ADMIN_H

#include "hub/kernel/respond.h"
#include "hub/kernel/settings.h"
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

/* Whoever can read the configuration anew, from where the hub has it, without a change of anything.
 * owns:    *ret_settings, hub_settings_unref
 * thread:  [worker]      blocks: yes, reads files
 * errors:  as reading them at a start; the text says where */
typedef hub_err hub_admin_read(void *ctx, const hub_settings **ret_settings, hub_error *reterr);

/* NULL: nobody can. */
void hub_admin_set_reader(hub_orchestrator *hub, hub_admin_read *read, void *ctx);
hub_admin_read *hub_admin_reader_of(const hub_orchestrator *hub, void **ret_ctx);

/* Have it answered; where there is nobody, the method is unknown. */
void hub_admin_respond(const hub_request *request);

/* Be told when a call that the administrator holds ends without its doing. NULL: no more. */
void hub_admin_on_end(hub_call *call, void (*on_end)(void *ctx), void *ctx);

#endif
