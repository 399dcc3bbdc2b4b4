/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often clients may call, at all hubs that share a store together: limits.calls_per_second of one
 * client, and …_per_principal. Each hub has let by what its own count allows (rates.h), so a flood
 * never gets to the store; a call of what is left waits until the store has said that it may come.
 * Without its answer, `replicas.fail` decides. A session is a client whose requests all come to one
 * hub: that one counts them. Requests that become no calls are each hub's own to count. Thread: [loop].
 */
#ifndef HUB_HUB_LIMITS_SHARED_RATES_H
#define HUB_HUB_LIMITS_SHARED_RATES_H

#include "hub/kernel/station.h"

extern const hub_station HUB_SHARED_RATES_STATION;

#endif
