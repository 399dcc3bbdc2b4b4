/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requestState of a server behind the hub, on its way to a client of 2026-07-28 and back. To
 * the server all clients of the hub are one, so it cannot tell whether a state comes back from
 * whoever it was meant for. The hub can: it puts a seal in front of the state, a signature
 * (HMAC-SHA256) over the state, the principal, and the request if a retry has to match one. The
 * server sees its own state again, byte for byte. Nothing is stored.
 *
 * A state without a seal is for no server that asks: who strips it off has nothing. Thread: [loop].
 * spec: MCP 2026-07-28 basic/patterns/mrtr, Server Requirements
 */
#ifndef HUB_HUB_ASK_SEALED_STATE_H
#define HUB_HUB_ASK_SEALED_STATE_H

#include "hub/kernel/call.h"

/* Seal the state of an outcome that says input_required, if it has one. The result that has it then
 * is in `text`, which is empty; without memory for it the outcome is a failure. */
void hub_sealed_state_translate(const hub_call *call, hub_outcome *outcome, hub_buf *text);

/* Whether a raw JSON string has a seal for whoever makes this call, and for this request. */
bool hub_sealed_state_fits(const hub_call *call, hub_str raw);

/* Take the seal off a state that fits: the slices of the request are of a copy from then on.
 * owns:    *ret_copy, free() it after the request
 * errors:  HUB_ENOMEM (the request is as it was) */
HUB_MUST_CHECK hub_err hub_sealed_state_open(hub_str raw, patchbay_request *request,
                                             char **ret_copy);

#endif
