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
#include "tools/exposure.h"

extern const hub_station HUB_ACCESS_STATION;

/* Whether somebody may see less than others. */
bool hub_access_is_on(const hub_orchestrator *hub);

/* Whether a user may have to confirm a call. */
bool hub_access_asks(const hub_orchestrator *hub);

/* Whether somebody may see something else since the settings were changed last. */
bool hub_access_may_show_others(const hub_orchestrator *hub);

/* What a session's client knows of a kind: a list that it was given, or that was there when it could
 * first be told of changes. `listed` is what is listed for it. Takes nothing. */
void hub_access_note_told(const hub_session *session, hub_kind kind, hub_shown *listed);

/* The revisions (hub_shown_news) in which what is listed of a kind for a session is another list than
 * its client knows of; that it is told now is noted. `before`: what it knows if nothing was noted, as
 * what came before there were rules. Where there are no rules any more, nothing is noted. */
uint8_t hub_access_news(const hub_session *session, hub_kind kind, hub_shown *before,
                        hub_shown *listed);

/* Whether a session's client was told of lists as rules leave them. */
bool hub_access_has_told(const hub_session *session, hub_kind kind);

/* Whether a session may hear that a resource of a toolset, by the toolset's own URI, has changed, and
 * whether it is shown a tool, by the rules and by its credential as they are now. */
bool hub_access_lets_hear(hub_session *session, const hub_toolset *toolset, hub_str uri);
bool hub_access_shows_tool(hub_session *session, const hub_toolset *toolset, hub_str name);

/* Whether somebody may subscribe to a resource that they see, `uri` to them; if not, the request has
 * been answered. */
bool hub_access_admits(const struct hub_request *request, const hub_entry *entry, hub_str own_uri,
                       hub_str uri);

/* Whether a rule lets the call go on only if its user says yes, who was not asked yet; and the reason
 * that it gives, or NULL. What asks is hub/confirm. */
bool hub_access_wants_yes(const hub_call *call, const char **ret_reason);

/* The user has said yes to a call that is held: HUB_GO_ON, or it has been answered, because something
 * else holds by now. The yes is good for the definition that the tool had when the call came. */
hub_verdict hub_access_take_yes(hub_call *call, const struct hub_way *way);

/* Complete a call that nobody has said yes to; the rule's reason is added. */
void hub_access_refuse_unconfirmed(hub_call *call, const char *why);

#endif
