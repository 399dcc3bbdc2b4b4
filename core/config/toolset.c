/* SPDX-License-Identifier: Apache-2.0 */
/* One toolset, whichever format it was written in: the rules that its keys obey together. */
#include "config/reader.h"

#include "base/limits.h"

const hub_config_word HUB_CONFIG_SHARINGS[] = {
    {"shared", 0, false},
    {"session", 1, false},
    {.word = NULL},
};

static const hub_node *first_of(const hub_node *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (keys[i] != NULL) {
            return keys[i];
        }
    }
    return NULL;
}

/* The first key that only a server entry has, or NULL. */
static const hub_node *server_key(const hub_config_toolset_draft *draft)
{
    const hub_node *const keys[] = {
        draft->command,
        draft->url,
        draft->args,
        draft->type,
        draft->headers,
        draft->connect_timeout,
        draft->protocol,
        draft->ca,
        draft->certificate,
        draft->private_key,
        draft->forward_headers,
    };
    return first_of(keys, sizeof keys / sizeof *keys);
}

/* The first key about a process: a server's, or that of an isolated module; or NULL. */
static const hub_node *process_key(const hub_config_toolset_draft *draft)
{
    const hub_node *const keys[] = {
        draft->env,           draft->cwd,
        draft->inherit_env,   draft->startup_timeout,
        draft->restart_delay, draft->restart_delay_max,
        draft->restart_reset, draft->health_interval,
        draft->idle_timeout,
    };
    return first_of(keys, sizeof keys / sizeof *keys);
}

static hub_err check_server(hub_config_reader *reader, const hub_config_toolset_draft *draft)
{
    const hub_node *module = draft->module != NULL ? draft->module : draft->config;
    if (module != NULL) {
        return hub_node_fail(
            module, reader->reterr, HUB_EINVAL,
            "a toolset is either a module or a server: this one also has \"%s\"",
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
    if (err == HUB_OK && draft->url != NULL && draft->forward_headers != NULL) {
        err = hub_config_read_forward_headers(reader, draft->forward_headers,
                                              &draft->toolset.forward_headers);
    }
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
    static const hub_config_key KEY = {.least = 1, .most = HUB_CONFIG_MOST_MS};
    if (draft->timeout == NULL) {
        return HUB_OK;
    }
    hub_err err =
        hub_config_read_duration(reader, draft->timeout, &KEY, &draft->toolset.call_timeout_ms);
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
    hub_toolset_settings *toolsets =
        hub_config_grow(reader, reader->toolsets, count, sizeof *toolsets);
    const hub_node **nodes = hub_config_grow(reader, reader->toolset_nodes, count, sizeof *nodes);
    hub_config_middleware *middleware =
        hub_config_grow(reader, reader->toolset_middleware, count, sizeof *middleware);
    bool *said = hub_config_grow(reader, reader->toolset_isolation_said, count, sizeof *said);
    if (toolsets == NULL || nodes == NULL || middleware == NULL || said == NULL) {
        return hub_config_no_memory(reader);
    }
    middleware[count] = draft->middleware;
    reader->toolset_middleware = middleware;
    said[count] = draft->isolation != NULL;
    reader->toolset_isolation_said = said;
    toolsets[count] = draft->toolset;
    nodes[count] = draft->node;
    reader->toolsets = toolsets;
    reader->toolset_nodes = nodes;
    reader->toolset_count++;
    return HUB_OK;
}

hub_config_toolset_draft hub_config_toolset_draft_of(const hub_node *node)
{
    return (hub_config_toolset_draft){
        .node = node,
        .toolset = {.enabled = true,
                    .active = true,
                    .lazy = true,
                    .cache = true,
                    .queue = HUB_LIMIT_QUEUE,
                    .queue_timeout_ms = HUB_LIMIT_QUEUE_MS},
    };
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
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    if (err == HUB_OK) {
        err = build_json(reader, draft, &json);
    }
    hub_buf_fini(&json);
    return err == HUB_OK ? store(reader, draft) : err;
}
