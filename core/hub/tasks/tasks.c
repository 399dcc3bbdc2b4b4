/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/tasks/tasks.h"

#include "base/limits.h"
#include "hub/access/access.h"
#include "hub/catalogs/announce.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/tasks/tasks_internal.h"

#include <stdlib.h>

/* ---- what is kept ---------------------------------------------------------------------------- */

toolset_tasks *hub_tasks_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_TASKS_STATION);
}

session_tasks *hub_tasks_in(const hub_session *session)
{
    return hub_session_part(session, &HUB_TASKS_STATION);
}

hub_pool *hub_tasks_watched(const hub_toolset *toolset)
{
    return hub_hub_part(hub_toolset_hub(toolset), &HUB_TASKS_STATION);
}

const call_task *hub_task_of(const hub_call *call)
{
    return hub_call_find_part(call, &HUB_TASKS_STATION);
}

task_role hub_task_role_of(const hub_call *call)
{
    const call_task *part = hub_task_of(call);
    return part != NULL ? part->role : TASK_NONE;
}

hub_str hub_task_id_of(const call_task *part)
{
    return (hub_str){.ptr = part->task, .len = part->task_len};
}

bool hub_tasks_is_result(const hub_call *call)
{
    return hub_task_role_of(call) == TASK_RESULT;
}

hub_task_owner hub_task_owner_of(const hub_call *call)
{
    const call_task *part = hub_task_of(call);
    return (hub_task_owner){.toolset = hub_binding_toolset(hub_call_binding(call)),
                            .session = hub_call_session(call),
                            .era = hub_call_context(call)->era,
                            .tool = part != NULL && part->tool != NULL ? hub_str_of(part->tool)
                                                                       : HUB_STR_EMPTY};
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What a tools/call has to do with tasks. */
typedef enum task_wish {
    UNWANTED, /* nothing */
    WANTED,   /* it asks for one, and may */
    HIDDEN,   /* it says `task`, but its toolset is not to see that */
    REQUIRED, /* the tool runs as a task only, and this client cannot ask for one */
    ILL_MADE, /* it asks for one in the wrong way … */
    MISTAKEN, /* … or of a tool that has none */
} task_wish;

static bool is_support(const hub_item *tool, const char *word)
{
    hub_str execution = hub_json_get(tool->json, HUB_STR("execution"));
    return hub_json_string_is(hub_json_get(execution, HUB_STR("taskSupport")), hub_str_of(word));
}

static task_wish read_wish(const hub_call *call, const hub_way *way)
{
    hub_str task = way->message->at[HUB_M_TASK];
    bool may = hub_call_context(call)->revision == HUB_REVISION_2025_11_25;
    bool offered = hub_toolset_capabilities(way->toolset)->runs_tasks;
    if (task.len == 0 || !may) {
        if (offered && !may && is_support(way->item, "required")) {
            return REQUIRED;
        }
        return task.len > 0 && offered ? HIDDEN : UNWANTED;
    }
    if (!hub_capabilities_has_tasks(hub_session_exposure(hub_call_session(call)), HUB_ERA_LEGACY)) {
        return UNWANTED; /* nobody was promised anything: the word means nothing */
    }
    if (hub_json_type_of(task) != HUB_JSON_OBJECT) {
        return ILL_MADE;
    }
    bool may_run = is_support(way->item, "optional") || is_support(way->item, "required");
    return offered && may_run ? WANTED : MISTAKEN;
}

/* Have the toolset see the request without its member `task`. */
static bool hide(call_task *part, hub_way *way)
{
    const hub_message *message = way->message;
    hidden_request *hidden = calloc(1, sizeof *hidden);
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":"));
    hub_buf_add(&text, message->at[HUB_M_ID]);
    hub_buf_add(&text, HUB_STR(",\"method\":\"tools/call\",\"params\":"));
    hub_task_add_without(message->at[HUB_M_PARAMS], HUB_STR("task"), &text);
    hub_buf_add_char(&text, '}');
    bool done = hidden != NULL && hub_buf_ok(&text) &&
                hub_message_scan(hub_buf_str(&text), &hidden->message, NULL) == HUB_OK;
    if (done) {
        hub_str before = message->at[HUB_M_ARGUMENTS];
        hidden->text = hub_buf_take(&text);
        part->hidden = hidden;
        way->message = &hidden->message;
        way->name_json = hidden->message.at[HUB_M_NAME];
        way->arguments =
            way->arguments.ptr == before.ptr ? hidden->message.at[HUB_M_ARGUMENTS] : way->arguments;
    } else {
        free(hidden);
    }
    hub_buf_fini(&text);
    return done;
}

