/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of other programs: `mcpServers` of Claude Desktop, Claude Code, Cursor, Windsurf, Cline,
 * Gemini and others, `servers` of VS Code's mcp.json, `mcp.servers` of its settings. Such a file
 * works as it is: keys that the hub does not know are warnings, keys for people or for the other
 * program are kept quiet about. Bare numbers for times are milliseconds here, as most of those
 * programs have it.
 */
#include "config/reader.h"

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

/* Another word for a key of the hub's own. */
static hub_err read_alias(hub_config_reader *reader, const hub_node *node,
                          const hub_config_key *key, void *target)
{
    const hub_config_key *own =
        hub_config_find_key(HUB_CONFIG_TOOLSET_KEYS, hub_str_of(key->stands_for));
    return hub_config_read_value(reader, node, own, target);
}

/* Gemini: the streamable transport has a key of its own. */
static hub_err read_http_url(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    hub_config_toolset_draft *draft = target;
    draft->default_type = "http";
    return read_alias(reader, node, key, target);
}

/* A list of names (Copilot), or details of single tools, which the hub leaves to the server. */
static hub_err read_tools(hub_config_reader *reader, const hub_node *node,
                          const hub_config_key *key, void *target)
{
    return node->kind == HUB_NODE_LIST ? hub_config_read_names(reader, node, key, target)
                                       : read_unsupported(reader, node, key, target);
}

#define ALIAS(word, own)                                                                           \
    {                                                                                              \
        .name = (word), .kind = HUB_CONFIG_OTHER, .read = read_alias, .stands_for = (own)          \
    }
#define ALLOWS(word)                                                                               \
    {                                                                                              \
        .name = (word), .kind = HUB_CONFIG_NAMES, .offset = DRAFT(toolset.tools_allow)             \
    }
#define DENIES(word)                                                                               \
    {                                                                                              \
        .name = (word), .kind = HUB_CONFIG_NAMES, .offset = DRAFT(toolset.tools_deny)              \
    }
#define IGNORED(word)                                                                              \
    {                                                                                              \
        .name = (word), .kind = HUB_CONFIG_OTHER, .read = read_ignored                             \
    }
#define UNSUPPORTED(word)                                                                          \
    {                                                                                              \
        .name = (word), .kind = HUB_CONFIG_OTHER, .read = read_unsupported                         \
    }

/* What other programs have beside the hub's own keys, which all count here, too. */
static const hub_config_key FOREIGN_KEYS[] = {
    ALIAS("working_dir", "cwd"),
    ALIAS("serverUrl", "url"),
    {.name = "httpUrl", .kind = HUB_CONFIG_OTHER, .read = read_http_url, .stands_for = "url"},
    ALIAS("http_headers", "headers"),
    ALIAS("transport", "type"),
    ALIAS("transportType", "type"),
    ALIAS("requestTimeout", "timeout"),
    ALIAS("connectionTimeout", "startup_timeout"),
    ALIAS("inheritParentEnv", "inherit_env"),
    ALLOWS("includeTools"),
    ALLOWS("enabledTools"),
    ALLOWS("enabled_tools"),
    {.name = "tools",
     .kind = HUB_CONFIG_OTHER,
     .read = read_tools,
     .offset = DRAFT(toolset.tools_allow)},
    DENIES("excludeTools"),
    DENIES("disabledTools"),
    DENIES("disabled_tools"),
    /* Between the other program and its user. */
    IGNORED("name"),
    IGNORED("autoApprove"),
    IGNORED("alwaysAllow"),
    IGNORED("trust"),
    IGNORED("icon"),
    IGNORED("dev"),
    IGNORED("gallery"),
    IGNORED("version"),
    /* Known, and missed when ignored: say so. */
    UNSUPPORTED("envFile"),
    UNSUPPORTED("envFilter"),
    UNSUPPORTED("restartOnExit"),
    UNSUPPORTED("oauth"),
    UNSUPPORTED("auth"),
    {.name = NULL},
};

