/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules in processes of their own (hub/kernel/isolation.h): a toolset says it for itself, `modules` for
 * those that do not. The two may stand in different files, so it is decided when all have been
 * read. A server is in a process of its own whatever is said.
 */
#include "config/reader.h"

#include "base/limits.h"

const hub_config_word HUB_CONFIG_ISOLATIONS[] = {
    {"none", 0, false},
    {"process", 1, false},
    {.word = NULL},
};

hub_err hub_config_begin_isolation(hub_config_reader *reader, hub_config_toolset_draft *draft,
                                   const hub_node *server_key)
{
    static const hub_config_key KEY = {.words = HUB_CONFIG_ISOLATIONS};
    hub_buf json;
    if (draft->isolation == NULL) {
        return HUB_OK;
    }
    hub_err err =
        hub_config_read_choice(reader, draft->isolation, &KEY, &draft->toolset.is_isolated);
    if (err == HUB_OK && draft->toolset.is_isolated && server_key != NULL) {
        err = hub_node_fail(draft->isolation, reader->reterr, HUB_EINVAL,
                            "is for plugins: a server, which \"%s\" makes of this one, is a "
                            "process of its own anyhow",
                            server_key->key);
    }
    if (err != HUB_OK || !draft->toolset.is_isolated) {
        return err;
    }
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    err = hub_config_add_process_json(reader, draft, &json);
    if (err == HUB_OK) {
        draft->toolset.process_json = hub_arena_strdup(reader->arena, hub_buf_str(&json));
        err = hub_buf_ok(&json) && draft->toolset.process_json != NULL
                  ? HUB_OK
                  : hub_config_no_memory(reader);
    }
    hub_buf_fini(&json);
    return err;
}

hub_err hub_config_finish_isolation(hub_config_reader *reader, const hub_node *node, bool is_said,
                                    hub_toolset_settings *toolset)
{
    if (!is_said) {
        toolset->is_isolated =
            reader->config.settings.modules.isolates && !hub_config_is_proxy(toolset->module);
    }
    if (toolset->memory_limit > 0 && !toolset->is_isolated) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "memory_limit wants `isolation: process`: it is the process that can "
                             "be limited");
    }
    return HUB_OK;
}