/* Its server may make a task of it unasked, whose id says of which tool it is. */
static void note_tool(hub_call *call, const hub_way *way)
{
    if (hub_call_context(call)->era == HUB_ERA_MODERN &&
        hub_toolset_capabilities(way->toolset)->extends_tasks) {
        call_task *part = hub_call_part_of(call, &HUB_TASKS_STATION);
        free(part->tool);
        part->tool = hub_str_dup(way->name);
    }
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    if (way->is_aside || !hub_call_is_of_tool(call) || way->item == NULL) {
        return HUB_GO_ON;
    }
    call_task *part;
    switch (read_wish(call, way)) {
    case UNWANTED:
        note_tool(call, way);
        return HUB_GO_ON;
    case WANTED:
        part = hub_call_part_of(call, &HUB_TASKS_STATION);
        part->role = TASK_MADE;
        part->tool = hub_str_dup(way->name);      /* without it nobody hears of the task */
        hub_call_set_of_tool(call, false, false); /* what fails to become a task has no result */
        return HUB_GO_ON;
    case HIDDEN:
        if (hide(hub_call_part_of(call, &HUB_TASKS_STATION), way)) {
            return HUB_GO_ON;
        }
        hub_call_fail(call, PATCHBAY_FAILED, HUB_STR("out of memory"));
        return HUB_ANSWERED;
    case REQUIRED:
        hub_call_fail(call, PATCHBAY_NOT_IMPLEMENTED,
                      HUB_STR("this tool runs as a task only, which takes a client of MCP "
                              "2025-11-25 that supports tasks"));
        return HUB_ANSWERED;
    case ILL_MADE:
        hub_call_refuse_rpc(call, HUB_RPC_INVALID_PARAMS, HUB_STR("params.task must be an object"));
        return HUB_ANSWERED;
    case MISTAKEN:
        break;
    }
    hub_call_refuse_rpc(call, HUB_RPC_METHOD_NOT_FOUND,
                        HUB_STR("this tool does not run as a task: call it without params.task"));
    return HUB_ANSWERED;
}

/* ---- outcomes -------------------------------------------------------------------------------- */

bool hub_tasks_has_ended(hub_str state)
{
    hub_str status = hub_json_get(state, HUB_STR("status"));
    return hub_json_string_is(status, HUB_STR("completed")) ||
           hub_json_string_is(status, HUB_STR("failed")) ||
           hub_json_string_is(status, HUB_STR("cancelled"));
}

/* Whether a result of a call that did not ask for a task is one. */
static bool is_unasked(const hub_call *call, const hub_outcome *outcome)
{
    hub_str type =
        outcome->has_type &&
                hub_toolset_capabilities(hub_binding_toolset(hub_call_binding(call)))->extends_tasks
            ? hub_json_get(outcome->json, HUB_STR("resultType"))
            : HUB_STR_EMPTY;
    return hub_json_string_is(type, HUB_STR("task"));
}

/* Hear of a task from now on, or no longer. */
static void watch(const hub_call *call, hub_str state)
{
    hub_toolset *toolset = hub_binding_toolset(hub_call_binding(call));
    hub_buf id;
    const call_task *part = hub_task_of(call);
    if (hub_task_role_of(call) == TASK_MADE && hub_call_context(call)->era == HUB_ERA_LEGACY) {
        if (hub_task_read_id(hub_json_get(state, HUB_STR("taskId")), HUB_LIMIT_TASK_ID_BYTES,
                             &id)) {
            hub_task_watch_begin(call, hub_buf_str(&id));
        }
        hub_buf_fini(&id);
    } else if (part != NULL && part->task != NULL &&
               (part->role == TASK_RESULT || hub_tasks_has_ended(state))) {
        hub_task_watch_end(toolset, hub_task_id_of(hub_task_of(call)));
    }
}

