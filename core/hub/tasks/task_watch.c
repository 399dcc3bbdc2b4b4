/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/tasks/task_watch.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/share.h"
#include "hub/access/access.h"
#include "hub/kernel/call.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/logging.h"
#include "hub/kernel/progress.h"
#include "hub/tasks/tasks_internal.h"

#include <stdlib.h>

struct hub_task_watch {
    UT_hash_handle by_id;   /* among those of its toolset */
    UT_hash_handle by_call; /* likewise */
    hub_toolset *toolset;
    hub_session *session;
    hub_share *share;             /* of its client */
    hub_task_watch *session_next; /* newer */
    hub_task_watch *session_prev;
    uint64_t call; /* the id of the call that made the task: the toolset's progress token for it */
    hub_str token; /* the client's, raw; empty: it wants none */
    size_t id_len;
    hub_str tool; /* that made it, by the toolset's own name */
    char text[];  /* id, token, tool */
};

/* ---- life ------------------------------------------------------------------------------------ */

static hub_task_watch *find(const hub_toolset *toolset, hub_str id)
{
    hub_task_watch *found = NULL;
    HASH_FIND(by_id, hub_tasks_of(toolset)->watches, id.ptr, (unsigned)id.len, found);
    return found;
}

static void forget(hub_task_watch *watch)
{
    hub_session *session = watch->session;
    hub_toolset *toolset = watch->toolset;
    HASH_DELETE(by_id, hub_tasks_of(toolset)->watches, watch);
    HASH_DELETE(by_call, hub_tasks_of(toolset)->progress, watch);
    if (watch->session_prev != NULL) {
        watch->session_prev->session_next = watch->session_next;
    } else {
        hub_tasks_in(session)->oldest_task = watch->session_next;
    }
    if (watch->session_next != NULL) {
        watch->session_next->session_prev = watch->session_prev;
    } else {
        hub_tasks_in(session)->newest_task = watch->session_prev;
    }
    hub_tasks_in(session)->task_count--;
    hub_share_give(watch->share, 1);
    free(watch);
}

void hub_task_watch_end(hub_toolset *toolset, hub_str id)
{
    hub_task_watch *watch = find(toolset, id);
    if (watch != NULL) {
        forget(watch);
    }
}

static void link_session(hub_task_watch *watch)
{
    hub_session *session = watch->session;
    watch->session_prev = hub_tasks_in(session)->newest_task;
    if (hub_tasks_in(session)->newest_task != NULL) {
        hub_tasks_in(session)->newest_task->session_next = watch;
    } else {
        hub_tasks_in(session)->oldest_task = watch;
    }
    hub_tasks_in(session)->newest_task = watch;
    hub_tasks_in(session)->task_count++;
}

/* Into both or neither. False when out of memory. */
static bool add_to_tables(hub_task_watch *watch)
{
    hub_toolset *toolset = watch->toolset;
    HASH_ADD_KEYPTR(by_id, hub_tasks_of(toolset)->watches, watch->text, (unsigned)watch->id_len,
                    watch);
    if (!hub_map_has_taken(&watch->by_id)) {
        return false;
    }
    HASH_ADD(by_call, hub_tasks_of(toolset)->progress, call, sizeof watch->call, watch);
    if (!hub_map_has_taken(&watch->by_call)) {
        HASH_DELETE(by_id, hub_tasks_of(toolset)->watches, watch);
        return false;
    }
    return true;
}

void hub_task_watch_begin(const hub_call *call, hub_str id)
{
    hub_toolset *toolset = hub_binding_toolset(hub_call_binding(call));
    hub_session *session = hub_call_session(call);
    hub_str token = hub_call_context(call)->progress_token;
    hub_str tool = hub_str_of(hub_task_of(call)->tool);
    hub_task_watch_end(toolset, id); /* a server that uses an id again means another task */
    if (hub_tasks_in(session)->task_count >= HUB_LIMIT_WATCHED_TASKS_PER_SESSION) {
        forget(hub_tasks_in(session)->oldest_task);
    }
    char whose[HUB_WHOSE_BYTES];
    hub_share *share = NULL;
    hub_task_watch *watch =
        tool.len > 0 ? calloc(1, sizeof *watch + id.len + token.len + tool.len) : NULL;
    if (watch == NULL || hub_pool_take(hub_tasks_watched(toolset),
                                       hub_session_whose(session, whose), 1, &share) != HUB_OK) {
        free(watch);
        return; /* its client polls */
    }
    watch->share = share;
    watch->toolset = toolset;
    watch->session = session;
    watch->call = hub_call_id(call);
    watch->id_len = id.len;
    char *at = watch->text;
    (void)hub_str_put(&at, id);
    watch->token = hub_str_put(&at, token);
    watch->tool = hub_str_put(&at, tool);
    if (add_to_tables(watch)) {
        link_session(watch);
    } else {
        free(watch);
    }
}

