/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the clients of a profile that its list of tools changed: once per change, however many
 * steps it took. Changes inside HUB_LIMIT_NOTIFY_WINDOW_MS merge; changes that modules cause are
 * told at most once per HUB_LIMIT_NOTIFY_STORM_MS; nothing is told when the bytes of the list are
 * what clients have been told of last. A client that cannot be told is dropped by its transport,
 * and never fails the change (REQUIREMENTS S1.15). Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, List Changed Notification; basic/patterns/subscriptions
 */
#ifndef HUB_HUB_NOTIFIER_H
#define HUB_HUB_NOTIFIER_H

#include "base/err.h"

typedef struct hub_notifier hub_notifier;
struct hub_profile;

HUB_MUST_CHECK hub_err hub_notifier_create(struct hub_profile *profile,
                                           hub_notifier **ret_notifier);
void hub_notifier_destroy(hub_notifier *notifier); /* NULL is fine */

/* The profile's view may have changed. `is_asked_for`: by an operation that a client or an operator
 * asked for; what modules do of their own accord is told less often. */
void hub_notifier_changed(hub_notifier *notifier, bool is_asked_for);

/* A client was given the list as it is now. Should it change back before clients are told, there
 * still is something to tell this one. */
void hub_notifier_seen(hub_notifier *notifier);

/* What is there now needs no telling: at start. */
void hub_notifier_settle(hub_notifier *notifier);

/* Notifications sent so far, counting each occasion once. */
unsigned hub_notifier_count(const hub_notifier *notifier);

#endif
