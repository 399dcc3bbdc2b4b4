/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a client may ask for: requests per second, of one client and of all the clients of a
 * principal (limits.calls_per_second…). A client is a pipe, a socket, or a session over HTTP; where
 * requests belong to no session, all that a principal sends from one address (kernel/client.h). One
 * place for all transports: what is over a limit is a JSON-RPC error, whose data say which limit it
 * is and when to try again. `initialize` and `ping` are free, and so is what was asked for before
 * and waited. How many calls may be in flight is the kernel's business (hub_session_has_place); what
 * one tool may be asked is tool_rates.h's, and what hubs that share a store count together,
 * shared_rates.h's. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_RATES_H
#define HUB_HUB_LIMITS_RATES_H

#include "base/bucket.h"
#include "hub/kernel/station.h"

/* The rates that the settings name: of one client, and of all clients of a principal; per_second 0:
 * there is none. */
typedef struct hub_rates {
    hub_bucket_rate own;
    hub_bucket_rate shared;
} hub_rates;

hub_rates hub_rates_of(const hub_orchestrator *hub);

/* Append what a client is told that is over such a limit. */
void hub_rates_say(hub_buf *text, const char *limit, uint32_t per_second, uint32_t wait_ms);

extern const hub_station HUB_RATES_STATION;

#endif
