/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens, while somebody looks: calls as they begin and end, and the events of the log from
 * level info on, masked as there. The newest are kept (HUB_LIMIT_EVENTS, HUB_LIMIT_EVENT_BYTES);
 * readers go through them at their own pace, and who is too slow misses some, and can count them. Of
 * calls no more are told than readers can take: the others are counted, and missed by all. While nobody
 * looks nothing is kept and no call comes here. Thread: [loop].
 */
#ifndef HUB_HUB_ADMIN_EVENTS_H
#define HUB_HUB_ADMIN_EVENTS_H

#include "base/err.h"
#include "hub/kernel/types.h"

/* Borrowed until the loop goes on. */
typedef struct hub_event {
    uint64_t number; /* one more than of what happened before, be that kept or not */
    hub_str name;    /* "call.begun", "call.ended", or the log's: "toolset.ready" */
    hub_str json;    /* an object */
} hub_event;

/* Embed it. */
typedef struct hub_event_reader {
    /* There are events that it has not seen, or its time is up: it is its turn. It may leave in here. */
    void (*on_turn)(struct hub_event_reader *reader);
    uint64_t until_ms; /* when its time is up, by hub_clock_now_ms; 0: never */
    uint64_t seen;     /* the number of the last one */
    struct hub_event_reader *next;
    struct hub_event_reader *prev;
} hub_event_reader;

/* Events behind the newest there is are read from now on; or, with `since` > 0, those behind that
 * number, as far as they are kept.
 * errors:  HUB_ELIMIT: HUB_LIMIT_EVENT_READERS read */
HUB_MUST_CHECK hub_err hub_events_join(hub_orchestrator *hub, hub_event_reader *reader,
                                       uint64_t since);
void hub_events_leave(hub_orchestrator *hub, hub_event_reader *reader);

/* The next that a reader has not seen, or NULL; *ret_missed are those that were lost before it, or, where
 * there is none, since the last one. */
const hub_event *hub_events_next(const hub_orchestrator *hub, hub_event_reader *reader,
                                 uint64_t *ret_missed);

/* The number of what happened last. */
uint64_t hub_events_newest(const hub_orchestrator *hub);

/* A reader was told of those up to `number`, and that it has missed so many of them: they count. */
void hub_events_follow(const hub_orchestrator *hub, hub_event_reader *reader, uint64_t number,
                       uint64_t missed);

/* How many events a reader should take at a turn: the more readers there are, the less each. */
size_t hub_events_share(const hub_orchestrator *hub);

/* Keep events for so long although nobody reads, for somebody who comes back. */
void hub_events_linger(hub_orchestrator *hub);

/* How many readers there are; how many events all of them together have missed. */
size_t hub_events_readers(const hub_orchestrator *hub);
uint64_t hub_events_missed(const hub_orchestrator *hub);

#endif
