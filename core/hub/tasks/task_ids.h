/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of tasks: how a client's id is made of the toolset's own and read back, and how messages are
 * given one for the other. Nothing is stored: the id says whose the task is, and is signed. For the
 * files of this folder. Thread: [loop]. */
#ifndef HUB_HUB_TASKS_TASK_IDS_H
#define HUB_HUB_TASKS_TASK_IDS_H

#include "base/limits.h"
#include "hub/replicas/replicas.h"
#include "wire/dialect.h"

enum {
    HUB_TASK_SIGNATURE_DIGITS = 32,
    HUB_TASK_LENGTH_DIGITS = 3,
    /* of a client's id: TOOLSET.SIGNATURE.LENGTH.TOOL.ID; where there are other replicas, which have
     * servers of their own, the signature is also of the home (hub/replicas), which is named behind it */
    HUB_TASK_CLIENT_ID_BYTES = HUB_LIMIT_TOOLSET_KEY_BYTES + 1 + HUB_TASK_SIGNATURE_DIGITS +
                               HUB_REPLICA_HOME_DIGITS + 1 + HUB_TASK_LENGTH_DIGITS + 1 +
                               HUB_LIMIT_TOOL_NAME_BYTES + 1 + HUB_LIMIT_TASK_ID_BYTES,
};

/* Whom a task is for, of whom, and of which tool. */
typedef struct hub_task_owner {
    const hub_toolset *toolset;
    const hub_session *session;
    hub_era era;
    hub_str tool; /* by the toolset's own name; empty: nobody knows */
} hub_task_owner;

/* Decode a raw string of 1 to `max_bytes` bytes; false when it is none. `text` is initialised here, and
 * the caller's in any case. */
bool hub_task_read_id(hub_str raw, size_t max_bytes, hub_buf *text);

/* The toolset of the task that a client means by the decoded id `text`, the tool that made it, and its
 * own id there (slices of `text`). NULL when it is the id of no task of this client's, or of a tool
 * that it does not see any more. */
hub_toolset *hub_task_find(hub_session *session, hub_era era, hub_str text, hub_str *ret_tool,
                           hub_str *ret_id);

/* Append `json` with the client's ids in the place of the toolset's: of `id`, and of that in
 * `_meta`. Both may be empty. False when one of them is no id. */
bool hub_task_add_for_client(const hub_task_owner *owner, hub_str json, hub_str id, hub_buf *out);

/* Append an object without one of its members. */
void hub_task_add_without(hub_str object, hub_str member, hub_buf *out);

#endif
