/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command line and the environment say. Their words become nodes, so that they are read,
 * and complained about, by what reads the manifest's.
 */
#include "config/reader.h"

#include "base/limits.h"

#include <stdio.h>

/* A flag with text, and where its value goes. */
typedef struct flag {
    size_t given; /* offset of a const char * in hub_config_overrides */
    hub_config_key key;
} flag;

typedef struct list_flag {
    size_t given; /* offset of a hub_names */
    hub_config_key key;
} list_flag;

#define OVERRIDE(member) offsetof(hub_config_overrides, member)
#define READER(member)   offsetof(hub_config_reader, member)
#define DRAFT(member)    offsetof(hub_config_profile_draft, member)

static const flag HUB_FLAGS[] = {
    {OVERRIDE(max_active),
     {.name = "--max-active",
      .read = hub_config_read_count,
      .offset = READER(config.settings.policy.max_active),
      .most = HUB_LIMIT_TOOLSETS}},
    {OVERRIDE(log_level),
     {.name = "--log-level",
      .read = hub_config_read_word,
      .offset = READER(config.settings.log_level),
      .words = HUB_CONFIG_LEVELS}},
    {OVERRIDE(log_format),
     {.name = "--log-format",
      .read = hub_config_read_choice,
      .offset = READER(config.settings.log_json),
      .words = HUB_CONFIG_FORMATS}},
    {OVERRIDE(tokens),
     {.name = "--tokens",
      .read = hub_config_read_tokens_file,
      .offset = READER(config.tokens_file)}},
};

static const list_flag HUB_LISTS[] = {
    {OVERRIDE(plugin_dirs),
     {.name = "--plugins-dir",
      .read = hub_config_read_folders,
      .offset = READER(config.settings.modules.paths)}},
    {OVERRIDE(allow),
     {.name = "--allow",
      .read = hub_config_read_toolset_names,
      .offset = READER(config.settings.policy.allow)}},
    {OVERRIDE(deny),
     {.name = "--deny",
      .read = hub_config_read_toolset_names,
      .offset = READER(config.settings.policy.deny)}},
};

static const list_flag LISTENERS[] = {
    {OVERRIDE(http), {.name = "--http", .read = hub_config_read_http_flags}},
    {OVERRIDE(sockets), {.name = "--unix", .read = hub_config_read_unix_flags}},
};

/* What the command line says of every HTTP listener. */
static const list_flag LISTENER_LISTS[] = {
    {OVERRIDE(allowed_hosts),
     {.name = "--allowed-host",
      .read = hub_config_read_hosts,
      .offset = offsetof(hub_listen_settings, hosts)}},
    {OVERRIDE(allowed_origins),
     {.name = "--allowed-origin",
      .read = hub_config_read_origins,
      .offset = offsetof(hub_listen_settings, origins)}},
};

static const flag PROFILE_FLAGS[] = {
    {OVERRIDE(startup),
     {.name = "--startup", .read = hub_config_read_startup, .words = HUB_CONFIG_STARTUPS}},
    {OVERRIDE(naming),
     {.name = "--naming",
      .read = hub_config_read_word,
      .offset = DRAFT(profile.naming),
      .words = HUB_CONFIG_NAMINGS}},
    {OVERRIDE(equip),
     {.name = "--equip", .read = hub_config_read_equip, .offset = DRAFT(profile.equip)}},
};

static const list_flag PROFILE_LISTS[] = {
    {OVERRIDE(toolsets), {.name = "--toolsets", .read = hub_config_read_startup_toolsets}},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A map to hang nodes on; line 0 keeps a line number out of messages. */
static hub_err add_root(hub_config_reader *reader, const char *source, hub_node_builder *builder)
{
    *builder =
        (hub_node_builder){.arena = reader->scratch, .file = source, .reterr = reader->reterr};
    hub_node_draft root = {.kind = HUB_NODE_MAP};
    return hub_node_add(builder, NULL, &root, NULL);
}

static hub_err read_flag(hub_config_reader *reader, const flag *row, const char *text, void *target)
{
    hub_node_builder builder;
    hub_node *node = NULL;
    hub_err err = add_root(reader, "command line", &builder);
    if (err != HUB_OK) {
        return err;
    }
    hub_node_draft draft = {
        .kind = hub_node_is_number(hub_str_of(text)) ? HUB_NODE_NUMBER : HUB_NODE_TEXT,
        .key = hub_str_of(row->key.name),
        .text = hub_str_of(text),
    };
    err = hub_node_add(&builder, builder.root, &draft, &node);
    return err != HUB_OK ? err : row->key.read(reader, node, &row->key, target);
}

static hub_err read_list_flag(hub_config_reader *reader, const list_flag *row,
                              const hub_names *list, void *target)
{
    hub_node_builder builder;
    hub_node *node = NULL;
    hub_err err = add_root(reader, "command line", &builder);
    if (err != HUB_OK) {
        return err;
    }
    hub_node_draft draft = {.kind = HUB_NODE_LIST, .key = hub_str_of(row->key.name)};
    err = hub_node_add(&builder, builder.root, &draft, &node);
    for (size_t i = 0; err == HUB_OK && i < list->count; i++) {
        hub_node_draft item = {.kind = HUB_NODE_TEXT, .text = hub_str_of(list->items[i])};
        err = hub_node_add(&builder, node, &item, NULL);
    }
    return err != HUB_OK ? err : row->key.read(reader, node, &row->key, target);
}

static hub_err read_flags(hub_config_reader *reader, const hub_config_overrides *overrides,
                          const flag *rows, size_t count, void *target)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        const char *text =
            *(const char *const *)(const void *)((const char *)overrides + rows[i].given);
        err = text == NULL ? HUB_OK : read_flag(reader, &rows[i], text, target);
    }
    return err;
}

