/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of other programs: `mcpServers` of Claude Desktop, Claude Code, Cursor, Windsurf, Cline,
 * Gemini and others, `servers` of VS Code's mcp.json, `mcp.servers` of its settings. Such a file
 * works as it is: keys that the hub does not know are warnings, keys for people or for the other
 * program are kept quiet about. Bare numbers for times are milliseconds here, as most of those
 * programs have it.
 */
#include "config/reader.h"

#include "base/limits.h"

#define DRAFT(member) offsetof(hub_config_toolset_draft, member)

static hub_err read_ignored(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    (void)reader;
    (void)node;
    (void)key;
    (void)target; /* consent and cosmetics are the other program's business */
    return HUB_OK;
}

static hub_err read_unsupported(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    (void)key;
    (void)target;
    return hub_config_warn(reader, node, "not supported, ignored");
}

/* Gemini: the streamable transport has a key of its own. */
static hub_err read_http_url(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    hub_config_toolset_draft *draft = target;
    draft->default_type = "http";
    return hub_config_read_node(reader, node, key, target);
}

/* A list of names (Copilot), or details of single tools, which the hub leaves to the server. */
static hub_err read_tools(hub_config_reader *reader, const hub_node *node,
                          const hub_config_key *key, void *target)
{
    return node->kind == HUB_NODE_LIST ? hub_config_read_names(reader, node, key, target)
                                       : read_unsupported(reader, node, key, target);
}

static const hub_config_key SERVER_KEYS[] = {
    {.name = "command", .read = hub_config_read_node, .offset = DRAFT(command)},
    {.name = "args", .read = hub_config_read_node, .offset = DRAFT(args)},
    {.name = "env", .read = hub_config_read_node, .offset = DRAFT(env)},
    {.name = "cwd", .read = hub_config_read_node, .offset = DRAFT(cwd)},
    {.name = "working_dir", .read = hub_config_read_node, .offset = DRAFT(cwd)},
    {.name = "url", .read = hub_config_read_node, .offset = DRAFT(url)},
    {.name = "serverUrl", .read = hub_config_read_node, .offset = DRAFT(url)},
    {.name = "httpUrl", .read = read_http_url, .offset = DRAFT(url)},
    {.name = "headers", .read = hub_config_read_node, .offset = DRAFT(headers)},
    {.name = "http_headers", .read = hub_config_read_node, .offset = DRAFT(headers)},
    {.name = "type", .read = hub_config_read_node, .offset = DRAFT(type)},
    {.name = "transport", .read = hub_config_read_node, .offset = DRAFT(type)},
    {.name = "transportType", .read = hub_config_read_node, .offset = DRAFT(type)},
    {.name = "disabled", .read = hub_config_read_node, .offset = DRAFT(disabled)},
    {.name = "enabled", .read = hub_config_read_node, .offset = DRAFT(enabled)},
    {.name = "timeout", .read = hub_config_read_node, .offset = DRAFT(timeout)},
    {.name = "requestTimeout", .read = hub_config_read_node, .offset = DRAFT(timeout)},
    {.name = "connectionTimeout", .read = hub_config_read_node, .offset = DRAFT(startup_timeout)},
    {.name = "startup_timeout", .read = hub_config_read_node, .offset = DRAFT(startup_timeout)},
    {.name = "connect_timeout", .read = hub_config_read_node, .offset = DRAFT(connect_timeout)},
    {.name = "health_interval", .read = hub_config_read_node, .offset = DRAFT(health_interval)},
    {.name = "idle_timeout", .read = hub_config_read_node, .offset = DRAFT(idle_timeout)},
    {.name = "protocol", .read = hub_config_read_node, .offset = DRAFT(protocol)},
    {.name = "ca", .read = hub_config_read_node, .offset = DRAFT(ca)},
    {.name = "certificate", .read = hub_config_read_node, .offset = DRAFT(certificate)},
    {.name = "key", .read = hub_config_read_node, .offset = DRAFT(private_key)},
    {.name = "forward_headers", .read = hub_config_read_node, .offset = DRAFT(forward_headers)},
    {.name = "inheritParentEnv", .read = hub_config_read_node, .offset = DRAFT(inherit_env)},
    {.name = "inherit_env", .read = hub_config_read_node, .offset = DRAFT(inherit_env)},
    {.name = "includeTools", .read = hub_config_read_names, .offset = DRAFT(toolset.tools_allow)},
    {.name = "enabledTools", .read = hub_config_read_names, .offset = DRAFT(toolset.tools_allow)},
    {.name = "enabled_tools", .read = hub_config_read_names, .offset = DRAFT(toolset.tools_allow)},
    {.name = "tools", .read = read_tools, .offset = DRAFT(toolset.tools_allow)},
    {.name = "excludeTools", .read = hub_config_read_names, .offset = DRAFT(toolset.tools_deny)},
    {.name = "disabledTools", .read = hub_config_read_names, .offset = DRAFT(toolset.tools_deny)},
    {.name = "disabled_tools", .read = hub_config_read_names, .offset = DRAFT(toolset.tools_deny)},
    {.name = "tags", .read = hub_config_read_names, .offset = DRAFT(toolset.tags)},
    /* The hub's own, for those who keep one file for everything. */
    {.name = "active", .read = hub_config_read_bool, .offset = DRAFT(toolset.active)},
    {.name = "lazy", .read = hub_config_read_bool, .offset = DRAFT(toolset.lazy)},
    {.name = "cache", .read = hub_config_read_bool, .offset = DRAFT(toolset.cache)},
    {.name = "sharing",
     .read = hub_config_read_choice,
     .offset = DRAFT(toolset.sharing_session),
     .words = HUB_CONFIG_SHARINGS},
    {.name = "max_calls",
     .read = hub_config_read_count,
     .offset = DRAFT(toolset.max_calls),
     .most = HUB_LIMIT_CALLS},
    {.name = "queue",
     .read = hub_config_read_count,
     .offset = DRAFT(toolset.queue),
     .most = HUB_LIMIT_CALLS},
    {.name = "queue_timeout",
     .read = hub_config_read_duration,
     .offset = DRAFT(toolset.queue_timeout_ms),
     .least = 1,
     .most = HUB_CONFIG_MOST_MS},
    {.name = "middleware",
     .read = hub_config_read_map,
     .offset = DRAFT(middleware),
     .keys = HUB_CONFIG_MIDDLEWARE_KEYS},
    {.name = "category", .read = hub_config_read_text, .offset = DRAFT(toolset.category)},
    {.name = "description", .read = hub_config_read_text, .offset = DRAFT(toolset.description)},
    /* Between the other program and its user. */
    {.name = "name", .read = read_ignored},
    {.name = "autoApprove", .read = read_ignored},
    {.name = "alwaysAllow", .read = read_ignored},
    {.name = "trust", .read = read_ignored},
    {.name = "icon", .read = read_ignored},
    {.name = "dev", .read = read_ignored},
    {.name = "gallery", .read = read_ignored},
    {.name = "version", .read = read_ignored},
    /* Known, and missed when ignored: say so. */
    {.name = "envFile", .read = read_unsupported},
    {.name = "envFilter", .read = read_unsupported},
    {.name = "oauth", .read = read_unsupported},
    {.name = "auth", .read = read_unsupported},
    {.name = NULL},
};