/* What becomes of a byte in a key. */
static char to_key_byte(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    bool is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    return is_kept ? (char)c : '-';
}

void hub_config_make_key(hub_str name, char *key)
{
    size_t used = 0;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        bool is_digit = c >= '0' && c <= '9';
        if ((c & 0xc0) == 0x80 || (c == '_' && used > 0 && key[used - 1] == '_')) {
            continue; /* the rest of a character, or of a run */
        }
        char byte = to_key_byte(c);
        if (used == 0 && is_digit) {
            memcpy(key, "server-", sizeof "server-" - 1);
            used = sizeof "server-" - 1;
        }
        if (used > 0 || (byte != '-' && byte != '_')) {
            key[used++] = byte;
        }
    }
    used -= used > 0 && key[used - 1] == '_';
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

static hub_err read_entry(hub_config_reader *reader, const hub_node *node, hub_str name,
                          const char *key)
{
    hub_err err = hub_node_check(node, NULL, reader->reterr);
    if (err == HUB_OK) {
        err = check_name(reader, node, name, key);
    }
    if (err == HUB_OK && node->kind != HUB_NODE_MAP) {
        err = hub_config_wrong_kind(reader, node, "a map");
    }
    hub_config_toolset_draft draft;
    if (err == HUB_OK) {
        err = hub_config_begin_toolset(reader, node, &draft);
    }
    if (err == HUB_OK) {
        err = hub_config_read_map_of(reader, node, FOREIGN_KEYS, HUB_CONFIG_TOOLSET_KEYS, &draft);
    }
    return err == HUB_OK ? hub_config_add_toolset(reader, &draft, key) : err;
}

/* An entry that is wrong is left out: the other program may know what the hub does not. */
static hub_err read_server(hub_config_reader *reader, const hub_node *node, hub_str name)
{
    hub_config_attempt attempt;
    char *key = hub_arena_alloc(reader->scratch, name.len + HUB_CONFIG_KEY_EXTRA);
    if (key == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_config_make_key(name, key);
    hub_config_begin_attempt(reader, &attempt);
    hub_err err = read_entry(reader, node, name, key);
    return hub_config_end_attempt(reader, &attempt, err, key);
}

/* Continue and mcpproxy keep a list whose entries have a `name`. */
static hub_err read_listed(hub_config_reader *reader, const hub_node *item)
{
    hub_config_attempt attempt;
    const hub_node *name = hub_node_find(item, "name");
    if (name != NULL && name->kind == HUB_NODE_TEXT) {
        return read_server(reader, item, name->text);
    }
    hub_config_begin_attempt(reader, &attempt);
    hub_err err =
        hub_node_fail(item, reader->reterr, HUB_EINVAL, "a server in a list wants a \"name\"");
    return hub_config_end_attempt(reader, &attempt, err, NULL);
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

/* A folder such as .vscode or .cursor holds the settings of the folder around it. */
static hub_err find_project(hub_config_reader *reader)
{
    const char *slash = strrchr(reader->folder, '/'); /* there is one: the path is absolute */
    if (slash[1] != '.') {
        return HUB_OK;
    }
    const char *end = slash == reader->folder ? slash + 1 : slash;
    reader->folder = hub_arena_strdup(reader->scratch, hub_str_between(reader->folder, end));
    return reader->folder != NULL ? HUB_OK : hub_config_no_memory(reader);
}

hub_err hub_config_read_servers(hub_config_reader *reader, const hub_node *servers)
{
    if (servers->kind != HUB_NODE_MAP && servers->kind != HUB_NODE_LIST) {
        return hub_config_wrong_kind(reader, servers, "a map of servers");
    }
    reader->is_listed = true;
    hub_err err = find_project(reader);
    for (const hub_node *node = servers->first; err == HUB_OK && node != NULL; node = node->next) {
        err = servers->kind == HUB_NODE_MAP ? read_server(reader, node, hub_str_of(node->key))
                                            : read_listed(reader, node);
    }
    return err;
}
