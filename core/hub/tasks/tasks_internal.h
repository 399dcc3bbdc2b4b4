/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder keep with calls, toolsets, sessions and the hub. Nobody else includes
 * it. */
#ifndef HUB_HUB_TASKS_TASKS_INTERNAL_H
#define HUB_HUB_TASKS_TASKS_INTERNAL_H

#include "base/share.h"
#include "hub/tasks/task_ids.h"
#include "hub/tasks/task_watch.h"
#include "hub/tasks/tasks.h"

/* What a call has to do with a task of its toolset. */
typedef enum task_role {
    TASK_NONE,
    TASK_MADE,   /* it asks for one */
    TASK_STATE,  /* it asks how one is, or changes it */
    TASK_RESULT, /* it waits for the result of one */
} task_role;

/* A request as its toolset sees it: without the member `task`. */
typedef struct hidden_request {
    hub_message message;
    char *text;
} hidden_request;

/* With a call. */
typedef struct call_task {
    task_role role;
    char *task; /* the toolset's own id; NULL: none yet */
    size_t task_len;
    char *tool;             /* that makes one, or may have made it, by the toolset's own name */
    hidden_request *hidden; /* NULL: the request is as it came */
    hub_buf translated;     /* what its outcome has become */
} call_task;

/* With a toolset: the tasks that somebody hears of. */
typedef struct toolset_tasks {
    hub_task_watch *watches;  /* uthash over the id … */
    hub_task_watch *progress; /* … and over the call that made them */
} toolset_tasks;

/* With a session, of a handshake revision: the tasks that it hears of. */
typedef struct session_tasks {
    hub_task_watch *oldest_task;
    hub_task_watch *newest_task;
    size_t task_count;
} session_tasks;

toolset_tasks *hub_tasks_of(const hub_toolset *toolset);
session_tasks *hub_tasks_in(const hub_session *session);
hub_pool *hub_tasks_watched(const hub_toolset *toolset); /* of the whole hub */

/* What a call has to do with tasks; NULL: nothing so far. */
const call_task *hub_task_of(const hub_call *call);
task_role hub_task_role_of(const hub_call *call);
hub_str hub_task_id_of(const call_task *part);
hub_task_owner hub_task_owner_of(const hub_call *call);

/* The params of a notification for a session: with the session's ids in place of the toolset's, as
 * the member taskId (of a state: notifications/tasks/status) and in `_meta`. What has no ids is
 * returned as it is, else `text`, which is initialised, holds it; empty when an id is none. */
hub_str hub_tasks_notification(const hub_task_owner *owner, hub_str params, bool is_state,
                               hub_buf *text);

#endif
