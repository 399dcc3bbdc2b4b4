/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hub's own manifest, from its top keys down. Of these rows schemas/manifest.schema.json and
 * examples/manifest-reference.yaml are made: see keys.h.
 */
#include "config/reader.h"

#include "base/limits.h"

enum {
    LEAST_NAME_BYTES = 16, /* a cut name keeps a hash suffix and something to recognise it by */
    MOST_PAGE = 100000,
    MOST_PROFILES = 256, /* each one keeps a view of all tools */
};

#define READER(member)  offsetof(hub_config_reader, member)
#define PROFILE(member) offsetof(hub_config_profile_draft, profile.member)

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

static hub_err read_toolset(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *keys)
{
    hub_err err = hub_config_check_toolset_key(reader, node, hub_str_of(node->key));
    if (err != HUB_OK) {
        return err;
    }
    hub_config_toolset_draft draft;
    err = hub_config_begin_toolset(reader, node, &draft);
    if (err == HUB_OK) {
        err = hub_config_read_map_of(reader, node, keys, NULL, &draft);
    }
    return err == HUB_OK ? hub_config_add_toolset(reader, &draft, node->key) : err;
}

static hub_err read_toolsets(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    (void)target; /* toolsets go into the reader */
    if (node->kind != HUB_NODE_MAP && node->kind != HUB_NODE_NULL) {
        return hub_config_wrong(reader, node, "a map");
    }
    reader->is_listed = true;
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
        if (count >= key->most) {
            return hub_node_fail(child, reader->reterr, HUB_ELIMIT, "more than %u profiles",
                                 key->most);
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

/* modules: where toolsets come from. */
static const hub_config_key MODULE_KEYS[] = {
    {.name = "paths",
     .kind = HUB_CONFIG_FOLDERS,
     .offset = READER(config.settings.modules.paths),
     .about =
         "More plugin folders than that of the installation, relative to the manifest's own; a "
         "plugin here takes the place of one of the same name there.",
     .example = "[./plugins]",
     .is_comment = true},
    {.name = "watch",
     .kind = HUB_CONFIG_BOOL,
     .offset = READER(config.settings.modules.watch),
     .fallback = true,
     .about = "Notice new and replaced plugins while the hub runs."},
    {.name = "allow_writable",
     .kind = HUB_CONFIG_BOOL,
     .offset = READER(config.settings.modules.allow_writable),
     .about = "Load plugins that other users could have changed."},
    {.name = "isolation",
     .kind = HUB_CONFIG_CHOICE,
     .offset = READER(config.settings.modules.isolates),
     .words = HUB_CONFIG_ISOLATIONS,
     .about = "Where the plugins of toolsets run that do not say it themselves: in the hub, or "
              "each in a process of its own."},
    {.name = NULL},
};

static const hub_config_word ACTIVE_SETS[] = {
    {"principal", 0, false},
    {"session", 1, false},
    {.word = NULL},
};

static const hub_config_word EXPOSES[] = {
    {"tools", 0, false},
    {"search", 1, false},
    {.word = NULL},
};

/* What every profile has, and the hub section for all of them; `at` is where the draft lies. */
#define EXPOSURE_KEYS(at)                                                                          \
    {.name = "naming",                                                                             \
     .kind = HUB_CONFIG_WORD,                                                                      \
     .offset = (at) + PROFILE(naming),                                                             \
     .fallback = HUB_NAMING_PREFIX,                                                                \
     .words = HUB_CONFIG_NAMINGS,                                                                  \
     .about = "How tools are called: prefix is git__search-repos, flat git_search_repos, dot "     \
              "git.search-repos, none search-repos."},                                             \
        {.name = "max_name_length",                                                                \
         .kind = HUB_CONFIG_COUNT,                                                                 \
         .offset = (at) + PROFILE(max_name_bytes),                                                 \
         .least = LEAST_NAME_BYTES,                                                                \
         .most = HUB_LIMIT_TOOL_NAME_BYTES,                                                        \
         .fallback = HUB_LIMIT_EXPOSED_NAME_BYTES,                                                 \
         .about = "Bytes of an exposed name; longer ones are cut and end in a hash."},             \
        {.name = "startup",                                                                        \
         .kind = HUB_CONFIG_WORD,                                                                  \
         .read = hub_config_read_startup,                                                          \
         .offset = (at),                                                                           \
         .fallback = HUB_STARTUP_DEFAULT, /* zero: there is nothing to set */                      \
         .words = HUB_CONFIG_STARTUPS,                                                             \
         .about =                                                                                  \
             "Which toolsets are active at start. default: those that do not say `active: "        \
             "false`. dynamic: none. static: those in `toolsets`, all the time; it is implied "    \
             "by `toolsets`."},                                                                    \
        {.name = "toolsets",                                                                       \
         .kind = HUB_CONFIG_OTHER,                                                                 \
         .read = hub_config_read_startup_toolsets,                                                 \
         .offset = (at),                                                                           \
         .about = "The toolsets of a static start, or ALL.",                                       \
         .schema = "{\"anyOf\":[{\"const\":\"ALL\"},{\"type\":\"array\",\"minItems\":1,"           \
                   "\"maxItems\":1,\"items\":{\"const\":\"ALL\"}},{\"type\":\"array\",\"items\":"  \
                   "{\"$ref\":\"#/$defs/toolset_key\"}}]}",                                        \
         .example = "[git, docs]",                                                                 \
         .is_comment = true},                                                                      \
        {.name = "equip",                                                                          \
         .kind = HUB_CONFIG_TEXT,                                                                  \
         .read = hub_config_read_equip,                                                            \
         .offset = (at) + PROFILE(equip),                                                          \
         .about = "The saved toolset that is equipped from the start, for every principal that "   \
                  "chooses no other: one of the manifest, or one of the store.",                   \
         .example = "dev-essentials",                                                              \
         .is_comment = true},                                                                      \
        {.name = "active_set",                                                                     \
         .kind = HUB_CONFIG_CHOICE,                                                                \
         .offset = (at) + PROFILE(has_set_per_session),                                            \
         .words = ACTIVE_SETS,                                                                     \
         .about = "The choice of toolsets that an enable or disable changes: the "                 \
                  "principal's, in all its sessions, or the session's alone. It concerns clients " \
                  "that begin "                                                                    \
                  "with `initialize`; for others it is always the principal's."},                  \
        {.name = "meta_tools",                                                                     \
         .kind = HUB_CONFIG_OTHER,                                                                 \
         .read = hub_config_read_meta_tools,                                                       \
         .offset = (at) + PROFILE(meta_tools),                                                     \
         .fallback = HUB_META_UNSAID,                                                              \
         .about =                                                                                  \
             "Groups of tools of the hub's own. toolsets (true, and the default unless the "       \
             "start is static): list, describe, enable and disable toolsets; of a static "         \
             "start list alone. saved: build toolsets of any tools, and equip them. search: "      \
             "find tools by words, and call them. fanout: call a tool of several toolsets at "     \
             "once. false, or []: none.",                                                          \
         .schema = HUB_CONFIG_META_TOOLS_SCHEMA,                                                   \
         .example = "[toolsets]"},                                                                 \
        {.name = "expose",                                                                         \
         .kind = HUB_CONFIG_CHOICE,                                                                \
         .offset = (at) + PROFILE(lists_search),                                                   \
         .words = EXPOSES,                                                                         \
         .about = "The list that tools/list shows: all tools, or only the tools "                  \
                  "that search, by which all others are found and called. The "                    \
                  "second list never changes."},                                                   \
    {                                                                                              \
        .name = "equip_on_find", .kind = HUB_CONFIG_BOOL, .offset = (at) + PROFILE(equips_found),  \
        .about =                                                                                   \
            "With expose: search, list tools to a client that begins with `initialize` once it "   \
            "has found them, the newest 64; it is told that its list has changed."                 \
    }

/* profiles.NAME: an endpoint with an exposure of its own. */
const hub_config_key HUB_CONFIG_PROFILE_KEYS[] = {
    EXPOSURE_KEYS(0),
    {.name = "policy",
     .kind = HUB_CONFIG_MAP,
     .offset = PROFILE(policy),
     .keys = HUB_CONFIG_POLICY_KEYS,
     .about = "On top of the hub's own policy.",
     .example = "{read_only: true}"},
    {.name = NULL},
};

static const hub_config_word REMEMBERS[] = {
    {"all", HUB_REMEMBER_ALL, false},
    {"equipped", HUB_REMEMBER_EQUIPPED, false},
    {"none", HUB_REMEMBER_NONE, false},
    {.word = NULL},
};

/* hub: who it is, and what it shows. */
static const hub_config_key HUB_KEYS[] = {
    {.name = "name",
     .kind = HUB_CONFIG_TEXT,
     .offset = READER(config.settings.name),
     .fallback_text = "patchbay",
     .about = "serverInfo.name, as clients see it."},
    {.name = "title",
     .kind = HUB_CONFIG_TEXT,
     .offset = READER(config.settings.title),
     .about = "serverInfo.title.",
     .example = "Our tools",
     .is_comment = true},
    {.name = "instructions",
     .kind = HUB_CONFIG_TEXT,
     .offset = READER(config.settings.instructions),
     .about = "Instructions that clients hand to models.",
     .example = "Ask before you delete anything.",
     .is_comment = true},
    {.name = "server_instructions",
     .kind = HUB_CONFIG_BOOL,
     .offset = READER(config.settings.gathers_instructions),
     .fallback = true,
     .about =
         "Hand on what servers say to models of themselves: behind the hub's own instructions, "
         "for each active toolset that the client may see, at most 2 KiB each and 8 KiB in "
         "all."},
    {.name = "page_size",
     .kind = HUB_CONFIG_COUNT,
     .offset = READER(config.settings.limits.list_page),
     .least = 1,
     .most = MOST_PAGE,
     .fallback = HUB_LIMIT_LIST_PAGE,
     .about = "Tools per page of tools/list. Some clients read only the first page."},
    {.name = "cache",
     .kind = HUB_CONFIG_BOOL,
     .offset = READER(has_cache),
     .fallback = true,
     .about = "Remember on disk what servers offer: at the next start it is listed at once, and "
              "nothing is started for it."},
    {.name = "cache_dir",
     .kind = HUB_CONFIG_PATH,
     .offset = READER(config.settings.cache_folder),
     .about = "The folder for that; only you may be able to write to it. Default: patchbay in "
              "$XDG_CACHE_HOME, or in ~/.cache.",
     .example = "/var/cache/patchbay",
     .is_comment = true},
    {.name = "cache_ttl",
     .kind = HUB_CONFIG_DURATION,
     .offset = READER(config.settings.limits.catalog_ttl_ms),
     .most = HUB_CONFIG_MOST_MS,
     .fallback = HUB_LIMIT_CATALOG_TTL_MS,
     .about = "An older list is shown at once, too, and asked for again in the "
              "background."},
    {.name = "remember",
     .kind = HUB_CONFIG_WORD,
     .offset = READER(config.settings.remember),
     .fallback = HUB_REMEMBER_ALL,
     .words = REMEMBERS,
     .about = "Choices of each principal in each profile that outlive the hub: all (which "
              "toolsets it has enabled and disabled, and what it has equipped), equipped (only "
              "that), or none. It is kept in the store (`state`)."},
    {.name = "middleware",
     .kind = HUB_CONFIG_MAP,
     .offset = READER(middleware),
     .keys = HUB_CONFIG_MIDDLEWARE_KEYS,
     .about = "Steps that each call passes, for every toolset that does not "
              "say otherwise."},
    {.name = "results",
     .kind = HUB_CONFIG_MAP,
     .keys = HUB_CONFIG_HUB_RESULT_KEYS,
     .about = "How large results of tools may be, of every toolset that does not say otherwise."},
    EXPOSURE_KEYS(READER(base)),
    {.name = NULL},
};

/* log: lines on standard error, or in a file. */
static const hub_config_key LOG_KEYS[] = {
    {.name = "level",
     .kind = HUB_CONFIG_WORD,
     .offset = READER(config.settings.log_level),
     .fallback = HUB_LOG_INFO,
     .words = HUB_CONFIG_LEVELS,
     .about = "The least level that is written."},
    {.name = "format",
     .kind = HUB_CONFIG_CHOICE,
     .offset = READER(config.settings.log_json),
     .words = HUB_CONFIG_FORMATS,
     .about = "Text, or a JSON object per line."},
    {.name = "file",
     .kind = HUB_CONFIG_PATH,
     .offset = READER(config.settings.log_file),
     .about = "A file to write to instead of standard error, relative to the manifest's folder. "
              "SIGUSR1 opens it again, for those who rotate logs.",
     .example = "/var/log/patchbay/patchbay.log",
     .is_comment = true},
    {.name = "audit",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_audit,
     .offset = READER(config.settings.audit),
     .fallback_text = "off",
     .about = "A record of each call (who, what, how long, how it ended): off, log, or the path "
              "of a file, relative to the manifest's folder, that lines of JSON are appended to.",
     .schema = "{\"type\":\"string\",\"minLength\":1}"},
    {.name = "audit_arguments",
     .kind = HUB_CONFIG_BOOL,
     .offset = READER(config.settings.audit.has_arguments),
     .about = "Records have the arguments of calls, too: known secrets masked, at most 4 KiB."},
    {.name = "audit_strict",
     .kind = HUB_CONFIG_BOOL,
     .offset = READER(config.settings.audit.is_strict),
     .about = "While the audit file cannot be written, calls are refused. Else records are "
              "dropped, and counted."},
    {.name = NULL},
};

/* metrics: what listeners with `metrics: true` serve. */
static const hub_config_key METRICS_KEYS[] = {
    {.name = "max_series",
     .kind = HUB_CONFIG_COUNT,
     .offset = READER(config.settings.max_series),
     .least = HUB_LIMIT_METRICS_SERIES_LEAST,
     .most = HUB_LIMIT_METRICS_SERIES_MOST,
     .fallback = HUB_LIMIT_METRICS_SERIES,
     .about = "The most time series about calls. Tools that find no room are counted together, as "
              "tool \"other\"."},
    {.name = NULL},
};

static const hub_config_word REPLICA_FAILS[] = {
    {"local", HUB_REPLICAS_LOCAL, false},
    {"open", HUB_REPLICAS_OPEN, false},
    {"closed", HUB_REPLICAS_CLOSED, false},
    {.word = NULL},
};

static const hub_config_key REPLICA_KEYS[] = {
    {.name = "key_file",
     .kind = HUB_CONFIG_PATH,
     .offset = READER(config.settings.replicas.key_file),
     .about = "A file that all replicas have alike (mode 0600): keys of 64 hexadecimal digits "
              "(openssl rand -hex 32). The first one signs states, ids of tasks and cursors that "
              "clients bring back; the others, previous ones, are still taken.",
     .example = "/etc/patchbay/replicas.key",
     .is_comment = true},
    {.name = "count",
     .kind = HUB_CONFIG_COUNT,
     .offset = READER(config.settings.replicas.count),
     .least = 1,
     .most = 1000,
     .fallback = 1,
     .about = "How many replicas there are: while the shared store is gone, each admits its share "
              "of tools.limits and of the rates of clients and principals."},
    {.name = "fail",
     .kind = HUB_CONFIG_WORD,
     .offset = READER(config.settings.replicas.fail),
     .fallback = HUB_REPLICAS_LOCAL,
     .words = REPLICA_FAILS,
     .about = "How tools.limits and the rates of clients and principals are "
              "held while the shared store is gone. local: each replica admits its share. open: "
              "every call is "
              "admitted. closed: none is."},
    {.name = "listen",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_replica,
     .about =
         "The IP address and port at which the other replicas reach this one: there they bring "
         "requests of sessions that live here. With peers and key_file.",
     .schema = "{\"type\":\"string\",\"minLength\":1}",
     .example = "${POD_IP}:8790",
     .is_comment = true},
    {.name = "peers",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_peers,
     .about = "The addresses of the replicas, this one's too, or blocks of them: no other address "
              "is listened to or called, and each has to prove that it has the keys of key_file.",
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1}}",
     .example = "[10.42.0.0/16]",
     .is_comment = true},
    {.name = "leave",
     .kind = HUB_CONFIG_DURATION,
     .offset = READER(config.settings.replicas.leave_ms),
     .most = 300000,
     .about = "How long a replica that is told to stop serves everybody as before, while /readyz "
              "fails: as long as the balancer takes to notice. Then it closes its listeners, and "
              "its sessions move to the others. With listen.",
     .example = "5s"},
    {.name = NULL},
};

