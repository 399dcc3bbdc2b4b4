/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the toolsets fare, in numbers: counted where calls end, told to whoever looks after the hub
 * (`patchbay status`, /readyz). Counting is a clock reading and a
 * few additions for each call. Thread: [loop].
 */
#ifndef HUB_HUB_REPORT_STATUS_H
#define HUB_HUB_REPORT_STATUS_H

#include "base/buf.h"
#include "hub/kernel/call.h"
#include "tools/exposure.h"

struct hub_request;

/* The method that `patchbay status` asks a hub with; its result is what hub_status_add appends. */
#define HUB_STATUS_METHOD "patchbay/status"

/* What has become of the clients' calls of a toolset since it was made. */
typedef struct hub_status_counts {
    uint64_t calls;          /* that have ended, however */
    uint64_t errors;         /* of them: no result, or a tool's that says isError */
    uint64_t cancelled;      /* of them: nobody waited for the end */
    uint64_t latency_us;     /* of all that were not cancelled, together */
    uint64_t latency_max_us; /* of the slowest of them */
    uint64_t refused;        /* not among them: they got no place, at once or for as long as they
                                could wait */
} hub_status_counts;

const hub_status_counts *hub_status_counts_of(const hub_toolset *toolset);

/* What somebody else keeps with a call that is counted. */
typedef struct hub_status_seen {
    void *what; /* NULL: nothing */
    uint64_t begin_us;
    unsigned more;
} hub_status_seen;

/* Who else counts calls: every one that passes here, also those of the hub's own tools. A hub
 * has one, or none, and then it costs a branch. `ended` is told once of each call
 * for which `begun` has left something; NULL: it was cancelled. */
typedef struct hub_status_observer {
    void (*begun)(hub_call *call, const struct hub_way *way, hub_status_seen *ret_seen);
    void (*ended)(hub_call *call, const hub_status_seen *seen, const struct hub_outcome *outcome,
                  bool is_error, uint64_t now_us);
} hub_status_observer;

void hub_status_observe(hub_orchestrator *hub, const hub_status_observer *observer);

/* The station that counts them. */
extern const hub_station HUB_STATUS_STATION;

/* The word for what the toolset is doing: off, inactive, idle, connecting, ready or failed. */
const char *hub_status_state(const hub_toolset *toolset, bool is_active);

/* Calls that are under way and that wait, with the instances that sessions have of their own. */
void hub_status_load(const hub_toolset *toolset, size_t *ret_in_flight, size_t *ret_queued);

/* Append one toolset's status for who sees that (NULL: somebody who may see all there is), an object: state, pid, era, protocol, tools, calls, errors,
 * cancelled, refused, redefined, restarts, failures, lastError, nextAttemptMs, catalogAgeMs, inFlight, queued,
 * queueLimit, instances, latencyMs. What does not apply to it is left out. */
void hub_status_add_toolset(hub_exposure *seen, const hub_toolset *toolset, hub_buf *out);

/* Append the status of the hub, an object: `hub`, and `toolsets` with `key`, `active` and `status`
 * of each. A profile whose clients cannot enable toolsets hears of its own ones alone, and none of
 * those that its policies hide unless they are active. */
void hub_status_add(const hub_audience *audience, hub_exposure *seen, hub_buf *out);

/* The same for somebody who may see all there is. */
void hub_status_add_all(const hub_orchestrator *hub, hub_buf *out);

/* Append an array with an object for each toolset that is in use but failed or not connected yet:
 * `toolset`, `state`. Whether there is any. */
bool hub_status_add_not_ready(const hub_orchestrator *hub, hub_buf *out);

/* Ask the hub behind a toolset, which is in use, by one of its own methods: HUB_STATUS_METHOD, or
 * HUB_ADMIN_METHOD (hub/admin/admin.h). `on_outcome` is told once, perhaps before this returns. It takes
 * at most `timeout_ms`.
 * errors:  HUB_ENOTFOUND (no such toolset), HUB_EUNAVAILABLE (nobody uses it), HUB_ELIMIT,
 *          HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_status_ask(hub_orchestrator *hub, hub_str toolset, hub_str method,
                                      hub_str params, uint32_t timeout_ms,
                                      hub_call_on_outcome *on_outcome, void *ctx);

/* Answer HUB_STATUS_METHOD. `add_more` appends members that others have. */
typedef void hub_status_add_more(const hub_session *session, hub_buf *out);
void hub_status_respond(const struct hub_request *request, hub_status_add_more *add_more);

#endif
