/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a toolset's module gets: one JSON object. From here on a value may be secret and is shown to
 * nobody but the module (secrets.c).
 */
#include "config/reader.h"

#include "base/limits.h"
#include "config/file.h"
#include "wire/json.h"

/* What a server entry becomes: a child process or the peer at a Unix socket, which are spoken to in
 * lines; or a peer on the network. */
static const char LINE_MODULE[] = "mcp_upstream";
static const char REMOTE_MODULE[] = "mcp_remote";

enum {
    MAX_CONNECT_MS = 600000,
};

typedef enum server_type {
    TYPE_STDIO,
    TYPE_HTTP,
    TYPE_SSE,
    TYPE_WEBSOCKET,
} server_type;

static const char *const TYPE_NAMES[] = {"stdio", "http", "sse", "websocket"};

/* All spellings met in the files of other programs; the module sees TYPE_NAMES only. */
const hub_config_word HUB_CONFIG_TYPES[] = {
    {"stdio", TYPE_STDIO, false},
    {"http", TYPE_HTTP, false},
    {"sse", TYPE_SSE, false},
    {"websocket", TYPE_WEBSOCKET, false},
    {"streamable-http", TYPE_HTTP, true},
    {"streamableHttp", TYPE_HTTP, true},
    {"streamable_http", TYPE_HTTP, true},
    {"STREAMABLE_HTTP", TYPE_HTTP, true},
    {"STDIO", TYPE_STDIO, true},
    {"HTTP", TYPE_HTTP, true},
    {"SSE", TYPE_SSE, true},
    {"ws", TYPE_WEBSOCKET, true},
    {"local", TYPE_STDIO, true},
    {"remote", TYPE_HTTP, true},
    {.word = NULL},
};

/* The revisions of MCP that an upstream can be spoken to in. */
const hub_config_word HUB_CONFIG_PROTOCOLS[] = {
    {"2024-11-05", 0, false}, {"2025-03-26", 1, false}, {"2025-06-18", 2, false},
    {"2025-11-25", 3, false}, {"2026-07-28", 4, false}, {.word = NULL},
};

/* What becomes of a scalar. */
typedef enum scalar_use {
    USE_TYPED,  /* a number stays a number */
    USE_STRING, /* everything is a string as it is spelled: arguments, environment */
} scalar_use;

static bool is_scalar(const hub_node *node)
{
    return node->kind == HUB_NODE_TEXT || node->kind == HUB_NODE_NUMBER ||
           node->kind == HUB_NODE_TRUE || node->kind == HUB_NODE_FALSE;
}

static hub_err add_string(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    hub_buf value;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = hub_config_expand_secret(reader, node, &value);
    if (err == HUB_OK) {
        hub_json_add_string(out, hub_buf_str(&value));
    }
    hub_buf_fini(&value);
    return err;
}

static hub_err add_scalar(hub_config_reader *reader, const hub_node *node, scalar_use use,
                          hub_buf *out)
{
    if (node->kind == HUB_NODE_TEXT || use == USE_STRING) {
        return add_string(reader, node, out);
    }
    static const char *const WORDS[] = {
        [HUB_NODE_NULL] = "null", [HUB_NODE_TRUE] = "true", [HUB_NODE_FALSE] = "false"};
    hub_buf_add(out, node->kind == HUB_NODE_NUMBER ? node->text : hub_str_of(WORDS[node->kind]));
    return HUB_OK;
}

/* Any tree as JSON, text expanded. Recursion is bounded by HUB_LIMIT_CONFIG_DEPTH. */
static hub_err add_tree(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    if (node->kind != HUB_NODE_MAP && node->kind != HUB_NODE_LIST) {
        return add_scalar(reader, node, USE_TYPED, out);
    }
    bool is_map = node->kind == HUB_NODE_MAP;
    hub_buf_add_char(out, is_map ? '{' : '[');
    hub_err err = HUB_OK;
    for (const hub_node *child = node->first; err == HUB_OK && child != NULL; child = child->next) {
        if (is_map) {
            hub_json_add_key(out, hub_str_of(child->key));
            err = hub_config_hide_named(reader, hub_str_of(child->key), child->text);
        } else {
            hub_json_add_comma(out);
        }
        err = err == HUB_OK ? add_tree(reader, child, out) : err;
    }
    hub_buf_add_char(out, is_map ? '}' : ']');
    return err;
}

