/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON that grammar allows and parsers of clients refuse, with the whole message that it stands in: of a list, that is
 * all of it. Internal to definition*.c; pure, any thread.
 */
#ifndef HUB_TOOLS_DEFINITION_READABLE_H
#define HUB_TOOLS_DEFINITION_READABLE_H

#include "base/str.h"

/* Why parsers refuse a text that hub_json_check accepted, or NULL: half of a surrogate pair as an escape (RFC 8259
 * section 8.2), or a whole number of more than 4300 digits (section 6). The official client for Python loses the message
 * for either. Linear in its bytes. */
const char *hub_definition_unreadable(hub_str json);

#endif
