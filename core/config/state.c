/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the store is, what encrypts its secrets, and whose records they are.
 * spec: XDG Base Directory Specification, XDG_STATE_HOME: a path that is not absolute is ignored;
 * systemd.exec(5), StateDirectory=
 */
#include "config/reader.h"

#include "base/limits.h"
#include "state/address.h"

#include <limits.h>
#include <stdlib.h>

enum { ADDRESS_BYTES = 4096 };

static const char REFUSED_PASSWORD[] = "a password has 1 to";

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

/* The address of a shared store. Its password is kept apart: the address may be shown. */
static hub_err keep_address(hub_config_reader *reader, const hub_node *node, hub_str text,
                            hub_state_settings *state)
{
    hub_state_address address;
    hub_error why = {.code = HUB_OK};
    hub_buf password;
    hub_buf shown;
    hub_buf_init_secret(&password, HUB_LIMIT_STATE_PASSWORD_BYTES);
    hub_buf_init(&shown, text.len + 1);
    hub_err err = hub_state_address_read(text, &address, &password, &why);
    if (err != HUB_OK) {
        err = hub_node_fail(node, reader->reterr, err, "%s", why.text);
    }
    if (err == HUB_OK && password.len > 0 && state->password == NULL) {
        err = hub_config_hide(reader, hub_buf_str(&password), reader->reterr);
        state->password = hub_arena_strdup(reader->arena, hub_buf_str(&password));
    }
    hub_state_address_add_shown(text, &shown);
    state->place = hub_arena_strdup(reader->arena, hub_buf_str(&shown));
    if (err == HUB_OK && (!hub_buf_ok(&shown) || state->place == NULL ||
                          (password.len > 0 && state->password == NULL))) {
        err = hub_config_no_memory(reader);
    }
    hub_buf_fini(&shown);
    hub_buf_fini(&password);
    return err;
}

/* Expand a text that may be, or have in it, a secret: `wanted` says which, `refusal` what is wrong with
 * one that has more than `most` bytes. `text` is to be freed, whatever comes of it. */
static hub_err read_text(hub_config_reader *reader, const hub_node *node, const char *wanted,
                         size_t most, const char *refusal, hub_buf *text)
{
    hub_buf_init_secret(text, most);
    if (node->kind != HUB_NODE_TEXT) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL, "wanted %s", wanted);
    }
    hub_err err = hub_config_expand_secret(reader, node, text);
    if (err == HUB_OK && !hub_buf_ok(text)) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s %zu bytes", refusal, most);
    }
    return err;
}

static hub_err read_address(hub_config_reader *reader, const hub_node *node,
                            const hub_config_key *key, void *target)
{
    hub_buf text;
    (void)key;
    hub_err err = read_text(reader, node, "the address of a shared store, like valkey://HOST",
                            ADDRESS_BYTES, "an address has at most", &text);
    if (err == HUB_OK) {
        err = keep_address(reader, node, hub_buf_str(&text), target);
    }
    hub_buf_fini(&text);
    return err;
}

static hub_err read_password(hub_config_reader *reader, const hub_node *node,
                             const hub_config_key *key, void *target)
{
    hub_state_settings *state = target;
    hub_buf text;
    (void)key;
    hub_err err = read_text(reader, node, "a text, such as ${VALKEY_PASSWORD} or ${file:PATH}",
                            HUB_LIMIT_STATE_PASSWORD_BYTES, REFUSED_PASSWORD, &text);
    if (err == HUB_OK && text.len == 0) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s %d bytes", REFUSED_PASSWORD,
                            HUB_LIMIT_STATE_PASSWORD_BYTES);
    }
    if (err == HUB_OK) {
        err = hub_config_hide(reader, hub_buf_str(&text), reader->reterr);
        state->password = hub_arena_strdup(reader->arena, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    return err == HUB_OK && state->password == NULL ? hub_config_no_memory(reader) : err;
}

static const hub_config_key STATE_KEYS[] = {
    {.name = "url", .kind = HUB_CONFIG_OTHER, .read = read_address},
    {.name = "password", .kind = HUB_CONFIG_OTHER, .read = read_password},
    {.name = "path", .kind = HUB_CONFIG_OTHER, .read = read_place, .offset = STATE(place)},
    {.name = "key", .kind = HUB_CONFIG_PATH, .offset = STATE(key)},
    {.name = NULL},
};

/* `off`, a path, an address, or a map. A password beside an address counts, whatever that has. */
hub_err hub_config_read_state(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    hub_state_settings *state = (void *)((char *)target + key->offset);
    const hub_config_key map = {.keys = STATE_KEYS};
    const hub_config_key place = {.offset = STATE(place)};
    state->password = NULL; /* of an earlier file's store */
    if (node->kind == HUB_NODE_TEXT && hub_state_address_is(node->text)) {
        return read_address(reader, node, &place, state);
    }
    if (node->kind == HUB_NODE_MAP && hub_node_find(node, "url") != NULL &&
        hub_node_find(node, "path") != NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "path and url exclude each other: the state is in a file, or in a "
                             "shared store");
    }
    if (node->kind == HUB_NODE_MAP && hub_node_find(node, "url") == NULL &&
        hub_node_find(node, "password") != NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "password is that of a shared store: name it with url");
    }
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

static hub_err finish(hub_config_reader *reader, hub_state_settings *state)
{
    if (state->place == NULL) {
        state->place = find_place(reader);
    }
    state->scope = find_scope(reader);
    return state->place != NULL && state->scope != NULL ? HUB_OK : hub_config_no_memory(reader);
}

hub_err hub_config_finish_state(hub_config_reader *reader)
{
    return finish(reader, &reader->config.settings.state);
}

/* What one document says; a file of another program says nothing. */
static hub_err read_document(hub_config_reader *reader, const hub_config_document *document)
{
    static const hub_config_key NAME = {.offset = offsetof(hub_settings, name)};
    static const hub_config_key STATE_KEY = {.offset = offsetof(hub_settings, state)};
    hub_settings *settings = &reader->config.settings;
    if (hub_config_find_servers(document->root) != NULL || document->root->kind != HUB_NODE_MAP) {
        return HUB_OK;
    }
    const hub_node *hub = hub_node_find(document->root, "hub");
    const hub_node *name =
        hub != NULL && hub->kind == HUB_NODE_MAP ? hub_node_find(hub, "name") : NULL;
    const hub_node *state = hub_node_find(document->root, "state");
    reader->folder = document->folder;
    hub_err err = name != NULL ? hub_config_read_text(reader, name, &NAME, settings) : HUB_OK;
    return err == HUB_OK && state != NULL
               ? hub_config_read_state(reader, state, &STATE_KEY, settings)
               : err;
}

hub_err hub_config_find_state(const hub_config_reader *reader, hub_state_settings *ret_state,
                              hub_error *reterr)
{
    hub_config_reader ahead = *reader; /* what it says of all else does not matter yet */
    hub_err err = HUB_OK;
    ahead.reterr = reterr;
    ahead.variables.ctx = &ahead;
    ahead.variables.find_secret = NULL;
    ahead.is_switched_off = false;
    ahead.config.settings.state = (hub_state_settings){.place = NULL};
    ahead.config.settings.name = reader->default_name;
    for (size_t i = 0; err == HUB_OK && i < reader->document_count; i++) {
        err = read_document(&ahead, &reader->documents[i]);
    }
    if (err == HUB_OK) {
        err = finish(&ahead, &ahead.config.settings.state);
    }
    *ret_state = ahead.config.settings.state;
    return err;
}
