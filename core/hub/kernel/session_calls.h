/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that a session has in flight, by its client's ids. Thread: [loop]. */
#ifndef HUB_HUB_KERNEL_SESSION_CALLS_H
#define HUB_HUB_KERNEL_SESSION_CALLS_H

#include "hub/kernel/call.h"

/* Whether the session may have one call more in flight. */
bool hub_session_has_place(const hub_session *session);

/* Make a call of the hub's own end with a session. A carrier is none of its calls in flight. */
void hub_call_join(hub_call *call, hub_session *session);

/* It is not the session's any more; nothing happens when it was nobody's. */
void hub_call_part(hub_call *call);

/* The session's call with that raw id, or NULL. */
hub_call *hub_call_find_client(hub_session *session, hub_str client_id);

#endif
