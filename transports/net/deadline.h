/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of things that have been in one state since some time: whoever came first is late first,
 * since all of one list have equally long. Joining, leaving and finding the late ones cost the same
 * for ten as for ten thousand. The things embed a hub_deadline, zeroed, and own themselves. Thread:
 * [loop].
 */
#ifndef TRANSPORTS_NET_DEADLINE_H
#define TRANSPORTS_NET_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hub_deadline hub_deadline;

typedef struct hub_deadlines {
    hub_deadline *first;
    hub_deadline *last;
} hub_deadlines;

struct hub_deadline {
    hub_deadline *next;
    hub_deadline *prev;
    hub_deadlines *list; /* NULL: in none */
    uint64_t since_ms;
};

/* Leave the list it is in, if any, and join the end of this one. `now_ms` never falls. */
void hub_deadline_start(hub_deadlines *list, hub_deadline *item, uint64_t now_ms);

/* Leave the list it is in, if any. */
void hub_deadline_stop(hub_deadline *item);

/* The first one, if it has been there for `after_ms` at least; else NULL. */
hub_deadline *hub_deadline_late(const hub_deadlines *list, uint64_t now_ms, uint64_t after_ms);

/* The struct that embeds it. */
#define HUB_DEADLINE_OF(item, type, member) ((type *)((char *)(item)-offsetof(type, member)))

#endif
