/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder keep with the hub. Nobody else includes it. */
#ifndef HUB_HUB_AUDIT_AUDIT_INTERNAL_H
#define HUB_HUB_AUDIT_AUDIT_INTERNAL_H

#include "base/limits.h"
#include "hub/audit/audit.h"
#include "hub/audit/audit_file.h"
#include "hub/audit/audit_record.h"
#include "modules/worker.h"

#include <ev.h>
#include <pthread.h>

typedef struct record_list {
    hub_audit_record *first;
    hub_audit_record *last; /* unless it is empty */
    size_t count;
} record_list;

/* Somebody has looked at something. */
typedef struct recent_look {
    unsigned char what[HUB_DIGEST_BYTES];
    uint64_t until_ms; /* when it counts again; monotonic */
} recent_look;

struct hub_audit {
    struct ev_loop *loop;
    hub_worker_pool *writer; /* one thread */
    ev_async on_left;
    ev_timer retry;
    struct hub_log_reader *events; /* NULL: records go to the log, which has them, or nowhere */
    bool keeps_arguments;
    bool is_strict;
    size_t open; /* records of calls in flight */
    uint64_t refused;
    recent_look looks[HUB_LIMIT_AUDIT_LOOKS];
    size_t newest_look;

    pthread_mutex_t lock; /* guards all that follows, but what is the writer's own */
    pthread_cond_t is_idle;
    record_list waiting;
    bool is_on;
    char *path; /* NULL: the log */
    bool keeps; /* strict: nothing is dropped */
    bool is_busy;
    bool is_failing;
    uint64_t written;
    uint64_t dropped;
    uint64_t untold; /* of them: the file does not say so yet */
    uint64_t lost;   /* since writing began to fail */

    hub_audit_file file;   /* of the writer alone */
    hub_audit_chain chain; /* likewise */
};

/* Hand a record over; it is dropped when too many wait, unless the audit is strict: then as many
 * calls were let in as there is room for. [loop] */
void hub_audit_hand_over(hub_audit *audit, hub_audit_record *record);

/* Something has changed by itself. It is too late to refuse it: in want of memory it is not noted. [loop] */
void hub_audit_note_change(hub_audit *audit, const hub_audit_look *change);

/* Note what changes for clients from now on, or no longer. [loop] */
void hub_audit_follow_events(hub_audit *audit, bool is_wanted);

#endif
