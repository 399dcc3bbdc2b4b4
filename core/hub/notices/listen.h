/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open `subscriptions/listen` requests of a session: acknowledged, told of what they asked for and
 * of nothing else, ended by the client's cancel or, when the hub stops, by a completion. One that
 * names resources is acknowledged when their toolsets have agreed, or have taken longer than
 * limits.discover_timeout; what changes meanwhile is told after that.
 * Thread: [loop].
 * spec: MCP 2026-07-28 basic/patterns/subscriptions, basic/patterns/cancellation
 */
#ifndef HUB_HUB_NOTICES_LISTEN_H
#define HUB_HUB_NOTICES_LISTEN_H

#include "hub/kernel/respond.h"
#include "hub/notices/notifier.h"

typedef struct hub_listen hub_listen;

/* Open one, or answer why not. */
void hub_listen_open(const hub_request *request);

/* Append the member `_meta` that says which stream a notification belongs to. */
void hub_listen_add_meta(const hub_listen *listen, hub_buf *out);

/* A list changed. */
void hub_listen_tell(hub_listen *listen, hub_topic topic);

/* One answer that it waited for is there. The last one has it acknowledged. */
void hub_listen_settled(hub_listen *listen);

/* Whether one with that raw id is open. */
bool hub_listen_is_open(const hub_session *session, hub_str id);

/* End one without a word, because the client cancelled it. An unknown id is ignored. */
void hub_listen_cancel(hub_session *session, hub_str id);

/* End all of a session; with `say_so`, each gets notifications/cancelled and then its result. */
void hub_listen_close_all(hub_session *session, bool say_so);

#endif
