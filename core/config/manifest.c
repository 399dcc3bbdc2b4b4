/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub's own manifest: every key that it may have, one row each. The same keys are described for
 * editors in schemas/manifest.schema.json, which a test holds against these tables, and shown with
 * their defaults in examples/manifest-reference.yaml.
 */
#include "config/reader.h"

#include "base/limits.h"

enum {
    LEAST_NAME_BYTES = 16, /* a cut name keeps a hash suffix and something to recognise it by */
    MOST_PAGE = 100000,
    MOST_PROFILES = 256, /* each one keeps a view of all tools */
    MOST_FILTERS = 64,   /* every tool passes all of them */
};

#define MOST_MODULE_BYTES (4095u * 1024 * 1024) /* of memory_limit: whole mebibytes in 32 bits */

#define READER(member)  offsetof(hub_config_reader, member)
#define PROFILE(member) offsetof(hub_config_profile_draft, profile.member)
#define POLICY(member)  offsetof(hub_policy_rules, member)
#define DRAFT(member)   offsetof(hub_config_toolset_draft, member)

const hub_config_word HUB_CONFIG_STARTUPS[] = {
    {"default", HUB_STARTUP_DEFAULT, false},
    {"dynamic", HUB_STARTUP_DYNAMIC, false},
    {"static", HUB_STARTUP_STATIC, false},
    {.word = NULL},
};
const hub_config_word HUB_CONFIG_NAMINGS[] = {
    {"prefix", HUB_NAMING_PREFIX, false},
    {"flat", HUB_NAMING_FLAT, false},
    {"dot", HUB_NAMING_DOT, false},
    {"none", HUB_NAMING_NONE, false},
    {.word = NULL},
};
const hub_config_word HUB_CONFIG_LEVELS[] = {
    {"debug", HUB_LOG_DEBUG, false},
    {"info", HUB_LOG_INFO, false},
    {"warning", HUB_LOG_WARNING, false},
    {"error", HUB_LOG_ERROR, false},
    {"off", HUB_LOG_OFF, false},
    {"warn", HUB_LOG_WARNING, true},
    {.word = NULL},
};
const hub_config_word HUB_CONFIG_FORMATS[] = {
    {"text", 0, false},
    {"json", 1, false},
    {.word = NULL},
};

static hub_err read_filter(hub_config_reader *reader, const hub_node *item,
                           const hub_config_key *rows, hub_filter_rule *filter)
{
    if (item->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, item, "a map with one key");
    }
    if (item->count != 1) {
        return hub_node_fail(item, reader->reterr, HUB_EINVAL, "wanted one key, found %zu",
                             item->count);
    }
    hub_filter_rule found = {.kind = HUB_FILTER_NAMESPACE};
    const hub_config_key key = {.keys = rows};
    hub_err err = hub_config_read_map(reader, item, &key, &found);
    if (err != HUB_OK) {
        return err;
    }
    for (size_t i = 0; rows[i].name != NULL; i++) {
        if (strcmp(rows[i].name, item->first->key) == 0) {
            found.kind = (hub_filter_kind)i;
        }
    }
    *filter = found;
    return HUB_OK;
}

static hub_err read_filters(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    hub_policy_rules *policy = target;
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong(reader, node, "a list");
    }
    if (node->count > MOST_FILTERS) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d filters",
                             MOST_FILTERS);
    }
    hub_filter_rule *filters = hub_arena_array(reader->arena, node->count, sizeof *filters);
    if (filters == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_err err = HUB_OK;
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        err = read_filter(reader, item, key->keys, &filters[item->index]);
    }
    policy->filters = filters;
    policy->filter_count = node->count;
    return err;
}

static hub_err read_toolset(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *keys)
{
    hub_err err = hub_config_check_toolset_key(reader, node, hub_str_of(node->key));
    if (err != HUB_OK) {
        return err;
    }
    hub_config_toolset_draft draft = hub_config_toolset_draft_of(node);
    const hub_config_key key = {.keys = keys};
    err = hub_config_read_map(reader, node, &key, &draft);
    return err == HUB_OK ? hub_config_add_toolset(reader, &draft, node->key) : err;
}

