/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cursors: where the next page of a list begins, behind the last entry of the one before, signed with
 * the hub's key. Nothing is stored, and paging survives a change of the list. Thread: [loop].
 * spec: MCP 2026-07-28 server/utilities/pagination
 */
#ifndef HUB_HUB_META_CURSOR_H
#define HUB_HUB_META_CURSOR_H

#include "base/buf.h"
#include "base/limits.h"
#include "hub/kernel/types.h"

enum {
    HUB_CURSOR_MAC_BYTES = 8, /* a forger has no oracle that is worth more */
    HUB_CURSOR_BYTES = HUB_CURSOR_MAC_BYTES + HUB_LIMIT_TOOLSET_KEY_BYTES + 1 + HUB_LIMIT_URI_BYTES,
};

/* What a cursor is decoded into. */
typedef struct hub_cursor_text {
    char bytes[HUB_CURSOR_BYTES];
} hub_cursor_text;

/* Append the cursor of a place (what is not longer than "toolset:uri") in the list of that name: it
 * is good for that list alone. Hexadecimal, without quotes. A failure marks the buffer. */
void hub_cursor_add(const hub_orchestrator *hub, const char *list, hub_str place, hub_buf *out);

/* The place in a cursor, which is a raw JSON string; it points into *text. False: the hub did not make
 * it, or not for this list, or it was made by an earlier hub. */
bool hub_cursor_read(const hub_orchestrator *hub, const char *list, hub_str raw,
                     hub_cursor_text *text, hub_str *ret_place);

#endif
