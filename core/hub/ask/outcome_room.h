/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for outcomes of calls whose clients are away. One client can fill what is a client's, one server
 * what is a server's; of one client's room the calls of one server get half, and the other way round: so
 * neither takes it from the other. Thread: [loop].
 */
#ifndef HUB_HUB_ASK_OUTCOME_ROOM_H
#define HUB_HUB_ASK_OUTCOME_ROOM_H

#include "base/share.h"

enum { HUB_OUTCOME_POOLS = 3 }; /* over clients, over toolsets, and over both */

typedef struct hub_outcome_rooms {
    hub_pool pools[HUB_OUTCOME_POOLS];
} hub_outcome_rooms;

/* What one outcome takes; all zero: nothing. */
typedef struct hub_outcome_room {
    size_t bytes;
    hub_share *shares[HUB_OUTCOME_POOLS];
} hub_outcome_room;

void hub_outcome_rooms_init(hub_outcome_rooms *rooms);

/* Take it, of a room that is nothing.
 * owns:    *ret_room, give it back
 * errors:  HUB_ELIMIT, HUB_ENOMEM: it is nothing still */
HUB_MUST_CHECK hub_err hub_outcome_room_take(hub_outcome_rooms *rooms, hub_str client,
                                             hub_str toolset, size_t bytes,
                                             hub_outcome_room *ret_room);

/* It is nothing again. */
void hub_outcome_room_give(hub_outcome_room *room);

#endif
