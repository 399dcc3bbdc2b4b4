/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access: the rules of the settings (identity/access.h) on the way of every request. Who is asking
 * belongs to a class, and sees the veil of that class over what their profile shows: there is no
 * other way to a name. What depends on the arguments of a call, or on its scopes, is decided when
 * the call comes, and again when it goes on after it was held. A call that is denied is answered as
 * one of an unknown name.
 *
 * Without rules, and without scopes of toolsets, nothing of this is asked. Thread: [loop].
 */
#ifndef HUB_HUB_ACCESS_ACCESS_H
#define HUB_HUB_ACCESS_ACCESS_H

#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "tools/catalog.h"

extern const hub_station HUB_ACCESS_STATION;

/* Whether somebody may see less than others. */
bool hub_access_is_on(const hub_orchestrator *hub);

/* Whether somebody may see something else since the settings were changed last. */
bool hub_access_may_show_others(const hub_orchestrator *hub);

/* Whether a session's list of a kind is another one than it was told of last; that it is told now is
 * noted. `is_changed`: what holds for those who see all. */
bool hub_access_is_news(const hub_session *session, hub_kind kind, bool is_changed);

/* Whether a rule lets the call go on only if its user says yes, who was not asked yet; and the reason
 * that it gives, or NULL. What asks is hub/confirm. */
bool hub_access_wants_yes(const hub_call *call, const char **ret_reason);

/* The user has said yes to a call that is held: HUB_GO_ON, or it has been answered, because something
 * else holds by now. The yes is good for the definition that the tool had when the call came. */
hub_verdict hub_access_take_yes(hub_call *call, const struct hub_way *way);

/* Complete a call that nobody has said yes to; the rule's reason is added. */
void hub_access_refuse_unconfirmed(hub_call *call, const char *why);

#endif