const hub_config_key HUB_CONFIG_MANIFEST_KEYS[] = {
    {.name = "hub",
     .kind = HUB_CONFIG_MAP,
     .keys = HUB_KEYS,
     .about = "The hub's name and description, and the tools that it shows at "
              "/mcp and on stdio. Profiles start from the last seven keys."},
    {.name = "modules",
     .kind = HUB_CONFIG_MAP,
     .keys = MODULE_KEYS,
     .about = "Where plugins come from."},
    {.name = "toolsets",
     .kind = HUB_CONFIG_MAP_OF,
     .read = read_toolsets,
     .most = HUB_LIMIT_TOOLSETS,
     .keys = HUB_CONFIG_TOOLSET_KEYS,
     .about = "The plugins and servers to serve. A manifest without this key serves every plugin "
              "that is "
              "found; with an empty map there is nothing to serve.",
     .schema = "{\"$ref\":\"#/$defs/toolset_key\"}"},
    {.name = "policy",
     .kind = HUB_CONFIG_MAP,
     .keys = HUB_CONFIG_HUB_POLICY_KEYS,
     .about = "Limits to the tools that can be exposed at all: for all "
              "profiles, before their own policy."},
    {.name = "saved_toolsets",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_saved,
     .about = "Selections of tools of any toolsets, by name, which clients may equip and nobody "
              "changes: a list of ids, TOOLSET:TOOL, or a map with tools and description. See "
              "docs/SAVED-TOOLSETS.md.",
     .schema = "{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[a-z0-9-]{2,50}$\"},"
               "\"additionalProperties\":{\"anyOf\":[{\"type\":\"array\",\"minItems\":1},{\"type\":"
               "\"object\",\"required\":[\"tools\"],\"properties\":{\"description\":{\"type\":"
               "\"string\"},\"tools\":{\"type\":\"array\",\"minItems\":1}}}]}}",
     .example = "{dev-essentials: [git:status, docs:search]}",
     .is_comment = true},
    {.name = "toolset_files",
     .kind = HUB_CONFIG_FOLDERS,
     .read = hub_config_read_saved_files,
     .about = "Files with one such selection each, or folders of them (*.json, *.yaml), relative "
              "to the manifest's folder: for those that a team keeps in git.",
     .example = "[toolsets]",
     .is_comment = true},
    {.name = "profiles",
     .kind = HUB_CONFIG_MAP_OF,
     .read = read_profiles,
     .most = MOST_PROFILES,
     .keys = HUB_CONFIG_PROFILE_KEYS,
     .about = "Further endpoints, /mcp/NAME, with an exposure of their own. Keys that are not "
              "written are as in `hub`.",
     .schema = "{\"pattern\":\"^[a-z][a-z0-9_-]{0,63}$\"}"},
    {.name = "listen",
     .kind = HUB_CONFIG_LIST_OF,
     .read = hub_config_read_listens,
     .most = HUB_LIMIT_LISTENERS,
     .keys = HUB_CONFIG_LISTEN_KEYS,
     .about = "Where clients reach the hub. Without any, and without --http or --unix, it serves "
              "stdin and stdout. --http and --unix stand instead of this list."},
    {.name = "auth",
     .kind = HUB_CONFIG_MAP,
     .keys = HUB_CONFIG_AUTH_KEYS,
     .about = "The credentials that listeners over HTTP accept."},
    {.name = "state",
     .kind = HUB_CONFIG_OTHER,
     .read = hub_config_read_state,
     .offset = READER(config.settings.state),
     .about =
         "Where the hub keeps what outlives it: off, a file, relative to the manifest's "
         "folder, or the address of a store that several hubs share (docs/SCALE.md). A file is "
         "made when there is something to keep. Default: patchbay/state.db in "
         "$XDG_STATE_HOME, or in ~/.local/state; of a service, state.db in $STATE_DIRECTORY. "
         "As a map: path is the file, or url and password are those of the shared store; key "
         "is a file with the key that encrypts secrets (64 hexadecimal digits).",
     .schema = "{\"anyOf\":[{\"type\":\"string\",\"minLength\":1},{\"type\":\"object\","
               "\"additionalProperties\":false,\"properties\":{\"path\":{\"type\":\"string\","
               "\"minLength\":1},\"url\":{\"type\":\"string\",\"pattern\":\"^(valkeys?|rediss?|"
               "(valkey|redis)[+]unix)://|[$]\"},\"password\":{\"type\":\"string\","
               "\"minLength\":1},\"key\":{\"type\":\"string\",\"minLength\":1}}}]}",
     .example = "{ path: /var/lib/patchbay/state.db, key: /etc/patchbay/state.key }",
     .is_comment = true},
    {.name = "replicas",
     .kind = HUB_CONFIG_MAP,
     .keys = REPLICA_KEYS,
     .about = "Hubs behind one address: see docs/SCALE.md."},
    {.name = "access",
     .kind = HUB_CONFIG_MAP,
     .read = hub_config_read_access,
     .offset = READER(config.settings.access),
     .keys = HUB_CONFIG_ACCESS_KEYS,
     .about = "Rules that say which callers can call which tools: see "
              "docs/ACCESS.md."},
    {.name = "limits",
     .kind = HUB_CONFIG_MAP,
     .keys = HUB_CONFIG_LIMIT_KEYS,
     .about = "Bounds on messages, queues and times."},
    {.name = "metrics",
     .kind = HUB_CONFIG_MAP,
     .keys = METRICS_KEYS,
     .about = "Bounds of /metrics, which a listener serves that has `metrics: true`."},
    {.name = "log",
     .kind = HUB_CONFIG_MAP,
     .keys = LOG_KEYS,
     .about = "Lines on standard error, or in a file."},
    /* Never keys of a manifest: a file that has them is another program's. */
    {.name = "mcpServers", .kind = HUB_CONFIG_NO_KEY},
    {.name = "servers", .kind = HUB_CONFIG_NO_KEY},
    {.name = NULL},
};
