/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that parts of the program make as a client of the hub: of the newest revision, and without
 * capabilities. Thread: [any]. */
#ifndef HUB_WIRE_OWN_REQUEST_H
#define HUB_WIRE_OWN_REQUEST_H

#include "base/buf.h"

/* Append a request. `members` are those of its params besides `_meta`, without the braces; may be empty.
 * `client` is the name in its clientInfo, plain text.
 * spec: MCP 2026-07-28 basic, General fields (_meta) */
void hub_own_request_add(hub_buf *out, uint64_t id, const char *method, hub_str members,
                         const char *client);

#endif