void hub_task_watch_forget_session(hub_session *session)
{
    while (hub_tasks_in(session)->oldest_task != NULL) {
        forget(hub_tasks_in(session)->oldest_task);
    }
}

/* Whether its session still sees the tool; else it hears of the task no more. */
static bool is_seen(const hub_task_watch *watch)
{
    return hub_access_shows_tool(watch->session, watch->toolset, watch->tool);
}

void hub_task_watch_review(hub_session *session)
{
    hub_task_watch *next;
    for (hub_task_watch *at = hub_tasks_in(session)->oldest_task; at != NULL; at = next) {
        next = at->session_next;
        if (!is_seen(at)) {
            forget(at);
        }
    }
}

void hub_task_watch_forget_toolset(hub_toolset *toolset)
{
    while (hub_tasks_of(toolset)->watches != NULL) {
        forget(hub_tasks_of(toolset)->watches);
    }
}

/* ---- what is heard --------------------------------------------------------------------------- */

/* The watched task that a raw id names, or NULL. */
static hub_task_watch *find_raw(const hub_toolset *toolset, hub_str raw)
{
    hub_buf id;
    hub_buf_init(&id, HUB_LIMIT_TASK_ID_BYTES);
    hub_task_watch *watch =
        hub_json_decode(raw, &id) == HUB_OK ? find(toolset, hub_buf_str(&id)) : NULL;
    hub_buf_fini(&id);
    return watch;
}

static hub_task_owner owner_of(const hub_task_watch *watch)
{
    return (hub_task_owner){.toolset = watch->toolset,
                            .session = watch->session,
                            .era = HUB_ERA_LEGACY,
                            .tool = watch->tool};
}

void hub_task_watch_status(hub_toolset *toolset, hub_str params)
{
    hub_task_watch *watch = find_raw(toolset, hub_json_get(params, HUB_STR("taskId")));
    if (watch == NULL) {
        return;
    }
    const hub_session *session = watch->session;
    const hub_task_owner owner = owner_of(watch);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_str told = hub_tasks_notification(&owner, params, true, &text);
    if (told.len > 0 && !hub_session_is_closing(session) && is_seen(watch)) {
        hub_respond_notify(hub_session_port(session), HUB_STR("notifications/tasks/status"), told);
    }
    hub_buf_fini(&text);
    if (hub_tasks_has_ended(params)) {
        forget(watch);
    }
}

bool hub_task_watch_progress(hub_toolset *toolset, uint64_t call, hub_str params)
{
    hub_task_watch *watch = NULL;
    HASH_FIND(by_call, hub_tasks_of(toolset)->progress, &call, sizeof call, watch);
    if (watch == NULL) {
        return false;
    }
    const hub_session *session = watch->session;
    const hub_task_owner owner = owner_of(watch);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_str told = hub_tasks_notification(&owner, params, false, &text);
    if (told.len > 0 && watch->token.len > 0 && !hub_session_is_closing(session) &&
        is_seen(watch)) {
        hub_progress_notify(hub_session_port(session), watch->token, told);
    }
    hub_buf_fini(&text);
    return true;
}

bool hub_task_watch_message(const hub_binding *binding, hub_str params)
{
    const hub_toolset *toolset = hub_binding_toolset(binding);
    hub_call *waiting;
    if (!hub_tasks_find_waiting(binding, params, &waiting)) {
        return false;
    }
    const hub_task_watch *watch = find_raw(toolset, hub_tasks_related_id(params));
    hub_task_owner owner = {.session = NULL};
    if (waiting != NULL) {
        owner = hub_task_owner_of(waiting);
        owner.era = HUB_ERA_LEGACY;
    } else if (watch != NULL && is_seen(watch)) {
        owner = owner_of(watch);
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_str told = owner.session != NULL ? hub_tasks_notification(&owner, params, false, &text)
                                         : HUB_STR_EMPTY;
    if (told.len > 0 && waiting != NULL) {
        hub_logging_forward(waiting, told);
    } else if (told.len > 0) {
        hub_logging_tell(watch->session, told);
    }
    hub_buf_fini(&text);
    return true;
}
