/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that are kept for clients to read on: in memory, and nowhere else. Each has an id that
 * nobody can guess, and is found by its principal in its profile alone; an id of somebody else's is
 * the id of nothing. What all of them take is bounded. The client (hub_session_whose) that has most loses
 * its oldest for a new one, so nobody takes the others' share; a result that only fits if others had less than its own bytes
 * is not kept, and nothing is lost for it. Thread: [loop].
 */
#ifndef HUB_HUB_RESULTS_KEPT_H
#define HUB_HUB_RESULTS_KEPT_H

#include "base/err.h"

enum {
    HUB_RESULT_ID_BYTES = 32, /* 128 random bits, in hexadecimal digits */
};

typedef struct hub_kept_results hub_kept_results;

/* Whose it is; texts are borrowed. */
typedef struct hub_result_origin {
    hub_str principal;
    hub_str profile;
    hub_str toolset;
    hub_str tool;  /* the toolset's own name of it; empty: a task */
    hub_str whose; /* the client that it counts for: hub_kept_add alone has it */
} hub_result_origin;

typedef struct hub_kept_result {
    char id[HUB_RESULT_ID_BYTES + 1];
    hub_result_origin origin;
    hub_str json;
} hub_kept_result;

/* NULL: out of memory. Nothing is kept until there is memory for it. */
hub_kept_results *hub_kept_create(void);
void hub_kept_destroy(hub_kept_results *kept); /* NULL is fine */

/* What all of them may take. What is too much is forgotten. */
void hub_kept_set_memory(hub_kept_results *kept, size_t most_bytes);

/* Keep a result; it is copied.
 * errors:  HUB_ELIMIT (it does not fit), HUB_ENOMEM (also: there are no random numbers) */
HUB_MUST_CHECK hub_err hub_kept_add(hub_kept_results *kept, const hub_result_origin *origin,
                                    hub_str json, const hub_kept_result **ret_result);

/* The one with that id, of that principal and profile, or NULL. Good until the next change. */
const hub_kept_result *hub_kept_find(const hub_kept_results *kept, hub_str principal,
                                     hub_str profile, hub_str id);

/* A toolset is no more, and what came of it. */
void hub_kept_forget(hub_kept_results *kept, hub_str toolset);

size_t hub_kept_count(const hub_kept_results *kept);
size_t hub_kept_bytes(const hub_kept_results *kept);

#endif
