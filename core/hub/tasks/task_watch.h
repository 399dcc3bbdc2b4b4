/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who hears of a task after the call that made it: the session of a handshake revision that made
 * it, and nobody else. It is told of status changes (notifications/tasks/status), of progress under
 * the token of that call, and of what the toolset logs for the task. All of that is a courtesy
 * (clients poll), so what is remembered is bounded: beyond the limits the oldest task of the
 * session, or the newest of the hub, goes unannounced. Thread: [loop].
 * spec: MCP 2025-11-25 basic/utilities/tasks (Task Notifications, Task Progress Notifications,
 * Associating Task-Related Messages)
 */
#ifndef HUB_HUB_TASKS_TASK_WATCH_H
#define HUB_HUB_TASKS_TASK_WATCH_H

#include "hub/kernel/call.h"

typedef struct hub_task_watch hub_task_watch;

/* A call of a legacy session has made a task: `id` is the toolset's, decoded. */
void hub_task_watch_begin(const hub_call *call, hub_str id);

/* The task has come to its end, or its session or toolset has. */
void hub_task_watch_end(hub_toolset *toolset, hub_str id);
void hub_task_watch_forget_session(hub_session *session);
void hub_task_watch_forget_toolset(hub_toolset *toolset);

/* The rules are others: a session hears no more of tasks of tools that they hide from it. */
void hub_task_watch_review(hub_session *session);

/* A toolset tells that a task has changed: params of notifications/tasks/status. */
void hub_task_watch_status(hub_toolset *toolset, hub_str params);

/* … of progress, under the id of a call that is over. False when no task is known by it. */
bool hub_task_watch_progress(hub_toolset *toolset, uint64_t call, hub_str params);

/* … of something to log. False when that belongs to no task, and concerns others. */
bool hub_task_watch_message(const hub_binding *binding, hub_str params);

#endif
