/* SPDX-License-Identifier: Apache-2.0 */
/* One toolset, whichever format it was written in: the rules that its keys obey together. */
#include "config/reader.h"

#include "base/limits.h"

hub_err hub_config_keep(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                        void *target)
{
    (void)reader; /* nothing to say yet: the whole entry is looked at together */
    hub_config_toolset_draft *draft = target;
    draft->said[key - HUB_CONFIG_TOOLSET_KEYS] = node;
    if (key->offset > 0) {
        *(const hub_node **)(void *)((char *)target + key->offset) = node;
    }
    return HUB_OK;
}

/* The first key that was written of those for proxies; `is_process`: that a process has, too, or
 * not. NULL: none. */
static const hub_node *find_said(const hub_config_toolset_draft *draft, bool is_process)
{
    for (size_t i = 0; HUB_CONFIG_TOOLSET_KEYS[i].name != NULL; i++) {
        bool fits = ((HUB_CONFIG_TOOLSET_KEYS[i].of & HUB_CONFIG_OF_PROCESS) != 0) == is_process;
        if (draft->said[i] != NULL && fits) {
            return draft->said[i];
        }
    }
    return NULL;
}

/* The first key that only a server entry has, or NULL. */
static const hub_node *server_key(const hub_config_toolset_draft *draft)
{
    return find_said(draft, false);
}

/* The first key about a process: a server's, or that of an isolated module; or NULL. */
static const hub_node *process_key(const hub_config_toolset_draft *draft)
{
    return find_said(draft, true);
}

static hub_err check_server(hub_config_reader *reader, const hub_config_toolset_draft *draft)
{
    const hub_node *module = draft->module != NULL ? draft->module : draft->config;
    if (module != NULL) {
        return hub_node_fail(
            module, reader->reterr, HUB_EINVAL,
            "a toolset is either a plugin or a server: this one also has \"%s\"",
            (server_key(draft) != NULL ? server_key(draft) : process_key(draft))->key);
    }
    if (draft->command == NULL && draft->url == NULL) {
        return hub_node_fail(draft->node, reader->reterr, HUB_EINVAL,
                             "a server wants a \"command\" or a \"url\"");
    }
    if (draft->command != NULL && draft->url != NULL) {
        return hub_node_fail(draft->url, reader->reterr, HUB_EINVAL,
                             "a server has either a \"command\" or a \"url\"");
    }
    return HUB_OK;
}

static hub_err build_json(hub_config_reader *reader, hub_config_toolset_draft *draft, hub_buf *out)
{
    hub_err err = hub_config_begin_isolation(reader, draft, server_key(draft));
    if (err != HUB_OK) {
        return err;
    }
    bool is_server = reader->is_foreign || server_key(draft) != NULL ||
                     (process_key(draft) != NULL && !draft->toolset.is_isolated);
    err = is_server ? check_server(reader, draft) : HUB_OK;
    if (err == HUB_OK) {
        err = is_server ? hub_config_add_server_json(reader, draft, out)
                        : hub_config_add_module_json(reader, draft, out);
    }
    if (err != HUB_OK) {
        return err;
    }
    if (!hub_buf_ok(out)) {
        return hub_node_fail(draft->node, reader->reterr, out->failed, "%s",
                             hub_err_text(out->failed));
    }
    draft->toolset.config_json = hub_arena_strdup(reader->arena, hub_buf_str(out));
    return draft->toolset.config_json != NULL ? HUB_OK : hub_config_no_memory(reader);
}

/* `enabled` and `disabled` are the two habits of the field; both may stand if they agree. */
static hub_err decide_enabled(hub_config_reader *reader, hub_config_toolset_draft *draft)
{
    static const hub_config_key KEY = {.offset = 0};
    bool enabled = true;
    bool disabled = false;
    hub_err err = HUB_OK;
    if (draft->enabled != NULL) {
        err = hub_config_read_bool(reader, draft->enabled, &KEY, &enabled);
    }
    if (err == HUB_OK && draft->disabled != NULL) {
        err = hub_config_read_bool(reader, draft->disabled, &KEY, &disabled);
        if (err == HUB_OK && draft->enabled != NULL && enabled == disabled) {
            err = hub_node_fail(draft->disabled, reader->reterr, HUB_EINVAL,
                                "contradicts \"enabled\"");
        }
    }
    draft->toolset.enabled = enabled && !disabled;
    if (err == HUB_OK) {
        err = hub_config_env_enabled(reader->variables.env, draft->toolset.key,
                                     &draft->toolset.enabled, reader->reterr);
    }
    reader->is_switched_off = !draft->toolset.enabled;
    return err;
}

