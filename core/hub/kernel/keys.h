/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys that sign what clients bring back: nothing is stored of what they sign. A hub makes its own
 * when it starts; replicas derive theirs from a file that they share (replicas.key_file), by HKDF: one
 * for each use, of the current key of the file, which signs, and of the previous ones, which are still
 * taken.
 * spec: RFC 5869
 * Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_KEYS_H
#define HUB_HUB_KERNEL_KEYS_H

#include "base/err.h"
#include "base/limits.h"
#include "hub/kernel/types.h"
#include "hub/kernel/values.h"

typedef enum hub_key_use {
    HUB_KEY_STATES,   /* requestState of servers behind the hub */
    HUB_KEY_TASKS,    /* ids of tasks */
    HUB_KEY_CURSORS,  /* places in lists */
    HUB_KEY_CATALOGS, /* catalogs that replicas tell each other */
    HUB_KEY_USES,
} hub_key_use;

/* What a hub has. */
typedef struct hub_key_ring {
    size_t count; /* at least 1: the first one signs */
    hub_key keys[HUB_KEY_USES][HUB_LIMIT_STATE_KEYS];
} hub_key_ring;

/* One of a hub's own. errors:  HUB_ESYSTEM (no random numbers can be had) */
HUB_MUST_CHECK hub_err hub_key_make(hub_key *ret_key);

/* All of a hub, of the file; NULL: made now.
 * blocks:  reads the file
 * errors:  HUB_ESYSTEM, HUB_ENOMEM, those of hub_state_keys_read */
HUB_MUST_CHECK hub_err hub_key_ring_make(const char *file, hub_key_ring *ret_ring,
                                         hub_error *reterr);

/* The key of a use: `age` 0 signs, all of them are taken. NULL: there are none so old. */
const hub_key *hub_key_at(const hub_orchestrator *hub, hub_key_use use, size_t age);

#endif