static hub_err read_toolsets(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    (void)target; /* toolsets go into the reader */
    if (node->kind != HUB_NODE_MAP && node->kind != HUB_NODE_NULL) {
        return hub_config_wrong(reader, node, "a map");
    }
    hub_err err = HUB_OK;
    for (const hub_node *child = node->first; err == HUB_OK && child != NULL; child = child->next) {
        err = read_toolset(reader, child, key->keys);
    }
    return err;
}

/* Profiles are part of a URL: their names follow the rule of toolset keys. */
static hub_err read_profiles(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    (void)key;
    (void)target; /* they are read when all files are known: profiles.c */
    if (node->kind != HUB_NODE_MAP && node->kind != HUB_NODE_NULL) {
        return hub_config_wrong(reader, node, "a map");
    }
    hub_err err = HUB_OK;
    for (const hub_node *child = node->first; err == HUB_OK && child != NULL; child = child->next) {
        if (!hub_config_is_key(hub_str_of(child->key))) {
            return hub_node_fail(child, reader->reterr, HUB_EINVAL,
                                 "a profile's name is a lower-case letter, then lower-case "
                                 "letters, digits, \"-\" and \"_\", at most %d in all",
                                 HUB_LIMIT_TOOLSET_KEY_BYTES);
        }
        size_t count = reader->profile_node_count;
        if (count >= MOST_PROFILES) {
            return hub_node_fail(child, reader->reterr, HUB_ELIMIT, "more than %d profiles",
                                 MOST_PROFILES);
        }
        const hub_node **grown =
            hub_config_grow(reader, reader->profile_nodes, count, sizeof *grown);
        if (grown == NULL) {
            return hub_config_no_memory(reader);
        }
        grown[count] = child;
        reader->profile_nodes = grown;
        reader->profile_node_count++;
    }
    return err;
}

hub_err hub_config_read_startup(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    hub_config_profile_draft *draft = (void *)((char *)target + key->offset);
    const hub_config_key word = {.words = key->words};
    draft->startup_node = node;
    return hub_config_read_word(reader, node, &word, &draft->profile.startup);
}

/* Keys, or the single word ALL, with or without a list around it. */
hub_err hub_config_read_startup_toolsets(hub_config_reader *reader, const hub_node *node,
                                         const hub_config_key *key, void *target)
{
    static const char *const ALL[] = {"ALL"};
    static const hub_config_key LIST = {.offset = 0};
    hub_config_profile_draft *draft = (void *)((char *)target + key->offset);
    draft->toolsets_node = node;
    const hub_node *word = node->kind == HUB_NODE_LIST && node->count == 1 ? node->first : node;
    if (word->kind == HUB_NODE_TEXT && hub_str_is(word->text, ALL[0])) {
        draft->profile.toolsets = (hub_names){.items = ALL, .count = 1, .set = true};
        return HUB_OK;
    }
    if (node->kind == HUB_NODE_TEXT) {
        return hub_config_wrong(reader, node, "a list of toolsets, or ALL");
    }
    return hub_config_read_toolset_names(reader, node, &LIST, &draft->profile.toolsets);
}

static hub_err read_memory_limit(hub_config_reader *reader, const hub_node *node,
                                 const hub_config_key *key, void *target)
{
    static const hub_config_key ANY = {.most = UINT32_MAX};
    const hub_config_key range = {
        .offset = key->offset, .least = HUB_LIMIT_LEAST_MODULE_BYTES, .most = MOST_MODULE_BYTES};
    uint32_t bytes = 0;
    hub_err err = hub_config_read_size(reader, node, &ANY, &bytes);
    return err == HUB_OK && bytes > 0 ? hub_config_read_size(reader, node, &range, target) : err;
}

