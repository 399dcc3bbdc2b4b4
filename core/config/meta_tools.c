/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups of tools of its own a hub has: true, false, or a list of words. */
#include "config/reader.h"

const hub_config_word HUB_CONFIG_META_GROUPS[] = {
    {"toolsets", HUB_META_TOOLSETS, false},
    {"saved", HUB_META_SAVED, false},
    {"search", HUB_META_SEARCH, false},
    {"fanout", HUB_META_FANOUT, false},
    {.word = NULL},
};

hub_err hub_config_read_meta_tools(hub_config_reader *reader, const hub_node *node,
                                   const hub_config_key *key, void *target)
{
    const hub_config_key word = {.words = HUB_CONFIG_META_GROUPS};
    unsigned groups = 0;
    hub_err err = HUB_OK;
    if (node->kind == HUB_NODE_TRUE || node->kind == HUB_NODE_FALSE) {
        groups = node->kind == HUB_NODE_TRUE ? HUB_META_TOOLSETS : 0;
    } else if (node->kind != HUB_NODE_LIST) {
        return hub_config_wrong(reader, node, "true, false, or a list of groups");
    }
    for (const hub_node *item = node->first; err == HUB_OK && item != NULL; item = item->next) {
        unsigned group = 0;
        err = hub_config_read_word(reader, item, &word, &group);
        groups |= group;
    }
    if (err == HUB_OK) {
        *(unsigned *)(void *)((char *)target + key->offset) = groups;
    }
    return err;
}
