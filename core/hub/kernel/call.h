/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: requests in flight through the hub, from admission to their single completion. This is
 * where a call is completed: hub_call_finish, whatever the cause (result, error, cancel, timeout,
 * death of the module).
 *
 * A call's id is the hub's own, below 2^53, and not used again for 2^37 calls: an upstream gets it
 * as JSON-RPC id and progress token, so an answer that comes too late, or is forged, finds nothing.
 * The client's id is kept verbatim, `1` apart from `"1"`. Memory: calls are recycled; in steady
 * state one costs no allocation. Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_CALL_H
#define HUB_HUB_KERNEL_CALL_H

#include "hub/ask/request_state.h"
#include "hub/kernel/transport.h"
#include "wire/dialect.h"

#include <ev.h>

typedef struct hub_binding hub_binding;
typedef struct hub_call hub_call;
typedef struct hub_call_table hub_call_table;
typedef struct hub_asking hub_asking;
struct hub_audit;
struct hub_audit_record;
typedef struct hub_waiting hub_waiting;

/* How a call ended. Spans are borrowed for the call of the function that gets it. */
typedef struct hub_outcome {
    int32_t status; /* PATCHBAY_RESULT, PATCHBAY_RPC_ERROR: JSON; else a failure with plain text */
    hub_str json;
    bool has_type; /* the result has a resultType member */
} hub_outcome;

/* For calls that the hub makes itself: told instead of a client. */
typedef void hub_call_on_outcome(void *ctx, const hub_outcome *outcome);

/* What a call has to do with a task of its toolset (tasks.h). */
typedef enum hub_task_role {
    HUB_TASK_NONE,
    HUB_TASK_MADE,   /* it asks for one */
    HUB_TASK_STATE,  /* it asks how one is, or changes it */
    HUB_TASK_RESULT, /* it waits for the result of one */
} hub_task_role;

/* What a call keeps of a request that took it up again. */
typedef struct hub_call_kept {
    struct hub_call_kept *older;
    size_t len;
    char bytes[];
} hub_call_kept;

struct hub_call {
    uint64_t id;
    hub_call_table *table;
    hub_session *session; /* who asked; NULL: the hub itself, or a client that has to come back */
    hub_port *port;
    hub_call_on_outcome *on_outcome;
    void *ctx;
    hub_binding *binding; /* who works on it; NULL while it waits for a catalog or a place */
    hub_waiting *waiting; /* for a place (queue.h); else NULL */
    hub_call *session_next;
    hub_call *session_prev;
    hub_call **bucket;     /* of session->calls_by_id */
    hub_call *bucket_next; /* in it */
    hub_call *binding_next;
    hub_call *binding_prev;
    hub_call *park_next; /* of those that wait, for whichever of the two */
    hub_call *park_prev;
    bool is_tool_call;           /* failures become tool results */
    bool is_reading;             /* resources/read: it has caching hints, and a way to miss */
    bool structured_errors;      /* … with structuredContent (the tool has no outputSchema) */
    bool parked;                 /* see parking.h */
    bool patient;                /* … and waits for catalogs that are late */
    hub_request_context context; /* its spans point into `kept` */
    hub_str client_id;           /* likewise */
    hub_task_role task_role;     /* what it has to do with a task … */
    char *task;                  /* … and with which: the toolset's own id; NULL: none yet */
    size_t task_len;
    bool takes_place;     /* one of its binding's client_calls */
    bool is_refused;      /* it ends because it got none */
    uint64_t progress_ms; /* see progress.c */
    char *progress;       /* … and the newest that was held back; NULL: none */
    size_t progress_len;
    ev_timer progress_due; /* … runs while one is */
    char *log;             /* what its line in the log will say (middleware.h); NULL: none */
    char *promised_tool;   /* a tool that only an earlier hub heard of (discovery.h); NULL: none */
    char *held;            /* a parked request, whole */
    size_t held_len;
    char *kept;                             /* inline_kept, or on the heap when that is too small */
    hub_call_kept *kept_later;              /* newest first */
    hub_asking *asking;                     /* what its client is asked (ask.h); NULL: nothing */
    bool has_digest;                        /* a modern client that can be asked; then … */
    unsigned char digest[HUB_DIGEST_BYTES]; /* … what its retries have to have */
    bool may_ask;                           /* its method may be answered with input_required */
    bool is_carrier;                        /* it is there for its questions alone (roots.h) */
    bool idle;                              /* bound, but nobody works on it (reissue.h) */
    struct hub_audit_record *audit;         /* what is noted of it, … */
    struct hub_audit *auditor;              /* … by whom; NULL: nothing */
    uint64_t begin_us;                      /* monotonic; the same in milliseconds: */
    uint64_t begin_ms;
    uint64_t ceiling_ms; /* after which progress does not help; monotonic, as begin_ms */
    uint64_t paused_ms;  /* since when the clock stands still; 0: it runs */
    uint32_t timeout_ms;
    ev_timer deadline;
    char inline_kept[480]; /* last: what precedes it is cleared for each call, this is not */
};