/* A toolset key from any name: lower case, one '-' for each character that a key cannot have, runs
 * of
 * '_' made one, a letter in front. `key` has room for the name and a prefix. */
static void make_key(hub_str name, char *key)
{
    size_t used = 0;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        c = (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        bool is_letter = c >= 'a' && c <= 'z';
        bool is_digit = c >= '0' && c <= '9';
        if ((c & 0xc0) == 0x80 || (c == '_' && used > 0 && key[used - 1] == '_')) {
            continue; /* the rest of a character, or of a run */
        }
        c = is_letter || is_digit || c == '_' ? c : '-';
        if (used == 0 && is_digit) {
            memcpy(key, "server-", sizeof "server-" - 1);
            used = sizeof "server-" - 1;
        }
        if (used > 0 || is_letter || is_digit) {
            key[used++] = (char)c;
        }
    }
    key[used] = '\0';
}

static hub_err check_name(hub_config_reader *reader, const hub_node *node, hub_str name,
                          const char *key)
{
    if (hub_str_eq_nocase(name, HUB_STR("_meta"))) {
        return hub_config_check_toolset_key(reader, node, name);
    }
    if (key[0] == '\0') {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "no toolset's key can be made of this name: it has no letter or digit "
                             "of ASCII");
    }
    return hub_config_check_toolset_key(reader, node, hub_str_of(key));
}

static hub_err read_server(hub_config_reader *reader, const hub_node *node, hub_str name)
{
    static const hub_config_key ENTRY = {.keys = SERVER_KEYS};
    char *key = hub_arena_alloc(reader->scratch, name.len + sizeof "server-");
    if (key == NULL) {
        return hub_config_no_memory(reader);
    }
    make_key(name, key);
    hub_err err = check_name(reader, node, name, key);
    if (err == HUB_OK && node->kind != HUB_NODE_MAP) {
        err = hub_config_wrong_kind(reader, node, "a map");
    }
    hub_config_toolset_draft draft = hub_config_toolset_draft_of(node);
    if (err == HUB_OK) {
        err = hub_config_read_map(reader, node, &ENTRY, &draft);
    }
    return err == HUB_OK ? hub_config_add_toolset(reader, &draft, key) : err;
}

/* Continue and mcpproxy keep a list whose entries have a `name`. */
static hub_err read_listed(hub_config_reader *reader, const hub_node *item)
{
    const hub_node *name = hub_node_find(item, "name");
    if (name == NULL || name->kind != HUB_NODE_TEXT) {
        return hub_node_fail(item, reader->reterr, HUB_EINVAL,
                             "a server in a list wants a \"name\"");
    }
    return read_server(reader, item, name->text);
}

const hub_node *hub_config_find_servers(const hub_node *root)
{
    static const char *const KEYS[] = {"mcpServers", "servers", "mcp.servers"};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        const hub_node *found = hub_node_find(root, KEYS[i]);
        if (found != NULL) {
            return found;
        }
    }
    const hub_node *settings = hub_node_find(root, "mcp");
    return settings != NULL ? hub_node_find(settings, "servers") : NULL;
}

hub_err hub_config_read_servers(hub_config_reader *reader, const hub_node *servers)
{
    if (servers->kind != HUB_NODE_MAP && servers->kind != HUB_NODE_LIST) {
        return hub_config_wrong_kind(reader, servers, "a map of servers");
    }
    hub_err err = HUB_OK;
    for (const hub_node *node = servers->first; err == HUB_OK && node != NULL; node = node->next) {
        err = servers->kind == HUB_NODE_MAP ? read_server(reader, node, hub_str_of(node->key))
                                            : read_listed(reader, node);
    }
    return err;
}