static hub_err read_text(hub_config_reader *reader, const hub_node *node, hub_buf *value)
{
    if (node->kind != HUB_NODE_TEXT) {
        return hub_config_wrong_kind(reader, node, "text");
    }
    hub_err err = hub_config_expand(reader, node, value);
    if (err == HUB_OK && value->len == 0) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "is empty");
    }
    return err;
}

static hub_err add_text_member(hub_config_reader *reader, const hub_node *node, const char *name,
                               hub_buf *out)
{
    hub_buf value;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = read_text(reader, node, &value);
    if (err == HUB_OK) {
        hub_json_add_key(out, hub_str_of(name));
        hub_json_add_string(out, hub_buf_str(&value));
    }
    hub_buf_fini(&value);
    return err;
}

static hub_err add_path_text(hub_config_reader *reader, const hub_node *node, const char *name,
                             hub_buf *value, hub_buf *out)
{
    hub_err err = hub_config_expand(reader, node, value);
    if (err != HUB_OK) {
        return err;
    }
    hub_buf_add_char(value, '\0');
    if (!hub_buf_ok(value)) {
        return hub_fail(reader->reterr, value->failed, "%s", hub_err_text(value->failed));
    }
    if (value->ptr[0] == '\0') {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL, "is empty");
    }
    if (value->ptr[0] == '~') {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "\"~\" has no meaning here: write ${HOME}");
    }
    const char *path = hub_file_absolute(reader->folder, value->ptr, reader->scratch);
    if (path == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_json_add_key(out, hub_str_of(name));
    hub_json_add_string(out, hub_str_of(path));
    return HUB_OK;
}

/* A path, relative to the file's folder. */
static hub_err add_path(hub_config_reader *reader, const hub_node *node, const char *name,
                        hub_buf *out)
{
    if (node->kind != HUB_NODE_TEXT) {
        return hub_config_wrong_kind(reader, node, "text");
    }
    hub_buf value;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = add_path_text(reader, node, name, &value, out);
    hub_buf_fini(&value);
    return err;
}

static hub_err add_args(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong_kind(reader, node, "a list");
    }
    hub_json_add_key(out, HUB_STR("args"));
    hub_buf_add_char(out, '[');
    hub_err err = HUB_OK;
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        if (!is_scalar(item)) {
            return hub_config_wrong_kind(reader, item, "text");
        }
        hub_json_add_comma(out);
        err = add_scalar(reader, item, USE_STRING, out);
    }
    hub_buf_add_char(out, ']');
    return err;
}

static bool is_variable(hub_str name)
{
    return name.len > 0 && memchr(name.ptr, '=', name.len) == NULL;
}

/* A line break in a header would be the beginning of another one. */
static hub_err add_header_value(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    hub_buf value;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = hub_config_expand_secret(reader, node, &value);
    if (err == HUB_OK && value.len > 0 &&
        (memchr(value.ptr, '\n', value.len) != NULL ||
         memchr(value.ptr, '\r', value.len) != NULL)) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "a header cannot hold a line break");
    }
    if (err == HUB_OK) {
        hub_json_add_string(out, hub_buf_str(&value));
    }
    hub_buf_fini(&value);
    return err;
}

/* env and headers: names to strings. */
static hub_err add_strings(hub_config_reader *reader, const hub_node *node, bool is_env,
                           hub_buf *out)
{
    if (node->kind != HUB_NODE_MAP && node->kind != HUB_NODE_NULL) {
        return hub_config_wrong_kind(reader, node, "a map");
    }
    hub_json_add_key(out, is_env ? HUB_STR("env") : HUB_STR("headers"));
    hub_buf_add_char(out, '{');
    hub_err err = HUB_OK;
    for (const hub_node *child = node->first; err == HUB_OK && child != NULL; child = child->next) {
        hub_str name = hub_str_of(child->key);
        if (is_env ? !is_variable(name) : !hub_config_is_header(name)) {
            return hub_node_fail(child, reader->reterr, HUB_EINVAL, "not the name of a %s",
                                 is_env ? "variable" : "header");
        }
        if (!is_scalar(child)) {
            return hub_config_wrong_kind(reader, child, "text");
        }
        hub_json_add_key(out, name);
        err = hub_config_hide_named(reader, name, child->text);
        if (err == HUB_OK) {
            err = is_env ? add_scalar(reader, child, USE_STRING, out)
                         : add_header_value(reader, child, out);
        }
    }
    hub_buf_add_char(out, '}');
    return err;
}