/* modules: where toolsets come from. */
static const hub_config_key MODULE_KEYS[] = {
    /* Plugin folders, relative to the manifest's own. Default: the installed folder. */
    {.name = "paths",
     .read = hub_config_read_folders,
     .offset = READER(config.settings.modules.paths)},
    /* Notice new and replaced plugins while the hub runs. Default: true. */
    {.name = "watch",
     .read = hub_config_read_bool,
     .offset = READER(config.settings.modules.watch)},
    /* Load plugins that other users may write to. Default: false. */
    {.name = "allow_writable",
     .read = hub_config_read_bool,
     .offset = READER(config.settings.modules.allow_writable)},
    /* Of toolsets that do not say it themselves. Default: none. */
    {.name = "isolation",
     .read = hub_config_read_choice,
     .offset = READER(config.settings.modules.isolates),
     .words = HUB_CONFIG_ISOLATIONS},
    {.name = NULL},
};

/* toolsets.KEY.tools: which of the toolset's own tools exist at all; globs. */
static const hub_config_key TOOL_KEYS[] = {
    /* Default: all. */
    {.name = "allow", .read = hub_config_read_names, .offset = DRAFT(toolset.tools_allow)},
    /* Wins over allow. Default: none. */
    {.name = "deny", .read = hub_config_read_names, .offset = DRAFT(toolset.tools_deny)},
    {.name = NULL},
};

