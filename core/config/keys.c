/* SPDX-License-Identifier: Apache-2.0 */
#include "config/keys.h"

#include "config/reader.h"

/* Of the kinds that have one way to be read. */
static const hub_config_read_fn READERS[] = {
    [HUB_CONFIG_TEXT] = hub_config_read_text,
    [HUB_CONFIG_BOOL] = hub_config_read_bool,
    [HUB_CONFIG_COUNT] = hub_config_read_count,
    [HUB_CONFIG_SIZE] = hub_config_read_size,
    [HUB_CONFIG_DURATION] = hub_config_read_duration,
    [HUB_CONFIG_WORD] = hub_config_read_word,
    [HUB_CONFIG_CHOICE] = hub_config_read_choice,
    [HUB_CONFIG_NAMES] = hub_config_read_names,
    [HUB_CONFIG_TOOLSET_NAMES] = hub_config_read_toolset_names,
    [HUB_CONFIG_FOLDERS] = hub_config_read_folders,
    [HUB_CONFIG_PATH] = hub_config_read_path,
    [HUB_CONFIG_MAP] = hub_config_read_map,
    [HUB_CONFIG_OTHER] = NULL, /* the last kind */
};

hub_err hub_config_read_value(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    hub_config_read_fn read = key->read != NULL ? key->read : READERS[key->kind];
    hub_assert(read != NULL);
    return read(reader, node, key, target);
}

const hub_config_key *hub_config_find_key(const hub_config_key *keys, hub_str name)
{
    for (; keys != NULL && keys->name != NULL; keys++) {
        if (hub_str_is(name, keys->name)) {
            return keys;
        }
    }
    return NULL;
}

static bool is_scalar(hub_config_kind kind)
{
    return kind >= HUB_CONFIG_BOOL && kind <= HUB_CONFIG_CHOICE;
}

bool hub_config_has_default(const hub_config_key *key)
{
    return key->fallback_text != NULL || (is_scalar(key->kind) && !key->has_no_default);
}

const char *hub_config_word_of(const hub_config_word *words, unsigned value)
{
    while (words->word != NULL && (words->value != value || words->is_alias)) {
        words++;
    }
    return words->word;
}

void hub_config_add_default(hub_buf *out, const hub_config_key *key)
{
    if (key->fallback_text != NULL) {
        hub_buf_add(out, hub_str_of(key->fallback_text));
    } else if (key->kind == HUB_CONFIG_BOOL) {
        hub_buf_add(out, key->fallback != 0 ? HUB_STR("true") : HUB_STR("false"));
    } else if (key->words != NULL) {
        hub_buf_add(out, hub_str_of(hub_config_word_of(key->words, key->fallback)));
    } else {
        hub_config_add_number(out, key->kind, key->fallback);
    }
}

/* A default that is text is read like a text of a file. */
static hub_err set_text(hub_config_reader *reader, const hub_config_key *key, void *target)
{
    hub_str text = hub_str_of(key->fallback_text);
    const hub_node node = {
        .file = "defaults", .key = key->name, .kind = HUB_NODE_TEXT, .text = text};
    return hub_config_read_value(reader, &node, key, target);
}

static void set_number(const hub_config_key *key, void *target)
{
    void *member = (char *)target + key->offset;
    if (key->kind == HUB_CONFIG_BOOL || key->kind == HUB_CONFIG_CHOICE) {
        *(bool *)member = true;
    } else {
        *(uint32_t *)member = key->fallback; /* an enumeration is as wide: values.c */
    }
}

hub_err hub_config_set_defaults(hub_config_reader *reader, const hub_config_key *keys, void *target)
{
    hub_err err = HUB_OK;
    for (const hub_config_key *key = keys; err == HUB_OK && key->name != NULL; key++) {
        bool is_kept = key->read == hub_config_keep || key->read == hub_config_read_node;
        if (key->kind == HUB_CONFIG_MAP && !is_kept) {
            err = hub_config_set_defaults(reader, key->keys, (char *)target + key->offset);
        } else if (!is_kept && key->fallback_text != NULL) {
            err = set_text(reader, key, target);
        } else if (!is_kept && key->fallback != 0) {
            set_number(key, target);
        }
    }
    return err;
}
