/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to clients of 2026-07-28, which are never sent a request: the call's own request is
 * answered with the result `input_required`, and the call waits without a client, holding its place
 * in its toolset, until the client repeats the request with the answers and the requestState. Then
 * that request is the call's: its id, its port, its context. Each requestState is good for one
 * retry, of the same request, by the same principal, in the same profile.
 *
 * Answers that come with a request although nothing was asked yet (`inputResponses` without
 * requestState) are kept for the questions with their keys: a client may know from before what it
 * will be asked.
 *
 * A client need not come back. How many calls wait for it is bounded, and so is the time.
 * Thread: [loop].
 * spec: MCP 2026-07-28 basic/patterns/mrtr
 */
#ifndef HUB_HUB_ASK_INPUT_REQUIRED_H
#define HUB_HUB_ASK_INPUT_REQUIRED_H

#include "hub/ask/ask.h"
#include "hub/kernel/respond.h"

/* Before a request is given to `binding`: note what a retry has to match, if that has not been done
 * (hub_input_required_note), and judge the requestState, which then is a server's (sealed_state.h).
 * False when the request was refused; then the call is over. */
bool hub_input_required_admit(hub_call *call, const hub_binding *binding,
                              const hub_message *message);

/* Note what a retry has to match, if the client can be asked: its own message, for a request that
 * is given to a binding in other words. */
void hub_input_required_note(hub_call *call, const hub_message *message);

/* Who has made the call, also while its client is away. Borrowed; the call is a client's. */
const char *hub_input_required_principal(const hub_call *call);

/* The call is bound: keep the answers that its request brings. */
void hub_input_required_supply(hub_call *call, const hub_message *message);

/* Whether a modern request takes up a call that asked: then it has been dealt with. */
bool hub_input_required_resume(const hub_request *request);

/* Whether the outcome of a call was kept because its client is away; if not, the client is to be
 * answered now. */
bool hub_input_required_keep(hub_call *call, const hub_outcome *outcome);

/* What ask.c calls: the call has its first question (returns PATCHBAY_OK, PATCHBAY_ELIMIT,
 * PATCHBAY_ENOMEM); it has none any more; a turn of the loop has ended; the call is over. */
HUB_MUST_CHECK int32_t hub_input_required_wait(hub_asking *asking);
void hub_input_required_unwait(hub_asking *asking);
void hub_input_required_attend(hub_asking *asking);
void hub_input_required_forget(hub_asking *asking);

#endif
