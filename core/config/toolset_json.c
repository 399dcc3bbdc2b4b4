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

hub_err hub_config_add_json(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    return add_tree(reader, node, out);
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

static hub_err add_text(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    hub_buf value;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = read_text(reader, node, &value);
    if (err == HUB_OK) {
        hub_json_add_string(out, hub_buf_str(&value));
    }
    hub_buf_fini(&value);
    return err;
}

static hub_err add_path_text(hub_config_reader *reader, const hub_node *node, hub_buf *value,
                             hub_buf *out)
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
    hub_json_add_string(out, hub_str_of(path));
    return HUB_OK;
}

/* A path, relative to the file's folder. */
static hub_err add_path(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    if (node->kind != HUB_NODE_TEXT) {
        return hub_config_wrong_kind(reader, node, "text");
    }
    hub_buf value;
    hub_buf_init(&value, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = add_path_text(reader, node, &value, out);
    hub_buf_fini(&value);
    return err;
}

static hub_err add_args(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong_kind(reader, node, "a list");
    }
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

/* pass_env: names of variables. */
static hub_err add_variable_names(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong_kind(reader, node, "a list");
    }
    hub_buf_add_char(out, '[');
    for (const hub_node *item = node->first; item != NULL; item = item->next) {
        if (item->kind != HUB_NODE_TEXT || !is_variable(item->text)) {
            return hub_node_fail(item, reader->reterr, HUB_EINVAL, "not the name of a variable");
        }
        hub_json_add_comma(out);
        hub_json_add_string(out, item->text);
    }
    hub_buf_add_char(out, ']');
    return HUB_OK;
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

static hub_err add_bool(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    static const hub_config_key KEY = {.offset = 0};
    bool value = false;
    hub_err err = hub_config_read_bool(reader, node, &KEY, &value);
    hub_buf_add(out, value ? HUB_STR("true") : HUB_STR("false"));
    return err;
}

/* A number, a size in bytes, a duration in milliseconds. */
static hub_err add_number(hub_config_reader *reader, const hub_node *node,
                          const hub_config_key *row, hub_buf *out)
{
    hub_config_key key = *row;
    uint32_t number = 0;
    key.read = NULL; /* as values of its kind are */
    key.offset = 0;
    hub_err err = hub_config_read_value(reader, node, &key, &number);
    hub_buf_add_u64(out, number);
    return err;
}

/* A word as the hub spells it. */
static hub_err add_word(hub_config_reader *reader, const hub_node *node, const hub_config_key *row,
                        hub_buf *out)
{
    const hub_config_key key = {.words = row->words};
    unsigned value = 0;
    hub_err err = hub_config_read_word(reader, node, &key, &value);
    hub_json_add_string(out, hub_str_of(hub_config_word_of(row->words, value)));
    return err;
}

static hub_err add_forwarded(hub_config_reader *reader, const hub_node *node,
                             hub_config_toolset_draft *draft, hub_buf *out)
{
    hub_names *names = &draft->toolset.forward_headers;
    hub_err err = hub_config_read_forward_headers(reader, node, names);
    hub_buf_add_char(out, '[');
    for (size_t i = 0; err == HUB_OK && i < names->count; i++) {
        hub_json_add_comma(out);
        hub_json_add_string(out, hub_str_of(names->items[i]));
    }
    hub_buf_add_char(out, ']');
    return err;
}

/* A value as its module gets it, by the kind that its row says. */
static hub_err add_value(hub_config_reader *reader, const hub_node *node, const hub_config_key *row,
                         hub_config_toolset_draft *draft, hub_buf *out)
{
    switch (row->kind) {
    case HUB_CONFIG_TEXT:
        return add_text(reader, node, out);
    case HUB_CONFIG_BOOL:
        return add_bool(reader, node, out);
    case HUB_CONFIG_COUNT:
    case HUB_CONFIG_SIZE:
    case HUB_CONFIG_DURATION:
        return add_number(reader, node, row, out);
    case HUB_CONFIG_WORD:
        return add_word(reader, node, row, out);
    case HUB_CONFIG_PATH:
        return add_path(reader, node, out);
    case HUB_CONFIG_ARGUMENTS:
        return add_args(reader, node, out);
    case HUB_CONFIG_VARIABLES:
        return add_strings(reader, node, true, out);
    case HUB_CONFIG_NAMES:
        return add_variable_names(reader, node, out);
    case HUB_CONFIG_HEADERS:
        return add_strings(reader, node, false, out);
    default:
        return add_forwarded(reader, node, draft, out);
    }
}

/* Append what was written of the rows that belong to `of`, one by one. A server that is started
 * gets the defaults that are text, too: what they mean depends on the file. */
static hub_err add_settings(hub_config_reader *reader, hub_config_toolset_draft *draft, unsigned of,
                            hub_buf *out)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && HUB_CONFIG_TOOLSET_KEYS[i].name != NULL; i++) {
        const hub_config_key *row = &HUB_CONFIG_TOOLSET_KEYS[i];
        const hub_node *node = draft->said[i];
        hub_node fallback = {.file = draft->node->file, .kind = HUB_NODE_TEXT};
        if (node == NULL && row->fallback_text != NULL && of == HUB_CONFIG_OF_COMMAND) {
            fallback.text = hub_str_of(row->fallback_text);
            node = &fallback;
        }
        bool is_url = node == draft->url; /* which was added already */
        if (node != NULL && (row->of & of) != 0 && !is_url) {
            hub_json_add_key(out, hub_str_of(row->module_key));
            err = add_value(reader, node, row, draft, out);
        }
    }
    return err;
}

