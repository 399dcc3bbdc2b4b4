/* SPDX-License-Identifier: Apache-2.0 */
/* What passes about a task beside its calls: questions, their answers, notifications, and what a
 * client is said to be able to do. */
#include "hub/tasks/tasks.h"

#include "hub/kernel/call.h"
#include "hub/kernel/toolset.h"
#include "hub/tasks/tasks_internal.h"

#include <stdlib.h>

bool hub_tasks_find_waiting(const hub_binding *binding, hub_str params, hub_call **ret_call)
{
    hub_str related = hub_toolset_capabilities(hub_binding_toolset(binding))->runs_tasks
                          ? hub_tasks_related_id(params)
                          : HUB_STR_EMPTY;
    if (related.len == 0) {
        return false;
    }
    *ret_call = NULL;
    for (hub_call *call = hub_binding_calls(binding); call != NULL;
         call = hub_call_next_of_binding(call)) {
        if (hub_tasks_is_result(call) &&
            hub_json_string_is(related, hub_task_id_of(hub_task_of(call)))) {
            *ret_call = call;
            break;
        }
    }
    return true;
}

hub_str hub_tasks_question(const hub_call *call, hub_str params, hub_buf *text)
{
    hub_task_owner owner = hub_task_owner_of(call);
    hub_str known = params;
    hub_buf without;
    hub_buf_init(&without, SIZE_MAX / 2);
    if (hub_json_get(params, HUB_STR("task")).len > 0) {
        hub_task_add_without(params, HUB_STR("task"), &without);
        known = hub_buf_str(&without);
    }
    if (hub_call_session(call) != NULL && hub_buf_ok(&without) &&
        (without.len > 0 || hub_tasks_related_id(params).len > 0) &&
        hub_task_add_for_client(&owner, known, HUB_STR_EMPTY, text)) {
        params = hub_buf_str(text);
    }
    hub_buf_fini(&without);
    return params;
}

hub_str hub_tasks_answer(const hub_call *call, hub_str result, hub_buf *text)
{
    hub_str related = hub_tasks_related_id(result);
    hub_str id;
    hub_str tool;
    hub_buf client_id;
    if (related.len == 0 || hub_call_session(call) == NULL) {
        return result;
    }
    if (hub_task_read_id(related, HUB_TASK_CLIENT_ID_BYTES, &client_id) &&
        hub_task_find(hub_call_session(call), hub_call_context(call)->era, hub_buf_str(&client_id),
                      &tool, &id) == hub_binding_toolset(hub_call_binding(call))) {
        hub_buf_add(text, hub_str_between(result.ptr, related.ptr));
        hub_json_add_string(text, id);
        hub_buf_add(text, hub_str_between(related.ptr + related.len, result.ptr + result.len));
        result = hub_buf_ok(text) ? hub_buf_str(text) : result;
    }
    hub_buf_fini(&client_id);
    return result;
}

hub_str hub_tasks_notification(const hub_task_owner *owner, hub_str params, bool is_state,
                               hub_buf *text)
{
    hub_str id = is_state ? hub_json_get(params, HUB_STR("taskId")) : HUB_STR_EMPTY;
    if (id.len == 0 && hub_tasks_related_id(params).len == 0) {
        return params;
    }
    return hub_task_add_for_client(owner, params, id, text) ? hub_buf_str(text) : HUB_STR_EMPTY;
}

char *hub_tasks_dup_capabilities(hub_str capabilities)
{
    hub_str extensions = hub_json_get(capabilities, HUB_STR("extensions"));
    hub_buf text;
    if (hub_json_get(extensions, HUB_STR(HUB_EXTENSION_TASKS)).len == 0) {
        return hub_str_dup(capabilities);
    }
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, hub_str_between(capabilities.ptr, extensions.ptr));
    hub_buf rest;
    hub_buf_init(&rest, SIZE_MAX / 2);
    hub_task_add_without(extensions, HUB_STR(HUB_EXTENSION_TASKS), &rest);
    hub_buf_add(&text, hub_buf_str(&rest));
    hub_buf_add(&text, hub_str_between(extensions.ptr + extensions.len,
                                       capabilities.ptr + capabilities.len));
    bool ok = hub_buf_ok(&rest);
    hub_buf_fini(&rest);
    char *copy = ok ? hub_buf_take(&text) : NULL;
    hub_buf_fini(&text);
    return copy;
}
