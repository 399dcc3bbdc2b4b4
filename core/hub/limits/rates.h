/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a client may ask for: requests per second, of one client and of all the clients of a
 * principal (limits.calls_per_second…). A client is a pipe, a socket, or a session over HTTP; where
 * requests belong to no session, all that a principal sends from one address (kernel/client.h). One
 * place for all transports: what is over a limit is a JSON-RPC error, whose data say which limit it
 * is and when to try again. `initialize` and `ping` are free, and so is what was asked for before
 * and waited. How many calls may be in flight is the kernel's business (hub_session_has_place); what
 * one tool may be asked is tool_rates.h's. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_RATES_H
#define HUB_HUB_LIMITS_RATES_H

#include "hub/kernel/station.h"

extern const hub_station HUB_RATES_STATION;

#endif
