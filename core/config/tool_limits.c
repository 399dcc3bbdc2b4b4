/* SPDX-License-Identifier: Apache-2.0 */
/* toolsets.KEY.tools.limits: how often tools may be called. */
#include "config/reader.h"

#include "base/bucket.h"
#include "base/limits.h"

#define LIMIT(member) offsetof(hub_tool_limit, member)

/* Of one entry. The schema says the same (toolset_keys.c). */
static const hub_config_key KEYS[] = {
    {.name = "calls_per_second",
     .kind = HUB_CONFIG_COUNT,
     .offset = LIMIT(calls_per_second),
     .least = 1,
     .most = HUB_BUCKET_MOST,
     .about = "Calls of all clients together per second, in the long run."},
    {.name = "calls_burst",
     .kind = HUB_CONFIG_COUNT,
     .offset = LIMIT(calls_burst),
     .most = HUB_BUCKET_MOST,
     .about = "Calls at once. 0: as many as per second."},
    {.name = NULL},
};

static hub_err read_entry(hub_config_reader *reader, const hub_node *node,
                          hub_tool_limit *ret_limit)
{
    size_t len = strlen(node->key);
    if (len == 0 || len > HUB_LIMIT_TOOL_NAME_BYTES) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "the name of a tool, or a glob, has 1 to %d bytes",
                             HUB_LIMIT_TOOL_NAME_BYTES);
    }
    ret_limit->match = hub_arena_strdup(reader->arena, hub_str_of(node->key));
    if (ret_limit->match == NULL) {
        return hub_config_no_memory(reader);
    }
    const hub_config_key inner = {.keys = KEYS};
    hub_err err = hub_config_read_map(reader, node, &inner, ret_limit);
    if (err == HUB_OK && ret_limit->calls_per_second == 0) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "\"calls_per_second\" is missing: write how many calls it may have");
    }
    return err;
}

hub_err hub_config_read_tool_limits(hub_config_reader *reader, const hub_node *node,
                                    const hub_config_key *key, void *target)
{
    hub_tool_limits *limits = (void *)((char *)target + key->offset);
    if (node->kind == HUB_NODE_NULL) {
        *limits = (hub_tool_limits){.count = 0};
        return HUB_OK;
    }
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map of names of tools");
    }
    if (node->count > HUB_LIMIT_TOOL_LIMITS) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d entries",
                             HUB_LIMIT_TOOL_LIMITS);
    }
    hub_tool_limit *items = hub_arena_array(reader->arena, node->count, sizeof *items);
    if (items == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_err err = HUB_OK;
    size_t count = 0;
    for (const hub_node *at = node->first; err == HUB_OK && at != NULL; at = at->next) {
        items[count] = (hub_tool_limit){.match = NULL};
        err = read_entry(reader, at, &items[count++]);
    }
    *limits = (hub_tool_limits){.items = items, .count = count};
    return err;
}
