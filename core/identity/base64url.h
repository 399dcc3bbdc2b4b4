/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64url without padding (RFC 4648 section 5, RFC 7515 section 2). Strict: one text for each value, so
 * what differs in a bit that does not count is refused. Pure functions, any thread.
 */
#ifndef HUB_IDENTITY_BASE64URL_H
#define HUB_IDENTITY_BASE64URL_H

#include "base/buf.h"

/* Append the bytes that `text` stands for.
 * errors:  HUB_EPARSE; and what the buffer says */
HUB_MUST_CHECK hub_err hub_base64url_decode(hub_str text, hub_buf *out);

void hub_base64url_add(hub_buf *out, hub_str bytes);

#endif