/* toolsets.KEY: a module with its config, or a server entry. */
static const hub_config_key TOOLSET_KEYS[] = {
    /* The module's name. Default: the toolset's key. */
    {.name = "module", .read = hub_config_read_node, .offset = DRAFT(module)},
    /* Handed to the module as JSON; variables in text are expanded. */
    {.name = "config", .read = hub_config_read_node, .offset = DRAFT(config)},
    /* Run the module in a process of its own. Default: modules.isolation. */
    {.name = "isolation",
     .read = hub_config_read_node,
     .offset = DRAFT(isolation),
     .words = HUB_CONFIG_ISOLATIONS},
    /* … which can have so much memory. Default: 0, any amount. */
    {.name = "memory_limit", .read = read_memory_limit, .offset = DRAFT(toolset.memory_limit)},
    /* A server to start, instead of a module; expanded, like all down to headers. */
    {.name = "command", .read = hub_config_read_node, .offset = DRAFT(command)},
    {.name = "args", .read = hub_config_read_node, .offset = DRAFT(args)},
    /* Further environment variables of the server. */
    {.name = "env", .read = hub_config_read_node, .offset = DRAFT(env)},
    /* Its working directory, relative to the manifest's folder. */
    {.name = "cwd", .read = hub_config_read_node, .offset = DRAFT(cwd)},
    /* A server to connect to, instead of one to start. */
    {.name = "url", .read = hub_config_read_node, .offset = DRAFT(url)},
    {.name = "headers", .read = hub_config_read_node, .offset = DRAFT(headers)},
    /* How it is spoken to. Default: stdio for a command, http for a url. */
    {.name = "type",
     .read = hub_config_read_node,
     .offset = DRAFT(type),
     .words = HUB_CONFIG_TYPES},
    /* Whether a started server gets the hub's whole environment. */
    {.name = "inherit_env", .read = hub_config_read_node, .offset = DRAFT(inherit_env)},
    /* How long it may take until it answers its first request. */
    {.name = "startup_timeout", .read = hub_config_read_node, .offset = DRAFT(startup_timeout)},
    /* From the first failure of a server to the next attempt; each one more doubles it, up to the
     * most. Defaults: 500ms, 60s. */
    {.name = "restart_delay", .read = hub_config_read_node, .offset = DRAFT(restart_delay)},
    {.name = "restart_delay_max", .read = hub_config_read_node, .offset = DRAFT(restart_delay_max)},
    /* Failures before a time of health as long as this are forgotten. Default: 60s. */
    {.name = "restart_reset", .read = hub_config_read_node, .offset = DRAFT(restart_reset)},
    /* Silence after which a server is asked whether it lives. 0s: never. Default: 30s; over the
     * network: never. */
    {.name = "health_interval", .read = hub_config_read_node, .offset = DRAFT(health_interval)},
    /* How long a server is kept that nobody calls. 0s, the default: for ever. */
    {.name = "idle_timeout", .read = hub_config_read_node, .offset = DRAFT(idle_timeout)},
    /* How long a connection to a url may take. Default: 5s. */
    {.name = "connect_timeout", .read = hub_config_read_node, .offset = DRAFT(connect_timeout)},
    /* The revision to speak, instead of asking the server. */
    {.name = "protocol",
     .read = hub_config_read_node,
     .offset = DRAFT(protocol),
     .words = HUB_CONFIG_PROTOCOLS},
    /* PEM files for https, relative to the manifest's folder: who is trusted, who the hub is. */
    {.name = "ca", .read = hub_config_read_node, .offset = DRAFT(ca)},
    {.name = "certificate", .read = hub_config_read_node, .offset = DRAFT(certificate)},
    {.name = "key", .read = hub_config_read_node, .offset = DRAFT(private_key)},
    /* Headers of clients' HTTP requests that a url gets with their calls. Default: none. */
    {.name = "forward_headers", .read = hub_config_read_node, .offset = DRAFT(forward_headers)},
    /* Switched off for good, two spellings. Default: enabled. */
    {.name = "enabled", .read = hub_config_read_node, .offset = DRAFT(enabled)},
    {.name = "disabled", .read = hub_config_read_node, .offset = DRAFT(disabled)},
    /* Whether it is active at start. Default: true. */
    {.name = "active", .read = hub_config_read_bool, .offset = DRAFT(toolset.active)},
    /* Connect at the first need. Default: true. */
    {.name = "lazy", .read = hub_config_read_bool, .offset = DRAFT(toolset.lazy)},
    /* Remember on disk what it offers. Default: true, unless hub.cache is false. */
    {.name = "cache", .read = hub_config_read_bool, .offset = DRAFT(toolset.cache)},
    /* One instance for all clients, or one for each session. Default: shared. */
    {.name = "sharing",
     .read = hub_config_read_choice,
     .offset = DRAFT(toolset.sharing_session),
     .words = HUB_CONFIG_SHARINGS},
    /* How long a call may last without progress. Default: limits.call_timeout. */
    {.name = "timeout", .read = hub_config_read_node, .offset = DRAFT(timeout)},
    /* Calls in flight; 0: no limit of its own. */
    {.name = "max_calls",
     .read = hub_config_read_count,
     .offset = DRAFT(toolset.max_calls),
     .most = HUB_LIMIT_CALLS},
    /* How many more wait for one of these to end; 0: none, they are refused. Default: 100. */
    {.name = "queue",
     .read = hub_config_read_count,
     .offset = DRAFT(toolset.queue),
     .most = HUB_LIMIT_CALLS},
    /* … and how long each. Default: 10s. */
    {.name = "queue_timeout",
     .read = hub_config_read_duration,
     .offset = DRAFT(toolset.queue_timeout_ms),
     .least = 1,
     .most = HUB_CONFIG_MOST_MS},
    /* What is done with each of its calls. Default: what hub.middleware says. */
    {.name = "middleware",
     .read = hub_config_read_map,
     .offset = DRAFT(middleware),
     .keys = HUB_CONFIG_MIDDLEWARE_KEYS},
    {.name = "tools", .read = hub_config_read_map, .keys = TOOL_KEYS},
    /* Added to each of its tools. */
    {.name = "tags", .read = hub_config_read_names, .offset = DRAFT(toolset.tags)},
    /* Of each of its tools. Default: each tool's own. */
    {.name = "category", .read = hub_config_read_text, .offset = DRAFT(toolset.category)},
    /* What it is for. */
    {.name = "description", .read = hub_config_read_text, .offset = DRAFT(toolset.description)},
    {.name = NULL},
};

