/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of upstreams: calls that are answered with a task, whose result is fetched later. The two
 * generations of them (2025-11-25, where the client asks for a task; the extension of 2026-07-28,
 * where the server decides) differ in their messages and cannot be turned into each other without
 * keeping what passed. So a client has tasks of servers of its own era; for all others a call
 * simply runs without one.
 *
 * Ids. A server's task ids are unique there alone, and one connection to it serves all clients.
 * What a client sees is TOOLSET.SIGNATURE.LENGTH.TOOL.ID: the signature (HMAC-SHA256, 128 bits) covers
 * the server's own id, the tool that made the task (LENGTH bytes), and whom it is for: principal,
 * profile, toolset, era. Nothing is stored. Who may not see the tool any more has no such task. An id
 * that was made up, changed, or given to somebody else is the id of no task; one of an earlier run
 * of the hub, too, since the key is made at start. Only ids change in messages, no other byte.
 * A server that gives an id twice (a counter that starts again with its process) gives the second
 * task to whoever had the first: the specification demands ids that nobody can guess.
 *
 * What the hub does not offer, as the specification permits:
 *  - tasks/list. Whose a task in a server's list is, the hub cannot know without remembering every
 *    task for ever, and a list must be complete.
 *  - tasks of clients (for sampling, elicitation). A server is told before any client is known what
 *    it can ask for; a `task` that it sends all the same is left out, as if nobody knew the word.
 *  - notifications/tasks of 2026-07-28: no listen stream is promised any. Clients poll.
 * Thread: [loop].
 * spec: MCP 2025-11-25 basic/utilities/tasks; the extension io.modelcontextprotocol/tasks
 */
#ifndef HUB_HUB_TASKS_TASKS_H
#define HUB_HUB_TASKS_TASKS_H

#include "hub/kernel/respond.h"

extern const hub_station HUB_TASKS_STATION;

/* Whether the call waits for the result of a task. */
bool hub_tasks_is_result(const hub_call *call);

/* Answer tasks/get, tasks/result, tasks/cancel and tasks/update: by whoever has the task. */
void hub_tasks_forward(const hub_request *request);

/* Answer a subscriptions/listen that names tasks, of a client that does not know what tasks are.
 * False when there is nothing to refuse. */
bool hub_tasks_refuse_listen(const hub_request *request);

/* A toolset asks something, or says something, with these params. Whether that belongs to a task;
 * *ret_call is then the call of a client that waits for its result, NULL when none does. */
bool hub_tasks_find_waiting(const hub_binding *binding, hub_str params, hub_call **ret_call);

/* The params of a question, for the client of a call; its answer, for the toolset. What has no ids
 * is returned as it is, else `text`, which is initialised, holds it. */
hub_str hub_tasks_question(const hub_call *call, hub_str params, hub_buf *text);
hub_str hub_tasks_answer(const hub_call *call, hub_str result, hub_buf *text);

/* The raw id in the `_meta` of such params, or empty. */
hub_str hub_tasks_related_id(hub_str params);

/* Whether a task's state says that it has come to its end. */
bool hub_tasks_has_ended(hub_str state);

/* The declared capabilities of a client of a handshake revision, on the heap: without the extension
 * of the other era, which it could not follow. NULL when out of memory. */
char *hub_tasks_dup_capabilities(hub_str capabilities);

#endif