static void translate(const hub_call *call, hub_outcome *outcome, hub_buf *text)
{
    hub_str state = outcome->json;
    if (hub_task_role_of(call) == TASK_NONE) {
        if (!is_unasked(call, outcome)) {
            return;
        }
    } else if (hub_task_role_of(call) == TASK_MADE) {
        state = hub_json_get(outcome->json, HUB_STR("task"));
        if (state.len == 0) {
            return; /* it was answered at once: the client can tell */
        }
    }
    hub_str id = hub_tasks_is_result(call) ? HUB_STR_EMPTY : hub_json_get(state, HUB_STR("taskId"));
    bool needs_id = hub_task_role_of(call) == TASK_NONE || hub_task_role_of(call) == TASK_MADE;
    bool is_followed =
        hub_call_session(call) != NULL &&
        (hub_task_role_of(call) != TASK_NONE || hub_call_context(call)->era == HUB_ERA_MODERN);
    hub_task_owner owner = hub_task_owner_of(call);
    if (!is_followed) {
        *outcome = (hub_outcome){
            .status = PATCHBAY_FAILED,
            .json = HUB_STR("the server answered with a task, which the client did not ask for")};
    } else if ((needs_id && id.len == 0) ||
               !hub_task_add_for_client(&owner, outcome->json, id, text)) {
        *outcome = (hub_outcome){
            .status = PATCHBAY_FAILED,
            .json = HUB_STR("the server answered with a task whose id is not a string of 1 to 1024 "
                            "bytes")};
    } else {
        watch(call, state);
        outcome->json = hub_buf_str(text);
    }
}

/* ---- the station ----------------------------------------------------------------------------- */

static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    if (outcome->status != PATCHBAY_RESULT || hub_call_binding(call) == NULL) {
        return HUB_GO_ON;
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    translate(call, outcome, &text);
    if (text.len > 0) {
        call_task *part = hub_call_part_of(call, &HUB_TASKS_STATION);
        part->translated = text;
    } else {
        hub_buf_fini(&text);
    }
    return HUB_GO_ON;
}

static void drop(hub_call *call)
{
    call_task *part = hub_call_find_part(call, &HUB_TASKS_STATION);
    if (part != NULL) {
        free(part->task);
        free(part->tool);
        if (part->hidden != NULL) {
            free(part->hidden->text);
        }
        free(part->hidden);
        hub_buf_fini(&part->translated);
    }
}

/* What its toolset says of tasks names them as the toolset does. */
static void translate_progress(hub_call *call, hub_str *params, hub_buf *text)
{
    const hub_binding *binding = hub_call_binding(call);
    if (binding != NULL && hub_toolset_capabilities(hub_binding_toolset(binding))->runs_tasks) {
        hub_task_owner owner = hub_task_owner_of(call);
        owner.era = HUB_ERA_LEGACY;
        *params = hub_tasks_notification(&owner, *params, false, text);
    }
}

static hub_err begin_hub(hub_orchestrator *hub, hub_error *reterr)
{
    hub_pool *watched = hub_hub_part(hub, &HUB_TASKS_STATION);
    (void)reterr;
    watched->most = HUB_LIMIT_WATCHED_TASKS;
    return HUB_OK;
}

static void drop_hub(hub_orchestrator *hub)
{
    const hub_pool *watched = hub_hub_part(hub, &HUB_TASKS_STATION);
    hub_assert(watched->used == 0);
}

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_capabilities *can = hub_toolset_capabilities(toolset);
    return can->runs_tasks || can->extends_tasks;
}

/* Other rules: nobody hears any more of tasks of tools that they hide. */
static void settings_changed(hub_orchestrator *hub)
{
    for (size_t i = 0; hub_access_is_on(hub) && i < hub_profile_total(hub); i++) {
        for (hub_session *at = hub_profile_sessions(hub_profile_at(hub, i)); at != NULL;
             at = hub_session_next(at)) {
            hub_task_watch_review(at);
        }
    }
}

static hub_station_place place;

const hub_station HUB_TASKS_STATION = {
    .name = "tasks",
    .place = &place,
    .triggers = HUB_ON_TASK | HUB_ON_TYPED,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_pool),
              [HUB_PART_TOOLSET] = sizeof(toolset_tasks),
              [HUB_PART_SESSION] = sizeof(session_tasks),
              [HUB_PART_CALL] = sizeof(call_task)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .answer = answer,
    .drop = drop,
    .progress = translate_progress,
    .hub_begins = begin_hub,
    .hub_drops = drop_hub,
    .settings_changed = settings_changed,
    .session_ends = hub_task_watch_forget_session,
    .toolset_unbound = hub_task_watch_forget_toolset,
    .toolset_ends = hub_task_watch_forget_toolset,
};
