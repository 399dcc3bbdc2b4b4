/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking the client behind a call something before the answer (patchbay/client.h): sampling,
 * elicitation, roots. A toolset asks, and hears the answer, without knowing the client's dialect:
 *
 *   - a client of a handshake revision gets a JSON-RPC request on its call's port, and its response
 *     is looked up among the questions of its own session;
 *   - a client of 2026-07-28 gets the result `input_required`, and comes back with the answers
 *     (input_required.h).
 *
 * What a call asks within one turn of the loop goes out together. While a question is open the
 * call's clock stands still, and limits.ask_timeout_ms runs instead. Every question that was
 * taken ends exactly once, on the loop and never within the call that took it; a binding is not
 * closed before its questions have ended. Thread: [loop].
 * spec: MCP 2026-07-28 basic/patterns/mrtr; 2025-11-25 client/sampling, client/elicitation,
 * client/roots, basic/utilities/cancellation
 */
#ifndef HUB_HUB_ASK_ASK_H
#define HUB_HUB_ASK_ASK_H

#include "hub/kernel/call.h"

#include <patchbay/client.h>

/* Stations: questions and the answers to them; calls whose client was sent away to come back
 * (input_required.h); results that ask legacy clients (reissue.h). */
extern const hub_station HUB_ASK_STATION;
extern const hub_station HUB_AWAY_STATION;
extern const hub_station HUB_REISSUE_STATION;

/* Calls of modern clients that have questions, or an outcome that waits for the client. */
size_t hub_asks_waiting(const hub_orchestrator *hub);

/* A toolset asks, for a call (0: for whichever session it is working for). What the question says
 * has been checked.
 * returns: as patchbay_client_v1.ask() */
int32_t hub_ask(hub_binding *binding, uint64_t call, const patchbay_question *question);

/* Take one of its questions back.
 * returns: as patchbay_client_v1.withdraw() */
int32_t hub_ask_withdraw(hub_binding *binding, uint64_t call, hub_str key);

/* What became of a question of the hub's own, which is over when this is called; the call lives. */
typedef enum hub_said {
    HUB_SAID_YES,     /* the user accepted */
    HUB_SAID_NO,      /* … or declined, or closed the question */
    HUB_SAID_NOTHING, /* the client failed to ask */
} hub_said;

typedef void hub_on_yes_or_no(hub_call *call, hub_said said);

/* The hub itself asks the client of a call that a station holds, before any toolset works on it: to
 * accept what `text` says. `on_said` is told once, unless the call ends first.
 * returns: PATCHBAY_OK, PATCHBAY_ESTATE (its client cannot be asked), PATCHBAY_ELIMIT (too many calls
 *          wait for their clients), PATCHBAY_ENOMEM */
int32_t hub_ask_yes_or_no(hub_call *call, hub_str text, hub_on_yes_or_no *on_said);

/* A response that a session sent: give it to the question it answers. False when there is none. */
bool hub_ask_take_answer(hub_session *session, const hub_message *message);

#endif
