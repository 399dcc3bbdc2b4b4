/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of the opening handshake (RFC 6455 section 4.2.2). */
#ifndef WEBSOCKET_HANDSHAKE_H
#define WEBSOCKET_HANDSHAKE_H

#include "net/link.h"

/* Answer 101 to a key that hub_websocket_is_key has approved. False when it cannot be written. */
bool hub_websocket_greet(hub_link *link, hub_str key, bool with_subprotocol);

#endif
