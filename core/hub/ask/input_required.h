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
#include "hub/kernel/way.h"

struct hub_asking;

/* Before a request is given to its toolset: judge the requestState, which then is a server's
 * (sealed_state.h), and the answers. What the station of ask.h begins with. */
hub_verdict hub_input_required_admit(hub_call *call, hub_way *way);

/* Who has made the call, also while its client is away. Borrowed; the call is a client's. */
const char *hub_input_required_principal(const hub_call *call);

/* The call is bound: keep the answers that its request brings. */
void hub_input_required_supply(hub_call *call, const hub_message *message);

/* What ask.c calls: the call has its first question (returns PATCHBAY_OK, PATCHBAY_ELIMIT,
 * PATCHBAY_ENOMEM); it has none any more; a turn of the loop has ended; the call is over. */
HUB_MUST_CHECK int32_t hub_input_required_wait(struct hub_asking *asking);
void hub_input_required_unwait(struct hub_asking *asking);
void hub_input_required_attend(struct hub_asking *asking);
void hub_input_required_forget(struct hub_asking *asking);

#endif
