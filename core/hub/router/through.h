/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls through call_tool and call_read_tool. Such a request is taken for the call of the tool that
 * it names, in a message of its own: the client's, byte for byte, but with that tool's name and
 * arguments. It so becomes a call of that tool like any other: rules, limits, audit, tasks, timeouts
 * and questions are those of the tool. Internal to the router. Thread: [loop].
 */
#ifndef HUB_HUB_ROUTER_THROUGH_H
#define HUB_HUB_ROUTER_THROUGH_H

#include "base/buf.h"
#include "wire/message.h"

typedef enum hub_through {
    HUB_THROUGH_NONE,
    HUB_THROUGH_ANY,  /* call_tool */
    HUB_THROUGH_READ, /* call_read_tool */
} hub_through;

/* Which of them the name of a call means, a raw value. One that is spelt with escapes means none. */
static inline hub_through hub_through_of(hub_str raw_name)
{
    if (hub_str_is(raw_name, "\"call_tool\"")) {
        return HUB_THROUGH_ANY;
    }
    return hub_str_is(raw_name, "\"call_read_tool\"") ? HUB_THROUGH_READ : HUB_THROUGH_NONE;
}

/* Append the message that a call of one stands for to `text`, which is empty, and scan it. False: its
 * arguments are no such, which the tool itself then says.
 * Borrowed: what *ret_inner points to is in `text`. */
bool hub_through_read(const hub_message *message, hub_buf *text, hub_message *ret_inner);

#endif
