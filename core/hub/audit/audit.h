/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: one record for each call of a tool, each reading of a resource, each prompt, each
 * completion: who asked for what, of which toolset, how long it took, how it ended; never what it
 * was given, unless the settings say so (then masked and cut), and never what came of it
 * (RELIABILITY D09, R09).
 *
 * Records go to the log, or as JSON lines to a file of their own. A thread of its own writes them:
 * the loop makes a record and hands it over. The file is opened for the first record, and again
 * when it is no longer what its path means: renamed, removed, a link to somewhere else. When it
 * cannot be written (the disk is full), records are dropped and counted; or, if the audit is
 * strict, they are kept, and calls are refused until it can be. What is waiting is bounded by
 * HUB_LIMIT_AUDIT_RECORDS.
 *
 * Thread: [loop], but what is said otherwise.
 */
#ifndef HUB_HUB_AUDIT_AUDIT_H
#define HUB_HUB_AUDIT_AUDIT_H

#include "hub/kernel/call.h"
#include "hub/kernel/settings.h"

struct hub_request;

typedef struct hub_audit hub_audit;
typedef struct hub_audit_record hub_audit_record;

/* owns:    *ret_audit; nothing is opened or started yet
 * errors:  HUB_ENOMEM, HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_audit_create(struct ev_loop *loop, const hub_audit_settings *settings,
                                        hub_audit **ret_audit, hub_error *reterr);

/* Write what waits, and end, within `timeout_ms`; a thread that hangs in the file system is left
 * behind, and frees nothing. NULL is fine, and true.
 * returns: false when a thread is left behind: leave the process with _exit */
bool hub_audit_destroy(hub_audit *audit, unsigned timeout_ms);

/* Whether records can be written where the settings say: for a start and a reload to fail early.
 * blocks:  yes, opens the file
 * errors:  HUB_ESYSTEM, the text names the file */
HUB_MUST_CHECK hub_err hub_audit_probe(const hub_audit_settings *settings, hub_error *reterr);

/* The same for whoever only wants to know: a file that is not there is not made.
 * errors:  as hub_audit_probe */
HUB_MUST_CHECK hub_err hub_audit_check(const hub_audit_settings *settings, hub_error *reterr);

/* Do as these settings say from now on. */
void hub_audit_configure(hub_audit *audit, const hub_audit_settings *settings);

/* The audit of a hub: it is the hub's own from beginning to end. */
extern const hub_station HUB_AUDIT_STATION;

/* The hub's. */
hub_audit *hub_audit_of(const hub_orchestrator *hub);

/* The hub ends. returns: as hub_audit_destroy */
bool hub_audit_finish(hub_orchestrator *hub, unsigned timeout_ms);

/* A request was refused before it became a call: noted if it asked for one that would have been
 * (audit_refuse.c). */
void hub_audit_note_refused(const struct hub_request *request);

/* The same by whoever knows what it was about; either may be empty. */
void hub_audit_refused(const struct hub_request *request, hub_str toolset, hub_str name);

/* A request that is no call is answered by the hub itself, now: note it. NULL: it may be; else it must
 * not, and the text says why (the audit is strict, and cannot be written). */
const char *hub_audit_take_answered(const struct hub_request *request, hub_str toolset,
                                    hub_str name);

/* Somebody who looks at the hub, or changes it, by other ways than calls: the administration's API, and
 * the dashboard, which asks that. */
typedef struct hub_audit_look {
    hub_str who;
    hub_str transport;
    hub_str profile; /* may be empty */
    hub_str method;  /* of the interface: "api" */
    hub_str toolset; /* may be empty */
    hub_str what;    /* "GET /api/v1/toolsets/git" */
    bool only_looks; /* it changes nothing: the same again within HUB_LIMIT_AUDIT_LOOK_MS is one */
    bool is_refused; /* it lacks the right */
} hub_audit_look;

/* Note it, before it is answered. NULL: it may be; else as hub_audit_take_answered. */
const char *hub_audit_take_look(const hub_orchestrator *hub, const hub_audit_look *look);

/* The word for how a call ended: ok, error, tool_error, refused, … NULL: "cancelled". */
const char *hub_audit_outcome_word(const hub_call *call, const struct hub_outcome *outcome);

typedef struct hub_audit_numbers {
    uint64_t written;
    uint64_t dropped;
    uint64_t refused; /* calls */
    size_t waiting;
    bool is_failing; /* the last attempt to write has failed */
} hub_audit_numbers;

hub_audit_numbers hub_audit_count(hub_audit *audit);

/* Wait until nothing waits, or writing fails. For tests. */
void hub_audit_flush(hub_audit *audit);

#endif
