/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log messages of toolsets for clients. A legacy client says once from which level on it wants them
 * (logging/setLevel); before it does, it gets those from "info" on, or none if logging was not
 * announced to it (capabilities.h). A modern client says it with each request, or gets none for it.
 * A toolset that logs is told the most talkative level that any of its clients asked for; what is
 * below a client's own level does not reach that client. Thread: [loop]. spec: MCP 2026-07-28
 * server/utilities/logging (Requesting Log Messages); 2025-11-25 server/utilities/logging (Setting
 * Log Level)
 */
#ifndef HUB_HUB_NOTICES_LOGGING_H
#define HUB_HUB_NOTICES_LOGGING_H

#include "hub/kernel/respond.h"

/* Answer logging/setLevel (legacy). */
void hub_logging_set_level(const hub_request *request);

/* Tell a toolset that logs the level that is wanted now, unless it knows. */
void hub_logging_refresh(hub_toolset *toolset);

extern const hub_station HUB_LOGGING_STATION;

/* Pass the params of a notifications/message to the client of a call, or to the legacy clients of
 * all profiles in which the toolset is active: a modern client gets none outside of its requests.
 */
void hub_logging_forward(const hub_call *call, hub_str params_json);
void hub_logging_broadcast(hub_toolset *toolset, hub_str params_json);

/* The same to the one session whose calls a toolset is working on, if each of these calls wants
 * that level: the message is about one of them. False when there is no single session. */
bool hub_logging_forward_to_only(const hub_binding *binding, hub_str params_json);

/* … or to one legacy client that it is meant for. */
void hub_logging_tell(hub_session *session, hub_str params_json);

#endif
