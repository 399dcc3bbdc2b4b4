/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that the objects of the kernel hold, and that pass between them: plain structs and types of
 * callbacks, no functions. So objects.h needs no object's functions, and an object whose header needs
 * a value does not depend on the object that it is of. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_VALUES_H
#define HUB_HUB_KERNEL_VALUES_H

#include "base/limits.h"
#include "base/str.h"
#include "hub/kernel/types.h"

struct hub_way;

/* How a call ended. Spans are borrowed for the call of the function that gets it. */
typedef struct hub_outcome {
    int32_t status; /* PATCHBAY_RESULT, PATCHBAY_RPC_ERROR: JSON; else a failure with plain text */
    hub_str json;
    bool has_type;      /* the result has a resultType member … */
    bool is_partial;    /* … which may say something else than "complete" */
    bool is_refused;    /* the hub did not let it through to its toolset */
    bool is_error;      /* the result's isError is true, as was seen when it was scanned: … */
    const char *judged; /* … of a result that begins here, as one that a station made does not */
} hub_outcome;

/* For calls that the hub makes itself: told instead of a client. */
typedef void hub_call_on_outcome(void *ctx, const hub_outcome *outcome);

/* How its server fares, as its module says (patchbay_health of patchbay/catalog.h). */
typedef struct hub_toolset_health {
    uint32_t pid;
    uint32_t restarts;
    uint32_t failures;
    uint64_t next_attempt_ms; /* by hub_clock_now_ms */
    char protocol[16];
    char last_error[HUB_LIMIT_REASON_BYTES];
} hub_toolset_health;

/* Answer a call instead of a module, now or later. */
typedef void hub_toolset_answer(hub_call *call, const struct hub_way *way);

/* A key that signs what clients bring back: nothing is stored of what it signs. */
typedef struct hub_key {
    unsigned char bytes[32];
} hub_key;

/* How long the names of a call may be, together, for the gate to let it by though its client can be
 * asked: nearly all are shorter. */
enum { HUB_CALL_NAMES_BYTES = 160 };

#endif
