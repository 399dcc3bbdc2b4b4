/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a call to its toolset: past the stations that it visits, then to the toolset's
 * instance. A station may hold a call and take it on later; it then goes on behind that station, and
 * passes none a second time. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_WAY_H
#define HUB_HUB_KERNEL_WAY_H

#include "hub/kernel/call.h"
#include "tools/catalog.h"

/* What a call is about, while it passes. Spans are borrowed. A station may replace any of it by what
 * lives as long as its state. */
typedef struct hub_way {
    hub_toolset *toolset;       /* whose it is */
    const hub_item *item;       /* of its catalog; NULL: none, as of a task */
    hub_str name;               /* the toolset's own name (or URI) of what the call is for … */
    hub_str name_json;          /* … and the value in the params that says it */
    hub_str arguments;          /* an object; of tools alone */
    hub_str of_tool;            /* of a task: the tool that made it, if that is known */
    const hub_message *message; /* the request */
    uint32_t timeout_ms;        /* without progress; 0: the toolset's own */
    bool is_aside;              /* it needs no place among the toolset's max_calls */
} hub_way;

/* What is given to the instance. */
typedef struct hub_handover {
    const hub_way *way;
    patchbay_request request;
} hub_handover;

/* Send a call on its way; it may be over when this returns. */
void hub_call_send(hub_call *call, hub_way *way);

/* What of a way outlives the loop's turn, for a call that is held. */
typedef struct hub_kept_way {
    hub_way way; /* but for its message */
    hub_str message;
    char text[];
} hub_kept_way;

/* owns:    the result, free() it; NULL when out of memory */
hub_kept_way *hub_way_keep(const hub_way *way);

/* How many bytes it holds. */
size_t hub_kept_way_bytes(const hub_kept_way *kept);

/* Take a call on that `station` has held, behind it. */
void hub_call_send_from(hub_call *call, const hub_station *station, const hub_kept_way *kept);

/* Have a call that is held come past the station when it is handed over, though it did not when it
 * came. Of a call whose way is yet to begin nothing changes. */
void hub_call_visit(hub_call *call, const hub_station *station);

/* Its client is about to be asked something: what it is for is noted, if nobody has done so. */
void hub_call_note_asked(hub_call *call);

/* Its client has said something that the call waited for: the stations are asked whether it may go on
 * with that. False: it is over. */
HUB_MUST_CHECK bool hub_call_client_returns(hub_call *call);

/* Hand a request over once more, of a call that is bound: what its instance answered to the first
 * was not its outcome. */
void hub_call_hand_over_again(hub_call *call, patchbay_request *request);

#endif
