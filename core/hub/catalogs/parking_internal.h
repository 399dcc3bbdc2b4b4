/* SPDX-License-Identifier: Apache-2.0 */
/* What parking.c and await.c share. Thread: [loop]. */
#ifndef HUB_HUB_CATALOGS_PARKING_INTERNAL_H
#define HUB_HUB_CATALOGS_PARKING_INTERNAL_H

#include "hub/catalogs/catalogs_internal.h"
#include "hub/catalogs/parking.h"

/* Whether a request has waited already. Another station may have held it before. */
bool parking_has_waited(const hub_request *request);

/* Make a call of a request that is going to wait, and keep its bytes; `extra_bytes` are held of its
 * session, too. NULL: it was answered. Put it into a list next (parking_enter). */
parked *parking_begin(const hub_request *request, size_t extra_bytes);

void parking_enter(parked *one, parked **list);
void parking_move(parked *one, parked **list);

/* Take a parked request up again, with what is known by now: it does not wait twice. */
void parking_resume(parked *one);

/* … all that are going. */
void parking_resume_all(audience_catalogs *in);

/* It waits for no toolset any more. */
void parking_forget_waits(parked *one);

#endif
