/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/outcome_room.h"

#include "base/buf.h"
#include "base/limits.h"

void hub_outcome_rooms_init(hub_outcome_rooms *rooms)
{
    *rooms = (hub_outcome_rooms){.pools = {{.most = HUB_LIMIT_ASKING_BYTES},
                                           {.most = HUB_LIMIT_ASKING_BYTES},
                                           {.most = HUB_LIMIT_ASKING_BYTES}}};
}

/* Of what one client may have, one toolset gets half; and the other way round. */
static bool is_half(const hub_pool *pairs, hub_str pair, size_t bytes)
{
    return bytes <= pairs->most / 2 && hub_pool_own(pairs, pair) <= pairs->most / 2 - bytes;
}

void hub_outcome_room_give(hub_outcome_room *room)
{
    for (size_t i = 0; i < HUB_OUTCOME_POOLS; i++) {
        hub_share_give(room->shares[i], room->bytes);
    }
    *room = (hub_outcome_room){.bytes = 0};
}

hub_err hub_outcome_room_take(hub_outcome_rooms *rooms, hub_str client, hub_str toolset,
                              size_t bytes, hub_outcome_room *ret_room)
{
    hub_outcome_room room = {.bytes = bytes};
    hub_buf both;
    hub_buf_init(&both, SIZE_MAX / 4);
    hub_buf_add(&both, toolset); /* a key has no line breaks */
    hub_buf_add_char(&both, '\n');
    hub_buf_add(&both, client);
    hub_str peers[HUB_OUTCOME_POOLS] = {client, toolset, hub_buf_str(&both)};
    hub_err err = !hub_buf_ok(&both)                           ? HUB_ENOMEM
                  : is_half(&rooms->pools[2], peers[2], bytes) ? HUB_OK
                                                               : HUB_ELIMIT;
    for (size_t i = 0; err == HUB_OK && bytes > 0 && i < HUB_OUTCOME_POOLS; i++) {
        err = hub_pool_take(&rooms->pools[i], peers[i], bytes, &room.shares[i]);
    }
    hub_buf_fini(&both);
    if (err == HUB_OK) {
        *ret_room = room;
    } else {
        hub_outcome_room_give(&room);
    }
    return err;
}
