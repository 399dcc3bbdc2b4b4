/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elicitation by URL as 2025-11-25 has it, beyond asking (ask.h): elicitations have ids, a server
 * tells the client when the user has done what the URL is for, and it may fail a request with
 * -32042 until that is the case.
 *
 * Which session was sent where by which toolset is kept for as long as the session lives, or until
 * the toolset says that it is done: HUB_LIMIT_ELICITATIONS per session, of which the oldest is
 * forgotten first.
 *
 * 2026-07-28 has neither ids nor notification nor error. A client of it that can be sent to URLs
 * gets the elicitations of the error as `input_required`, without a requestState: nothing is kept,
 * its retry is the request once more, and while the user is not done the server fails it again.
 * One that cannot gets -32021. Thread: [loop].
 * spec: MCP 2025-11-25 client/elicitation (Completion Notifications for URL Mode Elicitation, URL
 * Elicitation Required Error); 2026-07-28 basic/index (Error Codes), basic/patterns/mrtr,
 * client/elicitation (URL Mode Elicitation Requests)
 */
#ifndef HUB_HUB_ASK_ELICITATION_H
#define HUB_HUB_ASK_ELICITATION_H

#include "hub/kernel/call.h"

/* The client of a call is being asked: note the elicitation, if it has an id. */
void hub_elicitation_note(const hub_call *call, hub_str params);

/* A toolset is done with one.
 * returns: as patchbay_client_v1.elicitation_complete() */
int32_t hub_elicitation_complete(const hub_binding *binding, uint64_t call, hub_str params);

/* A session is gone, or a toolset. */
void hub_elicitation_forget(hub_session *session);
void hub_elicitation_forget_toolset(hub_toolset *toolset);

/* A call is about to end. If it does with -32042: note what its client will be sent to; for a
 * modern client, make it what that understands. `text` is initialised and outlives `outcome`. */
void hub_elicitation_translate(const hub_call *call, hub_outcome *outcome, hub_buf *text);

#endif