static hub_err read_list_flags(hub_config_reader *reader, const hub_config_overrides *overrides,
                               const list_flag *rows, size_t count, void *target)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        const hub_names *list =
            (const hub_names *)(const void *)((const char *)overrides + rows[i].given);
        err = list->set ? read_list_flag(reader, &rows[i], list, target) : HUB_OK;
    }
    return err;
}

/* Listeners of the command line stand instead of the manifest's; what it says of hosts and the like
 * counts for all. */
static hub_err apply_to_listeners(hub_config_reader *reader, const hub_config_overrides *overrides)
{
    bool is_ours = overrides->http.set || overrides->sockets.set;
    if (is_ours) {
        reader->listen_count = 0;
    }
    hub_err err = read_list_flags(reader, overrides, LISTENERS, COUNT(LISTENERS), reader);
    for (size_t i = 0; err == HUB_OK && i < reader->listen_count; i++) {
        hub_listen_settings *listen = &reader->listens[i];
        if (listen->kind == HUB_LISTEN_HTTP) {
            err = read_list_flags(reader, overrides, LISTENER_LISTS, COUNT(LISTENER_LISTS), listen);
            listen->insecure |= overrides->insecure;
        } else if (is_ours) {
            listen->profile = overrides->profile;
        }
    }
    return err;
}

hub_err hub_config_apply_overrides(hub_config_reader *reader, const hub_config_overrides *overrides)
{
    if (overrides == NULL) {
        return HUB_OK;
    }
    reader->folder = NULL; /* folders on the command line are below the working directory */
    hub_err err = read_flags(reader, overrides, HUB_FLAGS, COUNT(HUB_FLAGS), reader);
    if (err == HUB_OK) {
        err = read_list_flags(reader, overrides, HUB_LISTS, COUNT(HUB_LISTS), reader);
    }
    reader->config.settings.modules.allow_writable |= overrides->allow_writable;
    return err == HUB_OK ? apply_to_listeners(reader, overrides) : err;
}

hub_err hub_config_apply_profile_overrides(hub_config_reader *reader,
                                           const hub_config_overrides *overrides,
                                           hub_config_profile_draft *draft)
{
    if (overrides == NULL) {
        return HUB_OK;
    }
    hub_err err = read_flags(reader, overrides, PROFILE_FLAGS, COUNT(PROFILE_FLAGS), draft);
    if (err == HUB_OK) {
        err = read_list_flags(reader, overrides, PROFILE_LISTS, COUNT(PROFILE_LISTS), draft);
    }
    if (overrides->no_meta_tools) {
        draft->profile.meta_tools = 0;
        draft->profile.lists_search = false;
    }
    return err;
}

enum { VARIABLE_BYTES = HUB_LIMIT_TOOLSET_KEY_BYTES + sizeof "PATCHBAY__ENABLED" };

/* PATCHBAY_GIT_HUB_ENABLED of "git-hub". False when the key is too long to be one. */
static bool variable_of(const char *key, char *name, size_t size)
{
    int len = snprintf(name, size, "PATCHBAY_%s_ENABLED", key);
    if (len < 0 || (size_t)len >= size) {
        return false;
    }
    for (char *at = name; *at != '\0'; at++) {
        if (*at >= 'a' && *at <= 'z') {
            *at = (char)(*at - 'a' + 'A');
        } else if (*at == '-') {
            *at = '_';
        }
    }
    return true;
}

/* The other toolset that the variable of one is about, too, or NULL. */
static const char *find_namesake(const hub_config_reader *reader, size_t index, char *name,
                                 size_t size)
{
    char other[VARIABLE_BYTES];
    const char *key = reader->toolsets[index].settings.key;
    bool is_set = variable_of(key, name, size) &&
                  hub_expand_find(&reader->variables, hub_str_of(name)) != NULL;
    for (size_t i = 0; is_set && i < index; i++) {
        const char *one = reader->toolsets[i].settings.key;
        if (strcmp(one, key) != 0 && variable_of(one, other, sizeof other) &&
            strcmp(other, name) == 0) {
            return one;
        }
    }
    return NULL;
}

hub_err hub_config_check_variables(const hub_config_reader *reader)
{
    char name[VARIABLE_BYTES];
    for (size_t i = 0; i < reader->toolset_count; i++) {
        const char *other = find_namesake(reader, i, name, sizeof name);
        if (other != NULL) {
            return hub_fail(reader->reterr, HUB_EINVAL,
                            "environment: %s: means the toolsets \"%s\" and \"%s\" alike: write "
                            "`enabled` in the file instead",
                            name, other, reader->toolsets[i].settings.key);
        }
    }
    return HUB_OK;
}

hub_err hub_config_env_enabled(const char *const *env, const char *key, bool *ret_enabled,
                               hub_error *reterr)
{
    static const struct {
        const char *word;
        bool enabled;
    } WORDS[] = {{"true", true},   {"1", true},  {"yes", true}, {"on", true},
                 {"false", false}, {"0", false}, {"no", false}, {"off", false}};
    char name[VARIABLE_BYTES];
    const hub_expand_source variables = {.env = env};
    const char *value =
        variable_of(key, name, sizeof name) ? hub_expand_find(&variables, hub_str_of(name)) : NULL;
    if (value == NULL) {
        return HUB_OK;
    }
    for (size_t i = 0; i < COUNT(WORDS); i++) {
        if (hub_str_eq_nocase(hub_str_of(value), hub_str_of(WORDS[i].word))) {
            *ret_enabled = WORDS[i].enabled;
            return HUB_OK;
        }
    }
    return hub_fail(reterr, HUB_EINVAL,
                    "environment: %s: wanted true or false (or 1, yes, on, 0, no, off), "
                    "found \"%.40s\"",
                    name, value);
}