/* Keys of another kind of entry: in a file of one's own a mistake, elsewhere not worth failing
 * for. */
static hub_err check_unused(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                            unsigned of)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && HUB_CONFIG_TOOLSET_KEYS[i].name != NULL; i++) {
        const hub_config_key *row = &HUB_CONFIG_TOOLSET_KEYS[i];
        const hub_node *node = draft->said[i];
        if (node == NULL || (row->of & of) != 0) {
            continue;
        }
        const char *wanted = (row->of & HUB_CONFIG_OF_COMMAND) != 0 ? "a \"command\""
                             : of == HUB_CONFIG_OF_SOCKET ? "a \"url\" of http, https, ws or wss"
                                                          : "a \"url\"";
        err = reader->is_foreign
                  ? hub_config_warn(reader, node, "means nothing without %s, ignored", wanted)
                  : hub_node_fail(node, reader->reterr, HUB_EINVAL, "wants %s", wanted);
    }
    return err;
}

/* stdio goes with a command, the others with a url. */
static hub_err check_type(hub_config_reader *reader, const hub_config_toolset_draft *draft)
{
    const hub_config_key key = {
        .words = hub_config_find_key(HUB_CONFIG_TOOLSET_KEYS, HUB_STR("type"))->words};
    unsigned type = 0;
    if (draft->type == NULL) {
        return HUB_OK;
    }
    hub_err err = hub_config_read_word(reader, draft->type, &key, &type);
    bool is_stdio = strcmp(hub_config_word_of(key.words, type), "stdio") == 0;
    if (err == HUB_OK && is_stdio != (draft->command != NULL)) {
        err =
            hub_node_fail(draft->type, reader->reterr, HUB_EINVAL,
                          is_stdio ? "this type wants a \"command\"" : "this type wants a \"url\"");
    }
    return err;
}

static hub_err add_command_json(hub_config_reader *reader, hub_config_toolset_draft *draft,
                                hub_buf *out)
{
    hub_err err = check_unused(reader, draft, HUB_CONFIG_OF_COMMAND);
    err = err == HUB_OK ? check_type(reader, draft) : err;
    return err == HUB_OK ? add_settings(reader, draft, HUB_CONFIG_OF_COMMAND, out) : err;
}

static hub_err add_network_json(hub_config_reader *reader, hub_config_toolset_draft *draft,
                                hub_buf *out)
{
    if ((draft->certificate == NULL) != (draft->private_key == NULL)) {
        return hub_node_fail(draft->node, reader->reterr, HUB_EINVAL,
                             "a \"certificate\" and a \"key\" come together");
    }
    hub_err err = check_unused(reader, draft, HUB_CONFIG_OF_URL);
    err = err == HUB_OK ? check_type(reader, draft) : err;
    if (err == HUB_OK) {
        err = add_settings(reader, draft, HUB_CONFIG_OF_URL, out);
    }
    if (err == HUB_OK && draft->type == NULL && draft->default_type != NULL) {
        hub_json_add_key(out, HUB_STR("type"));
        hub_json_add_string(out, hub_str_of(draft->default_type));
    }
    return err;
}

static hub_err add_socket_json(hub_config_reader *reader, hub_config_toolset_draft *draft,
                               hub_str url, hub_buf *out)
{
    hub_err err = hub_config_check_socket_url(reader, draft->url, url);
    if (err == HUB_OK && (draft->type != NULL || draft->default_type != NULL)) {
        return hub_node_fail(draft->type != NULL ? draft->type : draft->url, reader->reterr,
                             HUB_EINVAL,
                             "a Unix socket carries lines of JSON, as pipes do: it has no type");
    }
    err = err == HUB_OK ? check_unused(reader, draft, HUB_CONFIG_OF_SOCKET) : err;
    return err == HUB_OK ? add_settings(reader, draft, HUB_CONFIG_OF_SOCKET, out) : err;
}

static hub_err add_url_json(hub_config_reader *reader, hub_config_toolset_draft *draft,
                            hub_buf *out)
{
    hub_buf url;
    hub_buf_init(&url, HUB_LIMIT_CONFIG_BYTES);
    reader->is_confidential = true;
    hub_err err = read_text(reader, draft->url, &url);
    reader->is_confidential = false;
    if (err == HUB_OK) {
        err = hub_config_hide_url(reader, hub_buf_str(&url));
    }
    if (err == HUB_OK) {
        bool is_local = hub_config_is_socket_url(hub_buf_str(&url));
        draft->toolset.module = is_local ? LINE_MODULE : REMOTE_MODULE;
        hub_json_add_key(out, HUB_STR("url"));
        hub_json_add_string(out, hub_buf_str(&url));
        err = is_local ? add_socket_json(reader, draft, hub_buf_str(&url), out)
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

hub_err hub_config_add_process_json(hub_config_reader *reader, hub_config_toolset_draft *draft,
                                    hub_buf *out)
{
    hub_buf_add_char(out, '{');
    hub_err err = add_settings(reader, draft, HUB_CONFIG_OF_PROCESS, out);
    hub_buf_add_char(out, '}');
    return err;
}

bool hub_config_is_proxy(const char *module)
{
    return strcmp(module, LINE_MODULE) == 0 || strcmp(module, REMOTE_MODULE) == 0;
}
