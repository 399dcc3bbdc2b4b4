/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tools that a client with a session has found, where tools are searched for and `equip_on_find` says
 * that such a client is listed what it has found: the newest ones of its session, and nobody else's.
 * Clients of 2026-07-28 have no session, and their lists do not change. Thread: [loop].
 */
#ifndef HUB_HUB_SEARCH_FOUND_H
#define HUB_HUB_SEARCH_FOUND_H

#include "base/str.h"
#include "hub/kernel/types.h"

/* Whether what the session finds is to be noted. */
bool hub_found_is_wanted(const hub_session *session);

/* Note a tool, by its canonical id. True: it was not among them. Without memory nothing is noted. */
bool hub_found_note(hub_session *session, hub_str canonical);

/* Whether it has found any; whether that one. */
bool hub_found_is_any(const hub_session *session);
bool hub_found_has(const hub_session *session, hub_str canonical);

/* Tell its client that its list is another one, if it wants to hear of that. */
void hub_found_tell(const hub_session *session);

/* Of the station: its session ends. */
void hub_found_end(hub_session *session);

#endif