static hub_err add_type(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                        hub_buf *out)
{
    const char *name = draft->default_type;
    if (draft->type != NULL) {
        static const hub_config_key KEY = {.words = HUB_CONFIG_TYPES};
        unsigned type = 0;
        hub_err err = hub_config_read_word(reader, draft->type, &KEY, &type);
        if (err != HUB_OK) {
            return err;
        }
        if ((type == TYPE_STDIO) != (draft->command != NULL)) {
            return hub_node_fail(draft->type, reader->reterr, HUB_EINVAL,
                                 type == TYPE_STDIO ? "this type wants a \"command\""
                                                    : "this type wants a \"url\"");
        }
        name = TYPE_NAMES[type];
    }
    if (name != NULL) {
        hub_json_add_key(out, HUB_STR("type"));
        hub_json_add_string(out, hub_str_of(name));
    }
    return HUB_OK;
}

static hub_err add_protocol(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    static const hub_config_key KEY = {.words = HUB_CONFIG_PROTOCOLS};
    unsigned index = 0;
    hub_err err = hub_config_read_word(reader, node, &KEY, &index);
    hub_json_add_key(out, HUB_STR("protocol"));
    hub_json_add_string(out, hub_str_of(HUB_CONFIG_PROTOCOLS[index].word));
    return err;
}

/* What entries of both kinds have. */
static hub_err add_options(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                           hub_buf *out)
{
    hub_err err = hub_config_add_pace(reader, draft, out);
    if (err == HUB_OK && draft->protocol != NULL) {
        err = add_protocol(reader, draft->protocol, out);
    }
    return err == HUB_OK ? add_type(reader, draft, out) : err;
}

static hub_err add_inherit_env(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    static const hub_config_key KEY = {.offset = 0};
    bool inherit = false;
    hub_err err = hub_config_read_bool(reader, node, &KEY, &inherit);
    hub_json_add_key(out, HUB_STR("inherit_env"));
    hub_buf_add(out, inherit ? HUB_STR("true") : HUB_STR("false"));
    return err;
}

/* Keys of another kind of entry: in a file of one's own a mistake, elsewhere not worth failing
 * for. `wanted`: what they would go with. */
static hub_err check_unused(hub_config_reader *reader, const hub_node *const *nodes, size_t count,
                            const char *wanted)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        if (nodes[i] == NULL) {
            continue;
        }
        err = reader->is_foreign
                  ? hub_config_warn(reader, nodes[i], "means nothing without %s, ignored", wanted)
                  : hub_node_fail(nodes[i], reader->reterr, HUB_EINVAL, "wants %s", wanted);
    }
    return err;
}

/* Keys of a server that is started. */
static hub_err check_no_command(hub_config_reader *reader, const hub_config_toolset_draft *draft)
{
    const hub_node *const unused[] = {draft->args, draft->env, draft->cwd, draft->inherit_env};
    return check_unused(reader, unused, sizeof unused / sizeof *unused, "a \"command\"");
}

/* Keys of a server on the network. */
static hub_err check_no_network(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                                const char *wanted)
{
    const hub_node *const unused[] = {draft->headers,     draft->connect_timeout,
                                      draft->ca,          draft->certificate,
                                      draft->private_key, draft->forward_headers};
    return check_unused(reader, unused, sizeof unused / sizeof *unused, wanted);
}

/* Where a process runs. */
static hub_err add_surroundings(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                                hub_buf *out)
{
    hub_err err = draft->env != NULL ? add_strings(reader, draft->env, true, out) : HUB_OK;
    if (err == HUB_OK && draft->cwd != NULL) {
        err = add_path(reader, draft->cwd, "cwd", out);
    }
    if (err == HUB_OK && draft->inherit_env != NULL) {
        err = add_inherit_env(reader, draft->inherit_env, out);
    }
    return err;
}

static hub_err add_command_json(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                                hub_buf *out)
{
    hub_err err = check_no_network(reader, draft, "a \"url\"");
    if (err == HUB_OK) {
        err = add_text_member(reader, draft->command, "command", out);
    }
    if (err == HUB_OK && draft->args != NULL) {
        err = add_args(reader, draft->args, out);
    }
    return err == HUB_OK ? add_surroundings(reader, draft, out) : err;
}

static void add_names(const hub_names *names, const char *name, hub_buf *out)
{
    hub_json_add_key(out, hub_str_of(name));
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < names->count; i++) {
        hub_json_add_comma(out);
        hub_json_add_string(out, hub_str_of(names->items[i]));
    }
    hub_buf_add_char(out, ']');
}

