/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the store is, what encrypts its secrets, and whose records they are.
 * spec: XDG Base Directory Specification, XDG_STATE_HOME: a path that is not absolute is ignored;
 * systemd.exec(5), StateDirectory=
 */
#include "config/reader.h"

#include "base/limits.h"

#include <limits.h>
#include <stdlib.h>

#define STATE(member) offsetof(hub_state_settings, member)

static hub_err read_place(hub_config_reader *reader, const hub_node *node,
                          const hub_config_key *key, void *target)
{
    const char **place = (void *)((char *)target + key->offset);
    if (node->kind == HUB_NODE_TEXT && hub_str_is(node->text, HUB_STATE_PLACE_OFF)) {
        *place = HUB_STATE_PLACE_OFF;
        return HUB_OK;
    }
    hub_err err = hub_config_read_path(reader, node, key, target);
    size_t len = err == HUB_OK ? strlen(*place) : 0;
    return err == HUB_OK && (*place)[len - 1] == '/'
               ? hub_node_fail(node, reader->reterr, HUB_EINVAL,
                               "wanted a file, like ./state.db, found a folder: \"%s\"", *place)
               : err;
}

static const hub_config_key STATE_KEYS[] = {
    {.name = "path", .kind = HUB_CONFIG_OTHER, .read = read_place, .offset = STATE(place)},
    {.name = "key", .kind = HUB_CONFIG_PATH, .offset = STATE(key)},
    {.name = NULL},
};

/* `off`, a path, or a map of both keys. */
hub_err hub_config_read_state(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    hub_state_settings *state = (void *)((char *)target + key->offset);
    const hub_config_key map = {.keys = STATE_KEYS};
    const hub_config_key place = {.offset = STATE(place)};
    return node->kind == HUB_NODE_MAP ? hub_config_read_map(reader, node, &map, state)
                                      : read_place(reader, node, &place, state);
}

/* The first folder of a service's, or the user's own; NULL: there is none. */
static const char *find_place(hub_config_reader *reader)
{
    const char *service = hub_expand_find(&reader->variables, HUB_STR("STATE_DIRECTORY"));
    const char *state = hub_expand_find(&reader->variables, HUB_STR("XDG_STATE_HOME"));
    const char *home = hub_expand_find(&reader->variables, HUB_STR("HOME"));
    if (service != NULL && service[0] == '/') {
        return hub_arena_printf(reader->arena, "%.*s/state.db", (int)strcspn(service, ":"),
                                service);
    }
    if (state != NULL && state[0] == '/') {
        return hub_arena_printf(reader->arena, "%s/patchbay/state.db", state);
    }
    if (home != NULL && home[0] == '/') {
        return hub_arena_printf(reader->arena, "%s/.local/state/patchbay/state.db", home);
    }
    return HUB_STATE_PLACE_OFF; /* a service without a home: it has to be told */
}

/* The name that somebody gave to the hub; else the file that makes it what it is. */
static const char *find_scope(const hub_config_reader *reader)
{
    char real[PATH_MAX];
    const hub_config_file *first = NULL;
    for (const hub_config_file *file = reader->config.files; file != NULL; file = file->next) {
        first = file->is_manifest ? file : first; /* the newest comes first */
    }
    if (reader->config.settings.name != reader->default_name || first == NULL) {
        return hub_arena_printf(reader->arena, "%s", reader->config.settings.name);
    }
    bool is_real = first->stamp.is_regular && realpath(first->path, real) != NULL;
    return hub_arena_printf(reader->arena, "%s", is_real ? real : first->path);
}

hub_err hub_config_finish_state(hub_config_reader *reader)
{
    hub_state_settings *state = &reader->config.settings.state;
    if (state->place == NULL) {
        state->place = find_place(reader);
    }
    state->scope = find_scope(reader);
    return state->place != NULL && state->scope != NULL ? HUB_OK : hub_config_no_memory(reader);
}