static hub_err decide_module(hub_config_reader *reader, hub_config_toolset_draft *draft)
{
    draft->toolset.module = draft->toolset.key;
    if (draft->module == NULL) {
        return HUB_OK;
    }
    static const hub_config_key KEY = {.offset = 0};
    return hub_config_read_text(reader, draft->module, &KEY, &draft->toolset.module);
}

static hub_err decide_timeout(hub_config_reader *reader, hub_config_toolset_draft *draft)
{
    if (draft->timeout == NULL) {
        return HUB_OK;
    }
    hub_config_key key = *hub_config_find_key(HUB_CONFIG_TOOLSET_KEYS, HUB_STR("timeout"));
    key.offset = 0;
    hub_err err =
        hub_config_read_duration(reader, draft->timeout, &key, &draft->toolset.call_timeout_ms);
    if (err == HUB_OK && reader->is_foreign && draft->timeout->kind == HUB_NODE_NUMBER &&
        draft->toolset.call_timeout_ms < 1000) {
        err = hub_config_warn(reader, draft->timeout,
                              "read as %u milliseconds; for seconds write \"%us\"",
                              draft->toolset.call_timeout_ms, draft->toolset.call_timeout_ms);
    }
    return err;
}

static hub_err store(hub_config_reader *reader, const hub_config_toolset_draft *draft)
{
    if (reader->toolset_count >= HUB_LIMIT_TOOLSETS) {
        return hub_node_fail(draft->node, reader->reterr, HUB_ELIMIT, "more than %d toolsets",
                             HUB_LIMIT_TOOLSETS);
    }
    size_t count = reader->toolset_count;
    hub_config_toolset *grown = hub_config_grow(reader, reader->toolsets, count, sizeof *grown);
    if (grown == NULL) {
        return hub_config_no_memory(reader);
    }
    grown[count] = (hub_config_toolset){
        .settings = draft->toolset,
        .node = draft->node,
        .middleware = draft->middleware,
        .results = draft->results,
        .is_isolation_said = draft->isolation != NULL,
        .is_foreign = reader->is_foreign,
    };
    reader->toolsets = grown;
    reader->toolset_count++;
    return HUB_OK;
}

hub_err hub_config_begin_toolset(hub_config_reader *reader, const hub_node *node,
                                 hub_config_toolset_draft *draft)
{
    *draft = (hub_config_toolset_draft){.node = node};
    return hub_config_set_defaults(reader, HUB_CONFIG_TOOLSET_KEYS, draft);
}

hub_err hub_config_add_toolset(hub_config_reader *reader, hub_config_toolset_draft *draft,
                               const char *key)
{
    draft->toolset.key = hub_arena_strdup(reader->arena, hub_str_of(key));
    draft->toolset.source =
        hub_arena_printf(reader->arena, "%s:%u", draft->node->file, draft->node->line);
    if (draft->toolset.key == NULL || draft->toolset.source == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_err err = decide_enabled(reader, draft);
    if (err == HUB_OK) {
        err = decide_module(reader, draft);
    }
    if (err == HUB_OK) {
        err = decide_timeout(reader, draft);
    }
    if (err == HUB_OK) {
        err = hub_config_add_overrides(reader, draft);
    }
    if (err == HUB_OK) {
        err = hub_config_add_login(reader, draft);
    }
    if (err == HUB_OK) {
        err = hub_config_find_origin(reader, draft);
    }
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    if (err == HUB_OK) {
        err = build_json(reader, draft, &json);
    }
    hub_buf_fini(&json);
    return err == HUB_OK ? store(reader, draft) : err;
}
