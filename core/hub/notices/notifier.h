/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the clients of an audience (kernel/audience.h) that its lists changed, those of tools, of resources (and their
 * templates) and of prompts, each by itself: once per change, however many
 * steps it took. Changes inside HUB_LIMIT_NOTIFY_WINDOW_MS merge; changes that modules cause are
 * told at most once per HUB_LIMIT_NOTIFY_STORM_MS; nothing is told when the bytes of the list, as a
 * client's revision has it, are what clients have been told of last. A legacy client is told of no list that `initialize` did not
 * announce to it (capabilities.h). A client that cannot be told is dropped by its transport,
 * and never fails the change (REQUIREMENTS S1.15). Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, server/resources, server/prompts, List Changed Notification;
 * basic/patterns/subscriptions
 */
#ifndef HUB_HUB_NOTICES_NOTIFIER_H
#define HUB_HUB_NOTICES_NOTIFIER_H

#include "hub/kernel/capabilities.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/types.h"

typedef struct hub_notifier hub_notifier;

/* The station of all notices: list changes, streams and subscriptions. */
extern const hub_station HUB_NOTICES_STATION;

/* The audience's. */
hub_notifier *hub_notifier_of(const hub_audience *audience);

/* The method that tells of a change. */
hub_str hub_topic_method(hub_topic topic);

/* Nobody asked for it, but something else may be shown than clients know of. */
void hub_notifier_look(hub_notifier *notifier);

/* What the audience sees may have changed. `is_asked_for`: by an operation that a client or an
 * operator asked for; what modules do of their own accord is told less often. */
void hub_notifier_changed(hub_notifier *notifier, bool is_asked_for);

/* The client of a session can be told of changes from now on: what it is listed now is what it knows.
 */
void hub_notifier_begin_to_tell(const hub_session *session);

/* A client was given the list of that kind as it is now. Should it change back before clients are
 * told, there still is something to tell this one. */
void hub_notifier_seen(hub_notifier *notifier, hub_sight sight, hub_kind kind);

/* Tell nobody of anything before it is let go of as often: a reload is one change, however long its
 * servers take to answer. A user's change made meanwhile is told with it. */
void hub_notifier_hold(hub_notifier *notifier);
void hub_notifier_let_go(hub_notifier *notifier);

/* What is there now needs no telling: at start. */
void hub_notifier_settle(hub_notifier *notifier);

/* Occasions so far at which clients were told of something. */
unsigned hub_notifier_count(const hub_notifier *notifier);

#endif