/* policy.filters[]: in the order of hub_filter_kind. */
#define FILTER(word)                                                                               \
    {                                                                                              \
        .name = (word), .read = hub_config_read_names, .offset = offsetof(hub_filter_rule, values) \
    }
static const hub_config_key FILTER_KEYS[] = {
    FILTER("namespace"),   /* the toolset is one of these */
    FILTER("tags_any"),    /* the tool has at least one of these tags */
    FILTER("tags_all"),    /* it has all of them */
    FILTER("tags_none"),   /* it has none of them */
    FILTER("category"),    /* its category is one of these */
    FILTER("allow_tools"), /* one of these globs fits "toolset:tool" */
    FILTER("deny_tools"),  /* none of them does */
    {.name = NULL},
};

/* policy: what may be exposed at all. */
static const hub_config_key POLICY_KEYS[] = {
    /* Toolsets. Default: all; [] is none. */
    {.name = "allow", .read = hub_config_read_toolset_names, .offset = POLICY(allow)},
    /* Wins over allow. Default: none. */
    {.name = "deny", .read = hub_config_read_toolset_names, .offset = POLICY(deny)},
    /* How many toolsets may be active at a time. 0, the default: any number. */
    {.name = "max_active",
     .read = hub_config_read_count,
     .offset = POLICY(max_active),
     .most = HUB_LIMIT_TOOLSETS},
    /* Each tool has to pass all of them. */
    {.name = "filters", .read = read_filters, .keys = FILTER_KEYS, .shape = HUB_CONFIG_LIST_OF},
    /* Of toolsets, only tools that are annotated as read-only. Default: false. */
    {.name = "read_only", .read = hub_config_read_bool, .offset = POLICY(read_only)},
    /* No tool of a toolset that may destroy something. Default: false. */
    {.name = "deny_destructive", .read = hub_config_read_bool, .offset = POLICY(deny_destructive)},
    {.name = NULL},
};

/* What every profile has, and the hub section for all of them; `at` is where the draft lies. */
#define EXPOSURE_KEYS(at)                                                                          \
    /* How tools are called. Default: prefix. */                                                   \
    {.name = "naming",                                                                             \
     .read = hub_config_read_word,                                                                 \
     .offset = (at) + PROFILE(naming),                                                             \
     .words = HUB_CONFIG_NAMINGS}, /* Longer names are cut. Default: 64. */                        \
        {.name = "max_name_length",                                                                \
         .read = hub_config_read_count,                                                            \
         .offset = (at) + PROFILE(max_name_bytes),                                                 \
         .least = LEAST_NAME_BYTES,                                                                \
         .most =                                                                                   \
             HUB_LIMIT_TOOL_NAME_BYTES}, /* Which toolsets are active at start. Default:       \
                                                static if `toolsets` is there. */   \
        {.name = "startup",                                                                        \
         .read = hub_config_read_startup,                                                          \
         .offset = (at),                                                                           \
         .words = HUB_CONFIG_STARTUPS}, /* Those of a static start, or ALL. */                     \
        {.name = "toolsets", .read = hub_config_read_startup_toolsets, .offset = (at)},            \
    /* Offer tools that enable and disable toolsets. Default: true. */                             \
    {                                                                                              \
        .name = "meta_tools", .read = hub_config_read_bool, .offset = (at) + PROFILE(meta_tools)   \
    }

/* profiles.NAME: an endpoint with an exposure of its own. */
static const hub_config_key PROFILE_KEYS[] = {
    EXPOSURE_KEYS(0),
    {.name = "policy", .read = hub_config_read_map, .offset = PROFILE(policy), .keys = POLICY_KEYS},
    {.name = NULL},
};