static hub_err add_network_json(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                                hub_buf *out)
{
    const struct {
        const hub_node *node;
        const char *name;
    } paths[] = {
        {draft->ca, "ca"}, {draft->certificate, "certificate"}, {draft->private_key, "key"}};
    if ((draft->certificate == NULL) != (draft->private_key == NULL)) {
        return hub_node_fail(draft->node, reader->reterr, HUB_EINVAL,
                             "a \"certificate\" and a \"key\" come together");
    }
    hub_err err = HUB_OK;
    if (err == HUB_OK && draft->headers != NULL) {
        err = add_strings(reader, draft->headers, false, out);
    }
    for (size_t i = 0; err == HUB_OK && i < sizeof paths / sizeof *paths; i++) {
        if (paths[i].node != NULL) {
            err = add_path(reader, paths[i].node, paths[i].name, out);
        }
    }
    if (err == HUB_OK && draft->connect_timeout != NULL) {
        const hub_config_key key = {
            .name = "connect_timeout_ms", .least = 1, .most = MAX_CONNECT_MS};
        err = hub_config_add_duration(reader, draft->connect_timeout, &key, out);
    }
    if (err == HUB_OK && draft->toolset.forward_headers.count > 0) {
        add_names(&draft->toolset.forward_headers, "forward_headers", out);
    }
    return err;
}

static hub_err check_socket(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                            hub_str url)
{
    hub_err err = hub_config_check_socket_url(reader, draft->url, url);
    if (err == HUB_OK && (draft->type != NULL || draft->default_type != NULL)) {
        return hub_node_fail(draft->type != NULL ? draft->type : draft->url, reader->reterr,
                             HUB_EINVAL,
                             "a Unix socket carries lines of JSON, as pipes do: it has no type");
    }
    return err == HUB_OK ? check_no_network(reader, draft, "a \"url\" of http, https, ws or wss")
                         : err;
}

static hub_err add_url_json(hub_config_reader *reader, hub_config_toolset_draft *draft,
                            hub_buf *out)
{
    hub_buf url;
    hub_buf_init(&url, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = check_no_command(reader, draft);
    if (err == HUB_OK) {
        reader->is_confidential = true;
        err = read_text(reader, draft->url, &url);
        reader->is_confidential = false;
    }
    if (err == HUB_OK) {
        err = hub_config_hide_url(reader, hub_buf_str(&url));
    }
    if (err == HUB_OK) {
        bool is_local = hub_config_is_socket_url(hub_buf_str(&url));
        draft->toolset.module = is_local ? LINE_MODULE : REMOTE_MODULE;
        hub_json_add_key(out, HUB_STR("url"));
        hub_json_add_string(out, hub_buf_str(&url));
        err = is_local ? check_socket(reader, draft, hub_buf_str(&url))
                       : add_network_json(reader, draft, out);
    }
    hub_buf_fini(&url);
    return err;
}

hub_err hub_config_add_server_json(hub_config_reader *reader, hub_config_toolset_draft *draft,
                                   hub_buf *out)
{
    draft->toolset.module = LINE_MODULE;
    hub_buf_add_char(out, '{');
    hub_err err = draft->command != NULL ? add_command_json(reader, draft, out)
                                         : add_url_json(reader, draft, out);
    if (err == HUB_OK) {
        err = add_options(reader, draft, out);
    }
    hub_buf_add_char(out, '}');
    return err;
}

hub_err hub_config_add_module_json(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                                   hub_buf *out)
{
    if (draft->config == NULL || draft->config->kind == HUB_NODE_NULL) {
        hub_buf_add(out, HUB_STR("{}"));
        return HUB_OK;
    }
    if (draft->config->kind != HUB_NODE_MAP) {
        return hub_config_wrong_kind(reader, draft->config, "a map");
    }
    return add_tree(reader, draft->config, out);
}

hub_err hub_config_add_process_json(hub_config_reader *reader,
                                    const hub_config_toolset_draft *draft, hub_buf *out)
{
    hub_buf_add_char(out, '{');
    hub_err err = add_surroundings(reader, draft, out);
    err = err == HUB_OK ? hub_config_add_pace(reader, draft, out) : err;
    hub_buf_add_char(out, '}');
    return err;
}

bool hub_config_is_proxy(const char *module)
{
    return strcmp(module, LINE_MODULE) == 0 || strcmp(module, REMOTE_MODULE) == 0;
}
