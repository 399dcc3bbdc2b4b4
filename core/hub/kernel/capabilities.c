/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/capabilities.h"

#include "wire/json.h"

#include <stdlib.h>

static bool is_object(hub_str value)
{
    return hub_json_type_of(value) == HUB_JSON_OBJECT;
}

hub_err hub_capabilities_read(hub_str json, hub_capabilities *ret_capabilities)
{
    char *copy = hub_str_dup(json);
    if (copy == NULL) {
        return HUB_ENOMEM;
    }
    hub_str all = {.ptr = copy, .len = json.len};
    hub_str resources = hub_json_get(all, HUB_STR("resources"));
    hub_str extensions = hub_json_get(all, HUB_STR("extensions"));
    hub_str tasks = hub_json_get(all, HUB_STR("tasks"));
    hub_str requests = hub_json_get(tasks, HUB_STR("requests"));
    hub_str tools = hub_json_get(requests, HUB_STR("tools"));
    hub_str skills = hub_json_get(extensions, HUB_STR(HUB_EXTENSION_SKILLS));
    *ret_capabilities = (hub_capabilities){
        .json = copy,
        .extensions = is_object(extensions) ? extensions : HUB_STR_EMPTY,
        .subscribes =
            hub_json_type_of(hub_json_get(resources, HUB_STR("subscribe"))) == HUB_JSON_TRUE,
        .completes = is_object(hub_json_get(all, HUB_STR("completions"))),
        .logs = is_object(hub_json_get(all, HUB_STR("logging"))),
        .runs_tasks = is_object(hub_json_get(tools, HUB_STR("call"))),
        .cancels_tasks = is_object(hub_json_get(tasks, HUB_STR("cancel"))),
        .extends_tasks = is_object(hub_json_get(extensions, HUB_STR(HUB_EXTENSION_TASKS))),
        .has_skills = is_object(skills),
        .reads_directories =
            hub_json_type_of(hub_json_get(skills, HUB_STR("directoryRead"))) == HUB_JSON_TRUE,
    };
    return HUB_OK;
}

void hub_capabilities_fini(hub_capabilities *capabilities)
{
    free(capabilities->json);
    *capabilities = (hub_capabilities){.json = NULL};
}
