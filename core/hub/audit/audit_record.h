/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of the audit, as audit.c and its writer share them: made and ended on the loop, written
 * on the writer's thread, by one at a time.
 */
#ifndef HUB_HUB_AUDIT_AUDIT_RECORD_H
#define HUB_HUB_AUDIT_AUDIT_RECORD_H

#include "base/buf.h"
#include "hub/audit/audit.h"
#include "hub/audit/chain.h"

/* Texts of a record, in the order in which they are written. */
typedef enum hub_audit_text {
    HUB_AUDIT_WHO,
    HUB_AUDIT_PEER,
    HUB_AUDIT_TRANSPORT,
    HUB_AUDIT_PROFILE,
    HUB_AUDIT_METHOD,
    HUB_AUDIT_TOOLSET,
    HUB_AUDIT_NAME,
    HUB_AUDIT_REQUEST, /* raw JSON of the id, as the client sent it */
    HUB_AUDIT_TRACE,
    HUB_AUDIT_SPAN,      /* of the call, if it is recorded */
    HUB_AUDIT_ARGUMENTS, /* raw JSON, perhaps cut */
    HUB_AUDIT_TEXTS,
} hub_audit_text;

struct hub_audit_record {
    hub_audit_record *next;
    const char *outcome;
    int64_t code;     /* of a JSON-RPC error; 0: none */
    uint64_t session; /* its number */
    int64_t ended_ms; /* since 1970 */
    uint64_t begin_us;
    uint64_t took_us;
    bool is_cut;        /* the arguments were longer */
    bool was_not_asked; /* for leave: it may be dropped although the audit is strict */
    hub_str texts[HUB_AUDIT_TEXTS];
    char bytes[];
};

/* A record of what begins now: copies of all that is known of it. `trace` is the span that it is, or
 * NULL: then the trace is what the client says. owns: the result, free() it; NULL when out of memory.
 * [loop] */
hub_audit_record *hub_audit_record_create(const hub_session *session, const hub_message *message,
                                          hub_str toolset, hub_str name, const hub_trace *trace,
                                          bool keeps_arguments);

/* The same of somebody who looks. */
hub_audit_record *hub_audit_record_create_look(const hub_audit_look *look);

/* Append it as a line of JSON, masked, the next of its chain. Any thread. */
void hub_audit_record_add_line(const hub_audit_record *record, hub_audit_chain *chain,
                               hub_buf *out);

/* Write it to the log. Any thread. */
void hub_audit_record_log(const hub_audit_record *record);

/* Append a line that says that records are missing. */
void hub_audit_add_gap(uint64_t count, hub_audit_chain *chain, hub_buf *out);

#endif
