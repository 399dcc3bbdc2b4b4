/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event store of a legacy session: what was sent on its streams, for clients that come back
 * with Last-Event-ID (MCP 2025-11-25 basic/transports, Resumability and Redelivery). An event's id
 * is "STREAM-SEQUENCE", both decimal: unique in the session, and it says which stream to go on
 * with. Bounded by bytes and by events; the oldest are dropped. Where all clients together would hold
 * more than they may, the store keeps less, or nothing. Thread: [loop].
 */
#ifndef HTTP_REPLAY_H
#define HTTP_REPLAY_H

#include "base/budget.h"
#include "base/buf.h"

typedef struct hub_replay_event {
    struct hub_replay_event *next;
    uint32_t stream;
    uint64_t sequence; /* from 1, in order within a stream */
    size_t len;
    char text[]; /* one JSON message */
} hub_replay_event;

typedef struct hub_replay {
    hub_replay_event *first;
    hub_replay_event *last;
    size_t bytes;
    size_t count;
    size_t max_bytes; /* of text */
    size_t max_events;
    hub_budget_account account;
} hub_replay;

/* The parts of an event's id. */
typedef struct hub_event_id {
    uint32_t stream;
    uint64_t sequence;
} hub_event_id;

enum { HUB_EVENT_ID_BYTES = 32 }; /* its longest text */

/* An empty store; allocates nothing. When others need what it holds, it is emptied. `budget` may be
 * NULL: nobody counts. It must not be moved. */
void hub_replay_init(hub_replay *replay, size_t max_bytes, size_t max_events, hub_budget *budget);
void hub_replay_fini(hub_replay *replay);

/* Keep a message; the parts are copied. One that is larger than the whole store, or for which there
 * is no memory, is not kept. */
void hub_replay_add(hub_replay *replay, hub_event_id id, const hub_str *parts, size_t count);

/* The oldest event of the stream behind `after`, or NULL. Borrowed until the store changes, which
 * anything that is kept for a client may cause. */
const hub_replay_event *hub_replay_next(const hub_replay *replay, hub_event_id after);

/* The id as text, within `text`. */
hub_str hub_event_id_write(hub_event_id id, char text[HUB_EVENT_ID_BYTES]);

/* Read one. False for everything that hub_event_id_write does not write. */
bool hub_event_id_read(hub_str text, hub_event_id *ret_id);

#endif
