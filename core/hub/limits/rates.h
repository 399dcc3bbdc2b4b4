/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a client may ask for: requests per second, of one session and of all the sessions of a
 * principal (limits.calls_per_second…). One place for all transports: what is over a limit is a
 * JSON-RPC error, whose data say which limit it is and when to try again. `initialize` and `ping`
 * are free, and so is what was asked for before and waited. How many calls may be in flight is the
 * kernel's business (hub_session_has_place). Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_RATES_H
#define HUB_HUB_LIMITS_RATES_H

#include "hub/kernel/station.h"

extern const hub_station HUB_RATES_STATION;

#endif