/* hub: who it is, and what it shows. */
static const hub_config_key HUB_KEYS[] = {
    /* What clients are told: serverInfo. Default: patchbay. */
    {.name = "name", .read = hub_config_read_text, .offset = READER(config.settings.name)},
    {.name = "title", .read = hub_config_read_text, .offset = READER(config.settings.title)},
    {.name = "instructions",
     .read = hub_config_read_text,
     .offset = READER(config.settings.instructions)},
    /* Tools per page of tools/list. Default: 1000. */
    {.name = "page_size",
     .read = hub_config_read_count,
     .offset = READER(config.settings.limits.list_page),
     .least = 1,
     .most = MOST_PAGE},
    /* Remember on disk what servers offer, to have it at the next start. Default: true. */
    {.name = "cache", .read = hub_config_read_bool, .offset = READER(has_cache)},
    /* In which folder. Default: $XDG_CACHE_HOME/patchbay, or ~/.cache/patchbay. */
    {.name = "cache_dir",
     .read = hub_config_read_path,
     .offset = READER(config.settings.cache_folder)},
    /* What is older is asked for anew when somebody lists. Default: 5m. */
    {.name = "cache_ttl",
     .read = hub_config_read_duration,
     .offset = READER(config.settings.limits.catalog_ttl_ms),
     .most = HUB_CONFIG_MOST_MS},
    /* What is done with each call of every toolset. Default: nothing. */
    {.name = "middleware",
     .read = hub_config_read_map,
     .offset = READER(middleware),
     .keys = HUB_CONFIG_MIDDLEWARE_KEYS},
    EXPOSURE_KEYS(READER(base)),
    {.name = NULL},
};

/* log: lines on standard error. */
static const hub_config_key LOG_KEYS[] = {
    /* The least level that is written. Default: info. */
    {.name = "level",
     .read = hub_config_read_word,
     .offset = READER(config.settings.log_level),
     .words = HUB_CONFIG_LEVELS},
    /* Default: text. */
    {.name = "format",
     .read = hub_config_read_choice,
     .offset = READER(config.settings.log_json),
     .words = HUB_CONFIG_FORMATS},
    /* A record of each call: off (the default), log, or the path of a file to append to. */
    {.name = "audit", .read = hub_config_read_audit, .offset = READER(config.settings.audit)},
    /* With the arguments of calls, masked and cut. Default: false. */
    {.name = "audit_arguments",
     .read = hub_config_read_bool,
     .offset = READER(config.settings.audit.has_arguments)},
    /* Refuse calls while the file cannot be written. Default: false: records are dropped. */
    {.name = "audit_strict",
     .read = hub_config_read_bool,
     .offset = READER(config.settings.audit.is_strict)},
    {.name = NULL},
};

static const hub_config_key MANIFEST_KEYS[] = {
    {.name = "hub", .read = hub_config_read_map, .keys = HUB_KEYS},
    {.name = "modules", .read = hub_config_read_map, .keys = MODULE_KEYS},
    {.name = "toolsets", .read = read_toolsets, .keys = TOOLSET_KEYS, .shape = HUB_CONFIG_MAP_OF},
    {.name = "policy",
     .read = hub_config_read_map,
     .offset = READER(config.settings.policy),
     .keys = POLICY_KEYS},
    {.name = "profiles", .read = read_profiles, .keys = PROFILE_KEYS, .shape = HUB_CONFIG_MAP_OF},
    {.name = "listen",
     .read = hub_config_read_listens,
     .keys = HUB_CONFIG_LISTEN_KEYS,
     .shape = HUB_CONFIG_LIST_OF},
    {.name = "auth", .read = hub_config_read_map, .keys = HUB_CONFIG_AUTH_KEYS},
    {.name = "limits", .read = hub_config_read_map, .keys = HUB_CONFIG_LIMIT_KEYS},
    {.name = "log", .read = hub_config_read_map, .keys = LOG_KEYS},
    /* Never keys of a manifest: a file that has them is another program's. */
    {.name = "mcpServers", .read = NULL},
    {.name = "servers", .read = NULL},
    {.name = NULL},
};

const hub_config_key *hub_config_manifest_keys(void)
{
    return MANIFEST_KEYS;
}

const hub_config_key *hub_config_profile_keys(void)
{
    return PROFILE_KEYS;
}
