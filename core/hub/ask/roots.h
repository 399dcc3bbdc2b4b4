/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roots outside of calls. A server of a handshake revision asks for them when it has begun and when
 * it hears that they have changed, without a call that would say of whom. On a connection that
 * several clients share, at most one client's are the right ones:
 *
 *   - those of the session whose calls the instance has, as yet unsent, if that is a single one;
 *   - else those of the session that it was told last, as long as that lives;
 *   - else those of the only session there is in the profiles that the toolset is active in.
 *
 * Nobody else is asked. The other way round, when a client says that its roots have changed, those
 * instances hear of it that were told this client's last, and no others: what they hold is not its.
 * Clients of 2026-07-28 have no such message, and give their roots with a call.
 *
 * A question needs a call to be asked for (ask.h); here that is a *carrier*, a call that nobody
 * waits for and nobody works on, which ends with its last question. Thread: [loop].
 * spec: MCP 2025-11-25 client/roots (Root List Changes)
 */
#ifndef HUB_HUB_ASK_ROOTS_H
#define HUB_HUB_ASK_ROOTS_H

#include "hub/kernel/call.h"

/* The call to ask for roots by, without a call that would be the cause; NULL when nobody can be
 * asked.
 */
hub_call *hub_roots_carrier(hub_binding *binding);

/* End the call if it is a carrier without questions. An id that is over is fine. */
void hub_roots_settle(hub_binding *binding, uint64_t call);

/* The binding is retired: end its carriers. It gets no more of them. */
void hub_roots_end(hub_binding *binding);

/* The client of a call (NULL: it is over) has told the binding its roots. */
void hub_roots_note(hub_binding *binding, const hub_call *call);

/* A session says that its roots have changed. */
void hub_roots_changed(const hub_session *session);

#endif
