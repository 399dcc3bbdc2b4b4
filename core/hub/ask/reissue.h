/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that say `input_required` (a server of 2026-07-28 behind a proxy), for clients of a
 * handshake revision: the client is asked directly, and the call is made again with the answers and
 * the server's requestState, byte for byte, until the result is another one. The toolset gets each
 * of these calls under a new id, as MCP wants it. What such a call needs is kept only for toolsets
 * that said expect_input_required() (patchbay/client.h), and clients that can be asked.
 * Thread: [loop].
 * spec: MCP 2026-07-28 basic/patterns/mrtr, Client Requirements
 */
#ifndef HUB_HUB_ASK_REISSUE_H
#define HUB_HUB_ASK_REISSUE_H

#include "hub/ask/ask.h"

struct hub_asking;

/* What ask.c calls: a turn of the loop has ended; the call is over. */
void hub_reissue_run(struct hub_asking *asking);
void hub_reissue_forget(struct hub_asking *asking);

#endif
