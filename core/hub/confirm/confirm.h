/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that an access rule lets go on only if their user says yes (`then: confirm`). Such a call is
 * held, and its client is asked through elicitation, in either era. The question is the hub's own
 * text, with the canonical id and the arguments. A yes is good for this call alone, with the arguments
 * and the definition that it had; the rules are asked once more when it goes on. A client that cannot
 * ask its user has its call refused. A client can answer by itself: this guards against mistakes, not
 * against the client.
 *
 * Thread: [loop].
 * spec: MCP 2026-07-28 client/elicitation (Form Mode), basic/patterns/mrtr; 2025-11-25 and 2025-06-18
 * client/elicitation
 */
#ifndef HUB_HUB_CONFIRM_CONFIRM_H
#define HUB_HUB_CONFIRM_CONFIRM_H

#include "hub/kernel/station.h"

extern const hub_station HUB_CONFIRM_STATION;

#endif
