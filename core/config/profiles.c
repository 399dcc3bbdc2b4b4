/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: each starts as a copy of what the manifest's `hub` section says, then its own keys are
 * read, from all files in order, then the command line's word is put on top.
 */
#include "config/reader.h"

static const char DEFAULT_PROFILE[] = "default";

typedef struct profile_list {
    hub_profile_settings *items;
    size_t count;
} profile_list;

/* `startup` and `toolsets` mean something together only: who writes one of them inherits neither.
 */
static hub_err read_sections(hub_config_reader *reader, const char *name,
                             hub_config_profile_draft *draft)
{
    const hub_config_key key = {.keys = HUB_CONFIG_PROFILE_KEYS};
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < reader->profile_node_count; i++) {
        const hub_node *node = reader->profile_nodes[i];
        if (strcmp(node->key, name) != 0) {
            continue;
        }
        if (hub_node_find(node, "startup") != NULL || hub_node_find(node, "toolsets") != NULL) {
            draft->profile.startup = HUB_STARTUP_DEFAULT;
            draft->profile.toolsets = (hub_names){.set = false};
            draft->startup_node = NULL;
            draft->toolsets_node = NULL;
        }
        err = hub_config_read_map(reader, node, &key, draft);
    }
    return err;
}

/* REQUIREMENTS S1.33: static without toolsets is an error, dynamic ignores them, neither is
 * dynamic. */
static hub_err decide_startup(hub_config_reader *reader, hub_config_profile_draft *draft,
                              bool is_new_word)
{
    hub_profile_settings *profile = &draft->profile;
    if (profile->startup == HUB_STARTUP_DEFAULT && profile->toolsets.set) {
        profile->startup = HUB_STARTUP_STATIC;
    }
    if (profile->startup == HUB_STARTUP_STATIC && profile->toolsets.count == 0) {
        const hub_node *node =
            draft->startup_node != NULL ? draft->startup_node : draft->toolsets_node;
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "a static start wants at least one toolset, or ALL, in \"toolsets\"");
    }
    if (profile->startup == HUB_STARTUP_DYNAMIC && profile->toolsets.set) {
        profile->toolsets = (hub_names){.set = false};
        return is_new_word ? hub_config_warn(reader, draft->toolsets_node,
                                             "ignored, because the start is dynamic")
                           : HUB_OK;
    }
    return HUB_OK;
}

/* Where the toolsets of its start were written, or, without them, its mode. What the command line
 * says is no place to look at. */
static hub_err note_source(hub_config_reader *reader, hub_config_profile_draft *draft)
{
    const hub_node *node =
        draft->toolsets_node != NULL ? draft->toolsets_node : draft->startup_node;
    if (node == NULL || node->line == 0) {
        return HUB_OK;
    }
    draft->profile.source = hub_config_place(reader, node);
    return draft->profile.source != NULL ? HUB_OK : hub_config_no_memory(reader);
}

static bool has_profile(const profile_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static hub_err add_profile(hub_config_reader *reader, const hub_config_overrides *overrides,
                           const char *name, profile_list *list)
{
    hub_config_profile_draft draft = reader->base;
    draft.profile.name = hub_arena_strdup(reader->arena, hub_str_of(name));
    if (draft.profile.name == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_err err = read_sections(reader, name, &draft);
    if (err == HUB_OK) {
        err = hub_config_apply_profile_overrides(reader, overrides, &draft);
    }
    if (err == HUB_OK) {
        /* What the hub section or a flag says wrongly of all profiles is said once. */
        bool is_inherited = draft.toolsets_node == reader->base.toolsets_node ||
                            (overrides != NULL && overrides->toolsets.set);
        err = decide_startup(reader, &draft, list->count == 0 || !is_inherited);
    }
    if (err == HUB_OK) {
        err = note_source(reader, &draft);
    }
    if (err != HUB_OK) {
        return err;
    }
    hub_profile_settings *grown =
        hub_config_grow(reader, list->items, list->count, sizeof *list->items);
    if (grown == NULL) {
        return hub_config_no_memory(reader);
    }
    list->items = grown;
    list->items[list->count++] = draft.profile;
    return HUB_OK;
}

hub_err hub_config_finish_profiles(hub_config_reader *reader, const hub_config_overrides *overrides)
{
    profile_list list = {.items = NULL};
    hub_err err = add_profile(reader, overrides, DEFAULT_PROFILE, &list);
    for (size_t i = 0; err == HUB_OK && i < reader->profile_node_count; i++) {
        const char *name = reader->profile_nodes[i]->key;
        if (!has_profile(&list, name)) {
            err = add_profile(reader, overrides, name, &list);
        }
    }
    reader->config.settings.profiles = list.items;
    reader->config.settings.profile_count = list.count;
    return err;
}
