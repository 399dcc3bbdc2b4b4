/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about tasks: tasks/get and its kin, to the toolset that has the task. */
#include "hub/tasks/tasks.h"

#include "hub/catalogs/announce.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/report/unknown.h"
#include "hub/tasks/tasks_internal.h"

static void refuse_call(const hub_request *request, int code, const char *text)
{
    hub_request_refuse(request);
    hub_respond_error(request, code, hub_str_of(text), HUB_STR_EMPTY);
}

#define CAPABILITY "{\"extensions\":{\"" HUB_EXTENSION_TASKS "\":{}}}"

/* Whether a modern client knows what tasks are; if not, it has been answered. */
static bool check_client(const hub_request *request)
{
    hub_str extensions = hub_json_get(request->context.capabilities, HUB_STR("extensions"));
    if (request->context.era != HUB_ERA_MODERN ||
        hub_json_type_of(hub_json_get(extensions, HUB_STR(HUB_EXTENSION_TASKS))) ==
            HUB_JSON_OBJECT) {
        return true;
    }
    hub_respond_error(request, HUB_RPC_MISSING_CAPABILITY,
                      HUB_STR("Missing required client capability: " HUB_EXTENSION_TASKS),
                      HUB_STR("{\"requiredCapabilities\":" CAPABILITY "}"));
    return false;
}

bool hub_tasks_refuse_listen(const hub_request *request)
{
    hub_str filter = request->message->at[HUB_M_NOTIFICATIONS];
    return hub_json_get(filter, HUB_STR("taskIds")).len > 0 && !check_client(request);
}

static void respond_unknown(const hub_request *request)
{
    hub_respond_error(request, HUB_RPC_INVALID_PARAMS, HUB_STR(HUB_UNKNOWN_TASK), HUB_STR_EMPTY);
}

/* Whether the session has a call that waits for the result of the task. */
static bool is_awaited(const hub_session *session, const hub_toolset *toolset, hub_str id)
{
    for (const hub_call *call = hub_session_calls(session); call != NULL;
         call = hub_call_next_of_session(call)) {
        if (hub_tasks_is_result(call) && hub_call_toolset(call) == toolset &&
            hub_str_eq(hub_task_id_of(hub_task_of(call)), id)) {
            return true;
        }
    }
    return false;
}

/* Make the request a call of the toolset that has the task. */
static void call_toolset(const hub_request *request, hub_toolset *toolset, hub_str tool, hub_str id)
{
    const hub_message *message = request->message;
    bool is_result = hub_str_is(message->method, "tasks/result");
    hub_call *call;
    if (is_result && is_awaited(request->session, toolset, id)) {
        refuse_call(request, HUB_RPC_INVALID_REQUEST,
                    "a tasks/result for this task is in flight already: wait for its answer, or "
                    "cancel it");
        return;
    }
    call = hub_request_begin(request);
    if (call == NULL) {
        return;
    }
    call_task *part = hub_call_part_of(call, &HUB_TASKS_STATION);
    part->task = hub_str_dup(id);
    part->task_len = id.len;
    part->tool = hub_str_dup(tool);
    part->role = is_result ? TASK_RESULT : TASK_STATE;
    if (part->task == NULL || part->tool == NULL) {
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        return;
    }
    /* The result of a task takes as long as the task. */
    uint32_t ceiling_ms = hub_settings_of(hub_toolset_hub(toolset))->limits.call_ceiling_ms;
    hub_way way = {.toolset = toolset,
                   .name = id,
                   .name_json = message->at[HUB_M_TASK_ID],
                   .of_tool = hub_str_of(part->tool),
                   .arguments = HUB_STR("{}"),
                   .message = message,
                   .timeout_ms = is_result ? ceiling_ms : 0,
                   .is_aside = true};
    hub_call_send(call, &way);
}

void hub_tasks_forward(const hub_request *request)
{
    hub_session *session = request->session;
    hub_str raw = request->message->at[HUB_M_TASK_ID];
    hub_buf text;
    hub_str tool;
    hub_str id;
    if (!hub_capabilities_has_tasks(hub_session_exposure(session), request->context.era)) {
        refuse_call(request, HUB_RPC_METHOD_NOT_FOUND, "no active toolset has tasks");
        return;
    }
    if (!check_client(request)) {
        return;
    }
    if (hub_json_type_of(raw) != HUB_JSON_STRING) {
        refuse_call(request, HUB_RPC_INVALID_PARAMS, "params.taskId must be a string");
        return;
    }
    hub_toolset *toolset =
        hub_task_read_id(raw, HUB_TASK_CLIENT_ID_BYTES, &text)
            ? hub_task_find(session, request->context.era, hub_buf_str(&text), &tool, &id)
            : NULL;
    if (toolset == NULL) {
        respond_unknown(request);
    } else {
        call_toolset(request, toolset, tool, id);
    }
    hub_buf_fini(&text);
}
