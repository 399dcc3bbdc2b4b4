/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all calls, as the files of the kernel that begin and end them use it. A call's memory is
 * recycled with its slot. Thread: [loop]. */
#ifndef HUB_HUB_KERNEL_CALL_TABLE_H
#define HUB_HUB_KERNEL_CALL_TABLE_H

#include "hub/kernel/call.h"

/* A call with an id of its own and zeros up to `inline_kept`.
 * errors:  HUB_ELIMIT (HUB_LIMIT_CALLS are in flight), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_call_take_slot(hub_call_table *table, hub_call **ret_call);

/* Nothing finds the call any more. It is in no list, and holds nothing that has to be freed. */
void hub_call_give_slot_back(hub_call *call);

/* A call of a session is found by its client's id, from when it is added until it is removed. */
void hub_call_table_add(hub_call *call);
void hub_call_table_remove(hub_call *call);

/* The session's call with that raw id, or NULL. */
hub_call *hub_call_table_find(const hub_call_table *table, const hub_session *session,
                              hub_str client_id);

/* Tell the stations that have seen the call that it has been answered, and give its slot back. */
void hub_call_release(hub_call *call);

#endif
