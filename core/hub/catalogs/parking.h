/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parking: requests that wait because a catalog is not known yet. A list waits at most
 * discover_timeout_ms in all for a toolset that was asked; a call, whose tool may be in the catalog
 * that is late, waits that long itself. Whoever has waited is handled with what is known by then
 * and does not wait twice. A parked request is a call like any other: it counts against the limits
 * of its session, and can be cancelled. Thread: [loop].
 */
#ifndef HUB_HUB_CATALOGS_PARKING_H
#define HUB_HUB_CATALOGS_PARKING_H

#include "hub/kernel/respond.h"

/* Whether a catalog that belongs to what an audience sees is not known and worth waiting for. `patient`: also
 * one that is late already. */
bool hub_parking_is_useful(const hub_audience *audience, bool patient);

/* Park a request, and have the catalogs asked for; or answer why not. It may have been handled when
 * this returns. */
void hub_parking_add(const hub_request *request, bool patient);

/* Take up again what waits for nothing any more. */
void hub_parking_wake(hub_audience *audience);

#endif
