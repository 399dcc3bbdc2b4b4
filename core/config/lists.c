/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of names, and what makes a name of a toolset. */
#include "config/reader.h"

#include "base/limits.h"
#include "config/file.h"

hub_err hub_config_read_list(hub_config_reader *reader, const hub_node *node,
                             hub_config_read_item_fn *read_item, hub_names *list)
{
    if (node->kind == HUB_NODE_NULL) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "wanted a list, found nothing; write [] for an empty one");
    }
    if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong(reader, node, "a list");
    }
    const char **items = hub_arena_array(reader->arena, node->count, sizeof *items);
    if (items == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_err err = HUB_OK;
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        err = read_item(reader, item, &items[item->index]);
    }
    if (err == HUB_OK) {
        *list = (hub_names){.items = items, .count = node->count, .set = true};
    }
    return err;
}

static hub_err read_name(hub_config_reader *reader, const hub_node *item, const char **ret_text)
{
    if (item->kind != HUB_NODE_TEXT || item->text.len == 0) {
        return hub_config_wrong(reader, item, "a name");
    }
    *ret_text = hub_arena_strdup(reader->arena, item->text);
    return *ret_text != NULL ? HUB_OK : hub_config_no_memory(reader);
}

static hub_err read_toolset_name(hub_config_reader *reader, const hub_node *item,
                                 const char **ret_text)
{
    if (item->kind != HUB_NODE_TEXT) {
        return hub_config_wrong(reader, item, "a toolset's key");
    }
    hub_err err = hub_config_check_toolset_key(reader, item, item->text);
    return err != HUB_OK ? err : read_name(reader, item, ret_text);
}

static hub_err read_folder(hub_config_reader *reader, const hub_node *item, const char **ret_text)
{
    if (item->kind != HUB_NODE_TEXT || item->text.len == 0) {
        return hub_config_wrong(reader, item, "a folder");
    }
    if (item->text.ptr[0] == '~') {
        return hub_node_fail(item, reader->reterr, HUB_EINVAL,
                             "\"~\" has no meaning here: write the path out");
    }
    *ret_text = hub_file_absolute(reader->folder, item->text.ptr, reader->arena);
    return *ret_text != NULL ? HUB_OK : hub_config_no_memory(reader);
}

bool hub_config_is_key(hub_str key)
{
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];
        bool letter = c >= 'a' && c <= 'z';
        bool other = (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (!letter && (i == 0 || !other)) {
            return false;
        }
    }
    return key.len > 0 && key.len <= HUB_LIMIT_TOOLSET_KEY_BYTES;
}

hub_err hub_config_check_toolset_key(hub_config_reader *reader, const hub_node *node, hub_str key)
{
    if (hub_str_eq_nocase(key, HUB_STR("_meta"))) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "\"_meta\" is reserved for the hub's meta-tools");
    }
    if (hub_str_find(key, HUB_STR("__")) != SIZE_MAX) {
        return hub_node_fail(
            node, reader->reterr, HUB_EINVAL,
            "a toolset's key cannot contain \"__\", which separates it from a tool");
    }
    if (!hub_config_is_key(key)) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "a toolset's key is a lower-case letter, then lower-case letters, "
                             "digits, \"-\" and \"_\", at most %d in all",
                             HUB_LIMIT_TOOLSET_KEY_BYTES);
    }
    return HUB_OK;
}

hub_err hub_config_read_names(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    return hub_config_read_list(reader, node, read_name, (void *)((char *)target + key->offset));
}

hub_err hub_config_read_toolset_names(hub_config_reader *reader, const hub_node *node,
                                      const hub_config_key *key, void *target)
{
    return hub_config_read_list(reader, node, read_toolset_name,
                                (void *)((char *)target + key->offset));
}

hub_err hub_config_read_folders(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, void *target)
{
    return hub_config_read_list(reader, node, read_folder, (void *)((char *)target + key->offset));
}
