/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON that grammar allows and parsers of clients refuse, with the whole message that it stands in: of a list, or of what
 * the hub announces, that is all of it. Pure, any thread.
 */
#ifndef HUB_TOOLS_DEFINITION_READABLE_H
#define HUB_TOOLS_DEFINITION_READABLE_H

#include "base/str.h"

/* Why parsers refuse a text that hub_json_check accepted, or NULL: half of a surrogate pair as an escape (RFC 8259
 * section 8.2), or a number that is not finite as an IEEE double (section 6): 1e400, or 1 and 309 zeros. The official
 * clients for Python lose the message for either, those for Go, and 2.x for Node, for the second. Linear in its bytes. */
const char *hub_definition_unreadable(hub_str json);

#endif