/* owns:    *ret_table. The hub is called back when a deadline passes. */
HUB_MUST_CHECK hub_err hub_call_table_create(struct ev_loop *loop, hub_call_table **ret_table);
void hub_call_table_destroy(hub_call_table *table); /* no call may be in flight; NULL is fine */

/* Calls in flight in the whole hub. */
size_t hub_call_count(const hub_call_table *table);

/* Begin a call of a client: `id` and `context` are copied.
 * errors:  HUB_ELIMIT (too many in flight, for the hub or for the session), HUB_EEXIST (the session
 *          has a request with that id in flight), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_call_begin(hub_call_table *table, hub_session *session, hub_port *port,
                                      hub_str id, const hub_request_context *context,
                                      hub_call **ret_call);

/* Begin a call of the hub's own. `on_outcome` is told exactly once, unless hub_call_drop comes. */
HUB_MUST_CHECK hub_err hub_call_begin_internal(hub_call_table *table,
                                               hub_call_on_outcome *on_outcome, void *ctx,
                                               hub_call **ret_call);

/* The loop of its timers. */
struct ev_loop *hub_call_loop(const hub_call *call);

/* Note who works on it. It takes a place of the toolset's max_calls if it is a client's, and not
 * about a task. */
void hub_call_bind(hub_call *call, hub_binding *binding);

/* What the call takes is counted from now on. */
void hub_call_begin_clock(hub_call *call);

/* After `timeout_ms` without progress, or `ceiling_ms` in all, the call fails. Both count from the
 * beginning of its clock, which is now unless it has begun. */
void hub_call_set_deadline(hub_call *call, uint32_t timeout_ms, uint32_t ceiling_ms);

/* Progress was reported: the timeout starts anew, the ceiling does not. */
void hub_call_touch(hub_call *call);

/* The clock stands still: the call waits for its client. Neither timeout nor ceiling comes nearer
 * until it goes on. */
void hub_call_pause(hub_call *call);
void hub_call_unpause(hub_call *call);

/* Let go of the client, which has been answered for now: the call lives on without one. */
void hub_call_leave_client(hub_call *call);

/* The client is back with another request: it is the call's from now on. `id` and `context` are
 * copied; what of the older one was handed out stays valid.
 * errors:  HUB_ELIMIT (as hub_call_begin, or the call has been taken up too often), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_call_meet_client(hub_call *call, hub_session *session, hub_port *port,
                                            hub_str id, const hub_request_context *context);

/* Nobody works on it any more: its outcome is known. */
void hub_call_unbind(hub_call *call);

/* Give it a new id: whatever is said under the old one finds nothing. */
void hub_call_renew(hub_call *call);

/* The call with that id, or NULL. */
hub_call *hub_call_at(const hub_call_table *table, uint64_t id);

/* The call with that id if `binding` works on it, else NULL. */
hub_call *hub_call_find(const hub_call_table *table, uint64_t id, const hub_binding *binding);

/* Complete a call: answer the client (or tell on_outcome), then forget it. */
void hub_call_finish(hub_call *call, const hub_outcome *outcome);

/* Complete it with a failure and a sentence. */
void hub_call_fail(hub_call *call, int32_t status, hub_str text);

/* Complete it with a JSON-RPC error. */
void hub_call_fail_rpc(hub_call *call, int code, hub_str message);

/* Complete it with a failure and a sentence, and tell who works on it that nobody waits. */
void hub_call_abort(hub_call *call, int32_t status, hub_str text);

/* Forget a call without an answer, and tell who works on it: cancelled, or the client is gone. */
void hub_call_drop(hub_call *call);

#endif
